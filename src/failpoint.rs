//! Failpoints: named places at which a test kills the program as a power cut or `kill -9` would, to see what is left and
//! that the job goes on from it. Compiled in by the cargo feature `failpoints` alone; without it each is nothing.
//!
//! The variable `FAILPOINTS` selects them (`tests/it/survival/failpoints.rs` builds it from the names in this source):
//! - `file.new.half=return`: the first time this place is reached the process reports it on standard error and dies,
//!   with nothing flushed or dropped;
//! - `file.new.half=3*off->return`: the fourth time;
//! - `file.new.half=return(PATH)`: the place adds its name to the file at PATH, a line each time it is reached;
//! - `extraction.page=return(loop)`: a reader of documents misbehaves, in the way that is named.

use std::io::{Read, Write};

#[cfg(feature = "failpoints")]
mod armed {
    use std::io::Write;

    /// The text before the place's name when the process dies there.
    const DIED: &str = "killed at ";

    /// Keeps the points as set by the environment.
    #[must_use = "the points are taken away when it is dropped"]
    pub struct Armed {
        _scenario: fail::FailScenario<'static>,
    }

    impl std::fmt::Debug for Armed {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("Armed")
        }
    }

    /// Sets the points from `FAILPOINTS`. Only the program itself calls this: in tests of the library nothing dies.
    pub fn arm() -> Armed {
        Armed { _scenario: fail::FailScenario::setup() }
    }

    /// Imitates the effects that a broken or hostile document can have on its reader.
    pub(super) fn misbehave(name: &str) {
        fail::fail_point!(name, |how: Option<String>| match how.as_deref() {
            Some("loop") => loop {
                std::hint::spin_loop();
            },
            Some("memory") => {
                let mut taken = Vec::new();
                loop {
                    taken.push(vec![1_u8; 16 << 20]);
                }
            }
            Some("stack") => drop(descend(1)),
            Some("exit") => std::process::exit(0),
            _ => std::process::abort(),
        });
    }

    /// Calls itself until the stack overflows.
    fn descend(depth: u64) -> Vec<u64> {
        let below = if depth == 0 { Vec::new() } else { descend(std::hint::black_box(depth) + 1) };
        std::hint::black_box([depth; 512]).iter().copied().chain(below).collect()
    }

    /// Acts on `FAILPOINTS` for the point `name`: nothing, a line in a list, or `last` and then the end of the process.
    pub(super) fn reach(name: &str, last: impl FnOnce()) {
        fail::fail_point!(name, |list: Option<String>| {
            if let Some(list) = list {
                let file = std::fs::OpenOptions::new().create(true).append(true).open(list);
                // If the list can't be written, this line will be missing from it.
                let _ = file.and_then(|mut file| writeln!(file, "{name}"));
            } else {
                last();
                // Even if no one reads it, the process ends.
                let _ = writeln!(std::io::stderr(), "{DIED}{name}");
                std::process::abort()
            }
        });
    }
}

#[cfg(feature = "failpoints")]
pub use armed::{Armed, arm};

/// A place at which the process may die.
#[inline]
pub(crate) fn hit(name: &str) {
    #[cfg(feature = "failpoints")]
    armed::reach(name, || {});
    #[cfg(not(feature = "failpoints"))]
    let _ = name;
}

/// A place at which a reader of documents may misbehave.
#[inline]
pub(crate) fn misbehave(name: &str) {
    #[cfg(feature = "failpoints")]
    armed::misbehave(name);
    #[cfg(not(feature = "failpoints"))]
    let _ = name;
}

/// A place at which the process may die with half of `bytes` written.
#[inline]
pub(crate) fn half(name: &str, file: &mut dyn Write, bytes: &[u8]) {
    half_of(name, file, &mut &*bytes);
}

/// [`half`] of a stream's content; if nothing dies, nothing is read.
#[inline]
pub(crate) fn half_of(name: &str, file: &mut dyn Write, content: &mut dyn Read) {
    #[cfg(feature = "failpoints")]
    armed::reach(name, || {
        let mut bytes = Vec::new();
        let _ = content.read_to_end(&mut bytes).and_then(|_| file.write_all(&bytes[..bytes.len() / 2]));
    });
    #[cfg(not(feature = "failpoints"))]
    let _ = (name, file, content);
}
