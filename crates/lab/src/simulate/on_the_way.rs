//! How long packets were on the way.

use thalweg_units::Time;

use super::summarize::BIN_S;

/// How long a flow's packets were on the way, for those that arrived.
pub(super) struct OnTheWay {
    /// When each packet left, by its place in the order of sending.
    left: Vec<Time>,
    /// By bin of their arrival: the sum of their times in ms, and how many.
    bins: Vec<(f64, u32)>,
}

impl OnTheWay {
    /// Nothing yet, with room for so many bins.
    pub(super) fn new(count: usize) -> OnTheWay {
        OnTheWay { left: Vec::new(), bins: vec![(0.0, 0); count] }
    }

    /// A packet left.
    pub(super) fn sent(&mut self, id: u64, at: Time) {
        debug_assert_eq!(id, self.left.len() as u64, "packet numbers have a gap");
        self.left.push(at);
    }

    /// A packet arrived.
    pub(super) fn arrived(&mut self, id: u64, at: Time) {
        let bin = self.bins.get_mut((at.as_secs_f64() / BIN_S) as usize);
        if let (Some(left), Some((sum, count))) = (self.left.get(id as usize), bin) {
            *sum += (at - *left).as_millis_f64();
            *count += 1;
        }
    }

    /// Mean over all packets, in ms.
    pub(super) fn mean_ms(&self) -> Option<f64> {
        let (sum, count) = self.bins.iter().fold((0.0, 0), |(sum, count), bin| (sum + bin.0, count + bin.1));
        (count > 0).then(|| sum / f64::from(count))
    }

    /// Mean of each bin in which any arrived: (seconds, ms).
    pub(super) fn by_bin(&self) -> Vec<(f64, f64)> {
        let bins = self.bins.iter().enumerate().filter(|(_, (_, count))| *count > 0);
        bins.map(|(index, (sum, count))| (index as f64 * BIN_S, sum / f64::from(*count))).collect()
    }
}
