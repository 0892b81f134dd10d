//! `publish` and `watch` in one process, over loopback and over emulated links.
//!
//! They share the machine with other load, so only one call runs at a time.

mod call;
mod lite;
mod sharing;

use std::path::PathBuf;

use crate::{alone, ends};
use call::{Call, Seen, link};
use thalweg_codecs::Codec;
use thalweg_emulate::clock::{Clock, pause};
use thalweg_live::measure::EcnCounts;
use thalweg_live::watch::{Feedback, Place, WatchConfig, Watcher};
use thalweg_live::web::{Join, Joined};
use thalweg_netsim::queue::{Limits, Marker};
use thalweg_netsim::{HopConfig, QueueConfig};
use thalweg_transport::sdp::{self, Capabilities, Direction};
use thalweg_transport::{Config, Identity};
use thalweg_units::Span;

fn codec(name: &str) -> Option<Codec> {
    Some(name.parse().expect("a codec of this build"))
}

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("thalweg-watch-{}-{name}", std::process::id()))
}

#[test]
fn everything_that_is_sent_is_seen_whatever_kind_of_feedback_was_agreed_on() {
    alone(|| {
        for feedback in [
            Feedback::Transport,
            Feedback::TransportOnRequest,
            Feedback::PerStream,
            Feedback::Extended,
            Feedback::Plain,
        ] {
            // A report every 200 ms is too few for a window: Vidaptive stops sending in between. On one a second it is not
            // played.
            let (scheme, longest_ms) = match feedback {
                Feedback::Extended => ("gcc", 400.0),
                Feedback::Plain => ("vidaptive", 400.0),
                _ => ("vidaptive", 200.0),
            };
            let call = Call { feedback, scheme, ..Call::default() };
            let seen = call.run(Span::from_secs(4));
            let (report, sent) = (&seen.report, seen.metric("thalweg_frames_sent_total"));
            assert_eq!(report.feedback.as_deref(), Some(feedback.to_string().as_str()));
            assert_eq!(report.codec.as_deref(), Some("VP8"));
            // The last frames may still be in flight.
            assert!(report.frames_decoded as f64 >= 0.97 * sent - 2.0, "{feedback}: of {sent} sent: {report:?}");
            assert!((report.frames_decoded as f64) <= sent + 30.0, "{feedback}: of {sent} sent: {report:?}");
            assert!(report.frames_decoded >= 60 && report.longest_freeze_ms <= longest_ms, "{feedback}: {report:?}");
            assert!((100e3..20e6).contains(&report.wire_bitrate_bps), "{feedback}: {report:?}");
            assert!((47.0..=52.0).contains(&report.audio_rate_pps), "{feedback}: {report:?}");
            assert!((0.0..250.0).contains(&report.latency_p50_ms.expect("barcodes")), "{feedback}: {report:?}");
            assert_eq!(report.latency_from, Some("barcodes"));
            assert!(report.skew_ms.is_some_and(|skew| skew.abs() < 100.0), "{feedback}: {report:?}");
            let round_trip = seen.metric("thalweg_round_trip_seconds");
            assert!((0.0..0.3).contains(&round_trip), "{feedback}: {round_trip}");
        }
    });
}

#[test]
fn who_sends_receiver_reports_alone_sees_the_whole_frame_rate_whatever_scheme_was_asked_for() {
    alone(|| {
        for scheme in ["vidaptive", "camel", "thalweg"] {
            let seen = Call { feedback: Feedback::Plain, scheme, ..Call::default() }.run(Span::from_secs(10));
            let report = &seen.report;
            assert_eq!(seen.metric("thalweg_scheme_replaced"), 1.0, "{scheme}");
            assert!(report.frame_rate_fps >= 24.0 && report.longest_freeze_ms < 500.0, "{scheme}: {report:?}");
            assert!(report.latency_p50_ms.is_some_and(|latency| latency < 200.0), "{scheme}: {report:?}");
        }
    });
}

