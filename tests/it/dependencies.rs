//! What we depend on: under which licences, from where, how often, with one TLS stack, and called by its right version.

#![expect(clippy::unwrap_used, reason = "a test fails by them")]

use overnight_documents::READERS;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
    sync::LazyLock,
};

/// Licences that let the program be used and passed on as it is.
const ALLOWED: &str = "0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause BSL-1.0 CC0-1.0 CDLA-Permissive-2.0 ISC MIT MIT-0 MPL-2.0 \
    OpenSSL Unicode-3.0 Unlicense Zlib";

/// Crates that occur in several incompatible versions, and who asks for the others. Each entry must still be needed.
const TWICE: &[(&str, &str)] = &[
    ("base64 0.22 0.23", "sqlx"),
    ("bit-set 0.11 0.8", "cel, by way of antlr4rust; jsonschema, by way of fancy-regex, has the older one"),
    ("bit-vec 0.10 0.8", "cel, by way of antlr4rust; jsonschema, by way of fancy-regex, has the older one"),
    ("block-buffer 0.10 0.12", "sqlx, by way of sha2 0.10"),
    ("cpufeatures 0.2 0.3", "sqlx, by way of sha2 0.10"),
    ("crypto-common 0.1 0.2", "sqlx, by way of sha2 0.10"),
    ("digest 0.10 0.11", "sqlx, by way of sha2 0.10"),
    ("getrandom 0.2 0.3 0.4", "ring, which rustls names but does not build, and jsonschema, by way of ahash"),
    ("hashbrown 0.16 0.17", "sqlx, by way of hashlink"),
    ("hayro-ccitt 0.3 0.4", "unpdf, and hayro-jbig2, which it uses too"),
    ("miniz_oxide 0.8 0.9", "image, by way of png"),
    ("io-lifetimes 2 3", "cap-std, by way of fs-set-times"),
    ("itertools 0.14 0.15", "onenote_parser"),
    ("lru 0.16 0.18", "ssfmt; onenote_parser has the newer one"),
    ("nom 7 8", "cel; the newer one is lettre's"),
    ("num-bigint 0.4 0.5", "jsonschema, by way of fraction"),
    ("phf 0.12 0.13", "chrono-tz"),
    ("phf_shared 0.12 0.13", "chrono-tz, by way of phf"),
    ("quick-xml 0.41 0.42", "object_store; calamine has ours"),
    (
        "rand 0.10 0.8 0.9",
        "metrics-exporter-prometheus, by way of metrics-util; rust_decimal names the oldest and does not build it",
    ),
    ("rand_chacha 0.3 0.9", "rust_decimal, by way of rand, which it does not build"),
    ("rand_core 0.10 0.6 0.9", "metrics-exporter-prometheus and rust_decimal, by way of rand"),
    ("sha2 0.10 0.11", "sqlx"),
    ("similar 2 3", "insta, for tests only"),
    ("spin 0.10 0.9", "object_store, by way of crc-fast, and sqlx, by way of flume"),
    ("strum 0.27 0.28", "croner"),
    ("strum_macros 0.27 0.28", "croner, by way of strum, at build time only"),
    ("syn 2 3", "sqlx, croner, mail-parser and tracing, at build time only"),
    ("typed-path 0.12 0.13", "onenote_parser, whose parser takes a name of that type"),
    ("tower-http 0.6 0.7", "reqwest; the pages need the layer against cross-site posts that 0.7 brought"),
];

/// A second TLS stack, or one that needs a system library.
const OTHER_TLS: &[&str] =
    &["openssl", "openssl-sys", "native-tls", "boring", "boring-sys", "schannel", "security-framework"];

static METADATA: LazyLock<Value> = LazyLock::new(|| {
    let metadata = |more: &[&str]| {
        Command::new(env!("CARGO"))
            .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", "x86_64-unknown-linux-gnu"])
            .args(more)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap()
    };
    let offline = metadata(&["--offline"]);
    let output = if offline.status.success() { offline } else { metadata(&[]) };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
});

fn text<'a>(package: &'a Value, key: &str) -> &'a str {
    package[key].as_str().unwrap_or_default()
}

/// Every package that is built for Linux, but for our own.
fn packages() -> Vec<&'static Value> {
    let built: BTreeSet<&str> =
        METADATA["resolve"]["nodes"].as_array().unwrap().iter().map(|node| text(node, "id")).collect();
    let all = METADATA["packages"].as_array().unwrap();
    let packages: Vec<&Value> = all
        .iter()
        .filter(|package| built.contains(text(package, "id")) && !text(package, "name").starts_with("overnight"))
        .collect();
    assert!(packages.len() > 100, "cargo metadata names only {} packages", packages.len());
    packages
}

/// The ids of what a package depends on, but for its tests; `name` as the end of its id has it.
fn needed_by(name: &str) -> BTreeSet<&'static str> {
    let nodes = METADATA["resolve"]["nodes"].as_array().unwrap();
    let node = nodes.iter().find(|node| text(node, "id").contains(name)).unwrap();
    let is_built = |dep: &&Value| dep["dep_kinds"].as_array().unwrap().iter().any(|kind| kind["kind"].is_null());
    node["deps"].as_array().unwrap().iter().filter(is_built).map(|dep| text(dep, "pkg")).collect()
}

