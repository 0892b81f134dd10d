//! One sender, with its receiver, its decoder and its link.

use std::net::IpAddr;
use std::sync::mpsc::{Receiver, Sender as Channel, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thalweg_receiver::rtp::{AudioPacket, VideoFrame};
use thalweg_session::Incoming;
use thalweg_session::incoming::{ConnectionEvent, Output};
use thalweg_transport::sdp::Video;
use thalweg_transport::sdp::fragment::Fragment;
use thalweg_transport::{Datagram, Received, Remote, TransportError};
use thalweg_units::{Bytes, Rate, Span, Time};
use thalweg_wire::overhead;

use super::config::ReceiveConfig;
use super::observed::{Observed, SenderReport};
use crate::joining::renewed;
use crate::measure::{
    DecoderThread, Failure, Feedback, Forward, Handling, MeasureError, Measured, Source, Work, wall_ms,
};
use crate::peers::{Key, State};
use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::{self, Waker};
use thalweg_emulate::{Packets, Passing, Relay};

/// Interval between updates of the statistics.
const FIGURES: Span = Span::from_millis(250);
/// Interval between measurements of the skew of video and audio.
const SKEW: Span = Span::from_secs(1);

/// A sender.
pub(super) struct Sender {
    pub(super) key: Key,
    /// Its unguessable id.
    pub(super) id: String,
    /// The tag of its ICE session.
    pub(super) etag: u64,
    pub(super) name: String,
    pub(super) joined: Time,
    /// Where it joined from ([`Join::from`](crate::web::Join::from)).
    pub(super) from: Option<IpAddr>,
    pub(super) state: State,
    pub(super) incoming: Incoming,
    pub(super) remote: Remote,
    video: Option<Video>,
    connected: Option<Time>,
    measured: Arc<Mutex<Measured>>,
    handling: Handling,
    decoder: Option<DecoderThread>,
    /// Why not all of it was decoded or recorded.
    failure: Option<MeasureError>,
    failures: (Channel<Failure>, Receiver<Failure>),
    waker: Waker,
    forward: Option<Arc<dyn Forward>>,
    pub(super) relay: Option<Relay>,
    passing: Option<Receiver<Passing>>,
    packets: Option<Packets>,
    wake: Time,
    figures: Time,
    skew: Time,
}

/// Parts of a new sender.
pub(super) struct Joining {
    pub(super) key: Key,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) from: Option<IpAddr>,
    pub(super) remote: Remote,
    pub(super) incoming: Incoming,
    pub(super) video: Option<Video>,
    pub(super) relay: Option<Relay>,
    pub(super) passing: Option<Receiver<Passing>>,
    pub(super) waker: Waker,
    pub(super) forward: Option<Arc<dyn Forward>>,
}

impl Sender {
    pub(super) fn new(joining: Joining, config: &ReceiveConfig, now: Time) -> Sender {
        let Joining { key, id, name, from, remote, incoming, video, relay, passing, waker, forward } = joining;
        let mut measured = Measured::new(config.late);
        let observe = &config.observe;
        if observe.each_packet {
            measured.keep_frames(observe.data);
        }
        let kind = video.as_ref().map(|video| video.codec);
        let ending = if kind == Some(thalweg_transport::sdp::VideoCodec::H264) { "h264" } else { "ivf" };
        let record = observe.record.as_ref().map(|folder| folder.join(format!("{name}.{ending}")));
        Sender {
            key,
            id,
            etag: 0,
            name,
            joined: now,
            from,
            state: State::Connecting,
            incoming,
            remote,
            video,
            connected: None,
            measured: Arc::new(Mutex::new(measured)),
            handling: Handling { decode: config.decode, record, y4m: None },
            decoder: None,
            failure: None,
            failures: channel(),
            waker,
            forward,
            relay,
            passing,
            packets: observe.each_packet.then(Packets::default),
            wake: now,
            figures: now,
            skew: now,
        }
    }

    /// When it needs service even if nothing happens.
    pub(super) fn wake(&self) -> Time {
        self.wake
    }

    /// Something has changed: it needs service now.
    pub(super) fn due(&mut self, now: Time) {
        self.wake = self.wake.min(now);
    }

    /// Says goodbye; the packet is sent at the next call of `pump`.
    pub(super) fn close(&mut self, now: Time) {
        self.incoming.close(now);
        self.due(now);
    }

