//! `overnight migrate`: updates the database's schema to this program's version.

use super::{AppContext, CliError, exit, out};

pub(super) fn run(app: &AppContext) -> Result<u8, CliError> {
    // Opening the database has already done it.
    out::result(&format!("{}: the schema is up to date\n", app.settings.database_url.value))?;
    Ok(exit::COMPLETED)
}
