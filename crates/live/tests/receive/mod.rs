//! `publish --whip` sends to `receive` in one process, over loopback and over emulated links; and what is refused.
//!
//! They share the machine with other load, so only one call runs at a time.

mod call;
use std::net::SocketAddr;

use crate::http::{self, ask, body, header, status};
use crate::{alone, ends};
use call::{Call, Receiving, link};
use thalweg_emulate::clock::{Clock, pause};
use thalweg_live::measure::Feedback;
use thalweg_live::receive::{Observe, ReceiveConfig, VideoCodec};
use thalweg_transport::sdp::{self, Capabilities, Direction};
use thalweg_transport::{Config, Identity};
use thalweg_units::Span;

const SDP: &str = "Content-Type: application/sdp";
const FRAGMENT: &str = "Content-Type: application/trickle-ice-sdpfrag";

fn config() -> ReceiveConfig {
    ReceiveConfig::new(SocketAddr::from(([127, 0, 0, 1], 0)))
}

/// An offer in this direction.
fn offer(direction: Direction, number: u32) -> String {
    let clock = Clock::new();
    let address: SocketAddr = ([127, 0, 0, 1], 9).into();
    let identity = Identity::generate().expect("random numbers");
    let connection = ends::connection(Config::default(), &identity, clock.origin(), address);
    let local = ends::local(&connection, &identity, address, number);
    sdp::offer(&local, &Capabilities::all(direction)).text
}

/// Call without the cost of an encoder and a decoder.
const MODEL: Call = Call { codec: "model", scheme: "gcc" };

#[test]
fn everything_that_is_sent_is_received_decoded_and_measured() {
    alone(|| {
        let record = std::env::temp_dir().join(format!("thalweg-receive-{}", std::process::id()));
        std::fs::create_dir_all(&record).expect("a folder");
        let observe = Observe { each_packet: true, data: true, record: Some(record.clone()) };
        let receiving = Receiving::start(ReceiveConfig { observe, ..config() }, None);
        let counted = Call::default().run(&receiving, Span::from_secs(5));
        let metrics = &counted.metrics;
        assert!(metrics.contains("\nthalweg_senders 1\n"), "{metrics}");
        assert!(metrics.contains("thalweg_connected{sender=\"sender-1\"} 1\n"), "{metrics}");
        let [observed] = &receiving.finish()[..] else { panic!("one sender") };
        let (report, seen) = (&observed.report, &observed.report.received);
        assert_eq!((report.name.as_str(), report.state, seen.codec.as_deref()), ("sender-1", "closed", Some("VP8")));
        assert!(seen.resolution.as_ref().is_some_and(|size| size.contains('x')), "{report:?}");
        // How many pictures are encoded is up to this machine; all that are sent are shown.
        let sent = counted.sent("thalweg_frames_sent_total");
        assert!(sent > 20.0 && seen.frames_decoded as f64 >= 0.95 * sent - 3.0, "of {sent}: {report:?}");
        assert!(seen.frames_decoded as f64 <= sent + 10.0 && seen.frames_undecodable == 0, "of {sent}: {report:?}");
        let fps = sent / seen.duration_s;
        assert!((0.8 * fps..1.3 * fps).contains(&seen.frame_rate_fps), "{fps} a second were sent: {report:?}");
        let bytes = counted.sent("thalweg_sent_bytes_total");
        let received = seen.wire_bitrate_bps * seen.duration_s / 8.0;
        assert!((0.9 * bytes..1.3 * bytes).contains(&received), "{received} of {bytes} bytes: {report:?}");
        assert!((40.0..=60.0).contains(&seen.audio_rate_pps), "{report:?}");
        assert!(seen.longest_freeze_ms > 20.0 && (0.0..=1.0).contains(&seen.stall_ratio), "{report:?}");
        // Numbers and times are known by the sender's reports, which begin after some frames.
        assert_eq!(seen.latency_from, Some("barcodes"));
        assert!((0.0..1000.0).contains(&seen.latency_p50_ms.expect("barcodes")), "{report:?}");
        let all = 30.0 * seen.duration_s;
        let missing = seen.pictures_missing.expect("barcodes") as f64;
        assert!((missing + sent - all).abs() < 0.2 * all, "{missing} missing and {sent} sent of {all}: {report:?}");
        assert!((report.utilization, report.capacity_bps) == (None, None), "no link was given: {report:?}");
        // Each frame and each packet was kept.
        let packets = counted.sent("thalweg_sent_packets_total");
        assert!(observed.frames.len() as u64 == seen.frames_whole && observed.packets.len() as f64 > 0.9 * packets);
        let numbered = observed.frames.iter().filter(|frame| frame.number.is_some()).count();
        assert!(numbered as f64 > 0.9 * seen.frames_decoded as f64, "{numbered} of {}", seen.frames_decoded);
        let recorded = std::fs::metadata(record.join("sender-1.ivf")).expect("a recording").len();
        std::fs::remove_dir_all(&record).expect("its folder");
        let data: usize = observed.frames.iter().map(|frame| frame.data.len()).sum();
        assert_eq!(recorded, 32 + (data + 12 * observed.frames.len()) as u64);
    });
}

