use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::{MessageReader, Receiver};
use proptest::prelude::*;
use thalweg_control::{Acknowledgement, FramePlace, SentPacket};
use thalweg_types::feedback::RtcpFeedback;
use thalweg_types::{Content, Packet};

const STYLES: [FeedbackStyle; 6] = [
    FeedbackStyle::PerPacket,
    FeedbackStyle::Twcc,
    FeedbackStyle::TwccOnRequest,
    FeedbackStyle::Ccfb,
    FeedbackStyle::Extended,
    FeedbackStyle::ExtendedRandomised,
];
const AHEAD: Span = Span::from_secs(1);

fn packet(id: u64) -> Packet {
    let sent = SentPacket::new(PacketId(id), Time::ZERO, Bytes::new(1200));
    let (grace, before, content) = (Span::ZERO, Bytes::ZERO, Content::Padding);
    Packet { sent, grace, before, requests_feedback: true, report_may_wait: false, content }
}

/// A report as the sender parses it.
#[derive(Debug)]
struct Report {
    acknowledgements: Vec<Acknowledgement>,
    hold: Option<Span>,
    size: Bytes,
}

/// The sender's parse of arrivals at these times, in order, with the sending time of each report.
fn read(style: FeedbackStyle, clock_offset: Span, arrivals: &[(Time, u64)]) -> Vec<(Time, Report)> {
    let mut receiver = Receiver::new(Default::default(), style, clock_offset).unwrap();
    let mut reader = MessageReader::default();
    // Arrivals may be out of order; what was sent was not.
    let mut next = arrivals.iter().map(|(_, id)| *id).min().unwrap_or(0);
    let mut reports = Vec::new();
    let mut poll = |receiver: &mut Receiver, reader: &mut MessageReader, until: Time| {
        while receiver.next_event() < until {
            let now = receiver.next_event();
            while let Some(message) = receiver.poll_report(now) {
                let (about, size) = (message.about, message.size);
                let [RtcpFeedback::Arrivals { acknowledgements, hold }] = &reader.read(message)[..] else {
                    panic!("{style:?}")
                };
                let counted = |one: &&Acknowledgement| style != FeedbackStyle::PerPacket || one.arrival.is_some();
                let packets = acknowledgements.iter().filter(counted).count() as u32;
                assert_eq!(about, About::Report { packets }, "{style:?}");
                reports.push((now, Report { acknowledgements: acknowledgements.clone(), hold: *hold, size }));
            }
            assert!(receiver.next_event() > now);
        }
    };
    for &(at, id) in arrivals {
        poll(&mut receiver, &mut reader, at);
        // What did not arrive was sent, too.
        for id in next..=id {
            reader.on_sent(&packet(id));
        }
        next = next.max(id + 1);
        receiver.on_packet(at, &packet(id));
    }
    poll(&mut receiver, &mut reader, Time::NEVER);
    reports
}

/// Max error of the reported arrival time.
fn resolution(style: FeedbackStyle) -> Span {
    match style {
        FeedbackStyle::PerPacket => Span::ZERO,
        FeedbackStyle::Twcc | FeedbackStyle::TwccOnRequest => Span::from_micros(125),
        FeedbackStyle::Ccfb
        | FeedbackStyle::CcfbOnRequest
        | FeedbackStyle::CcfbByFrame
        | FeedbackStyle::CcfbEvery100Ms => Span::from_nanos(488_283),
        // Rounded down.
        FeedbackStyle::Extended | FeedbackStyle::ExtendedRandomised => Span::from_nanos(11_112),
    }
}

