//! Sender side: reads feedback messages as the sender's own packet numbers.

use thalweg_units::Time;

use super::{Feedback, REFERENCE_UNIT, Status, TICK, TICKS_PER_REFERENCE};
use crate::unwrap::ReferenceTimeUnwrapper;

/// The status of one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// It had not arrived when the feedback was sent.
    Missing,
    /// It arrived at this time by the receiver's clock, to within 125 µs.
    At(Time),
    /// It arrived at an unreported time.
    Untimed,
}

/// Reads the feedback of one receiver, following its clock through wraps of the reference time (12.4 days).
#[derive(Debug, Clone, Default)]
pub struct Reader {
    reference: ReferenceTimeUnwrapper,
}

impl Reader {
    /// A reader before its first message. The clock's origin is unknown, so only differences between its times are
    /// meaningful.
    pub const fn new() -> Reader {
        Reader { reference: ReferenceTimeUnwrapper::new() }
    }

    /// A reader whose first message is from about `time` by the receiver's clock (to within 6.2 days).
    pub const fn near(time: Time) -> Reader {
        let reference = time.as_nanos() / REFERENCE_UNIT.as_nanos() as u64;
        Reader { reference: ReferenceTimeUnwrapper::after(reference) }
    }

    /// The packets of a message in order, by their unwrapped transport-wide sequence numbers. `newest` is the last
    /// number that the sender used: the message is assumed to begin at it or up to 65535 before it. The caller must
    /// ignore numbers beyond `newest`, which a broken receiver can report.
    pub fn read<'a>(&mut self, feedback: &'a Feedback, newest: u64) -> impl Iterator<Item = (u64, Arrival)> + use<'a> {
        let behind = (newest as u16).wrapping_sub(feedback.base_sequence);
        let base = newest.checked_sub(behind.into()).unwrap_or(feedback.base_sequence.into());
        // Without arrivals the reference time is meaningless and need not be valid.
        let timed = feedback.statuses.iter().any(|status| matches!(status, Status::Arrived(_)));
        let reference = if timed { self.reference.unwrap(feedback.reference_time) } else { 0 };
        let mut ticks = (reference as i64).saturating_mul(TICKS_PER_REFERENCE as i64);
        feedback.statuses.iter().zip(0u64..).map(move |(status, index)| {
            let arrival = match status {
                Status::Missing => Arrival::Missing,
                Status::Untimed => Arrival::Untimed,
                Status::Arrived(delta) => {
                    ticks = ticks.saturating_add((*delta).into());
                    // Times before the clock's origin become zero.
                    let nanos = (ticks.max(0) as u64).saturating_mul(TICK.as_nanos() as u64);
                    Arrival::At(Time::from_nanos(nanos))
                }
            };
            (base.saturating_add(index), arrival)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::twcc::Config;
    use crate::rtcp::{Packet, parse, write};
    use alloc::vec::Vec;
    use proptest::prelude::*;
    use thalweg_units::{Bytes, Span};

    /// Builds, writes, parses and reads; `newest` is the last of `packets`.
    fn through_the_wire(config: Config, near: Time, packets: &[(u64, Option<Time>)]) -> Vec<(u64, Arrival)> {
        let limit = config.limit.get() as usize;
        let messages = config.build().unwrap().messages(packets).unwrap();
        let newest = packets.last().unwrap().0;
        let mut reader = Reader::near(near);
        let mut read = Vec::new();
        for message in messages {
            let mut bytes = Vec::new();
            write(&[Packet::TransportFeedback(message)], &mut bytes).unwrap();
            assert!(bytes.len() <= limit, "{} bytes of {limit}", bytes.len());
            let packets = parse(&bytes).unwrap();
            let [Packet::TransportFeedback(feedback)] = &packets[..] else { panic!("{packets:?}") };
            read.extend(reader.read(feedback, newest));
        }
        read
    }

    #[test]
    fn a_message_is_placed_at_or_before_the_newest_packet() {
        let feedback = Config::default().build().unwrap().messages(&[(65_534, None)]).unwrap().remove(0);
        let base = |newest: u64| Reader::new().read(&feedback, newest).next().unwrap().0;
        assert_eq!(base(65_534), 65_534);
        assert_eq!(base(65_536), 65_534);
        assert_eq!(base(65_536 + 65_533), 65_534);
        assert_eq!(base(65_536 + 65_534), 65_536 + 65_534);
        // No packet with that number has been sent.
        assert_eq!(base(3), 65_534);
    }

    #[test]
    fn the_clock_goes_on_when_the_reference_time_wraps() {
        // 2^24 times 64 ms.
        let turn = Time::from_millis((1 << 24) * 64);
        let mut builder = Config::default().build().unwrap();
        let mut reader = Reader::near(turn - Span::from_secs(1));
        for (number, from_turn) in [(1, -1000), (2, -1), (3, 0), (4, 1), (5, 1000)] {
            let time = turn + Span::from_millis(from_turn);
            let feedback = builder.messages(&[(number, Some(time))]).unwrap().remove(0);
            assert_eq!(reader.read(&feedback, 5).next(), Some((number, Arrival::At(time))));
        }
    }

    #[test]
    fn a_message_without_arrivals_does_not_move_the_clock() {
        let time = Time::from_millis(64 * 9_000_000);
        let [timed, mut missing] = [Some(time), None]
            .map(|arrival| Config::default().build().unwrap().messages(&[(1, arrival)]).unwrap().remove(0));
        let mut reader = Reader::near(time);
        for reference_time in (0..1 << 24).step_by(1 << 21) {
            missing.reference_time = reference_time;
            assert_eq!(reader.read(&missing, 1).next(), Some((1, Arrival::Missing)));
            assert_eq!(reader.read(&timed, 1).next(), Some((1, Arrival::At(time))));
        }
    }

    proptest! {
        #[test]
        fn what_is_reported_is_read_back_to_half_a_tick(
            start in prop_oneof![0u64..200_000, (1u64 << 40)..(1 << 41)],
            // 0, a wrap of the reference time, any time in 34 years.
            clock in prop_oneof![Just(0u64), Just((1 << 24) * 64_000_000), 0u64..1 << 60],
            steps in prop::collection::vec(
                (
                    prop_oneof![9 => Just(1u64), 1 => 1u64..40, 1 => 1u64..3000],
                    prop_oneof![
                        8 => (-5_000_000i64..70_000_000).prop_map(Some), 1 => (-1i64 << 36..1 << 36).prop_map(Some), 2 => Just(None)
                    ],
                ),
                1..150,
            ),
            limit in 24u64..1500, max_statuses in prop_oneof![1u16..100, Just(65_535)],
        ) {
            let (mut sequence, mut time) = (start, Time::from_nanos(clock));
            let mut packets: Vec<(u64, Option<Time>)> = Vec::new();
            for (gap, arrival) in steps {
                // A message may be 65535 numbers behind the newest.
                if sequence + gap - start < 65_536 {
                    sequence += gap;
                    packets.push((sequence, arrival.map(|step| { time += Span::from_nanos(step); time })));
                }
            }
            let config = Config { limit: Bytes::new(limit), max_statuses, ..Config::default() };
            let read = through_the_wire(config, Time::from_nanos(clock), &packets);
            let numbers: Vec<u64> = read.iter().map(|(number, _)| *number).collect();
            prop_assert_eq!(numbers, (packets[0].0..=sequence).collect::<Vec<_>>());
            for (number, arrival) in read {
                let listed = packets.binary_search_by_key(&number, |packet| packet.0);
                match (arrival, listed.ok().and_then(|at| packets[at].1)) {
                    (Arrival::At(read), Some(came)) => {
                        prop_assert!((read - came).abs() <= Span::from_micros(125), "{}: {} for {}", number, read, came);
                    }
                    (arrival, came) => prop_assert_eq!((arrival, came), (Arrival::Missing, None)),
                }
            }
        }

        #[test]
        fn any_message_is_read_without_panic(
            reference_time: u32, base_sequence: u16, newest: u64, deltas in prop::collection::vec(any::<i16>(), 0..20),
        ) {
            let statuses = deltas.into_iter().map(Status::Arrived).collect::<Vec<_>>();
            let count = statuses.len();
            let feedback =
                Feedback { sender_ssrc: 0, media_ssrc: 0, base_sequence, reference_time, feedback_count: 0, statuses };
            prop_assert_eq!(Reader::new().read(&feedback, newest).count(), count);
        }
    }
}
