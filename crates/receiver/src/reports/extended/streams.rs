//! Extended reports of several streams, for a live receiver: one schedule for all, as they share a path.

use thalweg_units::{Bytes, Span, Time};
use thalweg_wire::rtcp::{self, Packet, Xr};

use super::pace::Pace;
use super::stream::{Reported, Stream};
use super::{LARGEST, PACKETS};

/// Bytes that may precede a report in a compound RTCP datagram: a receiver report of four streams (104 bytes) and our
/// CNAME (up to 255 bytes, in 268).
const BEFORE: usize = 104 + 268;

/// Arrivals and discards of each stream.
#[derive(Debug)]
pub(crate) struct ExtendedStreams {
    ssrc: u32,
    streams: Vec<Stream>,
    pace: Pace,
}

impl ExtendedStreams {
    /// Creates reports sent by `ssrc`.
    pub(crate) fn new(ssrc: u32) -> ExtendedStreams {
        ExtendedStreams { ssrc, streams: Vec::new(), pace: Pace::new() }
    }

    /// Sets the round-trip time.
    pub(crate) fn learn(&mut self, round_trip: Span) {
        self.pace.learn(round_trip);
    }

    /// Packet `number`, unwrapped, of stream `ssrc` with an RTP clock of `clock` Hz, arrived at `now`.
    pub(crate) fn on_packet(&mut self, now: Time, ssrc: u32, clock: u32, number: u64) {
        let place = self.streams.iter().position(|stream| stream.ssrc == ssrc).unwrap_or_else(|| {
            self.streams.push(Stream::new(ssrc, clock));
            self.streams.len() - 1
        });
        let learned = self.streams[place].on_packet(now, number);
        self.pace.on_packet(now, learned);
    }

    /// The packet, with this much payload, arrived too late to be played.
    pub(crate) fn on_discarded(&mut self, now: Time, ssrc: u32, number: u64, payload: Bytes) {
        let stream = self.streams.iter_mut().find(|stream| stream.ssrc == ssrc);
        if stream.is_some_and(|stream| stream.on_discarded(number, payload)) {
            self.pace.on_trouble(now);
        }
    }

    /// Removes stream `ssrc`.
    pub(crate) fn forget(&mut self, ssrc: u32) {
        self.streams.retain(|stream| stream.ssrc != ssrc);
    }

    /// When the next report is due.
    pub(crate) fn next(&self) -> Time {
        self.pace.next()
    }

    /// The report that is due, in as many packets as necessary, each for its own datagram; marks new items as reported.
    pub(crate) fn messages(&mut self, now: Time) -> Vec<Packet> {
        self.pace.on_report(now);
        let reported: Vec<_> = self.streams.iter_mut().map(Stream::take).collect();
        let mut reports = Vec::new();
        self.add(&reported.iter().map(Vec::as_slice).collect::<Vec<_>>(), &mut reports);
        reports
    }

    /// Adds reports of `reported`, the packets of each stream: a single report, or, if that does not fit into a
    /// datagram, reports of the older and of the newer half. The split is by time and not by stream, because the sender
    /// considers packets lost that it sent before one reported as received.
    fn add(&self, reported: &[&Reported], reports: &mut Vec<Packet>) {
        let count: usize = reported.iter().map(|reported| reported.len()).sum();
        if count == 0 {
            return;
        }
        let blocks = self.streams.iter().zip(reported).filter(|(_, reported)| !reported.is_empty());
        let blocks = blocks.flat_map(|(stream, reported)| stream.blocks(reported)).collect();
        let report = Packet::Xr(Xr { ssrc: self.ssrc, blocks });
        if count == 1 || (count <= PACKETS && fits(&report)) {
            reports.push(report);
            return;
        }
        let (older, newer) = halves(reported);
        self.add(&older, reports);
        self.add(&newer, reports);
    }
}

/// Splits the packets at the median arrival; if all arrived at once, into the first of each stream and the others.
fn halves<'a>(reported: &[&'a Reported]) -> (Vec<&'a Reported>, Vec<&'a Reported>) {
    let mut times: Vec<Time> = reported.iter().flat_map(|reported| reported.iter().filter_map(|(_, at)| *at)).collect();
    times.sort_unstable();
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    let before = |reported: &Reported| {
        reported.iter().position(|(_, at)| at.is_some_and(|at| at >= middle)).unwrap_or(reported.len())
    };
    let is_cut = reported.iter().any(|reported| before(reported) > 0)
        && reported.iter().any(|reported| before(reported) < reported.len());
    let cut =
        |reported: &&'a Reported| reported.split_at(if is_cut { before(reported) } else { reported.len().div_ceil(2) });
    reported.iter().map(cut).unzip()
}

