//! Senders defined by a program, and runs stepped through manually.

use std::ops::ControlFlow;
use std::sync::Arc;

use thalweg_codecs::Codec;
use thalweg_control::{Controller, Feedback, SendLimits, fixed};
use thalweg_lab::record::{Keep, Recorder};
use thalweg_lab::run_folder::{self, read_run};
use thalweg_lab::scenario::{Competitor, Scenario, Sender};
use thalweg_lab::simulate::{Run, SimulateError};
use thalweg_lab::{Simulation, simulate, simulate_with, unattended};
use thalweg_netsim::FindTrace;
use thalweg_netsim::Trace;
use thalweg_sender::frames::{EncodePlan, FramePlan, FramePolicy, Target, View};
use thalweg_sender::scheme::{ControllerConfig, FramesConfig};
use thalweg_sender::{Parts, Registry, Scheme, SenderFactory, pacing};
use thalweg_units::{ConfigError, Rate, Size, Span, Time};

use crate::support::{scenario, square_wave};

const RATE: Rate = Rate::from_kbps(900);

/// A minimal controller with a constant rate.
#[derive(Debug, Clone)]
struct Steady(Rate);

impl Controller for Steady {
    fn on_feedback(&mut self, _: &Feedback<'_>) {}

    fn limits(&self) -> SendLimits {
        SendLimits::of_rate(self.0)
    }
}

/// Encodes every picture at the allowed rate.
struct All;

impl FramePolicy for All {
    fn plan(&mut self, view: &View) -> FramePlan {
        let targets = vec![Target::Rate(view.limits.capacity)];
        FramePlan::Encode(EncodePlan { may_drop: true, ..EncodePlan::new(targets, view.source, view.interval) })
    }
}

/// A sender built only from its own parts.
struct Own;

impl SenderFactory for Own {
    fn name(&self) -> &str {
        "own"
    }

    fn parts(&self, _source: Size) -> Result<Parts, ConfigError> {
        Ok(Parts::new(Box::new(Steady(RATE)), Box::new(All)))
    }

