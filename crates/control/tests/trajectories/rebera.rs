//! Rebera compared with specs/rebera.md without groups of frames: a period begins by itself every 1.07 s, and the
//! encoder's target is the forecast minus its margin. Whole runs with budgets are in `lab/tests/scenarios/rebera.rs`.

use thalweg_control::{Controller, rebera};
use thalweg_units::Rate;

use super::{ratio, within};
use crate::support::subjects::built;
use crate::support::*;

/// The rate from which a frame is more than one packet.
fn from_600_kbps() -> Box<dyn Controller> {
    built(rebera::Rebera::new(rebera::Config { start: Rate::from_kbps(600), ..rebera::Config::default() }))
}

fn over(capacity: Schedule, seconds: i64) -> Record {
    let plain = Scenario::new(Rate::ZERO, 60, seconds).encoded(0.95, Rate::from_kbps(12_000));
    Scenario { capacity, style: Style::Rfc8888, ..plain }.run(from_600_kbps())
}

#[test]
fn every_capacity_is_found_within_seconds_and_known_to_a_few_percent() {
    for kbps in [800, 1500, 3000, 6000] {
        let rate = Rate::from_kbps(kbps);
        let record = over(Schedule::constant(rate), 60);
        within(ratio(record.target(15.0), rate), 0.8, 0.9, &format!("{kbps} kbps, with 15 % kept back"));
        within(ratio(record.target(55.0), rate), 0.93, 1.03, &format!("{kbps} kbps, by errors"));
        within(ratio(record.arrived(45.0, 60.0), rate), 0.85, 1.0, &format!("{kbps} kbps, utilisation"));
    }
}

#[test]
fn a_fall_to_a_third_is_followed_within_two_periods_and_so_is_the_return() {
    let steps = [(0, 3000), (40, 1000), (60, 3000)].map(|(second, kbps)| (second, Rate::from_kbps(kbps)));
    let record = over(Schedule::steps(&steps), 90);
    within(record.target(44.5).as_kbps_f64(), 700.0, 1_150.0, "kbps after the fall");
    within(record.target(58.0).as_kbps_f64(), 600.0, 1_000.0, "kbps while it lasts");
    within(record.target(85.0).as_kbps_f64(), 2_000.0, 3_100.0, "kbps after the return");
}
