//! The sender in a conversation.
//!
//! The contract is the engine's: mutate, then drain [`Outgoing::poll`] until it answers [`Output::Wait`]. The engine
//! begins when the connection is established; earlier pictures are ignored.

mod audio;
mod codec;
mod counted;
mod dependencies;
mod extensions;
mod fitted;
mod held;
mod history;
mod labels;
mod order;
mod output;
mod payload;
mod red;
mod reports;
mod retransmitted;
mod round_trip;
mod setup;
mod stream;
mod traps;
mod writer;

use std::net::SocketAddr;
use std::sync::Arc;

use thalweg_sender::frames::EncodedFrame;
use thalweg_sender::{Engine, Parts, SenderFactory, Timed, Wake};
use thalweg_transport::sdp::{Audio, CongestionFeedback, Video};
use thalweg_transport::{Connection, Credentials, Received, TransportError};
use thalweg_types::Fragment;
use thalweg_types::feedback::{Reader, RtcpFeedback};
use thalweg_units::{Bytes, ConfigError, Ecn, Random, Rate, Time};
use thalweg_wire::rtcp;

pub use crate::peer::ConnectionEvent;
use crate::peer::{Next, Peer};
pub use audio::AudioFrame;
use codec::Codec;
pub use codec::{Bitrate, Preferences, SettingError};
pub use extensions::FEEDBACK_REQUEST_INTERVAL;
use fitted::Fitted;
use held::Held;
use labels::Planned;
use order::Order;
pub use output::{Encoded, Figures, Output, Plain};
use reports::Reports;
use round_trip::ReceiverTime;
pub use setup::{Setup, SetupError};
use traps::Traps;
use writer::{PathOverhead, Writer};

/// A sender of one video, with audio, to one peer.
pub struct Outgoing {
    setup: Setup,
    video: Video,
    peer: Peer,
    flow: Option<Flow>,
    codec: Codec,
    /// The most that may be sent.
    ceiling: Option<Rate>,
    figures: Figures,
    /// Unprotected packets, if they are captured.
    plain: Option<Vec<Plain>>,
    now: Time,
}

/// State while media flows.
struct Flow {
    engine: Engine,
    writer: Writer,
    reader: Reader,
    receiver_time: ReceiverTime,
    reports: Reports,
    held: Held,
    /// Max frame bytes in a packet.
    max_payload: Bytes,
    /// The candidates of the picture in the encoder.
    candidates: Vec<Encoded>,
    /// Properties of its frames that fragments lack.
    planned: Option<Planned>,
    order: Order,
}

impl Outgoing {
    /// A sender over `connection`, which knows the peer.
    ///
    /// # Errors
    /// When no video was negotiated, or a parameter of the scheme is out of range.
    pub fn new(setup: Setup, connection: Connection, now: Time) -> Result<Outgoing, SetupError> {
        let video = setup.media.video.clone().ok_or(SetupError::NoVideo)?;
        // Reports errors of the scheme now and not when the connection is established.
        setup.camera.check()?;
        setup.scheme.parts(setup.camera.size)?.check()?;
        let (peer, figures) = (Peer::new(connection), Figures::default());
        Ok(Outgoing {
            setup,
            video,
            peer,
            flow: None,
            codec: Codec::default(),
            ceiling: None,
            figures,
            plain: None,
            now,
        })
    }

    /// A datagram arrived, with the ECN field of its IP packet; returns what it was.
    pub fn on_datagram(&mut self, now: Time, from: SocketAddr, to: SocketAddr, ecn: Ecn, datagram: &[u8]) -> Received {
        self.now = now;
        self.peer.connection.on_datagram(now, from, to, ecn, datagram)
    }

    /// The camera delivered a picture; `picture` is the caller's number for it, one higher each time.
    pub fn on_picture(&mut self, now: Time, picture: u64) {
        self.on_captured(now, now, picture);
    }

    /// The same of a picture that is delivered later than it was captured, at `captured`, from which its RTP timestamp is
    /// made (RFC 3550 section 5.1).
    pub fn on_captured(&mut self, now: Time, captured: Time, picture: u64) {
        self.now = now;
        if let Some(flow) = &mut self.flow
            && self.codec.is_due(now)
        {
            flow.engine.on_captured(now, captured, picture);
        }
    }

