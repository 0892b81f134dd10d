//! Real-time runs: the laboratory's scenarios on real sockets, by the real clock.
//!
//! ```text
//! encoder <-> sender ---- RTP, RTCP ----> relay: scenario.forward ----> receiver -> decoder
//! (thread)    (this one) <--- RTCP ------ relay: scenario.reverse <-- (thread)    (thread)
//!                |------------ ICE, DTLS ----- past the link -------|
//! ```
//!
//! One scheme sends the scenario's video through the scenario's codec to [`thalweg_session::Incoming`]: engine, packetisation,
//! SRTP, sockets and feedback are those of `thalweg_live::publish` and `thalweg_live::watch`. What both peers measured becomes the
//! laboratory's records, so that figures, folder and report are the same as those of [`thalweg_lab::simulate()`].
//!
//! Some things are kept as in virtual time. **Time zero** is the instant at which the sender's connection is up:
//! camera, engine and the link's traces begin there, as they begin at zero in the simulator, which has no handshake;
//! ICE and DTLS bypass the link. Frames of an encoder model are ready when [`thalweg_codecs::CodecTime`] says, those of
//! a real encoder when they are encoded. **Packet sizes** and **feedback** are those that were negotiated:
//! [`RealTimeRun::scheme`] and [`RealTimeRun::scenario`] contain both, so that the simulator can play the same run.

pub mod blackbox;
mod conversion;
mod decoding;
mod encoding;
mod error;
mod negotiation;
mod packets;
pub mod received;
mod receiving;
mod route;
mod sending;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use thalweg_codecs::{CodecPair, CodecTime};
use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::{Lateness, Poller, PollerConfig, UdpConfig, UdpSocket};
use thalweg_emulate::thread::spawn;
use thalweg_emulate::{LinkConfig, Relay, RelayConfig, Statistics, Zero};
use thalweg_lab::metrics::QualitySource;
use thalweg_lab::simulate::{Played, Run, SimulateError, summarize};
use thalweg_lab::{FindTrace, Scenario};
use thalweg_netsim::{DropReason, PathCapacity, PathError, Trace};
use thalweg_sender::{Camera, SenderFactory};
use thalweg_session::outgoing::FEEDBACK_REQUEST_INTERVAL;
use thalweg_units::{Bytes, Span, Time};
use thalweg_video::footage::Footage;

use conversion::ShownFrame;
use decoding::Decoding;
use encoding::Encoding;
pub use error::RealTimeError;
use receiving::{Received, Receiving, Shared};
use sending::{Sending, Sent};

/// A finished run.
pub struct RealTimeRun {
    /// The scenario as played: with the negotiated feedback.
    pub scenario: Scenario,
    /// The scheme as played: with the packet sizes of the negotiated RTP.
    pub scheme: Arc<dyn SenderFactory>,
    /// Figures, series and records.
    pub run: Run,
    /// How well the machine kept time.
    pub timing: Timing,
}

/// Lateness of timers, and bytes on the wire.
#[derive(Debug, Clone)]
pub struct Timing {
    /// How late the sender's timers fired.
    pub sender: Lateness,
    /// How late the receiver's timers fired.
    pub receiver: Lateness,
    /// The emulated link's statistics, with how late it forwarded packets.
    pub link: Statistics,
    /// The sum of the packet sizes that the engine accounted for.
    pub accounted: Bytes,
    /// The sum of the sizes on the wire, from the IP header on; the difference from `accounted` is what the engine
    /// could not predict.
    pub actual: Bytes,
}

