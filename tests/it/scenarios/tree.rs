//! A folder's files in memory: what a crash leaves can be put together from them, and two can be compared whole.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

/// What lies at a path. Empty folders are not kept: nothing that a job does depends on one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    File(Arc<[u8]>),
    /// A symbolic link, and where it leads.
    Link(String),
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
                let node = match before.and_then(|before| before.0.get(&path)) {
                    Some(node @ Node::File(old)) if **old == *bytes => node.clone(),
                    Some(_) | None => Node::File(bytes.into()),
                };
                tree.0.insert(path, node);
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
                Node::File(bytes) => fs::write(place, bytes).unwrap(),
                Node::Link(to) => std::os::unix::fs::symlink(to, place).unwrap(),
            }
        }
    }

    pub(crate) fn bytes(&self, path: &str) -> Option<&[u8]> {
        match self.0.get(path)? {
            Node::File(bytes) => Some(bytes),
            Node::Link(_) => None,
        }
    }

    pub(crate) fn put(&mut self, path: impl Into<String>, bytes: &[u8]) {
        self.0.insert(path.into(), Node::File(bytes.into()));
    }
}