    /// The source has ended or pauses ([`Engine::on_source_silent`]).
    pub fn on_source_silent(&mut self, now: Time) {
        self.now = now;
        if let Some(flow) = &mut self.flow {
            flow.engine.on_source_silent(now);
        }
    }

    /// Sets the most that may be sent, from the IP header on, by whatever scheme ([`Engine::set_ceiling`]); `None` for no
    /// limit. RTCP of some 200 bytes a second, checks, and audio on which the peer does not report come on top.
    pub fn set_ceiling(&mut self, now: Time, rate: Option<Rate>) {
        self.now = now;
        self.ceiling = rate;
        let ceiling = self.ceiling();
        if let Some(flow) = &mut self.flow {
            flow.engine.set_ceiling(now, ceiling);
        }
    }

    /// The most that may be sent, if it is limited: by [`Outgoing::set_ceiling`], or by what the peer's SDP says that it
    /// receives at most (`b=`, RFC 8834 section 7.1), whichever is less.
    pub fn ceiling(&self) -> Option<Rate> {
        self.ceiling.into_iter().chain(self.video.limit).min()
    }

    /// Sets what the application prefers, in place of its earlier preferences.
    ///
    /// # Errors
    /// When another codec was negotiated or a value is out of range; then nothing has changed.
    pub fn set_preferences(&mut self, preferences: &Preferences) -> Result<(), SettingError> {
        self.codec.prefer(preferences, self.video.codec)
    }

    /// Sets a parameter of the encoder: `max-bitrate` (as `1500kbps`), `max-frame-rate` (per second) or `max-lines`.
    ///
    /// # Errors
    /// When there is no such parameter or the value does not fit it; then nothing has changed.
    pub fn set_param(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        self.codec.set(name, value)
    }

    /// The value of a parameter of the encoder; `None` if it is not set.
    ///
    /// # Errors
    /// When there is no such parameter.
    pub fn param(&self, name: &str) -> Result<Option<String>, SettingError> {
        self.codec.get(name)
    }

    /// The rate last requested of the encoder, and the rate that it makes.
    pub fn bitrate(&self) -> Bitrate {
        self.codec.bitrate(self.now)
    }

    /// The candidates that the encoder made of the picture asked for; empty when its rate control dropped the picture.
    pub fn on_encoded(&mut self, now: Time, candidates: Vec<Encoded>) {
        self.now = now;
        if let Some(flow) = &mut self.flow {
            let (codec, max) = (self.video.codec, flow.max_payload);
            let sized = |made: &Encoded| payload::sized(codec, made.frame, &made.data, max);
            let frames: Vec<EncodedFrame> = candidates.iter().map(sized).collect();
            flow.candidates = candidates;
            flow.engine.on_encoded(now, &frames);
        }
    }

    /// An audio packet is ready to be sent.
    pub fn on_audio(&mut self, now: Time, frame: AudioFrame) {
        self.now = now;
        let (Some(flow), Some(audio)) = (&mut self.flow, &self.setup.media.audio) else { return };
        let length = frame.data.len() as u32;
        let number = flow.writer.keep_audio(frame);
        if is_reported(audio, &self.video) {
            flow.engine.on_audio(now, number, length);
            return;
        }
        match flow.writer.unreported_audio(number) {
            Some(Ok(bytes)) => self.send_rtp(Ecn::NotCapable, &bytes),
            Some(Err(error)) => self.peer.on_unsent(error.to_string()),
            None => {}
        }
    }

    /// The time of the last [`Output::Wait`] has come. Early and late calls do no harm.
    pub fn on_timeout(&mut self, now: Time) {
        self.now = now;
        self.peer.connection.on_timeout(now);
        if let Some(flow) = &mut self.flow {
            flow.engine.on_timeout(now);
        }
    }

