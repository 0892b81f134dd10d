//! A scenario on real sockets: the simulator's experiment, played by the clock.
//!
//! ```text
//! encoder <-> sender ---- RTP, RTCP ----> relay: scenario.up ----> receiver -> decoder
//! (thread)    (this one) <--- RTCP ------ relay: scenario.down <-- (thread)    (thread)
//!                |------------ ICE, DTLS ----- round the link ------|
//! ```
//!
//! One scheme sends the scenario's video through the scenario's codec to [`thalweg_session::Incoming`]: engine, packets, protection, sockets,
//! feedback and its reading are what `publish` and `watch` have. What each end saw becomes the laboratory's records, so that figures, folder and
//! report are the same as of [`thalweg_lab::simulate()`].
//!
//! What is made the same in both worlds: **time zero** is the instant at which the sender's connection stands: camera, engine and the
//! link's traces begin there, as all begin at zero in the simulator; the handshake goes round the link, of which the simulator knows
//! nothing. An encoder model's frames are handed over when [`thalweg_codecs::CodecTime`] says; those of a real encoder when they are made.
//! **Packet sizes** and **feedback** are what the ends agreed on: [`Rehearsal::scheme`] and [`Rehearsal::scenario`] have both written into them,
//! so that the simulator can be asked for the very same.

mod decoding;
mod encoding;
mod error;
mod meeting;
mod receiving;
mod route;
mod sending;
mod telling;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use thalweg_codecs::CodecPair;
use thalweg_lab::footage::Footage;
use thalweg_lab::metrics::QualitySource;
use thalweg_lab::simulate::{Played, Run, summarize};
use thalweg_lab::{FindTrace, Scenario};
use thalweg_link::{Capacity, DropReason, PathError, Trace};
use thalweg_sender::{Camera, FeedbackStyle, SenderFactory};
use thalweg_session::outgoing::ASK_INTERVAL;
use thalweg_units::{Bytes, Span, Time};

use crate::clock::Clock;
use crate::emulate::{LinkConfig, Relay, RelayConfig, Statistics, Zero};
use crate::reactor::{Lateness, Poller, PollerConfig, UdpConfig, UdpSocket};
use crate::thread::spawn;
use decoding::Decoding;
use encoding::Encoding;
pub use error::RehearseError;
use receiving::{Received, Receiving, Shared};
use sending::{Sending, Sent};
use telling::Shown;

/// What came of a rehearsal.
pub struct Rehearsal {
    /// The scenario as it was played: with the kind of feedback that the ends agreed on.
    pub scenario: Scenario,
    /// The scheme as it was played: with the sizes packets had.
    pub scheme: Arc<dyn SenderFactory>,
    /// Figures, series and records.
    pub run: Run,
    /// What the machine did to it.
    pub conduct: Conduct,
}

/// How well the machine kept time.
#[derive(Debug, Clone)]
pub struct Conduct {
    /// How late the sender's timers rang.
    pub sender: Lateness,
    /// How late the receiver's timers rang.
    pub receiver: Lateness,
    /// What the emulated link did, with how late it passed packets on.
    pub link: Statistics,
    /// What the sender's engine charged for all its packets ...
    pub charged: Bytes,
    /// ... and what they weighed on the wire. The two differ by what was not foreseen.
    pub weighed: Bytes,
}

/// Plays `scenario` for one scheme on sockets of this machine, in as much time as it lasts and a little more. `find` gives traces by name;
/// `progress` is told the time since the run began now and then.
///
/// # Errors
/// When the scenario asks for what only the simulator has (competitors, another clock at the receiver, a receiver that keeps states), when
/// something it names cannot be had, or when the machine refuses.
pub fn rehearse(
    scenario: &Scenario,
    scheme: &Arc<dyn SenderFactory>,
    find: &mut FindTrace<'_>,
    progress: &mut dyn FnMut(Time),
) -> Result<Rehearsal, RehearseError> {
    check(scenario)?;
    let style = meeting::on_the_wire(scenario.feedback.unwrap_or(scheme.feedback()));
    let scenario = Scenario { feedback: Some(style), ask_every: Some(ASK_INTERVAL), ..scenario.clone() };
    let (mut link, capacity) = link(&scenario, find)?;
    let clock = Clock::new();
    // What reads pictures: the encoder, and after the run whoever compares.
    let open = || Footage::open(&scenario.video, scenario.seed);
    let footage = if scenario.codec.is_model() { None } else { Some(open()?) };
    let format = footage.as_ref().map_or(scenario.video.scene_format(), Footage::format);
    let seed = scenario.seed.child("flow 0");
    let wants_candidates = scheme.parts(format.size)?.frames.wants_candidates();
    let codec = if wants_candidates { scenario.codec.functional() } else { scenario.codec.clone() };
    let CodecPair { encoder, decoder } = codec.build_seeded(format.size, seed)?;

    let bind = || UdpSocket::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), &UdpConfig::default());
    let (here, there) = (bind()?, bind()?);
    let [ours, theirs] = [here.local_address(), there.local_address()];
    let camera = Camera { size: format.size, interval: format.interval() };
    let (outgoing, incoming) = meeting::meet(&scenario, scheme, camera, style, clock, [ours, theirs])?;
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
        over_link: None,
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
        tells_round_trip: scenario.call || style == FeedbackStyle::Extended,
    };
    let receiver = spawn("receiver", move || receiving.run())?;
    let sent = sending.run(progress);
    shared.over.store(true, Ordering::Relaxed);
    waker.wake();
    let received = receiver.join().map_err(|_| RehearseError::Broken("the receiver's thread panicked".into()))?;
    // What went wrong first is what the other end may have broken by.
    let (sent, relay) = sent?;
    let (received, statistics) = (received?, relay.stop()?);

    let shown = shown(&scenario, &sent, &received, decoding, || codec.build_seeded(format.size, seed))?;
    let measured = (format, scenario.measure_quality);
    let told = telling::tell(&sent, &received.arrivals, &shown, measured, (scenario.duration, reason(&statistics)));
    let quality = match (scenario.measure_quality, scenario.codec.is_model()) {
        (false, _) => QualitySource::None,
        (true, true) => QualitySource::Modelled,
        (true, false) => QualitySource::Measured,
    };
    let played = Played {
        number: 0,
        video: scenario.video.label(),
        begin: Time::ZERO,
        end: Time::ZERO + scenario.duration,
        codec: sent.codec.clone(),
        quality,
        frames: told.frames,
    };
    let mut outcome = summarize(&scenario, fitted.name(), played, &told.recorder, capacity.as_ref());
    outcome.summary.live = true;
    let run = Run { outcome, competitors: Vec::new(), recorder: told.recorder };
    let conduct = Conduct {
        sender: sent.lateness,
        receiver: received.lateness,
        link: statistics,
        charged: told.charged,
        weighed: told.weighed,
    };
    Ok(Rehearsal { scenario, scheme: fitted, run, conduct })
}

