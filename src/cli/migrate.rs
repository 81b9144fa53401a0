//! `overnight migrate`: the database's schema is brought up to this program's.

use super::{CliError, Office, exit, out};

pub(super) async fn run(office: &Office) -> Result<u8, CliError> {
    // Opening it has done this already; once more changes nothing, and tells if it could not be done.
    office.store.migrate().await?;
    out::result(&format!("{}: the schema is up to date\n", office.settings.database_url.value))?;
    Ok(exit::COMPLETED)
}
