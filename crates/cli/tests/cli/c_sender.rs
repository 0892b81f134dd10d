//! The C library's example sends RTP over UDP through `thalweg emulate` to a receiver that reports: three programs on
//! real sockets.

#[path = "../../../capi/examples/answer.rs"]
mod answer;

use std::net::{Ipv4Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::emulate::relay;
use crate::in_real_time::in_real_time;
use crate::text;

/// `send.c`, linked with the library that cargo puts beside this test.
fn compiled() -> PathBuf {
    let capi = Path::new(env!("CARGO_MANIFEST_DIR")).join("../capi");
    let library = std::env::current_exe().unwrap().with_file_name("libthalweg_capi.a");
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("send");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c11", "-O1", "-Wall", "-Werror", "-I"]).arg(capi.join("include"));
    compiler.arg(capi.join("examples/c/send.c")).arg("-o").arg(&program).arg(library);
    let done = compiler.args(["-lm", "-lpthread", "-ldl"]).output().expect("`make setup-capi` installs a C compiler");
    assert!(done.status.success(), "{}", text(&done.stderr));
    program
}

/// By the clock: 18 seconds of which the link has 2 Mbps for eight and then 600 kbps.
#[test]
fn a_sender_in_c_fills_an_emulated_link_and_follows_when_it_narrows() {
    in_real_time(|| {
        let send = compiled();
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let to = socket.local_addr().unwrap();
        let link = ["--rate", "2Mbps@8s/600kbps", "--from", "first-packet", "--delay", "25ms", "--queue", "60kB"];
        let (relay, address) = relay(to, "60s", &link);
        let receiver = thread::spawn(move || answer::serve(&socket, Duration::from_secs(18)).unwrap());
        let done = Command::new(send).args(["127.0.0.1", &address.port().to_string(), "gcc", "17"]).output().unwrap();
        let (received, printed) = (receiver.join().unwrap(), text(&done.stdout));
        Command::new("sh").args(["-c", &format!("kill -INT {}", relay.id())]).status().unwrap();
        let relayed = text(&relay.wait_with_output().unwrap().stdout);
        let said = format!("{printed}{}{received:?}\n{relayed}", text(&done.stderr));
        let relayed: serde_json::Value = serde_json::from_str(&relayed).unwrap_or_else(|_| panic!("{said}"));

        // Nothing went past the emulated link, and reports came back over it.
        assert_eq!(relayed["up"]["delivered"], received.packets, "{said}");
        assert!(relayed["down"]["delivered"].as_u64().unwrap() > 200, "{said}");
        // The mean of what was sent in some of the seconds, kbps from the IP header up.
        let sent: Vec<u64> = printed.lines().filter_map(|line| line.split_whitespace().nth(3)?.parse().ok()).collect();
        let mean = |seconds: std::ops::Range<usize>| sent[seconds.clone()].iter().sum::<u64>() / seconds.len() as u64;
        assert_eq!(sent.len(), 17, "{said}");
        assert!((1200..=2100).contains(&mean(5..8)), "of 2000: {said}");
        assert!((360..=630).contains(&mean(12..17)), "of 600: {said}");
    });
}