#[test]
fn each_style_reports_when_and_as_large_as_it_should() {
    let at = Time::from_micros(10_333);
    let arrivals = [(at, 7), (at + Span::from_millis(5), 8)];
    for (style, left, size) in [
        // A header of 20 bytes, a chunk of 2 and two arrivals of one byte each.
        (FeedbackStyle::Twcc, at + TWCC_INTERVAL, 24 + 42),
        // 12 bytes of header per stream, 8 before its reports, 2 for each packet.
        (FeedbackStyle::Ccfb, at + CCFB_INTERVAL, 24 + 42),
        (FeedbackStyle::CcfbEvery100Ms, at + Span::from_millis(100), 24 + 42),
        // A receiver report with one block, 8 bytes of header, one chunk in 16 and two times in 20.
        (FeedbackStyle::Extended, at + Span::from_millis(200), 32 + 8 + 16 + 20 + 42),
    ] {
        let reports = read(style, AHEAD, &arrivals);
        let [(time, report)] = &reports[..] else { panic!("{reports:?}") };
        assert_eq!((*time, report.size, report.acknowledgements.len()), (left, Bytes::new(size), 2));
    }
    let each = read(FeedbackStyle::PerPacket, AHEAD, &arrivals);
    assert_eq!(each.iter().map(|(time, _)| *time).collect::<Vec<_>>(), arrivals.map(|(time, _)| time));
    assert!(each.iter().all(|(_, report)| report.size == Bytes::new(62) && report.hold.is_none()));
}

#[test]
fn only_rfc_8888_tells_how_long_the_newest_arrival_was_held() {
    let arrivals = [(Time::from_millis(10), 7), (Time::from_millis(15), 8)];
    for style in STYLES {
        let (_, report) = read(style, AHEAD, &arrivals).remove(0);
        let expected = (style == FeedbackStyle::Ccfb).then_some(Span::from_millis(26));
        let wrong = report.hold.zip(expected).map_or(Span::ZERO, |(reported, expected)| (reported - expected).abs());
        assert_eq!(report.hold.is_some(), expected.is_some());
        assert!(wrong <= resolution(style) + Span::from_micros(16), "{style:?}: {:?}", report.hold);
    }
}

#[test]
fn a_burst_is_reported_at_once_when_its_last_packet_asks() {
    let mut reports = Reports::new(FeedbackStyle::TwccOnRequest, Span::ZERO);
    reports.on_packet(Time::from_millis(1), &Packet { requests_feedback: false, ..packet(1) });
    assert_eq!(reports.next_event(), Time::from_millis(1) + TWCC_INTERVAL);
    reports.on_packet(Time::from_millis(2), &packet(2));
    assert_eq!(reports.next_event(), Time::from_millis(2));
    assert_eq!(reports.poll(Time::from_millis(2)).map(|report| report.size), Some(Bytes::new(24 + 42)));
    assert_eq!((reports.poll(Time::from_millis(2)), reports.next_event()), (None, Time::NEVER));
}

#[test]
fn libwebrtcs_reports_leave_as_a_frame_ends_and_25_ms_apart() {
    let mut reports = Reports::new(FeedbackStyle::CcfbByFrame, Span::ZERO);
    let mut due = |ms: u64, id: u64, last: bool| {
        let mut packet = packet(id);
        let (offset, captured) = (Bytes::ZERO, Time::ZERO);
        packet.sent.place = Some(FramePlace { frame: 1, first: false, last, offset, captured, keyframe: false });
        reports.on_packet(Time::from_millis(ms), &packet);
        let due = reports.next_event();
        while reports.poll(due).is_some() {}
        due
    };
    // A frame ends; one ends too soon after that report; a packet within a frame waits for its end, but not for longer than 25 ms.
    let expected = [(100, true, 100), (110, true, 125), (160, false, 185), (220, true, 220)];
    for (id, (at, last, when)) in expected.into_iter().enumerate() {
        assert_eq!(due(at, id as u64, last), Time::from_millis(when), "at {at} ms");
    }
}

