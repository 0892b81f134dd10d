//! Requests from the receiver to the sender.

use thalweg_wire::rtcp::Nack;

/// Max sequence numbers in one NACK (libwebrtc `kRtcpMaxNackFields`).
const MAX: usize = 253;

/// Pending requests.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Wants {
    /// Media packets to retransmit, in order.
    pub(crate) packets: Vec<u64>,
    /// True if a keyframe is needed.
    pub(crate) keyframe: bool,
}

impl Wants {
    /// The NACKs by which `ssrc` requests packets of stream `media_ssrc`, each with its number of packets.
    pub(crate) fn nacks(&self, ssrc: u32, media_ssrc: u32) -> impl Iterator<Item = (Nack, u32)> + '_ {
        let nack = move |some: &[u64]| {
            (Nack::of(ssrc, media_ssrc, some.iter().map(|sequence| *sequence as u16)), some.len() as u32)
        };
        self.packets.chunks(MAX).map(nack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_nack_asks_for_more_than_a_packet_holds() {
        let packets: Vec<u64> = (0..1000).map(|index| index * 20).collect();
        let wants = Wants { packets: packets.clone(), keyframe: false };
        let nacks: Vec<(Nack, u32)> = wants.nacks(1, 2).collect();
        assert_eq!(nacks.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [253, 253, 253, 241]);
        let asked = nacks.iter().flat_map(|(nack, _)| nack.lost());
        assert_eq!(asked.map(u64::from).collect::<Vec<_>>(), packets);
    }
}
