use super::*;
use thalweg_control::{Acknowledgement, PacketId};
use thalweg_types::feedback::{Reader, RtcpFeedback, Streams};
use thalweg_wire::rtcp::{self, BytesDiscarded, XrBlock};

const MS: fn(u64) -> Time = Time::from_millis;
const MEDIA: u32 = 7;

/// The sender's stream state after this many packets, numbered from 65,500 on.
fn sent(count: u64) -> Streams {
    let mut streams = Streams::new();
    (0..count).for_each(|id| streams.on_sent(PacketId(id), MEDIA, 65_500 + id));
    streams
}

/// Packet `id` arrives at `now`, with a clock that shows `here`.
fn comes(extended: &mut Extended, now: Time, here: Time, id: u64) {
    assert!(extended.on_packet(now, here, 65_500 + id, Some(now)));
}

/// The sender's reading of the datagrams, in order.
fn read_back(reader: &mut Reader, sent: &Streams, datagrams: &[(Vec<u8>, u32)]) -> Vec<(u64, Option<Time>)> {
    let feedback = datagrams.iter().flat_map(|(datagram, _)| reader.read(datagram, sent).unwrap());
    let reported = |feedback| match feedback {
        RtcpFeedback::Arrivals { acknowledgements, hold: None } => acknowledgements,
        other => panic!("{other:?}"),
    };
    feedback.flat_map(reported).map(|Acknowledgement { id, arrival, .. }| (id.0, arrival)).collect()
}

