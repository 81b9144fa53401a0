//! Opens buckets of the providers.

use super::error::message;
use object_store::{
    BackoffConfig, ClientOptions, ObjectStore, RetryConfig, aws::AmazonS3Builder, azure::MicrosoftAzureBuilder,
    gcp::GoogleCloudStorageBuilder,
};
use std::{sync::Arc, time::Duration};

/// The timeout of one request; a block of a megabyte has to get through a slow line.
const REQUEST_TIMEOUT: Duration = Duration::from_mins(1);
/// The number and duration of tries of a request. The caller tries again at the next checkpoint.
const TRIES: usize = 3;
const RETRY_TIMEOUT: Duration = Duration::from_secs(15);

/// Applies the variables that a builder knows by its own names.
macro_rules! with_variables {
    ($builder:expr, $variables:expr, $prefix:literal) => {{
        let mut builder = $builder.with_client_options(client()).with_retry(retry());
        for (name, value) in $variables.iter().filter(|(name, _)| name.starts_with($prefix)) {
            if let Ok(key) = name.to_ascii_lowercase().parse() {
                builder = builder.with_config(key, value);
            }
        }
        builder
    }};
}

/// Opens the bucket of a scheme: `s3`, `gs` or `az`. The error is a fragment.
pub(super) fn open(scheme: &str, bucket: &str, variables: &[(String, String)]) -> Result<Arc<dyn ObjectStore>, String> {
    let url = format!("{scheme}://{bucket}");
    let refused = |error: object_store::Error| message(&error);
    Ok(match scheme {
        "gs" => {
            let builder = with_variables!(GoogleCloudStorageBuilder::new(), variables, "GOOGLE_");
            Arc::new(builder.with_url(url).build().map_err(refused)?)
        }
        "az" => {
            let builder = with_variables!(MicrosoftAzureBuilder::new(), variables, "AZURE_");
            Arc::new(builder.with_url(url).build().map_err(refused)?)
        }
        _ => {
            let builder = with_variables!(AmazonS3Builder::new(), variables, "AWS_");
            Arc::new(builder.with_url(url).build().map_err(refused)?)
        }
    })
}

fn client() -> ClientOptions {
    ClientOptions::new().with_timeout(REQUEST_TIMEOUT)
}

fn retry() -> RetryConfig {
    RetryConfig { backoff: BackoffConfig::default(), max_retries: TRIES, retry_timeout: RETRY_TIMEOUT }
}
