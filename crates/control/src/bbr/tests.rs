//! Tests of BBR as a whole: the worked examples of specs/bbr.md 9, and the effect of the states on a closed loop.

use alloc::vec::Vec;

use super::limits::quantum;
use super::*;
use crate::packet::MSS;
use crate::testing::Flow;
use thalweg_units::Seed;

/// BBR with BtlBw 6 Mbps and RTprop 50 ms.
fn six_megabits(state: State) -> Bbr {
    let mut bbr = Bbr::new(Config { seed: Seed::new(3), ..Config::default() }).unwrap();
    bbr.bandwidth.add(&crate::estimate::RateSample {
        rate: Rate::from_kbps(6000),
        delivered: Bytes::new(37_500),
        interval: Span::from_millis(50),
        delivered_before: Bytes::ZERO,
        app_limited: false,
    });
    bbr.round_trip.add(Time::ZERO, Span::from_millis(50), 1.0);
    for _ in 0..4 {
        bbr.full_pipe.on_round(Rate::from_kbps(6000));
    }
    bbr.state = state;
    bbr
}

#[test]
fn six_megabits_and_fifty_milliseconds_make_the_numbers_of_the_first_example() {
    let mut bbr = six_megabits(State::Startup);
    assert_eq!(bbr.bdp(), Some(Bytes::new(37_500)));
    bbr.set_pacing();
    assert_eq!(bbr.pacing, Rate::from_kbps(17_310));
    bbr.state = State::ProbeBw;
    let mut paces = Vec::new();
    for round_trip in 1..=8 {
        bbr.set_pacing();
        paces.push(bbr.pacing.as_bps() / 100_000);
        let (bdp, rt_prop) = (Bytes::new(37_500), Span::from_millis(50));
        let now = Time::from_millis(51 * round_trip);
        bbr.cycle.advance(Flight { now, rt_prop, bdp, before: Bytes::new(50_000), after: bdp + MSS, lost: false });
    }
    assert_eq!(paces, [75, 45, 60, 60, 60, 60, 60, 60], "7.5 and 4.5 Mbps in the cycle");
    bbr.set_pacing();
    assert_eq!(bbr.bdp().unwrap().scale(bbr.cwnd_gain()), Bytes::new(75_000));
    assert_eq!(bbr.target(), Bytes::new(84_000), "two packets leave at once");
}

#[test]
fn bursts_grow_with_the_pace_by_the_drafts_thresholds() {
    let at = |kbps| quantum(Rate::from_kbps(kbps)).get();
    assert_eq!([at(1199), at(1200), at(23_999), at(24_000), at(80_000)], [1500, 3000, 3000, 3000, 10_000]);
    assert_eq!(at(1_000_000), 65_536);
}

impl Flow<Bbr> {
    /// Sends packets of 1500 B.
    fn leave(&mut self, ms: u64, count: u64, app_limited: bool) {
        for _ in 0..count {
            self.send(Time::from_millis(ms), MSS.get(), |packet| packet.app_limited = app_limited);
        }
    }

    fn arrive(&mut self, ms: u64, ids: impl Iterator<Item = u64>) {
        let now = Time::from_millis(ms);
        self.report(now, &ids.map(|id| (id, now - Span::from_millis(25))).collect::<Vec<_>>());
    }

    fn packets_allowed(&self) -> u64 {
        self.limits().window.unwrap().get() / MSS.get()
    }
}

#[test]
fn a_loss_lets_as_much_leave_as_arrives_for_a_round_and_the_window_returns_when_it_is_over() {
    let mut flow = Flow::new(six_megabits(State::ProbeBw));
    flow.cwnd = MSS * 50;
    flow.leave(0, 30, false);
    flow.arrive(50, 1..=3);
    assert_eq!(flow.packets_allowed(), 29, "26 in flight and the 3 that arrived");
    flow.leave(51, 3, false);
    flow.arrive(60, 4..=9);
    assert_eq!(flow.packets_allowed(), 29, "6 may leave for the 6 that arrived");
    flow.leave(61, 6, false);
    flow.arrive(105, 30..=30);
    // 29 were in flight; 10 to 27 are now overtaken; this begins a round, so the window grows again.
    flow.arrive(106, 31..=31);
    let held_back = flow.packets_allowed();
    assert!(held_back < 29, "{held_back}");
    flow.arrive(120, 32..=36);
    assert!(flow.recovery.window().is_some(), "what was sent before the last loss proves nothing");
    flow.leave(121, 1, false);
    flow.arrive(171, 38..=39);
    assert_eq!(flow.recovery.window(), None);
    assert!(flow.packets_allowed() >= 50, "{}", flow.packets_allowed());
}

