//! The sender's end of a conversation.
//!
//! The contract is the engine's: mutate, then drain [`Outgoing::poll`] until it answers [`Output::Wait`]. The engine begins when the connection
//! stands; pictures before that are let go.

mod extensions;
mod history;
mod payload;
mod repeated;
mod reports;
mod setup;
mod sound;
mod stream;
mod writer;

use std::net::SocketAddr;
use std::sync::Arc;

use thalweg_sender::event::Timed;
use thalweg_sender::feedback::{News, Reader};
use thalweg_sender::frames::{EncodePlan, EncodedFrame};
use thalweg_sender::{Engine, Scheme, Wake, engine};
use thalweg_transport::sdp::Video;
use thalweg_transport::{self as transport, Connection, Credentials, Datagram, TransportError};
use thalweg_units::{ConfigError, Random, Time};
use thalweg_wire::rtcp::{self, Goodbye};

pub use extensions::ASK_INTERVAL;
use reports::Reports;
pub use setup::Setup;
pub use sound::Sound;
use writer::{PathOverhead, Writer};

/// One way to encode a picture, with its bytes.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// What the engine needs to know of it.
    pub frame: EncodedFrame,
    /// The frame's bytes; an encoder model's may be fewer than `frame.size` says, and are zeros then.
    pub data: Arc<[u8]>,
}

/// What an [`Outgoing`] wants its driver to do.
#[derive(Debug)]
pub enum Output {
    /// Put this on the network.
    Transmit(Datagram),
    /// Encode this picture; answer with [`Outgoing::on_encoded`].
    Encode {
        /// The picture.
        picture: u64,
        /// How.
        plan: EncodePlan,
    },
    /// Of the candidates just given, this one is sent, as this frame; or none is.
    Commit {
        /// The index of the candidate and the frame's number.
        choice: Option<(usize, u64)>,
    },
    /// The encoder need keep the state after this frame no longer.
    Forget {
        /// The frame.
        frame: u64,
    },
    /// Something became of the connection.
    News(Notice),
    /// Nothing more to do before this time, unless something happens.
    Wait {
        /// Until when; [`Time::NEVER`] if there is nothing to wait for.
        until: Time,
        /// What for.
        why: Wake,
    },
}

/// What became of the connection.
#[derive(Debug)]
pub enum Notice {
    /// Media may flow: pictures are taken from now on.
    Connected,
    /// Nothing is heard of the other end; it may come back.
    Disconnected,
    /// It came back.
    Reconnected,
    /// The other end left, or was given up; nothing more will happen.
    Closed,
    /// The connection failed for good.
    Failed(TransportError),
}

/// A packet before it was protected, or after protection was taken off: for captures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plain {
    /// When it left or came.
    pub at: Time,
    /// Whether it left; otherwise it came.
    pub leaves: bool,
    /// RTP or RTCP.
    pub bytes: Vec<u8>,
}

/// Figures of the conversation that are not the engine's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Requests for repeats that came.
    pub nacks: u64,
    /// Requests for a keyframe that came.
    pub keyframe_requests: u64,
    /// RTCP that could not be read.
    pub malformed: u64,
    /// Reports of arrivals that came.
    pub reports: u64,
}

/// A sender of one video, and sound along with it, to one other end.
pub struct Outgoing {
    setup: Setup,
    video: Video,
    connection: Connection,
    flow: Option<Flow>,
    notices: std::collections::VecDeque<Notice>,
    figures: Figures,
    /// What passes in the clear, where somebody captures it.
    plain: Option<Vec<Plain>>,
    closed: bool,
    now: Time,
}

/// What there is while media flows.
struct Flow {
    engine: Engine,
    writer: Writer,
    reader: Reader,
    reports: Reports,
    /// Candidates of the picture in the encoder.
    candidates: Vec<Encoded>,
}

/// There is no video to be sent.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The other end agreed to no video.
    #[error("the other end agreed to no video codec: it must offer VP8, H.264 or VP9")]
    NoVideo,
    /// A parameter of the scheme is out of range.
    #[error(transparent)]
    Scheme(#[from] ConfigError),
}

impl Outgoing {
    /// A sender over `connection`, which knows the other end.
    ///
    /// # Errors
    /// When no video was agreed on, or a parameter of the scheme is out of range.
    pub fn new(setup: Setup, connection: Connection, now: Time) -> Result<Outgoing, SetupError> {
        let video = setup.media.video.clone().ok_or(SetupError::NoVideo)?;
        // What is wrong with a scheme is to be known now and not when the connection stands.
        Engine::new(&setup.scheme, setup.camera, now)?;
        let (notices, figures) = (Default::default(), Figures::default());
        Ok(Outgoing { setup, video, connection, flow: None, notices, figures, plain: None, closed: false, now })
    }

    /// A datagram came.
    pub fn on_datagram(&mut self, now: Time, from: SocketAddr, to: SocketAddr, datagram: &[u8]) {
        self.now = now;
        self.connection.on_datagram(now, from, to, datagram);
    }

