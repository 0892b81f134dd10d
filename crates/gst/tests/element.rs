//! The element between two pads, by the real clock.

#[path = "../../../tests/in_real_time.rs"]
mod in_real_time;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Once};
use std::time::Duration;

use gst::glib;
use gst::prelude::*;
use gst_check::Harness;
use in_real_time::in_real_time;

const CAPS: &str = "application/x-rtp, media=(string)video, clock-rate=(int)90000, encoding-name=(string)VP8, \
     payload=(int)96, ssrc=(uint)4, extmap-3=(string)\"http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\"";

fn init() {
    static INIT: Once = Once::new();
    INIT.call_once(|| {
        gst::init().unwrap();
        gstthalweg::plugin_register_static().unwrap();
    });
}

fn element() -> gst::Element {
    init();
    gst::ElementFactory::make("thalwegbwe").build().unwrap()
}

fn harness(element: &gst::Element) -> Harness {
    let mut harness = Harness::with_element(element, Some("sink"), Some("src"));
    harness.set_src_caps(CAPS.parse().unwrap());
    harness
}

/// An RTP packet of stream 4 with the extension of transport-wide numbers.
fn packet(number: u16, timestamp: u32, payload: usize, marker: bool) -> gst::Buffer {
    let mut bytes =
        vec![0x90, 96 | u8::from(marker) << 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0xBE, 0xDE, 0, 1, 0x31, 0, 0, 0];
    bytes[2..4].copy_from_slice(&number.to_be_bytes());
    bytes[4..8].copy_from_slice(&timestamp.to_be_bytes());
    bytes.resize(20 + payload, 0xAA);
    gst::Buffer::from_mut_slice(bytes)
}

fn number(buffer: &gst::Buffer) -> u16 {
    let map = buffer.map_readable().unwrap();
    u16::from_be_bytes([map[2], map[3]])
}

fn now() -> u64 {
    gst::SystemClock::obtain().time().nseconds()
}

/// GStreamer's event with a report on packets: number, when it left, when it arrived, payload.
fn report(packets: &[(u16, u64, Option<u64>, u32)]) -> gst::Event {
    let packets = packets.iter().map(|(number, departed, arrived, payload)| {
        let one = gst::Structure::builder("RTPTWCCPacket")
            .field("seqnum", u32::from(*number))
            .field("local-ts", *departed)
            .field("payload-type", 96u8)
            .field("size", *payload)
            .field("lost", arrived.is_none());
        let one = if let Some(arrived) = arrived { one.field("remote-ts", *arrived) } else { one };
        one.build()
    });
    let packets = glib::ValueArray::new(packets.collect::<Vec<_>>()).to_value();
    #[allow(unsafe_code, reason = "an array of structures may be sent, which the bindings do not know")]
    // SAFETY: both are a GValue; the array is nobody else's, and a structure may be sent.
    let packets = unsafe { std::mem::transmute::<glib::Value, glib::SendValue>(packets) };
    let mut structure = gst::Structure::new_empty("RTPTWCCPackets");
    structure.set_value("packets", packets);
    gst::event::CustomUpstream::new(structure)
}

/// Until `holds` or for so long.
fn wait_for(holds: impl Fn() -> bool) -> bool {
    let main = glib::MainContext::new();
    for _ in 0..500 {
        if holds() {
            return true;
        }
        main.block_on(glib::timeout_future(Duration::from_millis(10)));
    }
    false
}

fn stats(element: &gst::Element) -> gst::Structure {
    element.property("stats")
}

