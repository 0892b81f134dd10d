//! As much FEC as a frame needs: the fewest packets with which it stays incomplete rarely enough.
//!
//! Ours. A share of the bytes protects a frame of three packets and one of twelve alike, whereas the one is lost four
//! times as often; and where little is lost a small share leaves most frames without any.

use thalweg_control::{Cause, Fate, Feedback};

/// The weight of a packet in the measured loss: about the last 300 packets count, a second of video at 3 Mbps.
const GAIN: f64 = 1.0 / 300.0;

/// The measured loss of packets.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Loss(f64);

impl Loss {
    /// Takes feedback on sent packets. Packets given up after a long feedback timeout do not count.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if feedback.cause == Cause::FeedbackTimeout {
            return;
        }
        for report in feedback.reports {
            match report.fate {
                // It was counted when it was declared lost.
                Fate::Arrived { was_lost: true, .. } => {}
                fate => self.0 += GAIN * (f64::from(u8::from(fate == Fate::Lost)) - self.0),
            }
        }
    }

    /// The least number of FEC packets with which one of `packets` media packets stays missing with a probability of
    /// `residual` at most; as many as media packets where no number does.
    pub(super) fn needs(self, packets: usize, residual: f64) -> usize {
        (0..packets).find(|fec| self.residual(packets, *fec) <= residual).unwrap_or(packets)
    }

    /// The probability that one of `packets` media packets stays missing although each is protected by one of `fec` FEC
    /// packets, evenly.
    fn residual(self, packets: usize, fec: usize) -> f64 {
        let arrives = 1.0 - self.0;
        let all = |packets: usize| libm::pow(arrives, packets as f64);
        if fec == 0 {
            return 1.0 - all(packets);
        }
        // One of an FEC packet and those under it may be lost.
        let restored = |under: usize| all(under + 1) + (under + 1) as f64 * self.0 * all(under);
        let (under, larger) = (packets / fec, packets % fec);
        let whole = libm::pow(restored(under), (fec - larger) as f64) * libm::pow(restored(under + 1), larger as f64);
        1.0 - whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_of_eight_packets_gets_as_many_fec_packets_as_the_loss_asks_for() {
        let needs = |loss: f64| Loss(loss).needs(8, 0.02);
        assert_eq!([0.0, 0.002, 0.01, 0.03, 0.05, 0.1].map(needs), [0, 0, 1, 2, 7, 8]);
    }
}
