//! `overnight man`: the manual pages, one for each command.

use super::{Cli, CliError, exit, out};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// Folder for the pages, made where it is missing: overnight.1, overnight-run.1, …
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(super) fn run(args: &ManArgs) -> Result<u8, CliError> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let written = fs::create_dir_all(&args.folder).and_then(|()| write(&command, &args.folder));
    let folder = out::one_line(&args.folder.display().to_string());
    written.map_err(|error| CliError::usage(format!("the pages can't be written into {folder} ({error})")))?;
    Ok(exit::COMPLETED)
}

/// The pages of a command and of all its subcommands.
fn write(command: &Command, folder: &Path) -> io::Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write(below, folder)?;
    }
    let page = Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    fs::write(folder.join(page.get_filename()), as_typed(&String::from_utf8_lossy(&text)))
}

/// Examples keep their lines and words: filled and hyphenated, they could not be typed.
fn as_typed(page: &str) -> String {
    let (mut text, mut is_extra, mut is_typed) = (String::new(), false, false);
    for line in page.lines() {
        if line.starts_with(".SH ") {
            is_extra = line == ".SH EXTRA";
        }
        let is_example = is_extra && line.starts_with(' ');
        if is_example != is_typed {
            text.push_str(if is_example { ".nf\n" } else { ".fi\n" });
            is_typed = is_example;
        }
        text.push_str(line);
        text.push('\n');
    }
    if is_typed {
        text.push_str(".fi\n");
    }
    text
}
