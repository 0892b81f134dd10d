use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::*;
use crate::packet::Payload;
use crate::reporting::tests::reported_of;
use crate::testing;

const MS: fn(u64) -> Time = Time::from_millis;
const KBPS: fn(u64) -> Rate = Rate::from_kbps;

fn rates(goodput: u64, media: u64) -> Rates {
    Rates { goodput: KBPS(goodput), media: KBPS(media), all: KBPS(media), media_packets: 100 }
}

fn at(kbps: u64) -> Fbra {
    Fbra { rate: KBPS(kbps), ..Fbra::new(Config::default()).unwrap() }
}

#[test]
fn an_undershoot_goes_below_what_arrived_by_as_much_as_did_not_and_bounces_back_to_nine_tenths() {
    // specs/fbra.md 8, example 2.
    for (goodput, below, back) in [(170, 126, 153), (90, 32, 81), (250, 180, 180)] {
        let mut fbra = at(200);
        fbra.undershoot(KBPS(goodput), true);
        assert_eq!(fbra.rate, KBPS(below));
        let stored = fbra.pause.unwrap().goodput;
        let quiet = Fbra { delays: Delays::new(&fbra.config), ..fbra.clone() }.delays.judge(
            Time::ZERO,
            &Default::default(),
            false,
        );
        fbra.bounce_back(Time::ZERO, stored, &quiet, &rates(120, 120));
        assert_eq!((fbra.rate, fbra.state, fbra.pause), (KBPS(back), State::Stay, None));
    }
}

#[test]
fn fec_that_was_borne_becomes_media() {
    // specs/fbra.md 8, example 4.
    assert_eq!(at(200).raised(KBPS(23), KBPS(200)), KBPS(223));
    // Not far above the encoder's actual rate, and at most what N = 2 would send.
    assert_eq!(at(200).raised(KBPS(60), KBPS(200)), KBPS(240));
    assert_eq!(at(200).raised(KBPS(60), KBPS(100)), KBPS(200));
    assert_eq!(at(200).raised(KBPS(500), KBPS(400)), KBPS(300));
}

#[test]
fn where_each_report_ends_an_interval_one_within_1_5_round_trips_is_early_and_a_second_datagram_of_it_is_none() {
    let round_trip = Span::from_millis(100);
    let is_due = |each_report, lasted, trouble| {
        let mut fbra = Fbra::new(Config { each_report, ..Config::default() }).unwrap();
        fbra.delays.add(Time::ZERO, round_trip);
        let reported = alloc::vec![reported_of(Payload::Media, 1, 500, Some(round_trip.as_millis()))];
        fbra.delays.judge(Time::ZERO, &Interval { span: round_trip, reported }, false);
        fbra.is_due(Span::from_millis(lasted), trouble)
    };
    // An interval is 200 ms, two round trips.
    for (lasted, each, trouble) in [
        (5, None, Some(true)),
        (20, Some(true), Some(true)),
        (149, Some(true), Some(true)),
        (150, Some(false), Some(false)),
        (199, Some(false), Some(false)),
    ] {
        assert_eq!(is_due(true, lasted, false), each, "each report, {lasted} ms");
        assert_eq!(is_due(false, lasted, false), None, "gathered, {lasted} ms");
        assert_eq!(is_due(false, lasted, true), trouble, "gathered, with a loss, {lasted} ms");
    }
    assert_eq!((is_due(true, 200, false), is_due(false, 200, false)), (Some(false), Some(false)));
}

#[test]
fn n_follows_what_the_encoder_makes_and_what_an_interval_holds() {
    let mut fbra = at(240);
    // specs/fbra.md 3.1.
    fbra.config.fec.at_greatest = 14;
    fbra.greatest.add(Time::ZERO, KBPS(256), Span::from_secs(2));
    fbra.first = Some(KBPS(128));
    assert_eq!(fbra.fec_interval(&rates(240, 240)), 12);
    assert_eq!(fbra.fec_interval(&rates(130, 130)), 2);
    assert_eq!(fbra.fec_interval(&Rates { media_packets: 8, ..rates(240, 240) }), 6);
    assert_eq!(fbra.fec_interval(&Rates { media_packets: 0, ..rates(240, 240) }), 2);
}

