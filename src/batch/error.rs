//! Why a batch can't be made.

use crate::{store::StoreError, workspace_store::WorkspaceStoreError};
use uuid::Uuid;

/// The reason why a submission fails; each is one sentence.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The jobs' deliverables can't be fetched from the workspace store now.
    #[error(transparent)]
    WorkspaceStore(#[from] WorkspaceStoreError),
    /// A defect.
    #[error("what its jobs delivered can't be read ({why}); please report this")]
    Unread { why: String },
    /// Another version wrote them, or somebody changed the row.
    #[error("the settings of batch {batch} can't be read ({why}): use the version of overnight that submitted it")]
    Settings { batch: Uuid, why: String },
    #[error("the settings of batch {batch} can't be written as JSON ({why}); please report this")]
    Unwritable { batch: Uuid, why: String },
}
