//! The network thread: one session after the other, each with its socket, its receiver and the receiver's output.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thalweg_receiver::rtp::VideoFrame;
use thalweg_session::incoming::{ConnectionEvent, Output};
use thalweg_units::{Bytes, Random, Span, Time};
use thalweg_wire::overhead;

use super::config::WatchConfig;
use super::error::WatchError;
use super::published::Published;
use super::session::Session;
use crate::measure::{DecoderThread, Failure, Measured, Numbers, Source as Video, Work, wall_ms};
use crate::whip::{Backoff, Client};
use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::{Poller, Received, Source, Transmit};

/// How often a waiting thread checks whether it should stop.
const STEP: Span = Span::from_millis(100);
/// A session of at least this length counts as a success: the next attempt follows soon.
const LASTED: Span = Span::from_secs(10);
/// Interval between updates of the receiver's statistics.
const FIGURES: Span = Span::from_millis(250);
/// Interval between measurements of the skew of video and audio.
const SKEW: Span = Span::from_secs(1);

/// The state of the network thread.
pub(super) struct Network {
    pub(super) config: WatchConfig,
    pub(super) clock: Clock,
    pub(super) client: Client,
    pub(super) poller: Poller,
    pub(super) measured: Arc<Mutex<Measured>>,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) random: Random,
    pub(super) decoder: Option<DecoderThread>,
    pub(super) failures: (Sender<Failure>, Receiver<Failure>),
}

/// How a session ended.
enum End {
    Stopped,
    Ended,
    Lost,
}

/// Known properties of the video; another server's has no numbers.
fn video(published: Option<&Published>) -> Video {
    published.map_or(Video { numbers: Numbers::None, ..Video::UNKNOWN }, Published::source)
}

impl Network {
    pub(super) fn new(
        config: WatchConfig,
        (clock, client, poller): (Clock, Client, Poller),
        measured: Arc<Mutex<Measured>>,
        stop: Arc<AtomicBool>,
        random: Random,
    ) -> Network {
        Network { config, clock, client, poller, measured, stop, random, decoder: None, failures: channel() }
    }

    /// Watches until stopped, or until an error.
    pub(super) fn run(mut self) -> Result<(), WatchError> {
        let watched = self.sessions();
        // An error of the decoder explains why the session ended.
        let decoded = self.decoder.take().map_or(Ok(()), DecoderThread::finish);
        decoded?;
        watched
    }

    fn sessions(&mut self) -> Result<(), WatchError> {
        let mut backoff = Backoff::default();
        let mut has_watched = false;
        while !self.is_stopping() {
            let began = self.clock.now();
            let ended = self.session(&mut has_watched);
            self.measured().on_end();
            if self.decoder.as_ref().is_some_and(DecoderThread::has_failed) {
                return Ok(());
            }
            let error = match ended {
                Ok(End::Stopped) => return Ok(()),
                Ok(End::Ended) => WatchError::Ended,
                Ok(End::Lost) => WatchError::Lost,
                Err(error) => error,
            };
            // The user waits for the first attempt, so its error is returned at once.
            if !has_watched || !self.config.reconnect || !error.may_pass() {
                return if matches!(error, WatchError::Ended) { Ok(()) } else { Err(error) };
            }
            if self.clock.now() - began > LASTED {
                backoff.reset();
            }
            let asked = match &error {
                WatchError::Server(error) => error.retry_after().unwrap_or(Span::ZERO),
                _ => Span::ZERO,
            };
            let wait = asked.max(backoff.next(&mut self.random));
            tracing::warn!(%error, wait = %wait.whole_millis(), "no session; trying again");
            let until = self.clock.now() + wait;
            while self.clock.now() < until && !self.is_stopping() {
                self.poller.wait(until.min(self.clock.now() + STEP), &[])?;
            }
        }
        Ok(())
    }

    fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn measured(&self) -> MutexGuard<'_, Measured> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One session, from offer to end.
    fn session(&mut self, has_watched: &mut bool) -> Result<End, WatchError> {
        let mut session = Session::open(&self.config, &self.client, &self.clock)?;
        if let Some(published) = &session.published {
            tracing::info!(title = published.title, codec = session.codec.name(), feedback = %session.feedback, "joined");
        }
        let begun = match &self.decoder {
            Some(decoder) => {
                decoder.begin_anew(session.codec, video(session.published.as_ref()));
                Ok(())
            }
            None => self.start_decoder(&session),
        };
        let ended = begun.and_then(|()| self.attend(&mut session, has_watched));
        // The goodbye is sent before the server is asked to end the session.
        session.incoming.close(self.clock.now());
        let _ = self.drain(&mut session);
        session.close();
        ended
    }

