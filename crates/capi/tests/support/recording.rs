//! A recording of departures and reports, and its replay in Rust.

use std::collections::VecDeque;
use std::fmt::Write;

use thalweg_driver::{Config, Departure, Driver};
use thalweg_units::{Bytes, Rate, Span, Time};
use thalweg_wire::rtcp::{self, twcc};

const PACKET: Bytes = Bytes::new(1200);
const TICK: Span = Span::from_millis(1);
const REPORTS: Span = Span::from_millis(50);
const ONE_WAY: Span = Span::from_millis(25);
const QUEUE: Span = Span::from_millis(300);

/// A driver as `thalweg_controller_new` makes it of zeros.
pub fn driver(scheme: &str) -> Driver {
    Driver::named(scheme, Config::default().with_overhead(Bytes::ZERO)).expect("a scheme")
}

/// GCC over 1.5 Mbps that fall to 600 kbps in the middle, with one packet in fifty lost.
pub fn record(duration: Span) -> String {
    let mut text = String::new();
    let mut driver = driver("gcc");
    let mut reports = twcc::Config::default().build().expect("the usual messages");
    let mut under_way: VecDeque<(u64, Option<Time>)> = VecDeque::new();
    let (mut now, mut free_at, mut credit, mut key) = (Time::ZERO, Time::ZERO, 0.0, 70_000);
    let mut next_report = Time::ZERO + REPORTS;
    while now < Time::ZERO + duration {
        now += TICK;
        let capacity = Rate::from_kbps(if now < Time::ZERO + duration / 2 { 1500 } else { 600 });
        if driver.next_timeout() <= now {
            driver.on_timeout(now);
        }
        credit += driver.target().as_bps_f64() * TICK.as_secs_f64();
        while credit >= PACKET.bits() as f64 {
            credit -= PACKET.bits() as f64;
            key += 1;
            driver.on_sent(now, Departure::new(key, PACKET)).expect("each key once");
            writeln!(text, "sent {} {key} {}", now.as_nanos(), PACKET.get()).expect("memory");
            let begins = free_at.max(now);
            let fits = begins - now <= QUEUE && key % 50 != 0;
            if fits {
                free_at = begins + capacity.time_for(PACKET);
            }
            under_way.push_back((key, fits.then(|| free_at + ONE_WAY)));
        }
        if now < next_report {
            continue;
        }
        next_report += REPORTS;
        let newest = under_way.iter().rposition(|(_, arrival)| arrival.is_some_and(|at| at + ONE_WAY <= now));
        let reported: Vec<(u64, Option<Time>)> = under_way.drain(..newest.map_or(0, |newest| newest + 1)).collect();
        for message in reports.messages(&reported).expect("in order") {
            let mut datagram = Vec::new();
            rtcp::write(&[rtcp::Packet::TransportFeedback(message)], &mut datagram).expect("it fits");
            driver.on_rtcp(now, &datagram).expect("our own");
            write!(text, "rtcp {} ", now.as_nanos()).expect("memory");
            datagram.iter().for_each(|byte| write!(text, "{byte:02x}").expect("memory"));
            text.push('\n');
        }
    }
    text
}

/// Output of `examples/c/replay.c`.
pub fn replay(recording: &str, scheme: &str) -> String {
    let (mut out, mut driver) = (String::new(), driver(scheme));
    for line in recording.lines() {
        let mut words = line.split(' ');
        let kind = words.next();
        let at = words.next().and_then(|at| at.parse().ok()).map(Time::from_nanos).expect("a time");
        while driver.next_timeout() <= at {
            driver.on_timeout(driver.next_timeout());
        }
        if kind == Some("sent") {
            let mut number = || words.next().and_then(|number| number.parse().ok()).expect("a number");
            driver.on_sent(at, Departure::new(number(), Bytes::new(number()))).expect("each key once");
            continue;
        }
        let hex = words.next().expect("bytes");
        let byte = |place| u8::from_str_radix(&hex[place..place + 2], 16).expect("hexadecimal");
        let datagram: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
        driver.on_rtcp(at, &datagram).expect("our own");
        let window = driver.limits().window.map_or("-".into(), |window| window.get().to_string());
        writeln!(out, "{} {} {window}", at.as_nanos(), driver.target().as_bps()).expect("memory");
    }
    out
}
