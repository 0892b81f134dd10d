//! Which signal tells congestion (Camel, Figure 7).

use thalweg_control::camel::{figure7, gradient};
use thalweg_units::{Seed, Span};

/// Three signals of congestion on a synthetic queue, with more and more jitter on every delay.
#[derive(Debug, Clone, PartialEq)]
pub struct Signals {
    /// The most jitter in each row, uniform.
    pub jitters: Vec<Span>,
}

impl Signals {
    /// The names of what is measured: the share of frames that each signal judged rightly, 0..1.
    pub const KEYS: [&'static str; 3] = ["gradient", "delay_above_least", "delay_over_time"];

    /// For each jitter, the accuracies in the order of [`Signals::KEYS`].
    pub fn play(&self, seed: Seed) -> Vec<(Span, [f64; 3])> {
        let row = |jitter: &Span| {
            let found = figure7::accuracy(gradient::Config::default(), *jitter, seed);
            (*jitter, [found.gradient, found.delay_above_least, found.delay_over_time])
        };
        self.jitters.iter().map(row).collect()
    }
}
