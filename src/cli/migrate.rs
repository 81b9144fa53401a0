//! `overnight migrate`: the database's schema is brought up to this program's.

use super::{CliError, Office, exit, out};

pub(super) fn run(office: &Office) -> Result<u8, CliError> {
    // Opening it has done so.
    out::result(&format!("{}: the schema is up to date\n", office.settings.database_url.value))?;
    Ok(exit::COMPLETED)
}
