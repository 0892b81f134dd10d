//! Transport-wide feedback.

use thalweg_units::{Bytes, Span, Time};
use thalweg_wire::rtcp::twcc::{Arrival, Config, Reader};
use thalweg_wire::rtcp::{self, Packet};

use crate::rtcp::{survive, transport};
use crate::steps::Steps;

/// Maximum number of packets to report; the parser accepts up to 65535.
const MAX: u64 = 4_000;

/// Parses the bytes as a message; then as packets to report, whose arrival times must survive with an error of at most
/// half a tick.
pub fn twcc(data: &[u8]) {
    let mut bytes = transport(15, data);
    // Few messages with very many packets: they take a thousand times as long as others and find little more.
    if let Some(count) = bytes.get_mut(14).filter(|count| **count != 0xff) {
        *count &= 3;
    }
    if let Ok(packets) = rtcp::parse(&bytes) {
        survive(&packets);
        if let [Packet::TransportFeedback(feedback)] = &packets[..] {
            let mut reader = Reader::new();
            assert_eq!(reader.read(feedback, u64::MAX).count(), feedback.statuses.len());
            let numbers: Vec<u64> = reader.read(feedback, 100_000).map(|(number, _)| number).collect();
            assert!(numbers[0] <= 100_000 && numbers[0] as u16 == feedback.base_sequence);
        }
    }
    report(Steps(data));
}

fn report(mut steps: Steps<'_>) {
    let config = Config {
        limit: Bytes::new(24 + steps.number(2) % 1500),
        max_statuses: 1 + (steps.number(2) % 65_535) as u16,
        longest_gap: u16::MAX,
        timestamps: steps.byte() & 7 > 0,
        ..Config::default()
    };
    let (limit, timed) = (config.limit.get(), config.timestamps);
    let first = steps.number(5);
    let start = Time::from_nanos(steps.number(7));
    let (mut sequence, mut time) = (first, start);
    let mut packets = Vec::new();
    while steps.more() {
        let kind = steps.byte();
        let gap = 1 + if kind & 1 == 0 { 0 } else { steps.number(1 + usize::from(kind >> 1 & 1)) };
        if sequence - first + gap > MAX {
            break;
        }
        sequence += gap;
        let arrival = (kind & 4 == 0).then(|| {
            // Microseconds with sign: up to 8 ms, or up to 8 s.
            let (bytes, shift) = if kind & 8 == 0 { (2, 48) } else { (3, 40) };
            time += Span::from_micros(((steps.number(bytes) << shift) as i64 >> shift) >> (kind >> 6));
            time
        });
        packets.push((sequence, arrival));
    }
    let messages = config.build().expect("in range").messages(&packets).expect("in order");
    let mut reader = Reader::near(start);
    let mut read = Vec::new();
    for message in messages {
        let packet = Packet::TransportFeedback(message);
        let mut bytes = Vec::new();
        packet.write(&mut bytes).expect("what was built can be written");
        assert!(bytes.len() as u64 <= limit);
        assert_eq!(rtcp::parse(&bytes).as_deref(), Ok(core::slice::from_ref(&packet)));
        let Packet::TransportFeedback(feedback) = packet else { unreachable!() };
        read.extend(reader.read(&feedback, sequence));
    }
    let mut listed = packets.into_iter().peekable();
    let first = listed.peek().map_or(0, |(sequence, _)| *sequence);
    for ((number, arrival), expected) in read.into_iter().zip(first..) {
        assert_eq!(number, expected);
        let came = listed.next_if(|(sequence, _)| *sequence == number).and_then(|(_, came)| came);
        match (arrival, came) {
            (Arrival::At(read), Some(came)) => {
                assert!((read - came).abs() <= Span::from_micros(125), "{read} for {came}")
            }
            (Arrival::Untimed, Some(_)) => assert!(!timed),
            (arrival, came) => assert_eq!((arrival, came), (Arrival::Missing, None)),
        }
    }
    assert!(listed.next().is_none());
}
