//! A_s: the sender's rule for a receiver report (specs/rrtcc.md 6).

use thalweg_units::Rate;

use super::LossConfig;
use crate::tfrc::Equation;

impl LossConfig {
    /// The rate after a report of `loss` (0..=1), and the reason; `path` is the input of TFRC's equation.
    pub(super) fn step(&self, rate: Rate, loss: f64, path: &Equation) -> (Rate, &'static str) {
        let (rate, why) = if loss < self.low {
            ((rate + self.step).scale(self.growth), "hardly any loss")
        } else if loss <= self.high {
            (rate, "some loss")
        } else {
            (rate.scale(1.0 - 0.5 * loss), "much loss")
        };
        let floor = if self.tfrc_floor && loss > 0.0 { path.rate(loss) } else { Rate::ZERO };
        if floor > rate { (floor, "a TCP would have as much") } else { (rate, why) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{Bytes, Span};

    #[test]
    fn losses_give_the_worked_rates() {
        // specs/rrtcc.md 8, example 3; at the bounds themselves the rate holds.
        let config = LossConfig { tfrc_floor: false, ..LossConfig::default() };
        let path = Equation::new(Bytes::new(1000), Span::from_millis(100));
        for (loss, bps) in
            [(0.01, 526_050), (0.05, 500_000), (0.12, 470_000), (0.02, 500_000), (0.10, 500_000), (0.0, 526_050)]
        {
            assert_eq!(config.step(Rate::from_kbps(500), loss, &path).0, Rate::from_bps(bps), "{loss}");
        }
    }

    #[test]
    fn it_never_falls_below_what_a_tcp_would_have() {
        let path = Equation::new(Bytes::new(1000), Span::from_millis(100));
        let (rate, why) = LossConfig::default().step(Rate::from_kbps(100), 0.12, &path);
        assert!((rate.as_bps_f64() - 109_728.0).abs() < 1.0 && why == "a TCP would have as much", "{rate}");
        // Without loss there is no floor.
        assert_eq!(LossConfig::default().step(Rate::from_kbps(100), 0.0, &path).0, Rate::from_bps(106_050));
    }
}
