//! Network namespaces: as root, on a machine that permits root to make them.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use thalweg_netsim::{HopConfig, PathConfig, QueueConfig};
use thalweg_units::Rate;

use super::*;
use crate::in_real_time::in_real_time;
use crate::reactor::PollerConfig;

fn find(name: &str) -> Result<Arc<Trace>, String> {
    let rate: Rate = name.parse().map_err(|_| format!("no trace '{name}'"))?;
    Trace::constant(rate).map(Arc::new).map_err(|error| error.to_string())
}

fn delay(millis: i64) -> PathConfig {
    let delay = Span::from_millis(millis);
    PathConfig { hops: vec![HopConfig::delay(delay)] }
}

/// Returns true if this machine permits it: root in a container may lack the permission.
fn may() -> bool {
    let probe = || nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).is_ok() && Device::create("probe").is_ok();
    let may = std::thread::spawn(probe).join().unwrap();
    if !may {
        println!("skipped: needs root, network namespaces and /dev/net/tun");
    }
    may
}

fn shell(link: LinkConfig, command: &[&str]) -> Result<Finished, ShellError> {
    let command = command.iter().map(OsString::from).collect();
    let config = ShellConfig { link, command, caller: None, clock: Clock::new(), poller: PollerConfig::default() };
    run(&config, &mut find, &mut |_| {})
}

#[test]
fn the_command_runs_as_who_called_sudo() {
    if !may() {
        return;
    }
    // The user and the group of no one, who has no other groups.
    let caller = Caller::named(|_| Some("65534".to_owned())).unwrap();
    let command = ["sh", "-c", "[ \"$(id -u) $(id -G)\" = '65534 65534' ] && [ $(id -un) = \"$USER\" ]"];
    let command = command.map(OsString::from).to_vec();
    let poller = PollerConfig::default();
    let config = ShellConfig { link: LinkConfig::default(), command, caller, clock: Clock::new(), poller };
    assert_eq!(run(&config, &mut find, &mut |_| {}).unwrap().code, 0);
}

/// Runs a test of this program inside a shell.
fn inside(link: LinkConfig, test: &str, setting: &str) -> Finished {
    let program = std::env::current_exe().unwrap().display().to_string();
    shell(link, &["env", setting, &program, "--ignored", "--exact", test, "--nocapture", "-q"]).unwrap()
}

/// A socket on every address of the machine that echoes datagrams; returns its port.
fn echo() -> u16 {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let port = socket.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut buffer = [0; 2000];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            let _ = socket.send_to(&buffer[..length], from);
        }
    });
    port
}

fn gateway(port: u16) -> SocketAddr {
    let gateway: IpAddr = std::env::var(GATEWAY_VARIABLE).unwrap().parse().unwrap();
    SocketAddr::new(gateway, port)
}

fn setting(name: &str) -> String {
    std::env::var(name).unwrap()
}

/// The shortest of several round trips to `to`: load on the machine only lengthens them.
fn round_trip(to: SocketAddr) -> Span {
    let (socket, clock) = (UdpSocket::bind("0.0.0.0:0").unwrap(), Clock::new());
    socket.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    let mut took: Vec<Span> = (0..20)
        .map(|_| {
            let sent = clock.now();
            socket.send_to(b"ping", to).unwrap();
            socket.recv(&mut [0; 10]).unwrap();
            clock.now() - sent
        })
        .collect();
    took.sort();
    took[0]
}

#[test]
#[ignore = "run inside a shell by another test"]
fn inside_measure_the_round_trip() {
    let took = round_trip(gateway(setting("THALWEG_TEST_PORT").parse().unwrap()));
    assert!(took >= Span::from_millis(30) && took < Span::from_millis(50), "{took}");
}

#[test]
fn a_round_trip_takes_both_delays() {
    in_real_time(|| {
        if may() {
            let link = LinkConfig { up: delay(10), down: delay(20), ..LinkConfig::default() };
            let setting = format!("THALWEG_TEST_PORT={}", echo());
            let done = inside(link, "shell::tests::inside_measure_the_round_trip", &setting);
            assert_eq!(done.code, 0);
            assert_eq!((done.statistics.up.delivered, done.statistics.down.delivered), (20, 20));
        }
    });
}

#[test]
#[ignore = "run inside a shell by another test"]
fn inside_send_twice_what_passes() {
    let (socket, clock) = (UdpSocket::bind("0.0.0.0:0").unwrap(), Clock::new());
    let to = gateway(setting("THALWEG_TEST_PORT").parse().unwrap());
    // 1228 bytes every 2.4 ms are 4.1 Mbps.
    let mut poller = Poller::new(clock, PollerConfig::default()).unwrap();
    for number in 0..1250 {
        while !poller.wait(Time::from_micros(2_400 * number), &[]).unwrap().due {}
        socket.send_to(&[0; 1200], to).unwrap();
    }
}

