//! The key `cascade`: a cheap model reads all documents of a batch, a strong one those that leave a doubt, and a random
//! draw of the rest, until it is certain enough how much of the result the strong one would confirm.

use crate::yaml::{ValueError, YamlValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the documents of a batch are read by two models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cascade {
    /// `provider:name`: reads every document.
    pub cheap: String,
    /// Reads those that leave a doubt, and those that are drawn.
    pub strong: String,
    /// The conditions under which a result of the cheap model is good enough.
    pub accept: Acceptance,
    /// The certification; `None` means that nothing is drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certify: Option<CertifyWanted>,
}

/// The problems that a result must not have, besides passing all its checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Acceptance {
    /// Doubts about its records: quotes, rules for values, refused records, confidence.
    pub rules: bool,
    /// Records that the second reader found and the first did not, or the other way round.
    pub second_reader: bool,
}

/// The reader of the drawn results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DrawReader {
    /// The strong model, blind.
    #[default]
    Model,
    /// People, beside the sources.
    Person,
}

impl DrawReader {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands on references")]
    fn is_model(&self) -> bool {
        *self == Self::Model
    }
}

/// The certification that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CertifyWanted {
    /// The reader that decides what is right.
    #[serde(default, skip_serializing_if = "DrawReader::is_model")]
    pub by: DrawReader,
    /// The share of results that must be as `by` reads them, 0.5 to less than 1.
    pub right: f64,
    /// The probability with which that is to hold, 0.5 to less than 1.
    pub confidence: f64,
    /// The seed of the draw; `None`: it follows from the batch's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// The largest share and probability that can be asked for.
const MOST: f64 = 0.999;

pub(super) fn cascade(at: &YamlValue<'_>, has_second_reader: bool) -> Result<Cascade, ValueError> {
    let keys = at.table(&["models", "accept", "certify"])?;
    let models_at = keys.required("models")?;
    let [cheap, strong] = <[String; 2]>::try_from(models_at.lines(200)?)
        .map_err(|_| models_at.wrong("must name two models: the cheap one, then the strong one"))?;
    if cheap == strong {
        return Err(models_at.wrong("must name two models, not one twice"));
    }
    let accept = match keys.get("accept") {
        None => Acceptance { rules: true, second_reader: has_second_reader },
        Some(at) => {
            let keys = at.table(&["rules", "second_reader"])?;
            let flag = |key: &str, usual: bool| keys.get(key).map_or(Ok(usual), YamlValue::flag);
            let accept =
                Acceptance { rules: flag("rules", true)?, second_reader: flag("second_reader", has_second_reader)? };
            if accept.second_reader && !has_second_reader {
                return Err(at.wrong("asks for a second reader: say with second_reader what is read a second time"));
            }
            accept
        }
    };
    let certify = keys.get("certify").map(certify).transpose()?;
    Ok(Cascade { cheap, strong, accept, certify })
}

fn certify(at: &YamlValue<'_>) -> Result<CertifyWanted, ValueError> {
    let keys = at.table(&["by", "right", "confidence", "seed"])?;
    let by = keys
        .get("by")
        .map_or(Ok(DrawReader::Model), |at| at.word(&[("model", DrawReader::Model), ("person", DrawReader::Person)]))?;
    let share = |key: &str| keys.get(key).map_or(Ok(0.95), |at| at.number(0.5, MOST));
    let seed = keys.get("seed").map(|at| at.count(0)).transpose()?;
    Ok(CertifyWanted { by, right: share("right")?, confidence: share("confidence")?, seed })
}
