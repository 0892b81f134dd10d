//! Time per datagram, for a valid one and for one of a flood: `cargo bench -p thalweg-transport`. For instructions
//! instead of nanoseconds, which vary from run to run: `valgrind --tool=callgrind target/release/deps/per_datagram-*`.
#![allow(clippy::disallowed_methods)] // A benchmark reads a clock.

#[path = "../tests/world/mod.rs"]
mod world;

use std::net::SocketAddr;
use std::time::Instant;

use thalweg_transport::{Connection, Output};
use thalweg_units::Ecn;
use world::{World, addresses, clean, rtp, usual};

const DATAGRAMS: u32 = 20_000;

/// Feeds datagrams one by one and drains all outputs.
fn run(name: &str, world: &mut World, from: SocketAddr, mut next: impl FnMut(u32) -> Vec<u8>) {
    let datagrams: Vec<_> = (0..DATAGRAMS).map(&mut next).collect();
    let before = world.ends[0].statistics();
    let (now, to) = (world.now, addresses()[0]);
    let mut sent = 0;
    let micros = fastest(&datagrams, |datagram| {
        world.ends[0].on_datagram(now, from, to, Ecn::NotCapable, datagram);
        sent += drain(&mut world.ends[0]);
    });
    let dropped = world.ends[0].statistics().dropped.total() - before.dropped.total();
    println!("{name:44} {micros:7.2} us a datagram, {dropped:5} of {DATAGRAMS} dropped, {sent:5} sent");
}

/// Microseconds per item in the fastest hundred, to exclude interference by other work on the machine.
fn fastest<T>(items: &[T], mut each: impl FnMut(&T)) -> f64 {
    let hundreds = items.chunks(100).map(|hundred| {
        let started = Instant::now();
        hundred.iter().for_each(&mut each);
        started.elapsed().as_nanos() as f64 / 1e3 / hundred.len() as f64
    });
    hundreds.fold(f64::INFINITY, f64::min)
}

/// Drains all outputs; returns the number of datagrams.
fn drain(connection: &mut Connection) -> u32 {
    let mut sent = 0;
    loop {
        match connection.poll() {
            Output::Transmit(_) => sent += 1,
            Output::Event(_) => {}
            Output::Wait { .. } => return sent,
        }
    }
}

fn main() {
    let mut world = World::connected(usual(), &clean(), 1);
    let unknown = "203.0.113.9:4000".parse().expect("an address");
    let peer = addresses()[1];
    let payload = [5; 1150];
    let good: Vec<_> = (0..DATAGRAMS).map(|count| world.protected(1, &rtp(7, count as u16, &payload))).collect();
    let check = world.sent[1].iter().find(|datagram| datagram.bytes[..2] == [0, 1]).expect("a check").bytes.clone();
    let broken = |at: usize| {
        let mut check = check.clone();
        check[at] ^= 1;
        check
    };
    let (wrong_user, wrong_password) = (broken(24), broken(check.len() - 20));
    let forged = |ssrc: u32| {
        let mut packet = good[DATAGRAMS as usize - 1].clone();
        packet[2..4].copy_from_slice(&(DATAGRAMS as u16).to_be_bytes());
        packet[8..12].copy_from_slice(&ssrc.to_be_bytes());
        packet
    };
    run("nothing known, 1200 bytes", &mut world, unknown, |_| vec![255; 1200]);
    run("SRTP from an unknown source", &mut world, unknown, |_| good[0].clone());
    run("DTLS from an unknown source", &mut world, unknown, |_| vec![22; 1200]);
    run("STUN that is none", &mut world, unknown, |_| vec![0; 100]);
    run("STUN for somebody else", &mut world, unknown, |_| wrong_user.clone());
    run("STUN with a wrong password", &mut world, unknown, |_| wrong_password.clone());
    run("STUN, authentic", &mut world, peer, |_| check.clone());
    run("SRTP, authentic", &mut world, peer, |count| good[count as usize].clone());
    run("SRTP, replayed", &mut world, peer, |count| good[(DATAGRAMS - 1 - count % 1000) as usize].clone());
    run("SRTP, forged, of a known stream", &mut world, peer, |_| forged(7));
    run("SRTP, forged, of a new stream each", &mut world, peer, |count| forged(1000 + count));
    run("DTLS, forged, after the handshake", &mut world, peer, |_| vec![23; 1200]);
    let packets: Vec<_> = (0..DATAGRAMS).map(|sequence| rtp(9, sequence as u16, &payload)).collect();
    let micros = fastest(&packets, |packet| {
        world.ends[0].send_rtp(Ecn::NotCapable, packet).expect("connected");
        drain(&mut world.ends[0]);
    });
    println!("{:44} {micros:7.2} us a packet", "SRTP, sent");
}
