//! Salsify: what a dropout and losses cost, and what they may not.

use crate::support::{delay, play, scenario};
use thalweg_lab::Outcome;
use thalweg_lab::record::{Recorder, What};
use thalweg_lab::scenario::Scenario;
use thalweg_lab::simulate::Run;
use thalweg_link::{HopConfig, LossModel, PathConfig, Trace};
use thalweg_sender::Event;
use thalweg_units::{Rate, Size, Span};

const SIZE: Size = Size::new(320, 180);

fn keyframes(run: &Run) -> usize {
    run.outcome.frames.iter().filter(|frame| frame.keyframe).count()
}

fn count(recorder: &Recorder, is: impl Fn(&What) -> bool) -> usize {
    recorder.records().filter(|record| is(&record.what)).count()
}

/// How long after `from` the first picture was shown that was read after it, in seconds.
fn first_fresh(outcome: &Outcome, from: f64) -> f64 {
    let fresh = outcome.frames.iter().filter(|frame| frame.captured_s >= from);
    fresh.filter_map(|frame| frame.displayed_s).fold(f64::INFINITY, f64::min) - from
}

#[test]
fn after_a_second_without_a_link_a_fresh_frame_shows_within_a_quarter_of_a_second_and_no_keyframe_is_needed() {
    for scheme in ["salsify", "salsify:standard-decoder"] {
        for (from, lossy) in [(10, false), (10, true)] {
            let until = from + 1;
            let (from, until) = (Span::from_secs(from), Span::from_secs(until));
            let mut scene = scenario(20, SIZE);
            if lossy {
                scene.up.hops.insert(0, HopConfig::Loss(LossModel::Outage { from, until }));
            }
            let link = if lossy {
                Trace::constant(Rate::from_kbps(500)).unwrap()
            } else {
                let dropout = thalweg_link::synthesize::Dropout { at: from, ..Default::default() };
                dropout.synthesize(scene.duration).unwrap()
            };
            let run = play(&scene, scheme, link);
            let back = first_fresh(&run.outcome, until.as_secs_f64());
            println!("{scheme} lossy {lossy}: {back:.3} s, {} keyframes", keyframes(&run));
            assert!(back > 0.03 && back <= 0.25, "{scheme} lossy {lossy}: {back}");
            assert_eq!(keyframes(&run), 1, "{scheme} lossy {lossy}");
        }
    }
}

/// Ten minutes over 3 Mbps that lose packets.
fn ten_minutes(model: LossModel, scheme: &str) -> Run {
    let clean = scenario(600, Size::new(160, 90));
    let mut hops = clean.up.hops.clone();
    hops.push(HopConfig::Loss(model));
    let lossy = Scenario { up: PathConfig { hops }, down: PathConfig { hops: vec![delay()] }, ..clean };
    play(&lossy, scheme, Trace::constant(Rate::from_kbps(3000)).unwrap())
}

#[test]
fn in_ten_minutes_of_losses_the_states_of_both_ends_never_disagree_and_one_keyframe_is_enough() {
    let bursts = LossModel::GilbertElliott { to_bad: 0.01, to_good: 0.2, good_loss: 0.0, bad_loss: 0.8 };
    for model in [LossModel::Random { probability: 0.05 }, LossModel::Random { probability: 0.2 }, bursts] {
        let run = ten_minutes(model, "salsify");
        let recoveries = count(&run.recorder, |what| matches!(what, What::Sender(Event::RecoveryBegan)));
        let disagreements = count(&run.recorder, |what| matches!(what, What::StatesDisagree { .. }));
        let shown = count(&run.recorder, |what| matches!(what, What::Displayed { .. }));
        println!("{model:?}: {recoveries} recoveries, {shown} shown, {} keyframes", keyframes(&run));
        assert_eq!(disagreements, 0, "{model:?}");
        assert_eq!(keyframes(&run), 1, "{model:?}");
        assert!(recoveries >= 1 && shown > 6000 && shown <= 18_000, "{model:?}: {recoveries}, {shown}");
    }
}
