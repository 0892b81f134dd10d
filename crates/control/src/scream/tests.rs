use super::*;
use crate::ecn::ClassicConfig;
use crate::feedback::Report;
use crate::packet::PacketId;
use alloc::vec;
use alloc::vec::Vec;
use thalweg_units::Ecn;

const MS: fn(u64) -> Time = Time::from_millis;

/// A sender that keeps a window of 50 kB in flight on a path of 50 ms.
struct Flow {
    scream: Scream,
    reports: Vec<Report>,
}

impl Flow {
    fn new(config: Config) -> Flow {
        let mut scream = Scream::new(config).unwrap();
        scream.on_demand(Time::ZERO, Demand { min: Rate::from_kbps(30), max: Rate::from_kbps(50_000) });
        scream.on_round_trip(Span::from_millis(50));
        scream.window.set(Bytes::new(50_000));
        scream.in_flight.note(MS(1000), Bytes::new(50_000), Span::from_millis(50));
        Flow { scream, reports: Vec::new() }
    }

    /// 1000-byte packets sent 50 ms ago, each of which arrived with or without a mark, or was lost.
    fn report(&mut self, now: Time, fates: &[Option<bool>], delay: Span) -> Bytes {
        let sent = |id| SentPacket::new(PacketId(id), now - Span::from_millis(50), Bytes::new(1000));
        let fate = |fate: Option<bool>| match fate {
            Some(ce) => Fate::Arrived { at: now, ecn: if ce { Ecn::Ce } else { Ecn::Ect1 }, was_lost: false },
            None => Fate::Lost,
        };
        self.reports = (0..).zip(fates).map(|(id, kind)| Report { packet: sent(id), fate: fate(*kind) }).collect();
        self.scream.on_feedback(&Feedback {
            rtt: Some(Span::from_millis(50)),
            newest_delay: Some(delay),
            path_rtt: Some(Span::from_millis(50)),
            srtt: Some(Span::from_millis(50)),
            min_rtt: Some(Span::from_millis(50)),
            in_flight: Bytes::new(50_000),
            ..Feedback::new(now, Cause::Report, &self.reports)
        });
        self.scream.window.bytes()
    }
}

#[test]
fn a_loss_shrinks_the_window_and_what_arrived_beside_it_grows_it() {
    let mut flow = Flow::new(Config::default());
    let window = flow.report(MS(1010), &[None], Span::from_millis(25));
    assert_eq!(window, Bytes::new(35_000));
    let decision = flow.scream.poll_decision().unwrap();
    assert_eq!((decision.what, decision.why), ("decrease", "packets were lost"));
    let mut both = Flow::new(Config::default());
    // 1000 B of 35 kB, no congestion-free time: 1000 x 1000 / 35 000.
    assert_eq!(both.report(MS(1010), &[None, Some(false)], Span::from_millis(25)), Bytes::new(35_029));
}

#[test]
fn a_loss_while_no_answer_is_due_is_answered_when_one_is() {
    let mut flow = Flow::new(Config::default());
    flow.report(MS(1010), &[None], Span::from_millis(25));
    assert_eq!(flow.report(MS(1020), &[None], Span::from_millis(25)), Bytes::new(35_000));
    assert_eq!(flow.report(MS(1036), &[], Span::from_millis(25)), Bytes::new(24_500));
    let window = WindowConfig { losses: Losses::EachRoundTrip, ..WindowConfig::default() };
    let mut once = Flow::new(Config { window, ..Config::default() });
    once.report(MS(1010), &[None], Span::from_millis(25));
    once.report(MS(1036), &[None], Span::from_millis(25));
    assert_eq!(once.report(MS(1070), &[], Span::from_millis(25)), Bytes::new(35_000), "the same congestion");
}

#[test]
fn a_queue_half_way_between_half_its_target_and_its_target_takes_an_eighth_each_virtual_round_trip() {
    let mut flow = Flow::new(Config::default());
    flow.scream.queue = QueueDelay::standing_at(Span::from_millis(45));
    let why = flow.scream.update_window(MS(1000), Span::from_millis(50), Bytes::ZERO);
    assert_eq!((flow.scream.window.bytes(), why), (Bytes::new(43_750), Some("queueing delay above half its target")));
    let why = flow.scream.update_window(MS(1025), Span::from_millis(50), Bytes::ZERO);
    assert_eq!((flow.scream.window.bytes(), why), (Bytes::new(38_281), None));
}

#[test]
fn marks_are_answered_by_one_factor_or_on_an_l4s_path_by_their_share() {
    let mut classic = Flow::new(Config::default());
    assert_eq!(classic.report(MS(1010), &[Some(true)], Span::from_millis(25)), Bytes::new(40_000));
    let mut l4s = Flow::new(Config { l4s: Some(L4s::default()), ..Config::default() });
    l4s.scream.marking = Marking::of(0.5);
    // Half of the packets are marked: the window falls by an eighth, because there are two reactions per round trip;
    // then 1000 B increase the result by 1000 x 1000 / 43 750.
    let window = l4s.report(MS(1010), &[Some(true), Some(false)], Span::from_millis(25));
    assert_eq!(window, Bytes::new(43_750 + 23));
}

