//! A model of a sender in operation that every controller must survive: any order of sending, reports, silence and
//! time.

use crate::support::subjects::{self, Feed, Subject};
use proptest::prelude::*;
use thalweg_control::{
    Acknowledgement, Controller, Demand, History, LossDetectionConfig, MSS, PacketId, Payload, SendLimits, SentPacket,
};
use thalweg_units::{Bytes, Ecn, Rate, Span, Time};

/// The next event.
#[derive(Debug, Clone)]
enum Operation {
    /// Packets of one size leave at the path's rate, possibly as part of the pending probe.
    Send { count: u8, size: u16, probe: bool, app_limited: bool },
    /// After a round trip, a report covers up to `count` packets: those whose bit in `lost` is set never arrived.
    Report { count: u8, lost: u64, backwards: bool, twice: bool, early_ones_left_out: u8, hold_ms: Option<u8> },
    /// A report names packets that were never sent or are long forgotten.
    Nonsense { id: u64 },
    /// Time passes with only timeouts.
    Silence { ms: u16 },
    /// The application changes its demand.
    Demand { kbps: u32 },
    /// The receiver's clock is set, or the receiver lies about arrival times from now on.
    Jump { ms: i64 },
}

/// A path and a receiver's clock.
#[derive(Debug, Clone, Copy)]
struct Path {
    rate: Rate,
    one_way: Span,
    offset: Span,
    drift_ppm: f64,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => (1u8..60, prop_oneof![Just(200u16), Just(1200), Just(1500), 40u16..1500], any::<bool>(), any::<bool>())
            .prop_map(|(count, size, probe, app_limited)| Operation::Send { count, size, probe, app_limited }),
        6 => (1u8..64, prop_oneof![2 => Just(0u64), 1 => any::<u64>(), 1 => Just(u64::MAX), 2 => (0u32..64).prop_map(|bit| 1 << bit)],
              any::<bool>(), any::<bool>(), prop_oneof![3 => Just(0u8), 1 => 0u8..20], prop::option::of(0u8..70))
            .prop_map(|(count, lost, backwards, twice, early_ones_left_out, hold_ms)| {
                Operation::Report { count, lost, backwards, twice, early_ones_left_out, hold_ms }
            }),
        1 => prop_oneof![0u64..200, Just(u64::MAX), any::<u64>()].prop_map(|id| Operation::Nonsense { id }),
        2 => prop_oneof![0u16..200, 1000u16..12_000].prop_map(|ms| Operation::Silence { ms }),
        1 => prop_oneof![30u32..20_000, Just(1_000_000)].prop_map(|kbps| Operation::Demand { kbps }),
        1 => prop_oneof![-300i64..300, -100_000_000i64..100_000_000].prop_map(|ms| Operation::Jump { ms }),
    ]
}

fn path() -> impl Strategy<Value = Path> {
    let rate = (5.0f64..8.31).prop_map(|exponent| Rate::from_bps_f64(10f64.powf(exponent)));
    let offset = prop_oneof![Just(Span::ZERO), (0i64..100_000).prop_map(Span::from_secs)];
    // Crystals, and the most that a scenario may ask for (`clock_drift_ppm`).
    let drift = prop_oneof![3 => -100.0f64..100.0, 1 => -50_000.0f64..50_000.0];
    (rate, 2500i64..250_000, offset, drift).prop_map(|(rate, one_way_us, offset, drift_ppm)| Path {
        rate,
        one_way: Span::from_micros(one_way_us),
        offset,
        drift_ppm,
    })
}

/// A sender and its packets in flight.
struct Life {
    subject: &'static Subject,
    path: Path,
    demand: Demand,
    now: Time,
    history: History,
    controller: Box<dyn Controller>,
    next: u64,
    /// Sent and not yet reported: number and arrival by the receiver's clock.
    unreported: Vec<(PacketId, Time)>,
    limits_of_all: Vec<SendLimits>,
}

impl Life {
    fn new(subject: &'static Subject, path: Path) -> Life {
        let demand = Demand { min: Rate::from_kbps(30), max: Rate::from_kbps(12_000) };
        let mut controller = (subject.build)();
        controller.on_demand(Time::ZERO, demand);
        Life {
            subject,
            path,
            demand,
            now: Time::from_millis(1),
            history: History::new(LossDetectionConfig::default()),
            controller,
            next: 0,
            unreported: Vec::new(),
            limits_of_all: Vec::new(),
        }
    }

    fn live(mut self, operations: &[Operation]) -> Vec<SendLimits> {
        for operation in operations {
            self.operate(operation);
            let limits = self.controller.limits();
            assert_eq!(limits, self.controller.limits(), "asking changes nothing");
            assert_usable(&limits);
            self.assert_within_demand(&limits);
            self.limits_of_all.push(limits);
        }
        let mut decisions = 0;
        while let Some(decision) = self.controller.poll_decision() {
            assert!(decision.at <= self.now && !decision.what.is_empty() && !decision.why.is_empty());
            decisions += 1;
            assert!(decisions <= 1000, "decisions that nobody polls pile up");
        }
        self.controller.inspect(&mut |name, value| assert!(value.is_finite(), "{name} is {value}"));
        self.limits_of_all
    }

