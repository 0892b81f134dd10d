//! Our own publisher sends by WHIP to a relay, which our own client watches: in one process, over loopback and over an
//! emulated link.
//!
//! They share the machine with other load, so only one call runs at a time.

mod call;
use std::sync::Arc;

use crate::alone;
use crate::http::{ask, body, header, status};
use call::{Folder, Relaying, config, finish};
use thalweg_emulate::clock::{Clock, pause};
use thalweg_live::receive::ReceiveConfig;
use thalweg_live::receive::VideoCodec;
use thalweg_live::relay::{MediaRelay, MediaRelayConfig};
use thalweg_sender::Scheme;
use thalweg_units::Span;
use thalweg_video::barcode;
use thalweg_video::source::{Source, Y4mReader};

/// The numbers of the pictures in a file; `None` where one cannot be read.
fn numbers(y4m: &std::path::Path) -> Vec<Option<u64>> {
    let file = std::fs::File::open(y4m).expect("pictures");
    let mut source = Y4mReader::new(file, "pictures").expect("pictures");
    let next = || source.next_picture().expect("a picture");
    std::iter::from_fn(next).map(|picture| barcode::read(&picture)).collect()
}

/// The frames of an IVF file.
fn frames(ivf: &std::path::Path) -> Vec<Vec<u8>> {
    let ivf = std::fs::read(ivf).expect("a recording");
    let (mut rest, mut frames) = (&ivf[32..], Vec::new());
    while let Some((header, after)) = rest.split_first_chunk::<12>() {
        let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
        frames.push(after[..length].to_vec());
        rest = &after[length..];
    }
    frames
}

#[test]
fn what_comes_in_is_encoded_anew_for_a_viewer_soon_and_whole_with_its_audio() {
    alone(|| {
        let folder = Folder::new("transcoded");
        let pictures = folder.file("seen.y4m");
        let relaying = Relaying::start(config(Some("vp8"), VideoCodec::Vp8));
        let sender = relaying.send("vp8");
        let watcher = relaying.watch("main", None, Some(pictures.clone()));
        relaying.wait_for("pictures", || watcher.report().frames_decoded > 10);
        pause(Span::from_secs(6));
        let seen = finish(watcher);
        let asked = relaying.metric("thalweg_upstream_keyframe_requests_total");
        drop(sender);
        let [came] = &relaying.finish()[..] else { panic!("one sender") };
        let came = &came.received;
        let numbers = numbers(&pictures);

        // Towards the relay, and from it on.
        assert_eq!((came.latency_from, seen.latency_from), (Some("barcodes"), Some("sender-reports")));
        for (report, of) in [(came, "came"), (&seen, "seen")] {
            assert_eq!(report.frames_undecodable, 0, "{of}: {report:?}");
            assert!((15.0..=31.0).contains(&report.frame_rate_fps), "{of}: {report:?}");
            assert!((0.0..300.0).contains(&report.latency_p50_ms.expect("a latency")), "{of}: {report:?}");
            assert!((45.0..=55.0).contains(&report.audio_rate_pps) && report.audio_lost == 0, "{of}: {report:?}");
        }
        assert!(
            seen.frame_rate_fps > 0.85 * came.frame_rate_fps,
            "{} of {} fps",
            seen.frame_rate_fps,
            came.frame_rate_fps
        );
        // Sound belongs to the pictures it belonged to.
        assert!(seen.skew_ms.is_some_and(|skew| (-150.0..250.0).contains(&skew)), "{seen:?}");
        // What the viewer needs its own encoder makes.
        assert!(asked == 0.0 && came.keyframes_requested <= 1, "{asked} asked for: {came:?}");
        // Where a picture is missing the file has the one before it twice.
        let mut read: Vec<u64> = numbers.iter().copied().flatten().collect();
        assert!(read.len() as f64 > 0.95 * numbers.len() as f64, "{} of {} read", read.len(), numbers.len());
        read.dedup();
        assert!(read.len() > 90 && read.windows(2).all(|pair| pair[0] < pair[1]), "{read:?}");
    });
}

