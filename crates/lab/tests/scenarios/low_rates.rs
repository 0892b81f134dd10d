//! 720p on links of 100 to 400 kbps, with the real functional codec: a first frame that the link hardly carries must not
//! be a grey picture that is never refined, while latency looks perfect (docs/thalweg.md).

use thalweg_codecs::Codec;
use thalweg_codecs::functional::Settings;
use thalweg_lab::Outcome;
use thalweg_lab::scenario::Scenario;
use thalweg_netsim::Trace;
use thalweg_units::{Rate, Size};

use crate::scenarios::support::{play, scenario};

const SECONDS: i64 = 6;

fn played(scheme: &str, kbps: u64) -> Outcome {
    let codec = Codec::Functional(Settings::default());
    let scene = Scenario { codec, measure_quality: true, ..scenario(SECONDS, Size::HD) };
    play(&scene, scheme, Trace::constant(Rate::from_kbps(kbps)).unwrap()).outcome
}

/// When the first picture was shown of which anything is seen (grey has 13 to 17 dB, the coarsest of the smallest size 25),
/// and the mean PSNR of what was shown of the second half.
fn seen(outcome: &Outcome) -> (Option<f64>, f64) {
    let shown = || outcome.frames.iter().filter_map(|frame| Some((frame, frame.displayed_s?, frame.psnr_db?)));
    let first = shown().find(|(_, _, psnr)| *psnr > 20.0).map(|(_, displayed, _)| displayed);
    let second_half = shown().filter(|(frame, _, _)| frame.captured_s > SECONDS as f64 / 2.0);
    let (sum, count) = second_half.fold((0.0, 0), |(sum, count), (_, _, psnr)| (sum + psnr, count + 1));
    (first, sum / f64::from(count.max(1)))
}

/// Five runs of 180 pictures of 720p through a real codec, whose quality is measured: a quarter of a minute on two idle
/// cores.
#[test]
fn at_a_hundred_to_four_hundred_kbps_a_720p_picture_is_seen_soon_and_does_not_stay_grey() {
    for (scheme, kbps, within, least) in [
        ("thalweg", 100, 1.5, 25.0),
        ("thalweg", 200, 0.8, 27.0),
        ("thalweg", 400, 0.5, 29.0),
        ("thalweg:standard-decoder", 200, 0.8, 27.0),
        ("salsify", 200, 0.8, 27.0),
    ] {
        let outcome = played(scheme, kbps);
        let (first, psnr) = seen(&outcome);
        let p95 = outcome.summary.latency_p95_ms;
        println!("{scheme}, {kbps} kbps: seen after {first:?} s, {psnr:.1} dB in the second half, P95 {p95:?} ms");
        assert!(first.is_some_and(|at| at < within), "{scheme}, {kbps} kbps: {first:?} s");
        assert!((least..40.0).contains(&psnr), "{scheme}, {kbps} kbps: {psnr} dB");
    }
}
