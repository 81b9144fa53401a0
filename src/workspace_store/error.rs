//! Errors of a workspace store, and whether trying again can help.

use crate::{
    store::StoreError,
    workspace::{WorkspaceError, lock::LockError},
};

/// A failed call; each is one sentence. `store` is the address without anything that may be secret.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceStoreError {
    /// The address, a key or a variable is wrong.
    #[error("can't open the workspace store {store}: {detail}")]
    Address { store: String, detail: String },
    /// Down, busy or cut off.
    #[error("the workspace store {store} doesn't answer: {detail}")]
    Unreachable { store: String, detail: String },
    /// Its marker is gone, or is another store's: the right share is not mounted there.
    #[error("the workspace store {store} {what}")]
    Lost { store: String, what: String },
    /// It answers, and does not do what it was asked.
    #[error("the workspace store {store} refused: {detail}")]
    Refused { store: String, detail: String },
    #[error("{name} is missing in the workspace store {store}")]
    Missing { store: String, name: String },
    #[error("{name} in the workspace store {store} is damaged: {what}")]
    Corrupt { store: String, name: String, what: String },
    /// A file became shorter while it was read: another process writes in the workspace.
    #[error("'{path}' was changed while it went to the workspace store")]
    Changed { path: String },
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Database(#[from] StoreError),
}

impl WorkspaceStoreError {
    /// Whether the same call can succeed later without anybody's help.
    pub fn retryable(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Lost { .. } | Self::Changed { .. } => true,
            Self::Database(error) => error.retryable(),
            Self::Address { .. }
            | Self::Refused { .. }
            | Self::Missing { .. }
            | Self::Corrupt { .. }
            | Self::Workspace(_)
            | Self::Lock(_) => false,
        }
    }

    /// Whether the only problem is a lack of space on this machine's disk.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Workspace(error) if error.is_disk_full())
    }
}

/// The most bytes of a store's message that are repeated.
const MOST_SAID: usize = 300;

/// The message of a store's library on one line, without the queries of addresses: they may be signed.
pub(super) fn message(error: &object_store::Error) -> String {
    use object_store::Error;
    let mut text = match error {
        Error::Generic { source, .. } => source.to_string(),
        error => error.to_string(),
    };
    while let Some(query) = text.find('?') {
        let rest = &text[query..];
        let end = rest.find(|letter: char| letter.is_whitespace() || "\"')>,".contains(letter)).unwrap_or(rest.len());
        text.replace_range(query..query + end.max(1), "");
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = text.floor_char_boundary(MOST_SAID);
    if cut < text.len() { format!("{}…", &text[..cut]) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_signed_is_not_told() {
        let said = "PUT https://a.example/c/d?sig=SECRET&se=1 failed:\n  <Error>\u{1F512}no</Error> (why? it says)";
        let error = object_store::Error::Generic { store: "S3", source: said.into() };
        assert_eq!(message(&error), "PUT https://a.example/c/d failed: <Error>\u{1F512}no</Error> (why it says)");
        let long = object_store::Error::Generic { store: "S3", source: "ä".repeat(400).into() };
        assert_eq!(message(&long).chars().count(), 151);
    }
}