fn blocks(datagram: &[u8]) -> Vec<XrBlock> {
    match &rtcp::parse(datagram).unwrap()[..] {
        [Packet::ReceiverReport(plain), Packet::Xr(extended)] => {
            assert_eq!((plain.ssrc, extended.ssrc), (1, 1));
            extended.blocks.clone()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_report_tells_what_came_and_when_beside_a_receiver_report() {
    let mut extended = Extended::new(1, MEDIA);
    for (id, at) in [(0, 10), (1, 20), (3, 40)] {
        comes(&mut extended, MS(at), MS(at), id);
    }
    assert_eq!(extended.next(), MS(210));
    let datagrams = extended.datagrams(MS(210));
    let [(datagram, _)] = &datagrams[..] else { panic!("{datagrams:?}") };
    let Packet::ReceiverReport(plain) = &rtcp::parse(datagram).unwrap()[0] else { panic!("no receiver report") };
    let block = plain.blocks[0];
    assert_eq!((block.ssrc, block.cumulative_lost, block.fraction_lost), (MEDIA, 1, 64));
    let reported = read_back(&mut Reader::new(), &sent(10), &datagrams);
    assert_eq!(reported, [(0, Some(MS(10))), (1, Some(MS(20))), (2, None), (3, Some(MS(40)))]);
    // Losses and two runs of receipt times; nothing was discarded, so there is no discard block.
    assert_eq!(blocks(datagram).len(), 3);
    assert_eq!(extended.next(), Time::NEVER);
}

#[test]
fn the_next_report_covers_one_that_is_lost() {
    let mut extended = Extended::new(1, MEDIA);
    let (mut reader, streams) = (Reader::new(), sent(40));
    let mut at = 0;
    let mut report = |extended: &mut Extended, ids: std::ops::Range<u64>| {
        ids.for_each(|id| comes(extended, MS(10 * id + 10), MS(10 * id + 10), id));
        at += 200;
        extended.datagrams(MS(at + 10))
    };
    let first = report(&mut extended, 0..10);
    assert_eq!(read_back(&mut reader, &streams, &first).len(), 10);
    let _lost = report(&mut extended, 10..20);
    let third = read_back(&mut reader, &streams, &report(&mut extended, 20..30));
    assert_eq!(third, (10..30).map(|id| (id, Some(MS(10 * id + 10)))).collect::<Vec<_>>());
    // Items in two reports are not reported a third time.
    let fourth = read_back(&mut reader, &streams, &report(&mut extended, 30..40));
    assert_eq!(fourth.first(), Some(&(20, Some(MS(210)))));
}

#[test]
fn a_packet_that_comes_too_late_is_told_early_and_its_bytes_are_counted() {
    let mut extended = Extended::new(1, MEDIA);
    comes(&mut extended, MS(10), MS(10), 0);
    comes(&mut extended, MS(20), MS(20), 1);
    extended.on_discarded(MS(20), 65_501, Bytes::new(900));
    assert_eq!(extended.next(), MS(20));
    let datagrams = extended.datagrams(MS(20));
    let found = blocks(&datagrams[0].0);
    let late = found.iter().find_map(|block| match block {
        XrBlock::Discards { early: false, packets } => Some(packets.sequences(true).collect::<Vec<_>>()),
        _ => None,
    });
    assert_eq!(late, Some(vec![65_501]));
    let bytes = BytesDiscarded { ssrc: MEDIA, early: false, cumulative: true, bytes: Bytes::new(900) };
    assert!(found.contains(&XrBlock::BytesDiscarded(bytes)));
    // It arrived nevertheless, and its time says how late.
    assert_eq!(read_back(&mut Reader::new(), &sent(5), &datagrams), [(0, Some(MS(10))), (1, Some(MS(20)))]);
    // At most one early report in two intervals.
    comes(&mut extended, MS(30), MS(30), 2);
    extended.on_discarded(MS(30), 65_502, Bytes::new(900));
    assert_eq!(extended.next(), MS(410));
}

#[test]
fn a_loss_is_told_early_when_the_third_packet_after_it_comes() {
    let mut extended = Extended::new(1, MEDIA);
    for (id, at) in [(0, 10), (2, 20), (3, 30)] {
        comes(&mut extended, MS(at), MS(at), id);
        assert_eq!(extended.next(), MS(210));
    }
    comes(&mut extended, MS(40), MS(40), 4);
    assert_eq!(extended.next(), MS(40));
    // Reordering alone does not trigger an early report.
    let mut extended = Extended::new(1, MEDIA);
    for (id, at) in [(0, 10), (2, 20), (3, 30), (1, 35), (4, 40)] {
        comes(&mut extended, MS(at), MS(at), id);
        assert_eq!(extended.next(), MS(210));
    }
}

#[test]
fn a_clock_that_is_set_ahead_and_back_is_followed() {
    let mut extended = Extended::new(1, MEDIA);
    let (mut reader, streams) = (Reader::new(), sent(60));
    let hour = Span::from_secs(3600);
    for (round, here) in (0..).zip([Span::ZERO, hour, Span::ZERO, hour * 3, Span::ZERO]) {
        let times = (10 * round..10 * round + 10).map(|id| (id, MS(200 * round + 10 * (id % 10) + 5_000)));
        let times: Vec<_> = times.collect();
        for (id, now) in &times {
            comes(&mut extended, *now, *now + here, *id);
        }
        let reported = read_back(&mut reader, &streams, &extended.datagrams(MS(200 * round + 5_200)));
        let feedback: Vec<_> = reported.into_iter().filter(|(id, _)| *id >= 10 * round).collect();
        assert_eq!(
            feedback,
            times.iter().map(|(id, now)| (*id, Some(*now + here))).collect::<Vec<_>>(),
            "round {round}"
        );
    }
}

#[test]
fn what_no_datagram_holds_goes_on_in_another_and_no_datagram_is_too_long() {
    // Every second packet is lost: 8 bytes of block and 4 of time for each that came.
    let mut extended = Extended::new(1, MEDIA);
    let ids: Vec<u64> = (0..4_000).filter(|id| id % 2 == 0).collect();
    for id in &ids {
        comes(&mut extended, Time::from_micros(50 * id), Time::from_micros(50 * id), *id);
    }
    let datagrams = extended.datagrams(MS(200));
    assert!(datagrams.iter().all(|(datagram, _)| datagram.len() <= LARGEST));
    let reported = read_back(&mut Reader::new(), &sent(4_000), &datagrams);
    assert!(reported.iter().map(|(id, _)| *id).eq(0..=3_998));
    assert!(reported.iter().all(|(id, at)| at.is_some() == (id % 2 == 0)));
    // A few bytes can report many lost packets, but the sender rejects reports that cover too many.
    let mut extended = Extended::new(1, MEDIA);
    comes(&mut extended, MS(0), MS(0), 0);
    comes(&mut extended, MS(1), MS(1), 30_000);
    let datagrams = extended.datagrams(MS(1));
    assert!(datagrams.len() >= 6, "{}", datagrams.len());
    assert_eq!(read_back(&mut Reader::new(), &sent(30_001), &datagrams).len(), 30_001);
}