#[test]
fn after_feedback_timeout_one_packet_may_be_under_way_until_it_arrives() {
    let mut flow = Flow::new(six_megabits(State::ProbeBw));
    flow.cwnd = MSS * 50;
    flow.leave(0, 10, false);
    flow.arrive(50, 0..=4);
    flow.pass(Time::from_millis(2050));
    assert_eq!(flow.limits().window, Some(MSS));
    flow.arrive(2060, 0..0);
    assert_eq!(flow.limits().window, Some(MSS), "a report of nothing is no progress");
    flow.leave(2100, 1, false);
    flow.arrive(2150, 10..=10);
    assert!(flow.packets_allowed() > 40, "{}", flow.packets_allowed());
}

/// The state after a packet, a pause of twenty seconds and another packet with a longer round trip.
fn after_a_pause(app_limited: bool) -> Flow<Bbr> {
    let mut flow = Flow::new(six_megabits(State::ProbeBw));
    flow.leave(100, 1, app_limited);
    flow.arrive(150, 0..=0);
    flow.leave(20_000, 1, app_limited);
    flow.arrive(20_080, 1..=1);
    flow
}

#[test]
fn a_pause_is_no_reason_to_look_for_the_least_round_trip() {
    let flow = after_a_pause(true);
    assert!(matches!(flow.state, State::ProbeBw));
    assert_eq!(flow.round_trip.get(), Some(Span::from_millis(80)), "an old RTprop yields to any sample");
    assert!(matches!(after_a_pause(false).state, State::ProbeRtt(_)));
}

#[test]
fn probe_rtt_leaves_four_packets_or_half_of_what_fits_the_path_as_it_was_known() {
    let flow = after_a_pause(false);
    assert_eq!(flow.packets_allowed(), 4);
    let media = Config { probe_rtt: Config::for_media().probe_rtt, ..Config::default() };
    let mut bbr = six_megabits(State::ProbeBw);
    bbr.config = media;
    assert_eq!(bbr.little(), Bytes::new(18_750));
    let before = bbr.capacity();
    assert_eq!(before, Rate::from_kbps(5700), "0.95 of BtlBw");
    bbr.state = State::ProbeRtt(Probing::new(0, bbr.little()));
    assert_eq!(bbr.capacity(), before.scale(0.5));
}

#[test]
fn padding_is_asked_for_until_media_alone_could_not_use_more() {
    let mut bbr = Bbr::new(Config::of_camel()).unwrap();
    assert!(bbr.limits().padding.rate() > Rate::ZERO);
    bbr.on_demand(Time::ZERO, Demand { min: Rate::from_kbps(30), max: Rate::from_kbps(300) });
    assert_eq!(bbr.limits().padding.rate(), Rate::ZERO, "the target before samples is 300 kbps");
    assert_eq!(Bbr::new(Config::default()).unwrap().limits().padding.rate(), Rate::ZERO);
    let mut probing = six_megabits(State::ProbeBw);
    probing.config.padding = Padding::Probing;
    probing.set_pacing();
    assert_eq!(probing.limits().padding.rate(), Rate::from_kbps(7500));
}

#[test]
fn bounds_hold_at_the_output_and_not_in_the_filter() {
    let mut bbr = six_megabits(State::ProbeBw);
    bbr.config.max_rate = Rate::from_kbps(2000);
    bbr.on_demand(Time::ZERO, Demand { min: Rate::from_kbps(30), max: Rate::from_kbps(1500) });
    bbr.set_pacing();
    assert_eq!((bbr.limits().pacing, bbr.limits().capacity), (Rate::from_kbps(2000), Rate::from_kbps(1500)));
    assert_eq!(bbr.bandwidth.get(), Some(Rate::from_kbps(6000)));
}

#[test]
fn parameters_out_of_range_are_refused_with_their_name_value_and_range() {
    let message = |config: Config| alloc::format!("{}", Bbr::new(config).unwrap_err());
    for (config, name, value) in [
        (Config { high_gain: 0.5, ..Config::default() }, "high_gain", "0.5"),
        (Config { cycle: [0.0; 8], ..Config::default() }, "cycle", "0"),
        (Config { bandwidth_rounds: 0, ..Config::default() }, "rounds", "bandwidth 0"),
        (Config { min_window: Bytes::new(100), ..Config::default() }, "windows", "100B"),
        (Config { start: Rate::ZERO, ..Config::default() }, "rates", "start 0bps"),
        (Config { srtt_before_samples: Span::ZERO, ..Config::default() }, "times", "0ms"),
    ] {
        let message = message(config);
        assert!(message.contains(name) && message.contains(value) && message.contains("must be"), "{message}");
    }
}