fn check(scenario: &Scenario) -> Result<(), RehearseError> {
    let wrong = |message: String| Err(RehearseError::Scenario(message));
    if scenario.duration <= Span::ZERO {
        return wrong(format!("duration is {}, must be longer than 0, such as 20s", scenario.duration));
    }
    if !scenario.competitors.is_empty() {
        let count = scenario.competitors.len();
        return wrong(format!("{count} competitors are there, of which --live has none: play it without --live"));
    }
    if scenario.clock_offset != Span::ZERO {
        let offset = scenario.clock_offset;
        return wrong(format!(
            "clock_offset is {offset}, must be 0ms with --live: both ends have this machine's clock"
        ));
    }
    Ok(())
}

/// The link of a scenario, whose traces have been found.
struct Link {
    config: LinkConfig,
    traces: BTreeMap<String, Arc<Trace>>,
}

impl Link {
    fn start(&mut self, server: SocketAddr, clock: Clock, zero: Time) -> Result<Relay, RehearseError> {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let link = LinkConfig { zero: Zero::At(zero), ..self.config.clone() };
        let config = RelayConfig { link, clock, idle: Span::from_secs(3600), ..RelayConfig::new(listen, server) };
        let find = |name: &str| self.traces.get(name).cloned().ok_or_else(|| format!("no trace '{name}'"));
        Ok(Relay::start(&config, &mut { find })?)
    }
}

/// Finds the traces of a scenario's link before anything begins; what its narrowest part can carry.
fn link(scenario: &Scenario, find: &mut FindTrace<'_>) -> Result<(Link, Option<Capacity>), RehearseError> {
    let mut traces = BTreeMap::new();
    let mut remembered = |name: &str| {
        let trace = find(name)?;
        traces.insert(name.to_owned(), trace.clone());
        Ok(trace)
    };
    let path_error = |error: PathError<String>| RehearseError::Path(error.to_string());
    let up = scenario.up.build::<(), _>(scenario.seed.child("up"), &mut remembered).map_err(path_error)?;
    scenario.down.build::<(), _>(scenario.seed.child("down"), &mut remembered).map_err(path_error)?;
    let (up_config, down) = (scenario.up.clone(), scenario.down.clone());
    let config = LinkConfig { up: up_config, down, seed: scenario.seed, ..LinkConfig::default() };
    Ok((Link { config, traces }, up.bottlenecks().first().cloned()))
}

/// When each frame that came was shown, which picture it was and how it looked.
fn shown(
    scenario: &Scenario,
    sent: &Sent,
    received: &Received,
    decoding: Option<Decoding>,
    again: impl FnOnce() -> Result<CodecPair, thalweg_codecs::EncodeError>,
) -> Result<Vec<Shown>, RehearseError> {
    let pictures = telling::pictures(&received.frames, &sent.pictures);
    let mut qualities = vec![None; pictures.len()];
    let times: Vec<Time> = match decoding {
        Some(decoding) => {
            if scenario.measure_quality
                && let Some(mut decoder) = again()?.decoder
            {
                let frames: Vec<_> = received.frames.iter().zip(pictures.iter().copied()).collect();
                let mut footage = Footage::open(&scenario.video, scenario.seed)?;
                qualities = decoding::measure(scenario, &mut *decoder, &mut footage, &frames)?;
            }
            decoding.finish()?
        }
        None => {
            // A decoder's time after it came, and after the one before.
            let size_of: BTreeMap<u64, _> = sizes(sent);
            let mut done = Time::ZERO;
            let time = |(whole, picture): (&receiving::Whole, &Option<u64>)| {
                let size = picture.and_then(|picture| size_of.get(&picture)).copied();
                let size = size.unwrap_or(scenario.video.scene_format().size);
                done = whole.at.max(done) + scenario.codec_time.decode(size);
                done
            };
            received.frames.iter().zip(&pictures).map(time).collect()
        }
    };
    let each = times.into_iter().zip(pictures).zip(qualities);
    Ok(each.filter_map(|((at, picture), quality)| Some(Shown { at, picture: picture?, quality })).collect())
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

/// Why most of what the link dropped was dropped: which packet it was for which reason it does not say.
fn reason(statistics: &Statistics) -> DropReason {
    let most = statistics.up.dropped.iter().max_by_key(|(_, count)| **count);
    most.map_or(DropReason::Lost, |(why, _)| *why)
}
