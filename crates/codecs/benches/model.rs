//! Time per frame of the encoder model and of traffic models: `cargo bench -p thalweg-codecs --bench model`.
//!
//! The fastest of many rounds counts, because interference only adds time; sweeps rely on the bound.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use thalweg_codecs::model::{Config, ModelEncoder};
use thalweg_codecs::traffic::{self, TrafficEncoder};
use thalweg_codecs::{Encoder, Image};
use thalweg_types::{EncodePlan, Target};
use thalweg_units::{Rate, Seed, Size, Span};

const FRAMES: u32 = 2_000;
const ROUNDS: usize = 4_000;
/// Max time per frame in a release build, in nanoseconds.
const BOUND: f64 = 150.0;

fn round<E: Encoder>(mut encoder: E, size: Size, source: Size) -> Duration {
    let targets = vec![Target::Rate(Rate::from_kbps(2000))];
    let mut plan = EncodePlan::new(targets, size, Span::from_nanos(33_333_333)).with(|plan| plan.may_drop = true);
    let begin = Instant::now();
    for i in 0..FRAMES {
        plan.targets[0] = Target::Rate(Rate::from_kbps(1000 + u64::from(i % 64) * 20));
        let made = encoder.offer(Image::blank(source), black_box(&plan)).expect("the plan is in range");
        encoder.commit((!black_box(&made).is_empty()).then_some(0)).expect("candidate 0 was offered");
    }
    begin.elapsed()
}

/// Prints the time per frame; returns whether it is above the bound.
fn measure<E: Encoder>(name: &str, size: Size, build: impl Fn() -> E) -> bool {
    let fastest = (0..ROUNDS).map(|_| round(build(), size, Size::HD)).min().unwrap_or_default();
    let nanoseconds = fastest.as_secs_f64() * 1e9 / f64::from(FRAMES);
    println!("{name}: {nanoseconds:.0} ns a frame (bound {BOUND:.0})");
    nanoseconds > BOUND
}

fn main() {
    let mut slow = false;
    for (name, size) in [("720p", Size::HD), ("360p of 720p", Size::new(640, 360))] {
        slow |= measure(&format!("model, {name}"), size, || {
            ModelEncoder::new(&Config::default(), Size::HD, Seed::new(1)).expect("the defaults are in range")
        });
    }
    for name in ["fixfps", "statistical", "sharing"] {
        let config = traffic::Config::of(name.parse().expect("a model of this name"));
        slow |= measure(&format!("traffic, {name}"), Size::HD, || {
            TrafficEncoder::new(&config, Seed::new(1)).expect("the defaults are in range")
        });
    }
    if slow && !cfg!(debug_assertions) {
        std::process::exit(1);
    }
}
