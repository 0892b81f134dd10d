//! The relay over loopback, and the same packets through the simulator's path.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use thalweg_netsim::{Departure, HopConfig, Jitter, Link, LossModel, PathConfig, QueueConfig, Trace};
use thalweg_units::{Bytes, Rate, Seed, Span, Time};

use super::{HEAD, LinkConfig, Passing, Place, Relay, RelayConfig, Way, Zero};
use crate::clock::{Clock, pause};
use crate::in_real_time::in_real_time;
use crate::reactor::{Poller, PollerConfig};

fn find(name: &str) -> Result<Arc<Trace>, String> {
    let rate: Rate = name.parse().map_err(|_| format!("no trace '{name}'"))?;
    Trace::constant(rate).map(Arc::new).map_err(|error| error.to_string())
}

fn delay(millis: i64) -> HopConfig {
    HopConfig::delay(Span::from_millis(millis))
}

fn bottleneck(rate: &str) -> HopConfig {
    HopConfig::Bottleneck { trace: rate.into(), queue: QueueConfig::Infinite, once: false }
}

fn path(hops: impl Into<Vec<HopConfig>>) -> PathConfig {
    PathConfig { hops: hops.into() }
}

/// A socket with a timeout of one second.
fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    socket
}

fn relay(server: &UdpSocket, link: LinkConfig) -> Relay {
    let listen = "127.0.0.1:0".parse().unwrap();
    let config = RelayConfig { link, ..RelayConfig::new(listen, server.local_addr().unwrap()) };
    Relay::start(&config, &mut find).unwrap()
}

