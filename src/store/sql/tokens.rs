//! Tokens in SQL.

use super::{Durability, Engine, SqlStatement};
use crate::store::{
    StoreError,
    tokens::{AccessToken, TokenColumns, TokenStore},
    value::{DbId, values},
};
use async_trait::async_trait;
use overnight_core::job::time::Timestamp;
use uuid::Uuid;

const ADD: &str = "insert into access_tokens (id, name, role, sha256, created, expires)
     values ($1, $2, $3, $4, $5, $6)
     returning id";

const CLAIM: &str = "insert into request_keys (key, batch, sha256, created) values ($1, $2, $3, {now_ms})
     on conflict (key) do nothing";

/// (A client that asks again does so within days.)
const FORGET_KEYS: &str = "delete from request_keys where created < {ago 7 days}";

const REVOKE: &str = "update access_tokens set revoked = $2 where id = $1 and revoked is null returning id";

#[async_trait]
impl<E: Engine> TokenStore for E {
    async fn add_token(&self, token: &AccessToken, sha256: &str) -> Result<(), StoreError> {
        let row = values![token.id, &token.name, token.role.name(), sha256, token.created, token.expires];
        self.take_effect(ADD, row, Durability::Now).await.map(drop)
    }

    async fn tokens(&self) -> Result<Vec<AccessToken>, StoreError> {
        let rows: Vec<TokenColumns> = self.query("select * from access_tokens order by created, id", values![]).await?;
        Ok(rows.into_iter().map(AccessToken::from).collect())
    }

    async fn token(&self, sha256: &str) -> Result<Option<AccessToken>, StoreError> {
        let rows: Vec<TokenColumns> =
            self.query("select * from access_tokens where sha256 = $1", values![sha256]).await?;
        Ok(rows.into_iter().next().map(AccessToken::from))
    }

    async fn token_with(&self, id: Uuid) -> Result<Option<AccessToken>, StoreError> {
        let rows: Vec<TokenColumns> = self.query("select * from access_tokens where id = $1", values![id]).await?;
        Ok(rows.into_iter().next().map(AccessToken::from))
    }

    async fn claim_request(&self, key: &str, batch: Uuid, sha256: &str) -> Result<(Uuid, String), StoreError> {
        let claimed = "select batch, sha256 from request_keys where key = $1";
        let statements = vec![
            SqlStatement::new(FORGET_KEYS, values![]),
            SqlStatement::new(CLAIM, values![key, batch, sha256]),
            SqlStatement::new(claimed, values![key]),
        ];
        let rows: Vec<(DbId, String)> = self.write(statements, Durability::Now).await?;
        Ok(rows.into_iter().next().map_or_else(|| (batch, sha256.to_owned()), |(known, of)| (known.0, of)))
    }

    async fn free_request(&self, key: &str) -> Result<(), StoreError> {
        let free = "delete from request_keys where key = $1 returning key";
        self.take_effect(free, values![key], Durability::Now).await.map(drop)
    }

    async fn revoke_token(&self, id: Uuid, at: Timestamp) -> Result<bool, StoreError> {
        self.take_effect(REVOKE, values![id, at], Durability::Now).await
    }
}
