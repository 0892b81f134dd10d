//! Series by bins of time.

use thalweg_units::{Bytes, Span, Time};

/// The width of a bin of the series.
pub(super) const BIN_S: f64 = 0.1;

/// Amounts of data by bin.
pub(super) struct Bins(Vec<f64>);

impl Bins {
    pub(super) fn new(count: usize) -> Bins {
        Bins(vec![0.0; count])
    }

    /// For a run of this length.
    pub(super) fn over(duration: Span) -> Bins {
        Bins::new((duration.as_secs_f64() / BIN_S).ceil() as usize)
    }

    pub(super) fn add(&mut self, at: Time, size: Bytes) {
        let index = (at.as_secs_f64() / BIN_S) as usize;
        if let Some(bin) = self.0.get_mut(index) {
            *bin += size.bits() as f64 / 1e6 / BIN_S;
        }
    }

    /// In Mbps.
    pub(super) fn into_values(self) -> Vec<f64> {
        self.0
    }
}