    /// Changes to another scheme.
    ///
    /// # Errors
    /// When a parameter of the scheme is out of range; then nothing has changed.
    pub fn change_scheme(&mut self, now: Time, scheme: Arc<dyn SenderFactory>) -> Result<(), ConfigError> {
        self.now = now;
        let (parts, order) = self.parts(&*scheme)?;
        match &mut self.flow {
            Some(flow) => {
                let (redundancy, max_payload) = (setup::in_red(&parts, &self.video), parts.packets.max_payload);
                flow.engine.change_parts(now, parts)?;
                flow.max_payload = max_payload;
                flow.order.turn(order);
                flow.writer.put_in_red(redundancy);
                flow.writer.count(setup::is_measured(scheme.receiver(), &self.video));
            }
            None => parts.check()?,
        }
        self.setup.scheme = scheme;
        Ok(())
    }

    /// New credentials for an ICE restart; keys and media continue.
    ///
    /// # Errors
    /// When the system provides no random numbers; then nothing has changed.
    pub fn restart(&mut self, now: Time) -> Result<Credentials, TransportError> {
        self.now = now;
        self.peer.connection.restart(now)
    }

    /// The connection, for later signalling.
    pub fn connection(&mut self) -> &mut Connection {
        &mut self.peer.connection
    }

    /// Ends the call. What [`Outgoing::poll`] returns after this is the last output.
    pub fn close(&mut self, now: Time) {
        self.now = now;
        if let Some(flow) = self.flow.take() {
            self.send_rtcp(&flow.reports.goodbye(now, &flow.writer));
        }
        self.peer.connection.close(now);
        self.peer.is_over = true;
    }

    /// The engine, while media flows.
    pub fn engine(&self) -> Option<&Engine> {
        self.flow.as_ref().map(|flow| &flow.engine)
    }

    /// The scheme.
    pub fn scheme(&self) -> &Arc<dyn SenderFactory> {
        &self.setup.scheme
    }

    /// The scheme as the engine uses it: with the packet sizes of this path, and without what the peer did not agree
    /// to.
    ///
    /// # Errors
    /// When a parameter of the scheme is out of range.
    pub fn fitted_scheme(&self) -> Result<Arc<dyn SenderFactory>, ConfigError> {
        let scheme = &self.setup.scheme;
        Ok(Fitted::of(scheme, self.parts(&**scheme)?.0))
    }

    /// The video as negotiated.
    pub fn video(&self) -> &Video {
        &self.video
    }

    /// The RTP timestamp of video captured at `at`, once media flows.
    pub fn video_timestamp(&self, at: Time) -> Option<u32> {
        self.flow.as_ref().map(|flow| flow.writer.video_timestamp(at))
    }

    /// From now on unprotected packets are captured for [`Outgoing::take_plain`]; the caller must take them often, or
    /// they fill memory.
    pub fn capture(&mut self) {
        self.plain.get_or_insert_default();
    }

