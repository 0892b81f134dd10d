//! The sender, in the caller's thread.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use thalweg_codecs::{Candidate, CodecTime};
use thalweg_lab::simulate::SimulateError;
use thalweg_lab::undershoot::Ratios;
use thalweg_sender::Timed;
use thalweg_session::outgoing::{ConnectionEvent, Output};
use thalweg_session::{Encoded, Outgoing};
use thalweg_transport::Datagram;
use thalweg_units::{Bytes, Ecn, Span, Time};
use thalweg_video::source::Format;
use thalweg_wire::overhead;

use crate::RealTimeError;
use crate::encoding::Encoding;
use crate::receiving::Shared;
use crate::route::{DatagramKind, PacketKey};
use thalweg_emulate::Relay;
use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::{Lateness, Poller, Transmit, UdpSocket};

/// Timeout of the handshake: both peers are on one machine, with nothing between them.
const CONNECT: Span = Span::from_secs(10);
/// Interval at which the receiver gets the round-trip time, if the scheme uses it, as in the simulator.
const ROUND_TRIP_INTERVAL: Span = Span::from_secs(1);
/// Interval between progress reports.
const PROGRESS_INTERVAL: Span = Span::from_millis(500);

/// An RTP packet that was sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Departure {
    pub(crate) key: PacketKey,
    pub(crate) size: Bytes,
}

/// The sender's measurements, by the real clock.
#[derive(Default)]
pub(crate) struct Sent {
    /// When the connection was up: the run's time zero.
    pub(crate) zero: Time,
    pub(crate) events: Vec<Timed>,
    /// In the order of sending.
    pub(crate) departures: Vec<Departure>,
    /// When each picture was handed to the engine.
    pub(crate) pictures: Vec<Time>,
    /// Frames with their numbers.
    pub(crate) frames: Vec<(u64, Candidate)>,
    pub(crate) codec: String,
    /// The length of the clip, if it was played again and again.
    pub(crate) turns_after: Option<Span>,
    pub(crate) lateness: Lateness,
}

/// A sender.
pub(crate) struct Sending<'a> {
    pub(crate) clock: Clock,
    pub(crate) poller: Poller,
    pub(crate) socket: UdpSocket,
    pub(crate) outgoing: Outgoing,
    /// The receiver's own address, by which the connection knows it.
    pub(crate) peer: SocketAddr,
    /// Starts the link, whose time begins at the given instant.
    pub(crate) start_link: &'a mut dyn FnMut(Time) -> Result<Relay, RealTimeError>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) encoding: Encoding,
    pub(crate) undershoot: Ratios,
    pub(crate) codec_time: CodecTime,
    pub(crate) format: Format,
    pub(crate) duration: Span,
    /// True if the receiver gets the round-trip time.
    pub(crate) reports_round_trip: bool,
}

/// The state of a run.
struct Playing {
    link: Option<Relay>,
    candidates: Vec<Candidate>,
    sent: Sent,
}

