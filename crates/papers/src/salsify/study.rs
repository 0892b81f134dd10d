//! Figure 10: the models of the authors' user studies (appendix A), at the settings that their participants rated.

use thalweg_netsim::FindTrace;
use thalweg_units::Seed;

use super::super::{Experiment, Figure, Row, Rows};
use thalweg_lab::metrics::{qoe_call, qoe_driving};
use thalweg_lab::simulate::SimulateError;

const KEYS: [&str; 5] = ["rating", "rating_per_s", "rating_per_10db", "rating_at_zero", "db_per_100ms"];

/// A study: its name, its model, and the settings of SSIM in dB and delay in ms.
type Study = (&'static str, fn(f64, f64) -> f64, [f64; 3], [f64; 4]);

const STUDIES: [Study; 2] = [
    ("video call", qoe_call, [10.0, 14.0, 18.0], [300.0, 1200.0, 2200.0, 4200.0]),
    ("driving", qoe_driving, [8.0, 11.0, 14.0], [100.0, 300.0, 550.0, 1050.0]),
];

pub(super) fn figure() -> Figure {
    let about = "the models of the user studies: a rating of 1 to 5 by delay and quality, and what 100 ms are worth";
    Figure::new("salsify-fig10", about, Experiment::Rows(Rows { keys: &KEYS, traces: &[], play }))
}

fn play(_: &mut FindTrace<'_>, _: Seed) -> Result<Vec<Row>, SimulateError> {
    Ok(STUDIES.iter().flat_map(rows).collect())
}

/// The coefficients of a study's model, and its rating of each setting.
fn rows((name, model, decibels, delays): &Study) -> Vec<Row> {
    // Differences within the scale, where no rating is clamped to 1 or 5.
    let (delay, quality) = (200.0, 10.0);
    let per_100ms = model(delay + 100.0, quality) - model(delay, quality);
    let per_db = model(delay, quality + 1.0) - model(delay, quality);
    let at_zero = model(delay, quality) - per_100ms * delay / 100.0 - per_db * quality;
    let row = |link: String, values: [Option<f64>; 5]| Row { link, scheme: (*name).into(), values: values.to_vec() };
    let coefficients = [None, Some(10.0 * per_100ms), Some(10.0 * per_db), Some(at_zero), Some(-per_100ms / per_db)];
    let settings = decibels.iter().flat_map(|ssim| delays.iter().map(move |delay| (*ssim, *delay)));
    let rated = settings
        .map(|(ssim, delay)| row(format!("{ssim} dB, {delay} ms"), [Some(model(delay, ssim)), None, None, None, None]));
    std::iter::once(row("the model".into(), coefficients)).chain(rated).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_study_has_its_twelve_settings_and_what_100_ms_are_worth() {
        for (study, worth) in STUDIES.iter().zip([1.03, 1.90]) {
            let rows = rows(study);
            assert_eq!(rows.len(), 13);
            assert!((rows[0].values[4].unwrap() - worth).abs() < 0.005, "{:?}", rows[0]);
            let ratings: Vec<f64> = rows[1..].iter().map(|row| row.values[0].unwrap()).collect();
            assert!(ratings.windows(2).all(|pair| pair[0] > pair[1] || pair[1] - pair[0] > 0.2), "{ratings:?}");
        }
    }
}
