//! `overnight token`: access tokens of people and programs for `overnight serve`.

use super::{
    AppContext, CliError, exit,
    job_or_batch::short_label,
    local_time, out,
    table::{self, Align, TextTable},
};
use crate::{
    config::Flags,
    runner::now,
    store::{AccessToken, Role, random_token},
};
use chrono::Local;
use clap::{Args, Subcommand};
use overnight_core::job::{digest::sha256, time::Timestamp};
use serde::Serialize;
use uuid::Uuid;

const EXAMPLES: &str = "\
Examples:
  overnight token add Anna --role reviewer --expires 90d
  overnight token add nightly-import --role operator
  overnight token list
  overnight token revoke Anna

A token is shown once, and only its hash is kept. It is sent as `Authorization: Bearer …`, or opened as http://…/?token=….";

/// Maximum length of a name, in characters.
const LONGEST_NAME: usize = 100;
/// The prefix of each token: anyone who finds one knows what it is for.
const PREFIX: &str = "ovn_";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct TokenArgs {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Make a token, and show it once
    Add {
        /// Of who gets it: what is recorded of their acts
        name: String,
        /// reader looks at everything; reviewer also says what is right; operator also submits, pauses, cancels
        #[arg(long, value_parser = role)]
        role: Role,
        /// It lets nobody in from then on: 90d (from now), 2027-01-31, '2027-01-31 18:00' [default: never]
        #[arg(long, value_name = "TIME", value_parser = |text: &str| local_time::at(text, &Local::now()))]
        expires: Option<Timestamp>,
        /// Print a JSON object
        #[arg(long)]
        json: bool,
    },
    /// List all tokens, without their secrets
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Let nobody in any more with a token
    Revoke {
        /// Its id, or the name: all tokens of that name
        #[arg(value_name = "NAME|ID")]
        named: String,
    },
}

pub(super) fn role(text: &str) -> Result<Role, String> {
    Role::named(text).ok_or_else(|| format!("it is one of {}", Role::ALL.map(Role::name).join(", ")))
}

/// A token in `--json`. Its fields are a promise; a value that isn't there is null.
#[derive(Debug, Serialize)]
struct TokenView<'t> {
    id: Uuid,
    name: &'t str,
    role: &'static str,
    created: Timestamp,
    expires: Option<Timestamp>,
    revoked: Option<Timestamp>,
    /// Only set if it was just created.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'t str>,
}

impl<'t> TokenView<'t> {
    fn of(token: &'t AccessToken, secret: Option<&'t str>) -> Self {
        let AccessToken { id, name, role, created, expires, revoked } = token;
        let (id, created, expires, revoked) = (*id, *created, *expires, *revoked);
        Self { id, name, role: role.name(), created, expires, revoked, token: secret }
    }
}

pub(super) async fn run(flags: Flags, args: &TokenArgs) -> Result<u8, CliError> {
    let settings = super::settings(&flags)?;
    match &args.command {
        TokenCommand::Add { name, role, expires, json } => {
            let app = AppContext::open(settings).await?;
            let name = checked_name(name)?;
            let secret = random_token()
                .map_err(|error| CliError::failed(format!("the system gives no random numbers ({error})")))?;
            let secret = format!("{PREFIX}{secret}");
            let (id, created) = (Uuid::now_v7(), now());
            let token = AccessToken { id, name, role: *role, created, expires: *expires, revoked: None };
            app.store.add_token(&token, &sha256(secret.as_bytes())).await?;
            if *json {
                out::json(&TokenView::of(&token, Some(&secret)))?;
            } else {
                out::result(&format!("{secret}\n"))?;
                out::note("this token is not shown again: keep it where only who it is for can read it");
            }
        }
        TokenCommand::List { json } => {
            let tokens = match AppContext::read_any(settings).await? {
                Some(app) => app.store.tokens().await?,
                None => Vec::new(),
            };
            if *json {
                out::json(&tokens.iter().map(|token| TokenView::of(token, None)).collect::<Vec<_>>())?;
            } else if tokens.is_empty() {
                out::note("there is no token yet: `overnight token add NAME --role reviewer` makes one");
            } else {
                out::result(&table(&tokens).render(table::room()))?;
            }
        }
        TokenCommand::Revoke { named } => {
            let app = AppContext::open(settings).await?;
            let meant: Vec<AccessToken> = app.store.tokens().await?;
            let is_meant = |token: &&AccessToken| token.name == *named || token.id.to_string() == *named;
            let mut revoked = 0;
            for token in meant.iter().filter(is_meant) {
                revoked += u32::from(app.store.revoke_token(token.id, now()).await?);
            }
            if revoked == 0 {
                return Err(CliError::usage(format!(
                    "there is no token '{}' that isn't revoked: `overnight token list` names all",
                    short_label(named)
                )));
            }
            let tokens = if revoked == 1 { "one token is".to_owned() } else { format!("{revoked} tokens are") };
            out::result(&format!("{tokens} revoked: within five seconds every server refuses it\n"))?;
        }
    }
    Ok(exit::COMPLETED)
}

pub(super) fn checked_name(name: &str) -> Result<String, CliError> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
        return Err(CliError::usage(format!("a name has 1 to {LONGEST_NAME} characters, on one line")));
    }
    Ok(name.to_owned())
}

fn table(tokens: &[AccessToken]) -> TextTable {
    let columns = [
        ("NAME", Align::Cut),
        ("ROLE", Align::Left),
        ("STANDS", Align::Left),
        ("MADE", Align::Left),
        ("EXPIRES", Align::Left),
        ("ID", Align::Left),
    ];
    let mut table = TextTable::new(&columns).with_minor(&["MADE"]);
    for token in tokens {
        let stands = match token.revoked {
            Some(_) => "revoked",
            None if token.is_good(now()) => "good",
            None => "expired",
        };
        table.row(vec![
            out::one_line(&token.name),
            token.role.name().to_owned(),
            stands.to_owned(),
            local_time::minute(token.created),
            token.expires.map_or_else(|| "never".to_owned(), local_time::minute),
            token.id.to_string(),
        ]);
    }
    table
}