impl Sending<'_> {
    /// Connects, and sends for as long as the scenario lasts; also returns the link.
    pub(crate) fn run(
        mut self,
        progress: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Result<(Sent, Relay), RealTimeError> {
        let mut playing = Playing { link: None, candidates: Vec::new(), sent: Sent::default() };
        playing.sent.codec = self.encoding.settings().into();
        let (local, begun) = (self.socket.local_address(), self.clock.now());
        let (mut wait, mut round_trip_due, mut reported) = (begun, Time::ZERO, Time::ZERO);
        let mut inbox: Vec<(Ecn, Vec<u8>)> = Vec::new();
        loop {
            let until = wait.min(self.encoding.next_event()).min(self.next_picture(&playing));
            let now = self.poller.wait(until, &[&self.socket])?.now;
            // Reading an empty socket costs less than first asking whether it is empty.
            self.socket.receive(|datagram| inbox.push((datagram.ecn, datagram.bytes.to_vec())));
            if playing.link.is_some() && now >= playing.sent.zero + self.duration {
                break;
            }
            if playing.link.is_none() && now - begun > CONNECT {
                let message = format!(
                    "the two peers did not connect within {CONNECT} on this machine: UDP on loopback is blocked, or the machine is overloaded"
                );
                return Err(RealTimeError::Failed(message));
            }
            for (ecn, bytes) in inbox.drain(..) {
                self.outgoing.on_datagram(now, self.peer, local, ecn, &bytes);
                self.pump(now, &mut playing)?;
            }
            if self.reports_round_trip && round_trip_due <= now {
                round_trip_due = now + ROUND_TRIP_INTERVAL;
                let round_trip = self.outgoing.engine().map_or(0, |engine| engine.srtt().as_nanos());
                self.shared.round_trip.store(round_trip, Ordering::Relaxed);
            }
            if let Some(candidates) = self.encoding.take(now)? {
                let made = |made: &Candidate| Encoded { frame: made.frame, data: made.data.clone() };
                self.outgoing.on_encoded(now, candidates.iter().map(made).collect());
                playing.candidates = candidates;
                self.pump(now, &mut playing)?;
            }
            while self.next_picture(&playing) <= now {
                self.outgoing.on_picture(now, playing.sent.pictures.len() as u64);
                playing.sent.pictures.push(now);
            }
            self.outgoing.on_timeout(now);
            wait = self.pump(now, &mut playing)?;
            if playing.link.is_some() && now - reported > PROGRESS_INTERVAL {
                reported = now;
                if progress(Time::ZERO + (now - playing.sent.zero)).is_break() {
                    return Err(SimulateError::Interrupted.into());
                }
            }
        }
        playing.sent.turns_after = self.encoding.turns_after();
        playing.sent.lateness = self.poller.lateness().clone();
        let link = playing.link.ok_or_else(|| RealTimeError::Failed("the run ended before it began".into()))?;
        Ok((playing.sent, link))
    }

    /// When the next picture is read; never before the connection is up.
    fn next_picture(&self, playing: &Playing) -> Time {
        let since = self.format.time_of(playing.sent.pictures.len() as u64);
        if playing.link.is_some() { playing.sent.zero + since } else { Time::NEVER }
    }

    /// Handles every output of the connection; returns when to call it next.
    fn pump(&mut self, now: Time, playing: &mut Playing) -> Result<Time, RealTimeError> {
        let wait = loop {
            match self.outgoing.poll() {
                Output::Transmit(datagram) => self.transmit(datagram, playing),
                Output::Encode { picture, mut plan } => {
                    let since = Time::ZERO + (now - playing.sent.zero);
                    self.undershoot.lower(since, &mut plan);
                    let done = now + self.codec_time.encode(&plan);
                    self.encoding.encode(now, done, picture, plan);
                }
                Output::Commit { choice } => {
                    self.encoding.commit(choice.map(|(index, _)| index));
                    if let Some((index, frame)) = choice
                        && index < playing.candidates.len()
                    {
                        playing.sent.frames.push((frame, playing.candidates.swap_remove(index)));
                    }
                    playing.candidates.clear();
                }
                Output::Forget { frame } => self.encoding.forget(frame),
                Output::Event(ConnectionEvent::Connected) => {
                    playing.sent.zero = now;
                    playing.link = Some((self.start_link)(now)?);
                }
                Output::Event(ConnectionEvent::Closed) => {
                    return Err(RealTimeError::Failed("the receiver closed the connection".into()));
                }
                Output::Event(ConnectionEvent::Failed(error)) => return Err(error.into()),
                Output::Event(ConnectionEvent::Unusable(error)) => return Err(error.into()),
                Output::Event(ConnectionEvent::Unsent(error)) => {
                    return Err(RealTimeError::Failed(format!("a packet could not be sent: {error}")));
                }
                Output::Event(ConnectionEvent::Disconnected | ConnectionEvent::Reconnected) => {}
                Output::Wait { until, .. } => break until,
            }
        };
        playing.sent.events.extend(self.outgoing.drain_events());
        Ok(wait)
    }

    fn transmit(&mut self, datagram: Datagram, playing: &mut Playing) {
        let kind = DatagramKind::of(&datagram.bytes);
        if let DatagramKind::Media(key) = kind {
            let size = overhead::IPV4 + overhead::UDP + Bytes::new(datagram.bytes.len() as u64);
            playing.sent.departures.push(Departure { key, size });
        }
        let to = match (&playing.link, kind) {
            (None, _) | (_, DatagramKind::Handshake) => self.peer,
            (Some(link), _) => link.address(),
        };
        self.socket.transmit(Transmit::from_known(datagram.from, to, datagram.ecn, datagram.bytes));
    }
}