#[test]
fn transport_wide_feedback_comes_62_ms_after_the_first_packet_it_reports_whatever_the_rate() {
    for every in [1, 5, 33, 200] {
        let arrivals: Vec<(Time, u64)> = (0..4000 / every).map(|id| (Time::from_millis(every * id), id)).collect();
        let reports = read(FeedbackStyle::Twcc, AHEAD, &arrivals);
        let times: Vec<Time> = reports.iter().map(|(time, _)| *time).collect();
        for (before, (at, report)) in times.iter().zip(&reports[1..]) {
            let first = report.acknowledgements.iter().find_map(|reported| reported.arrival).unwrap() - AHEAD;
            let (waited, gap) = (*at - first, *at - *before);
            assert!((waited - TWCC_INTERVAL).abs() <= resolution(FeedbackStyle::Twcc), "{waited} at {at}");
            assert!(
                gap >= TWCC_INTERVAL && gap <= TWCC_INTERVAL + Span::from_millis(every as i64),
                "{gap} each {every} ms"
            );
        }
    }
}

#[test]
fn reports_that_the_reverse_path_does_not_bear_wait_for_one_that_it_does() {
    let mut reports = Reports::new(FeedbackStyle::PerPacket, Span::ZERO);
    let waits = |id| Packet { report_may_wait: true, ..packet(id) };
    (1..4).for_each(|id| {
        reports.on_packet(Time::from_millis(id), &waits(id));
    });
    assert_eq!(reports.next_event(), Time::from_millis(1) + CCFB_INTERVAL);
    reports.on_packet(Time::from_millis(4), &packet(4));
    assert_eq!(reports.next_event(), Time::from_millis(4));
    let report = reports.poll(Time::from_millis(4)).expect("one report");
    assert_eq!(report.about, About::Report { packets: 4 });
}

#[test]
fn a_packet_reported_missing_is_reported_again_when_it_comes_late() {
    for style in [FeedbackStyle::Twcc, FeedbackStyle::Ccfb] {
        let arrivals = [(1, 10), (2, 12), (100, 11)].map(|(millis, id)| (Time::from_millis(millis), id));
        let reported: Vec<Vec<(u64, bool)>> = read(style, Span::ZERO, &arrivals)
            .iter()
            .map(|(_, report)| {
                report.acknowledgements.iter().map(|reported| (reported.id.0, reported.arrival.is_some())).collect()
            })
            .collect();
        assert_eq!(reported, [vec![(10, true), (11, false), (12, true)], vec![(11, true), (12, true)]], "{style:?}");
    }
}

#[test]
fn a_copy_of_a_packet_is_not_reported() {
    let arrivals = [(1, 10), (2, 12), (90, 12), (170, 10)].map(|(millis, id)| (Time::from_millis(millis), id));
    for style in [FeedbackStyle::PerPacket, FeedbackStyle::Twcc] {
        let reports = read(style, Span::ZERO, &arrivals);
        let arrived = reports.iter().flat_map(|(_, report)| &report.acknowledgements).filter(|of| of.arrival.is_some());
        assert_eq!(arrived.map(|of| of.id.0).collect::<Vec<_>>(), [10, 12], "{style:?}");
    }
}

#[test]
fn after_an_outage_of_ten_seconds_everything_lost_in_it_is_reported_missing() {
    // A packet every 5 ms; 100 to 2099 are lost.
    let ids = (0..100u64).chain(2100..2200);
    let arrivals: Vec<(Time, u64)> = ids.map(|id| (Time::from_millis(5 * id), id)).collect();
    for style in [FeedbackStyle::Twcc, FeedbackStyle::Ccfb] {
        let reports = read(style, AHEAD, &arrivals);
        let reported = |id: u64| {
            let reports = reports.iter().flat_map(|(_, report)| &report.acknowledgements);
            reports.filter(move |reported| reported.id.0 == id).map(|reported| reported.arrival).collect::<Vec<_>>()
        };
        assert!((100..2100).all(|id| reported(id) == [None]), "{style:?}");
        assert!((2100..2200).all(|id| {
            let reported = reported(id);
            let error = reported[0].map(|at| (at - (Time::from_millis(5 * id) + AHEAD)).abs());
            reported.len() == 1 && error.is_some_and(|error| error <= resolution(style))
        }));
        assert!(reports.iter().all(|(_, report)| report.size <= Bytes::new(1200)));
        let covering =
            |report: &&(Time, Report)| report.1.acknowledgements[0].id.0 < 2100 && report.0 > Time::from_millis(10_000);
        // Runs of TWCC count 8191 packets; RFC 8888 takes two bytes for each.
        let datagrams = if style == FeedbackStyle::Twcc { 1 } else { 4 };
        assert_eq!(reports.iter().filter(covering).count(), datagrams, "{style:?}");
    }
}

