//! Scenarios in real time on real sockets: `run --live`.

use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::Context;
use thalweg_emulate::clock::Clock;
use thalweg_lab::metrics::Summary;
use thalweg_lab::simulate::SimulateError;
use thalweg_lab::{Outcome, Scenario, inputs, run_folder, simulate, unattended};
use thalweg_lab_sockets::{RealTimeError, Timing};
use thalweg_learned::onnx;
use thalweg_sender::{Registry, SenderFactory};
use thalweg_units::Span;

use super::policies;
use crate::play::{Interrupted, Job, Played, folder_name};
use crate::progress::Progress;
use crate::recorded;
use crate::standard_input::Spooled;
use crate::{clock, interrupt, link};

/// Plays the jobs one after another, each for as long as its scenario lasts. With `simulated`, each is played in
/// virtual time too, with the packet sizes and the feedback that were negotiated. After Ctrl-C what was finished is returned.
pub(crate) fn all(jobs: &[Job], simulated: bool) -> anyhow::Result<Played> {
    interrupt::listen();
    let plays = if simulated { 2 } else { 1 };
    let spooled = Spooled::of(jobs.iter().flat_map(|job| std::iter::repeat_n(&job.scenario, plays)))?;
    recorded::announce(jobs.iter().map(|job| &job.scenario))?;
    let progress = Progress::new(jobs.iter().map(|job| job.scenario.duration));
    let total = jobs.iter().fold(Span::ZERO, |total, job| total + job.scenario.duration);
    note!("plays by the clock, until {}", clock::after(total));
    let mut outcomes = Vec::new();
    for Job { scenario, scheme, folder, .. } in jobs {
        let label = format!("{} over {}, live", scheme.name(), scenario.name);
        let inputs = inputs::of(scenario)?;
        let sender = if onnx::is_policy(scheme.name()) {
            Arc::new(policies::open(scheme.name(), Clock::new())?) as Arc<dyn SenderFactory>
        } else {
            followed(scheme)
        };
        let begun = progress.begin(label.clone(), scenario.duration);
        let mut find = find(scenario);
        let mut say = |now| {
            begun.report(now);
            if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let played = thalweg_lab_sockets::run(&spooled.scenario(scenario), &sender, &mut find, &mut say);
        if matches!(played, Err(RealTimeError::Simulate(SimulateError::Interrupted))) {
            let problem = Interrupted::for_good(outcomes.len() / plays, jobs.len());
            return Ok(Played { outcomes, problem: Some(problem.into()) });
        }
        let played = played.with_context(|| label.clone())?;
        begun.finish();
        report(&label, &played.timing);
        run_folder::write(folder, &played.scenario, &inputs, &*played.scheme, &played.run)?;
        outcomes.push(played.run.outcome);
        if simulated {
            let name = format!("{} simulated", scheme.name());
            let folder = folder.with_file_name(folder_name(&name));
            let run = simulate(&played.scenario, &*played.scheme, &mut find, &mut unattended);
            let mut run = run.with_context(|| name.clone())?;
            run.outcome.summary.scheme = name;
            run_folder::write(&folder, &played.scenario, &inputs, &*played.scheme, &run)?;
            outcomes.push(run.outcome);
        }
    }
    Ok(Played { outcomes, problem: None })
}

/// The scheme as the receiver of a real-time run follows it, which keeps no states: its form for standard decoders.
fn followed(scheme: &Arc<dyn SenderFactory>) -> Arc<dyn SenderFactory> {
    let form = Registry::new().for_standard_decoder(scheme).unwrap_or_else(|| scheme.clone());
    if form.name() != scheme.name() {
        note!("{} is played as {}: the receiver of a real-time run keeps no states", scheme.name(), form.name());
    }
    form
}

fn find(scenario: &Scenario) -> impl FnMut(&str) -> Result<std::sync::Arc<thalweg_netsim::Trace>, String> + '_ {
    |name| link::find(name, scenario.duration, scenario.seed).map_err(|error| format!("{error:#}"))
}

/// Prints the lateness of timers and the bytes on the wire, which show how far the figures of a run can be trusted.
fn report(label: &str, timing: &Timing) {
    let late = |share| {
        let micros = |span: Option<Span>| span.map_or(0.0, |span| span.as_millis_f64() * 1e3);
        [&timing.sender, &timing.receiver, &timing.link.up.lateness, &timing.link.down.lateness]
            .map(|lateness| format!("{:.0}", micros(lateness.percentile(share))))
            .join(", ")
    };
    let (half, max) = (late(0.5), late(0.99));
    let difference = 100.0 * (timing.actual.get() as f64 / timing.accounted.get().max(1) as f64 - 1.0);
    note!(
        "{label}: sender, receiver, link up and down were late by {half} us (median) and {max} us (99 %); bytes on the wire were \
         {difference:+.2} % from what the engine accounted for; the system lost {} packets",
        timing.link.missed + timing.link.unsent
    );
}

/// A table of the differences between each run on real sockets and the one in virtual time that follows it; empty without
/// runs.
pub(crate) fn agreement(outcomes: &[Outcome]) -> String {
    if outcomes.is_empty() {
        return String::new();
    }
    let row = |[name, wire, video, middle, tail]: [&str; 5]| {
        format!("{name:20} {wire:>24} {video:>24} {middle:>24} {tail:>24}\n")
    };
    let mut table = format!("\n{}", row(["live / simulated", "wire Mbps", "video Mbps", "P50 ms", "P95 ms"]));
    for pair in outcomes.chunks_exact(2) {
        let (live, simulated) = (&pair[0].summary, &pair[1].summary);
        let share = |of: fn(&Summary) -> Option<f64>, scale: f64| difference(of(live), of(simulated), scale, true);
        let wire = share(|run| Some(run.wire_bitrate_bps), 1e-6);
        let video = share(|run| Some(run.video_bitrate_bps), 1e-6);
        let middle = difference(live.latency_p50_ms, simulated.latency_p50_ms, 1.0, false);
        let tail = share(|run| run.latency_p95_ms, 1.0);
        table += &row([&live.scheme, &wire, &video, &middle, &tail]);
    }
    table
}

/// Two figures and their difference: as a share, or in their own unit.
fn difference(live: Option<f64>, simulated: Option<f64>, scale: f64, as_share: bool) -> String {
    let (Some(live), Some(simulated)) = (live.map(|live| live * scale), simulated.map(|other| other * scale)) else {
        return "-".into();
    };
    let apart = if as_share {
        format!("{:+.1}%", 100.0 * (live / simulated - 1.0))
    } else {
        format!("{:+.1}", live - simulated)
    };
    if scale == 1.0 {
        format!("{live:.1} / {simulated:.1} {apart}")
    } else {
        format!("{live:.3} / {simulated:.3} {apart}")
    }
}
