use alloc::vec::Vec;

use super::*;
use crate::packet::{FramePlace, PacketId};
use crate::testing::{Flow, place};

const MS: fn(u64) -> Time = Time::from_millis;
const FRAME: Span = Span::from_nanos(33_333_333);
const PERIOD: Span = Span::from_nanos(32 * 33_333_333);

/// A sender of trains over a path with a constant rate and 20 ms each way, with feedback every 50 ms.
struct World {
    controller: Flow<Rebera>,
    now: Time,
    frame: u64,
    free: Time,
    rate: Rate,
    /// Packets and their arrivals.
    under_way: Vec<(u64, Time)>,
    budgets: Vec<Bytes>,
}

impl World {
    fn new(config: Config, rate: Rate) -> World {
        let controller = Flow::new(Rebera::new(config).unwrap());
        let (now, free) = (Time::ZERO, Time::ZERO);
        World { controller, now, frame: 0, free, rate, under_way: Vec::new(), budgets: Vec::new() }
    }

    /// Sends one frame of `packets` packets of 600 bytes.
    fn frame(&mut self, packets: u64) {
        if self.frame.is_multiple_of(32) {
            self.controller.on_period(self.now, PERIOD);
            self.budgets.extend(self.controller.limits().media.period());
        }
        for index in 0..packets {
            let offset = Bytes::new(600 * index);
            let place = place(self.frame, index + 1 == packets, self.now);
            let place = FramePlace { first: index == 0, offset, ..place };
            let id = self.controller.send(self.now, 600, |packet| packet.place = Some(place)).0;
            self.free = self.free.max(self.now) + self.rate.time_for(Bytes::new(600));
            self.under_way.push((id, self.free + Span::from_millis(20)));
        }
        self.frame += 1;
        self.pass(FRAME);
    }

    fn pass(&mut self, span: Span) {
        self.now += span;
        let now = self.now;
        let (reported, still): (Vec<_>, Vec<_>) =
            self.under_way.iter().partition(|(_, at)| *at + Span::from_millis(20) <= now);
        self.under_way = still;
        if !reported.is_empty() {
            self.controller.report(now, &reported);
        }
        if self.controller.next_timeout() <= now {
            self.controller.on_timeout(now);
        }
    }

    fn frames(&mut self, count: u32, packets: u64) {
        (0..count).for_each(|_| self.frame(packets));
    }
}

fn paper() -> Config {
    let measurement = MeasurementConfig { short: Short::LeftOut, ..MeasurementConfig::default() };
    let margin = MarginConfig { first: 0, ..MarginConfig::default() };
    Config { backlog: Backlog::All, measurement, margin, ..Config::default() }
}

#[test]
fn the_budget_is_what_the_forecast_less_its_margin_bears_in_a_period_less_the_backlog() {
    // specs/rebera.md 9, example 2: 450 kbps, a margin of 40, 8000 bytes in flight.
    let mut rebera = Rebera::new(paper()).unwrap();
    (0..400).for_each(|_| rebera.forecast.predictor.observe(Rate::from_kbps(450)));
    (0..20).for_each(|_| rebera.forecast.margin.add(Rate::from_kbps(410), Rate::from_kbps(450)));
    rebera.sent.on_sent(&SentPacket::new(PacketId(0), Time::ZERO, Bytes::new(20_000)));
    rebera.report = PathReport { received: Bytes::new(11_000), lost: Bytes::new(1000), ..PathReport::default() };
    rebera.replan(MS(1000));
    let budget = rebera.limits().media.period().unwrap().get();
    assert!(budget.abs_diff(46_667) <= 10, "{budget}");
    assert_eq!(rebera.plan.backlog, Bytes::new(8000));
}

#[test]
fn before_anything_is_measured_the_budget_is_that_of_120_kbps() {
    let mut rebera = Rebera::new(paper()).unwrap();
    rebera.on_period(Time::ZERO, PERIOD);
    assert_eq!(rebera.limits().media.period().map(|budget| budget.get().abs_diff(16_000) <= 1), Some(true));
}

#[test]
fn trains_that_queue_show_what_the_path_bears_however_little_is_sent() {
    // 12 packets a frame would be 1.7 Mbps; two are 288 kbps, and their spacing still shows the capacity.
    let mut world = World::new(paper(), Rate::from_kbps(400));
    world.frames(320, 2);
    let measured = world.controller.measured().unwrap();
    assert!(measured.as_bps().abs_diff(400_000) < 500, "{measured}");
    let forecast = world.controller.forecast().unwrap();
    assert!(forecast.as_bps().abs_diff(400_000) < 8_000, "{forecast}");
    // Ten periods are too few for the quantile: 15 % are withheld, plus the bytes in flight.
    let last = world.budgets.last().unwrap().get();
    assert!((42_000..45_400).contains(&last), "{last}");
}

