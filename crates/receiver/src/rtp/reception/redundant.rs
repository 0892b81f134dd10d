//! Processing of packets in RED: media like any other, and FEC among it.

use thalweg_units::Time;
use thalweg_wire::rtp::{Header, Packet};

use super::Reception;
use crate::rtp::config::Redundancy;
use crate::rtp::media_packet::{MediaPacket, Said};
use crate::rtp::output::Origin;
use crate::rtp::red::{self, without_red};
use crate::rtp::streams::Kind;

impl Reception {
    /// The RED configuration for a packet, if it is in RED.
    pub(super) fn redundancy(&self, kind: Kind, rtp: &Packet<'_>) -> Option<Redundancy> {
        let payload_type = rtp.header.payload_type;
        self.config.redundancy.filter(|redundancy| match kind {
            Kind::Video => redundancy.red == payload_type,
            Kind::Retransmission => redundancy.retransmission == Some(payload_type),
            Kind::Fec | Kind::Audio => false,
        })
    }

    /// The payload type of media.
    pub(super) fn media_type(&self) -> u8 {
        self.config.video.as_ref().map_or(0, |video| video.payload_type)
    }

    /// Processes packet `number` of the video stream, which is in RED. A packet without media, such as FEC, does not
    /// count as a gap.
    pub(super) fn on_red(
        &mut self,
        now: Time,
        number: u64,
        (rtp, bytes): (&Packet<'_>, &[u8]),
        redundancy: Option<Redundancy>,
        said: Option<Said>,
    ) {
        let media_type = self.media_type();
        let opened = redundancy.map(|redundancy| red::open(redundancy, media_type, rtp.payload));
        let Some(Ok(opened)) = opened else {
            self.counts.malformed += 1;
            return;
        };
        let header = Header { payload_type: media_type, ..rtp.header };
        let (payload, origin) = (opened.media.unwrap_or_default(), Origin::Media);
        let dependency = self.dependency(Kind::Video, rtp);
        let dependency = dependency.as_ref();
        self.on_video(now, &MediaPacket { number, header, payload, said, dependency, origin });
        self.counts.fec_in_red += u64::from(opened.fec.is_some());
        let Some(fec) = &mut self.fec else { return };
        let mut made = Vec::new();
        if let Some(media) = opened.media {
            made.extend(fec.on_media(number, &without_red(rtp, bytes, media_type, media)));
        }
        if let Some(payload) = opened.fec {
            made.extend(fec.on_ulpfec(rtp.header.ssrc, payload));
        }
        made.iter().for_each(|packet| self.on_made(now, packet));
    }
}