    fn operate(&mut self, operation: &Operation) {
        match *operation {
            Operation::Send { count, size, probe, app_limited } => {
                (0..count).for_each(|_| self.send(Bytes::new(size.into()), probe, app_limited));
            }
            Operation::Report { count, lost, backwards, twice, early_ones_left_out, hold_ms } => {
                self.pass(self.path.one_way * 2);
                let skip = usize::from(early_ones_left_out).min(self.unreported.len());
                let end = (skip + usize::from(count)).min(self.unreported.len());
                let reported: Vec<(PacketId, Time)> = self.unreported.drain(skip..end).collect();
                let mut report: Vec<Acknowledgement> = reported
                    .iter()
                    .enumerate()
                    .map(|(index, (id, at))| {
                        let arrival = (lost >> (index % 64) & 1 == 0).then_some(*at);
                        Acknowledgement::new(*id, arrival).with_ecn(if index % 7 == 3 { Ecn::Ce } else { Ecn::Ect1 })
                    })
                    .collect();
                if backwards {
                    report.reverse();
                }
                let hold = hold_ms.map(|ms| Span::from_millis(ms.into()));
                (0..1 + u8::from(twice)).for_each(|_| self.on_report(&report, hold));
            }
            Operation::Nonsense { id } => {
                let arrival = Some(self.now + self.path.offset);
                self.on_report(&[Acknowledgement::new(PacketId(id), arrival)], None);
            }
            Operation::Silence { ms } => self.pass(Span::from_millis(ms.into())),
            Operation::Demand { kbps } => {
                self.demand.max = Rate::from_kbps(kbps.into());
                self.controller.on_demand(self.now, self.demand);
            }
            Operation::Jump { ms } => self.path.offset += Span::from_millis(ms),
        }
    }

    /// The schemes of FBRA's paper set an encoder target, which never exceeds the encoder's range; their own min rate
    /// is 32 kbps.
    fn assert_within_demand(&self, limits: &SendLimits) {
        let Demand { min, max } = self.demand;
        let floor = min.max(Rate::from_kbps(32)).min(max);
        let within = limits.capacity >= floor && limits.capacity <= max;
        assert!(self.subject.feed != Feed::Course || within, "{}: {limits:?} for {min} to {max}", self.subject.name);
    }

    fn send(&mut self, size: Bytes, probe: bool, app_limited: bool) {
        self.pass(self.path.rate.time_for(size));
        let probe = self.controller.limits().probe.filter(|_| probe).map(|probe| probe.cluster);
        let id = PacketId(self.next);
        self.next += 1;
        let mut packet = SentPacket::new(id, self.now, size);
        packet.payload = if size < Bytes::new(500) { Payload::Padding } else { Payload::Media };
        (packet.probe, packet.app_limited) = (probe, app_limited);
        let packet = self.history.on_sent(packet);
        self.controller.on_sent(&packet);
        let arrival = self.now + self.path.one_way;
        let drift = arrival.since_start().scale(self.path.drift_ppm * 1e-6);
        self.unreported.push((id, arrival + drift + self.path.offset));
    }

    fn on_report(&mut self, report: &[Acknowledgement], hold: Option<Span>) {
        let feedback = self.history.on_report(self.now, report, hold);
        assert!(feedback.reports.is_sorted_by_key(|report| report.packet.id), "reports in order of sending");
        self.controller.on_feedback(&feedback);
    }

    /// Advances time, running every timeout that is due.
    fn pass(&mut self, span: Span) {
        let until = self.now + span;
        loop {
            let due = self.history.next_timeout().min(self.controller.next_timeout()).max(self.now);
            if due > until {
                break;
            }
            self.now = due;
            if let Some(feedback) = self.history.on_timeout(due) {
                self.controller.on_feedback(&feedback);
            }
            if self.controller.next_timeout() <= due {
                self.controller.on_timeout(due);
                assert!(self.controller.next_timeout() > due, "a timeout that stays due would spin");
            }
        }
        self.now = until;
    }
}

fn assert_usable(limits: &SendLimits) {
    assert!(limits.window.is_none_or(|window| window >= MSS && window < Bytes::MAX), "{limits:?}");
    assert!(limits.pacing > Rate::ZERO && limits.pacing < Rate::MAX, "{limits:?}");
    assert!(limits.capacity > Rate::ZERO && limits.capacity < Rate::MAX, "{limits:?}");
    assert!(limits.padding.rate() < Rate::MAX, "{limits:?}");
    assert!((0.0..=1.0).contains(&limits.media.share()), "{limits:?}");
    if let Some(probe) = limits.probe {
        assert!(probe.rate > Rate::ZERO && probe.rate < Rate::MAX && probe.packets > 0, "{probe:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]
    #[test]
    fn every_controller_survives_every_order_of_events_and_repeats_itself(
        path in path(),
        operations in prop::collection::vec(operation(), 1..80),
    ) {
        for subject in subjects::ALL {
            let first = Life::new(subject, path).live(&operations);
            let second = Life::new(subject, path).live(&operations);
            prop_assert!(first == second, "{} differs between two runs", subject.name);
        }
    }
}