    fn measured(&self) -> MutexGuard<'_, Measured> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A datagram came.
    pub(super) fn on_datagram(&mut self, now: Time, datagram: &reactor::Received<'_>) -> Received {
        let reactor::Received { from, to, ecn, bytes } = *datagram;
        let ip = if from.is_ipv6() { overhead::IPV6 } else { overhead::IPV4 };
        let size = ip + overhead::UDP + Bytes::new(bytes.len() as u64);
        let received = self.incoming.on_datagram(now, from, to, ecn, bytes);
        if self.connected.is_some() {
            self.measured().on_datagram(now, size);
        }
        if let Some(packets) = self.packets.as_mut().filter(|_| self.passing.is_none()) {
            packets.add_arrived(now, size, bytes);
        }
        self.due(now);
        received
    }

    /// The peer's part of an ICE restart.
    ///
    /// # Errors
    /// When its credentials or candidates are unusable; nothing has changed then.
    pub(super) fn restarted(&mut self, now: Time, theirs: &Fragment) -> Result<(), TransportError> {
        let remote = renewed(&self.remote, theirs);
        self.incoming.connection().set_remote(now, &remote)?;
        self.remote = remote;
        self.due(now);
        Ok(())
    }

    /// Does everything that is due; datagrams go to `send`.
    pub(super) fn pump(&mut self, clock: &Clock, mut send: impl FnMut(Datagram)) {
        let now = clock.now();
        while let Ok(failure) = self.failures.1.try_recv() {
            self.on_failure(now, failure);
        }
        if self.wake > now {
            return;
        }
        self.incoming.on_timeout(now);
        let until = loop {
            match self.incoming.poll() {
                Output::Transmit(datagram) => send(datagram),
                Output::Frame(frame) => self.on_frame(clock, frame),
                Output::Audio(packet) => self.on_audio(now, &packet),
                // Counted in the statistics of the reception.
                Output::Abandoned(_) => {}
                Output::Event(event) => self.on_connection_event(now, event, clock),
                Output::Wait { until } => break until,
            }
        };
        self.take_figures(now);
        self.wake = if self.state == State::Closed { Time::NEVER } else { until.min(self.figures) };
    }

    fn take_figures(&mut self, now: Time) {
        if let (Some(passing), Some(packets)) = (&self.passing, &mut self.packets) {
            passing.try_iter().for_each(|each| packets.add(&each));
        }
        if self.connected.is_none() || now < self.figures {
            return;
        }
        self.figures = now + FIGURES;
        self.measured().on_statistics(&self.incoming.statistics());
        if now >= self.skew
            && let Some(found) = self.incoming.skew()
        {
            self.skew = now + SKEW;
            self.measured().on_skew(now, found);
        }
        // The session goes on without pictures; why there are none is said at the end.
        if self.decoder.as_ref().is_some_and(DecoderThread::has_failed) {
            self.stop_decoding();
        }
    }

    fn on_frame(&mut self, clock: &Clock, frame: VideoFrame) {
        let now = clock.now();
        self.measured().on_frame(wall_ms(clock, now), &frame);
        if let Some(forward) = &self.forward {
            forward.frame(&frame);
        }
        let Some(decoder) = &mut self.decoder else { return };
        if let Err(failure) = decoder.decode(frame) {
            self.measured().on_skipped();
            if let Some(failure) = failure {
                self.on_failure(now, failure);
            }
        }
    }

    fn on_audio(&mut self, now: Time, packet: &AudioPacket) {
        self.measured().on_audio(now);
        if let Some(forward) = &self.forward {
            forward.audio(packet, self.incoming.skew());
        }
    }

    /// Somebody to whom its frames are passed on needs a keyframe.
    pub(super) fn request_keyframe(&mut self, now: Time) {
        self.incoming.request_keyframe(now);
        self.due(now);
    }

    /// Asks the sender to repair a decoding failure.
    fn on_failure(&mut self, now: Time, failure: Failure) {
        match failure {
            Failure::Frame(number) => self.incoming.on_undecodable(now, number),
            Failure::State(state) => self.incoming.on_disagreement(state),
        }
        self.due(now);
    }

