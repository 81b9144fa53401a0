//! A place at which a program stands still for as long as a test needs: a failpoint's list that is a named pipe, which
//! can't be opened before somebody opens its other end.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use rustix::fs::{Mode, OFlags};
use std::{
    cell::OnceCell,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::Command,
};

pub(super) struct Gate {
    pipe: PathBuf,
    other_end: OnceCell<OwnedFd>,
}

impl Gate {
    /// A closed one in the folder.
    pub(super) fn new(folder: &Path) -> Self {
        let pipe = folder.join("gate");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        Self { pipe, other_end: OnceCell::new() }
    }

    /// The failpoint's action.
    pub(super) fn action(&self) -> String {
        format!("return({})", self.pipe.display())
    }

    /// Lets through who stands there, and who comes.
    pub(super) fn open(&self) {
        self.other_end
            .get_or_init(|| rustix::fs::open(&self.pipe, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).unwrap());
    }
}

/// A test that fails leaves nobody standing there.
impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
    }
}