#[test]
fn what_passes_in_a_second_is_what_the_trace_lets_through() {
    in_real_time(|| {
        if may() {
            let sink = UdpSocket::bind("0.0.0.0:0").unwrap();
            sink.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
            let setting = format!("THALWEG_TEST_PORT={}", sink.local_addr().unwrap().port());
            let reader = std::thread::spawn(move || {
                let clock = Clock::new();
                let mut came: Vec<Time> = Vec::new();
                // Reads until no more packets arrive, after the first one.
                while clock.now() < Time::from_millis(10_000) {
                    match sink.recv(&mut [0; 2000]) {
                        Ok(_) => came.push(clock.now()),
                        Err(error) if !came.is_empty() && error.kind() == ErrorKind::WouldBlock => break,
                        Err(_) => {}
                    }
                }
                came
            });
            let hop = HopConfig::Bottleneck { trace: "2Mbps".into(), queue: QueueConfig::Infinite, once: false };
            let link = LinkConfig { up: PathConfig { hops: vec![hop] }, ..LinkConfig::default() };
            let done = inside(link, "shell::tests::inside_send_twice_what_passes", &setting);
            assert_eq!(done.code, 0);
            let came = reader.join().unwrap();
            let first = came[0];
            let second = came.iter().filter(|at| **at - first < Span::from_secs(2)).count() as f64 / 2.0;
            // 1504 bytes every 6 ms for packets of 1232, packet information included.
            let expected = 1504.0 / 0.006 / 1232.0;
            assert!((second / expected - 1.0).abs() < 0.05, "{second} packets a second, {expected} expected");
        }
    });
}

#[test]
fn the_exit_code_is_the_commands_and_the_devices_go() {
    if may() {
        let code = |script: &str| shell(LinkConfig::default(), &["sh", "-c", script]).unwrap().code;
        assert_eq!(code("exit 7"), 7);
        assert_eq!(code("kill -9 $$"), 128 + 9);
        assert_eq!(code("ip -4 address show thalweg | grep -q \"inet 100.64\" && test -n \"$THALWEG_SHELL\""), 0);
        // By its index: another test's device may have its name as soon as it is gone.
        let index = |name: &str| std::fs::read_to_string(format!("/sys/class/net/{name}/ifindex")).ok();
        let (name, before) = {
            let (device, _) = claim().unwrap();
            let name = device.name().to_string();
            let index = index(&name);
            (name, index)
        };
        assert!(before.is_some() && index(&name) != before, "{name} has the index {before:?}, and still is there");
    }
}

#[test]
#[ignore = "run inside a shell by another test"]
fn inside_open_another() {
    let link = LinkConfig { up: delay(10), down: delay(20), ..LinkConfig::default() };
    let port = setting("THALWEG_TEST_PORT");
    // The machine outside both shells, which is not the gateway of the innermost one.
    let machine = setting(GATEWAY_VARIABLE);
    let program = std::env::current_exe().unwrap().display().to_string();
    let (port, machine) = (format!("THALWEG_TEST_PORT={port}"), format!("THALWEG_TEST_MACHINE={machine}"));
    let test = "shell::tests::inside_measure_through_two";
    let done =
        shell(link, &["env", &port, &machine, &program, "--ignored", "--exact", test, "--nocapture", "-q"]).unwrap();
    assert_eq!(done.code, 0);
}

#[test]
#[ignore = "run inside a shell by another test"]
fn inside_measure_through_two() {
    let machine: IpAddr = setting("THALWEG_TEST_MACHINE").parse().unwrap();
    let took = round_trip(SocketAddr::new(machine, setting("THALWEG_TEST_PORT").parse().unwrap()));
    assert!(took >= Span::from_millis(40) && took < Span::from_millis(60), "{took}");
}

#[test]
fn a_shell_in_a_shell_adds_its_delays() {
    in_real_time(|| {
        if may() {
            let link = LinkConfig { up: delay(5), down: delay(5), ..LinkConfig::default() };
            let setting = format!("THALWEG_TEST_PORT={}", echo());
            let done = inside(link, "shell::tests::inside_open_another", &setting);
            assert_eq!(done.code, 0);
        }
    });
}

#[test]
fn a_program_that_is_not_there_and_none_at_all_are_said() {
    if may() {
        let message = |command: &[&str]| shell(LinkConfig::default(), command).unwrap_err().to_string();
        assert!(message(&["no-such-program"]).contains("'no-such-program'"));
        assert!(message(&[]).contains("after --"));
    } else if !rustix::process::geteuid().is_root() {
        assert!(shell(LinkConfig::default(), &["true"]).unwrap_err().to_string().contains("sudo"));
    }
}
