//! A folder's files in memory: what a crash leaves can be put together from them, and two can be compared whole.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::{collections::BTreeMap, fs, io::Write, path::Path, sync::Arc, time::SystemTime};

/// What lies at a path. Empty folders are not kept: nothing that a job does depends on one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    File(Arc<[u8]>, Modified),
    /// A symbolic link, and where it leads.
    Link(String),
}

/// When a file was last written: a summary lists files by it. Never a difference between two of them.
#[derive(Clone, Copy, Debug, Eq)]
pub(crate) struct Modified(SystemTime);

impl PartialEq for Modified {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Paths relative to the folder, `/` between the parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tree(pub(crate) BTreeMap<String, Node>);

impl Tree {
    /// Reads a folder. What hasn't changed since `before` shares its bytes.
    pub(crate) fn read(folder: &Path, before: Option<&Tree>) -> Self {
        let mut tree = Self::default();
        for entry in walkdir::WalkDir::new(folder).follow_links(false) {
            let entry = entry.unwrap();
            let path = entry.path().strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
            let kind = entry.file_type();
            if kind.is_symlink() {
                tree.0.insert(path, Node::Link(fs::read_link(entry.path()).unwrap().to_string_lossy().into_owned()));
            } else if kind.is_file() && path != ".lock" {
                let bytes = fs::read(entry.path()).unwrap();
                let bytes = match before.and_then(|before| before.bytes(&path)) {
                    Some(old) if **old == *bytes => old.clone(),
                    Some(_) | None => bytes.into(),
                };
                let modified = Modified(entry.metadata().unwrap().modified().unwrap());
                tree.0.insert(path, Node::File(bytes, modified));
            }
        }
        tree
    }

    /// Makes `folder` what this tree says, and nothing else.
    pub(crate) fn write(&self, folder: &Path) {
        if folder.exists() {
            fs::remove_dir_all(folder).unwrap();
        }
        for (path, node) in &self.0 {
            let place = folder.join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            match node {
                Node::File(bytes, modified) => {
                    let mut file = fs::File::create(place).unwrap();
                    file.write_all(bytes).unwrap();
                    file.set_modified(modified.0).unwrap();
                }
                Node::Link(to) => std::os::unix::fs::symlink(to, place).unwrap(),
            }
        }
    }

    pub(crate) fn bytes(&self, path: &str) -> Option<&Arc<[u8]>> {
        match self.0.get(path)? {
            Node::File(bytes, _) => Some(bytes),
            Node::Link(_) => None,
        }
    }

    pub(crate) fn put(&mut self, path: impl Into<String>, bytes: &[u8]) {
        self.0.insert(path.into(), Node::File(bytes.into(), Modified(SystemTime::now())));
    }
}
