//! Offers and files as real peers and programs make them, which a hunt through public bug reports found.

use std::process::Command;
use std::time::{Duration, Instant};

use thalweg_data::testing::needed;

use crate::http::{ask, body, header, status};
use crate::serving::Serving;

const SDP: &str = "Content-Type: application/sdp";
const FRAGMENT: &str = "Content-Type: application/trickle-ice-sdpfrag";

pub(crate) fn the_hunts_offers_are_answered_by_viewers_and_senders_addresses_as_the_rfcs_say() {
    let folder = needed("hunt");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let publisher = Serving::start(&["publish", "--size", "160x96", "--encoder", "model"]);
    let receiver = Serving::start(&["receive", "--no-decode", "--senders", "20"]);
    // By the address of viewers and by that of senders.
    for (name, watched, sent) in [
        ("offer-savp.sdp", (201, "m=video 9 UDP/TLS/RTP/SAVP 96"), (201, "m=video 9 UDP/TLS/RTP/SAVP 96")),
        ("offer-tcp-dtls.sdp", (201, "m=video 9 TCP/DTLS/RTP/SAVPF 96"), (201, "m=video 9 TCP/DTLS/RTP/SAVPF 96")),
        ("offer-zone-candidate.sdp", (201, "m=video 9 UDP/TLS/RTP/SAVPF 96"), (201, "m=video 9 UDP/TLS/RTP/SAVPF 96")),
        ("offer-extmap-recvonly.sdp", (201, "a=extmap:6/sendonly http"), (400, "is not sendonly")),
        (
            "offer-two-videos.sdp",
            (400, "is not recvonly"),
            (400, "section 2 (video): another section of video is taken"),
        ),
        ("offer-h264-mode0-with-audio.sdp", (400, "needed is one of VP8"), (400, "H264 in packetization mode 1")),
        ("offer-h264-only-for-vp8.sdp", (400, "offers H264/90000"), (201, "m=video 9 UDP/TLS/RTP/SAVPF 102")),
    ] {
        for (server, path, (code, words)) in [(&publisher, "whep", watched), (&receiver, "whip", sent)] {
            let answer = ask(server.1, &format!("POST /{path}"), &[SDP], &read(name));
            assert!(status(&answer) == code && body(&answer).contains(words), "{name} at {path}: {answer}");
        }
    }
    let joined = ask(receiver.1, "POST /whip", &[SDP], &read("offer-savp.sdp"));
    let session = format!("PATCH {}", header(&joined, "location").unwrap());
    let restart = read("fragment-restart-without-section.txt");
    let restarted = ask(receiver.1, &session, &[FRAGMENT, "If-Match: *"], &restart);
    assert!(status(&restarted) == 200 && body(&restarted).contains("a=ice-ufrag:"), "{restarted}");
}

#[allow(clippy::disallowed_methods, reason = "files last at least as long as their pictures")]
pub(crate) fn the_hunts_files_are_sent_as_long_as_they_last_or_refused_with_the_reason() {
    let folder = needed("hunt");
    let publish = |name: &str| {
        let file = folder.join(name).display().to_string();
        let begun = Instant::now();
        let arguments = ["publish", &file, "--encoded", "--once", "--listen", "127.0.0.1:0"];
        (Command::new(env!("CARGO_BIN_EXE_thalweg")).args(arguments).output().unwrap(), begun.elapsed())
    };
    for (name, words) in [
        ("b-frames.mp4", "(B-frames): leave --encoded out"),
        ("small.h265", "of the codec hevc, sent are vp8, vp9 and h264"),
        ("no-frames.ivf", "there is no frame in it"),
        ("no-keyframe.h264", "none of its 9 frames is a key frame"),
    ] {
        let (done, _) = publish(name);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.code() == Some(1) && said.contains(words), "{name}: {said}");
    }
    // Ten pictures at 10 a second; five 100 ms apart and five 500 ms apart.
    for (name, least) in [("leading-zeros.h264", 0), ("ten-per-second.h264", 900), ("variable-rate.mkv", 2500)] {
        let (done, lasted) = publish(name);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success() && said.contains("the video has ended"), "{name}: {said}");
        assert!(lasted >= Duration::from_millis(least), "{name}: {lasted:?}");
    }
}
