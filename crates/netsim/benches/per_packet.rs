//! The cost per packet: `cargo bench -p thalweg-netsim`. For instruction counts, which unlike nanoseconds do not differ
//! from run to run: `valgrind --tool=callgrind target/release/deps/per_packet-*`.
#![allow(clippy::disallowed_methods)] // A benchmark reads a clock.

use std::sync::Arc;
use std::time::Instant;

use thalweg_netsim::queue::Limits;
use thalweg_netsim::{
    Bottleneck, Cell, CellConfig, Delay, Link, Port, QueueConfig, Rates, Schedule, Serial, SharedLink, Trace, Wifi,
    WifiConfig,
};
use thalweg_units::{Bytes, Rate, Seed, Span, Time};

const PACKETS: u64 = 2_000_000;

/// Offers a packet every 0.8 ms (12 Mbps) and polls the departures.
fn run(name: &str, link: &mut dyn Link<u64>) {
    let started = Instant::now();
    let mut left = 0u64;
    for number in 0..PACKETS {
        let now = Time::from_micros(number * 800);
        while link.poll(now).is_some() {
            left += 1;
        }
        link.offer(now, Bytes::new(1200), number);
        while link.poll_drop().is_some() {}
    }
    let nanos = started.elapsed().as_nanos() as f64 / PACKETS as f64;
    println!("{name:34} {nanos:6.1} ns a packet, {left} of {PACKETS} left");
}

/// Every port of a shared link always has packets to send: `seconds` of virtual time.
fn run_shared(name: &str, link: &mut dyn SharedLink<(Port, ())>, ports: &[Port], seconds: u64) {
    let started = Instant::now();
    let size = Bytes::new(1200);
    for port in ports {
        (0..100).for_each(|_| link.offer(Time::ZERO, *port, size, (*port, ())));
    }
    let mut left = 0u64;
    while link.next_event() < Time::from_millis(1000 * seconds) {
        let now = link.next_event();
        while let Some(departure) = link.poll(now) {
            left += 1;
            link.offer(now, departure.packet.0, size, departure.packet);
        }
        while let Some(drop) = link.poll_drop() {
            link.offer(now, drop.packet.0, size, drop.packet);
        }
    }
    let spent = started.elapsed().as_secs_f64();
    println!("{name:34} {:6.1} ns a packet, {:.0} times real time", spent * 1e9 / left as f64, seconds as f64 / spent);
}

fn main() {
    let trace = |mbps: f64| Arc::new(Trace::constant(Rate::from_mbps_f64(mbps)).expect("a rate above zero"));
    let bottleneck = |mbps: f64, queue: QueueConfig| {
        Bottleneck::new(Schedule::looped(trace(mbps)), &queue, Seed::new(1)).expect("limits in range")
    };
    let limits = Limits::packets(1_000);
    let codel = QueueConfig::Codel { limits, target: Span::from_millis(5), interval: Span::from_millis(100) };
    let pie = QueueConfig::Pie { limits, reference: Span::from_millis(20), max_burst: Span::from_millis(100) };
    run("bottleneck, half full", &mut bottleneck(24.0, QueueConfig::Infinite));
    run("bottleneck, just full", &mut bottleneck(12.0, QueueConfig::Infinite));
    run("bottleneck, overfull, drop-tail", &mut bottleneck(8.0, QueueConfig::DropTail(limits)));
    run("bottleneck, overfull, CoDel", &mut bottleneck(8.0, codel));
    run("bottleneck, overfull, PIE", &mut bottleneck(8.0, pie));
    let rate = |rates: &str, queue: QueueConfig| {
        let rates: Rates = rates.parse().expect("rates");
        Serial::new(rates, &queue, Seed::new(1)).expect("limits in range")
    };
    run("rate, half full", &mut rate("24Mbps", QueueConfig::Infinite));
    run("rates in turn, overfull, drop-tail", &mut rate("10Mbps/6Mbps@1s", QueueConfig::DropTail(limits)));
    run(
        "rates each for its time, limit of time",
        &mut rate("10Mbps@1s/6Mbps@2s", QueueConfig::DropTail(Limits::time(Span::from_millis(300)))),
    );
    run("delay of 25 ms", &mut Delay::fixed(Span::from_millis(25)));
    let stations: Vec<Port> = (0..16).map(Port::up).collect();
    let downs: Vec<Port> = (0..16).map(Port::down).collect();
    for (aggregate, name) in [(1, "one by one"), (8, "in aggregates")] {
        let config = WifiConfig { aggregate, ..WifiConfig::of(16) };
        let wifi = || Wifi::new(&config, Seed::new(1)).expect("the configuration is in range");
        run_shared(&format!("Wi-Fi, 16 stations up, {name}"), &mut wifi(), &stations, 60);
        run_shared(&format!("Wi-Fi, 16 stations down, {name}"), &mut wifi(), &downs, 60);
    }
    let mut cell = Cell::new(&CellConfig::of(16), Seed::new(1), &mut |_| Err("none".into())).expect("in range");
    run_shared("cell, 16 users", &mut cell, &downs, 60);
}