/// A packet of 500 bytes every 20 ms over a path of 100 ms with `queue` ms of additional delay; FEC as requested.
struct Flow {
    fbra: testing::Flow<Fbra>,
    now: u64,
    media: u16,
    keeps_fec_back: bool,
    under_way: VecDeque<(u64, u64, Time)>,
    /// States and rates in kbps, at each change.
    course: Vec<(State, u64)>,
}

impl Flow {
    fn new(config: Config) -> Flow {
        Flow {
            fbra: testing::Flow::new(Fbra::new(config).unwrap()),
            now: 0,
            media: 0,
            keeps_fec_back: false,
            under_way: VecDeque::new(),
            course: Vec::new(),
        }
    }

    fn send(&mut self, payload: Payload, queue: u64, lost: bool) {
        let id = self.fbra.send(MS(self.now), 500, |packet| packet.payload = payload).0;
        if !lost {
            self.under_way.push_back((self.now + 100 + queue, id, MS(self.now + 50 + queue)));
        }
    }

    fn run(&mut self, until: u64, queue: u64, lost: impl Fn(u64) -> bool) -> &[(State, u64)] {
        self.course.clear();
        while self.now < until {
            while let Some((_, id, at)) = self.under_way.front().copied().filter(|(due, _, _)| *due <= self.now) {
                self.under_way.pop_front();
                self.fbra.report(MS(self.now), &[(id, at)]);
            }
            self.fbra.pass(MS(self.now));
            if self.now.is_multiple_of(20) {
                self.send(Payload::Media, queue, lost(self.fbra.sender.next));
                self.media += 1;
                let due = self.fbra.limits().fec_interval.is_some_and(|interval| self.media >= interval);
                if due && !self.keeps_fec_back {
                    self.media = 0;
                    self.send(Payload::Repair, queue, false);
                }
            }
            let seen = (self.fbra.state, self.fbra.rate.as_bps() / 1000);
            if self.course.last() != Some(&seen) {
                self.course.push(seen);
            }
            self.now += 1;
        }
        &self.course
    }
}

#[test]
fn on_a_quiet_path_it_stays_twice_probes_with_fec_and_makes_it_media() {
    let mut flow = Flow::new(Config::default());
    let course = flow.run(1400, 0, |_| false);
    let states: Vec<State> = course.iter().map(|(state, _)| *state).collect();
    assert_eq!(states[..4], [State::Stay, State::Probe, State::Up, State::Stay]);
    // Ten packets in 200 ms, N = 2: five of 500 bytes are more than half of 128 kbps.
    let raised = course[2].1;
    assert_eq!(raised, 192, "kbps after the first probe");
    assert_eq!(flow.fbra.decisions()[..2], [("probe", "a quiet path"), ("raise", "the path bore media and FEC")]);
}

#[test]
fn fec_is_asked_for_while_it_probes_and_paced_beyond_the_media() {
    let mut flow = Flow::new(Config::default());
    while flow.fbra.state != State::Probe {
        flow.run(flow.now + 1, 0, |_| false);
    }
    let limits = flow.fbra.limits();
    assert_eq!((limits.fec_interval, limits.capacity), (Some(2), KBPS(128)));
    assert_eq!(limits.pacing, KBPS(192).scale(2.5));
    while flow.fbra.state == State::Probe {
        flow.run(flow.now + 1, 0, |_| false);
    }
    assert_eq!(flow.fbra.limits().fec_interval, None);
}

#[test]
fn a_probe_goes_on_until_fec_has_left() {
    let mut flow = Flow::new(Config { start: KBPS(200), ..Config::default() });
    // As if N packets took longer than an interval.
    flow.keeps_fec_back = true;
    flow.run(3_000, 0, |_| false);
    assert_eq!((flow.fbra.state, flow.fbra.rate), (State::Probe, KBPS(200)));
    flow.keeps_fec_back = false;
    let course = flow.run(3_500, 0, |_| false);
    assert!(course.iter().any(|(state, rate)| *state == State::Up && *rate > 200), "{course:?}");
}

