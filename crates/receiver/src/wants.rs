//! What a receiver asks its sender for.

use thalweg_wire::rtcp::Nack;

/// The most sequence numbers one NACK asks for (libwebrtc `kRtcpMaxNackFields`).
const MAX: usize = 253;

/// What is to be asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Wants {
    /// Media packets, in order.
    pub(crate) packets: Vec<u64>,
    /// A keyframe.
    pub(crate) keyframe: bool,
}

impl Wants {
    /// The NACKs by which `ssrc` asks for the packets of the stream `media_ssrc`, and how many each asks for.
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
