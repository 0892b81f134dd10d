//! Cost of a packet through C's functions, beside the same driver called from Rust: one departure, a sixtieth of a
//! report.
//!
//! ```text
//! cargo bench -p thalweg-capi                          # ns per packet, both in turn, and their ratio
//! cargo bench -p thalweg-capi -- c 100000              # one of them alone: native, or c; so many packets once
//! ```
//!
//! Times on a shared machine vary; instruction counts do not: the difference of two runs of `valgrind --tool=callgrind
//! --callgrind-out-file=/dev/null BINARY c 200000` and `... c 100000` over 100000 is instructions per packet.
#![allow(clippy::disallowed_methods, reason = "a benchmark is the place to read a clock")]

use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

use thalweg_capi::controller::{
    Ack, Controller, ControllerConfig, Sent, thalweg_controller_free, thalweg_controller_new,
    thalweg_controller_next_timeout, thalweg_controller_on_acks, thalweg_controller_on_sent,
    thalweg_controller_on_timeout, thalweg_controller_target,
};
use thalweg_driver::{Acked, Config, Departure, Driver};
use thalweg_units::{Bytes, Rate, Time};

/// 10 Mbps of 1200-byte packets, 25 ms each way.
const GAP: u64 = 960_000;
const ONE_WAY: u64 = 25_000_000;
const REPORT: u64 = 60;
const RATES: [u64; 3] = [300_000, 30_000, 12_000_000];

/// The arrival of a packet, of which one in two hundred is lost.
fn arrival(number: u64) -> Option<u64> {
    (number % 200 != 7).then_some(number * GAP + ONE_WAY)
}

#[inline(never)]
fn native(scheme: &str, packets: u64) -> u64 {
    let [start, min, max] = RATES.map(Rate::from_bps);
    let config = Config::new(start, min, max).with_overhead(Bytes::ZERO);
    let mut driver = Driver::named(scheme, config).expect("a scheme");
    let (mut acked, mut reported) = (Vec::new(), 0);
    for number in 0..packets {
        let now = Time::from_nanos(number * GAP);
        if driver.next_timeout() <= now {
            driver.on_timeout(now);
        }
        driver.on_sent(now, Departure::new(number, Bytes::new(1200))).expect("each key once");
        std::hint::black_box(driver.target());
        if number % REPORT == 0 {
            acked.clear();
            while reported * GAP + 2 * ONE_WAY <= number * GAP {
                acked.push(Acked::new(reported, arrival(reported).map(Time::from_nanos), false));
                reported += 1;
            }
            driver.on_acks(now, &acked, None).expect("seen");
        }
    }
    driver.target().as_bps()
}

#[inline(never)]
fn c(scheme: &str, packets: u64) -> u64 {
    let (scheme, mut controller): (_, *mut Controller) = (std::ffi::CString::new(scheme).expect("a name"), null_mut());
    let size = size_of::<ControllerConfig>() as u32;
    let [start, min, max] = RATES;
    let name = scheme.as_ptr();
    let config =
        ControllerConfig { size, mode: 0, scheme: name, toml: null(), start, min, max, overhead: 0, raises_target: 0 };
    let (mut acks, mut reported) = (Vec::new(), 0);
    // SAFETY: all that is passed lasts as long as the call; the controller is freed once.
    unsafe {
        assert_eq!(thalweg_controller_new(&raw const config, 0, &raw mut controller), 0);
        for number in 0..packets {
            let now = number * GAP;
            if thalweg_controller_next_timeout(controller) <= now {
                thalweg_controller_on_timeout(controller, now);
            }
            let sent = Sent {
                size: size_of::<Sent>() as u32,
                payload: 0,
                at: now,
                bytes: 1200,
                key: number,
                probe: -1,
                frame: -1,
                flags: 0,
                reserved: 0,
                offset: 0,
                captured: 0,
                ssrc: 0,
                sequence: 0,
            };
            assert_eq!(thalweg_controller_on_sent(controller, &raw const sent, null_mut()), 0);
            std::hint::black_box(thalweg_controller_target(controller));
            if number % REPORT == 0 {
                acks.clear();
                while reported * GAP + 2 * ONE_WAY <= now {
                    let arrival = arrival(reported).unwrap_or(u64::MAX);
                    acks.push(Ack { size: size_of::<Ack>() as u32, ce: 0, key: reported, arrival });
                    reported += 1;
                }
                assert_eq!(thalweg_controller_on_acks(controller, now, acks.as_ptr(), acks.len(), -1), 0);
            }
        }
        let target = thalweg_controller_target(controller);
        thalweg_controller_free(controller);
        target
    }
}

fn time(run: impl Fn() -> u64) -> (Duration, u64) {
    let start = Instant::now();
    let target = run();
    (start.elapsed(), target)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    if let [which, packets, ..] = &arguments[..] {
        let packets = packets.parse().expect("a number of packets");
        println!("{}", if which == "c" { c("gcc", packets) } else { native("gcc", packets) });
        return;
    }
    println!("{:8} {:>12} {:>12} {:>8}", "", "native ns", "c ns", "ratio");
    for scheme in ["gcc", "nada", "copa"] {
        // The best of nine in turn: disturbances only make a run slower.
        let mut best = [Duration::MAX; 2];
        for _ in 0..9 {
            let (native, c) = (time(|| native(scheme, 100_000)), time(|| c(scheme, 100_000)));
            assert_eq!(native.1, c.1, "both are one controller");
            best = [best[0].min(native.0), best[1].min(c.0)];
        }
        let [native, c] = best.map(|best| best.as_nanos() as f64 / 100_000.0);
        println!("{scheme:8} {native:12.1} {c:12.1} {:8.2}", c / native);
    }
}
