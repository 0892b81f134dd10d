//! Sender side: reads feedback messages as the sender's own packet numbers.

use thalweg_units::{Ecn, Time};

use super::{Feedback, Status};
use crate::rtcp::ntp;
use crate::unwrap::Unwrapper;

/// The status of one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// It had not arrived when the report was made.
    Missing,
    /// It arrived.
    At {
        /// Arrival time by the receiver's clock, to within 0.5 ms.
        time: Time,
        /// Its ECN mark.
        ecn: Ecn,
    },
    /// It arrived more than 8 s before the report, or at an unknown time.
    Untimed {
        /// Its ECN mark.
        ecn: Ecn,
    },
}

/// Reads the feedback of one receiver, following its clock through wraps of the report timestamp (18.2 h).
#[derive(Debug, Clone, Default)]
pub struct Reader {
    clock: Unwrapper<32>,
}

impl Reader {
    /// A reader before its first message. The clock's origin is unknown, so only differences between its times are
    /// meaningful.
    pub const fn new() -> Reader {
        Reader { clock: Unwrapper::new() }
    }

    /// A reader whose first message is from about `time` by the receiver's clock (to within 9.1 h).
    pub fn near(time: Time) -> Reader {
        Reader { clock: Unwrapper::after(ntp::units(time)) }
    }

    /// The packets of a message in order: stream, unwrapped RTP sequence number, status. `newest` gives the last number
    /// that the sender used in a stream: a block is assumed to begin at it or up to 65535 before it. Unknown streams
    /// are skipped; the caller must ignore numbers beyond the newest, which a broken receiver can report.
    pub fn read<'a, F>(
        &mut self,
        feedback: &'a Feedback,
        newest: F,
    ) -> impl Iterator<Item = (u32, u64, Arrival)> + use<'a, F>
    where
        F: Fn(u32) -> Option<u64> + 'a,
    {
        let reported = ntp::instant(self.clock.unwrap(feedback.reported.bits()));
        feedback.streams.iter().filter_map(move |stream| newest(stream.ssrc).map(|newest| (stream, newest))).flat_map(
            move |(stream, newest)| {
                let behind = (newest as u16).wrapping_sub(stream.begin);
                let begin = newest.checked_sub(behind.into()).unwrap_or(stream.begin.into());
                let report = move |(status, index): (&Status, u64)| {
                    let arrival = match *status {
                        Status::Missing => Arrival::Missing,
                        Status::Arrived { ecn, offset } => match offset.span() {
                            Some(span) => Arrival::At { time: reported - span, ecn },
                            None => Arrival::Untimed { ecn },
                        },
                    };
                    (stream.ssrc, begin.saturating_add(index), arrival)
                };
                stream.statuses.iter().zip(0..).map(report)
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::ccfb::{Config, Received};
    use crate::rtcp::{Packet, parse, write};
    use alloc::vec::Vec;
    use proptest::prelude::*;
    use thalweg_units::{Bytes, Span};

    #[test]
    fn the_clock_goes_on_when_the_timestamp_wraps() {
        let turn = Time::from_millis(65_536_000);
        let builder = Config::default().build().unwrap();
        let mut reader = Reader::near(turn - Span::from_secs(1));
        for from_turn in [-1000, 0, 1000] {
            let now = turn + Span::from_millis(from_turn);
            let (time, ecn) = (now - Span::from_millis(500), Ecn::Ect1);
            let arrival = Some((time, ecn));
            let feedback = builder.messages(now, &[Received { ssrc: 1, sequence: 5, arrival }]).unwrap().remove(0);
            let read: Vec<_> = reader.read(&feedback, |_| Some(70_000)).collect();
            assert_eq!(read, [(1, 65_541, Arrival::At { time, ecn })]);
        }
    }

    #[test]
    fn streams_nobody_sent_are_left_out() {
        let builder = Config::default().build().unwrap();
        let packets = [1, 2].map(|ssrc| Received { ssrc, sequence: 5, arrival: None });
        let feedback = builder.messages(Time::ZERO, &packets).unwrap().remove(0);
        let read: Vec<_> = Reader::new().read(&feedback, |ssrc| (ssrc == 2).then_some(5)).collect();
        assert_eq!(read, [(2, 5, Arrival::Missing)]);
    }

    proptest! {
        #[test]
        fn what_is_reported_is_read_back_to_half_a_1024th(
            now in prop_oneof![10_000_000_000u64..20_000_000_000, 0u64..1 << 60],
            streams in prop::collection::btree_map(0u32..4, (
                0u64..1 << 40,
                prop::collection::vec(
                    (prop_oneof![9 => 1u64..3, 1 => 1u64..400], prop::option::of((-100_000_000i64..9_000_000_000, 0usize..4))),
                    1..100,
                ),
            ), 1..4),
            limit in 24u64..1500,
        ) {
            let now = Time::from_nanos(now);
            let mut packets = Vec::new();
            for (ssrc, (start, steps)) in &streams {
                let mut sequence = *start;
                for (gap, arrival) in steps {
                    sequence += gap;
                    let arrival = arrival.map(|(ago, ecn)| (now - Span::from_nanos(ago), Ecn::ALL[ecn]));
                    packets.push(Received { ssrc: *ssrc, sequence, arrival });
                }
            }
            let newest = |ssrc: u32| packets.iter().rev().find(|packet| packet.ssrc == ssrc).map(|packet| packet.sequence);
            let config = Config { limit: Bytes::new(limit), ..Config::default() };
            let mut reader = Reader::near(now);
            let mut read = Vec::new();
            for message in config.build().unwrap().messages(now, &packets).unwrap() {
                let mut bytes = Vec::new();
                write(&[Packet::CongestionFeedback(message)], &mut bytes).unwrap();
                prop_assert!(bytes.len() as u64 <= limit);
                let parsed = parse(&bytes).unwrap();
                let [Packet::CongestionFeedback(feedback)] = &parsed[..] else { panic!("{parsed:?}") };
                read.extend(reader.read(feedback, newest));
            }
            for (ssrc, sequence, arrival) in &read {
                let listed = packets.iter().find(|packet| (packet.ssrc, packet.sequence) == (*ssrc, *sequence));
                match (*arrival, listed.and_then(|packet| packet.arrival)) {
                    (Arrival::At { time, ecn }, Some((came, marked))) => {
                        prop_assert_eq!(ecn, marked);
                        prop_assert!((time - came).abs() <= Span::from_nanos(488_283), "{} for {}", time, came);
                    }
                    (Arrival::Untimed { ecn }, Some((came, marked))) => {
                        prop_assert_eq!(ecn, marked);
                        prop_assert!(came > now || now - came > Span::from_nanos(7_997_070_000));
                    }
                    (arrival, came) => prop_assert_eq!((arrival, came), (Arrival::Missing, None)),
                }
            }
            let expected: Vec<(u32, u64)> = streams.iter().flat_map(|(ssrc, (start, steps))| {
                (start + steps[0].0..=newest(*ssrc).unwrap()).map(|sequence| (*ssrc, sequence))
            }).collect();
            prop_assert_eq!(read.iter().map(|(ssrc, sequence, _)| (*ssrc, *sequence)).collect::<Vec<_>>(), expected);
        }
    }
}
