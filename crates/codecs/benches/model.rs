//! Time per frame of the encoder model: `cargo bench -p thalweg-codecs --bench model`.
//!
//! The fastest of many rounds counts, because interference only adds time; sweeps rely on the bound.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use thalweg_codecs::model::{Config, ModelEncoder};
use thalweg_codecs::{Encoder, Image};
use thalweg_media::{EncodePlan, Target};
use thalweg_units::{Rate, Seed, Size, Span};

const FRAMES: u32 = 2_000;
const ROUNDS: usize = 4_000;
/// Max time per frame in a release build, in nanoseconds.
const BOUND: f64 = 150.0;

fn round(size: Size, source: Size) -> Duration {
    let mut encoder = ModelEncoder::new(&Config::default(), Size::HD, Seed::new(1)).expect("the defaults are in range");
    let targets = vec![Target::Rate(Rate::from_kbps(2000))];
    let mut plan = EncodePlan { may_drop: true, ..EncodePlan::new(targets, size, Span::from_nanos(33_333_333)) };
    let begin = Instant::now();
    for i in 0..FRAMES {
        plan.targets[0] = Target::Rate(Rate::from_kbps(1000 + u64::from(i % 64) * 20));
        let made = encoder.offer(Image::blank(source), black_box(&plan)).expect("the plan is in range");
        encoder.commit((!black_box(&made).is_empty()).then_some(0)).expect("candidate 0 was offered");
    }
    begin.elapsed()
}

fn main() {
    let mut slow = false;
    for (name, size) in [("720p", Size::HD), ("360p of 720p", Size::new(640, 360))] {
        let fastest = (0..ROUNDS).map(|_| round(size, Size::HD)).min().unwrap_or_default();
        let nanoseconds = fastest.as_secs_f64() * 1e9 / f64::from(FRAMES);
        println!("model, {name}: {nanoseconds:.0} ns a frame (bound {BOUND:.0})");
        slow |= nanoseconds > BOUND;
    }
    if slow && !cfg!(debug_assertions) {
        std::process::exit(1);
    }
}