#[test]
fn a_packet_that_is_reported_again_with_a_mark_is_one_mark() {
    let mut flow = Flow::new(Config { l4s: Some(L4s::default()), ..Config::default() });
    flow.scream.marking = Marking::of(0.5);
    flow.report(MS(1010), &[Some(false); 4], Span::from_millis(25));
    let before = flow.scream.window.bytes();
    flow.reports.clear();
    let late =
        Feedback { srtt: Some(Span::from_millis(50)), late_marks: 1, ..Feedback::new(MS(1040), Cause::Report, &[]) };
    flow.scream.on_feedback(&late);
    // 1 - alpha / 2 / (50 ms / 25 ms), and alpha fell by a 128th with the first report.
    let alpha = 0.5 * 127.0 / 128.0;
    let left = flow.scream.window.bytes().as_f64() / before.as_f64();
    assert!((left - (1.0 - alpha / 4.0)).abs() < 1e-4, "{left}");
    // It is in the average with what arrives next: one of two packets of an interval.
    flow.report(MS(1050), &[Some(false); 2], Span::from_millis(25));
    assert!(
        (flow.scream.marking.alpha() - (alpha + (0.5 - alpha) / 8.0)).abs() < 1e-9,
        "{}",
        flow.scream.marking.alpha()
    );
}

#[test]
fn marks_of_a_classic_queue_are_answered_by_one_factor_once_in_a_round_trip() {
    let l4s = L4s { classic: Some(ClassicConfig::default()), ..L4s::default() };
    let mut flow = Flow::new(Config { l4s: Some(l4s), ..Config::default() });
    // Packets of 50 ms without a queue, and each second five reports of marks behind one of 20 ms: after three of those
    // seconds its marks are a classic queue's.
    let mut report = |ms: u64, marked: bool| {
        flow.scream.window.set(Bytes::new(50_000));
        let packet = SentPacket::new(PacketId(0), MS(ms - 100), Bytes::new(1000));
        let (ecn, way) = if marked { (Ecn::Ce, 45) } else { (Ecn::Ect1, 25) };
        let fate = Fate::Arrived { at: MS(ms - 100 + way), ecn, was_lost: false };
        let reports = [Report { packet, fate }];
        let feedback = Feedback::new(MS(ms), Cause::Report, &reports);
        flow.scream.on_feedback(&Feedback { srtt: Some(Span::from_millis(50)), ..feedback });
        (flow.scream.window.bytes().as_f64() / 50_000.0 * 1000.0).round() as u64
    };
    for ms in (1000..4000).step_by(100) {
        report(ms, ms % 200 == 100);
    }
    assert!(report(4000, false) >= 1000, "no mark");
    assert_eq!([4050, 4080, 4105].map(|ms| report(ms, true)), [800, 1000, 800]);
}

#[test]
fn silence_halves_the_window_each_second_down_to_the_least() {
    let mut flow = Flow::new(Config::default());
    flow.report(MS(1000), &[Some(false)], Span::from_millis(25));
    let mut windows = vec![];
    while windows.len() < 6 {
        let due = flow.scream.next_timeout();
        flow.scream.on_timeout(due);
        windows.push((due.as_millis(), flow.scream.window.bytes().get()));
    }
    assert_eq!(windows[..2], [(2000, 25_020), (3000, 12_510)]);
    assert_eq!(windows[5], (7000, 3000));
}

#[test]
fn nothing_is_awaited_while_nothing_is_under_way() {
    let mut scream = crate::testing::Flow::new(Scream::new(Config::default()).unwrap());
    assert_eq!(scream.next_timeout(), Time::NEVER);
    scream.send(MS(10), 1000, |_| {});
    assert_eq!(scream.next_timeout(), MS(1010));
    scream.report(MS(60), &[(0, MS(30))]);
    assert_eq!(scream.next_timeout(), Time::NEVER);
}

#[test]
fn the_first_window_is_what_the_start_rate_needs_for_a_round_trip() {
    for (srtt_ms, bytes) in [(50, 3000), (200, 7500)] {
        let mut scream = Scream::new(Config::default()).unwrap();
        assert_eq!(scream.limits().capacity, Rate::from_kbps(300));
        scream.on_round_trip(Span::from_millis(srtt_ms));
        assert_eq!(scream.window.bytes(), Bytes::new(bytes));
    }
}

#[test]
fn parameters_that_cannot_work_are_refused_with_value_and_range() {
    let window = WindowConfig { beta_loss: 1.5, ..WindowConfig::default() };
    let message = alloc::format!("{}", Scream::new(Config { window, ..Config::default() }).unwrap_err());
    assert_eq!(message, "scream.window.beta_loss is 1.5, must be 0.1 to 1, such as 0.7");
    let delay = DelayConfig { target: Span::ZERO, ..DelayConfig::default() };
    assert!(Scream::new(Config { delay, ..Config::default() }).is_err());
}
