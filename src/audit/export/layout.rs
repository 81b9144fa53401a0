//! The paths of the parts of a record.

use crate::workspace::packed::RECORD_WORKSPACE;

/// The folder of the record that holds the workspace.
pub(super) const WORKSPACE: &str = RECORD_WORKSPACE;
pub(super) const MANIFEST: &str = "manifest.sha256";
/// Lists the manifest with its signature and time-stamp, so that damage to those files is detected without other tools.
pub(super) const SEAL: &str = "seal.sha256";
pub(super) const SIGNATURE: &str = "manifest.sha256.sig";
pub(super) const TIME_STAMP: &str = "manifest.sha256.tsr";
pub(super) const SIGNER: &str = "signer.pub";
/// The script that checks the record without this program.
pub(super) const SCRIPT_FILE: &str = "verify.sh";