#[test]
fn frames_are_passed_through_as_they_are_and_a_viewer_on_a_bad_path_costs_others_few_keyframes() {
    alone(|| {
        let folder = Folder::new("passed");
        let relaying = Relaying::recording(config(None, VideoCodec::Vp8), &folder.0);
        let sender = relaying.send("vp8");
        // Who comes later begins with a keyframe that is made for him.
        relaying.wait_for("frames", || relaying.sender().is_some_and(|sender| sender.received.frames_whole > 30));
        let main = relaying.watch("main", Some(folder.file("main.ivf")), None);
        relaying.wait_for("the first viewer", || main.report().frames_decoded > 10);
        let before = relaying.sender().expect("a sender").received;
        assert!((2..=3).contains(&before.keyframes), "one at the beginning, one for the first viewer: {before:?}");
        let slow = relaying.watch("slow", Some(folder.file("slow.ivf")), None);
        relaying.wait_for("the second viewer", || slow.report().frames_decoded > 0);
        let span = 10.0;
        pause(Span::from_secs(10));
        let asked = relaying.metric("thalweg_upstream_keyframe_requests_total");
        let (main, slow) = (finish(main), finish(slow));
        drop(sender);
        let [came] = &relaying.finish()[..] else { panic!("one sender") };
        let (name, came) = (&came.name, &came.received);

        assert!((0.0..200.0).contains(&came.latency_p50_ms.expect("reports")), "{came:?}");
        assert!(main.latency_p50_ms.is_some_and(|latency| (0.0..100.0).contains(&latency)), "{main:?}");
        assert!(main.frame_rate_fps > 0.9 * came.frame_rate_fps && came.frame_rate_fps > 15.0, "{came:?} {main:?}");
        assert!((45.0..=55.0).contains(&main.audio_rate_pps) && main.audio_lost == 0, "{main:?}");
        // The one that was made for him, and then at most three in nine seconds for the other, a few in a row.
        let most = 1.0 + 3.0 * (span / 9.0_f64).ceil() + 3.0;
        assert!((1.0..=most).contains(&asked), "{asked} asked for");
        assert!(came.keyframes_requested as f64 <= asked + 2.0, "{asked} asked for: {came:?}");
        assert!(slow.frames_decoded >= 5 && slow.wire_bitrate_bps < 220e3, "{slow:?}");
        assert!(slow.frames_decoded < main.frames_decoded, "{slow:?} {main:?}");
        let sent = frames(&folder.file(&format!("{name}.ivf")));
        for (report, file) in [(&main, "main.ivf"), (&slow, "slow.ivf")] {
            assert_eq!(report.frames_undecodable, 0, "{file}: {report:?}");
            let seen = frames(&folder.file(file));
            // Those that are there are in order, with unchanged bytes.
            let mut rest = sent.iter();
            assert!(seen.iter().all(|frame| rest.any(|sent| sent == frame)), "{file}: {report:?}");
            assert_eq!(seen.len() as u64, report.frames_whole, "{file}");
        }
    });
}

#[test]
fn viewers_stay_when_a_sender_leaves_and_see_the_next_and_there_is_one_seat() {
    alone(|| {
        for codec in [Some("vp8"), None] {
            let relaying = Relaying::start(config(codec, VideoCodec::Vp8));
            let watcher = relaying.watch("main", None, None);
            relaying.wait_for("the viewer", || watcher.report().sessions == 1);
            let first = relaying.send("vp8");
            relaying.wait_for("pictures", || watcher.report().frames_decoded > 20);
            let (second, publisher) = relaying.send("vp8");
            relaying.wait_for("the refusal", || {
                second.error().is_some_and(|why| why.to_string().contains("1 senders are here"))
            });
            drop((first, second, publisher));
            relaying.wait_for("the goodbye", || relaying.sender().is_none());
            let before = watcher.report();
            let third = relaying.send("vp8");
            relaying.wait_for("more pictures", || watcher.report().frames_decoded > before.frames_decoded + 20);
            let seen = finish(watcher);
            drop(third);
            let left = relaying.finish();
            assert_eq!((seen.sessions, seen.frames_undecodable, left.len()), (1, 0, 2), "{codec:?}: {seen:?}");
            assert!(seen.audio_packets > before.audio_packets, "{codec:?}: {seen:?}");
        }
    });
}

#[test]
fn viewers_of_a_relay_without_a_sender_are_sent_no_padding_and_told_why_nothing_comes() {
    alone(|| {
        let mut config = config(Some("vp8"), VideoCodec::Vp8);
        config.publish.channels[0].scheme = Arc::new("vidaptive".parse::<Scheme>().expect("a scheme"));
        let relaying = Relaying::start(config);
        assert_eq!(relaying.metric("thalweg_source_silent"), 1.0, "before the first sender");
        let sender = relaying.send("vp8");
        let watcher = relaying.watch("main", None, None);
        relaying.wait_for("pictures", || watcher.report().frames_decoded > 20);
        assert_eq!(relaying.metric("thalweg_source_silent"), 0.0);
        drop(sender);
        relaying.wait_for("silence", || relaying.metric("thalweg_source_silent") == 1.0);
        // Viewers are looked after once a second.
        pause(Span::from_secs(2));
        let padding = || {
            relaying.metric(
                "thalweg_sent_bytes_total{viewer=\"0\",channel=\"main\",scheme=\"vidaptive\",payload=\"padding\"}",
            )
        };
        let before = padding();
        pause(Span::from_secs(2));
        assert!(before > 0.0 && padding() == before, "{before} and then {}", padding());
        let third = relaying.send("vp8");
        let shown = watcher.report().frames_decoded;
        relaying.wait_for("more pictures", || watcher.report().frames_decoded > shown + 20);
        assert_eq!(relaying.metric("thalweg_source_silent"), 0.0);
        drop((third, watcher));
    });
}