/// Plays `scenario` for one scheme on sockets of this machine; takes a little longer than the scenario lasts. `find`
/// returns traces by name; `progress` receives the time since the run began, every half second, and may end it.
///
/// # Errors
/// When the scenario needs what only the simulator has (competitors, links and routes, pauses, audio, a
/// clock offset, a stateful receiver), when something it names cannot
/// be found, when the system refuses a socket or thread, or `progress` ended the run.
pub fn run(
    scenario: &Scenario,
    scheme: &Arc<dyn SenderFactory>,
    find: &mut FindTrace<'_>,
    progress: &mut dyn FnMut(Time) -> ControlFlow<()>,
) -> Result<RealTimeRun, RealTimeError> {
    check(scenario)?;
    let notes = scenario.notes(&**scheme)?;
    let style = negotiation::negotiable(scenario.feedback.unwrap_or(scheme.feedback()));
    let scenario =
        Scenario { feedback: Some(style), request_feedback_every: Some(FEEDBACK_REQUEST_INTERVAL), ..scenario.clone() };
    let (mut link, capacity) = link(&scenario, find)?;
    let clock = Clock::new();
    // Read by the encoder, and again after the run to measure quality.
    let open = || Footage::open(&scenario.video, scenario.seed).map_err(SimulateError::from);
    let footage = if scenario.codec.is_model() { None } else { Some(open()?) };
    let format = match &footage {
        Some(footage) => footage.format(),
        None => Footage::format_of(&scenario.video).map_err(SimulateError::from)?,
    };
    let seed = scenario.seed.child("flow 0");
    let wants_candidates = scheme.parts(format.size)?.frames.wants_candidates();
    let codec = if wants_candidates { scenario.codec.functional() } else { scenario.codec.clone() };
    let CodecPair { encoder, decoder } = codec.build_seeded(format.size, seed).map_err(SimulateError::from)?;

    let bind = || UdpSocket::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), &UdpConfig::default());
    let (here, there) = (bind()?, bind()?);
    let [ours, theirs] = [here.local_address(), there.local_address()];
    let camera = Camera { size: format.size, interval: format.interval() };
    let (outgoing, incoming) = negotiation::negotiate(&scenario, scheme, camera, style, clock, [ours, theirs])?;
    let fitted = outgoing.fitted_scheme()?;

    let shared = Arc::new(Shared::default());
    let (decoding, frames) = match decoder {
        Some(decoder) => Decoding::start(decoder, clock).map(|(decoding, frames)| (Some(decoding), Some(frames)))?,
        None => (None, None),
    };
    let poller = Poller::new(clock, PollerConfig::default())?;
    let waker = poller.waker();
    let receiving = Receiving {
        clock,
        poller,
        socket: there,
        incoming,
        peer: ours,
        relay: None,
        shared: shared.clone(),
        decoder: frames,
    };
    let poller = Poller::new(clock, PollerConfig::default())?;
    let sending = Sending {
        clock,
        encoding: Encoding::start(encoder, footage, format.size, poller.waker())?,
        poller,
        socket: here,
        outgoing,
        peer: theirs,
        start_link: &mut |zero| link.start(theirs, clock, zero),
        shared: shared.clone(),
        undershoot: scenario.undershoot.build(seed)?,
        codec_time: scenario.codec_time,
        format,
        duration: scenario.duration,
        reports_round_trip: scenario.call || style.is_extended(),
    };
    let receiver = spawn("receiver", move || receiving.run())?;
    let sent = sending.run(progress);
    shared.over.store(true, Ordering::Relaxed);
    waker.wake();
    let received = receiver.join().map_err(|_| RealTimeError::Failed("the receiver's thread panicked".into()))?;
    // The sender's error first: the receiver's may only be a consequence.
    let (sent, relay) = sent?;
    let (received, statistics) = (received?, relay.stop()?);

    let decoded = decoding.map(Decoding::finish).transpose()?;
    let shown = shown(&scenario, &sent, &received, decoded, || codec.build_seeded(format.size, seed))?;
    let measured = (format, scenario.measure_quality);
    let converted =
        conversion::convert(&sent, &received.arrivals, &shown, measured, (scenario.duration, reason(&statistics)));
    let quality = match (scenario.measure_quality, scenario.codec.is_model()) {
        (false, _) => QualitySource::None,
        (true, true) => QualitySource::Modelled,
        (true, false) => QualitySource::Measured,
    };
    let played = Played {
        number: 0,
        video: scenario.video.label(),
        size: format.size,
        turns_after: sent.turns_after,
        begin: Time::ZERO,
        end: Time::ZERO + scenario.duration,
        codec: sent.codec.clone(),
        feedback: Some(style),
        quality,
        frames: converted.frames,
        screen: Vec::new(),
        vmaf_tool: None,
        choices: None,
        camera_off: Vec::new(),
        machine_dependent: fitted.is_machine_dependent(),
        notes: notes.iter().map(ToString::to_string).collect(),
    };
    let mut outcome = summarize(&scenario, fitted.name(), played, &converted.recorder, &(&capacity).into());
    outcome.summary.live = true;
    let (competitors, reports_dropped) = (Vec::new(), Vec::new());
    let run = Run { outcome, competitors, recorder: converted.recorder, reports_dropped };
    let timing = Timing {
        sender: sent.lateness,
        receiver: received.lateness,
        link: statistics,
        accounted: converted.accounted,
        actual: converted.actual,
    };
    Ok(RealTimeRun { scenario, scheme: fitted, run, timing })
}