    fn on_connection_event(&mut self, now: Time, event: ConnectionEvent, clock: &Clock) {
        let sender = self.name.as_str();
        self.state = match event {
            ConnectionEvent::Connected => {
                tracing::info!(sender, "connected");
                self.begin(now, clock);
                State::Connected
            }
            ConnectionEvent::Disconnected => {
                tracing::info!(sender, "disconnected: nothing is received from it");
                State::Disconnected
            }
            ConnectionEvent::Reconnected => {
                tracing::info!(sender, "reconnected");
                State::Connected
            }
            ConnectionEvent::Closed => {
                tracing::info!(sender, "left");
                State::Closed
            }
            ConnectionEvent::Failed(error) => {
                tracing::warn!(sender, %error, "the connection failed");
                State::Closed
            }
            ConnectionEvent::Unusable(error) => {
                tracing::error!(sender, %error, "no receiver can be built for the connection");
                State::Closed
            }
            ConnectionEvent::Unsent(error) => {
                tracing::error!(sender, error, "a packet could not be sent; more of them are only counted");
                self.state
            }
        };
    }

    /// Media begins: a sender that never connects costs no decoder.
    fn begin(&mut self, now: Time, clock: &Clock) {
        self.connected = Some(now);
        let feedback = Feedback::agreed(self.video.as_ref().and_then(Video::congestion));
        let codec = self.video.as_ref().map(|video| video.codec);
        let name = codec.map_or("audio", |codec| codec.name());
        self.measured().on_connected(now, name, feedback.to_string());
        if let Some(forward) = &self.forward {
            forward.begins();
        }
        let Some(codec) = codec else { return };
        let work = Work {
            clock: *clock,
            codec,
            source: Source::UNKNOWN,
            measured: self.measured.clone(),
            failures: self.failures.0.clone(),
            waker: self.waker.clone(),
            forward: self.forward.clone(),
        };
        match DecoderThread::start(&self.handling, work) {
            Ok(decoder) => self.decoder = Some(decoder),
            Err(error) => {
                tracing::error!(sender = self.name, %error, "nothing is decoded");
                self.failure = Some(error);
            }
        }
    }

    fn stop_decoding(&mut self) {
        if let Some(Err(error)) = self.decoder.take().map(DecoderThread::finish) {
            match error {
                MeasureError::Write { .. } => tracing::error!(sender = self.name, %error, "not all of it is recorded"),
                _ => tracing::error!(sender = self.name, %error, "decoding ended"),
            }
            self.failure.get_or_insert(error);
        }
    }

    /// Its figures.
    pub(super) fn report(&self, now: Time) -> SenderReport {
        let measured = self.measured();
        let (received, (wire, shown_fps)) = (measured.report(now), measured.recent(now));
        drop(measured);
        let link = self.relay.as_ref().map(|relay| relay.link().state());
        let since = self.connected.filter(|connected| now > *connected);
        let carried =
            link.as_ref().zip(since).and_then(|(link, since)| Some(link.carried(since, now)?.per(now - since)));
        let carried = carried.map(Rate::as_bps_f64).filter(|bps| *bps > 0.0);
        SenderReport {
            name: self.name.clone(),
            state: self.state.name(),
            time_s: (now - self.joined).as_secs_f64(),
            wire_bps: wire.as_bps_f64(),
            shown_fps,
            capacity_bps: link.and_then(|link| link.capacity(now)).map(Rate::as_bps_f64),
            capacity_mean_bps: carried,
            utilization: carried.map(|carried| received.wire_bitrate_bps / carried),
            link: None,
            received,
        }
    }

    /// It has left: waits until everything is decoded and written, which takes a while. `None` if it never connected.
    pub(super) fn end(mut self, clock: &Clock) -> Option<Observed> {
        let end = clock.now();
        self.measured().on_statistics(&self.incoming.statistics());
        self.state = State::Closed;
        let mut report = self.report(end);
        self.stop_decoding();
        // Frames that were still being decoded count; time does not go on for them.
        report.received = self.measured().report(end);
        let zero = self.relay.as_ref().and_then(|relay| relay.link().state().zero());
        let link = self.relay.take().and_then(|relay| match relay.stop() {
            Ok(statistics) => Some(statistics),
            Err(error) => {
                tracing::error!(sender = self.name, %error, "its link had failed");
                None
            }
        });
        report.link = link.as_ref().map(thalweg_emulate::Statistics::json);
        self.connected?;
        let mut packets = self.packets.take().unwrap_or_default();
        self.passing.iter().flat_map(Receiver::try_iter).for_each(|each| packets.add(&each));
        let tag = self.incoming.connection().srtp_overhead();
        let zero = zero.or(packets.first()).unwrap_or(self.joined);
        let frames = self.measured().take_frames();
        Some(Observed {
            report,
            zero,
            end,
            wall_ms: wall_ms(clock, Time::ZERO),
            video: self.video,
            tag,
            packets: packets.finish(),
            frames,
            link,
            failure: self.failure,
        })
    }
}