    fn describe(&self) -> String {
        "rate = \"900kbps\"\n".into()
    }
}

fn modelled(seconds: i64) -> Scenario {
    Scenario { codec: Codec::Model(Default::default()), ..scenario(seconds, Size::HD) }
}

fn find() -> impl FnMut(&str) -> Result<Arc<Trace>, String> {
    let link = Arc::new(square_wave());
    move |_| Ok(link.clone())
}

fn play(scenario: &Scenario, sender: &dyn SenderFactory) -> Run {
    simulate(scenario, sender, &mut find(), &mut unattended).unwrap()
}

fn built_in() -> Scheme {
    Scheme { controller: ControllerConfig::Fixed(fixed::Config { rate: RATE }), .."gcc".parse().unwrap() }
}

#[test]
fn a_users_copy_of_the_fixed_rate_controller_has_the_built_in_ones_fingerprint() {
    let scenario = modelled(20);
    let gcc: Scheme = "gcc".parse().unwrap();
    let copy = play(&scenario, &gcc.with_controller("steady", || Ok(Steady(RATE))));
    assert_eq!(copy.recorder.fingerprint(), play(&scenario, &built_in()).recorder.fingerprint());
    assert!(copy.outcome.summary.scheme == "steady" && copy.outcome.summary.frame_rate_fps > 20.0);
}

#[test]
fn a_sender_of_nothing_but_its_own_parts_has_the_fingerprint_of_the_same_scheme() {
    let scenario = modelled(20);
    let (pacing, repair) = (pacing::Config::default(), None);
    let same = Scheme { frames: FramesConfig::EveryFrame, pacing, repair, ..built_in() };
    assert_eq!(play(&scenario, &Own).recorder.fingerprint(), play(&scenario, &same).recorder.fingerprint());
}

#[test]
fn a_sender_of_ones_own_competes_by_its_name_once_it_is_registered() {
    let other = Sender { scheme: "own".into(), video: None, from: Span::from_secs(2), until: None };
    let scenario = Scenario { competitors: vec![Competitor::Sender(other)], ..modelled(20) };
    let gcc: Scheme = "gcc".parse().unwrap();
    let mut registry = Registry::new();
    let problem = simulate_with(&scenario, &gcc, &registry, &mut find(), &mut unattended).err().unwrap().to_string();
    assert!(problem.contains("unknown scheme 'own'") && problem.contains("vidaptive"), "{problem}");
    registry.add(Own).unwrap();
    let run = simulate_with(&scenario, &gcc, &registry, &mut find(), &mut unattended).unwrap();
    let theirs = &run.competitors[0].summary;
    assert!(theirs.scheme == "own" && (700e3..1200e3).contains(&theirs.wire_bitrate_bps), "{theirs:?}");
}

#[test]
fn a_run_by_steps_of_any_length_is_the_run_at_one_go() {
    let scheme: Scheme = "vidaptive".parse().unwrap();
    let other = Sender { scheme: "gcc".into(), video: None, from: Span::from_secs(1), until: None };
    let scenario = Scenario { competitors: vec![Competitor::Sender(other)], ..modelled(10) };
    let mut simulation = Simulation::new(&scenario, &scheme, &Registry::new(), &mut find()).unwrap();
    let (mut step, mut allowed) = (Span::from_millis(1), Vec::new());
    while !simulation.has_ended() {
        simulation.run_until(simulation.now() + step).unwrap();
        step = Span::from_nanos((step * 7).as_nanos() % 93_000_000 + 1);
        let engine = simulation.engine(0).unwrap();
        assert_eq!(engine.view().limits, *engine.limits());
        allowed.push(engine.limits().capacity);
    }
    assert!(simulation.engine(1).is_some() && simulation.engine(2).is_none());
    assert!(allowed.len() > 100 && allowed.iter().max() > allowed.first());
    let stepped = simulation.finish();
    let whole = play(&scenario, &scheme);
    assert_eq!(stepped.recorder.fingerprint(), whole.recorder.fingerprint());
    assert!(stepped.outcome == whole.outcome && stepped.competitors == whole.competitors);
}

#[test]
fn what_is_kept_changes_neither_the_fingerprint_nor_for_a_summary_any_figure() {
    let scheme: Scheme = "gcc".parse().unwrap();
    let kept = |keep: Keep| {
        let simulation = Simulation::new(&modelled(10), &scheme, &Registry::new(), &mut find()).unwrap();
        let mut simulation = simulation.keeping(keep);
        simulation.run_until(Time::NEVER).unwrap();
        simulation.finish()
    };
    let [all, summary, nothing] = [Keep::All, Keep::Summary, Keep::Nothing].map(kept);
    let print = |run: &Run| run.recorder.fingerprint();
    assert_eq!([print(&summary), print(&nothing)], [print(&all); 2]);
    assert!(summary.outcome == all.outcome && nothing.outcome.summary.wire_bitrate_bps == 0.0);
    let count = |recorder: &Recorder| recorder.len();
    assert!(count(&all.recorder) > 1_000 && count(&summary.recorder) + count(&nothing.recorder) == 0);
}

#[test]
fn an_observer_of_a_run_may_end_it() {
    let scheme: Scheme = "gcc".parse().unwrap();
    let mut last = Time::ZERO;
    let mut until_three = |now: Time| {
        last = now;
        if now >= Time::from_millis(3000) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut find = find();
    let find: &mut FindTrace<'_> = &mut find;
    let ended = simulate(&modelled(60), &scheme, find, &mut until_three);
    assert!(matches!(ended, Err(SimulateError::Interrupted)) && last == Time::from_millis(3000), "{last}");
}

#[test]
fn the_run_file_of_a_sender_of_ones_own_names_it_and_a_program_that_knows_it_plays_it_again() {
    let folder = std::env::temp_dir().join(format!("thalweg-own-sender-{}", std::process::id()));
    let scenario = modelled(2);
    let run = play(&scenario, &Own);
    run_folder::write(&folder, &scenario, &[], &Own, &run).unwrap();
    let text = std::fs::read_to_string(folder.join("run.toml")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(text.contains("[scheme.custom]\nrate = \"900kbps\""), "{text}");
    let mut registry = Registry::new();
    assert!(read_run(&text, &registry).unwrap_err().to_string().contains("unknown scheme 'own'"));
    registry.add(Own).unwrap();
    let (read, sender) = read_run(&text, &registry).unwrap();
    assert!(read == scenario);
    assert_eq!(play(&read, &*sender).recorder.fingerprint(), run.recorder.fingerprint());
}
