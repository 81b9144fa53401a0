//! Tokens of people and programs that use `overnight serve`: their owners, roles and expiry. Only the hash of a token
//! is stored, so that it can't be read from the database.

use super::{
    StoreError,
    columns::columns,
    value::{DbId, DbTime},
};
use async_trait::async_trait;
use overnight_core::job::{digest::hex, time::Timestamp};
use std::{
    fs::File,
    io::{self, Read},
};
use uuid::Uuid;

/// A new secret.
pub fn random_token() -> io::Result<String> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(hex(&bytes))
}

/// The permissions of a token. Each role includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Look at everything.
    Reader,
    /// Review: approve, correct, settle, send back.
    Reviewer,
    /// Submit, pause, resume, cancel, retry.
    Operator,
}

impl Role {
    pub const ALL: [Self; 3] = [Self::Reader, Self::Reviewer, Self::Operator];

    pub fn name(self) -> &'static str {
        match self {
            Self::Reader => "reader",
            Self::Reviewer => "reviewer",
            Self::Operator => "operator",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }
}

/// A token, as the database knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessToken {
    pub id: Uuid,
    /// The name of its owner: their actions are recorded under it.
    pub name: String,
    pub role: Role,
    pub created: Timestamp,
    /// The time from which it is no longer valid.
    pub expires: Option<Timestamp>,
    pub revoked: Option<Timestamp>,
}

impl AccessToken {
    /// Whether it is valid at that time.
    pub fn is_good(&self, now: Timestamp) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|expires| now < expires)
    }
}

/// Tokens.
#[async_trait]
pub trait TokenStore: Send + Sync + std::fmt::Debug {
    /// Adds a token. `sha256`: of the token, in hexadecimal digits.
    async fn add_token(&self, token: &AccessToken, sha256: &str) -> Result<(), StoreError>;

    /// All of them, the oldest first.
    async fn tokens(&self) -> Result<Vec<AccessToken>, StoreError>;

    /// The one with this hash, good or not.
    async fn token(&self, sha256: &str) -> Result<Option<AccessToken>, StoreError>;

    /// The one with this id, good or not.
    async fn token_with(&self, id: Uuid) -> Result<Option<AccessToken>, StoreError>;

    /// The batch for a request with this key, and the hash of the request: the values given when the key first came.
    async fn claim_request(&self, key: &str, batch: Uuid, sha256: &str) -> Result<(Uuid, String), StoreError>;

    /// Deletes a key: its request failed.
    async fn free_request(&self, key: &str) -> Result<(), StoreError>;

    /// Revokes a token; false: it doesn't exist, or is revoked already.
    async fn revoke_token(&self, id: Uuid, at: Timestamp) -> Result<bool, StoreError>;
}

columns! {
    pub(super) struct TokenColumns {
        id: DbId,
        name: String,
        role: String,
        created: DbTime,
        expires: Option<DbTime>,
        revoked: Option<DbTime>,
    }
}

impl From<TokenColumns> for AccessToken {
    fn from(row: TokenColumns) -> Self {
        Self {
            id: row.id.0,
            name: row.name,
            // A role of a later version gets the permissions that all roles have.
            role: Role::named(&row.role).unwrap_or(Role::Reader),
            created: row.created.0,
            expires: row.expires.map(|expires| expires.0),
            revoked: row.revoked.map(|revoked| revoked.0),
        }
    }
}
