use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::*;
use crate::testing;

const MS: fn(u64) -> Time = Time::from_millis;
const KBPS: fn(u64) -> Rate = Rate::from_kbps;

/// A sender of 1000-byte packets over a path of 100 ms, with per-packet feedback.
struct Flow {
    tfrc: testing::Flow<Tfrc>,
    reported: u64,
    /// Sending times of the packets in flight.
    under_way: VecDeque<u64>,
}

impl Flow {
    fn new(config: Config) -> Flow {
        Flow { tfrc: testing::Flow::new(Tfrc::new(config).unwrap()), reported: 0, under_way: VecDeque::new() }
    }

    fn send(&mut self, at_ms: u64) {
        self.tfrc.send(MS(at_ms), 1000, |_| {});
    }

    fn on_report(&mut self, now_ms: u64, lost: bool) {
        if !lost {
            self.tfrc.report(MS(now_ms), &[(self.reported, MS(now_ms - 50))]);
        }
        self.reported += 1;
    }

    /// From `from_ms` on, sends a packet every `gap_ms`, with feedback after 100 ms; `lost` by number.
    fn run(&mut self, from_ms: u64, to_ms: u64, gap_ms: u64, lost: impl Fn(u64) -> bool) {
        for now in from_ms..to_ms {
            if self.under_way.front().is_some_and(|at| at + 100 <= now) {
                self.under_way.pop_front();
                self.on_report(now, lost(self.reported));
            }
            if (now - from_ms).is_multiple_of(gap_ms) {
                self.send(now);
                self.under_way.push_back(now);
            }
            if self.tfrc.next_timeout() <= MS(now) {
                self.tfrc.on_timeout(MS(now));
            }
        }
    }
}

#[test]
fn the_first_report_opens_the_initial_window_and_each_round_trip_doubles_up_to_twice_what_arrives() {
    let mut flow = Flow::new(Config::default());
    flow.tfrc.packet = 1000.0;
    assert_eq!(flow.tfrc.limits().capacity, KBPS(128));
    flow.run(0, 110, 10, |_| false);
    // min(4000, max(2000, 4380)) bytes in 100 ms.
    assert_eq!(flow.tfrc.rate, KBPS(320));
    flow.run(110, 1500, 10, |_| false);
    // 800 kbps arrive.
    assert_eq!(flow.tfrc.rate, KBPS(1600));
    let steps: Vec<(&str, u64)> =
        core::iter::from_fn(|| flow.tfrc.poll_decision()).map(|d| (d.what, d.to.as_bps() / 1000)).collect();
    assert_eq!(steps, [("start", 320), ("double", 640), ("double", 1280), ("double", 1600)]);
}

#[test]
fn a_loss_in_a_hundred_settles_at_the_equation() {
    let mut flow = Flow::new(Config { start: KBPS(300), data_limited_below: 0.0, ..Config::default() });
    flow.run(0, 40_000, 10, |id| id % 100 == 50);
    assert!((flow.tfrc.loss - 0.01).abs() < 0.0015, "{}", flow.tfrc.loss);
    let rate = flow.tfrc.rate.as_kbps_f64();
    assert!((850.0..960.0).contains(&rate), "{rate} kbps, expected 898.7 of exactly one in a hundred");
}

#[test]
fn the_first_loss_makes_an_interval_of_what_arrived() {
    let mut flow = Flow::new(Config { data_limited_below: 0.0, ..Config::default() });
    // 500 kbps: a packet every 16 ms.
    flow.run(0, 4_000, 16, |id| id == 200);
    let rate = flow.tfrc.rate.as_kbps_f64();
    // 1 / 0.02529, or the packets since the loss if they are more: 250 - 200 by then.
    assert!((480.0..620.0).contains(&rate), "{rate}");
    assert!(flow.tfrc.loss > 0.0);
}

#[test]
fn nothing_heard_halves_the_rate_each_two_seconds_before_the_first_report_and_each_four_round_trips_after() {
    let mut flow = Flow::new(Config::default());
    flow.send(0);
    assert_eq!(flow.tfrc.next_timeout(), MS(2000));
    flow.tfrc.on_timeout(MS(2000));
    assert_eq!(flow.tfrc.rate, KBPS(64));
    let mut flow = Flow::new(Config::default());
    flow.tfrc.packet = 1000.0;
    flow.run(0, 1500, 10, |_| false);
    let (rate, due) = (flow.tfrc.rate, flow.tfrc.next_timeout());
    flow.send(1500);
    flow.tfrc.on_timeout(due);
    assert_eq!((flow.tfrc.rate, flow.tfrc.next_timeout() - due), (rate.scale(0.5), Span::from_millis(400)));
    // If nothing is sent, it falls to twice W_init / R and no further.
    for _ in 0..20 {
        flow.tfrc.expire();
    }
    assert!(flow.tfrc.rate >= flow.tfrc.initial() && flow.tfrc.rate < flow.tfrc.initial().scale(2.0));
}

#[test]
fn with_a_loss_rate_feedback_timeout_limits_the_rate_to_what_arrived() {
    let mut flow = Flow::new(Config { data_limited_below: 0.0, ..Config::default() });
    flow.run(0, 20_000, 10, |id| id % 100 == 50);
    let (aim, received) = (flow.tfrc.equation().rate(flow.tfrc.loss), flow.tfrc.received.greatest());
    assert!(aim < received.scale(2.0));
    flow.send(20_000);
    flow.tfrc.expire();
    assert_eq!(flow.tfrc.rate, aim.scale(0.5));
    assert_eq!(flow.tfrc.received.greatest(), aim.scale(0.25));
}

#[test]
fn a_source_that_sends_less_is_allowed_twice_what_it_sent() {
    let mut flow = Flow::new(Config::default());
    flow.run(0, 1500, 10, |_| false);
    flow.run(1500, 6000, 80, |_| false);
    // 100 kbps: the earlier receive rate is kept while less is sent, because the interval was data-limited.
    assert_eq!(flow.tfrc.rate, KBPS(1600));
    // A loss halves it at each report that has one.
    flow.run(6000, 9000, 80, |id| id % 8 == 3);
    assert!(flow.tfrc.rate < KBPS(400), "{}", flow.tfrc.rate);
}

#[test]
fn a_damped_rate_falls_while_the_round_trip_is_above_its_mean() {
    let mut flow = Flow::new(Config { damped: true, ..Config::default() });
    flow.run(0, 1500, 10, |_| false);
    let steady = flow.tfrc.limits().capacity;
    flow.tfrc.measure(Span::from_millis(200));
    let (mean, rate) = (0.9 * libm::sqrt(0.1) + 0.1 * libm::sqrt(0.2), flow.tfrc.limits().capacity);
    let expected = steady.scale(mean / libm::sqrt(0.2));
    assert!((rate.as_kbps_f64() - expected.as_kbps_f64()).abs() < 1.0, "{rate}, expected {expected}");
}

#[test]
fn parameters_that_cannot_work_are_refused_with_value_and_range() {
    let message = alloc::format!("{}", Tfrc::new(Config { timeout: 0.0, ..Config::default() }).unwrap_err());
    assert_eq!(message, "tfrc.timeout is 0, must be 1 to 100, such as 4");
    assert!(Tfrc::new(Config { min: Rate::ZERO, ..Config::default() }).is_err());
    assert!(Tfrc::new(Config { initial_timeout: Span::ZERO, ..Config::default() }).is_err());
}
