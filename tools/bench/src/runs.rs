//! Whole runs: how much faster than real time one core plays one flow, with every event recorded.

use std::sync::Arc;

use thalweg_codecs::Codec;
use thalweg_lab::record::{Recorder, What};
use thalweg_lab::scenario::{Scenario, Video};
use thalweg_lab::{simulate, unattended};
use thalweg_netsim::Trace;
use thalweg_netsim::synthesize::Synthetic;
use thalweg_sender::{Event, Scheme};
use thalweg_units::{Rate, Seed, Size, Span};

use crate::cpu_seconds;

/// A link to play over, with its name.
pub(crate) struct Link {
    pub(crate) name: &'static str,
    trace: Arc<Trace>,
}

/// A constant link and one that varies continuously.
pub(crate) fn links(duration: Span) -> anyhow::Result<Vec<Link>> {
    let constant = Trace::constant(Rate::from_kbps(2000))?;
    let cellular = "lte-driving".parse::<Synthetic>()?.synthesize(duration, Seed::new(1).child("link"))?;
    let link = |name, trace| Link { name, trace: Arc::new(trace) };
    Ok(vec![link("2Mbps", constant), link("lte-driving", cellular)])
}

/// One flow of the built-in scene, 25 ms of delay in each direction, an unlimited queue.
pub(crate) fn scenario(codec: &Codec, size: Size, duration: Span) -> Scenario {
    Scenario {
        name: "bench".into(),
        duration,
        video: Video::scene(size, 30),
        codec: codec.clone(),
        clock_offset: Span::ZERO,
        ..Scenario::over("link")
    }
}

/// CPU seconds of a run, and its events.
pub(crate) fn play(scenario: &Scenario, scheme: &Scheme, link: &Link) -> anyhow::Result<(f64, Recorder)> {
    let before = cpu_seconds();
    let run = simulate(scenario, scheme, &mut |_| Ok(link.trace.clone()), &mut unattended)?;
    Ok((cpu_seconds() - before, run.recorder))
}

/// The number of packets sent.
pub(crate) fn packets(recorder: &Recorder) -> usize {
    recorder.records().filter(|record| matches!(record.what, What::Sender(Event::PacketSent { .. }))).count()
}
