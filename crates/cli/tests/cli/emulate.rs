//! `thalweg emulate` and `thalweg shell` between real sockets.

use std::io::{BufRead, BufReader, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::in_real_time::in_real_time;
use crate::{Folder, text, thalweg};

/// Starts a relay that ends by itself after `duration`; also returns its address.
pub(crate) fn relay(to: SocketAddr, duration: &str, arguments: &[&str]) -> (Child, SocketAddr) {
    let to = to.to_string();
    let fixed = ["emulate", "--listen", "127.0.0.1:0", "--to", &to, "--duration", duration, "--json"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_thalweg"))
        .args(fixed)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut first).unwrap();
    let address = first.split_whitespace().nth(1).and_then(|address| address.parse().ok());
    (child, address.unwrap_or_else(|| panic!("{first}")))
}

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    socket
}

#[test]
fn a_scenario_of_the_simulator_stands_between_two_programs() {
    in_real_time(|| {
        let folder = Folder::new("emulate");
        let scenario = r#"
        name = "lossy"
        duration = "10s"
        seed = 5
        video = { source = "scene" }
        codec = { model = {} }
        [[forward.hops]]
        loss = { random = { probability = 0.5 } }
        [[forward.hops]]
        delay = { delay = "30ms" }
        [[reverse.hops]]
        bottleneck = { trace = "2Mbps" }
    "#;
        let scenario = folder.file("scenario.toml", scenario);
        let log = folder.0.join("log").display().to_string();
        let (server, client) = (socket(), socket());
        let (child, address) = relay(server.local_addr().unwrap(), "1500ms", &["--scenario", &scenario, "--log", &log]);
        for number in 0..100 {
            client.send_to(&[number], address).unwrap();
        }
        // Some may be lost: 300 ms without a datagram mean that no more will arrive.
        server.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let (mut buffer, mut came, mut upstream) = ([0; 100], 0, None);
        loop {
            match server.recv_from(&mut buffer) {
                Ok((_, from)) => (came, upstream) = (came + 1, Some(from)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // A signal.
                Err(_) => {}
            }
        }
        server.send_to(b"back", upstream.unwrap()).unwrap();
        assert_eq!(client.recv_from(&mut buffer).unwrap(), (4, address));
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success(), "{}", text(&done.stderr));
        let printed: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!((&printed["up"]["packets"], &printed["up"]["delivered"]), (&100.into(), &came.into()));
        assert_eq!(printed["up"]["dropped"]["lost"], 100 - came);
        assert!((30..70).contains(&came), "{came}");
        assert_eq!((&printed["down"]["delivered"], &printed["clients"]), (&1.into(), &1.into()));
        for key in ["queueing_p95_ms", "lateness_p50_us", "overflowed", "delivered_mbps"] {
            assert!(!printed["down"][key].is_null(), "{key}");
        }
        let log = std::fs::read_to_string(format!("{log}.down")).unwrap();
        assert!(log.contains(" + 36\n") && log.contains(" - 36 ") && log.contains(" # 1504\n"), "{log}");
    });
}

#[test]
fn a_signal_ends_it_with_the_summary() {
    let server = socket();
    let arguments = ["--rate", "1Mbps", "--delay", "10ms", "--loss", "0", "--queue", "64kB"];
    let (child, _) = relay(server.local_addr().unwrap(), "60s", &arguments);
    Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    let printed: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(printed["up"]["packets"], 0);
}

