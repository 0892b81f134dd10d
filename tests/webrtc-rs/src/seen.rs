//! Record of a call.

use serde::{Deserialize, Serialize};

/// Record of a call after the connection stood.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Seen {
    /// Second and bit/s.
    pub targets: Vec<(f64, f64)>,
    /// Second and bytes of each datagram that arrived, with IP and UDP.
    pub arrived: Vec<(f64, usize)>,
}

impl Seen {
    pub fn reached(&self, target: f64) -> Option<f64> {
        self.targets.iter().find(|(_, reached)| *reached >= target).map(|(at, _)| *at)
    }

    /// The mean target of these seconds.
    pub fn settled(&self, from: f64, until: f64) -> f64 {
        let within = self.targets.iter().filter(|(at, _)| *at >= from && *at < until);
        let (sum, count) = within.fold((0.0, 0), |(sum, count), (_, target)| (sum + target, count + 1));
        sum / f64::from(count)
    }

    pub fn delivered(&self, from: f64, until: f64) -> f64 {
        let within = self.arrived.iter().filter(|(at, _)| *at >= from && *at < until);
        8.0 * within.map(|(_, size)| size).sum::<usize>() as f64 / (until - from)
    }
}
