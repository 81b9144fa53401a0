//! From a URL to a database: which one, and under which name errors speak of it. The password is known here only, so that
//! it can be kept out of them.

use super::{Store, StoreError, postgres::PostgresStore, sqlite::SqliteStore};
use std::{fmt, path::PathBuf, sync::Arc};

/// The name of the newest job.
pub(super) const LAST: &str = "last";

/// What stands in a password's place.
const HIDDEN: &str = "***";

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

/// Opens the database at `url` to read it: nothing is made, and nothing can be changed. None: no job was ever put there.
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

/// What a URL points to.
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
            // Only letters are repeated: what stands before :// may be anything that was pasted by mistake.
            _ if scheme.len() <= 12 && scheme.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
                Err(wrong(&format!("{scheme}://…"), "it is of no kind that overnight can use"))
            }
            _ => Err(wrong("URL", "it is of no kind that overnight can use")),
        }
    }
}

/// The password of a URL, as written and as meant.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct UrlSecrets(Vec<String>);

impl UrlSecrets {
    /// `rest` is what follows `://`.
    fn of(rest: &str) -> Self {
        let login = rest.rsplit_once('@').and_then(|(login, _)| login.split_once(':')).map(|(_, password)| password);
        let parameters = rest.split_once('?').map_or("", |(_, parameters)| parameters);
        let named = parameters.split('&').filter_map(|parameter| parameter.strip_prefix("password="));
        let mut secrets: Vec<String> =
            login.into_iter().chain(named).flat_map(|written| [written.to_owned(), decoded(written)]).collect();
        secrets.retain(|secret| !secret.is_empty());
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.dedup();
        Self(secrets)
    }

    /// `text` without them, where it holds them as it would hold a password: a password may be a word, and a sentence that
    /// misses its words would give it away.
    pub(super) fn redacted(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| redacted(&text, secret))
    }
}

/// Letters of a password that is known wherever it stands.
const UNMISTAKABLE: usize = 6;

/// `text` with `***` in place of `secret`: in a URL, and, where it is no word or number, wherever it stands by itself.
fn redacted(text: &str, secret: &str) -> String {
    let kinds = [char::is_alphabetic, char::is_numeric, |letter: char| !letter.is_alphanumeric()];
    let is_mixed = kinds.iter().filter(|is_of_kind| secret.chars().any(is_of_kind)).count() > 1;
    let is_unmistakable = is_mixed && secret.chars().count() >= UNMISTAKABLE;
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find(secret) {
        let after = &rest[place + secret.len()..];
        shown.push_str(&rest[..place]);
        let is_apart = !shown.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
        let is_login = shown.ends_with(':') && after.starts_with('@');
        let is_named = shown.to_lowercase().ends_with("password=");
        let is_it = is_apart && (is_login || is_named || is_unmistakable);
        shown.push_str(if is_it { HIDDEN } else { secret });
        rest = after;
    }
    shown.push_str(rest);
    shown
}

impl fmt::Debug for UrlSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// Percent-encoding undone; what isn't valid is left as it is.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = (first == b'%').then(|| after.get(..2)).flatten();
        let code = code.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
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