/// Returns true if a report fits into a datagram.
fn fits(report: &Packet) -> bool {
    let mut bytes = Vec::new();
    let written = rtcp::write(std::slice::from_ref(report), &mut bytes);
    written.is_ok() && bytes.len() + BEFORE <= LARGEST
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use thalweg_control::PacketId;
    use thalweg_types::feedback::{Reader, RtcpFeedback, Streams};
    use thalweg_wire::rtcp::XrBlock;

    const MS: fn(u64) -> Time = Time::from_millis;
    const VIDEO: (u32, u32) = (7, 90_000);
    const RTX: (u32, u32) = (8, 90_000);
    const AUDIO: (u32, u32) = (9, 48_000);

    /// The sender's reading of a report, as its own packet numbers, after it sent `counts` packets of each of the
    /// streams one after another. Sequence numbers on the wire begin at 65,530.
    fn read_back(counts: [(u32, u64); 3], messages: &[Packet]) -> Vec<(u64, Option<Time>)> {
        let (mut sent, mut reader, mut id) = (Streams::new(), Reader::new(), 0);
        sent.on_clock(AUDIO.0, AUDIO.1);
        for (ssrc, count) in counts {
            for number in 0..count {
                sent.on_sent(PacketId(id), ssrc, 65_530 + number);
                id += 1;
            }
        }
        let mut reported = Vec::new();
        for message in messages {
            let mut bytes = Vec::new();
            rtcp::write(std::slice::from_ref(message), &mut bytes).unwrap();
            assert!(bytes.len() + BEFORE <= LARGEST, "{}", bytes.len());
            for feedback in reader.read(&bytes, &sent).unwrap() {
                let RtcpFeedback::Arrivals { acknowledgements, hold: None } = feedback else { panic!("{feedback:?}") };
                reported.extend(acknowledgements.iter().map(|one| (one.id.0, one.arrival)));
            }
        }
        reported
    }

    #[test]
    fn one_report_tells_of_all_streams_each_in_its_own_ticks() {
        let mut streams = ExtendedStreams::new(1);
        for (at, (ssrc, clock), number) in [(10, VIDEO, 0), (20, VIDEO, 2), (20, RTX, 0), (30, AUDIO, 1)] {
            streams.on_packet(MS(at), ssrc, clock, 65_530 + number);
        }
        assert_eq!(streams.next(), MS(210));
        let messages = streams.messages(MS(210));
        assert_eq!(messages.len(), 1);
        let reported = read_back([(7, 3), (8, 1), (9, 2)], &messages);
        assert_eq!(reported, [(0, Some(MS(10))), (1, None), (2, Some(MS(20))), (3, Some(MS(20))), (5, Some(MS(30)))]);
        // Reported items are reported once more with the next arrival on any stream, and never again.
        streams.on_packet(MS(300), AUDIO.0, AUDIO.1, 65_532);
        let again = read_back([(7, 3), (8, 1), (9, 3)], &streams.messages(MS(410)));
        assert_eq!(again, [&reported[..], &[(6, Some(MS(300)))]].concat());
        streams.on_packet(MS(500), AUDIO.0, AUDIO.1, 65_533);
        let last = read_back([(7, 3), (8, 1), (9, 4)], &streams.messages(MS(610)));
        assert_eq!(last, [(6, Some(MS(300))), (7, Some(MS(500)))]);
        assert_eq!(streams.next(), Time::NEVER);
    }

    #[test]
    fn a_loss_on_any_stream_and_a_discard_are_told_early() {
        let mut streams = ExtendedStreams::new(1);
        for number in 0..6 {
            streams.on_packet(MS(number), VIDEO.0, VIDEO.1, number);
        }
        assert_eq!(streams.next(), MS(200));
        streams.on_packet(MS(7), VIDEO.0, VIDEO.1, 10);
        assert_eq!(streams.next(), MS(7));
        streams.messages(MS(7));
        for number in 11..55 {
            let now = MS(10 * number);
            streams.on_packet(now, VIDEO.0, VIDEO.1, number);
            if streams.next() <= now {
                streams.messages(now);
            }
        }
        assert_eq!(streams.next(), MS(600));
        streams.on_discarded(MS(550), VIDEO.0, 54, Bytes::new(900));
        assert_eq!(streams.next(), MS(550));
        let messages = streams.messages(MS(550));
        let [Packet::Xr(report)] = &messages[..] else { panic!("{messages:?}") };
        let is_late = |block: &XrBlock| match block {
            XrBlock::Discards { packets, .. } => packets.sequences(true).eq([54]),
            _ => false,
        };
        assert!(report.blocks.iter().any(is_late), "{report:?}");
    }

    #[test]
    fn a_stream_that_is_no_more_is_not_told_of() {
        let mut streams = ExtendedStreams::new(1);
        streams.on_packet(MS(0), VIDEO.0, VIDEO.1, 5);
        streams.on_packet(MS(0), AUDIO.0, AUDIO.1, 5);
        streams.forget(VIDEO.0);
        let messages = streams.messages(MS(200));
        let [Packet::Xr(report)] = &messages[..] else { panic!("{messages:?}") };
        assert!(!format!("{report:?}").contains("ssrc: 7"), "{report:?}");
    }

    proptest! {
        #[test]
        fn what_is_told_of_each_packet_is_what_came_of_it_however_many(
            came in prop::collection::vec((0usize..3, prop::bool::weighted(0.7)), 1..2000),
        ) {
            let mut streams = ExtendedStreams::new(1);
            let (mut counts, mut truth) = ([(7, 0), (8, 0), (9, 0)], [(); 3].map(|()| Vec::new()));
            for (at, (stream, comes)) in (0..).zip(&came) {
                let (ssrc, clock) = [VIDEO, RTX, AUDIO][*stream];
                let now = MS(at);
                if *comes {
                    streams.on_packet(now, ssrc, clock, 65_530 + counts[*stream].1);
                }
                counts[*stream].1 += 1;
                truth[*stream].push(comes.then_some(now));
            }
            let messages = streams.messages(MS(5000));
            let reported = read_back(counts, &messages);
            let truth: Vec<_> = truth.concat();
            prop_assert!(reported.iter().all(|(id, at)| truth[*id as usize] == *at));
            let arrived = truth.iter().filter(|at| at.is_some()).count();
            prop_assert_eq!(reported.iter().filter(|(_, at)| at.is_some()).count(), arrived);
            // Each message covers only later arrivals than all of the previous one, whatever the stream.
            let newest = |message| read_back(counts, std::slice::from_ref(message)).iter().filter_map(|(_, at)| *at).max();
            prop_assert!(messages.iter().filter_map(newest).is_sorted());
        }
    }
}