#[test]
fn what_no_packet_holds_goes_on_in_another() {
    let arrivals: Vec<(Time, u64)> = (0..6000).map(|id| (Time::from_micros(5 * id), id)).collect();
    for style in [FeedbackStyle::Twcc, FeedbackStyle::Ccfb] {
        let reports = read(style, Span::ZERO, &arrivals);
        let ids: Vec<u64> =
            reports.iter().flat_map(|(_, report)| &report.acknowledgements).map(|reported| reported.id.0).collect();
        assert_eq!(ids, (0..6000).collect::<Vec<_>>(), "{style:?}");
        assert!(reports.len() > 4 && reports.iter().all(|(_, report)| report.size <= Bytes::new(1200)));
    }
}

proptest! {
    #[test]
    fn every_arrival_is_reported_within_the_resolution_of_the_format_and_nothing_else(
        style in prop::sample::select(&STYLES[..]),
        start in prop_oneof![Just(0u64), 65_400u64..65_540, (1u64 << 20) - 100..1 << 20, 1u64 << 40..1 << 41],
        clock_offset in prop_oneof![Just(0i64), 0i64..30_000_000_000_000],
        // From packet to packet: the step in number, the interval, the delay, and whether the packet is lost or
        // duplicated.
        steps in prop::collection::vec((
            prop_oneof![20 => Just(1u64), 1 => 2u64..40, 1 => 900u64..2000],
            prop_oneof![20 => 1_000_000u64..9_000_000, 1 => Just(10_000_000_000u64)],
            prop_oneof![5 => Just(0u64), 1 => 0u64..30_000_000],
            prop_oneof![8 => Just(1usize), 1 => Just(0), 1 => Just(2)],
        ), 1..300),
    ) {
        let clock_offset = Span::from_nanos(clock_offset);
        let (mut id, mut at) = (start, Time::ZERO);
        let mut arrivals = Vec::new();
        for (places, pause, late, copies) in steps {
            id += places;
            at += Span::from_nanos(pause as i64);
            let came = at + Span::from_nanos(late as i64);
            arrivals.extend((0..copies).map(|copy| (came + Span::from_millis(3) * copy as i64, id)));
        }
        arrivals.sort();
        let mut first: BTreeMap<u64, Time> = BTreeMap::new();
        // RFC 8888's receiver may ignore packets more than 64 places late.
        let (mut newest, mut too_late) = (0, BTreeSet::new());
        for (time, id) in &arrivals {
            newest = newest.max(*id);
            if !first.contains_key(id) && style == FeedbackStyle::Ccfb && id + 64 <= newest {
                too_late.insert(*id);
            }
            first.entry(*id).or_insert(*time + clock_offset);
        }
        let reports = read(style, clock_offset, &arrivals);
        let mut reported = BTreeSet::new();
        for (left, report) in &reports {
            for acknowledgement in &report.acknowledgements {
                let Some(arrival) = acknowledgement.arrival else { continue };
                let id = acknowledgement.id.0;
                prop_assert!(first.contains_key(&id), "{} never came", id);
                if reported.insert(id) {
                    let error = (arrival - first[&id]).abs();
                    prop_assert!(error <= resolution(style), "{} is {} off in the report of {}", id, error, left);
                }
            }
        }
        prop_assert!(first.keys().all(|id| reported.contains(id) || too_late.contains(id)));
    }
}
