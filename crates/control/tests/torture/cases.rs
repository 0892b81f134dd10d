//! The test cases: a path, an event on it, and when the event ends.

use thalweg_units::{Bytes, Rate, Span};

use crate::support::subjects::{Feed, Subject};
use crate::support::{Clock, REFERENCE, Scenario, Schedule, Source, Style};

/// A case.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: String,
    /// The capacity once the event is over.
    pub rate: Rate,
    pub rtt: Span,
    pub style: Style,
    /// The second in which the event ends; the start for a path without an event.
    pub over: f64,
    /// The seconds between which it must be in steady state.
    pub settled: (f64, f64),
    scenario: Scenario,
    /// Only for subjects with a backlog of packets.
    backlog: bool,
}

impl Case {
    fn new(name: String, style: Style, over: u64, settled: (f64, f64), scenario: Scenario) -> Case {
        let (rate, rtt) = (scenario.capacity.last(), scenario.one_way * 2);
        Case { name, rate, rtt, style, over: over as f64, settled, scenario, backlog: false }
    }

    pub fn suits(&self, subject: &Subject) -> bool {
        // A controller that ignores the network makes sense only at the rate it was given.
        (subject.name != "fixed" || self.rate == REFERENCE) && (subject.feed == Feed::Backlog || !self.backlog)
    }

    /// The scenario with the subject's source, and an application that could use four times the capacity.
    pub fn scenario(&self, subject: &Subject) -> Scenario {
        let mut scenario = self.scenario.clone();
        if subject.feed == Feed::Frames {
            scenario.source = Source::Encoder { share: 1.0, max: self.rate.scale(4.0) };
        }
        scenario
    }
}

/// All cases.
pub fn all() -> Vec<Case> {
    [paths(&RATES_KBPS, &ROUND_TRIPS_MS), reports(), events()].concat()
}

/// The capacities of the paths.
const RATES_KBPS: [u64; 5] = [100, 1000, 6000, 30_000, 200_000];
pub const ROUND_TRIPS_MS: [i64; 4] = [5, 50, 200, 500];

/// Constant paths with an unlimited queue, for each rate with each round trip.
pub fn paths(rates_kbps: &[u64], round_trips_ms: &[i64]) -> Vec<Case> {
    let each = rates_kbps.iter().flat_map(|kbps| round_trips_ms.iter().map(|rtt_ms| (*kbps, *rtt_ms)));
    each.map(|(kbps, rtt_ms)| {
        // Ten seconds at two hundred megabits are enough to settle, and already many packets.
        let (from, to) = if kbps > 100_000 { (10, 15) } else { (15, 25) };
        let scenario = Scenario::new(Rate::from_kbps(kbps), rtt_ms, to);
        Case::new(format!("{kbps} kbps, {rtt_ms} ms"), Style::PerPacket, 0, (from as f64, to as f64), scenario)
    })
    .collect()
}

/// Impairments of packets and reports on the reference path.
pub fn reports() -> Vec<Case> {
    let mut cases = Vec::new();
    for style in Style::ALL {
        let base = || Scenario::reference(style, 40);
        for (what, scenario) in [
            ("plain", base()),
            ("fast clock", Scenario { clock: Clock::ODD, ..base() }),
            ("slow clock", Scenario { clock: Clock::SLOW, ..base() }),
            ("duplicates", Scenario { duplicates: 0.2, ..base() }),
            ("reordering", Scenario { reordering: 0.1, ..base() }),
            ("2 % lost", Scenario { loss: 0.02, ..base() }),
            ("200 B packets", Scenario { source: Source::Backlog(Bytes::new(200)), ..base() }),
        ] {
            let name = format!("{what}, {style:?}");
            let backlog = what == "200 B packets";
            cases.push(Case { backlog, ..Case::new(name, style, 0, (25.0, 40.0), scenario) });
        }
    }
    cases
}

/// Changes of the path, for five or ten seconds from the tenth second on.
pub fn events() -> Vec<Case> {
    let mut cases = Vec::new();
    for style in Style::ALL {
        let during = |rate: Rate| Schedule::steps(&[(0, REFERENCE), (10, rate), (20, REFERENCE)]);
        let base = || Scenario::reference(style, 40);
        for (what, over, scenario) in [
            ("silence", 15, Scenario { silence: Some((10, 15)), ..base() }),
            ("outage", 20, Scenario { capacity: during(Rate::ZERO), ..base() }),
            ("a quarter", 20, Scenario { capacity: during(REFERENCE.scale(0.25)), ..base() }),
            (
                "four times",
                10,
                Scenario { capacity: Schedule::steps(&[(0, REFERENCE), (10, REFERENCE.scale(4.0))]), ..base() },
            ),
            (
                "to a quarter",
                10,
                Scenario { capacity: Schedule::steps(&[(0, REFERENCE.scale(4.0)), (10, REFERENCE)]), ..base() },
            ),
        ] {
            cases.push(Case::new(format!("{what}, {style:?}"), style, over, (30.0, 40.0), scenario));
        }
    }
    // The queue of a slow path takes long to drain.
    for (kbps, rtt_ms, settled) in [(100, 500, (50.0, 60.0)), (30_000, 5, (30.0, 40.0))] {
        let rate = Rate::from_kbps(kbps);
        let base = || Scenario::new(rate, rtt_ms, settled.1 as i64);
        let outage = Schedule::steps(&[(0, rate), (10, Rate::ZERO), (20, rate)]);
        for (what, over, scenario) in [
            ("silence", 15, Scenario { silence: Some((10, 15)), ..base() }),
            ("outage", 20, Scenario { capacity: outage, ..base() }),
        ] {
            let name = format!("{what}, {kbps} kbps, {rtt_ms} ms");
            cases.push(Case::new(name, Style::PerPacket, over, settled, scenario));
        }
    }
    cases
}
