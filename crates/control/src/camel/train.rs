//! The packets that arrived of a burst, or of several bursts of one frame.

use thalweg_units::{Bytes, Span, Time};

/// The packets that arrived, without retransmissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Train {
    /// Number of packets.
    pub(super) packets: u32,
    /// The frame number; `None` for padding.
    pub(super) frame: Option<u64>,
    /// The numbers of the burst's first packet and of the one after its last, arrived or not.
    pub(super) numbers: (u64, u64),
    /// The first packet's size, departure and arrival.
    pub(super) first: Bytes,
    pub(super) sent: Time,
    pub(super) arrived: Time,
    /// The bytes of the other packets: S_2 + ... + S_n.
    pub(super) bytes: Bytes,
    /// Time from the first packet's arrival to the last arrival: r_n - r_1.
    pub(super) span: Span,
    /// Time from the first packet's departure to the last one's.
    pub(super) send_span: Span,
}

impl Train {
    /// This burst joined with the burst after it in the same frame; `None` if `next` is not that burst.
    pub(super) fn joined(&self, next: &Train) -> Option<Train> {
        let follows = self.frame.is_some() && self.frame == next.frame && self.numbers.1 == next.numbers.0;
        follows.then(|| Train {
            packets: self.packets + next.packets,
            numbers: (self.numbers.0, next.numbers.1),
            bytes: self.bytes + next.first + next.bytes,
            span: self.span.max(next.arrived + next.span - self.arrived),
            send_span: next.sent + next.send_span - self.sent,
            ..*self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn train(frame: u64, first: u64, sent_us: u64, arrived_us: u64) -> Train {
        Train {
            packets: 5,
            frame: Some(frame),
            numbers: (first, first + 5),
            first: Bytes::new(1000),
            sent: Time::from_micros(sent_us),
            arrived: Time::from_micros(arrived_us),
            bytes: Bytes::new(4000),
            span: Span::from_micros(160),
            send_span: Span::ZERO,
        }
    }

    #[test]
    fn two_slices_of_a_frame_are_measured_from_the_first_arrival_to_the_last() {
        // 200 Mbps: 40 us a packet; the second slice left 500 us after the first.
        let joined = train(7, 0, 0, 30_000).joined(&train(7, 5, 500, 30_500)).expect("one follows the other");
        assert_eq!((joined.packets, joined.numbers), (10, (0, 10)));
        assert_eq!((joined.bytes, joined.span), (Bytes::new(9000), Span::from_micros(660)));
        assert_eq!(joined.send_span, Span::from_micros(500));
    }

    #[test]
    fn slices_of_two_frames_or_with_one_between_are_not_joined() {
        assert_eq!(train(7, 0, 0, 30_000).joined(&train(8, 5, 500, 30_500)), None);
        assert_eq!(train(7, 0, 0, 30_000).joined(&train(7, 10, 1000, 31_000)), None);
    }
}
