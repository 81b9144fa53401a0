//! Notices to people about batches, in SQL.

use super::{Durability, Engine};
use crate::store::{
    NoticeClaim, NoticeStore, NoticeSubject, StoreError,
    notices::PAUSED_BY_PERSON,
    value::{DbId, DbTime, lease_ms, values},
};
use async_trait::async_trait;
use chrono::TimeDelta;
use overnight_core::job::time::Timestamp;
use uuid::Uuid;

/// Between two messages about the needs of one batch.
const GAP: TimeDelta = TimeDelta::minutes(15);
/// An outage that lasts this long needs a person.
const LONG_OUTAGE: TimeDelta = TimeDelta::hours(1);
/// An older end is no news.
const NEWS: TimeDelta = TimeDelta::days(1);
/// Rows are written a moment after the time that stands in them.
const SETTLED: TimeDelta = TimeDelta::seconds(2);

/// (A person who runs an evaluation sees its result anyway.)
const ENDED: &str = concat!(
    "select id from batches
     where ended_at >= $1 and end_told is distinct from ended_at and (telling_until is null or telling_until <= {now})
        and settings not ",
    like_eval!(),
    " order by ended_at, id"
);

const OPEN: &str = concat!(
    "select id, needs_upto from batches
     where ended_at is null and (needs_told is null or needs_told <= $1)
        and (telling_until is null or telling_until <= {now}) and settings not ",
    like_eval!(),
    " order by created, id"
);

const NEEDS: &str = "select count(*) from jobs
     where batch = $1 and status in ('held', 'failed') and (
        (updated > $2 and updated <= $3 and (status = 'failed' or hold_reason in ('review', 'limit', 'budget')
            or (hold_reason = 'paused' and reason <> $6)))
        or (hold_reason = 'outage' and updated > $4 and updated <= $5))";

const TAKE: &str = "update batches set telling_until = {from_now $2}
     where id = $1 and (telling_until is null or telling_until <= {now})
        and (($3 and end_told is distinct from ended_at) or (not $3 and needs_upto is not distinct from $4))
     returning id";

const END_TOLD: &str = "update batches set end_told = ended_at, telling_until = null where id = $1 returning id";

const NEEDS_TOLD: &str = "update batches set needs_told = {now}, needs_upto = $2, telling_until = null
     where id = $1
     returning id";

/// Takes a batch, unless another worker has taken it or sent the notice.
async fn take<E: Engine>(
    engine: &E,
    batch: Uuid,
    for_ms: u64,
    is_end: bool,
    told: Option<Timestamp>,
) -> Result<bool, StoreError> {
    engine.take_effect(TAKE, values![batch, lease_ms(for_ms), is_end, told], Durability::Now).await
}

fn before(now: Timestamp, passed: TimeDelta) -> Timestamp {
    Timestamp::new(now.utc() - passed)
}

#[async_trait]
impl<E: Engine> NoticeStore for E {
    async fn claim_notice(
        &self,
        now: Timestamp,
        at_once: bool,
        for_ms: u64,
    ) -> Result<Option<NoticeClaim>, StoreError> {
        let ended: Vec<(DbId,)> = self.query(ENDED, values![before(now, NEWS)]).await?;
        for (batch,) in ended {
            if take(self, batch.0, for_ms, true, None).await? {
                return Ok(Some(NoticeClaim { batch: batch.0, subject: NoticeSubject::End }));
            }
        }
        let (gap, settled) = if at_once { (TimeDelta::zero(), TimeDelta::zero()) } else { (GAP, SETTLED) };
        let upto = before(now, settled);
        let open: Vec<(DbId, Option<DbTime>)> = self.query(OPEN, values![before(now, gap)]).await?;
        for (batch, told) in open {
            let told = told.map(|told| told.0);
            let since = told.unwrap_or_default();
            let outage = |at: Timestamp| if at == Timestamp::default() { at } else { before(at, LONG_OUTAGE) };
            let asked = values![batch.0, since, upto, outage(since), outage(upto), PAUSED_BY_PERSON];
            let (needs,): (i64,) = self.one(NEEDS, asked).await?;
            if needs > 0 && take(self, batch.0, for_ms, false, told).await? {
                return Ok(Some(NoticeClaim { batch: batch.0, subject: NoticeSubject::Needs { upto } }));
            }
        }
        Ok(None)
    }

    async fn notice_told(&self, claim: NoticeClaim) -> Result<(), StoreError> {
        match claim.subject {
            NoticeSubject::End => self.take_effect(END_TOLD, values![claim.batch], Durability::Now).await?,
            NoticeSubject::Needs { upto } => {
                self.take_effect(NEEDS_TOLD, values![claim.batch, upto], Durability::Now).await?
            }
        };
        Ok(())
    }
}
