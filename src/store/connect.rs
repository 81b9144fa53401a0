//! Opens the database for a URL, with a name for errors. Only `url_secrets` knows the password, so that it can be kept
//! out of them.

use super::{Store, StoreError, postgres::PostgresStore, sqlite::SqliteStore, url_secrets::UrlSecrets};
use std::{path::PathBuf, sync::Arc};

const ALLOWED: &str = "a database URL is sqlite://PATH, such as sqlite://workspaces/overnight.db, or postgres://USER:PASSWORD@HOST/DATABASE";

/// Opens the database at `url` and brings its schema up to this program's. `sqlite://PATH` takes the path as it stands,
/// and makes the file and its folder where they are missing; `postgres://…` and `postgresql://…` are as in PostgreSQL's own manual.
///
/// `Connect`, `Unreachable`, `Newer`.
pub async fn connect(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    let store: Arc<dyn Store> = match StoreUrl::read(url)? {
        StoreUrl::Sqlite(path) => Arc::new(SqliteStore::open(&path).await?),
        StoreUrl::Postgres { url, secrets } => Arc::new(PostgresStore::open(&url, secrets).await?),
    };
    Ok(store)
}

/// Opens the database at `url` for reading: nothing is created or can be changed. None: it never contained a job.
///
/// As [`connect`], and `Older`.
pub async fn connect_to_read(url: &str) -> Result<Option<Arc<dyn Store>>, StoreError> {
    Ok(match StoreUrl::read(url)? {
        StoreUrl::Sqlite(path) => {
            SqliteStore::open_to_read(&path).await?.map(|store| Arc::new(store) as Arc<dyn Store>)
        }
        StoreUrl::Postgres { url, secrets } => {
            PostgresStore::open_to_read(&url, secrets).await?.map(|store| Arc::new(store) as Arc<dyn Store>)
        }
    })
}

/// The file of the database at `url`, where it is one.
pub fn database_file(url: &str) -> Option<PathBuf> {
    match StoreUrl::read(url) {
        Ok(StoreUrl::Sqlite(path)) => Some(path),
        Ok(StoreUrl::Postgres { .. }) | Err(_) => None,
    }
}

/// The target of a URL.
#[derive(Debug, PartialEq, Eq)]
enum StoreUrl {
    Sqlite(PathBuf),
    Postgres { url: String, secrets: UrlSecrets },
}

impl StoreUrl {
    fn read(url: &str) -> Result<Self, StoreError> {
        let wrong = |database: &str, detail: &str| StoreError::Connect {
            database: database.to_owned(),
            detail: format!("{detail}; {ALLOWED}"),
        };
        let url = url.trim();
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(wrong("URL", "it has no ://"));
        };
        match scheme {
            "sqlite" => match rest {
                "" => Err(wrong("sqlite://", "it names no file")),
                _ if rest.contains(['?', '\0']) => Err(wrong("sqlite://…", "a path can't contain ? or NUL")),
                // SQLite reads more into `:memory:` and `file:…`, but not into a path that begins with a folder.
                _ if rest.starts_with('/') => Ok(Self::Sqlite(PathBuf::from(rest))),
                _ => Ok(Self::Sqlite(PathBuf::from(".").join(rest))),
            },
            "postgres" | "postgresql" => {
                let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
                if rest[authority.len()..].split('?').next().is_some_and(|path| path.contains('@')) {
                    return Err(wrong(
                        "postgres://…",
                        "its @ comes after a / or #: write those in a password as %2F and %23",
                    ));
                }
                Ok(Self::Postgres { url: url.to_owned(), secrets: UrlSecrets::of(rest) })
            }
            // Only letters are repeated: the text before :// may be anything that was pasted by mistake.
            _ if scheme.len() <= 12 && scheme.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
                Err(wrong(&format!("{scheme}://…"), "it is of no kind that overnight can use"))
            }
            _ => Err(wrong("URL", "it is of no kind that overnight can use")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sentence(url: &str) -> String {
        StoreUrl::read(url).unwrap_err().to_string()
    }

    #[test]
    fn sqlite_paths_are_taken_as_they_stand() {
        for (url, path) in [
            ("sqlite://workspaces/overnight.db", "./workspaces/overnight.db"),
            ("sqlite:///var/lib/over night/100%25.db", "/var/lib/over night/100%25.db"),
            ("sqlite://:memory:", "./:memory:"),
            ("sqlite://file:x", "./file:x"),
        ] {
            assert_eq!(StoreUrl::read(url), Ok(StoreUrl::Sqlite(PathBuf::from(path))), "{url}");
        }
    }

    #[test]
    fn other_urls_are_refused_with_what_is_allowed() {
        let allowed = "a database URL is sqlite://PATH, such as sqlite://workspaces/overnight.db, \
                       or postgres://USER:PASSWORD@HOST/DATABASE";
        for (url, expected) in [
            ("", "can't open database URL: it has no ://"),
            ("overnight.db", "can't open database URL: it has no ://"),
            ("me:secret@host", "can't open database URL: it has no ://"),
            ("mysql://me:secret@host/db", "can't open database mysql://…: it is of no kind that overnight can use"),
            ("s3cret://", "can't open database URL: it is of no kind that overnight can use"),
            ("sqlite://", "can't open database sqlite://: it names no file"),
            ("sqlite://a.db?mode=rwc", "can't open database sqlite://…: a path can't contain ? or NUL"),
            (
                "postgres://me:1/secret@host/db",
                "can't open database postgres://…: its @ comes after a / or #: write those in a password as %2F and %23",
            ),
        ] {
            assert_eq!(sentence(url), format!("{expected}; {allowed}"), "{url}");
        }
    }

    #[test]
    fn secrets_are_hidden_as_written_and_as_meant() {
        let secrets = UrlSecrets::of("me:p%40ss:w@host/db?application_name=x&password=other");
        assert_eq!(secrets.redacted("p%40ss:w, p@ss:w and 'p@ss:w', but not me"), "***, *** and '***', but not me");
        assert_eq!(
            secrets.redacted("//me:p@ss:w@host/db?password=other&x, with other words, up@ss:w"),
            "//me:***@host/db?password=***&x, with other words, up@ss:w"
        );
        assert_eq!(format!("{secrets:?}"), "***");
        assert_eq!(UrlSecrets::of("host/db").redacted("host/db"), "host/db");
    }

    #[test]
    fn a_password_that_is_a_word_or_a_number_is_hidden_in_a_url_only() {
        let told = "no schema has been selected to create in; another at 127.0.0.1:5432";
        for password in ["no", "schema", "in", "5432", "a", ":", "selected"] {
            let secrets = UrlSecrets::of(&format!("me:{password}@host/db"));
            assert_eq!(secrets.redacted(told), told, "{password}");
            assert_eq!(
                secrets.redacted(&format!("postgres://me:{password}@host/db?password={password}")),
                "postgres://me:***@host/db?password=***",
                "{password}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_url_is_read_or_refused(url in "(sqlite|postgres|postgresql|x)?(://)?.*") {
            let _ = StoreUrl::read(&url);
        }

        #[test]
        fn no_refusal_holds_a_password(password in "[a-z]{3}[0-9@:/%?#]{6}[A-Z]{3}", scheme in "(mysql|postgres|sqlite|http)") {
            if let Err(error) = StoreUrl::read(&format!("{scheme}://me:{password}@host/db")) {
                let text = format!("{error} {error:?}");
                prop_assert!(!text.contains(&password), "{text}");
            }
        }
    }
}
