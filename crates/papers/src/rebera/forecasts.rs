//! Table II: errors of one-step capacity forecasts, by recursive least squares and by moving averages.

use thalweg_control::estimate::forecast::{Config, Forecast, RlsConfig, rms};
use thalweg_netsim::{FindTrace, Trace};
use thalweg_units::{Bytes, Rate, Seed, Span, Time};

use super::super::links::RECORDED;
use super::super::{Experiment, Figure, Row, Rows, Seconds};
use super::SETUP;
use super::traces::{FORTH, TR1, TR7};
use thalweg_lab::simulate::SimulateError;

/// T: an intra-period.
const PERIOD: Span = Span::from_nanos(1_066_666_667);
/// Max number of periods of a trace, as in the paper.
const MAX: usize = 1000;
/// Periods skipped: before there are as many samples as filter taps there is no forecast.
const SKIP: usize = 5;

const KEYS: [&str; 8] = [
    "mean_kbps",
    "rls_rms",
    "rls_paper_rms",
    "ewma_best_rms",
    "ewma_best_alpha",
    "ewma_worst_rms",
    "ewma_worst_alpha",
    "rls_over_best",
];

pub(super) fn table2() -> Figure {
    let about = "forecasts of what a recorded link bears in the next 1.07 s: root mean squared errors in kbps";
    let experiment = Experiment::Rows(Rows { keys: &KEYS, traces: &RECORDED, play });
    Figure::new("rebera-table2", about, experiment).setup(SETUP)
}

/// The traces themselves: what stands in for those of the paper's figure 7, beside its table I.
pub(super) fn figure7() -> Figure {
    let about = "the recordings that stand in for the paper's traces, scaled to their means, over 1000 periods of 1.07 s \
                 (table I)";
    let keys = &["mean_kbps", "deviation_kbps", "deviation_ratio", "outage_ratio"];
    let rows = Rows { keys, traces: &RECORDED, play: play_traces };
    Figure::new("rebera-fig7", about, Experiment::Rows(rows))
        .setup(SETUP)
        .because("the paper's traces are not public: these are the nearest recordings, and they vary more")
}

fn play_traces(find: &mut FindTrace<'_>, _seed: Seed) -> Result<Vec<Row>, SimulateError> {
    let traces = FORTH.into_iter().chain([("Tr1", TR1), ("Tr7", TR7)]);
    let of = |(link, seconds): (&str, Seconds)| {
        let trace = find(seconds.recording).map_err(SimulateError::Path)?;
        let rates = seconds.rates(&trace)?;
        let at = |period: usize| Time::ZERO + PERIOD * period as i64;
        let kbps: Vec<f64> =
            (0..MAX).map(|period| rates.passes(at(period), at(period + 1)).per(PERIOD).as_kbps_f64()).collect();
        let mean = kbps.iter().sum::<f64>() / MAX as f64;
        let deviation = (kbps.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / MAX as f64).sqrt();
        let outage = kbps.iter().filter(|rate| **rate == 0.0).count() as f64 / MAX as f64;
        let values = [mean, deviation, deviation / mean, outage].map(Some).to_vec();
        Ok(Row { link: link.into(), scheme: "trace".into(), values })
    };
    traces.map(of).collect()
}

/// The trace's capacity in each period, for one pass.
fn capacities(trace: &Trace) -> Vec<Rate> {
    let periods = (trace.period().ratio(PERIOD) as usize).min(MAX);
    let at = |period: usize| Time::ZERO + PERIOD * period as i64;
    let of = |period| (Bytes::new(1500) * trace.opportunities(at(period), at(period + 1))).per(PERIOD);
    (0..periods).map(of).collect()
}

/// The row of a series, with averages in steps of a twentieth from 0.05 to 1.
fn row(series: &[Rate]) -> Result<Vec<Option<f64>>, SimulateError> {
    let kbps = |config: Config| -> Result<f64, SimulateError> {
        let error = rms(&mut Forecast::new(config)?, series, SKIP);
        Ok(error.map_or(f64::NAN, Rate::as_kbps_f64))
    };
    let alphas: Vec<f64> = (1..=20).map(|twentieths| f64::from(twentieths) / 20.0).collect();
    let averages = alphas.iter().map(|alpha| Ok((*alpha, kbps(Config::MovingAverage(*alpha))?)));
    let averages = averages.collect::<Result<Vec<_>, SimulateError>>()?;
    let by_error = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
    let best = averages.iter().min_by(by_error).copied().unwrap_or_default();
    let worst = averages.iter().max_by(by_error).copied().unwrap_or_default();
    let (rls, paper) = (kbps(Config::Rls(RlsConfig::default()))?, kbps(Config::Rls(RlsConfig::PAPER))?);
    let mean = series.iter().map(|rate| rate.as_kbps_f64()).sum::<f64>() / series.len().max(1) as f64;
    let row = [mean, rls, paper, best.1, best.0, worst.1, worst.0, rls / best.1];
    Ok(row.map(|value| value.is_finite().then_some(value)).to_vec())
}

fn play(find: &mut FindTrace<'_>, _seed: Seed) -> Result<Vec<Row>, SimulateError> {
    let of = |name: &&str| {
        let trace = find(name).map_err(SimulateError::Path)?;
        Ok(Row { link: (*name).into(), scheme: "rls".into(), values: row(&capacities(&trace))? })
    };
    RECORDED.iter().map(of).collect()
}
