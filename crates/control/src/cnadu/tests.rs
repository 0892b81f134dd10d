use super::*;
use crate::testing::{Flow, whole};
use alloc::vec::Vec;

const KBPS: fn(u64) -> Rate = Rate::from_kbps;

fn flow(config: Config) -> Flow<Cnadu> {
    Flow::new(Cnadu::new(config).unwrap())
}

impl Flow<Cnadu> {
    /// A frame of one packet at the allowed rate, every 33 ms over a path of 100 ms, with per-packet feedback.
    fn run(&mut self, frames: u64, queue_ms: i64, lost: impl Fn(u64) -> bool) {
        for _ in 0..frames {
            let at = Time::from_millis(33 * self.sender.next);
            let size = self.rate.over(Span::from_millis(33)).get();
            let id = self.send(at, size, |packet| packet.place = Some(whole(packet.id.0, at))).0;
            if !lost(id) {
                let arrival = at + Span::from_millis(50 + queue_ms);
                self.report(arrival + Span::from_millis(50), &[(id, arrival)]);
            }
        }
    }
}

#[test]
fn on_a_quiet_path_the_rate_grows_by_eight_percent_each_second() {
    let mut flow = flow(Config::default());
    flow.run(152, 0, |_| false);
    // Five seconds have nine or ten reports: 128 x 1.04^9 = 182.
    let rate = flow.rate.as_kbps_f64();
    assert!((175.0..195.0).contains(&rate), "{rate}");
    assert!(flow.decisions().iter().all(|reported| *reported == ("increase", "between both estimates")));
}

#[test]
fn losses_make_it_go_below_what_arrives_and_leave_a_report_out() {
    let mut flow = flow(Config { start: KBPS(200), ..Config::default() });
    flow.run(60, 0, |_| false);
    let before = flow.rate;
    flow.decisions();
    flow.run(16, 0, |id| id % 4 == 0);
    flow.run(50, 0, |_| false);
    let decisions = flow.decisions();
    assert!(decisions.contains(&("undershoot", "packets were lost")), "{decisions:?}");
    // C is above the rate that arrived: it returns to 0.9 of that, where it already is.
    assert!(flow.pause.is_none());
    assert!(flow.rate < before.scale(1.1) && flow.rate > before.scale(0.5));
}

#[test]
fn a_round_trip_longer_than_nine_in_ten_lowers_the_rate() {
    let mut flow = flow(Config::default());
    flow.run(300, 0, |_| false);
    flow.decisions();
    flow.run(20, 30, |_| false);
    let decisions = flow.decisions();
    assert!(decisions.iter().any(|(what, why)| *what == "decrease" && why.contains("90th")), "{decisions:?}");
}

#[test]
fn frames_later_than_their_playout_make_it_go_below() {
    let mut flow = flow(Config::default());
    flow.run(100, 0, |_| false);
    flow.decisions();
    // 400 ms minus half of the min round trip.
    flow.run(20, 360, |_| false);
    let decisions = flow.decisions();
    assert!(decisions.contains(&("undershoot", "frames missed their playout")), "{decisions:?}");
    assert!(flow.receiver.playout_delay() < Span::from_millis(60));
    // The rate that arrived was above C: once the queue is empty, it returns to 0.9 of it.
    (0..12).for_each(|step| flow.run(1, 330 - 30 * step, |_| false));
    flow.run(60, 0, |_| false);
    let decisions = flow.decisions();
    assert!(decisions.contains(&("bounce back", "0.9 of what had arrived")), "{decisions:?}");
}

#[test]
fn missing_feedback_halves_the_rate_each_two_seconds_down_to_the_min() {
    let mut flow = flow(Config { start: KBPS(200), ..Config::default() });
    flow.run(1, 0, |_| true);
    let rates: Vec<u64> = (0..4)
        .map(|_| {
            flow.expire();
            flow.rate.as_bps() / 1000
        })
        .collect();
    assert_eq!((rates.as_slice(), flow.next_timeout()), (&[100, 50, 32, 32][..], Time::from_millis(10_000)));
}

#[test]
fn rates_keep_to_what_the_application_could_use() {
    let mut flow = flow(Config::default());
    flow.on_demand(Time::ZERO, Demand { min: KBPS(30), max: KBPS(140) });
    flow.run(300, 0, |_| false);
    assert_eq!(flow.limits().capacity, KBPS(140));
}

#[test]
fn parameters_that_cannot_work_are_refused_with_value_and_range() {
    let sender = SenderConfig { growth: 0.5, ..SenderConfig::default() };
    let message = alloc::format!("{}", Cnadu::new(Config { sender, ..Config::default() }).unwrap_err());
    assert_eq!(message, "cnadu.sender.growth is 0.5, must be 1 to 2, such as 1.04");
    assert!(Cnadu::new(Config { timeout: Span::ZERO, ..Config::default() }).is_err());
}
