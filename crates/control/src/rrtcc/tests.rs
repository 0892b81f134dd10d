use super::*;
use crate::testing::{self, whole};
use thalweg_units::Bytes;

const KBPS: fn(u64) -> Rate = Rate::from_kbps;

/// A frame of one packet every 33 ms over a path of 100 ms, with per-packet feedback, from a receiver whose clock is a
/// day ahead.
struct Flow {
    flow: testing::Flow<Rrtcc>,
    clock: Span,
    /// Queueing delay, in microseconds.
    queue_us: u64,
}

impl Flow {
    fn new(config: Config) -> Flow {
        let flow = testing::Flow::new(Rrtcc::new(config).unwrap());
        Flow { flow, clock: Span::from_secs(86_400), queue_us: 0 }
    }

    /// Sends `count` frames of `bytes` bytes, each leaving the queue `grows_us` later than the one before.
    fn frames(&mut self, count: u64, bytes: u64, grows_us: u64, lost: impl Fn(u64) -> bool) {
        for _ in 0..count {
            let at = Time::from_micros(33_000 * self.flow.sender.next);
            let id = self.flow.send(at, bytes, |packet| packet.place = Some(whole(packet.id.0, at))).0;
            self.queue_us += grows_us;
            if !lost(id) {
                let arrival = at + Span::from_millis(50) + Span::from_micros(self.queue_us as i64);
                self.flow.report(arrival + Span::from_millis(50), &[(id, arrival + self.clock)]);
            }
        }
    }
}

#[test]
fn on_a_quiet_path_both_halves_grow_by_five_percent_a_second() {
    let mut flow = Flow::new(Config::default());
    // 128 kbps; the rate that arrives allows half as much again.
    flow.frames(121, 528, 0, |_| false);
    // Three or four steps of a little less than 5 % and one kilobit.
    let rate = flow.flow.rate().as_kbps_f64();
    assert!((145.0..172.0).contains(&rate), "{rate}");
    assert_eq!(flow.flow.usage(), Usage::Normal);
    flow.frames(600, 528, 0, |_| false);
    let rate = flow.flow.rate().as_kbps_f64();
    assert!((180.0..=193.0).contains(&rate), "1.5 times what arrives: {rate}");
}

#[test]
fn frames_that_take_longer_each_time_are_overuse_at_once_and_cut_the_rate() {
    let mut flow = Flow::new(Config { start: KBPS(300), ..Config::default() });
    flow.frames(90, 1000, 0, |_| false);
    let before = flow.flow.rate();
    flow.flow.decisions();
    flow.frames(40, 1000, 6_000, |_| false);
    assert_eq!(flow.flow.usage(), Usage::Over);
    assert!(flow.flow.decisions().contains(&("decrease", "overuse: less than what arrives")));
    // 242 kbps arrived; in the end a fifth less.
    assert!(flow.flow.rate() < before && (150.0..230.0).contains(&flow.flow.rate().as_kbps_f64()));
}

#[test]
fn a_fifth_of_the_packets_lost_takes_a_tenth_of_the_rate_each_second() {
    let config = LossConfig { tfrc_floor: false, ..LossConfig::default() };
    let mut flow = Flow::new(Config { start: KBPS(300), loss: config, ..Config::default() });
    flow.frames(300, 1000, 0, |id| id % 5 == 0);
    // After nine seconds.
    let rate = flow.flow.rate().as_kbps_f64();
    assert!((100.0..150.0).contains(&rate), "{rate}");
    assert!((flow.flow.loss - 0.2).abs() < 0.05);
    let mut floored = Flow::new(Config { start: KBPS(300), ..Config::default() });
    floored.frames(300, 1000, 0, |id| id % 5 == 0);
    let tfrc = Equation::new(Bytes::new(1000), Span::from_millis(100)).rate(0.2).as_kbps_f64();
    assert!(tfrc < 150.0 && floored.flow.rate().as_kbps_f64() >= 0.7 * tfrc);
}

#[test]
fn a_clock_that_jumps_begins_the_filter_anew_and_changes_no_rate() {
    for jump in [-80_000, -3, 3, 80_000] {
        let mut flow = Flow::new(Config::default());
        flow.frames(200, 1000, 0, |_| false);
        let before = flow.flow.rate();
        flow.clock += Span::from_secs(jump);
        flow.frames(2, 1000, 0, |_| false);
        assert_eq!(flow.flow.usage(), Usage::Normal);
        assert!(flow.flow.rate() >= before, "{jump}: {} after {before}", flow.flow.rate());
        flow.frames(200, 1000, 0, |_| false);
        assert!(flow.flow.rate() > before, "{jump}");
    }
}

#[test]
fn the_scalar_filter_sees_the_same_queue() {
    let mut flow = Flow::new(Config { filter: FilterConfig::Scalar(ScalarConfig::default()), ..Config::default() });
    flow.frames(90, 1000, 0, |_| false);
    assert_eq!(flow.flow.usage(), Usage::Normal);
    flow.frames(60, 1000, 6_000, |_| false);
    assert_eq!(flow.flow.usage(), Usage::Over);
}

#[test]
fn rates_keep_to_what_the_application_could_use() {
    let mut flow = Flow::new(Config::default());
    flow.flow.on_demand(Time::ZERO, Demand { min: KBPS(30), max: KBPS(140) });
    flow.frames(300, 1000, 0, |_| false);
    assert_eq!((flow.flow.rate(), flow.flow.limits().pacing), (KBPS(140), KBPS(350)));
    flow.frames(300, 1000, 0, |id| id % 2 == 0);
    assert!(flow.flow.rate() >= KBPS(32));
}

#[test]
fn parameters_that_cannot_work_are_refused_with_value_and_range() {
    let receiver = ReceiverConfig { decrease: 0.0, ..ReceiverConfig::default() };
    let message = alloc::format!("{}", Rrtcc::new(Config { receiver, ..Config::default() }).unwrap_err());
    assert_eq!(message, "rrtcc.receiver.decrease is 0, must be 0.01 to 1, such as 0.9");
    let filter = FilterConfig::Scalar(ScalarConfig { gain: 1.0, ..ScalarConfig::default() });
    assert!(Rrtcc::new(Config { filter, ..Config::default() }).is_err());
    let loss = LossConfig { low: 0.5, ..LossConfig::default() };
    assert!(Rrtcc::new(Config { loss, ..Config::default() }).is_err());
}
