//! How the program is linked where tests start it thousands of times: at a fixed address. A debug build has half a million addresses that
//! would be worked out at each start, which is half of the start's time (8 ms of a processor, against 4).

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    // The profile "dist" counts as a debug profile, too.
    let is_for_tests = is("PROFILE", "debug") && is("OPT_LEVEL", "0");
    if is_for_tests && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
