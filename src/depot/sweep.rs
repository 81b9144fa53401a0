//! What no job needs any more: blocks and manifests that no pointer of the database reaches.

use super::{
    Depot, DepotError,
    manifest::{MANIFESTS, ManifestKey, OBJECTS},
    open::Stored,
};
use crate::{job::id::JobId, store::Store};
use chrono::{DateTime, Utc};
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    time::Duration,
};

/// What was deleted, or would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    pub manifests: u64,
    pub blocks: u64,
    pub bytes: u64,
    /// Jobs in the store that this database doesn't know. Another may: all of theirs stays.
    pub unknown_jobs: u64,
}

impl Depot {
    /// Deletes blocks and manifests that no job's pointer reaches and that are older than `grace`; `dry`: says what it
    /// would delete. An hour of grace or more takes nothing from workers that are at work.
    pub async fn clear(
        &self,
        store: &dyn Store,
        grace: Duration,
        at: DateTime<Utc>,
        dry: bool,
    ) -> Result<Cleared, DepotError> {
        let is_old = |stored: &Stored| at.signed_duration_since(stored.modified).to_std().is_ok_and(|age| age >= grace);
        // What is there first, and then who points to it: what is pointed to from now on is not among the old.
        let mut manifests = Vec::new();
        for folder in self.list(MANIFESTS).await?.0 {
            manifests.extend(self.list(&folder).await?.1);
        }
        let mut blocks = Vec::new();
        for folder in self.list(OBJECTS).await?.0 {
            blocks.extend(self.list(&folder).await?.1.into_iter().filter(is_old));
        }
        let known: BTreeMap<JobId, Option<String>> = store.pointers().await?.into_iter().collect();
        let mut reached: HashSet<String> = HashSet::new();
        let mut unknown = BTreeSet::new();
        let mut lost = Vec::new();
        let mut keys: BTreeSet<String> = known.values().flatten().cloned().collect();
        for stored in manifests {
            // What is not called like a manifest is nothing that this program put there.
            let Some(key) = ManifestKey::read(&stored.name) else { continue };
            if known.contains_key(&key.job) {
                if is_old(&stored) && !keys.contains(&stored.name) {
                    lost.push(stored);
                }
            } else {
                unknown.insert(key.job);
                keys.insert(stored.name);
            }
        }
        for key in &keys {
            let manifest = self.manifest(&ManifestKey::parse(key)?).await?;
            reached.extend(manifest.blocks().map(|block| block.sha256.clone()));
        }
        blocks.retain(|stored| {
            let hash = stored.name.rsplit('/').next().unwrap_or_default();
            !reached.contains(hash)
        });
        let cleared = Cleared {
            manifests: lost.len() as u64,
            blocks: blocks.len() as u64,
            bytes: lost.iter().chain(&blocks).map(|stored| stored.bytes).sum(),
            unknown_jobs: unknown.len() as u64,
        };
        if !dry {
            // Manifests first: a block that is gone is then missed by nobody.
            for stored in lost.iter().chain(&blocks) {
                self.delete(&stored.name).await?;
            }
        }
        Ok(cleared)
    }
}
