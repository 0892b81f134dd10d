//! Congestion control feedback (RFC 8888).

use thalweg_units::{Bytes, Ecn, Span, Time};
use thalweg_wire::rtcp::ccfb::{Arrival, Config, Reader, Received};
use thalweg_wire::rtcp::{self, Packet};

use crate::rtcp::{survive, transport};
use crate::steps::Steps;

/// Parses the bytes as a message; then as packets to report, whose arrival times must survive with an error of at most
/// half of 1/1024 s.
pub fn ccfb(data: &[u8]) {
    if let Ok(packets) = rtcp::parse(&transport(11, data)) {
        survive(&packets);
        if let [Packet::CongestionFeedback(feedback)] = &packets[..] {
            let read = Reader::new().read(feedback, |ssrc| (ssrc % 2 == 0).then_some(100_000));
            let known = feedback.streams.iter().filter(|stream| stream.ssrc % 2 == 0);
            assert_eq!(read.count(), known.map(|stream| stream.statuses.len()).sum::<usize>());
        }
    }
    report(Steps(data));
}

fn report(mut steps: Steps<'_>) {
    let config = Config { limit: Bytes::new(24 + steps.number(2) % 1500), ..Config::default() };
    let limit = config.limit.get();
    // Late enough for an arrival 16 s ago to have a time.
    let now = Time::from_nanos(20_000_000_000 + steps.number(7));
    let mut newest = [steps.number(3), steps.number(3), 0, 1 << 40];
    let mut packets = Vec::new();
    while steps.more() && packets.len() < 200 {
        let kind = steps.byte();
        let stream = usize::from(kind & 3);
        newest[stream] += 1 + if kind & 4 == 0 { 0 } else { steps.number(1) >> (kind >> 6) };
        let arrival = (kind & 8 == 0).then(|| {
            let ago = Span::from_micros(steps.number(3) as i64 - 100_000);
            let ecn = [Ecn::NotCapable, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(kind >> 4 & 3)];
            (now - ago, ecn)
        });
        packets.push(Received { ssrc: stream as u32, sequence: newest[stream], arrival });
    }
    let mut reader = Reader::near(now);
    let mut read = Vec::new();
    for message in config.build().expect("in range").messages(now, &packets).expect("in order") {
        let packet = Packet::CongestionFeedback(message);
        let mut bytes = Vec::new();
        packet.write(&mut bytes).expect("what was built can be written");
        assert!(bytes.len() as u64 <= limit);
        assert_eq!(rtcp::parse(&bytes).as_deref(), Ok(core::slice::from_ref(&packet)));
        let Packet::CongestionFeedback(feedback) = packet else { unreachable!() };
        // A sequence number is at most 65535 before the newest; here the newest of the message is known.
        let last = |ssrc: u32| {
            let stream = feedback.streams.iter().find(|stream| stream.ssrc == ssrc)?;
            let behind = |packet: &&Received| (packet.sequence as u16).wrapping_sub(stream.begin) < 16_384;
            packets.iter().filter(|packet| packet.ssrc == ssrc).find(behind).map(|packet| packet.sequence)
        };
        if newest.iter().all(|sequence| *sequence < 30_000 || *sequence >> 40 == 1) {
            read.extend(reader.read(&feedback, |ssrc| Some(newest[ssrc as usize])));
        } else {
            assert!(reader.read(&feedback, last).count() > 0);
        }
    }
    if read.is_empty() {
        return;
    }
    packets.sort_by_key(|packet| packet.ssrc);
    let mut listed = packets.into_iter().peekable();
    for (ssrc, sequence, arrival) in read {
        let came = listed
            .next_if(|packet| (packet.ssrc, packet.sequence) == (ssrc, sequence))
            .and_then(|packet| packet.arrival);
        match (arrival, came) {
            (Arrival::At { time, ecn }, Some((came, marked))) => {
                assert!(ecn == marked && (time - came).abs() <= Span::from_nanos(488_283), "{time} for {came}");
            }
            (Arrival::Untimed { ecn }, Some((came, marked))) => {
                assert!(ecn == marked && (came > now || now - came > Span::from_nanos(7_997_070_000)));
            }
            (arrival, came) => assert_eq!((arrival, came), (Arrival::Missing, None)),
        }
    }
    assert!(listed.next().is_none());
}
