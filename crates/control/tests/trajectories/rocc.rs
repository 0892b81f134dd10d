//! RoCC compared with specs/rocc.md.

use thalweg_control::{Controller, rocc};
use thalweg_units::Rate;

use super::within;
use crate::support::subjects::built;
use crate::support::*;

fn rocc_of_vidaptive() -> Box<dyn Controller> {
    built(rocc::Rocc::new(rocc::Config::default()))
}

#[test]
fn rocc_settles_where_the_worked_example_says() {
    // specs/rocc.md 6, example 1, with packets of 1200 bytes whose own 1.6 ms are part of R_min too: (1.5 x 51.6 + 4)
    // ms.
    let scenario = Scenario::new(Rate::from_kbps(6000), 50, 20);
    let record = scenario.run(rocc_of_vidaptive());
    record.print("rocc gamma 0.5, 6 Mbps, 50 ms");
    within(record.mean_round_trip(10.0, 20.0).as_millis_f64(), 78.0, 83.0, "round trip in ms");
    within(record.arrived(10.0, 20.0).as_mbps_f64(), 5.9, 6.01, "arriving in Mbps");
}

#[test]
fn rocc_doubles_in_three_round_trips() {
    // specs/rocc.md 4: x 1.2645 per round trip, and the constant alpha helps while the window is small.
    let round_trip = 0.2;
    let scenario = Scenario::new(Rate::from_kbps(400_000), 200, 8);
    let record = scenario.run(rocc_of_vidaptive());
    record.print("rocc gamma 0.5, 400 Mbps, 200 ms");
    let (early, late) = (record.arrived(2.4, 2.6), record.arrived(4.2, 4.4));
    let growth = late.as_bps_f64() / early.as_bps_f64();
    let doublings = growth.log2();
    within(1.8 / round_trip / doublings, 2.5, 3.1, "round trips to double");
}

#[test]
fn a_full_link_is_no_longer_path_however_long_it_lasts() {
    // Five searches for a longer path: each finds R_min again, so the standing round trip stays, and little is left unused.
    let record = Scenario::new(Rate::from_kbps(6000), 50, 60).run(rocc_of_vidaptive());
    within(record.mean_round_trip(50.0, 60.0).as_millis_f64(), 78.0, 83.0, "round trip in ms");
    within(record.arrived(10.0, 60.0).as_mbps_f64(), 5.9, 6.01, "arriving in Mbps");
}
