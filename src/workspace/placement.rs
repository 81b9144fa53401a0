//! A hint to the file system where to put workspaces. ext4 keeps a folder's files near its parent's; on a folder marked as the top of a
//! hierarchy it spreads the folders instead (the Orlov allocator; `T` in `chattr(1)`). Jobs have nothing to do with each
//! other, and the search for a free inode, at each file, passes by all that were deleted nearby in the last minutes.

use std::path::Path;

/// Marks `parent` as the top of unrelated folders, if the file system supports it. A hint: a refusal does no harm.
#[cfg(target_os = "linux")]
pub(super) fn spread(parent: &Path) {
    use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
    let Ok(folder) = std::fs::File::open(parent) else { return };
    if let Ok(flags) = ioctl_getflags(&folder)
        && !flags.contains(IFlags::TOPDIR)
    {
        let _ = ioctl_setflags(&folder, flags | IFlags::TOPDIR);
    }
}

/// Other systems have no such mark.
#[cfg(not(target_os = "linux"))]
pub(super) fn spread(_: &Path) {}
