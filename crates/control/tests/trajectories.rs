//! What each controller does over time.

mod support;

use support::subjects;
use support::*;
use thalweg_units::{Bytes, Rate, Span};

fn build(name: &str) -> Box<dyn thalweg_control::Controller> {
    (subjects::ALL.iter().find(|subject| subject.name == name).expect("a known controller").build)()
}

#[test]
fn look() {
    let s = Scenario::new(Rate::from_kbps(6000), Span::from_millis(50), Span::from_secs(30));
    for name in ["copa-0.9", "rocc", "gcc"] {
        let r = s.run(build(name));
        r.print(name);
        println!("{}", r.mean_round_trip(10.0, 30.0));
    }
    let s = Scenario {
        capacity: Schedule::steps(
            &[0, 40, 80, 120, 160, 200].map(|at| (at, Rate::from_kbps(if at / 40 % 2 == 0 { 2000 } else { 500 }))),
        ),
        queue: Bytes::new(1_500_000),
        style: Style::Twcc,
        source: Source::Encoder { share: 0.95, max: Rate::from_kbps(12_000) },
        ..Scenario::new(Rate::ZERO, Span::from_millis(50), Span::from_secs(205))
    };
    s.run(build("gcc")).print("square");
}
