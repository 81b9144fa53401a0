//! What a certificate by random draws costs, and how often it is false: simulated nights of which 15 % are escalated.
//!
//! ```text
//! cargo run --release -p overnight-evals --example certificate -- 1000
//! ```
//!
//! The number is of nights for each line. "accepted that agree" is what is true of the accepted documents; "nights certified
//! falsely" is to be 5 % at most; "times cheaper" compares a night with two strong readings of each document, where a reading of
//! the cheap model has a twentieth of the price of a strong one.

use overnight_evals::statistics::{Certify, draw_order};
use std::{env, error::Error};

const AGREEMENT: [f64; 11] = [0.80, 0.85, 0.90, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 1.0];
const CHEAP: f64 = 0.05;

#[expect(clippy::print_stdout, reason = "an example shows what came of it")]
fn main() -> Result<(), Box<dyn Error>> {
    let nights: u32 = env::args().nth(1).map_or(Ok(300), |count| count.parse())?;
    let certify = Certify::new(0.95, 0.95)?;
    println!("documents  accepted that agree  nights certified falsely  mean draws  strong readings  times cheaper");
    for documents in [100, 200, 500, 1000, 2000] {
        let escalated = documents * 15 / 100;
        let accepted = documents - escalated;
        let may_differ = documents - certify.certificate(documents, escalated, &[])?.required;
        let by_agreement = AGREEMENT.map(|agreement| rounded(f64::from(accepted) * (1.0 - agreement)));
        // And one more than may differ.
        for differing in by_agreement.into_iter().chain([may_differ + 1]) {
            let (mut falsely, mut draws) = (0, 0.0);
            for seed in 0..nights {
                let order = draw_order(accepted, u64::from(seed));
                let agreed: Vec<bool> = order.into_iter().map(|place| place >= differing).collect();
                let (at, left) = end(&certify, documents, escalated, &agreed)?;
                falsely += u32::from(left > may_differ);
                draws += f64::from(at) / f64::from(nights);
            }
            let strong = f64::from(escalated) + draws;
            println!(
                "{documents:9}  {:19.4}  {:23.2}%  {draws:10.1}  {strong:15.1}  {:13.2}",
                f64::from(accepted - differing) / f64::from(accepted),
                100.0 * f64::from(falsely) / f64::from(nights),
                2.0 * f64::from(documents) / (CHEAP * f64::from(documents) + strong)
            );
        }
    }
    Ok(())
}

/// The first draw after which a night is certified, and how many documents differ that were not drawn by then. Always as many are
/// drawn as are needed at least, so that no look is left out at which it could have been.
fn end(certify: &Certify, documents: u32, escalated: u32, agreed: &[bool]) -> Result<(u32, u32), Box<dyn Error>> {
    let mut drawn = 0;
    loop {
        let certificate = certify.certificate(documents, escalated, &agreed[..drawn])?;
        if certificate.holds {
            let left = agreed[drawn..].iter().filter(|agreed| !**agreed).count();
            return Ok((certificate.drawn, u32::try_from(left)?));
        }
        drawn += usize::try_from(certificate.still_needed)?;
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of documents")]
fn rounded(number: f64) -> u32 {
    number.round() as u32
}