#[test]
fn a_recording_on_a_full_disk_ends_and_the_session_goes_on_and_says_so() {
    alone(|| {
        let folder = std::env::temp_dir().join(format!("thalweg-receive-full-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::os::unix::fs::symlink("/dev/full", folder.join("sender-1.ivf")).expect("a link");
        let observe = Observe { record: Some(folder.clone()), ..Observe::default() };
        let receiving = Receiving::start(ReceiveConfig { observe, decode: false, ..config() }, None);
        MODEL.run(&receiving, Span::from_secs(3));
        let [observed] = &receiving.finish()[..] else { panic!("one sender") };
        std::fs::remove_dir_all(&folder).expect("its folder");
        let failure = observed.failure.as_ref().expect("it was not recorded").to_string();
        assert!(failure.contains("sender-1.ivf") && failure.contains("No space left"), "{failure}");
        assert!(observed.report.received.frames_whole > 20, "{:?}", observed.report);
    });
}

#[test]
fn a_sender_over_a_link_that_drops_is_measured_against_what_it_carries() {
    alone(|| {
        let config = ReceiveConfig { link: Some(link("2Mbps/500kbps@6s", 20)), decode: false, ..config() };
        let receiving = Receiving::start(config, None);
        MODEL.run_with(&receiving, Span::from_secs(11), |receiver, _| {
            let [report] = &receiver.senders()[..] else { panic!("one sender") };
            assert_eq!(report.capacity_bps, Some(500e3), "{report:?}");
            // The sender follows, and what stands in the queue comes with the link's own rate.
            assert!((50e3..650e3).contains(&report.wire_bps), "{report:?}");
        });
        let [observed] = &receiving.finish()[..] else { panic!("one sender") };
        let (report, seen) = (&observed.report, &observed.report.received);
        let mean = report.capacity_mean_bps.expect("a link");
        assert!((1.0e6..1.6e6).contains(&mean), "{report:?}");
        let share = seen.wire_bitrate_bps / mean;
        assert!((0.1..=1.02).contains(&share) && report.utilization == Some(share), "{share}: {report:?}");
        assert!(seen.frames_whole > 60 && seen.latency_from == Some("sender-reports"), "{report:?}");
        assert!((20.0..3000.0).contains(&seen.latency_p50_ms.expect("reports came")), "{report:?}");
        let link = report.link.as_ref().expect("a link");
        let count = |name: &str| link["up"][name].as_f64().expect("a count");
        assert!(count("packets") > 200.0 && count("delivered") <= count("packets"), "{link}");
        // What left the link came here: media, its handshake and its checks.
        let (left, came) = (count("delivered_bytes"), seen.wire_bitrate_bps * seen.duration_s / 8.0);
        assert!((0.85 * left..=1.01 * left).contains(&came), "{came} of {left}: {report:?}");
    });
}

#[test]
fn two_senders_have_a_link_each_and_are_measured_apart() {
    alone(|| {
        let config = ReceiveConfig { link: Some(link("300kbps", 10)), max_senders: 2, decode: false, ..config() };
        let receiving = Receiving::start(config, None);
        MODEL.run_with(&receiving, Span::from_secs(4), |_, address| {
            let second = MODEL.send(&receiving.endpoint("?name=second", None));
            receiving.wait_for(2);
            pause(Span::from_secs(4));
            let third = ask(address, "POST /whip", &[SDP], &offer(Direction::SendOnly, 3));
            assert_eq!((status(&third), header(&third, "retry-after")), (503, Some("2")), "{third}");
            drop(second);
        });
        let left = receiving.finish();
        let mut names: Vec<&str> = left.iter().map(|observed| observed.report.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["second-2", "sender-1"]);
        for observed in &left {
            // Over one link together each would have half.
            let report = &observed.report;
            assert!(report.received.frames_whole > 20 && report.utilization > Some(0.5), "{report:?}");
        }
    });
}

#[test]
fn feedback_and_audio_are_those_that_were_asked_for() {
    alone(|| {
        let cases = [(Feedback::Any, "twcc-on-request"), (Feedback::PerStream, "ccfb"), (Feedback::Plain, "plain")];
        for (feedback, agreed) in cases {
            let receiving = Receiving::start(ReceiveConfig { feedback, audio: false, decode: false, ..config() }, None);
            MODEL.run(&receiving, Span::from_secs(2));
            let [observed] = &receiving.finish()[..] else { panic!("one sender") };
            let seen = &observed.report.received;
            assert_eq!(seen.feedback.as_deref(), Some(agreed));
            assert!(seen.frames_whole > 20 && seen.audio_packets == 0, "{agreed}: {seen:?}");
        }
    });
}

#[cfg(feature = "openh264")]
#[test]
fn h264_is_received_where_the_sender_has_nothing_else() {
    alone(|| {
        let receiving = Receiving::start(config(), None);
        let counted = Call { scheme: "gcc", codec: "h264" }.run(&receiving, Span::from_secs(4));
        let [observed] = &receiving.finish()[..] else { panic!("one sender") };
        let (seen, sent) = (&observed.report.received, counted.sent("thalweg_frames_sent_total"));
        assert_eq!(seen.codec.as_deref(), Some("H264"));
        assert!(seen.frames_decoded as f64 >= 0.9 * sent - 5.0 && seen.frames_undecodable == 0, "of {sent}: {seen:?}");
        assert!(seen.frames_decoded > 0, "of {sent}: {seen:?}");
    });
}

#[test]
fn the_senders_first_codec_among_those_accepted_is_used() {
    let receiving = Receiving::start(config(), None);
    let address = receiving.address();
    let text = offer(Direction::SendOnly, 1);
    let answer = ask(address, "POST /whip", &[SDP], &text);
    assert_eq!(status(&answer), 201, "{answer}");
    assert!(body(&answer).contains("VP8/90000") && body(&answer).contains("a=recvonly"), "{answer}");
    drop(receiving);
    let only = Receiving::start(ReceiveConfig { codecs: vec![VideoCodec::Vp9], decode: false, ..config() }, None);
    let answer = ask(only.address(), "POST /whip", &[SDP], &text);
    assert!(body(&answer).contains("VP9/90000") && !body(&answer).contains("VP8/90000"), "{answer}");
}

#[test]
fn a_session_is_made_changed_and_ended_as_rfc_9725_says() {
    let receiving = Receiving::start(config(), Some("0123456789abcdef"));
    let address = receiving.address();
    let bearer = "Authorization: Bearer 0123456789abcdef";
    let text = offer(Direction::SendOnly, 1);
    let created = ask(address, "POST /whip", &[SDP, bearer], &text);
    assert_eq!((status(&created), header(&created, "etag")), (201, Some("\"ice-0\"")), "{created}");
    assert_eq!(header(&created, "content-type"), Some("application/sdp"));
    // Lite, so that those can send too who answer no checks, as ffmpeg.
    for line in ["a=recvonly", "a=candidate:", "a=ice-lite"] {
        assert!(body(&created).contains(line), "{line}: {created}");
    }
    let resource = header(&created, "location").expect("a location").to_owned();
    assert!(resource.starts_with("/whip/"), "{resource}");
    // A client asks what may be posted, and about nothing else.
    let options = ask(address, "OPTIONS /whip", &[], "");
    assert_eq!((status(&options), header(&options, "accept-post")), (204, Some("application/sdp")), "{options}");
    for method in ["GET", "HEAD", "PUT"] {
        assert_eq!(status(&ask(address, &format!("{method} /whip"), &[bearer], "")), 405, "{method}");
        assert_eq!(status(&ask(address, &format!("{method} {resource}"), &[bearer], "")), 405, "{method}");
    }
    assert_eq!(status(&ask(address, &format!("POST {resource}"), &[SDP, bearer], &text)), 405);
    let line = |start: &str| text.lines().find(|line| line.starts_with(start)).expect("a line").to_owned();
    let same = [line("a=ice-ufrag:"), line("a=ice-pwd:"), line("m="), line("a=mid:"), String::new()].join("\r\n");
    let patch = |headers: &[&str], fragment: &str| ask(address, &format!("PATCH {resource}"), headers, fragment);
    assert_eq!(status(&patch(&[FRAGMENT, "If-Match: \"other\""], &same)), 412);
    assert_eq!(status(&patch(&[SDP, "If-Match: \"ice-0\""], &same)), 415);
    assert_eq!(status(&patch(&[FRAGMENT, "If-Match: \"ice-0\""], "nonsense")), 400);
    assert_eq!(status(&patch(&[FRAGMENT, "If-Match: \"ice-0\""], &same)), 204);
    let other = same.replacen("a=ice-ufrag:", "a=ice-ufrag:x", 1).replacen("a=ice-pwd:", "a=ice-pwd:x", 1);
    // Without a tag the credentials say which session it is for.
    assert_eq!(status(&patch(&[FRAGMENT], &same)), 204);
    assert_eq!(status(&patch(&[FRAGMENT], &other)), 428);
    // A restart that cannot be leaves the session as it was (section 4.3.3).
    let short = other.replacen("a=ice-ufrag:", "a=ice-ufrag:x\r\na=x:", 1);
    assert_eq!(status(&patch(&[FRAGMENT, "If-Match: *"], &short)), 400);
    assert_eq!(status(&patch(&[FRAGMENT, "If-Match: \"ice-0\""], &same)), 204);
    let restarted = patch(&[FRAGMENT, "If-Match: *"], &other);
    assert_eq!((status(&restarted), header(&restarted, "etag")), (200, Some("\"ice-1\"")), "{restarted}");
    assert!(body(&restarted).contains("a=ice-lite"), "{restarted}");
    assert_eq!(status(&ask(address, &format!("DELETE {resource}"), &[], "")), 200);
    for method in ["DELETE", "PATCH"] {
        let again = ask(address, &format!("{method} {resource}"), &[FRAGMENT, "If-Match: *"], &other);
        assert_eq!(status(&again), 404, "{method}: {again}");
    }
}

#[test]
fn what_is_wrong_is_refused_with_a_sentence_and_starts_nothing() {
    let receiving =
        Receiving::start(ReceiveConfig { link: Some(link("1Mbps", 0)), ..config() }, Some("0123456789abcdef"));
    let address = receiving.address();
    let (good, bad) = ("Authorization: Bearer 0123456789abcdef", "Authorization: Bearer 0123456789abcdeX");
    let text = offer(Direction::SendOnly, 1);
    let post = |headers: &[&str], body: &str| ask(address, "POST /whip", headers, body);
    for headers in [&[SDP][..], &[SDP, bad]] {
        let answer = post(headers, &text);
        assert_eq!(status(&answer), 401, "{answer}");
        assert!(header(&answer, "www-authenticate").is_some_and(|value| value.starts_with("Bearer")), "{answer}");
    }
    let without_video = text.replace("VP8/90000", "X/1").replace("VP9/90000", "X/1").replace("H264/90000", "X/1");
    let refused = [
        (400, SDP, "v=0 nonsense".to_owned()),
        (400, SDP, String::new()),
        (400, SDP, offer(Direction::ReceiveOnly, 1)),
        (415, "Content-Type: text/plain", text.clone()),
        (413, SDP, format!("v=0\r\n{}", "a=x\r\n".repeat(20_000))),
        (400, SDP, text.replace("a=fingerprint:sha-256", "a=fingerprint:sha-1")),
    ];
    for (wanted, kind, body) in refused {
        let answer = post(&[kind, good], &body);
        assert_eq!(status(&answer), wanted, "{answer}");
        assert!(http::body(&answer).len() > 20, "a sentence: {answer}");
    }
    // Nothing is taken in part (sections 4.4.2 and 4.4.3): neither audio whose video cannot be, nor one video of two.
    let second = "m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:9\r\na=sendonly\r\na=rtcp-mux\r\na=rtpmap:96 VP8/90000\r\n";
    let h265 = text.replace("VP8/90000", "H265/90000").replace("VP9/90000", "X/1").replace("H264/90000", "X/1");
    for (body, why) in [
        (without_video, "section 0 (video): offers X/1"),
        (h265, "section 0 (video): offers H265/90000"),
        (format!("{text}{second}"), "section 2 (video): another section of video is taken"),
    ] {
        let answer = post(&[SDP, good], &body);
        assert!(status(&answer) == 400 && answer.contains(why), "{why}: {answer}");
    }
    let data = format!("{text}m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:9\r\n");
    assert_eq!(status(&post(&[SDP, good], &data)), 201, "data is no media");
    assert_eq!(status(&ask(address, "POST /whip/left", &[SDP, good], &text)), 404);
    assert_eq!(status(&ask(address, "GET /senders/nobody", &[good], "")), 404);
    assert_eq!(status(&ask(address, "GET /about", &[], "")), 401);
    let metrics = receiving.metrics();
    assert!(metrics.contains("\nthalweg_senders 1\n"), "{metrics}");
    assert_eq!(receiving.finish().len(), 0, "none of them connected");
}

#[test]
fn who_does_not_connect_keeps_half_of_the_places_free_for_others() {
    let receiving = Receiving::start(ReceiveConfig { max_senders: 4, ..config() }, None);
    let statuses: Vec<u16> = (1..=4)
        .map(|number| status(&ask(receiving.address(), "POST /whip", &[SDP], &offer(Direction::SendOnly, number))))
        .collect();
    assert_eq!(statuses, [201, 201, 503, 503]);
}

#[test]
fn the_page_and_what_it_says_of_itself_are_served() {
    let config = ReceiveConfig { link_text: Some("2Mbps".into()), link: Some(link("2Mbps", 5)), ..config() };
    let receiving = Receiving::start(config, None);
    let page = ask(receiving.address(), "GET /", &[], "");
    assert!(status(&page) == 200 && page.contains("send.js"), "{page}");
    for script in ["/send.js", "/whip.js", "/whep.js", "/style.css"] {
        assert_eq!(status(&ask(receiving.address(), &format!("GET {script}"), &[], "")), 200, "{script}");
    }
    let about = ask(receiving.address(), "GET /about", &[], "");
    assert!(body(&about).contains("\"link\":\"2Mbps\"") && body(&about).contains("VP8"), "{about}");
    assert_eq!(status(&ask(receiving.address(), "GET /health", &[], "")), 200);
    let elsewhere = ask(receiving.address(), "POST /whip", &[SDP, "Origin: http://evil.example"], "v=0");
    assert_eq!(status(&elsewhere), 403, "{elsewhere}");
}