#[test]
fn audio_is_part_of_what_the_rate_is_of() {
    let [picture, audio] = [Payload::Media, Payload::Audio].map(|payload| reported_of(payload, 0, 500, Some(40)));
    let interval = Interval { span: Span::from_millis(100), reported: alloc::vec![picture, audio, audio] };
    let rates = Rates::of(&interval, |_| true);
    assert_eq!((rates.goodput, rates.media, rates.media_packets), (KBPS(120), KBPS(120), 1));
    // Video alone, 40 of 120 kbps, would look like an encoder that cannot use its rate.
    assert_eq!(at(120).raised(KBPS(20), rates.media), KBPS(140));
}

#[test]
fn a_loss_is_told_early_and_cuts_and_the_next_but_one_report_brings_it_back() {
    let mut flow = Flow::new(Config { start: KBPS(200), ..Config::default() });
    flow.run(405, 0, |_| false);
    flow.fbra.decisions();
    let from = flow.fbra.sender.next;
    let course = flow.run(1400, 0, |id| (from..from + 2).contains(&id)).to_vec();
    let down = course.iter().position(|(state, _)| *state == State::Down).expect("a cut");
    assert!(course[down].1 < 150, "{course:?}");
    assert_eq!(course[down + 1].0, State::Stay);
    assert!((120..=180).contains(&course[down + 1].1), "{course:?}");
    let reasons = flow.fbra.decisions();
    assert!(reasons.contains(&("undershoot", "an early report")), "{reasons:?}");
    assert!(reasons.contains(&("stay", "bounce back to 0.9 of what had arrived")), "{reasons:?}");
}

#[test]
fn a_queue_that_grows_stops_the_probes_and_then_cuts() {
    let mut flow = Flow::new(Config::default());
    flow.run(4_000, 0, |_| false);
    // Half of the min round trip is 50 ms: 20 ms of queue give a ratio of 1.4.
    let course = flow.run(5_500, 20, |_| false);
    assert!(course.iter().any(|(state, _)| *state == State::Down), "{course:?}");
    let reasons = flow.fbra.decisions();
    assert!(reasons.iter().any(|(what, why)| *what == "undershoot" && why.contains("delay above")), "{reasons:?}");
}

#[test]
fn packets_later_than_400_ms_are_discards() {
    let mut flow = Flow::new(Config::default());
    flow.run(3_000, 0, |_| false);
    flow.fbra.decisions();
    flow.run(4_500, 360, |_| false);
    assert!(flow.fbra.signs.unwrap().discards);
    assert!(flow.fbra.decisions().iter().any(|(what, _)| *what == "undershoot"));
}

#[test]
fn missing_feedback_halves_the_rate_each_two_seconds_down_to_the_min() {
    let mut flow = Flow::new(Config { start: KBPS(200), ..Config::default() });
    let course = flow.run(9_000, 0, |_| true);
    let rates: Vec<u64> = course.iter().map(|(_, rate)| *rate).collect();
    assert_eq!(rates, [200, 100, 50, 32]);
    assert_eq!(flow.fbra.state, State::Down);
}

#[test]
fn rates_keep_to_what_the_application_could_use() {
    let mut fbra = at(128);
    fbra.on_demand(Time::ZERO, Demand { min: KBPS(10), max: KBPS(100) });
    assert_eq!(fbra.rate, KBPS(100));
    fbra.undershoot(Rate::ZERO, true);
    assert_eq!(fbra.rate, KBPS(32));
    fbra.on_demand(Time::ZERO, Demand { min: KBPS(10), max: KBPS(20) });
    assert_eq!(fbra.rate, KBPS(20));
}

#[test]
fn parameters_that_cannot_work_are_refused_with_value_and_range() {
    let thresholds = Thresholds { stay: 0.5, ..Thresholds::default() };
    let message = alloc::format!("{}", Fbra::new(Config { thresholds, ..Config::default() }).unwrap_err());
    assert_eq!(message, "fbra.thresholds.stay is 0.5, must be 1 to 100, such as 1.1");
    let fec = FecConfig { min: 0, ..FecConfig::default() };
    assert!(Fbra::new(Config { fec, ..Config::default() }).is_err());
    assert!(Fbra::new(Config { longest_interval: Span::from_millis(100), ..Config::default() }).is_err());
}
