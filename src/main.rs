//! The program: hands the command line to `cli` and ends with its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(feature = "failpoints")]
    let _armed = overnight::failpoint::arm();
    overnight::cli::main()
}
