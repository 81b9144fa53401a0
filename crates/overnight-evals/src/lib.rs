//! Compares the values that a run found with the right ones, field by field, and determines with statistics which of
//! several candidates (a model with its instructions) is better. The crate accesses no file and no clock.
//!
//! - [`field_rule`]: how the values of a field are compared
//! - [`plan`]: the rule of each field, from the schema, the expected value, and the rules that a person wrote
//! - [`compare`](mod@compare): compares the values found in one document with the right ones
//! - [`comparison`]: the result of a comparison: cells, and records of lists one to one
//! - [`agreement`](mod@agreement): whether several runs on the same document find the same values
//! - [`statistics`]: the score of a candidate, the difference between two candidates, and whether chance explains it;
//!   how many results of a night equal those of a better model
//!
//! ```
//! use overnight_evals::{
//!     compare::compare,
//!     comparison::RecordPlaces,
//!     plan::ComparisonPlan,
//!     statistics::{difference, score, CandidateVerdict},
//! };
//! use serde_json::json;
//!
//! let schema = json!({"type": "object", "properties": {
//!     "start": {"type": "string", "format": "date"},
//!     "terms": {"type": "array", "items": {"properties": {"year": {"type": "integer"}, "rent": {"type": "number"}}}},
//! }});
//! let plan = ComparisonPlan::new(Some(schema), Default::default(), []);
//! let golden = json!({"start": "2027-05-03", "terms": [{"year": 1, "rent": 1250}, {"year": 2, "rent": 1300}]});
//! let found = json!({"start": "3 May 2027", "terms": [{"year": 2, "rent": 1350}, {"year": 1, "rent": "1,250.00"}]});
//!
//! let comparison = compare(&golden, Some(&found), &plan, &RecordPlaces::default(), None);
//! let wrong: Vec<_> = comparison.cells.iter().filter(|cell| !cell.is_right).collect();
//! assert_eq!((wrong.len(), wrong[0].field.as_str()), (1, "$.terms[*].rent"));
//! assert_eq!(wrong[0].found_path.as_deref(), Some("$.terms[0].rent"));
//!
//! // One candidate is wrong like this in each of 24 documents, the other one is right.
//! let right = compare(&golden, Some(&golden), &plan, &RecordPlaces::default(), None);
//! let (a, b) = (vec![comparison.score(); 24], vec![right.score(); 24]);
//! let of_a = score(&a, 1).expect("values were compared");
//! assert_eq!((of_a.value, of_a.low < 0.8, of_a.high > 0.8), (0.8, true, true));
//! let difference = difference(&a, &b, 1).expect("documents were compared");
//! assert_eq!(CandidateVerdict::of(&difference, difference.p, 1), CandidateVerdict::Better);
//! ```

#![warn(missing_docs)]

pub mod agreement;
pub mod compare;
pub mod comparison;
pub mod field_rule;
mod form;
mod pairing;
pub mod plan;
mod schema;
pub mod statistics;
mod tree;