#[test]
fn every_codec_that_viewers_agree_on_is_passed_through() {
    alone(|| {
        let mut codecs = vec![("vp9", VideoCodec::Vp9)];
        if cfg!(feature = "openh264") {
            codecs.push(("h264", VideoCodec::H264));
        }
        for (name, codec) in codecs {
            let relaying = Relaying::start(config(None, codec));
            let sender = relaying.send(name);
            let watcher = relaying.watch("main", None, None);
            relaying.wait_for(name, || watcher.report().frames_decoded > 40);
            let seen = finish(watcher);
            drop((sender, relaying));
            assert_eq!((seen.codec.as_deref(), seen.frames_undecodable), (Some(codec.name()), 0), "{seen:?}");
            assert!(seen.keyframes <= 3, "{seen:?}");
        }
    });
}

#[test]
fn a_relay_sends_to_a_server_by_whip_such_as_another_relay() {
    alone(|| {
        let [first, second] = [Some("vp8"), None].map(|codec| Relaying::start(config(codec, VideoCodec::Vp8)));
        let onward = first.relay.publisher().whip_session(second.endpoint()).expect("a session");
        let sender = first.send("vp8");
        let watcher = second.watch("main", None, None);
        second.wait_for("pictures", || watcher.report().frames_decoded > 60);
        let seen = finish(watcher);
        drop((sender, onward));
        let left = [first.finish(), second.finish()].map(|left| left.len());
        assert_eq!((seen.frames_undecodable, left), (0, [1, 1]), "{seen:?}");
        assert!(seen.frame_rate_fps > 12.0 && (45.0..=55.0).contains(&seen.audio_rate_pps), "{seen:?}");
    });
}

#[test]
fn each_side_has_its_page_its_figures_and_its_endpoint() {
    let relaying = Relaying::start(config(Some("vp8"), VideoCodec::Vp8));
    let address = relaying.server.address();
    let get = |path: &str| ask(address, &format!("GET {path}"), &[], "");
    let moved = get("/send");
    assert_eq!((status(&moved), header(&moved, "location")), (308, Some("send/")));
    for (path, names) in [
        ("/", "page.js"),
        ("/send/", "send.js"),
        ("/send/camera.js", "getUserMedia"),
        ("/about", "schemes"),
        ("/send/about", "VP8"),
        ("/metrics", "thalweg_viewers 0"),
        ("/send/metrics", "thalweg_senders 0"),
        ("/health", "It works"),
        ("/send/clock", "now_ms"),
    ] {
        let answer = get(path);
        assert!(status(&answer) == 200 && body(&answer).contains(names), "{path}: {answer}");
    }
    // One line for each metric, as Prometheus wants it.
    assert!(get("/metrics").contains("thalweg_upstream_keyframe_requests_total 0"));
    let sdp = "Content-Type: application/sdp";
    for path in ["/whep", "/send/whip"] {
        assert_eq!(status(&ask(address, &format!("POST {path}"), &[sdp], "hello")), 400, "{path}");
        assert_eq!(status(&ask(address, &format!("DELETE {path}/nobody"), &[], "")), 404, "{path}");
    }
    assert_eq!([get("/whip"), get("/senders/x"), get("/nothing")].map(|answer| status(&answer)), [404; 3]);
    // A page of another site may not.
    assert_eq!(status(&ask(address, "GET /send/about", &["Origin: http://evil.example"], "")), 403);
}

#[test]
fn several_codecs_cannot_be_passed_through() {
    let MediaRelayConfig { publish, receive } = config(None, VideoCodec::Vp8);
    let receive = ReceiveConfig { codecs: vec![VideoCodec::Vp8, VideoCodec::Vp9], ..receive };
    let started = MediaRelay::start(MediaRelayConfig { publish, receive }, Clock::new(), &mut |_| Err(String::new()));
    let error = started.err().expect("no relay").to_string();
    assert!(error.contains("2 codecs") && error.contains("must be one"), "{error}");
}