fn next(socket: &UdpSocket) -> Option<(Vec<u8>, SocketAddr)> {
    let mut buffer = [0; 2000];
    loop {
        match socket.recv_from(&mut buffer) {
            Ok((length, from)) => return Some((buffer[..length].to_vec(), from)),
            // A call with a timeout is not restarted after a signal, even SIGCONT (signal(7)).
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

#[test]
fn a_round_trip_takes_both_delays_and_not_much_longer() {
    in_real_time(|| {
        let (server, client, clock) = (socket(), socket(), Clock::new());
        let relay =
            relay(&server, LinkConfig { up: path([delay(15)]), down: path([delay(10)]), ..LinkConfig::default() });
        let mut took = Vec::new();
        for _ in 0..20 {
            let sent = clock.now();
            client.send_to(b"ping", relay.address()).unwrap();
            let (bytes, from) = next(&server).unwrap();
            server.send_to(&bytes, from).unwrap();
            assert_eq!(next(&client), Some((b"ping".to_vec(), relay.address())));
            took.push(clock.now() - sent);
        }
        took.sort();
        assert!(took[0] >= Span::from_millis(25), "{}", took[0]);
        // The other round trips may be longer on a busy machine, so only the shortest counts.
        assert!(took[0] < Span::from_millis(45), "{}", took[0]);
        let statistics = relay.stop().unwrap();
        assert_eq!((statistics.up.delivered, statistics.down.delivered, statistics.clients), (20, 20, 1));
        // "ping" in UDP in IPv4.
        assert_eq!(statistics.up.bytes, Bytes::new(20 * 32));
        assert_eq!((statistics.up.lateness.count(), statistics.unsent, statistics.missed), (20, 0, 0));
    });
}

#[test]
fn what_a_server_sends_goes_up_where_the_link_is_described_from_it() {
    let (server, client) = (socket(), socket());
    let lost = HopConfig::Loss(LossModel::Random { probability: 1.0 });
    let link = LinkConfig { up: path([lost]), ..LinkConfig::default() };
    let listen = "127.0.0.1:0".parse().unwrap();
    let clients_send = Way::Down;
    let config = RelayConfig { link, clients_send, ..RelayConfig::new(listen, server.local_addr().unwrap()) };
    let relay = Relay::start(&config, &mut find).unwrap();
    client.send_to(b"ping", relay.address()).unwrap();
    let (bytes, from) = next(&server).unwrap();
    server.send_to(&bytes, from).unwrap();
    while relay.statistics().unwrap().up.packets == 0 {
        pause(Span::from_millis(1));
    }
    let statistics = relay.stop().unwrap();
    assert_eq!((statistics.down.delivered, statistics.up.delivered), (1, 0));
    assert_eq!(statistics.up.dropped.values().sum::<u64>(), 1);
}

/// Numbered datagrams of 1200 bytes every 2 ms for 2 s, more than twice the link's capacity, and when each arrived: the
/// relay's output compared with the simulator's for the same input.
#[test]
fn two_megabits_a_second_are_what_the_simulator_makes_of_the_same_packets() {
    in_real_time(|| {
        let (server, client, clock) = (socket(), socket(), Clock::new());
        let up = path([bottleneck("2Mbps"), delay(5)]);
        let zero = clock.now() + Span::from_millis(20);
        let link = LinkConfig { up: up.clone(), zero: Zero::At(zero), seed: Seed::new(3), ..LinkConfig::default() };
        let config = RelayConfig {
            link,
            clock,
            ..RelayConfig::new("127.0.0.1:0".parse().unwrap(), server.local_addr().unwrap())
        };
        let relay = Relay::start(&config, &mut find).unwrap();
        let reader = std::thread::spawn(move || {
            let mut came = Vec::new();
            while came.len() < 1000
                && let Some((bytes, _)) = next(&server)
            {
                came.push((clock.now(), u32::from_be_bytes(bytes[..4].try_into().unwrap())));
            }
            came
        });
        let mut poller = Poller::new(clock, PollerConfig::default()).unwrap();
        let mut simulated = up.build::<u32, _>(Seed::new(3).child("up"), &mut find).unwrap();
        let left = |departure: Departure<u32>| (zero + departure.at.since_start(), departure.packet);
        let mut expected: Vec<(Time, u32)> = Vec::new();
        for number in 0..1000 {
            let at = zero + Span::from_millis(1) + Span::from_micros(2_000) * i64::from(number);
            while !poller.wait(at, &[]).unwrap().due {}
            let now = Time::ZERO + (clock.now() - zero);
            expected.extend(std::iter::from_fn(|| simulated.poll(now)).map(left));
            simulated.offer(now, Bytes::new(1200 + 28), number);
            let mut payload = vec![0; 1200];
            payload[..4].copy_from_slice(&number.to_be_bytes());
            client.send_to(&payload, relay.address()).unwrap();
        }
        let came = reader.join().unwrap();
        expected.extend(std::iter::from_fn(|| simulated.poll(Time::from_millis(60_000))).map(left));
        let numbers = |all: &[(Time, u32)]| all.iter().map(|(_, number)| *number).collect::<Vec<_>>();
        assert_eq!(numbers(&came), (0..1000).collect::<Vec<_>>());
        assert_eq!(numbers(&expected), numbers(&came));
        // Never before the simulator, where each packet arrived a little earlier.
        assert!(came.iter().zip(&expected).all(|(real, ideal)| real.0 >= ideal.0));
        let rate = |all: &[(Time, u32)]| (Bytes::new(1228) * 999).per(all[999].0 - all[0].0).as_mbps_f64();
        let (real, ideal) = (rate(&came), rate(&expected));
        assert!((real / ideal - 1.0).abs() < 0.05, "{real} Mbps, {ideal} in the simulator");
        assert!((ideal / 2.0 - 1.0).abs() < 0.01, "{ideal} Mbps at 2 Mbps");
    });
}

/// The emulated link alone, driven by real wake-ups: its departures, compared with those of a path in virtual time for
/// the same arrivals.
#[test]
fn departures_are_those_of_virtual_time_within_the_lateness() {
    in_real_time(|| {
        let up = path([
            HopConfig::Rate { rate: "3Mbps".parse().unwrap(), queue: QueueConfig::Infinite },
            HopConfig::Loss(LossModel::Random { probability: 0.1 }),
            HopConfig::Delay {
                delay: Span::from_millis(4).into(),
                jitter: Jitter::Uniform { max: Span::from_millis(3) },
                reorders: false,
            },
        ]);
        let clock = Clock::new();
        let mut poller = Poller::new(clock, PollerConfig::default()).unwrap();
        let config = LinkConfig { up: up.clone(), seed: Seed::new(9), ..LinkConfig::default() };
        let mut link = config.build::<u32, _>(Time::ZERO, &mut find).unwrap();
        let mut path = up.build::<u32, _>(Seed::new(9).child("up"), &mut find).unwrap();
        let (mut real, mut offered) = (Vec::new(), 0);
        while offered < 300 || link.next_event().is_set() {
            let arrival = if offered < 300 { Time::from_micros(1_500 * u64::from(offered)) } else { Time::NEVER };
            let woken = poller.wait(arrival.min(link.next_event()), &[]).unwrap();
            link.release(woken.now, |way, number| {
                assert_eq!(way, Way::Up);
                real.push((number, woken.now));
                woken.now
            });
            if woken.now >= arrival {
                link.offer(Way::Up, woken.now, Bytes::new(700), offered);
                path.offer(woken.now, Bytes::new(700), offered);
                offered += 1;
            }
        }
        let ideal: Vec<_> =
            std::iter::from_fn(|| path.poll(Time::from_millis(60_000))).map(|left| (left.packet, left.at)).collect();
        let max = link.statistics(clock.now()).up.lateness.max();
        assert_eq!(real.len(), ideal.len());
        assert!(real.len() < 300 && real.len() > 200, "{}", real.len());
        for (real, ideal) in real.iter().zip(&ideal) {
            assert_eq!(real.0, ideal.0);
            assert!(real.1 >= ideal.1 && real.1 - ideal.1 <= max, "{} for {}", real.1, ideal.1);
        }
    });
}

#[test]
fn the_same_packets_are_lost_as_in_the_simulator() {
    in_real_time(|| {
        let (server, client) = (socket(), socket());
        let up = path([HopConfig::Loss(LossModel::Random { probability: 0.2 })]);
        let seed = Seed::new(7);
        let relay = relay(&server, LinkConfig { up: up.clone(), seed, ..LinkConfig::default() });
        let mut simulated = up.build::<u8, _>(seed.child("up"), &mut find).unwrap();
        for number in 0..200 {
            client.send_to(&[number], relay.address()).unwrap();
            simulated.offer(Time::ZERO, Bytes::new(29), number);
        }
        let expected: Vec<u8> =
            std::iter::from_fn(|| simulated.poll(Time::ZERO)).map(|departure| departure.packet).collect();
        let came: Vec<u8> = expected.iter().map_while(|_| next(&server)).map(|(bytes, _)| bytes[0]).collect();
        assert_eq!(came, expected);
        assert!((130..190).contains(&came.len()), "{}", came.len());
        let statistics = relay.stop().unwrap();
        assert_eq!(statistics.up.dropped.values().sum::<u64>(), 200 - expected.len() as u64);
    });
}

#[test]
fn clients_are_apart_and_no_stranger_is_heard() {
    let (server, unknown) = (socket(), socket());
    let listen = "127.0.0.1:0".parse().unwrap();
    let config = RelayConfig { max_clients: 3, ..RelayConfig::new(listen, server.local_addr().unwrap()) };
    let relay = Relay::start(&config, &mut find).unwrap();
    let clients: Vec<UdpSocket> = (0..3).map(|_| socket()).collect();
    let mut seen = BTreeSet::new();
    for (number, client) in clients.iter().enumerate() {
        client.send_to(&[number as u8], relay.address()).unwrap();
        let (bytes, from) = next(&server).unwrap();
        assert_eq!(bytes, [number as u8]);
        assert!(seen.insert(from), "{from} twice");
        // Only the server can answer for the server.
        unknown.send_to(b"forged", from).unwrap();
        server.send_to(&[100 + number as u8], from).unwrap();
    }
    for (number, client) in clients.iter().enumerate() {
        assert_eq!(next(client), Some((vec![100 + number as u8], relay.address())));
    }
    // A fourth client is one too many.
    socket().send_to(b"me too", relay.address()).unwrap();
    clients[0].send_to(b"again", relay.address()).unwrap();
    assert_eq!(next(&server).unwrap().0, b"again");
    let statistics = relay.statistics().unwrap();
    assert_eq!((statistics.clients, statistics.clients_ever, statistics.refused), (3, 3, 1));
}

#[test]
fn ipv6_counts_its_longer_header() {
    let server = UdpSocket::bind("[::1]:0").unwrap();
    server.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let config = RelayConfig::new("[::]:0".parse().unwrap(), server.local_addr().unwrap());
    let relay = Relay::start(&config, &mut find).unwrap();
    let client = UdpSocket::bind("[::1]:0").unwrap();
    client.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    // The relay is bound to every address; it answers from the address that the client sent to.
    let reached = SocketAddr::new("::1".parse().unwrap(), relay.address().port());
    client.send_to(b"ping", reached).unwrap();
    let (bytes, from) = next(&server).unwrap();
    server.send_to(&bytes, from).unwrap();
    assert_eq!(next(&client), Some((b"ping".to_vec(), reached)));
    assert_eq!(relay.stop().unwrap().down.bytes, Bytes::new(40 + 8 + 4));
}

#[test]
fn a_relay_whose_server_is_gone_goes_on_and_counts() {
    let (server, client) = (socket(), socket());
    let address = server.local_addr().unwrap();
    let relay = relay(&server, LinkConfig::default());
    drop(server);
    for _ in 0..3 {
        client.send_to(b"hello?", relay.address()).unwrap();
        pause(Span::from_millis(20));
    }
    let back = UdpSocket::bind(address).unwrap();
    back.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    client.send_to(b"there?", relay.address()).unwrap();
    assert_eq!(next(&back).unwrap().0, b"there?");
    assert!(relay.stop().unwrap().unreachable >= 1);
}

#[test]
fn both_logs_have_every_packet() {
    in_real_time(|| {
        let (server, client) = (socket(), socket());
        let name = std::env::temp_dir().join(format!("thalweg-relay-{}", std::process::id()));
        let link = LinkConfig { up: path([bottleneck("10Mbps")]), log: Some(name.clone()), ..LinkConfig::default() };
        let relay = relay(&server, link);
        client.send_to(&[0; 472], relay.address()).unwrap();
        let (bytes, from) = next(&server).unwrap();
        server.send_to(&bytes, from).unwrap();
        next(&client).unwrap();
        relay.stop().unwrap();
        let read = |way: &str| {
            let path = format!("{}.{way}", name.display());
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::remove_file(path).unwrap();
            text
        };
        let (up, down) = (read("up"), read("down"));
        assert!(up.starts_with("# thalweg link log: 10Mbps\n# base timestamp: 0\n"), "{up}");
        assert!(up.contains(" + 504\n") && up.contains(" # 1504\n") && up.contains(" - 504 "), "{up}");
        assert!(down.contains(" + 504\n") && down.contains(" - 504 0\n"), "{down}");
    });
}

#[test]
fn an_observer_sees_each_packet_before_and_behind_the_link_and_no_more_of_it_than_its_head() {
    in_real_time(|| {
        let (server, client) = (socket(), socket());
        let (observer, passing) = std::sync::mpsc::channel();
        let lost = HopConfig::Loss(LossModel::Random { probability: 1.0 });
        let link = LinkConfig { down: path([lost]), ..LinkConfig::default() };
        let listen = "127.0.0.1:0".parse().unwrap();
        let config =
            RelayConfig { link, observer: Some(observer), ..RelayConfig::new(listen, server.local_addr().unwrap()) };
        let relay = Relay::start(&config, &mut find).unwrap();
        client.send_to(&[7; 100], relay.address()).unwrap();
        let (_, from) = next(&server).unwrap();
        server.send_to(&[9, 8], from).unwrap();
        while relay.statistics().unwrap().down.packets == 0 {
            pause(Span::from_millis(1));
        }
        relay.stop().unwrap();
        let seen: Vec<Passing> = passing.try_iter().collect();
        let [first, behind, answer] = seen[..] else { panic!("{seen:?}") };
        let place = Place::Before { size: Bytes::new(128), head: [7; HEAD], length: 100 };
        assert_eq!((first.number, first.way, first.place), (0, Way::Up, place));
        assert_eq!((behind.number, behind.way, behind.place), (0, Way::Up, Place::Behind));
        assert!(behind.at >= first.at);
        let mut head = [0; HEAD];
        head[..2].copy_from_slice(&[9, 8]);
        let place = Place::Before { size: Bytes::new(30), head, length: 2 };
        assert_eq!((answer.number, answer.way, answer.place), (1, Way::Down, place));
    });
}

#[test]
fn an_address_that_is_not_ours_is_refused_with_the_fix() {
    let config = RelayConfig::new("192.0.2.1:9".parse().unwrap(), "127.0.0.1:9".parse().unwrap());
    let message = Relay::start(&config, &mut find).err().unwrap().to_string();
    assert!(message.contains("192.0.2.1:9") && message.contains("port 0"), "{message}");
}