#[test]
fn fbra_is_told_by_extended_reports_without_being_asked_to() {
    alone(|| {
        let call = Call { scheme: "fbra:xr", feedback: Feedback::Any, ..Call::default() };
        let seen = call.run(Span::from_secs(4));
        assert_eq!(seen.report.feedback.as_deref(), Some("xr"));
        assert!(seen.report.frames_decoded > 30, "{:?}", seen.report);
        // One report per 200 ms, and each packet except the last ones is reported.
        let (reports, arrived) = (seen.metric("thalweg_reports_total"), seen.metric("thalweg_packets_arrived_total"));
        assert!((8.0..60.0).contains(&reports) && arrived > 100.0, "{reports} reports of {arrived} packets");
        assert!(seen.metric("thalweg_packets_lost_total") < 5.0);
    });
}

#[test]
fn a_sender_of_reberas_is_told_what_the_path_bears_and_the_other_measures_itself() {
    alone(|| {
        for (scheme, reported) in [("rebera", 15.0..48.0), ("rebera:sender", 0.0..0.5)] {
            let call = Call { scheme, link: Some(link(0.0, 20)), ..Call::default() };
            let seen = call.run(Span::from_secs(4));
            let reports = seen.metric("thalweg_path_reports_total");
            assert!(reported.contains(&reports), "{scheme}: {reports} path reports in 4 s and what a beginning takes");
            assert_eq!(seen.report.path_capacity_bps.is_some(), scheme == "rebera", "{:?}", seen.report);
            // A packet train that arrives all at once only shows that the path can carry it within 10 ms.
            let capacity = seen.report.path_capacity_bps.unwrap_or(1e6);
            assert!((100e3..10e6).contains(&capacity), "{:?}", seen.report);
            assert!(seen.report.frames_decoded > 20, "{scheme}: {:?}", seen.report);
        }
    });
}

#[test]
fn what_a_link_loses_is_retransmitted() {
    alone(|| {
        let call = Call { scheme: "gcc", link: Some(link(0.02, 20)), ..Call::default() };
        let seen = call.run(Span::from_secs(5));
        let report = &seen.report;
        assert!(report.packets_retransmitted > 0 && report.retransmissions_requested > 0, "{report:?}");
        assert!((0.002..0.08).contains(&report.packet_loss_ratio), "{report:?}");
        assert!(report.frames_decoded as f64 >= 0.9 * seen.metric("thalweg_frames_sent_total") - 5.0, "{report:?}");
        assert!((0.035..0.5).contains(&seen.metric("thalweg_round_trip_seconds")));
        assert!((25.0..600.0).contains(&report.latency_p50_ms.expect("barcodes")), "{report:?}");
        // The link has a delay of 20 ms in each direction, and a queue.
        assert!((39.0..600.0).contains(&report.round_trip_ms.expect("the publisher tells")), "{report:?}");
    });
}

#[test]
fn a_flow_that_a_link_marks_is_counted_alike_by_publisher_and_watcher_and_without_l4s_nothing_says_ect() {
    alone(|| {
        let marker = Marker::Ramp { from: Span::from_millis(5), to: Span::from_millis(10) };
        let queue = QueueConfig::Marking { limits: Limits::packets(1000), marker, only_ect1: false, least_packets: 0 };
        for (scheme, feedback) in [("scream+l4s", "ccfb"), ("scream", "twcc-on-request")] {
            let mut link = link(0.0, 10);
            link.up.hops[0] = HopConfig::Rate { rate: "1500kbps".parse().expect("a rate"), queue };
            let seen = Call { scheme, link: Some(link), ..Call::default() }.run(Span::from_secs(6));
            let (report, came) = (&seen.report, seen.report.packets_by_ecn);
            assert_eq!(report.feedback.as_deref(), Some(feedback));
            let of = |name: &str, ecn: &str| seen.metric_of(name, &format!("ecn=\"{ecn}\""));
            let sent = ["not_ect", "ect1", "ect0", "ce"].map(|ecn| of("thalweg_sent_ecn_total", ecn));
            let on_the_way = 150.0;
            if scheme == "scream" {
                assert!(sent[0] > 300.0 && sent[1..] == [0.0; 3], "{sent:?}");
                assert!(
                    came.not_ect > 300 && came == EcnCounts { not_ect: came.not_ect, ..EcnCounts::default() },
                    "{came:?}"
                );
                continue;
            }
            assert!(sent[1] > 300.0 && [sent[0], sent[2], sent[3]] == [0.0; 3], "{sent:?}");
            assert!((came.not_ect, came.ect0) == (0, 0) && came.ect1 > 200 && came.ce > 5, "{came:?}");
            let (ect1, ce) = (came.ect1 as f64, came.ce as f64);
            assert!((sent[1] - on_the_way..=sent[1] + on_the_way).contains(&(ect1 + ce)), "{came:?} of {sent:?}");
            let reported = ["ect1", "ce"].map(|ecn| of("thalweg_arrived_ecn_total", ecn));
            for (reported, came) in reported.into_iter().zip([ect1, ce]) {
                assert!((reported - came).abs() < on_the_way, "{reported} reported, {came} came");
            }
            // As each frame has come, and within 10 ms of anything else.
            let reports = seen.metric("thalweg_reports_total") / report.duration_s;
            assert!((40.0..=200.0).contains(&reports), "{reports} reports a second");
        }
    });
}