#[test]
fn it_ends_with_four_lines_for_people_and_says_until_when_it_plays() {
    let done = thalweg(&["emulate", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9", "--duration", "50ms"]);
    let (said, noted) = (text(&done.stdout), text(&done.stderr));
    let begins: Vec<&str> = said.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(begins, ["up", "down", "clients", "machine"], "{said}");
    assert!(noted.contains("; until ") && noted.contains(" UTC, Ctrl-C ends"), "{noted}");
}

#[test]
fn what_is_wrong_with_a_link_is_said_with_the_fix() {
    let refused = |arguments: &[&str]| {
        let fixed = ["emulate", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9"];
        let done = thalweg(&[&fixed[..], arguments].concat());
        assert!(!done.status.success());
        text(&done.stderr)
    };
    for (arguments, part) in [
        (["--up", "nowhere.trace"], "nowhere.trace"),
        (["--loss", "2"], "0 to 1"),
        (["--delay", "20"], "20ms"),
        (["--scenario", "/nowhere"], "/nowhere"),
        (["--clients", "0"], "1 to 1000"),
        (["--spin", "1s"], "50us"),
    ] {
        let message = refused(&arguments);
        assert!(message.contains(part), "{arguments:?}: {message}");
    }
    for (to, why) in [("127.0.0.1:0", "port 0"), ("127.0.0.1:9000", "without end")] {
        let refused = thalweg(&["emulate", "--listen", "127.0.0.1:9000", "--to", to]);
        assert!(text(&refused.stderr).contains(why), "{}", text(&refused.stderr));
    }
    let nowhere = thalweg(&["emulate", "--listen", "nowhere", "--to", "127.0.0.1:9"]);
    assert!(text(&nowhere.stderr).contains("127.0.0.1:9000"), "{}", text(&nowhere.stderr));
    assert!(refused(&["--rate", "1Mbps", "--up", "2Mbps"]).contains("cannot be used with"));
}

#[test]
fn a_shell_has_its_commands_exit_code_and_its_link_or_says_what_it_needs() {
    let done =
        thalweg(&["shell", "--delay", "1ms", "--summary", "--", "sh", "-c", "test -n \"$THALWEG_GATEWAY\"; exit 7"]);
    let message = text(&done.stderr);
    if done.status.code() == Some(1) {
        assert!(
            message.contains("sudo") || message.contains("/dev/net/tun") || message.contains("namespace"),
            "{message}"
        );
        println!("skipped: needs root, network namespaces and /dev/net/tun");
        return;
    }
    assert_eq!(done.status.code(), Some(7), "{message}");
    assert!(message.contains("\"up\""), "{message}");
}

#[test]
fn a_shell_asked_to_end_ends_its_command_first() {
    let script = "trap 'exit 3' TERM; echo ready; sleep 30 & wait";
    let mut child = Command::new(env!("CARGO_BIN_EXE_thalweg"))
        .args(["shell", "--", "sh", "-c", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut ready).unwrap();
    if ready.is_empty() {
        println!("skipped: needs root, network namespaces and /dev/net/tun");
        child.wait().unwrap();
        return;
    }
    Command::new("sh").args(["-c", &format!("kill -TERM {}", child.id())]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn a_black_box_that_is_missing_or_ends_says_so_and_is_no_result() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("blackbox");
    let script = "#!/bin/sh\n[ \"$1\" = --version ] && { echo Browser 7; exit; }\necho no display >&2\nexit 9\n";
    let (program, out) = (folder.file("browser", script), folder.0.join("out").display().to_string());
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let blackbox = |program: &str, more: &[&str]| {
        let usual = ["blackbox", "--program", program, "--runs", "1", "--duration", "200ms", "--size", "320x180"];
        thalweg(&[&usual, more, &["--rate", "1Mbps", "--out", &out]].concat())
    };
    let missing = blackbox("/nowhere/browser", &[]);
    let message = text(&missing.stderr);
    assert_eq!((missing.status.code(), text(&missing.stdout)), (Some(1), String::new()));
    assert!(message.contains("/nowhere/browser") && message.contains("--program"), "{message}");
    let ended = blackbox(&program, &[]);
    let message = text(&ended.stderr);
    assert_eq!((ended.status.code(), text(&ended.stdout)), (Some(1), String::new()), "{message}");
    assert!(message.contains("ended: no display"), "{message}");
    assert!(!std::path::Path::new(&out).join("report.html").exists());
    for (options, part) in
        [(["--codec", "av2"], "vp9-svc"), (["--with", "gccc"], "gcc"), (["--attempts", "0"], "1..=100")]
    {
        let refused = blackbox(&program, &options);
        assert!(!refused.status.success() && text(&refused.stderr).contains(part), "{}", text(&refused.stderr));
    }
}
