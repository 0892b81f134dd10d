//! What redundancy cost and did (specs/metrics.md 8, specs/fec.md 4).

use serde::{Deserialize, Serialize};

/// What redundancy cost and did in a run that sent FEC.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Redundancy {
    /// FEC on the wire, as repair and as padding, in bit/s.
    pub fec_bitrate_bps: f64,
    /// That over the media on the wire sent for the first time.
    pub fec_share: f64,
    /// FFRE, the share of losses that FEC made good, 0..1: of media packets that were dropped and that an FEC packet was sent
    /// for, those recovered by FEC before anything else brought them. What a retransmission brought sooner was not recovered by FEC. Null
    /// where nothing protected was lost.
    pub ffre: Option<f64>,
    /// Of the wire's bytes of FEC and padding, the bytes of media packets they brought before anything else: by FEC, or as
    /// retransmissions in the padding's place. An early keyframe is media, and not counted.
    pub useful_padding_ratio: f64,
    /// FRCC, the share of the controller's probes with FEC after which the rate was raised or kept, 0..1; null where the
    /// controller does not probe with FEC.
    pub frcc: Option<f64>,
    /// How many probes ended.
    pub probes: u64,
}

/// Recovered over all that was protected and lost (specs/metrics.md 8); `None` of nothing.
pub fn ffre(recovered: u64, not_recovered: u64) -> Option<f64> {
    share(recovered, recovered + not_recovered)
}

/// How the controller's probes with FEC ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Probes {
    /// What was FEC became media.
    pub raised: u64,
    /// The rate stayed as it was.
    pub kept: u64,
    /// The rate fell: the probe was wrong.
    pub fell: u64,
    probing: bool,
}

impl Probes {
    /// The controller decided something, by the word its decisions have: `probe` begins one, whatever else is decided ends it, well if
    /// it raises the rate or keeps it and badly if the rate falls. What is decided between probes says nothing.
    pub fn on_decision(&mut self, what: &str) {
        if what == "probe" {
            self.probing = true;
        } else if std::mem::take(&mut self.probing) {
            match what {
                "raise" => self.raised += 1,
                "stay" => self.kept += 1,
                _ => self.fell += 1,
            }
        }
    }

    /// How many have ended.
    pub fn ended(&self) -> u64 {
        self.raised + self.kept + self.fell
    }

    /// FRCC: the share of them that ended well; `None` of none.
    pub fn frcc(&self) -> Option<f64> {
        share(self.raised + self.kept, self.ended())
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_ends_with_the_next_decision_and_one_that_goes_on_is_one() {
        let mut probes = Probes::default();
        for what in ["undershoot", "stay", "probe", "probe", "raise", "stay", "probe", "stay", "probe", "undershoot"] {
            probes.on_decision(what);
        }
        assert_eq!((probes.raised, probes.kept, probes.fell), (1, 1, 1));
        assert!((probes.frcc().unwrap() - 2.0 / 3.0).abs() < 1e-12);
        // One that has begun has not ended yet.
        probes.on_decision("probe");
        assert_eq!(probes.ended(), 3);
        assert_eq!(Probes::default().frcc(), None);
    }

    #[test]
    fn of_ten_lost_packets_three_made_good_are_thirty_percent() {
        assert_eq!((ffre(3, 7), ffre(0, 4), ffre(0, 0)), (Some(0.3), Some(0.0), None));
    }
}