#[test]
fn a_thousand_packets_come_out_in_order_and_the_end_of_the_stream_last() {
    let element = element();
    let mut harness = harness(&element);
    element.set_property("max-queue-time", 0u64);
    element.set_property("max-bitrate", 100_000_000u32);
    element.set_property("estimated-bitrate", 100_000_000u32);
    for number in 0..1000 {
        harness.push(packet(number, 3000 * u32::from(number / 10), 1000, number % 10 == 9)).unwrap();
    }
    harness.push_event(gst::event::Eos::new());
    for expected in 0..1000 {
        assert_eq!(number(&harness.pull().unwrap()), expected);
    }
    let mut types = Vec::new();
    assert!(wait_for(|| harness.events_received() >= 4), "{} events", harness.events_received());
    while let Some(event) = harness.try_pull_event() {
        types.push(event.type_());
    }
    assert_eq!(types.last(), Some(&gst::EventType::Eos), "{types:?}");
    assert_eq!(harness.buffers_in_queue(), 0);
}

#[test]
fn packets_leave_at_the_pace_and_unpaced_as_they_come() {
    in_real_time(|| {
        for (pacing, least) in [("scheme", 100), ("unpaced", 0)] {
            let element = element();
            let mut harness = harness(&element);
            element.set_property("scheme", "nada");
            element.set_property("pacing", pacing);
            element.set_property("estimated-bitrate", 1_000_000u32);
            let begin = now();
            // 50 kB at 1 Mbit/s are 400 ms, and what waits leaves within 150.
            for number in 0..50 {
                harness.push(packet(number, 0, 1000, number == 49)).unwrap();
            }
            for expected in 0..50 {
                assert_eq!(number(&harness.pull().unwrap()), expected);
            }
            let took = (now() - begin) / 1_000_000;
            assert!(took >= least && took < least + 2000, "{pacing}: {took} ms");
        }
    });
}

#[test]
fn reports_move_the_estimate_and_a_handler_may_read_it() {
    let element = element();
    let mut harness = harness(&element);
    element.set_property("scheme", "gcc");
    let (seen, heard) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (last, count) = (seen.clone(), heard.clone());
    element.connect_notify(Some("estimated-bitrate"), move |element, _| {
        last.store(element.property("estimated-bitrate"), Ordering::SeqCst);
        count.fetch_add(1, Ordering::SeqCst);
    });
    assert_eq!(element.property::<u32>("estimated-bitrate"), 2_048_000);
    let main = glib::MainContext::new();
    // A path on which each packet comes 4 ms later than the one before would have it.
    for round in 0..30u16 {
        let mut sent = Vec::new();
        for index in 0..10 {
            let number = round * 10 + index;
            harness.push(packet(number, 3000 * u32::from(round), 1000, index == 9)).unwrap();
            assert_eq!(self::number(&harness.pull().unwrap()), number);
            sent.push((number, now()));
        }
        main.block_on(glib::timeout_future(Duration::from_millis(40)));
        let arrival = |(number, at): &(u16, u64)| (*number, *at, Some(*at + 4_000_000 * u64::from(*number)), 1000);
        assert!(harness.push_upstream_event(report(&sent.iter().map(arrival).collect::<Vec<_>>())));
    }
    let estimate = element.property::<u32>("estimated-bitrate");
    assert!(estimate < 2_000_000 && estimate >= 1000, "{estimate}");
    assert!(heard.load(Ordering::SeqCst) > 0);
    assert!(wait_for(|| element.property::<u32>("estimated-bitrate").abs_diff(seen.load(Ordering::SeqCst)) < 20_000));
    let stats = stats(&element);
    assert!(stats.get::<bool>("sees-departures").unwrap() && stats.get::<f64>("srtt-ms").unwrap() > 0.0, "{stats}");
    // The event goes on to who wants it too.
    assert!(harness.upstream_events_received() >= 30);
}

#[test]
fn reports_on_other_packets_than_those_pushed_are_noticed() {
    let element = element();
    let mut harness = harness(&element);
    for number in 0..10 {
        harness.push(packet(number, 0, 1000, number == 9)).unwrap();
        harness.pull().unwrap();
    }
    assert!(stats(&element).get::<bool>("sees-departures").unwrap());
    let at = now();
    harness.push_upstream_event(report(&[(3, at, Some(at), 1000), (4, at, Some(at + 1000), 77)]));
    assert!(!stats(&element).get::<bool>("sees-departures").unwrap());
}

