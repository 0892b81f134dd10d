//! Every controller on difficult paths: it recovers, it does not send more than the capacity, and its queue does not
//! exceed its claim.
//!
//! Add a subject with a line in `support/subjects.rs`. A figure that a published algorithm does not reach is a line in
//! `known.rs`, with bounds on both sides. `--nocapture` prints every figure.

mod bars;
mod cases;
mod figures;
mod known;
mod undershoot;

use crate::support::subjects;
use bars::Judge;
use cases::{Case, ROUND_TRIPS_MS};
use figures::Figures;

fn torture(cases: Vec<Case>) {
    let mut judge = Judge::default();
    for case in &cases {
        for subject in subjects::ALL.iter().filter(|subject| subject.feed.is_tortured() && case.suits(subject)) {
            let record = case.scenario(subject).run((subject.build)());
            let figures = Figures::of(&record, case, subject);
            println!("{:25} {:11} {figures}", case.name, subject.name);
            judge.judge(case, subject, &figures);
        }
    }
    judge.done();
}

#[test]
fn paths_of_every_round_trip_up_to_six_megabits() {
    torture(cases::paths(&[100, 1000, 6000], &ROUND_TRIPS_MS));
}

#[test]
fn paths_of_every_round_trip_with_thirty_megabits() {
    torture(cases::paths(&[30_000], &ROUND_TRIPS_MS));
}

#[test]
fn paths_of_short_round_trips_with_two_hundred_megabits() {
    torture(cases::paths(&[200_000], &ROUND_TRIPS_MS[..2]));
}

#[test]
fn paths_of_long_round_trips_with_two_hundred_megabits() {
    torture(cases::paths(&[200_000], &ROUND_TRIPS_MS[2..]));
}

#[test]
fn reports_that_are_late_odd_twice_or_out_of_order() {
    torture(cases::reports());
}

#[test]
fn silence_outages_drops_and_rises() {
    torture(cases::events());
}