    /// The camera was read: `picture` is the number its driver knows it by, one higher each time.
    pub fn on_picture(&mut self, now: Time, picture: u64) {
        self.now = now;
        if let Some(flow) = &mut self.flow {
            flow.engine.on_picture(now, picture);
        }
    }

    /// The candidates that the encoder made of the picture asked for; none when its rate control dropped it.
    pub fn on_encoded(&mut self, now: Time, candidates: Vec<Encoded>) {
        self.now = now;
        if let Some(flow) = &mut self.flow {
            let (codec, most) = (self.video.codec, self.setup.scheme.packets.max_payload);
            let sized = |made: &Encoded| payload::sized(codec, made.frame, &made.data, most);
            let frames: Vec<EncodedFrame> = candidates.iter().map(sized).collect();
            flow.candidates = candidates;
            flow.engine.on_encoded(now, &frames);
        }
    }

    /// A packet of sound was made.
    pub fn on_sound(&mut self, now: Time, sound: Sound) {
        self.now = now;
        if let (Some(flow), Some(_)) = (&mut self.flow, &self.setup.media.audio) {
            let length = sound.data.len() as u32;
            let number = flow.writer.keep_sound(sound);
            flow.engine.on_audio(now, number, length);
        }
    }

    /// The time of the last [`Output::Wait`] has come. Early and late calls do no harm.
    pub fn on_timeout(&mut self, now: Time) {
        self.now = now;
        self.connection.on_timeout(now);
        if let Some(flow) = &mut self.flow {
            flow.engine.on_timeout(now);
        }
    }

    /// From now on this is a sender of `scheme`.
    ///
    /// # Errors
    /// When a parameter of the scheme is out of range; then nothing has changed.
    pub fn change_scheme(&mut self, now: Time, scheme: &Scheme) -> Result<(), ConfigError> {
        self.now = now;
        let fitted = self.fitted(scheme);
        match &mut self.flow {
            Some(flow) => flow.engine.change_scheme(now, &fitted)?,
            None => drop(Engine::new(&fitted, self.setup.camera, now)?),
        }
        self.setup.scheme = scheme.clone();
        Ok(())
    }

    /// New credentials for an ICE restart; keys and media stay.
    ///
    /// # Errors
    /// When the system has no random numbers; then nothing has changed.
    pub fn restart(&mut self, now: Time) -> Result<Credentials, TransportError> {
        self.now = now;
        self.connection.restart(now)
    }

    /// The connection, for what signalling brings later.
    pub fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// Says goodbye. What [`Outgoing::poll`] then gives is the last.
    pub fn close(&mut self, now: Time) {
        self.now = now;
        if let Some(flow) = self.flow.take() {
            let goodbye = Goodbye { sources: flow.writer.sources(), reason: None };
            self.send_rtcp(&[rtcp::Packet::Goodbye(goodbye)]);
        }
        self.connection.close(now);
        self.closed = true;
    }

    /// The engine, while media flows.
    pub fn engine(&self) -> Option<&Engine> {
        self.flow.as_ref().map(|flow| &flow.engine)
    }

    /// What kind of sender it is.
    pub fn scheme(&self) -> &Scheme {
        &self.setup.scheme
    }

    /// The same with the sizes packets have on this path and without what the other end did not agree to: what the engine is made of.
    pub fn fitted_scheme(&self) -> Scheme {
        self.fitted(&self.setup.scheme)
    }

    /// The video as it was agreed on.
    pub fn video(&self) -> &Video {
        &self.video
    }

    /// From now on what passes is to be had in the clear from [`Outgoing::take_plain`]: whoever asks takes it often, or it fills memory.
    pub fn capture(&mut self) {
        self.plain.get_or_insert_default();
    }

