//! A program in C on a real network.

use std::net::{Ipv4Addr, UdpSocket};
use std::process::Command;
use std::thread;
use std::time::Duration;

use super::answer;
use super::in_real_time::in_real_time;
use super::support::{Library, compile, run};

/// By the clock: four seconds.
#[test]
fn send_in_c_is_answered_over_udp_and_raises_its_rate() {
    in_real_time(|| {
        let send = compile("examples/c/send.c", "send", Library::Static, &[]);
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = socket.local_addr().expect("bound").port().to_string();
        let receiver = thread::spawn(move || answer::serve(&socket, Duration::from_secs(4)).expect("a socket"));
        let printed = run(Command::new(send).args(["127.0.0.1", &port, "gcc", "3"]));
        let received = receiver.join().expect("it ended");
        let estimate = |line: &str| line.split("estimate ").nth(1)?.split(' ').next()?.parse::<u64>().ok();
        let estimates: Vec<u64> = printed.lines().filter_map(estimate).collect();
        // From 300 kbps; frames of a machine that is busy with other tests may come late, but not stay away.
        assert!(estimates.len() == 3 && estimates[2] > 600 && estimates[2] <= 12_000, "{printed}{received:?}");
        assert!(received.frames > 30 && received.packets > received.frames, "{printed}{received:?}");
    });
}
