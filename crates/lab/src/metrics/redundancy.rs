//! Cost and effect of redundancy (specs/metrics.md 8, specs/fec.md 4).

use serde::{Deserialize, Serialize};

/// Cost and effect of redundancy in a run that sent FEC.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Redundancy {
    /// FEC on the wire, for repair and as padding, in bit/s.
    pub fec_bitrate_bps: f64,
    /// FEC's bytes relative to the first transmissions of media on the wire.
    pub fec_share: f64,
    /// FFRE, the share of losses that FEC recovered, 0..1: of media packets that were dropped and were protected by an
    /// FEC packet, those that FEC recovered before a retransmission arrived. Null if no protected packet was lost.
    pub ffre: Option<f64>,
    /// Number of frames of which a protected packet was dropped.
    pub protected_lost_frames: u64,
    /// Bytes of media packets first recovered by FEC or by retransmissions sent in place of padding, relative to the
    /// wire bytes of FEC and padding. An early keyframe is media, and not counted.
    pub useful_padding_ratio: f64,
    /// FRCC, the share of the controller's probes with FEC after which the rate was increased or kept, 0..1; null if
    /// the controller does not probe with FEC.
    pub frcc: Option<f64>,
    /// Number of finished probes.
    pub probes: u64,
}

/// Recovered packets over all that were protected and lost (specs/metrics.md 8); `None` if there were none.
pub fn ffre(recovered: u64, not_recovered: u64) -> Option<f64> {
    share(recovered, recovered + not_recovered)
}

/// Results of the controller's probes with FEC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Probes {
    /// The rate was increased: FEC was replaced by media.
    pub raised: u64,
    /// The rate was kept.
    pub kept: u64,
    /// The rate was decreased: the probe was wrong.
    pub fell: u64,
    probing: bool,
}

impl Probes {
    /// Records a decision of the controller by its name: `probe` begins a probe, any other decision ends it,
    /// successfully if it increases or keeps the rate and unsuccessfully if it decreases it. Decisions between probes
    /// are ignored.
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

    /// Number of finished probes.
    pub fn ended(&self) -> u64 {
        self.raised + self.kept + self.fell
    }

    /// FRCC: the share of successful probes; `None` if there were none.
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
        // A probe that has begun is not finished yet.
        probes.on_decision("probe");
        assert_eq!(probes.ended(), 3);
        assert_eq!(Probes::default().frcc(), None);
    }

    #[test]
    fn of_ten_lost_packets_three_made_good_are_thirty_percent() {
        assert_eq!((ffre(3, 7), ffre(0, 4), ffre(0, 0)), (Some(0.3), Some(0.0), None));
    }
}