    fn start_decoder(&mut self, session: &Session) -> Result<(), WatchError> {
        let work = Work {
            clock: self.clock,
            codec: session.codec,
            source: video(session.published.as_ref()),
            measured: self.measured.clone(),
            failures: self.failures.0.clone(),
            waker: self.poller.waker(),
            forward: None,
        };
        self.decoder = Some(DecoderThread::start(&self.config.handling(), work)?);
        Ok(())
    }

    fn attend(&mut self, session: &mut Session, has_watched: &mut bool) -> Result<End, WatchError> {
        let (mut figures, mut skew) = (Time::ZERO, Time::ZERO);
        loop {
            let (until, connection_events) = self.drain(session);
            for event in connection_events {
                match event {
                    ConnectionEvent::Connected => {
                        *has_watched = true;
                        let feedback = session.feedback.to_string();
                        self.measured().on_connected(self.clock.now(), session.codec.name(), feedback);
                        tracing::info!("connected");
                    }
                    ConnectionEvent::Disconnected => {
                        tracing::warn!("nothing is received from the publisher; trying another path");
                        if !session.restart(&self.clock)? {
                            return Ok(End::Lost);
                        }
                    }
                    ConnectionEvent::Reconnected => tracing::info!("the publisher is back"),
                    ConnectionEvent::Closed => return Ok(End::Ended),
                    ConnectionEvent::Failed(error) => return Err(error.into()),
                    ConnectionEvent::Unusable(error) => return Err(error.into()),
                    ConnectionEvent::Unsent(error) => tracing::error!(error, "a packet could not be sent"),
                }
            }
            let now = self.clock.now();
            if now >= figures {
                figures = now + FIGURES;
                self.measured().on_statistics(&session.incoming.statistics());
            }
            if now >= skew
                && let Some(found) = session.incoming.skew()
            {
                skew = now + SKEW;
                self.measured().on_skew(now, found);
            }
            if self.is_stopping() || self.decoder.as_ref().is_some_and(DecoderThread::has_failed) {
                self.measured().on_statistics(&session.incoming.statistics());
                return Ok(End::Stopped);
            }
            self.wait(session, until)?;
        }
    }

    /// Waits for the next event and handles it.
    fn wait(&mut self, session: &mut Session, until: Time) -> Result<(), WatchError> {
        let sources: Vec<&dyn Source> = session.sockets.iter().map(|socket| socket as &dyn Source).collect();
        let woken = self.poller.wait(until.min(self.clock.now() + STEP), &sources)?;
        for index in woken.ready {
            let (incoming, clock) = (&mut session.incoming, &self.clock);
            let mut came = Bytes::ZERO;
            session.sockets[index].receive(|datagram| {
                let ip = if datagram.from.is_ipv6() { overhead::IPV6 } else { overhead::IPV4 };
                came += ip + overhead::UDP + Bytes::new(datagram.bytes.len() as u64);
                let Received { from, to, ecn, bytes } = datagram;
                incoming.on_datagram(clock.now(), from, to, ecn, bytes);
            });
            self.measured().on_datagram(self.clock.now(), came);
        }
        while let Ok(failure) = self.failures.1.try_recv() {
            self.on_failure(session, failure);
        }
        session.incoming.on_timeout(self.clock.now());
        Ok(())
    }

    /// Handles all outputs; returns when to call it next, and the connection's events.
    fn drain(&mut self, session: &mut Session) -> (Time, Vec<ConnectionEvent>) {
        let mut connection_events = Vec::new();
        loop {
            match session.incoming.poll() {
                Output::Transmit(datagram) => {
                    let from = datagram.from.ip();
                    let ours = session.sockets.iter_mut().find(|socket| socket.local_address().ip() == from);
                    // What does not fit into the socket's buffer is lost, as anywhere on the path.
                    let _ = ours.map(|socket| {
                        socket.transmit(Transmit::from_known(datagram.from, datagram.to, datagram.ecn, datagram.bytes))
                    });
                }
                Output::Frame(frame) => self.on_frame(session, frame),
                Output::Audio(_) => self.measured().on_audio(self.clock.now()),
                // Counted in the statistics of the reception.
                Output::Abandoned(_) => {}
                Output::Event(event) => connection_events.push(event),
                Output::Wait { until } => return (until, connection_events),
            }
        }
    }

    fn on_frame(&mut self, session: &mut Session, frame: VideoFrame) {
        self.measured().on_frame(wall_ms(&self.clock, self.clock.now()), &frame);
        let Some(decoder) = &mut self.decoder else { return };
        if let Err(failure) = decoder.decode(frame) {
            self.measured().on_skipped();
            if let Some(failure) = failure {
                self.on_failure(session, failure);
            }
        }
    }

    /// Asks the sender to repair a decoding failure.
    fn on_failure(&self, session: &mut Session, failure: Failure) {
        match failure {
            Failure::Frame(number) => session.incoming.on_undecodable(self.clock.now(), number),
            Failure::State(state) => session.incoming.on_disagreement(state),
        }
    }
}
