//! What the receiver asks for.

use thalweg_media::feedback::News;
use thalweg_units::Bytes;
use thalweg_wire::rtcp::{Nack, Packet, PictureLoss};

use super::datagram::{self, MEDIA, RECEIVER};

/// The most sequence numbers one NACK asks for (libwebrtc `kRtcpMaxNackFields`).
pub(super) const MOST_REPEATS: usize = 253;

/// What the receiver tells the sender beside reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// These media packets are missing (NACK, RFC 4585 section 6.2.1).
    Repeat(Vec<u64>),
    /// A keyframe is needed (PLI, RFC 4585 section 6.3.1).
    Keyframe,
}

impl Request {
    /// The requests that ask for all of `missing`, which is in order.
    pub(super) fn repeats(missing: &[u64]) -> impl Iterator<Item = Request> + '_ {
        missing.chunks(MOST_REPEATS).map(|some| Request::Repeat(some.to_vec()))
    }

    /// What the sender makes of news that are a request.
    pub(super) fn heard(news: News) -> Option<Request> {
        match news {
            News::Missing(sequences) => Some(Request::Repeat(sequences)),
            News::KeyframeNeeded => Some(Request::Keyframe),
            News::Arrivals { .. } | News::Decoder(_) | News::Path(_) => None,
        }
    }

    /// The request as RTCP.
    pub fn datagram(&self) -> Vec<u8> {
        datagram::datagram(match self {
            Request::Repeat(missing) => {
                Packet::Nack(Nack::of(RECEIVER, MEDIA, missing.iter().map(|sequence| *sequence as u16)))
            }
            Request::Keyframe => Packet::PictureLoss(PictureLoss { sender_ssrc: RECEIVER, media_ssrc: MEDIA }),
        })
    }

    /// Its size on the wire: the datagram's bytes, SRTCP, UDP and IPv4.
    pub fn size(&self) -> Bytes {
        datagram::wire_size(&self.datagram())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_weighs_its_bytes_and_42_around_them() {
        assert_eq!(Request::Keyframe.size(), Bytes::new(12 + 42));
        // 5 to 21 is one group of 17, 22 begins another and 70,000 a third.
        let missing: Vec<u64> = (5..=22).chain([70_000]).collect();
        assert_eq!(Request::Repeat(missing).size(), Bytes::new(12 + 3 * 4 + 42));
    }

    #[test]
    fn no_request_asks_for_more_than_a_packet_holds() {
        let missing: Vec<u64> = (0..1000).map(|index| index * 20).collect();
        let requests: Vec<Request> = Request::repeats(&missing).collect();
        assert_eq!(requests.len(), 4);
        assert!(requests.iter().all(|request| request.size() <= Bytes::new(1200)));
        let asked = requests.iter().flat_map(|request| match request {
            Request::Repeat(some) => some.clone(),
            Request::Keyframe => Vec::new(),
        });
        assert_eq!(asked.collect::<Vec<_>>(), missing);
    }
}