/// Fields of a scenario that are set and that only virtual time obeys: around real packets there are its paths alone.
pub fn simulated(scenario: &Scenario) -> impl Iterator<Item = &'static str> {
    let fields = [
        ("competitors", !scenario.competitors.is_empty()),
        ("links", !scenario.links.is_empty()),
        ("media", !scenario.media.is_empty()),
        ("routes", !scenario.routes.is_empty()),
        ("changes", !scenario.changes.is_empty()),
        ("from", scenario.from != Span::ZERO),
        ("until", scenario.until.is_some()),
        ("pauses", !scenario.pauses.is_empty()),
        ("audio", scenario.audio.is_some()),
        ("discard_after", scenario.discard_after.is_some()),
        ("playout", scenario.playout.is_some()),
        ("clock_drift_ppm", scenario.clock_drift_ppm != 0),
    ];
    fields.into_iter().filter(|(_, is_set)| *is_set).map(|(field, _)| field)
}

fn check(scenario: &Scenario) -> Result<(), SimulateError> {
    let wrong = |message: String| Err(SimulateError::Scenario(message));
    if scenario.duration <= Span::ZERO {
        return wrong(format!("duration is {}, must be longer than 0, such as 20s", scenario.duration));
    }
    if scenario.vmaf || scenario.ms_ssim {
        return wrong("vmaf and ms_ssim are measured in virtual time only: leave them out of a real-time run".into());
    }
    if !scenario.competitors.is_empty() {
        let count = scenario.competitors.len();
        return wrong(format!("the scenario has {count} competitors, a real-time run none: play it in virtual time"));
    }
    let asks = scenario.request_feedback_every.is_some_and(|it| it != FEEDBACK_REQUEST_INTERVAL);
    // A real encoder takes the time that it takes.
    let takes = !scenario.codec.is_model() && scenario.codec_time != CodecTime::default();
    let of_senders = [asks.then_some("request_feedback_every"), takes.then_some("codec_time")];
    if let Some(field) = simulated(scenario).chain(of_senders.into_iter().flatten()).next() {
        return wrong(format!("{field} is set, which a real-time run does not have: play it in virtual time"));
    }
    if scenario.clock_offset != Span::ZERO {
        let offset = scenario.clock_offset;
        return wrong(format!(
            "clock_offset is {offset}, must be 0ms in a real-time run: both peers have this machine's clock"
        ));
    }
    Ok(())
}

/// The link of a scenario with its traces.
struct Link {
    config: LinkConfig,
    traces: BTreeMap<String, Arc<Trace>>,
}

