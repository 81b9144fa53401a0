//! `overnight audit prompt`: the prompt of a turn, rebuilt from the journal.

use crate::{
    audit,
    cli::{CliError, exit, job_location::JobLocation, out},
    config::Settings,
};
use overnight_core::message::{Message, Prompt, with_images};
use std::fmt::Write;

const EXAMPLES: &str = "\
Examples:
  overnight audit prompt last --turn 12
  overnight audit prompt last --turn 12 --json | jq .messages[0]";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PromptArgs {
    /// Id of a job, the beginning of one, 'last', or the path of a workspace folder
    job: String,
    /// Which model call, from 1
    #[arg(long, value_name = "N")]
    turn: u64,
    /// Print the tools' descriptions and schemas too (the JSON form always has them)
    #[arg(long)]
    tools: bool,
    /// Print the prompt as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(settings: Settings, args: &PromptArgs) -> Result<u8, CliError> {
    let location = JobLocation::find(settings, &args.job).await?;
    let rebuilt = audit::prompt::prompt(&location.path, args.turn)?;
    out::answer(args.json, &rebuilt.prompt, || {
        let text = text(&rebuilt.prompt, args.tools);
        // If stdout is no terminal, the output is exactly what the model saw.
        if console::Term::stdout().is_term() { out::plain(&text) } else { text }
    })?;
    if !rebuilt.is_same() {
        out::note(&format!(
            "warning: this is not what the model was shown: the prompt made anew has the SHA-256 {}, and the journal says {}; \
             another version of the program made it",
            rebuilt.sha256, rebuilt.recorded_sha256
        ));
    }
    if !rebuilt.are_tools_recorded {
        out::note(
            "warning: the tools are described as this version of the program has them; the journal names another list",
        );
    }
    Ok(exit::COMPLETED)
}

/// Tools, then each message under its heading.
fn text(prompt: &Prompt, with_schemas: bool) -> String {
    let names: Vec<&str> = prompt.tools.iter().map(|tool| tool.name.as_str()).collect();
    let mut text = format!("tools: {}\n", names.join(", "));
    if with_schemas {
        for tool in prompt.tools.iter() {
            let schema = serde_json::to_string_pretty(&tool.parameters).unwrap_or_default();
            let _ = write!(text, "\n──── tool {} ────\n{}\n{schema}\n", tool.name, tool.description);
        }
    }
    for (number, message) in (1_usize..).zip(prompt.messages()) {
        let location = format!("{number} of {}", prompt.messages.len());
        match message {
            Message::System { text: said } => {
                let _ = write!(text, "\n──── {location}: system ────\n{said}\n");
            }
            Message::User { text: said, images } => {
                let said = with_images(said, images);
                let _ = write!(text, "\n──── {location}: user ────\n{said}\n");
            }
            Message::Assistant { text: said, calls, .. } => {
                let _ = write!(text, "\n──── {location}: assistant ────\n");
                if !said.is_empty() {
                    let _ = writeln!(text, "{said}");
                }
                for call in calls {
                    let _ = writeln!(text, "[{}] {} {}", call.id, call.name, call.arguments);
                }
            }
            Message::Tool { call, name, text: said, images } => {
                let said = with_images(said, images);
                let _ = write!(text, "\n──── {location}: result of [{call}] {name} ────\n{said}\n");
            }
        }
    }
    text
}
