//! The benefit of Rebera's forecast for other schemes: their encoders are targeted at the forecast of their estimate.
//! Not a paper's figure.

use thalweg_control::estimate::forecast::{Config as Predictor, MarginConfig};
use thalweg_sender::Scheme;
use thalweg_sender::frames::target_forecast;
use thalweg_units::Span;

use super::super::figure::known;
use super::super::vidaptive::variant;
use super::super::{Encoder, Figure, Links, Reading, Setup};

fn schemes() -> Vec<Scheme> {
    let usual = target_forecast::Config::default();
    let margin = |delta| MarginConfig { delta, ..usual.margin };
    // The last one takes the quantile of a forecast that assumes no change.
    let variants = [
        ("0.5", target_forecast::Config { margin: margin(0.5), ..usual }),
        ("0.1", target_forecast::Config { margin: margin(0.1), ..usual }),
        ("1s", target_forecast::Config { interval: Span::from_secs(1), ..usual }),
        ("last", target_forecast::Config { predictor: Predictor::MovingAverage(1.0), ..usual }),
    ];
    let of = |scheme: &'static str| {
        let varied = variants.map(|(name, config)| {
            variant(scheme, &format!("{scheme}+forecast:{name}"), |frames| frames.target_forecast = Some(config))
        });
        let forecast = format!("{scheme}+forecast");
        [known(&[scheme, &forecast]), varied.to_vec()].concat()
    };
    [of("gcc"), of("vidaptive"), of("camel")].concat()
}

pub(super) fn figure() -> Figure {
    use Reading::*;
    let about = "encoders aimed at what the estimate is forecast to become, on the recorded links: how often it may be less (delta), how far ahead, and the last value as the forecast";
    let readings = [Utilization, VideoBitrate, Psnr, LatencyMedian, LatencyP95, LateFrames, Stalls, FrameRate];
    let setup = Setup { encoder: Encoder::Model, runs: 3, ..Setup::USUAL };
    Figure::of_runs("rebera-forecast", about, schemes(), Links::Recorded(""), &readings).setup(setup)
}
