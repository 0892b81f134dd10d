use super::*;
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;
use thalweg_control::{Acknowledgement, PacketId, PathReport};
use thalweg_units::{Bytes, Ecn, Rate, Span, Time};
use thalweg_wire::rtcp::ccfb;
use thalweg_wire::rtcp::{self, Nack, Packet, Pli, twcc};

const MEDIA: u32 = 7;
const REPAIR: u32 = 8;

/// Every third packet is on the retransmission stream; the media stream begins at 65,000.
fn sent(count: u64) -> Streams {
    let mut streams = Streams::new();
    let (mut media, mut repair) = (65_000, 3);
    for id in 0..count {
        let (ssrc, number) = if id % 3 == 2 { (REPAIR, &mut repair) } else { (MEDIA, &mut media) };
        streams.on_sent(PacketId(id), ssrc, *number);
        *number += 1;
    }
    streams.on_frame(MEDIA, 0);
    streams
}

fn bytes(packet: Packet) -> Vec<u8> {
    let mut out = Vec::new();
    rtcp::write(&[packet], &mut out).unwrap();
    out
}

fn acknowledgements(read: &[RtcpFeedback]) -> &[Acknowledgement] {
    let [RtcpFeedback::Arrivals { acknowledgements, .. }] = read else { panic!("{read:?}") };
    acknowledgements
}

#[test]
fn requests_are_read_in_the_senders_own_numbers_and_only_for_its_streams() {
    let streams = sent(3000);
    assert_eq!(streams.newest_of(MEDIA), Some(66_999));
    let nack = |ssrc| bytes(Packet::Nack(Nack::of(1, ssrc, [65_530, 65_535, 0, 3])));
    let loss = |media_ssrc| bytes(Packet::Pli(Pli { sender_ssrc: 1, media_ssrc }));
    let mut reader = Reader::new();
    assert_eq!(
        reader.read(&nack(MEDIA), &streams),
        Ok(vec![RtcpFeedback::Missing(vec![65_530, 65_535, 65_536, 65_539])])
    );
    assert_eq!(reader.read(&loss(MEDIA), &streams), Ok(vec![RtcpFeedback::KeyframeNeeded]));
    // Retransmissions have numbers of their own, and unknown streams are ignored.
    for ssrc in [REPAIR, 9] {
        assert_eq!(reader.read(&[nack(ssrc), loss(ssrc)].concat(), &streams), Ok(vec![]), "{ssrc}");
    }
    assert_eq!(reader.read(&[nack(MEDIA), loss(MEDIA)].concat(), &streams).unwrap().len(), 2);
    assert!(reader.read(&nack(MEDIA)[..9], &streams).is_err());
}

#[test]
fn a_path_report_is_read_as_it_was_written_and_only_of_the_senders_own_media() {
    let report = |media_ssrc| {
        let (capacity, received, lost) = (Some(Rate::from_kbps(400)), Bytes::new(9000), Bytes::new(100));
        rtcp::PathReport { sender_ssrc: 1, media_ssrc, capacity, received, lost }
    };
    let read = |media_ssrc| Reader::new().read(&bytes(Packet::PathReport(report(media_ssrc))), &sent(5));
    let rtcp::PathReport { capacity, received, lost, .. } = report(MEDIA);
    assert_eq!(read(MEDIA), Ok(vec![RtcpFeedback::Path(PathReport { capacity, received, lost })]));
    assert_eq!((read(REPAIR), read(9)), (Ok(vec![]), Ok(vec![])));
}

#[test]
fn a_packet_never_sent_is_passed_over() {
    let message = twcc::Config::default().build().unwrap().messages(&[(4, Some(Time::ZERO)), (5, None), (6, None)]);
    let feedback = bytes(Packet::TransportFeedback(message.unwrap().remove(0)));
    let read = Reader::new().read(&feedback, &sent(5)).unwrap();
    assert_eq!(acknowledgements(&read).iter().map(|reported| reported.id.0).collect::<Vec<_>>(), [4]);
    assert_eq!(Reader::new().read(&feedback, &Streams::new()), Ok(vec![]));
}

#[test]
fn an_arrival_without_a_time_still_counts_as_one() {
    let timed = twcc::Config::default().build().unwrap().messages(&[(1, Some(Time::from_millis(640)))]).unwrap();
    let untimed = twcc::Config { timestamps: false, ..twcc::Config::default() };
    let untimed = untimed.build().unwrap().messages(&[(2, Some(Time::from_millis(700))), (3, None)]).unwrap();
    let mut reader = Reader::new();
    let streams = sent(10);
    reader.read(&bytes(Packet::TransportFeedback(timed[0].clone())), &streams).unwrap();
    let read = reader.read(&bytes(Packet::TransportFeedback(untimed[0].clone())), &streams).unwrap();
    let arrivals: Vec<_> = acknowledgements(&read).iter().map(|reported| reported.arrival).collect();
    assert_eq!(arrivals, [Some(Time::from_millis(640)), None]);
}

