//! The sender, in the thread that rehearses.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use thalweg_codecs::undershoot::Ratios;
use thalweg_codecs::{Candidate, CodecTime};
use thalweg_sender::Timed;
use thalweg_session::outgoing::{Notice, Output};
use thalweg_session::{Encoded, Outgoing};
use thalweg_units::{Bytes, Span, Time};
use thalweg_video::source::Format;
use thalweg_wire::overhead;

use super::RehearseError;
use super::encoding::Encoding;
use super::receiving::Shared;
use super::route::{Cargo, Label};
use crate::clock::Clock;
use crate::emulate::Relay;
use crate::reactor::{Lateness, Poller, UdpSocket};

/// How long the two ends may take to connect: they are on one machine and nothing is between them.
const CONNECT: Span = Span::from_secs(10);
/// How often the receiver is told the round trip where it is, as in the simulator.
const ROUND_TRIP_INTERVAL: Span = Span::from_secs(1);
/// How often whoever watches is told how far the run is.
const PROGRESS_INTERVAL: Span = Span::from_millis(500);

/// A media packet that left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Departure {
    pub(super) label: Label,
    pub(super) size: Bytes,
}

/// What a sender did, by the clock.
#[derive(Default)]
pub(super) struct Sent {
    /// When the connection stood: the run's time zero.
    pub(super) zero: Time,
    pub(super) events: Vec<Timed>,
    /// In the order of sending.
    pub(super) departures: Vec<Departure>,
    /// When each picture was handed to the engine.
    pub(super) pictures: Vec<Time>,
    /// Frames by their numbers.
    pub(super) frames: Vec<(u64, Candidate)>,
    pub(super) codec: String,
    pub(super) lateness: Lateness,
}

/// A sender.
pub(super) struct Sending<'a> {
    pub(super) clock: Clock,
    pub(super) poller: Poller,
    pub(super) socket: UdpSocket,
    pub(super) outgoing: Outgoing,
    /// The receiver's own address, which the connection knows it by.
    pub(super) peer: SocketAddr,
    /// Starts the link, whose time begins at the given instant.
    pub(super) start_link: &'a mut dyn FnMut(Time) -> Result<Relay, RehearseError>,
    pub(super) shared: Arc<Shared>,
    pub(super) encoding: Encoding,
    pub(super) undershoot: Ratios,
    pub(super) codec_time: CodecTime,
    pub(super) format: Format,
    pub(super) duration: Span,
    /// Whether the receiver is told the round trip.
    pub(super) tells_round_trip: bool,
}

/// What there is of a run under way.
struct Playing {
    link: Option<Relay>,
    candidates: Vec<Candidate>,
    sent: Sent,
}

impl Sending<'_> {
    /// Connects, and sends for as long as the scenario lasts; the link that it went over.
    pub(super) fn run(mut self, progress: &mut dyn FnMut(Time)) -> Result<(Sent, Relay), RehearseError> {
        let mut playing = Playing { link: None, candidates: Vec::new(), sent: Sent::default() };
        playing.sent.codec = self.encoding.settings().into();
        let (local, begun) = (self.socket.local_address(), self.clock.now());
        let (mut wait, mut round_trip_due, mut told) = (begun, Time::ZERO, Time::ZERO);
        let mut inbox: Vec<Vec<u8>> = Vec::new();
        loop {
            let until = wait.min(self.encoding.next_event()).min(self.next_picture(&playing));
            let now = self.poller.wait(until, &[&self.socket])?.now;
            // Whether something has come is asked each time: it costs less than to find out that it was to be.
            self.socket.receive(|datagram| inbox.push(datagram.bytes.to_vec()));
            if playing.link.is_some() && now >= playing.sent.zero + self.duration {
                break;
            }
            if playing.link.is_none() && now - begun > CONNECT {
                let message = format!(
                    "the two ends did not connect in {CONNECT} on this machine: UDP on loopback is blocked, or nothing gets to run"
                );
                return Err(RehearseError::Broken(message));
            }
            for bytes in inbox.drain(..) {
                self.outgoing.on_datagram(now, self.peer, local, &bytes);
                self.pump(now, &mut playing)?;
            }
            if self.tells_round_trip && round_trip_due <= now {
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
            if playing.link.is_some() && now - told > PROGRESS_INTERVAL {
                told = now;
                progress(Time::ZERO + (now - playing.sent.zero));
            }
        }
        playing.sent.lateness = self.poller.lateness().clone();
        let link = playing.link.ok_or_else(|| RehearseError::Broken("the run ended before it began".into()))?;
        Ok((playing.sent, link))
    }

    /// When the next picture is read; never before the connection stands.
    fn next_picture(&self, playing: &Playing) -> Time {
        let since = self.format.time_of(playing.sent.pictures.len() as u64);
        if playing.link.is_some() { playing.sent.zero + since } else { Time::NEVER }
    }

    /// Does what is to be done; until when to wait.
    fn pump(&mut self, now: Time, playing: &mut Playing) -> Result<Time, RehearseError> {
        let wait = loop {
            match self.outgoing.poll() {
                Output::Transmit(datagram) => self.transmit(&datagram.bytes, playing),
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
                Output::News(Notice::Connected) => {
                    playing.sent.zero = now;
                    playing.link = Some((self.start_link)(now)?);
                }
                Output::News(Notice::Closed) => return Err(RehearseError::Broken("the receiver left".into())),
                Output::News(Notice::Failed(error)) => return Err(error.into()),
                Output::News(Notice::Disconnected | Notice::Reconnected) => {}
                Output::Wait { until, .. } => break until,
            }
        };
        playing.sent.events.extend(self.outgoing.drain_events());
        Ok(wait)
    }

    fn transmit(&mut self, bytes: &[u8], playing: &mut Playing) {
        let cargo = Cargo::of(bytes);
        if let Cargo::Media(label) = cargo {
            let size = overhead::IPV4 + overhead::UDP + Bytes::new(bytes.len() as u64);
            playing.sent.departures.push(Departure { label, size });
        }
        let to = match (&playing.link, cargo) {
            (None, _) | (_, Cargo::Handshake) => self.peer,
            (Some(link), _) => link.address(),
        };
        self.socket.send(to, bytes);
    }
}
