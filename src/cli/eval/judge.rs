//! Asks the judge of a set the questions without an answer.

use crate::{
    cli::{
        AppContext, CliError, out,
        progress::counted,
        server::{self, Target},
    },
    gold::{GoldenSet, JudgeQuestion, JudgeVerdict},
    model::{Failure, Model, Request, retry},
    runner::now,
};
use overnight_core::{
    job::failure::Remedy,
    message::{Message, Prompt},
};
use serde_json::json;
use std::sync::{Arc, atomic::AtomicU64};

/// The judge's system prompt.
const JUDGE: &str = include_str!("../../../instructions/runner/judge.md");
/// Attempts of a call.
const ATTEMPTS: u32 = 3;

/// Asks all questions, and keeps each verdict in the set. Returns the number that failed, which count as wrong.
pub(super) async fn ask(app: &AppContext, set: &GoldenSet, questions: &[JudgeQuestion]) -> Result<usize, CliError> {
    let Some(judge) = &set.file.judge else { return Ok(0) };
    let model = server::without_jobs(&app.settings, &Target::new(judge.model.clone(), &app.settings))?;
    let (mut cost, mut failed) = (Some(0.0), Vec::new());
    for question in questions {
        match verdict(&*model, &judge.rubric, question).await {
            Ok((is_right, words, usd)) => {
                cost = cost.zip(usd).map(|(cost, usd)| cost + usd);
                let JudgeQuestion { key, field, expected, found } = question.clone();
                let model = judge.model.clone();
                set.keep_verdict(&JudgeVerdict { key, at: now(), model, field, expected, found, is_right, words })?;
            }
            Err(why) => failed.push(why),
        }
    }
    let cost = cost.map_or_else(|| "cost unknown".to_owned(), |cost| format!("{cost:.4} USD"));
    out::note(&format!("{} judged {}, {cost}", judge.model, counted((questions.len() - failed.len()) as u64, "value")));
    if let Some(why) = failed.first() {
        let values = counted(failed.len() as u64, "value");
        out::note(&format!("{values} could not be judged, and counted as wrong: {}", out::one_line(why)));
    }
    Ok(failed.len())
}

/// Whether the found value is right, the judge's words, and what they cost.
async fn verdict(
    model: &dyn Model,
    rubric: &str,
    question: &JudgeQuestion,
) -> Result<(bool, String, Option<f64>), String> {
    let JudgeQuestion { field, expected, found, .. } = question;
    let asked = json!({"field": field, "right": expected, "found": found, "rule": rubric}).to_string();
    let prompt = Prompt::new(Arc::new([]), [Message::System { text: JUDGE.trim().to_owned() }, Message::user(&asked)]);
    let mut failure: Option<Failure> = None;
    for turn in 1..=ATTEMPTS {
        let received = AtomicU64::new(0);
        let request = Request {
            prompt: &prompt,
            turn: turn.into(),
            conversation: 0,
            turn_of_conversation: 1,
            received: &received,
        };
        match model.reply(request).await {
            Ok(reply) => {
                let words = reply.text.trim().to_owned();
                let first =
                    words.split(|letter: char| !letter.is_alphabetic()).next().unwrap_or_default().to_lowercase();
                return match first.as_str() {
                    "yes" => Ok((true, words, model.cost(&reply.usage))),
                    "no" => Ok((false, words, model.cost(&reply.usage))),
                    _ => Err(format!("the judge said neither yes nor no: {words}")),
                };
            }
            Err(error) => {
                let may_help = matches!(error.kind.remedy(), Remedy::Retry { .. } | Remedy::AskAgain);
                let wait = retry::wait(turn, error.retry_after, fastrand::f64());
                failure = Some(error);
                if turn == ATTEMPTS || !may_help {
                    break;
                }
                tokio::time::sleep(wait).await;
            }
        }
    }
    Err(failure.map_or_else(String::new, |failure| failure.reason))
}