/// Asserts that all frames were decoded but those that may still be in flight. Their number depends on how fast an
/// encoder of a debug build is; a second's worth of three is enough to see a decoder at work.
fn assert_all_decoded(seen: &Seen, codec: &str) {
    let (report, sent) = (&seen.report, seen.metric("thalweg_frames_sent_total"));
    assert_eq!(report.codec.as_deref(), Some(codec));
    assert!(report.frames_undecodable == 0 && report.frames_decoded >= 30, "{report:?}");
    assert!(report.frames_decoded as f64 >= 0.9 * sent - 5.0, "of {sent} sent: {report:?}");
}

#[test]
fn h264_is_decoded_and_recorded_as_a_byte_stream() {
    alone(|| {
        let path = temporary("out.h264");
        let call = Call { codec: codec("h264"), scheme: "gcc", record: Some(path.clone()), ..Call::default() };
        let seen = call.run(Span::from_secs(3));
        assert_all_decoded(&seen, "H264");
        let recorded = std::fs::read(&path).expect("a recording");
        let _ = std::fs::remove_file(&path);
        assert!(recorded.starts_with(&[0, 0, 0, 1]) || recorded.starts_with(&[0, 0, 1]));
        assert!(recorded.len() > 5_000);
    });
}

#[test]
fn vp9_is_encoded_and_decoded() {
    alone(|| {
        let seen = Call { codec: codec("vp9"), scheme: "gcc", ..Call::default() }.run(Span::from_secs(3));
        assert_all_decoded(&seen, "VP9");
        assert_eq!(seen.report.latency_from, Some("barcodes"));
    });
}

/// The frames of an IVF file.
fn frames(ivf: &[u8]) -> Vec<&[u8]> {
    let (mut rest, mut frames) = (&ivf[32..], Vec::new());
    while let Some((header, after)) = rest.split_first_chunk::<12>() {
        let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
        frames.push(&after[..length]);
        rest = &after[length..];
    }
    frames
}

#[test]
fn frames_that_were_encoded_already_are_recorded_as_they_were() {
    alone(|| {
        let (source, path) = (temporary("source.ivf"), temporary("out.ivf"));
        let arguments = "-v error -f lavfi -i testsrc2=size=320x180:rate=30:duration=8 -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 30 \
                     -b:v 500k -auto-alt-ref 0 -lag-in-frames 0 -y";
        let made = std::process::Command::new("ffmpeg").args(arguments.split_whitespace()).arg(&source).status();
        assert!(made.is_ok_and(|status| status.success()), "this test needs ffmpeg with libvpx-vp9, as Debian has it");
        let call = Call {
            source: source.display().to_string(),
            codec: None,
            scheme: "gcc",
            record: Some(path.clone()),
            ..Call::default()
        };
        let report = call.run(Span::from_secs(4)).report;
        let (sent, recorded) = [&source, &path].map(|path| std::fs::read(path).expect("a file")).into();
        [&source, &path].map(std::fs::remove_file).into_iter().for_each(drop);
        let (sent, recorded) = (frames(&sent), frames(&recorded));
        assert_eq!(report.codec.as_deref(), Some("VP9"));
        assert!(recorded.len() >= 60 && recorded.len() as u64 == report.frames_whole, "{report:?}");
        // Frames that the sender skips to keep to its rate are missing; those that are there are in order, with unchanged
        // bytes.
        let mut rest = sent.iter();
        let ordered = recorded.iter().all(|frame| rest.any(|source| source == frame));
        assert!(ordered, "{report:?}");
    });
}

