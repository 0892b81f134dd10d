//! Salsify: the cost of a dropout and of losses, and its limits.

use crate::scenarios::support::{delay, play, scenario};
use thalweg_lab::Outcome;
use thalweg_lab::record::{Recorder, What};
use thalweg_lab::scenario::Scenario;
use thalweg_lab::simulate::Run;
use thalweg_netsim::{HopConfig, LossModel, PathConfig, Trace};
use thalweg_sender::{Event, FeedbackStyle};
use thalweg_units::{Rate, Size, Span};

const SIZE: Size = Size::new(320, 180);

fn keyframes(run: &Run) -> usize {
    run.outcome.frames.iter().filter(|frame| frame.keyframe).count()
}

fn count(recorder: &Recorder, is: impl Fn(&What) -> bool) -> usize {
    recorder.records().filter(|record| is(&record.what)).count()
}

/// Time from `from` until the first picture captured after it was shown, in seconds.
fn first_fresh(outcome: &Outcome, from: f64) -> f64 {
    let fresh = outcome.frames.iter().filter(|frame| frame.captured_s >= from);
    fresh.filter_map(|frame| frame.displayed_s).fold(f64::INFINITY, f64::min) - from
}

/// An outage of a second at 500 kbps. Recovery depends on what was in flight when the outage began, so it begins at
/// several points of a picture interval; in none may recovery take longer than `max`, in seconds.
fn after_a_second_of_nothing(scheme: &str, lossy: bool, max: f64) {
    for millis in [5000, 5011, 5022] {
        let (from, until) = (Span::from_millis(millis), Span::from_millis(millis + 1000));
        let mut scene = scenario(8, SIZE);
        let link = if lossy {
            scene.forward.hops.insert(0, HopConfig::Loss(LossModel::Outage { from, until }));
            Trace::constant(Rate::from_kbps(500)).unwrap()
        } else {
            let dropout = thalweg_netsim::synthesize::Dropout { at: from, ..Default::default() };
            dropout.synthesize(scene.duration).unwrap()
        };
        let run = play(&scene, scheme, link);
        let back = first_fresh(&run.outcome, until.as_secs_f64());
        println!("{scheme}, lossy {lossy}, from {from}: {back:.3} s, {} keyframes", keyframes(&run));
        // The path's delay alone is 25 ms.
        assert!(back > 0.025 && back <= max, "from {from}: {back} s");
        assert_eq!(keyframes(&run), 1, "from {from}");
    }
}

#[test]
fn after_a_second_on_a_link_that_held_packets_a_fresh_frame_shows_within_350_ms_and_no_keyframe_is_needed() {
    after_a_second_of_nothing("salsify", false, 0.35);
}

#[test]
fn after_a_second_on_a_link_that_lost_packets_a_fresh_frame_shows_within_a_quarter_and_no_keyframe_is_needed() {
    after_a_second_of_nothing("salsify", true, 0.25);
}

#[test]
fn so_it_is_for_an_standard_receiver_of_a_link_that_held_packets() {
    after_a_second_of_nothing("salsify:standard-decoder", false, 0.35);
}

#[test]
fn so_it_is_for_an_standard_receiver_of_a_link_that_lost_packets() {
    after_a_second_of_nothing("salsify:standard-decoder", true, 0.25);
}

/// The checks of [`crate::scenarios::stateful`], for a complete run.
#[test]
fn in_a_lossy_run_no_state_disagrees_and_one_keyframe_is_enough() {
    for scheme in ["salsify", "vidaptive+functional"] {
        let clean = scenario(20, Size::new(160, 90));
        let mut hops = clean.forward.hops.clone();
        hops.push(HopConfig::Loss(LossModel::Random { probability: 0.1 }));
        let lossy = Scenario { forward: PathConfig { hops }, reverse: PathConfig { hops: vec![delay()] }, ..clean };
        let run = play(&lossy, scheme, Trace::constant(Rate::from_kbps(1000)).unwrap());
        let recoveries = count(&run.recorder, |what| matches!(what, What::Sender(Event::RecoveryBegan)));
        let disagreements = count(&run.recorder, |what| matches!(what, What::StatesDisagree { .. }));
        let shown = count(&run.recorder, |what| matches!(what, What::Displayed { .. }));
        println!("{scheme}: {recoveries} recoveries, {shown} shown, {} keyframes", keyframes(&run));
        assert_eq!((disagreements, keyframes(&run)), (0, 1), "{scheme}");
        assert!(recoveries >= 1 && shown > 350 && shown <= 600, "{scheme}: {recoveries}, {shown}");
    }
}

/// The receiver lists its states in each report, so they arrive with reports of any kind.
#[test]
fn states_are_acknowledged_and_recovered_with_reports_of_every_style() {
    for style in FeedbackStyle::ALL {
        let clean = scenario(8, Size::new(160, 90));
        let mut hops = clean.forward.hops.clone();
        hops.push(HopConfig::Loss(LossModel::Random { probability: 0.05 }));
        let lossy = Scenario { forward: PathConfig { hops }, feedback: Some(style), ..clean };
        let run = play(&lossy, "salsify", Trace::constant(Rate::from_kbps(1000)).unwrap());
        let recoveries = count(&run.recorder, |what| matches!(what, What::Sender(Event::RecoveryBegan)));
        let disagreements = count(&run.recorder, |what| matches!(what, What::StatesDisagree { .. }));
        let summary = &run.outcome.summary;
        println!("{style}: {recoveries} recoveries, {:.1} fps, {} keyframes", summary.frame_rate_fps, keyframes(&run));
        assert_eq!((disagreements, keyframes(&run), summary.feedback), (0, 1, Some(style)));
        assert!(recoveries >= 1 && (5.0..=30.0).contains(&summary.frame_rate_fps), "{style}: {recoveries}");
    }
}