    /// The packets captured since the last call, oldest first.
    pub fn take_plain(&mut self) -> Vec<Plain> {
        self.plain.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The peer's address, once it is known.
    pub fn remote_address(&self) -> Option<SocketAddr> {
        self.peer.connection.remote_address()
    }

    /// Statistics that the engine does not have.
    pub fn figures(&self) -> Figures {
        let never_sent = self.flow.as_ref().map_or(0, |flow| flow.reader.never_sent());
        let arrived_by_ecn = self.engine().map_or([0; 4], Engine::arrived_by_ecn);
        Figures { unsent: self.peer.unsent, never_sent, arrived_by_ecn, ..self.figures }
    }

    /// Drains the engine's events since the last call, oldest first.
    pub fn drain_events(&mut self) -> impl Iterator<Item = Timed> + '_ {
        self.flow.iter_mut().flat_map(|flow| flow.engine.drain_events())
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Output {
        loop {
            let until = match self.peer.poll() {
                Next::Transmit(datagram) => return Output::Transmit(datagram),
                Next::Event(event) => {
                    // Nothing flows after the end.
                    if self.peer.is_over {
                        self.flow = None;
                    }
                    return Output::Event(event);
                }
                Next::Wait(until) => until,
                Next::Connected => {
                    self.begin();
                    continue;
                }
                Next::Rtcp(datagram) => {
                    self.on_rtcp(&datagram);
                    continue;
                }
                // This side does not receive media.
                Next::Rtp(..) => continue,
            };
            let Some(flow) = &mut self.flow else { return Output::Wait { until, why: Wake::Nothing } };
            if flow.reports.due(self.now) {
                let mut compound = flow.reports.compound(self.now, &flow.writer);
                if !compound.is_empty() {
                    compound.extend(flow.receiver_time.echo(self.now, self.setup.media.local.video));
                }
                self.send_rtcp(&compound);
                continue;
            }
            match flow.engine.poll() {
                thalweg_sender::Output::Transmit(packet) => {
                    let written = flow.writer.write(&packet);
                    flow.writer.forget_before(flow.engine.retransmits_from().unwrap_or(u64::MAX));
                    match written {
                        Ok(bytes) => self.send_rtp(packet.sent.ecn, &bytes),
                        Err(error) => self.peer.on_unsent(error.to_string()),
                    }
                }
                thalweg_sender::Output::Encode { picture, mut plan } => {
                    self.codec.bound(&mut plan);
                    flow.planned = Some(Planned::of(&plan, flow.order.names_references));
                    return Output::Encode { picture, plan };
                }
                thalweg_sender::Output::Commit { choice } => {
                    if let Some((index, frame)) = choice
                        && let Some((chosen, planned)) = flow.candidates.get(index).zip(flow.planned)
                    {
                        self.codec.on_frame(self.now, chosen.frame.size);
                        flow.writer.keep_frame(frame, chosen.data.clone(), planned);
                        flow.order.on_frame(frame, chosen.frame.keyframe);
                    }
                    flow.candidates.clear();
                    return Output::Commit { choice };
                }
                thalweg_sender::Output::Forget { frame } => return Output::Forget { frame },
                thalweg_sender::Output::Wait { until: engine, why } => {
                    let reports = flow.reports.next();
                    return if engine <= until.min(reports) {
                        Output::Wait { until: engine, why }
                    } else {
                        Output::Wait { until: until.min(reports), why: Wake::Nothing }
                    };
                }
                _ => {}
            }
        }
    }

    /// The parts of a scheme, fitted to the peer, and what its frames refer to there.
    fn parts(&self, scheme: &dyn SenderFactory) -> Result<(Parts, Order), ConfigError> {
        let mut parts = scheme.parts(self.setup.camera.size)?;
        let around = (self.peer.connection.srtp_overhead(), self.setup.ipv6);
        let measured = setup::is_measured(scheme.receiver(), &self.video);
        let fell_back = setup::fall_back(&mut parts, &self.video);
        setup::fit(&mut parts, measured, &self.setup.media, &self.video, around);
        let order = Order::of(&parts, fell_back);
        Ok((parts, order))
    }

    fn begin(&mut self) {
        if self.flow.is_some() || self.peer.is_over {
            return;
        }
        let mut random: Random = self.setup.seed.child("streams").random();
        let path = PathOverhead { ipv6: self.setup.ipv6, srtp_tag: self.peer.connection.srtp_overhead() };
        let (setup, video) = (&self.setup, self.video.clone());
        let made = self.parts(&*setup.scheme).and_then(|(parts, order)| {
            let (redundancy, max_payload) = (setup::in_red(&parts, &video), parts.packets.max_payload);
            let mut engine = Engine::with(parts, setup.camera, self.now)?;
            engine.set_ceiling(self.now, self.ceiling());
            Ok((engine, order, redundancy, max_payload))
        });
        match made {
            Ok((engine, order, redundancy, max_payload)) => {
                let traps = Traps::new(setup.seed.child("traps").random());
                let mut writer = Writer::new(&setup.media, video, path, max_payload, (&mut random, traps));
                writer.put_in_red(redundancy);
                writer.count(setup::is_measured(setup.scheme.receiver(), &self.video));
                let reader = if self.video.congestion().is_some() { Reader::new() } else { Reader::of_plain_reports() };
                let reports = Reports::new(self.now, setup.wall, &setup.cname);
                let (receiver_time, candidates) = (ReceiverTime::default(), Vec::new());
                self.flow = Some(Flow {
                    engine,
                    writer,
                    reader,
                    receiver_time,
                    reports,
                    held: Held::default(),
                    max_payload,
                    candidates,
                    planned: None,
                    order,
                });
                self.peer.say(ConnectionEvent::Connected);
            }
            Err(error) => self.peer.end(ConnectionEvent::Unusable(error)),
        }
    }

    fn on_rtcp(&mut self, datagram: &[u8]) {
        see(&mut self.plain, self.now, false, datagram);
        let Some(flow) = &mut self.flow else { return };
        if self.video.feedback.round_trip {
            flow.receiver_time.on_rtcp(self.now, datagram);
        }
        let Ok(feedback) = flow.reader.read_at(self.now, datagram, flow.writer.sent()) else {
            self.figures.malformed += 1;
            return;
        };
        for feedback in feedback {
            match feedback {
                RtcpFeedback::Arrivals { acknowledgements, hold } => {
                    self.figures.reports += 1;
                    if self.video.congestion() == Some(CongestionFeedback::Transport) {
                        flow.held.on_report(self.now, &acknowledgements);
                        self.figures.held_reports = flow.held.times();
                    }
                    flow.writer.on_report(&acknowledgements);
                    flow.engine.on_feedback(self.now, &acknowledgements, hold);
                }
                RtcpFeedback::Missing(sequences) => {
                    self.figures.nacks += 1;
                    let missing = flow.writer.missing(&sequences);
                    flow.engine.on_missing(self.now, &missing);
                    let (order, round_trip) = (&flow.order, flow.engine.srtt());
                    let is_over = |fragment: &Fragment| order.is_over(self.now, fragment, round_trip);
                    if missing.iter().filter_map(|number| flow.writer.fragment(*number)).any(is_over) {
                        flow.engine.on_keyframe_request(self.now);
                    }
                }
                RtcpFeedback::Decoder(report) => flow.engine.on_decoder(self.now, &report),
                RtcpFeedback::Path(report) => {
                    if let Some(report) = flow.writer.measured(report) {
                        self.figures.path_reports += 1;
                        flow.engine.on_path_report(self.now, &report);
                    }
                }
                RtcpFeedback::KeyframeNeeded => {
                    self.figures.keyframe_requests += 1;
                    flow.engine.on_keyframe_request(self.now);
                }
                _ => {}
            }
        }
    }

    fn send_rtp(&mut self, ecn: Ecn, packet: &[u8]) {
        if self.peer.send_rtp(ecn, packet) {
            self.figures.sent_by_ecn[usize::from(ecn.bits())] += 1;
            see(&mut self.plain, self.now, true, packet);
        }
    }

    fn send_rtcp(&mut self, packets: &[rtcp::Packet]) {
        let mut compound = Vec::new();
        match rtcp::write(packets, &mut compound) {
            Ok(()) if packets.is_empty() => {}
            Ok(()) => {
                if self.peer.send_rtcp(&compound) {
                    see(&mut self.plain, self.now, true, &compound);
                }
            }
            Err(error) => self.peer.on_unsent(error.to_string()),
        }
    }
}

/// Returns true if the peer's feedback on the video's packets covers audio packets too. If not, they would count as
/// lost if they were numbered with the others; they are then sent outside the engine, as libwebrtc sends audio without
/// feedback.
fn is_reported(audio: &Audio, video: &Video) -> bool {
    match video.congestion() {
        Some(CongestionFeedback::PerStream) => audio.feedback.congestion,
        Some(CongestionFeedback::Extended) => audio.feedback.extended,
        Some(CongestionFeedback::Transport | CongestionFeedback::TransportOnRequest) => {
            audio.extensions.transport_sequence.is_some()
        }
        // Receiver reports cover every stream.
        None => true,
    }
}

fn see(plain: &mut Option<Vec<Plain>>, at: Time, leaves: bool, bytes: &[u8]) {
    if let Some(plain) = plain {
        plain.push(Plain { at, leaves, bytes: bytes.to_vec() });
    }
}
