//! `publish` and `watch` in one process, over loopback and over emulated links.
//!
//! They share the machine with whatever else runs, so only one conversation goes on at a time.

mod call;

use std::path::PathBuf;

use call::{Call, link, one_at_a_time};
use thalweg_codecs::Codec;
use thalweg_live::watch::Feedback;
use thalweg_units::Span;

fn codec(name: &str) -> Option<Codec> {
    Some(name.parse().expect("a codec of this build"))
}

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("thalweg-watch-{}-{name}", std::process::id()))
}

#[test]
fn everything_that_is_sent_is_seen_whatever_kind_of_feedback_was_agreed_on() {
    let _alone = one_at_a_time();
    for feedback in [Feedback::Transport, Feedback::TransportOnRequest, Feedback::PerStream, Feedback::Plain] {
        let call = Call { feedback, ..Call::default() };
        let seen = call.run(Span::from_secs(4));
        let (report, sent) = (&seen.report, seen.metric("thalweg_frames_sent_total"));
        assert_eq!(report.feedback.as_deref(), Some(feedback.to_string().as_str()));
        assert_eq!(report.codec.as_deref(), Some("VP8"));
        // What was sent last may be on its way.
        assert!(report.frames_decoded as f64 >= 0.97 * sent - 2.0, "{feedback}: of {sent} sent: {report:?}");
        assert!((report.frames_decoded as f64) <= sent + 30.0, "{feedback}: of {sent} sent: {report:?}");
        assert!(report.frames_decoded >= 60 && report.freezes == 0, "{feedback}: {report:?}");
        assert!((100e3..20e6).contains(&report.wire_bitrate_bps), "{feedback}: {report:?}");
        assert!((47.0..=52.0).contains(&report.audio_rate_pps), "{feedback}: {report:?}");
        assert!((0.0..250.0).contains(&report.latency_p50_ms.expect("barcodes")), "{feedback}: {report:?}");
        assert_eq!(report.latency_from, Some("barcodes"));
        assert!(report.skew_ms.is_some_and(|skew| skew.abs() < 100.0), "{feedback}: {report:?}");
        let round_trip = seen.metric("thalweg_round_trip_seconds");
        assert!((0.0..0.3).contains(&round_trip), "{feedback}: {round_trip}");
    }
}

#[test]
fn what_a_link_loses_is_repeated() {
    let _alone = one_at_a_time();
    let call = Call { scheme: "gcc", link: Some(link(0.02, 20)), ..Call::default() };
    let seen = call.run(Span::from_secs(5));
    let report = &seen.report;
    assert!(report.packets_repeated > 0 && report.repeats_asked_for > 0, "{report:?}");
    assert!((0.002..0.08).contains(&report.packet_loss_ratio), "{report:?}");
    assert!(report.frames_decoded as f64 >= 0.9 * seen.metric("thalweg_frames_sent_total") - 5.0, "{report:?}");
    assert!((0.035..0.5).contains(&seen.metric("thalweg_round_trip_seconds")));
    assert!((25.0..600.0).contains(&report.latency_p50_ms.expect("barcodes")), "{report:?}");
}

#[test]
fn h264_is_decoded_and_recorded_as_a_byte_stream() {
    let _alone = one_at_a_time();
    let path = temporary("out.h264");
    let call = Call { codec: codec("h264"), scheme: "gcc", record: Some(path.clone()), ..Call::default() };
    let report = call.run(Span::from_secs(3)).report;
    assert_eq!(report.codec.as_deref(), Some("H264"));
    assert!(report.frames_decoded >= 45 && report.frames_undecodable == 0, "{report:?}");
    let recorded = std::fs::read(&path).expect("a recording");
    let _ = std::fs::remove_file(&path);
    assert!(recorded.starts_with(&[0, 0, 0, 1]) || recorded.starts_with(&[0, 0, 1]));
    assert!(recorded.len() > 5_000);
}

#[test]
fn salsifys_receiver_recovers_from_loss_without_a_keyframe() {
    let _alone = one_at_a_time();
    let call = Call { scheme: "salsify", link: Some(link(0.01, 10)), ..Call::default() };
    let seen = call.run(Span::from_secs(5));
    let report = &seen.report;
    assert!(report.packet_loss_ratio > 0.0, "{report:?}");
    assert_eq!((report.keyframes, report.keyframes_asked_for, report.packets_repeated), (1, 0, 0), "{report:?}");
    assert!(report.frames_decoded >= 60 && report.frame_rate_fps > 10.0, "{report:?}");
}

#[test]
fn parity_restores_what_a_lossy_link_takes() {
    let _alone = one_at_a_time();
    let call = Call { scheme: "camel", link: Some(link(0.03, 10)), ..Call::default() };
    let report = call.run(Span::from_secs(6)).report;
    assert!(report.parity_packets > 0 && report.packets_recovered > 0, "{report:?}");
    assert!(report.frames_decoded >= 60, "{report:?}");
}

#[test]
fn nobody_there_is_said_plainly() {
    let place =
        thalweg_live::watch::Place::new("http://127.0.0.1:9/?token=secret", None, None, None).expect("an address");
    let watcher = thalweg_live::watch::Watcher::start(
        thalweg_live::watch::WatchConfig::new(place),
        thalweg_live::clock::Clock::new(),
    )
    .expect("a watcher");
    while watcher.is_running() {
        thalweg_live::clock::pause(Span::from_millis(10));
    }
    let error = watcher.finish().expect_err("nobody listens on port 9").to_string();
    assert!(error.contains("127.0.0.1:9/about") && !error.contains("secret"), "{error}");
}