#[test]
fn salsifys_receiver_recovers_from_loss_without_a_keyframe() {
    alone(|| {
        let call = Call { scheme: "salsify", link: Some(link(0.01, 10)), ..Call::default() };
        let seen = call.run(Span::from_secs(5));
        let (early, report) = (&seen.early, &seen.report);
        assert!(report.packet_loss_ratio > 0.002, "{report:?}");
        assert_eq!((report.keyframes, report.keyframes_requested), (early.keyframes, 0), "{report:?}");
        assert_eq!(report.packets_retransmitted, 0, "{report:?}");
        assert!(report.frames_decoded >= 60 && report.frame_rate_fps > 10.0, "{report:?}");
    });
}

#[test]
fn a_browser_is_sent_the_form_of_salsify_that_it_follows_and_hears_why_there_is_none_of_others() {
    let clock = Clock::new();
    let (publisher, server) = Call { scheme: "salsify", ..Call::default() }.publish(clock);
    let identity = Identity::generate().expect("random numbers");
    let connection = ends::connection(Config::default(), &identity, clock.origin(), server.address());
    let local = ends::local(&connection, &identity, server.address(), 1);
    let capabilities = Capabilities { functional: false, ..Capabilities::all(Direction::ReceiveOnly) };
    let join = |scheme: Option<&str>, capabilities: &Capabilities| {
        let offer = sdp::offer(&local, capabilities).text;
        publisher.hub().join(Join { offer, scheme: scheme.map(str::to_owned), channel: None, name: None, from: None })
    };
    let played = |joined: &Joined| publisher.hub().snapshot(&joined.id).expect("it watches").scheme;
    let joined = join(None, &capabilities).expect("its form for a standard decoder");
    assert_eq!(played(&joined), "salsify:standard-decoder");
    let refused = join(Some("salsify:paper"), &capabilities).expect_err("no browser keeps states").to_string();
    assert!(refused.contains("choose salsify or thalweg"), "{refused}");
    let joined = join(Some("gcc"), &capabilities).expect("any other scheme");
    assert!(publisher.hub().switch(&joined.id, "salsify:paper").is_err());
    publisher.hub().switch(&joined.id, "thalweg").expect("its form for a standard decoder");
    assert_eq!(played(&joined), "thalweg:standard-decoder");
    let ours = join(Some("gcc"), &Capabilities { functional: true, ..capabilities }).expect("a receiver of ours");
    publisher.hub().switch(&ours.id, "salsify").expect("it keeps states");
    assert_eq!(played(&ours), "salsify");
}

#[test]
fn without_barcodes_latency_is_by_sender_reports() {
    alone(|| {
        let report = Call { barcode: false, scheme: "gcc", ..Call::default() }.run(Span::from_secs(3)).report;
        assert_eq!((report.latency_from, report.pictures_missing), (Some("sender-reports"), None), "{report:?}");
        assert!((0.0..250.0).contains(&report.latency_p50_ms.expect("reports came")), "{report:?}");
    });
}

#[test]
fn fec_restores_what_a_lossy_link_takes() {
    alone(|| {
        let call = Call { scheme: "camel", link: Some(link(0.1, 10)), ..Call::default() };
        let report = call.run(Span::from_secs(6)).report;
        assert!(report.fec_packets > 0 && report.packets_recovered > 0, "{report:?}");
        assert!(report.frames_decoded >= 60, "{report:?}");
    });
}

#[test]
fn nobody_there_is_said_plainly() {
    let place = Place::new("http://127.0.0.1:9/?token=secret", None, None, None).expect("an address");
    let watcher = Watcher::start(WatchConfig::new(place), Clock::new()).expect("a watcher");
    while watcher.is_running() {
        pause(Span::from_millis(10));
    }
    let error = watcher.finish().1.expect_err("nobody listens on port 9").to_string();
    assert!(error.contains("127.0.0.1:9/about") && !error.contains("secret"), "{error}");
}
