//! Which file of a crate uses which: each import is followed through re-exports to the file that has the item, so that a
//! `mod.rs` that only passes names on stands in nobody's way. It reads what rustfmt has formatted, and nothing else.

use super::{code, is_test};
use regex::Regex;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

/// `use …;`, with its visibility where it passes the names on.
static USE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?ms)^\s*(pub(?:\([^)]*\))? )?use ([^;]+);").unwrap());
/// A path within the code.
static PATH: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b[a-z_]\w*(?:::\w+)+").unwrap());

/// One source file: what it passes on, by name, and what it uses.
struct File {
    path: String,
    passes_on: BTreeMap<String, Vec<String>>,
    uses: Vec<Vec<String>>,
}

/// The modules of a crate, by their paths.
pub(super) struct Modules(BTreeMap<Vec<String>, File>);

impl Modules {
    /// Those of the crate whose root lies in the folder `src`.
    pub(super) fn of(src: &str, sources: &BTreeMap<String, String>) -> Self {
        let below = sources.iter().filter_map(|(path, text)| Some((path, path.strip_prefix(src)?, text)));
        let files = below.filter(|(_, name, _)| !is_test(name) && *name != "main.rs");
        Self(files.map(|(path, name, text)| (module(name), File::read(path, text))).collect())
    }

    /// From each file the files that it uses.
    pub(super) fn graph(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let used = |(module, file): (&Vec<String>, &File)| {
            let found = file.uses.iter().filter_map(|path| self.resolve(module, path, 0));
            found.filter(|path| *path != file.path).collect()
        };
        self.0.iter().map(|(module, file)| (file.path.as_str(), used((module, file)))).collect()
    }

    /// The file that has what `path` means in `module`; `None` outside this crate.
    fn resolve(&self, module: &[String], path: &[String], depth: usize) -> Option<&str> {
        let mut at = module.to_vec();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => at.clear(),
            "self" | "super" => {}
            first if self.is_module(&at, first) => {}
            _ => return None,
        }
        while let Some((first, behind)) = rest.split_first() {
            match first.as_str() {
                "crate" | "self" => {}
                "super" => drop(at.pop()?),
                name if self.is_module(&at, name) => at.push(name.to_owned()),
                name => {
                    let file = self.0.get(&at)?;
                    // As deep as re-exports may be, they end.
                    let passed = file.passes_on.get(name).filter(|passed| depth < 9 && *passed != path);
                    let whole = passed.map(|passed| [passed, behind].concat());
                    return whole.and_then(|path| self.resolve(&at, &path, depth + 1)).or(Some(&file.path));
                }
            }
            rest = behind;
        }
        self.0.get(&at).map(|file| file.path.as_str())
    }

    fn is_module(&self, at: &[String], name: &str) -> bool {
        self.0.contains_key(&[at, &[name.to_owned()]].concat())
    }
}

impl File {
    fn read(path: &str, text: &str) -> Self {
        let code = code(text);
        let (mut passes_on, mut uses) = (BTreeMap::new(), Vec::new());
        for found in USE.captures_iter(&code) {
            for (path, name) in expand(&found[2]) {
                if found.get(1).is_some() {
                    passes_on.insert(name, path);
                } else {
                    uses.push(path);
                }
            }
        }
        let rest = USE.replace_all(&code, "");
        uses.extend(PATH.find_iter(&rest).map(|found| parts(found.as_str())));
        Self { path: path.to_owned(), passes_on, uses }
    }
}

/// Each path of a tree of imports, with the name that it gets.
pub(super) fn expand(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    if let Some((prefix, group)) = tree.split_once('{') {
        let mut depth = 0_i32;
        let group = group.strip_suffix('}').unwrap_or(group);
        let parts = group.split(|letter| {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            letter == ',' && depth == 0
        });
        let trees = parts.map(str::trim).filter(|part| !part.is_empty()).map(|part| format!("{prefix}{part}"));
        return trees.flat_map(|tree| expand(&tree)).collect();
    }
    let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
    let mut path = parts(path);
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let name = if name.is_empty() { path.last().cloned().unwrap_or_default() } else { name.to_owned() };
    vec![(path, name)]
}

fn parts(path: &str) -> Vec<String> {
    path.trim().split("::").map(str::to_owned).collect()
}

/// `a/b/mod.rs` and `a/b.rs` are the module `a::b`.
fn module(name: &str) -> Vec<String> {
    let parts = name.trim_end_matches(".rs").split('/').filter(|part| !matches!(*part, "mod" | "lib"));
    parts.map(str::to_owned).collect()
}