impl Link {
    fn start(&mut self, server: SocketAddr, clock: Clock, zero: Time) -> Result<Relay, RealTimeError> {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let link = LinkConfig { zero: Zero::At(zero), ..self.config.clone() };
        let config = RelayConfig { link, clock, idle: Span::from_secs(3600), ..RelayConfig::new(listen, server) };
        let find = |name: &str| self.traces.get(name).cloned().ok_or_else(|| format!("no trace '{name}'"));
        Ok(Relay::start(&config, &mut { find })?)
    }
}

/// Finds the traces of a scenario's link before anything begins; also returns its capacity.
fn link(scenario: &Scenario, find: &mut FindTrace<'_>) -> Result<(Link, PathCapacity), SimulateError> {
    let mut traces = BTreeMap::new();
    let mut remembered = |name: &str| {
        let trace = find(name)?;
        traces.insert(name.to_owned(), trace.clone());
        Ok(trace)
    };
    let path_error = |error: PathError<String>| SimulateError::Path(error.to_string());
    let up = scenario.forward.build::<(), _>(scenario.seed.child("up"), &mut remembered).map_err(path_error)?;
    scenario.reverse.build::<(), _>(scenario.seed.child("down"), &mut remembered).map_err(path_error)?;
    let (forward, reverse) = (scenario.forward.clone(), scenario.reverse.clone());
    let config = LinkConfig { up: forward, down: reverse, seed: scenario.seed, ..LinkConfig::default() };
    Ok((Link { config, traces }, up.capacity().clone()))
}

/// When each received frame was shown, which picture it shows, and its quality.
fn shown(
    scenario: &Scenario,
    sent: &Sent,
    received: &Received,
    decoded: Option<Vec<Time>>,
    again: impl FnOnce() -> Result<CodecPair, thalweg_codecs::EncodeError>,
) -> Result<Vec<ShownFrame>, SimulateError> {
    let pictures = conversion::pictures(&received.frames, &sent.pictures);
    let mut qualities = vec![None; pictures.len()];
    let times = match decoded {
        Some(times) => {
            if scenario.measure_quality
                && let Some(mut decoder) = again()?.decoder
            {
                let frames: Vec<_> = received.frames.iter().zip(pictures.iter().copied()).collect();
                let mut footage = Footage::open(&scenario.video, scenario.seed)?;
                qualities = decoding::measure(scenario, &mut *decoder, &mut footage, &frames)?;
            }
            times
        }
        None => {
            // A model's frames are not decoded: each is shown one decoding time after it arrived, or after the frame
            // before it was shown.
            let size_of: BTreeMap<u64, _> = sizes(sent);
            let mut done = Time::ZERO;
            let time = |(frame, picture): (&receiving::ReceivedFrame, &Option<u64>)| {
                let size = picture.and_then(|picture| size_of.get(&picture)).copied();
                let size = size.unwrap_or(scenario.video.scene_format().size);
                done = frame.at.max(done) + scenario.codec_time.decode(size);
                done
            };
            received.frames.iter().zip(&pictures).map(time).collect()
        }
    };
    let each = times.into_iter().zip(pictures).zip(qualities);
    Ok(each.filter_map(|((at, picture), quality)| Some(ShownFrame { at, picture: picture?, quality })).collect())
}

/// The size each picture was encoded at.
fn sizes(sent: &Sent) -> BTreeMap<u64, thalweg_units::Size> {
    let by_frame: BTreeMap<u64, _> = sent.frames.iter().map(|(frame, made)| (*frame, made.frame.picture)).collect();
    let queued = sent.events.iter().filter_map(|timed| match timed.event {
        thalweg_sender::Event::FrameQueued { frame, picture, .. } => Some((picture, *by_frame.get(&frame)?)),
        _ => None,
    });
    queued.collect()
}

/// The most frequent reason for which the link dropped packets: its statistics do not give the reason for each packet.
fn reason(statistics: &Statistics) -> DropReason {
    let max = statistics.up.dropped.iter().max_by_key(|(_, count)| **count);
    max.map_or(DropReason::Lost, |(why, _)| *why)
}