#[test]
fn a_flush_empties_the_queue_and_what_comes_after_it_passes() {
    let element = element();
    let mut harness = harness(&element);
    element.set_property("scheme", "nada");
    element.set_property("estimated-bitrate", 20_000u32);
    for number in 0..100 {
        harness.push(packet(number, 0, 1000, number == 99)).unwrap();
    }
    harness.push_event(gst::event::FlushStart::new());
    assert!(harness.push(packet(100, 0, 1000, true)).is_err());
    harness.push_event(gst::event::FlushStop::new(true));
    let before = harness.buffers_received();
    assert!(before < 100, "{before}");
    harness.push_event(gst::event::Segment::new(&gst::FormattedSegment::<gst::ClockTime>::new()));
    harness.push(packet(200, 3000, 1000, true)).unwrap();
    while let Ok(buffer) = harness.pull() {
        if number(&buffer) == 200 {
            return;
        }
        assert!(number(&buffer) < 100);
    }
    panic!("the packet after the flush does not come");
}

#[test]
fn a_queue_that_waits_too_long_is_dropped_and_a_keyframe_asked_for() {
    in_real_time(|| {
        let element = element();
        let mut harness = harness(&element);
        element.set_property("scheme", "nada");
        element.set_property("estimated-bitrate", 20_000u32);
        element.set_property("max-queue-time", 100_000_000u64);
        for number in 0..100 {
            harness.push(packet(number, 0, 1000, number == 99)).unwrap();
        }
        assert!(wait_for(|| stats(&element).get::<u64>("dropped-packets").unwrap() > 0), "{}", stats(&element));
        let mut asked = None;
        while let Some(event) = harness.try_pull_upstream_event() {
            if let Some(structure) = event.structure().filter(|structure| structure.name() == "GstForceKeyUnit") {
                asked = structure.get::<u32>("ssrc").ok();
            }
        }
        assert_eq!(asked, Some(4));
    });
}

#[test]
fn a_scheme_that_it_cannot_play_is_an_error_with_the_reason() {
    let element = element();
    let bus = gst::Bus::new();
    element.set_bus(Some(&bus));
    element.set_property("scheme", "salsify");
    assert!(element.set_state(gst::State::Playing).is_err());
    let message = bus.timed_pop_filtered(gst::ClockTime::SECOND, &[gst::MessageType::Error]).unwrap();
    let gst::MessageView::Error(error) = message.view() else { unreachable!() };
    let text = error.error().to_string();
    assert!(text.contains("late from several candidates") && text.contains("nada"), "{text}");
    let _ = element.set_state(gst::State::Null);
    element.set_property("scheme", "scream");
    assert!(element.set_state(gst::State::Playing).is_ok());
    // While it plays a bad name changes nothing.
    element.set_property("scheme", "gccc");
    assert_eq!(element.property::<String>("scheme"), "scream");
    element.set_state(gst::State::Null).unwrap();
}

#[test]
fn min_and_max_hold_while_it_plays_and_max_counts_where_they_contradict_each_other() {
    let element = element();
    let mut harness = harness(&element);
    harness.push(packet(0, 0, 1000, true)).unwrap();
    element.set_property("max-bitrate", 500_000u32);
    assert_eq!(element.property::<u32>("estimated-bitrate"), 500_000);
    element.set_property("min-bitrate", 700_000u32);
    assert_eq!(element.property::<u32>("estimated-bitrate"), 500_000);
    element.set_property("max-bitrate", 900_000u32);
    assert_eq!(element.property::<u32>("estimated-bitrate"), 900_000.min(2_048_000));
}

/// docs/gstreamer.md.
#[test]
fn two_thousand_starts_and_stops_leave_nothing_behind() {
    let element = element();
    for _ in 0..2000 {
        element.set_state(gst::State::Playing).unwrap();
        element.set_state(gst::State::Null).unwrap();
    }
    let weak = element.downgrade();
    drop(element);
    assert!(weak.upgrade().is_none());
}
