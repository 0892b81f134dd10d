//! How late a thread wakes up, for several ways of waiting; they take turns, so that other load on the machine affects
//! all of them equally.
//!
//! `cargo bench -p thalweg-live --bench timers [-- SECONDS]`

use std::num::NonZeroU64;
use std::time::Duration;

use rustix::event::{Timespec, poll};
use rustix::thread::set_current_timer_slack;
use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::{Lateness, Poller, PollerConfig};
use thalweg_units::{Span, Time};

/// Waits until a time, or about that time.
type Wait<'a> = (&'static str, Box<dyn FnMut(Time) + 'a>, Lateness);

fn main() {
    let seconds = std::env::args().filter_map(|argument| argument.parse::<i64>().ok()).next().unwrap_or(20);
    let clock = Clock::new();
    let by_poller = |spin| {
        let mut poller = Poller::new(clock, PollerConfig { spin }).expect("descriptors");
        Box::new(move |until| {
            poller.wait(until, &[]).expect("waiting");
        })
    };
    // Zero restores the thread's default, 50 us.
    let by_ppoll = |slack: u64| {
        Box::new(move |until: Time| {
            set_current_timer_slack(NonZeroU64::new(slack)).expect("prctl");
            let left = (until - clock.now()).max(Span::ZERO).as_nanos();
            let timeout = Timespec { tv_sec: left / 1_000_000_000, tv_nsec: left % 1_000_000_000 };
            poll(&mut [], Some(&timeout)).expect("ppoll");
        })
    };
    let by_socket = || {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
        Box::new(move |until: Time| {
            let left = u64::try_from((until - clock.now()).as_nanos()).unwrap_or(0).max(1_000);
            socket.set_read_timeout(Some(Duration::from_nanos(left))).expect("a timeout");
            let _ = socket.recv(&mut [0; 1]);
        })
    };
    // A pacer's packet interval at 6 Mbps, a packet burst, a frame, a feedback report.
    for millis in [1.6, 5.0, 20.0, 100.0] {
        let gap = Span::from_millis_f64(millis);
        let mut ways: Vec<Wait> = vec![
            ("timerfd (Poller)", by_poller(Span::ZERO), Lateness::default()),
            ("and 50 us of spinning", by_poller(Span::from_micros(50)), Lateness::default()),
            ("ppoll, slack 50 us", by_ppoll(0), Lateness::default()),
            ("ppoll, slack 1 ns", by_ppoll(1), Lateness::default()),
            ("SO_RCVTIMEO", by_socket(), Lateness::default()),
        ];
        let end = clock.now() + Span::from_secs(seconds) / 4;
        while clock.now() < end {
            for (_, wait, lateness) in &mut ways {
                let until = clock.now() + gap;
                wait(until);
                lateness.record(until, clock.now());
            }
        }
        println!("waits of {gap}");
        for (name, _, lateness) in &ways {
            println!("  {name:24} {lateness}");
        }
    }
}