#[test]
fn the_core_depends_on_nothing_that_touches_the_world() {
    let (mut needed, mut next) = (BTreeSet::new(), vec!["/overnight-core#"]);
    while let Some(id) = next.pop() {
        next.extend(needed_by(id).into_iter().filter(|id| needed.insert(*id)));
    }
    let outside = ["cap-std", "fail", "hyper", "object_store", "reqwest", "rustix", "sqlx", "tokio", "walkdir"];
    let found: Vec<&&str> =
        needed.iter().filter(|id| outside.iter().any(|name| id.contains(&format!("#{name}@")))).collect();
    assert!(found.is_empty() && needed.len() > 20, "{found:?} among {needed:?}");
}

#[test]
fn every_licence_is_allowed() {
    let refused: Vec<String> = packages()
        .into_iter()
        .filter(|package| {
            let expression = spdx::Expression::parse_mode(text(package, "license"), spdx::ParseMode::LAX);
            !expression.is_ok_and(|expression| {
                expression.evaluate(|licence| {
                    licence.license.id().is_some_and(|id| ALLOWED.split(' ').any(|name| name == id.name))
                })
            })
        })
        .map(|package| {
            format!("{} {}: '{}'", text(package, "name"), text(package, "version"), text(package, "license"))
        })
        .collect();
    assert_eq!(refused, Vec::<String>::new());
}

#[test]
fn everything_comes_from_the_crates_registry() {
    let elsewhere: Vec<&str> = packages()
        .into_iter()
        .filter(|package| text(package, "source") != "registry+https://github.com/rust-lang/crates.io-index")
        .map(|package| text(package, "id"))
        .collect();
    assert_eq!(elsewhere, [""; 0]);
}

#[test]
fn there_is_one_tls_stack() {
    let found: BTreeSet<&str> = packages().into_iter().map(|package| text(package, "name")).collect();
    let other: Vec<&&str> = OTHER_TLS.iter().filter(|&&name| found.contains(name)).collect();
    assert_eq!(other, [&""; 0]);
    assert!(found.contains("rustls"), "this test looks for the wrong thing: there is no rustls either");
}

/// Texts are kept by the version of what read them: a reader that names an old one gives old texts after an update.
#[test]
fn readers_name_the_versions_that_are_built() {
    let own = needed_by("/overnight-documents#");
    let built: BTreeMap<&str, &str> = packages()
        .into_iter()
        .filter(|package| own.contains(text(package, "id")))
        .map(|package| (text(package, "name"), text(package, "version")))
        .collect();
    let mut named = BTreeSet::new();
    for format in READERS {
        let version = format.reader_version();
        // `unpdf 0.52.1+1`: the number behind it is our own part's. A reader without a crate is one word.
        let mut right = Vec::new();
        for part in version.split(", ") {
            let Some((name, version)) = part.split_once(' ') else {
                right.push(part.to_owned());
                continue;
            };
            let ours = version.split_once('+').map_or_else(String::new, |(_, ours)| format!("+{ours}"));
            assert!(ours.is_empty() || ours[1..].parse::<u32>().is_ok(), "{format:?}: {version}");
            right.push(format!("{name} {}{ours}", built.get(name).unwrap_or(&"is no dependency")));
            named.insert(name);
        }
        assert_eq!(version, right.join(", "), "{format:?}");
    }
    assert!(named.len() > 3, "this test looks for the wrong thing: the readers name {named:?} alone");
}

#[test]
fn no_crate_is_built_twice_without_need() {
    let mut versions: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        versions.entry(text(package, "name")).or_default().insert(line(text(package, "version")));
    }
    let twice: BTreeSet<String> = versions
        .iter()
        .filter(|(_, lines)| lines.len() > 1)
        .map(|(name, lines)| format!("{name} {}", lines.iter().cloned().collect::<Vec<_>>().join(" ")))
        .collect();
    let known: BTreeSet<String> = TWICE.iter().map(|(name, _)| (*name).to_owned()).collect();
    let new: Vec<&String> = twice.difference(&known).collect();
    let gone: Vec<&String> = known.difference(&twice).collect();
    assert!(new.is_empty() && gone.is_empty(), "not in TWICE: {new:#?}\nno longer needed in TWICE: {gone:#?}");
}

/// The part of a version within which cargo takes one for another: `1` of 1.2.3, `0.4` of 0.4.5, `0.0.6` of 0.0.6.
fn line(version: &str) -> String {
    let parts: Vec<&str> = version.split(['.', '-', '+']).take(3).collect();
    let kept = parts.iter().take_while(|part| **part == "0").count() + 1;
    parts[..kept.min(parts.len())].join(".")
}

#[test]
fn lines_of_compatible_versions() {
    for (version, expected) in
        [("1.2.3", "1"), ("0.4.5", "0.4"), ("0.0.6", "0.0.6"), ("2.0.0-rc.1", "2"), ("0.5.1+a", "0.5")]
    {
        assert_eq!(line(version), expected);
    }
}