#[test]
fn a_path_too_fast_to_be_measured_is_known_to_bear_a_frame_in_the_shortest_time() {
    let of = |config| {
        let mut world = World::new(config, Rate::from_kbps(20_000));
        world.frames(64, 10);
        world.controller.measured()
    };
    assert_eq!(of(paper()), None);
    // 9 packets of 600 bytes in 10 ms.
    assert_eq!(of(Config::default()), Some(Rate::from_kbps(4320)));
}

#[test]
fn a_backlog_is_what_waits_and_not_what_is_on_its_way() {
    let of = |backlog| {
        let mut world = World::new(Config { backlog, ..paper() }, Rate::from_kbps(400));
        world.frames(320, 2);
        *world.budgets.last().unwrap()
    };
    assert!(of(Backlog::Waiting) >= of(Backlog::All) + Bytes::new(1200));
}

#[test]
fn in_an_outage_sending_stops_and_after_three_seconds_one_frame_a_period_tries() {
    let mut world = World::new(Config::default(), Rate::from_kbps(400));
    world.frames(96, 2);
    assert_eq!(world.controller.limits().media.share(), 1.0);
    world.rate = Rate::from_bps(1);
    world.frames(30, 2);
    assert_eq!(world.controller.limits().media.share(), 0.0);
    (0..80).for_each(|_| world.pass(FRAME));
    world.controller.on_period(world.now, PERIOD);
    let limits = world.controller.limits();
    assert_eq!(limits.media, MediaLimit::Period(Bytes::ZERO));
    // The queued packets arrive.
    let now = world.now;
    world.under_way.iter_mut().for_each(|(_, at)| *at = now);
    world.pass(Span::from_millis(50));
    world.controller.on_period(world.now, PERIOD);
    assert!(world.controller.limits().media.period().unwrap() > Bytes::new(20_000));
}

#[test]
fn a_receiver_that_measures_is_believed_and_one_that_says_nothing_is_not_waited_for() {
    let config = Config { measured_by: End::Receiver, ..Config::default() };
    let mut world = World::new(config, Rate::from_kbps(400));
    world.frames(64, 2);
    assert!(world.controller.measured().unwrap().as_bps().abs_diff(400_000) < 500);
    let report = |world: &mut World, kbps, bytes| {
        let (capacity, received) = (Some(Rate::from_kbps(kbps)), Bytes::new(bytes));
        world.controller.on_path_report(world.now, PathReport { capacity, received, ..PathReport::default() });
    };
    report(&mut world, 300, 60_000);
    world.frames(10, 2);
    assert_eq!(world.controller.measured(), Some(Rate::from_kbps(300)));
    // A receiver cannot have received more than was sent, and a report of fewer bytes than before has nothing new.
    for bytes in [1 << 40, 59_999] {
        report(&mut world, 900, bytes);
        assert_eq!(world.controller.measured(), Some(Rate::from_kbps(300)));
    }
    // A receiver that stops reporting is not waited for.
    world.frames(80, 2);
    assert_eq!(world.controller.measured(), Some(Rate::from_kbps(300)));
    world.frames(64, 2);
    assert!(world.controller.measured().unwrap().as_bps().abs_diff(400_000) < 500);
}

#[test]
fn a_group_that_begins_at_once_again_is_no_sample() {
    let mut world = World::new(paper(), Rate::from_kbps(400));
    world.frames(64, 2);
    let state = |rebera: &Rebera| (rebera.forecast(), rebera.began);
    let (now, before) = (world.now, state(&world.controller));
    world.controller.on_period(now, PERIOD);
    assert_eq!(world.controller.began, Some(now));
    let after = state(&world.controller);
    assert_ne!(before, after);
    world.controller.on_period(now + Span::from_millis(100), PERIOD);
    assert_eq!(state(&world.controller), after);
}

#[test]
fn what_is_out_of_range_is_refused_with_the_value_and_the_range() {
    let refused = [
        Config { period: Span::ZERO, ..Config::default() },
        Config { start: Rate::ZERO, ..Config::default() },
        Config { stop_after: Span::ZERO, ..Config::default() },
        Config { retry_after: Span::from_millis(100), ..Config::default() },
        Config { measurement: MeasurementConfig { window: Span::ZERO, ..Default::default() }, ..Config::default() },
        Config { measurement: MeasurementConfig { shortest: Span::ZERO, ..Default::default() }, ..Config::default() },
        Config { margin: MarginConfig { delta: 2.0, ..MarginConfig::default() }, ..Config::default() },
        Config { predictor: crate::estimate::forecast::Config::MovingAverage(-1.0), ..Config::default() },
    ];
    for config in refused {
        assert!(Rebera::new(config).is_err(), "{config:?}");
    }
}
