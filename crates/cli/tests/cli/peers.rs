//! Offers and files as real peers and programs make them, which a hunt through public bug reports found (`hunt` beside the data sets);
//! and results that cannot be written while peers go on.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::http::{ask, body, header, status};
use crate::{Folder, text, thalweg};

/// A program that serves, ended when dropped.
struct Serving(Option<Child>, SocketAddr);

impl Serving {
    fn start(arguments: &[&str]) -> Serving {
        let mut child = Command::new(env!("CARGO_BIN_EXE_thalweg"))
            .args(arguments)
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
        let address = first.split_once("http://").and_then(|(_, rest)| rest.split('/').next()?.parse().ok());
        Serving(Some(child), address.unwrap_or_else(|| panic!("{first}")))
    }

    fn interrupted(mut self) -> Output {
        let child = self.0.take().unwrap();
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        child.wait_with_output().unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The folder of the hunt's inputs; `None` where it is not and need not be.
fn hunted() -> Option<PathBuf> {
    let folder = thalweg_data::testing::place().root().join("hunt");
    let is_here = folder.is_dir();
    assert!(is_here || !thalweg_data::testing::required(), "{} is not there", folder.display());
    if !is_here {
        println!("skipped: needs {}", folder.display());
    }
    is_here.then_some(folder)
}

const SDP: &str = "Content-Type: application/sdp";
const FRAGMENT: &str = "Content-Type: application/trickle-ice-sdpfrag";

#[test]
fn the_hunts_offers_are_answered_by_viewers_and_senders_addresses_as_the_rfcs_say() {
    let Some(folder) = hunted() else { return };
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

#[test]
#[allow(clippy::disallowed_methods, reason = "files last at least as long as their pictures")]
fn the_hunts_files_are_sent_as_long_as_they_last_or_refused_with_the_reason() {
    let Some(folder) = hunted() else { return };
    let publish = |name: &str| {
        let file = folder.join(name).display().to_string();
        let begun = Instant::now();
        (thalweg(&["publish", &file, "--encoded", "--once", "--listen", "127.0.0.1:0"]), begun.elapsed())
    };
    for (name, words) in [
        ("b-frames.mp4", "(B-frames): leave --encoded out"),
        ("small.h265", "of the codec hevc, sent are vp8, vp9 and h264"),
        ("no-frames.ivf", "there is no frame in it"),
        ("no-keyframe.h264", "none of its 9 frames is a key frame"),
    ] {
        let (done, _) = publish(name);
        let said = text(&done.stderr);
        assert!(done.status.code() == Some(1) && said.contains(words), "{name}: {said}");
    }
    // Ten pictures at 10 a second; five 100 ms apart and five 500 ms apart.
    for (name, least) in [("leading-zeros.h264", 0), ("ten-per-second.h264", 900), ("variable-rate.mkv", 2500)] {
        let (done, lasted) = publish(name);
        let said = text(&done.stderr);
        assert!(done.status.success() && said.contains("the video has ended"), "{name}: {said}");
        assert!(lasted >= Duration::from_millis(least), "{name}: {lasted:?}");
    }
}

#[test]
fn results_of_a_sender_on_a_full_disk_are_said_to_be_missing_and_others_go_on() {
    let folder = Folder::new("receive-full");
    let first = folder.0.join("sender-1");
    std::fs::create_dir(&first).unwrap();
    // A file has this name until it is whole.
    std::os::unix::fs::symlink("/dev/full", first.join("run.toml.unfinished")).unwrap();
    let receiver = Serving::start(&["receive", "--no-decode", "--out", &folder.0.display().to_string()]);
    let whip = format!("http://{}/whip", receiver.1);
    for _ in 0..2 {
        let sender = ["publish", "--size", "160x96", "--encoder", "model", "--listen", "127.0.0.1:0"];
        let sent = thalweg(&[&sender[..], &["--duration", "2s", "--whip", &whip]].concat());
        assert!(sent.status.success(), "{}", text(&sent.stderr));
    }
    let done = receiver.interrupted();
    let said = text(&done.stderr);
    let warned = said.lines().find(|line| line.starts_with("warning: the results of sender-1: ")).unwrap_or(&said);
    assert!(warned.contains("run.toml: No space left on device"), "{said}");
    let last = said.lines().last().unwrap_or_default();
    assert!(last.starts_with("thalweg: the results of sender-1: ") && done.status.code() == Some(1), "{said}");
    assert!(!first.join("run.toml").exists() && folder.0.join("sender-2/outcome.json").is_file(), "{said}");
    let report = std::fs::read_to_string(folder.0.join("results.json")).unwrap();
    assert!(report.contains("sender-2") && !report.contains("sender-1"), "{report}");
}
