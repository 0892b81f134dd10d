//! Loss, repaired.

use crate::support::{delay, play, scenario};
use thalweg_lab::record::What;
use thalweg_lab::scenario::Scenario;
use thalweg_link::{HopConfig, LossModel, PathConfig, Trace};
use thalweg_units::{Rate, Size};

fn lossy(model: LossModel) -> Scenario {
    let clean = scenario(20, Size::new(320, 180));
    let mut hops = clean.up.hops.clone();
    hops.push(HopConfig::Loss(model));
    Scenario { up: PathConfig { hops }, down: PathConfig { hops: vec![delay()] }, ..clean }
}

#[test]
fn two_percent_of_loss_is_repaired_by_repeats() {
    for scheme in ["gcc", "vidaptive"] {
        let link = Trace::constant(Rate::from_kbps(3000)).unwrap();
        let run = play(&lossy(LossModel::Random { probability: 0.02 }), scheme, link);
        let queued = run.outcome.frames.iter().filter(|frame| frame.queued_s.is_some()).count();
        let shown = run.outcome.frames.iter().filter(|frame| frame.displayed_s.is_some()).count();
        assert!(shown as f64 >= 0.97 * queued as f64 && queued >= 500, "{scheme}: {shown} of {queued}");
        let asked = run.recorder.records().filter(|record| matches!(record.what, What::RepeatAsked { .. })).count();
        assert!(asked > 5, "{scheme}: {asked}");
        let share = run.outcome.summary.packet_loss_ratio;
        assert!((0.01..0.03).contains(&share), "{scheme}: {share}");
    }
}

#[test]
fn after_a_second_without_a_link_pictures_are_fresh_again() {
    let outage =
        LossModel::Outage { from: thalweg_units::Span::from_secs(8), until: thalweg_units::Span::from_secs(9) };
    for scheme in ["gcc", "vidaptive"] {
        let link = Trace::constant(Rate::from_kbps(3000)).unwrap();
        let run = play(&lossy(outage), scheme, link);
        let late = run.outcome.frames.iter().filter(|frame| frame.captured_s > 13.0 && frame.captured_s < 19.5);
        let fresh = late.filter(|frame| frame.displayed_s.is_some_and(|shown| shown - frame.captured_s < 0.4)).count();
        assert!(fresh > 120, "{scheme}: {fresh} of 195");
    }
}
