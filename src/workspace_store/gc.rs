//! Garbage collection: blocks and manifests that no pointer of the database reaches.

use super::{
    WorkspaceStore, WorkspaceStoreError,
    client::StoredObject,
    manifest::{MANIFESTS, ManifestKey, OBJECTS, WorkspaceManifest},
};
use crate::{failpoint, store::JobStore};
use chrono::{DateTime, Utc};
use overnight_core::job::id::JobId;
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    time::Duration,
};

/// The numbers deleted, or to be deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Garbage {
    pub manifests: u64,
    pub blocks: u64,
    pub bytes: u64,
    /// Jobs in the store that this database doesn't know. Another may: all of theirs stays.
    pub unknown_jobs: u64,
    /// Jobs whose manifest can't be read, with a sentence each. Their blocks are unknown, so no block was deleted.
    pub broken: Vec<(JobId, String)>,
}

impl WorkspaceStore {
    /// Deletes blocks and manifests that no job's pointer reaches and that are older than `grace`; `dry`: reports what
    /// it would delete. A grace time of an hour or more takes nothing from active workers. If a job's manifest can't be
    /// read, no block is deleted, and nothing of that job.
    pub async fn collect_garbage(
        &self,
        store: &dyn JobStore,
        grace: Duration,
        at: DateTime<Utc>,
        dry: bool,
    ) -> Result<Garbage, WorkspaceStoreError> {
        let is_old =
            |stored: &StoredObject| at.signed_duration_since(stored.modified).to_std().is_ok_and(|age| age >= grace);
        // First the existing objects, then the pointers: objects of later pointers are not among the old ones.
        let mut manifests = Vec::new();
        for folder in self.list(MANIFESTS).await?.0 {
            manifests.extend(self.list(&folder).await?.1);
        }
        let mut blocks = Vec::new();
        for folder in self.list(OBJECTS).await?.0 {
            blocks.extend(self.list(&folder).await?.1.into_iter().filter(is_old));
        }
        let known: BTreeMap<JobId, Option<String>> = store.manifests().await?.into_iter().collect();
        let mut reached: HashSet<String> = HashSet::new();
        let mut unknown = BTreeSet::new();
        let mut lost = Vec::new();
        let mut pointed: BTreeSet<(JobId, String)> =
            known.iter().filter_map(|(id, key)| Some((*id, key.clone()?))).collect();
        let keys: BTreeSet<String> = pointed.iter().map(|(_, key)| key.clone()).collect();
        for stored in manifests {
            // An object that isn't named like a manifest was not put there by this program.
            let Some(key) = ManifestKey::read(&stored.name) else { continue };
            if known.contains_key(&key.job) {
                if is_old(&stored) && !keys.contains(&stored.name) {
                    lost.push((key.job, stored));
                }
            } else {
                unknown.insert(key.job);
                pointed.insert((key.job, stored.name));
            }
        }
        let mut broken = BTreeMap::new();
        for (id, key) in &pointed {
            failpoint::hit("workspace_store.cleared");
            match self.current_manifest(store, *id, key, &mut lost).await? {
                Ok(manifest) => reached.extend(manifest.blocks().map(|block| block.sha256.clone())),
                Err(sentence) => {
                    broken.insert(*id, sentence);
                }
            }
        }
        // Such a job could be repaired from its remaining manifests.
        lost.retain(|(id, _)| !broken.contains_key(id));
        blocks.retain(|stored| {
            let hash = stored.name.rsplit('/').next().unwrap_or_default();
            broken.is_empty() && !reached.contains(hash)
        });
        let lost = lost.into_iter().map(|(_, stored)| stored).collect::<Vec<_>>();
        let garbage = Garbage {
            manifests: lost.len() as u64,
            blocks: blocks.len() as u64,
            bytes: lost.iter().chain(&blocks).map(|stored| stored.bytes).sum(),
            unknown_jobs: unknown.len() as u64,
            broken: broken.into_iter().collect(),
        };
        if !dry {
            // Manifests first: then no manifest refers to a deleted block.
            for stored in lost.iter().chain(&blocks) {
                self.delete(&stored.name).await?;
            }
        }
        Ok(garbage)
    }

    /// The manifest of a job, or why it can't be had. A job may have gone on since its pointer was read.
    async fn current_manifest(
        &self,
        store: &dyn JobStore,
        id: JobId,
        key: &str,
        lost: &mut Vec<(JobId, StoredObject)>,
    ) -> Result<Result<WorkspaceManifest, String>, WorkspaceStoreError> {
        let first = match self.manifest_at(id, key).await? {
            Err(why) => why,
            manifest => return Ok(manifest),
        };
        let now = store.job(id).await?.and_then(|row| row.queue?.manifest);
        match now {
            Some(now) if now != key => {
                // It was listed before any pointer to it existed.
                lost.retain(|(_, stored)| stored.name != now);
                self.manifest_at(id, &now).await
            }
            Some(_) | None => Ok(Err(first)),
        }
    }

    async fn manifest_at(
        &self,
        id: JobId,
        key: &str,
    ) -> Result<Result<WorkspaceManifest, String>, WorkspaceStoreError> {
        let read = match ManifestKey::parse(key) {
            Ok(key) if key.job == id => self.manifest(&key).await,
            Ok(key) => {
                return Ok(Err(format!("the database says that its workspace is {key}, which is another job's")));
            }
            Err(error) => Err(error),
        };
        match read {
            Err(error @ (WorkspaceStoreError::Missing { .. } | WorkspaceStoreError::Corrupt { .. })) => {
                Ok(Err(error.to_string()))
            }
            read => read.map(Ok),
        }
    }
}
