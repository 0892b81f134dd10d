//! Scenarios that tests share.

use std::sync::Arc;

use thalweg_codecs::libvpx::Settings;
use thalweg_codecs::{Codec, CodecTime};
use thalweg_lab::scenario::{Scenario, Video};
use thalweg_lab::simulate;
use thalweg_lab::simulate::Run;
use thalweg_link::queue::Limits;
use thalweg_link::{HopConfig, Jitter, PathConfig, QueueConfig, Trace};
use thalweg_units::{Bytes, Rate, Seed, Size, Span};

pub fn delay() -> HopConfig {
    HopConfig::Delay { delay: Span::from_millis(25), jitter: Jitter::None, reorders: false }
}

/// The built-in scene through VP8 over one bottleneck called `link`, 25 ms each way.
pub fn scenario(seconds: i64, size: Size) -> Scenario {
    let queue = QueueConfig::DropTail(Limits::bytes(Bytes::new(1_500_000)));
    let bottleneck = HopConfig::Bottleneck { trace: "link".into(), queue, once: false };
    Scenario {
        name: "test".into(),
        duration: Span::from_secs(seconds),
        seed: Seed::new(1),
        video: Video::scene(size, 30),
        codec: Codec::Vp8(Settings::default()),
        codec_time: CodecTime::default(),
        up: PathConfig { hops: vec![bottleneck, delay()] },
        down: PathConfig { hops: vec![delay()] },
        feedback: None,
        measure_quality: false,
        clock_offset: Span::from_millis(1234),
        competitors: Vec::new(),
    }
}

/// The link of Vidaptive's Fig. 1 and of the Chromium measurements.
pub fn square_wave() -> Trace {
    Trace::periodic(Rate::from_kbps(2000), Rate::from_kbps(500), Span::from_secs(40)).unwrap()
}

pub fn play(scenario: &Scenario, scheme: &str, link: Trace) -> Run {
    let link = Arc::new(link);
    let scheme = scheme.parse().unwrap();
    simulate(scenario, &scheme, &mut |_| Ok(link.clone()), &mut |_| {}).unwrap()
}

/// Mean of a series over [from, to) seconds.
pub fn mean(values: &[f64], bin_s: f64, from: f64, to: f64) -> f64 {
    let range = (from / bin_s).round() as usize..((to / bin_s).round() as usize).min(values.len());
    let slice = &values[range];
    slice.iter().sum::<f64>() / slice.len() as f64
}

/// The first second, counted from `from`, in which the mean of a second exceeds `level`.
pub fn first_second_above(values: &[f64], bin_s: f64, from: f64, level: f64) -> f64 {
    let end = values.len() as f64 * bin_s - 1.0;
    let mut at = from;
    while at <= end {
        if mean(values, bin_s, at, at + 1.0) >= level {
            return at - from + 1.0;
        }
        at += bin_s;
    }
    f64::INFINITY
}

/// The largest latency of pictures read in the `window` seconds after `from`, in ms, and how many seconds after `from` a second
/// begins in which every picture shown is under 200 ms late.
pub fn worst_latency(run: &Run, from: f64, window: f64) -> (f64, f64) {
    let late = |from: f64, to: f64| {
        let frames = run.outcome.frames.iter().filter(move |frame| (from..to).contains(&frame.captured_s));
        frames.filter_map(|frame| Some((frame.captured_s, (frame.displayed_s? - frame.captured_s) * 1e3)))
    };
    let (worst_at, worst) = late(from, from + window).fold((from, 0.0), |a, b| if b.1 > a.1 { b } else { a });
    let fresh = |at: f64| {
        let mut shown = late(at, at + 1.0).peekable();
        shown.peek().is_some() && shown.all(|(_, latency)| latency < 200.0)
    };
    let mut at = worst_at;
    while !fresh(at) && at < from + window {
        at += 0.1;
    }
    (worst, at - from)
}
