//! The bound of a scenario is computed once, whatever is played over it.

use thalweg_lab::bound::{Curve, Curves};
use thalweg_lab::{Scenario, simulate, unattended};
use thalweg_sender::Scheme;
use thalweg_units::{Seed, Span};

#[test]
fn a_scenario_has_its_curve_computed_once_and_another_seed_has_its_own() {
    let scenario = Scenario { duration: Span::from_secs(4), ..Scenario::over("2Mbps/500kbps@2s") };
    let other = Scenario { seed: Seed::new(2), ..scenario.clone() };
    let mut sought = 0;
    let mut by_name = scenario.find();
    let mut find = |name: &str| {
        sought += 1;
        by_name(name)
    };
    let curves = Curves::new();
    let mut judged = |scenario: &Scenario, name: &str| {
        let scheme: Scheme = name.parse().unwrap();
        let mut outcome = simulate(scenario, &scheme, &mut find, &mut unattended).unwrap().outcome;
        curves.judge(scenario, &mut find, &mut outcome);
        outcome
    };
    let outcomes = [judged(&scenario, "gcc"), judged(&scenario, "copa"), judged(&other, "gcc")];
    // Each run looks for its link once, and each of the two curves.
    assert_eq!(sought, 3 + 2);
    let curve = Curve::of(&scenario, &mut scenario.find()).unwrap();
    for mut outcome in outcomes {
        let share = outcome.summary.bound_share.take();
        assert_eq!(outcome.bound, curve.points());
        curve.judge(&mut outcome);
        assert!(share.is_some() && outcome.summary.bound_share == share, "{share:?}");
    }
}