#[test]
fn rfc_8888_tells_marks_and_how_long_the_newest_arrival_was_held() {
    // Media numbers 65000, 65001, ... are packets 0, 1, 3, 4, ...; repair numbers 3, 4, ... are 2, 5, ...
    let received = |ssrc, sequence, millis, ecn| ccfb::Received {
        ssrc,
        sequence,
        arrival: Some((Time::from_millis(millis), ecn)),
    };
    let packets = [
        received(MEDIA, 65_000, 2000, Ecn::Ect1),
        received(MEDIA, 65_003, 2250, Ecn::Ce),
        received(REPAIR, 4, 2500, Ecn::Ect1),
        received(99, 4, 2500, Ecn::Ect1),
    ];
    let messages = ccfb::Config::default().build().unwrap().messages(Time::from_millis(3000), &packets).unwrap();
    let read = Reader::new().read(&bytes(Packet::CongestionFeedback(messages[0].clone())), &sent(6)).unwrap();
    let reported =
        |id, millis: Option<u64>, ecn| Acknowledgement::new(PacketId(id), millis.map(Time::from_millis)).with_ecn(ecn);
    let acknowledgements = vec![
        reported(0, Some(2000), Ecn::Ect1),
        reported(1, None, Ecn::NotCapable),
        reported(3, None, Ecn::NotCapable),
        reported(4, Some(2250), Ecn::Ce),
        reported(5, Some(2500), Ecn::Ect1),
    ];
    assert_eq!(read, [RtcpFeedback::Arrivals { acknowledgements, hold: Some(Span::from_millis(500)) }]);
}

#[test]
fn a_stream_is_remembered_as_far_back_as_numbers_tell_packets_apart() {
    let mut streams = Streams::new();
    (0..70_000).for_each(|id| streams.on_sent(PacketId(id), MEDIA, id));
    assert_eq!(streams.packet(MEDIA, 69_999 - 65_535), Some(PacketId(69_999 - 65_535)));
    assert_eq!(streams.packet(MEDIA, 69_999 - 65_536), None);
    streams.on_sent(PacketId(70_000), MEDIA, 90_000);
    assert_eq!((streams.packet(MEDIA, 69_999), streams.newest_of(MEDIA)), (None, Some(90_000)));
}

/// Transport-wide feedback on numbers `base..`, each arrived or not.
fn transport(base: u16, arrived: &[bool]) -> Vec<u8> {
    let status = |arrived: &bool| if *arrived { twcc::Status::Arrived(4) } else { twcc::Status::Missing };
    let statuses = arrived.iter().map(status).collect();
    let (sender_ssrc, media_ssrc, reference_time, feedback_count) = (1, MEDIA, 0, 0);
    let feedback =
        twcc::Feedback { sender_ssrc, media_ssrc, base_sequence: base, reference_time, feedback_count, statuses };
    bytes(Packet::TransportFeedback(feedback))
}

#[test]
fn a_transport_wide_number_that_was_skipped_is_no_packet_and_its_acknowledgement_is_counted() {
    let mut streams = Streams::new();
    for id in 0..100_000 {
        if id % 100 == 70 {
            streams.skip_transport_number(PacketId(id));
        }
        assert_eq!(streams.transport_number(PacketId(id)), id + (id + 30) / 100);
        streams.on_sent(PacketId(id), MEDIA, id);
    }
    let newest = streams.newest_transport().unwrap();
    assert_eq!(newest, 100_999);
    let numbers: Vec<u64> =
        (newest - 60_000..=newest).filter_map(|number| streams.transported(number)).map(|id| id.0).collect();
    assert_eq!(numbers, (numbers[0]..100_000).collect::<Vec<_>>(), "each packet has one number");
    // Before packet 99,970, number 100,969 was skipped.
    let mut reader = Reader::new();
    let honest = reader.read(&transport(100_968u32 as u16, &[true, false, true, true]), &streams).unwrap();
    let ids: Vec<u64> = acknowledgements(&honest).iter().map(|reported| reported.id.0).collect();
    assert_eq!((ids, reader.never_sent()), (vec![99_969, 99_970, 99_971], 0));
    reader.read(&transport(100_968u32 as u16, &[true; 4]), &streams).unwrap();
    assert_eq!(reader.never_sent(), 1);
}

#[test]
fn a_number_that_a_stream_skipped_is_known_and_the_packets_before_it_are_not_forgotten() {
    let mut streams = Streams::new();
    (0..10).for_each(|id| streams.on_sent(PacketId(id), REPAIR, 3 + id));
    streams.on_sent(PacketId(10), REPAIR, 14);
    let packets = [3, 12, 13, 14, 15].map(|number| streams.packet(REPAIR, number).map(|id| id.0));
    assert_eq!(packets, [Some(0), Some(9), None, Some(10), None]);
    assert_eq!([12, 13, 14, 15].map(|number| streams.is_skipped(REPAIR, number)), [false, true, false, false]);
    assert!(!streams.is_skipped(MEDIA, 13));
}

proptest! {
    #[test]
    fn any_datagram_is_read_or_refused(datagram in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = Reader::new().read(&datagram, &sent(10));
    }

    #[test]
    fn any_feedback_names_only_packets_that_were_sent(kind in prop::sample::select(&[(15u8, 205u8), (11, 205), (1, 205), (0, 207)][..]), body in prop::collection::vec(any::<u8>(), 8..80)) {
        let words = body.len() / 4;
        let (format, kind) = kind;
        let datagram = [&[0x80 | format, kind, 0, words as u8], &body[..4 * words]].concat();
        let streams = sent(70_000);
        for read in Reader::new().read(&datagram, &streams).unwrap_or_default() {
            match read {
                RtcpFeedback::Arrivals { acknowledgements, .. } => prop_assert!(acknowledgements.iter().all(|reported| reported.id.0 < 70_000)),
                RtcpFeedback::Missing(sequences) => prop_assert!(sequences.iter().all(|sequence| *sequence <= 111_666)),
                RtcpFeedback::KeyframeNeeded | RtcpFeedback::Decoder(_) | RtcpFeedback::Path(_) => {}
            }
        }
    }
}
