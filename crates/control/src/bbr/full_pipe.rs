//! The end of STARTUP: three rounds in a row in which the bandwidth grew by less than a quarter (specs/bbr.md 4).

use thalweg_units::Rate;

/// The detector.
#[derive(Debug, Clone)]
pub(super) struct FullPipe {
    growth: f64,
    rounds: u32,
    /// full_bw: the baseline for growth.
    bandwidth: Rate,
    /// full_bw_count.
    count: u32,
    filled: bool,
}

impl FullPipe {
    pub(super) fn new(growth: f64, rounds: u32) -> FullPipe {
        FullPipe { growth, rounds, bandwidth: Rate::ZERO, count: 0, filled: false }
    }

    /// filled_pipe: stays true once it was.
    pub(super) fn is_filled(&self) -> bool {
        self.filled
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// A round began whose sample was not app-limited.
    pub(super) fn on_round(&mut self, bandwidth: Rate) {
        if self.filled {
            return;
        }
        if bandwidth >= self.bandwidth.scale(self.growth) {
            self.bandwidth = bandwidth;
            self.count = 0;
            return;
        }
        self.count += 1;
        self.filled = self.count >= self.rounds;
    }

    /// After a feedback timeout: the missing growth does not show that the pipe is full.
    pub(super) fn forget(&mut self) {
        self.bandwidth = Rate::ZERO;
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn the_pipe_is_full_after_three_rounds_with_less_than_a_quarter_more() {
        // specs/bbr.md 9, example 3.
        let mut pipe = FullPipe::new(1.25, 3);
        let rates = [10, 21, 39, 56, 59, 60, 60].map(|tenths| Rate::from_kbps(tenths * 100));
        let round = |rate| {
            pipe.on_round(rate);
            (pipe.count(), pipe.is_filled())
        };
        let seen: Vec<(u32, bool)> = rates.into_iter().map(round).collect();
        let counts = [0, 0, 0, 0, 1, 2, 3].map(|count| (count, count == 3));
        assert_eq!((&seen[..], pipe.bandwidth), (&counts[..], Rate::from_kbps(5600)));
    }
}