    /// What passed since the last call, oldest first; nothing unless it is captured.
    pub fn take_plain(&mut self) -> Vec<Plain> {
        self.plain.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Where packets go, once that is known.
    pub fn remote_address(&self) -> Option<SocketAddr> {
        self.connection.remote_address()
    }

    /// Figures that are not the engine's.
    pub fn figures(&self) -> Figures {
        self.figures
    }

    /// What happened in the engine since the last call, oldest first.
    pub fn drain_events(&mut self) -> impl Iterator<Item = Timed> + '_ {
        self.flow.iter_mut().flat_map(|flow| flow.engine.drain_events())
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Output {
        loop {
            // What is protected leaves before anything else is made: the engine charged it at this instant.
            let until = match self.connection.poll() {
                transport::Output::Transmit(datagram) => return Output::Transmit(datagram),
                transport::Output::Event(event) => {
                    self.on_event(event);
                    continue;
                }
                transport::Output::Wait { until } => until,
            };
            if let Some(notice) = self.notices.pop_front() {
                return Output::News(notice);
            }
            let Some(flow) = &mut self.flow else { return Output::Wait { until, why: Wake::Nothing } };
            if flow.reports.due(self.now) {
                let compound = flow.reports.compound(self.now, &flow.writer);
                self.send_rtcp(&compound);
                continue;
            }
            match flow.engine.poll() {
                engine::Output::Transmit(packet) => match flow.writer.write(&packet) {
                    // What cannot be sent now is lost as on any path: the engine hears so from the reports.
                    Ok(bytes) => {
                        let _ = self.connection.send_rtp(&bytes);
                        see(&mut self.plain, self.now, true, bytes);
                    }
                    Err(error) => debug_assert!(false, "{error}"),
                },
                engine::Output::Encode { picture, plan } => return Output::Encode { picture, plan },
                engine::Output::Commit { choice } => {
                    if let Some((index, frame)) = choice
                        && let Some(chosen) = flow.candidates.get(index)
                    {
                        flow.writer.keep_frame(frame, chosen.data.clone());
                    }
                    flow.candidates.clear();
                    return Output::Commit { choice };
                }
                engine::Output::Forget { frame } => return Output::Forget { frame },
                engine::Output::Wait { until: engine, why } => {
                    let reports = flow.reports.next();
                    return if engine <= until.min(reports) {
                        Output::Wait { until: engine, why }
                    } else {
                        Output::Wait { until: until.min(reports), why: Wake::Nothing }
                    };
                }
            }
        }
    }

    fn on_event(&mut self, event: transport::Event) {
        match event {
            transport::Event::Connected => self.begin(),
            transport::Event::Rtcp(datagram) => self.on_rtcp(&datagram),
            // Nobody was asked to send us media.
            transport::Event::Rtp(_) => {}
            transport::Event::Disconnected => self.notices.push_back(Notice::Disconnected),
            transport::Event::Reconnected => self.notices.push_back(Notice::Reconnected),
            transport::Event::Closed => {
                self.flow = None;
                self.notices.push_back(Notice::Closed);
            }
            transport::Event::Failed(error) => {
                self.flow = None;
                self.notices.push_back(Notice::Failed(error));
            }
        }
    }

    fn fitted(&self, scheme: &Scheme) -> Scheme {
        setup::fitted(scheme, &self.video, self.connection.srtp_overhead(), self.setup.ipv6)
    }

    fn begin(&mut self) {
        if self.flow.is_some() || self.closed {
            return;
        }
        let scheme = self.fitted(&self.setup.scheme);
        let mut random: Random = self.setup.seed.child("streams").random();
        let path = PathOverhead { ipv6: self.setup.ipv6, srtp_tag: self.connection.srtp_overhead() };
        let (setup, video) = (&self.setup, self.video.clone());
        match Engine::new(&scheme, setup.camera, self.now) {
            Ok(engine) => {
                let writer = Writer::new(&setup.media, video, path, scheme.packets.max_payload, &mut random);
                let told = self.video.feedback.congestion || self.video.extensions.transport_sequence.is_some();
                let reader = if told { Reader::new() } else { Reader::of_plain_reports() };
                let reports = Reports::new(self.now, setup.wall, &setup.cname);
                self.flow = Some(Flow { engine, writer, reader, reports, candidates: Vec::new() });
                self.notices.push_back(Notice::Connected);
            }
            Err(error) => debug_assert!(false, "the scheme was built before: {error}"),
        }
    }

    fn on_rtcp(&mut self, datagram: &[u8]) {
        if self.plain.is_some() {
            see(&mut self.plain, self.now, false, datagram.to_vec());
        }
        let Some(flow) = &mut self.flow else { return };
        let Ok(news) = flow.reader.read_at(self.now, datagram, flow.writer.sent()) else {
            self.figures.malformed += 1;
            return;
        };
        for news in news {
            match news {
                News::Arrivals { acknowledgements, hold } => {
                    self.figures.reports += 1;
                    flow.writer.on_report(&acknowledgements);
                    flow.engine.on_feedback(self.now, &acknowledgements, hold);
                }
                News::Missing(sequences) => {
                    self.figures.nacks += 1;
                    flow.engine.on_missing(self.now, &flow.writer.missing(&sequences));
                }
                News::Decoder(report) => flow.engine.on_decoder(self.now, &report),
                News::KeyframeNeeded => {
                    self.figures.keyframe_requests += 1;
                    flow.engine.on_keyframe_request(self.now);
                }
            }
        }
    }

    fn send_rtcp(&mut self, packets: &[rtcp::Packet]) {
        let mut compound = Vec::new();
        if rtcp::write(packets, &mut compound).is_ok() && !compound.is_empty() {
            // Before there are keys there is nobody to report to.
            let _ = self.connection.send_rtcp(&compound);
            see(&mut self.plain, self.now, true, compound);
        }
    }
}

fn see(plain: &mut Option<Vec<Plain>>, at: Time, leaves: bool, bytes: Vec<u8>) {
    if let Some(plain) = plain {
        plain.push(Plain { at, leaves, bytes });
    }
}
