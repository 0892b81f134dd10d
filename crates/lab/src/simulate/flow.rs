//! One sender and its receiver.

use std::collections::VecDeque;
use std::sync::Arc;

use thalweg_codecs::{Candidate, CodecPair, CodecTime, Image, ModelledQuality};
use thalweg_control::Signal;
use thalweg_netsim::DropReason;
use thalweg_sender::frames::EncodePlan;
use thalweg_sender::{Camera, Engine, FeedbackStyle, Output, SenderFactory};
use thalweg_types::Content as PacketContent;
use thalweg_types::feedback::RtcpFeedback;
use thalweg_units::{Bytes, Span, Time};
use thalweg_video::footage::Footage;
use thalweg_video::quality::ssim_of_db;
use thalweg_video::source::Format;
use thalweg_video::{Picture, scale};

use super::SimulateError;
use super::comparisons::Comparisons;
use super::feedback_requests::FeedbackRequests;
use super::frames::Frames;
use super::ledger::Ledger;
use super::microphone::Microphone;
use super::network::{Answer, Cargo, Network, Transit};
use super::stills::Stills;
use super::summarize::Played;
use super::ticks::Ticks;
use super::under_way::{Part, UnderWay};
use super::viewer::Viewer;
use crate::metrics::{Choosing, DEADLINE, QualitySource};
use crate::notes::{self, Note};
use crate::outcome::Still;
use crate::playout::{self, Complete, Playout};
use crate::record::{Record, Recorder, What};
use crate::scenario::{Scenario, Video};
use crate::undershoot::Ratios;
use thalweg_receiver::{About, Drift, FrameInfo, Message, MessageReader, Moves, Ready, Receiver};

/// Interval at which the receiver updates the round-trip time, in a call.
const ROUND_TRIP_INTERVAL: Span = Span::from_secs(1);

/// A frame being decoded, or decoded and not yet shown.
struct Decoding {
    shown: Time,
    info: FrameInfo,
    /// The decoded picture, if any; `None` if decoding has not been done yet.
    picture: Option<Option<Picture>>,
    /// True if it is too late to be shown.
    discarded: bool,
}

/// A sender with its receiver, and its schedule.
pub(super) struct Session<'a> {
    /// The flow's number.
    pub(super) number: u16,
    /// Its video.
    pub(super) video: &'a Video,
    /// When its camera starts.
    pub(super) begin: Time,
    /// When it stops sending.
    pub(super) end: Time,
    /// When its camera is off, in order.
    pub(super) camera_off: Vec<(Time, Time)>,
    /// When its microphone is.
    pub(super) microphone_off: Vec<(Time, Time)>,
}

pub(super) struct Flow {
    pub(super) number: u16,
    /// The name of its scheme.
    pub(super) scheme: String,
    machine_dependent: bool,
    /// Settings of the scenario without effect on it.
    pub(super) notes: Vec<Note>,
    begin: Time,
    end: Time,
    video: Video,
    pub(super) engine: Engine,
    receiver: Receiver,
    /// When frames are shown; `None` for when they are decoded.
    playout: Option<Playout>,
    /// How fast the receiver's clock runs, by which it is.
    drift: Drift,
    /// Parses the receiver's messages.
    reader: MessageReader,
    /// When the receiver next learns the round-trip time; never if media is sent one way only.
    round_trip_due: Time,
    /// True if it gets the round-trip time from extended reports and their answers (RFC 3611 section 4.5), without
    /// waiting for reports.
    reports_extended: bool,
    codec: CodecPair,
    /// The undershoot of its encoder.
    undershoot: Ratios,
    codec_time: CodecTime,
    feedback: FeedbackStyle,
    /// The source of pictures; `None` for models, which read no pixels.
    footage: Option<Footage>,
    pub(super) format: Format,
    measure_quality: bool,
    comparisons: Comparisons,
    pub(super) frames: Frames,
    pub(super) viewer: Viewer,
    stills: Stills,
    under_way: UnderWay,
    ledger: Ledger,
    choosing: Choosing,
    requests: FeedbackRequests,
    candidates: Vec<Candidate>,
    encoding_done: Time,
    decoding: VecDeque<Decoding>,
    next_picture: u64,
    captures: Ticks,
    /// When the camera is off, in order.
    camera_off: Vec<(Time, Time)>,
    /// When the camera next captures a picture; never after the end.
    camera_time: Time,
    /// When it captured the last.
    captured: Time,
    microphone: Option<Microphone>,
    /// When the sender's next timer is due; never after the end.
    wake: Time,
}

impl Flow {
    pub(super) fn new(
        session: Session<'_>,
        scenario: &Scenario,
        scheme: &dyn SenderFactory,
    ) -> Result<Flow, SimulateError> {
        let Session { number, video, begin, end, camera_off, microphone_off } = session;
        let times = (begin, end);
        let real = !scenario.codec.is_model();
        let (footage, format) = if real {
            // Two cameras at one place would record the same scene: each flow has its own.
            let seed = if number == 0 { scenario.seed } else { scenario.seed.child(&format!("flow {number}")) };
            let footage = Footage::open(video, seed)?;
            let format = footage.format();
            (Some(footage), format)
        } else {
            (None, Footage::format_of(video)?)
        };
        let mut parts = scheme.parts(format.size)?;
        let codec = if parts.frames.wants_candidates() { scenario.codec.functional() } else { scenario.codec.clone() };
        let camera = Camera { size: format.size, interval: format.interval() };
        let style = scenario.feedback.unwrap_or(scheme.feedback());
        scheme.as_scheme().map_or(Ok(()), |known| known.accepts(style))?;
        let seed = scenario.seed.child(&format!("flow {number}"));
        let notes = notes::of(scenario, &notes::Of { flow: number, video, feedback: style, parts: &parts });
        let in_order = scenario.in_order && parts.needs_descriptors();
        if in_order {
            parts.keep_order();
        }
        let mut captures = Ticks::new(times, &camera_off);
        let drift = Drift::new(scenario.clock_drift_ppm)?;
        Ok(Flow {
            number,
            scheme: scheme.name().to_string(),
            machine_dependent: scheme.is_machine_dependent(),
            begin,
            end,
            video: video.clone(),
            notes,
            engine: Engine::with(parts, camera, begin)?,
            receiver: Receiver::new(scheme.receiver(), style, scenario.clock_offset)?
                .drifting(drift)
                .discarding_after(scenario.discard_after)?
                .in_order(in_order)
                .seeded(seed.child("report intervals")),
            playout: scenario.playout.map(playout::Config::build).transpose()?,
            drift,
            reader: MessageReader::default(),
            round_trip_due: if scenario.call || style.is_extended() { begin } else { Time::NEVER },
            reports_extended: style.is_extended(),
            codec: codec.build_seeded(format.size, seed)?,
            undershoot: scenario.undershoot.build(seed)?,
            codec_time: scenario.codec_time,
            feedback: style,
            footage,
            format,
            measure_quality: scenario.measure_quality,
            comparisons: Comparisons::new(scenario, &codec, format)?,
            frames: Frames::default(),
            viewer: Viewer::new(begin),
            stills: Stills::default(),
            under_way: UnderWay::default(),
            ledger: Ledger::new(scenario.discard_after.unwrap_or(DEADLINE)),
            choosing: Choosing::default(),
            requests: FeedbackRequests::every(scenario.request_feedback_every),
            candidates: Vec::new(),
            encoding_done: Time::NEVER,
            decoding: VecDeque::new(),
            next_picture: 0,
            camera_time: captures.at(Span::ZERO),
            captures,
            captured: begin,
            microphone: scenario.audio.map(|audio| Microphone::new(audio, times, &microphone_off)).transpose()?,
            camera_off,
            wake: begin,
        })
    }

    /// Returns true if it has stopped sending.
    fn has_stopped(&self, now: Time) -> bool {
        now >= self.end
    }

    /// The origin of its quality figures.
    fn quality(&self) -> QualitySource {
        match (self.measure_quality, &self.footage) {
            (false, _) => QualitySource::None,
            (true, Some(_)) => QualitySource::Measured,
            (true, None) => QualitySource::Modelled,
        }
    }

    /// The results of its frames and packets, for its figures, and pictures of its worst moments.
    pub(super) fn into_played(self) -> (Played, Ledger, Vec<Still>) {
        let quality = self.quality();
        let mut frames = self.frames.into_records();
        let (screen, vmaf_tool) = self.comparisons.into_screen(&mut frames);
        let played = Played {
            number: self.number,
            video: self.video.label(),
            size: self.format.size,
            turns_after: self.footage.as_ref().and_then(Footage::turns_after),
            begin: self.begin,
            end: self.end,
            codec: self.codec.encoder.settings(),
            feedback: Some(self.feedback),
            quality,
            frames,
            screen,
            vmaf_tool,
            choices: self.choosing.figures(),
            machine_dependent: self.machine_dependent,
            camera_off: self.camera_off,
            notes: self.notes.iter().map(ToString::to_string).collect(),
        };
        (played, self.ledger, self.stills.finish())
    }

    /// Waits for what is computed beside the run: call it when the run has ended.
    pub(super) fn finish_comparisons(&mut self) -> Result<(), SimulateError> {
        self.comparisons.finish()
    }

    pub(super) fn next_event(&self) -> Time {
        self.camera_time
            .min(self.microphone.as_ref().map_or(Time::NEVER, Microphone::next_event))
            .min(self.wake)
            .min(self.encoding_done)
            .min(self.decoding.front().map_or(Time::NEVER, |decoding| decoding.shown))
            .min(self.receiver.next_event())
    }

    /// `at`, or never if the flow has stopped by then.
    fn until_end(&self, at: Time) -> Time {
        if at < self.end { at } else { Time::NEVER }
    }

    /// Packet `number`, or a copy of it, arrived after a queueing delay of `queued`.
    pub(super) fn on_arrival(
        &mut self,
        now: Time,
        number: u64,
        Transit { size, queued, ecn, marked, part }: Transit,
        recorder: &mut Recorder,
    ) -> Result<(), SimulateError> {
        let Some((mut packet, is_first)) = self.under_way.arrive(number, part) else { return Ok(()) };
        packet.sent.ecn = ecn;
        let payload = packet.sent.payload;
        let what = if is_first {
            self.ledger.arrived(now, &packet);
            What::Arrived { id: number, payload, size, queued, marked }
        } else {
            What::CopyArrived { id: number, payload, size }
        };
        recorder.push(Record { at: now, flow: self.number, what });
        let repaired = matches!(packet.content, PacketContent::Retransmission { .. });
        let mut ready = self.receiver.on_packet(now, &packet);
        self.receiver.kept_states().into_iter().for_each(|states| self.choosing.on_receiver(states));
        while let Some(sequence) = self.receiver.poll_recovered() {
            let Some(fragment) = self.ledger.recovered(now, sequence) else { continue };
            ready.extend(self.receiver.on_recovered(now, sequence, fragment));
            let what = What::Recovered { sequence, frame: fragment.frame };
            recorder.push(Record { at: now, flow: self.number, what });
        }
        for Ready { info, moves, discarded } in ready {
            let size = self.frames.encoded(info.frame).map_or(self.format.size, |encoded| encoded.size);
            // A stateful receiver reports its state immediately.
            let damaged = moves.as_ref().is_some_and(|moves| moves.target.is_none());
            let picture = moves.map(|moves| self.decode(now, info.frame, &moves, recorder)).transpose()?;
            if damaged && matches!(picture, Some(None)) {
                // Nothing to show, or a model, whose damaged frames cannot be measured.
                recorder.push(Record { at: now, flow: self.number, what: What::FrameAbandoned { frame: info.frame } });
                self.frames.let_go(info.frame);
                continue;
            }
            let decode = self.codec_time.decode(size);
            let shown = match &mut self.playout {
                None => self.decoding.back().map_or(now, |last| last.shown.max(now)) + decode,
                Some(playout) => {
                    let size = self.frames.size(info.picture);
                    let frame = Complete { captured: info.captured, size, repaired, decode };
                    self.drift.when(playout.on_frame(self.drift.reads(now), &frame))
                }
            };
            self.decoding.push_back(Decoding { shown, info, picture, discarded });
        }
        while let Some(frame) = self.receiver.poll_abandoned() {
            recorder.push(Record { at: now, flow: self.number, what: What::FrameAbandoned { frame } });
            self.frames.let_go(frame);
        }
        Ok(())
    }

    /// Decodes a frame with a stateful decoder; `None` if there is nothing to show.
    fn decode(
        &mut self,
        now: Time,
        frame: u64,
        moves: &Moves,
        recorder: &mut Recorder,
    ) -> Result<Option<Picture>, SimulateError> {
        let (Some(decoder), Some(encoded)) = (&mut self.codec.decoder, self.frames.encoded(frame)) else {
            return Ok(None);
        };
        let mut loaded = true;
        if let Some(states) = decoder.states() {
            moves.forget.iter().for_each(|state| states.forget(*state));
            loaded = moves.load.is_none_or(|state| states.load(state));
        }
        let length = moves.length.map_or(encoded.data.len(), |length| encoded.data.len().min(length as usize));
        let picture = match (decoder.decode(&encoded.data[..length]), moves.target) {
            (Ok(picture), _) => picture,
            // A damaged frame may have no picture.
            (Err(_), None) => None,
            (Err(error), Some(_)) => return Err(error.into()),
        };
        if let (Some(target), Some(states)) = (moves.target, decoder.states()) {
            if loaded && states.current() == target {
                states.keep();
            } else {
                self.receiver.on_disagreement(target);
                recorder.push(Record { at: now, flow: self.number, what: What::StatesDisagree { frame } });
            }
        }
        Ok(picture)
    }

    /// Packet `number`, or a copy of it, was dropped on the path: the packet is lost when the last of them is.
    pub(super) fn on_drop(
        &mut self,
        at: Time,
        (number, part): (u64, Part),
        (size, why): (Bytes, DropReason),
        recorder: &mut Recorder,
    ) {
        let Some(packet) = self.under_way.lose(number, part) else { return };
        self.ledger.dropped(&packet);
        let what = What::Dropped { id: number, payload: packet.sent.payload, size, why };
        recorder.push(Record { at, flow: self.number, what });
    }

    /// The sender has just measured the round-trip time. In a call the peer measures the same; libwebrtc updates it
    /// once a second (`CallStats::kUpdateInterval`).
    fn share_round_trip(&mut self, now: Time) {
        if self.round_trip_due <= now {
            self.round_trip_due = now + ROUND_TRIP_INTERVAL;
            self.receiver.learn(if self.reports_extended { self.engine.path_rtt() } else { self.engine.srtt() });
        }
    }

    /// A message arrived over the reverse path. A sender that has stopped ignores it: unsent packets remain unsent.
    pub(super) fn on_message(
        &mut self,
        now: Time,
        message: Message,
        network: &mut Network,
        recorder: &mut Recorder,
    ) -> Result<(), SimulateError> {
        if self.has_stopped(now) {
            return Ok(());
        }
        for feedback in self.reader.read(message) {
            match feedback {
                RtcpFeedback::Decoder(report) => self.engine.on_decoder(now, &report),
                RtcpFeedback::Arrivals { acknowledgements, hold } => {
                    self.engine.on_feedback(now, &acknowledgements, hold);
                    self.share_round_trip(now);
                }
                RtcpFeedback::Path(report) => self.engine.on_path_report(now, &report),
                RtcpFeedback::Missing(sequences) => self.engine.on_missing(now, &sequences),
                RtcpFeedback::KeyframeNeeded => self.engine.on_keyframe_request(now),
                _ => {}
            }
        }
        self.pump(now, network, recorder)
    }

    /// Something happened that the sender is notified of; one that does not send ignores it.
    pub(super) fn on_signal(
        &mut self,
        now: Time,
        signal: Signal,
        network: &mut Network,
        recorder: &mut Recorder,
    ) -> Result<(), SimulateError> {
        if now < self.begin || self.has_stopped(now) {
            return Ok(());
        }
        self.engine.on_signal(now, signal);
        self.pump(now, network, recorder)
    }

    /// Sends reports and requests that are due on the reverse path.
    pub(super) fn answer(&mut self, now: Time, network: &mut Network, recorder: &mut Recorder) {
        if self.receiver.next_event() > now {
            return;
        }
        let flow = self.number;
        let mut send = |message: Message| {
            let size = message.size;
            let what = match message.about {
                About::Report { packets } => What::ReportSent { packets, size },
                About::Nack { packets } => What::RetransmissionRequested { packets },
                About::Pli => What::KeyframeRequested,
            };
            recorder.push(Record { at: now, flow, what });
            network.answer(now, flow, size, Answer::Feedback(message));
        };
        while let Some(report) = self.receiver.poll_report(now) {
            send(report);
        }
        self.receiver.poll_requests(now).into_iter().for_each(send);
    }

    /// Decodes, compares and shows the frames that are due.
    pub(super) fn show(&mut self, now: Time, recorder: &mut Recorder) -> Result<(), SimulateError> {
        while self.decoding.front().is_some_and(|decoding| decoding.shown <= now) {
            let Some(Decoding { info, picture, discarded, .. }) = self.decoding.pop_front() else { break };
            let modelled = self.modelled(info.frame);
            if let Some(quality) = modelled.filter(|_| !discarded) {
                self.comparisons.on_modelled(now, info.picture, quality);
            }
            let mut quality = modelled.map(|quality| (quality.psnr_db, ssim_of_db(quality.ssim_db)));
            if let (Some(decoder), Some(encoded)) = (&mut self.codec.decoder, self.frames.encoded(info.frame)) {
                let decoded = match picture {
                    Some(picture) => picture,
                    None => decoder.decode(&encoded.data)?,
                };
                if let (true, Some(decoded), Some(footage)) =
                    (self.measure_quality && !discarded, decoded, &mut self.footage)
                    && let Some(source) = footage.picture(info.picture)?
                {
                    let shown = Arc::new(scale(&decoded, source.size()));
                    let found = self.comparisons.on_shown(now, info.picture, &source, shown.clone())?;
                    quality = Some((found.psnr_db, found.ssim));
                    if self.stills.is_oldest(now)
                        && let Some(newest) = self.next_picture.checked_sub(1)
                        && let Some(camera) = footage.picture(newest)?
                    {
                        self.stills.on_oldest(now, (self.captured, camera));
                    }
                    self.stills.on_shown(now, info.captured, found.psnr_db, source, shown);
                }
            }
            let latency = now - info.captured;
            if discarded {
                let what = What::FrameDiscarded { frame: info.frame, age: latency };
                recorder.push(Record { at: now, flow: self.number, what });
                self.frames.let_go(info.frame);
                continue;
            }
            let psnr = quality.map_or(f64::NAN, |quality| quality.0);
            let what = What::Displayed { frame: info.frame, picture: info.picture, latency, psnr };
            recorder.push(Record { at: now, flow: self.number, what });
            let psnr = quality.map(|quality| quality.0);
            self.viewer.on_shown(now, info.captured, self.frames.size(info.picture), psnr);
            self.frames.on_shown(now, (info.frame, info.picture), quality);
        }
        Ok(())
    }

    /// The encoder's own estimate of a frame's quality.
    fn modelled(&self, frame: u64) -> Option<ModelledQuality> {
        self.frames.encoded(frame)?.modelled.filter(|_| self.measure_quality)
    }

    pub(super) fn finish_encoding(&mut self, now: Time) {
        if self.encoding_done <= now {
            self.encoding_done = Time::NEVER;
            let frames: Vec<_> = self.candidates.iter().map(|candidate| candidate.frame).collect();
            self.engine.on_encoded(now, &frames);
            self.wake = self.until_end(now);
        }
    }

    pub(super) fn read_camera(&mut self, now: Time) -> Result<(), SimulateError> {
        while self.camera_time <= now {
            let number = self.next_picture;
            self.comparisons.on_camera(self.camera_time, number, self.footage.as_mut())?;
            self.next_picture += 1;
            self.captured = self.camera_time;
            self.camera_time = self.captures.at(self.format.time_of(self.next_picture));
            if let Some(footage) = &mut self.footage
                && footage.picture(number)?.is_none()
            {
                return Err(SimulateError::Scenario(format!(
                    "the video ends at picture {number}, before the run does"
                )));
            }
            self.frames.on_picture(now, self.format.size);
            self.engine.on_picture(now, number);
            self.wake = now;
        }
        Ok(())
    }

    /// Gives the sender the audio that is due.
    pub(super) fn hear(&mut self, now: Time) {
        while let Some((number, length)) = self.microphone.as_mut().and_then(|microphone| microphone.poll(now)) {
            self.engine.on_audio(now, number, length);
            self.wake = now;
        }
    }

    /// Wakes the sender if its timer is due: every input except feedback sets the timer to now.
    pub(super) fn wake(
        &mut self,
        now: Time,
        network: &mut Network,
        recorder: &mut Recorder,
    ) -> Result<(), SimulateError> {
        if self.wake > now {
            return Ok(());
        }
        self.engine.on_timeout(now);
        self.pump(now, network, recorder)
    }

    /// Processes the engine's outputs until it waits.
    pub(super) fn pump(
        &mut self,
        now: Time,
        network: &mut Network,
        recorder: &mut Recorder,
    ) -> Result<(), SimulateError> {
        loop {
            match self.engine.poll() {
                Output::Transmit(mut packet) => {
                    packet.requests_feedback = self.requests.requests_feedback(now, packet.requests_feedback);
                    let (size, ecn) = (packet.sent.size, packet.sent.ecn);
                    network.send(now, self.number, (size, ecn), Cargo::Packet(packet.sent.id.0));
                    self.ledger.sent(&packet);
                    self.reader.on_sent(&packet);
                    self.under_way.enter(packet);
                }
                Output::Encode { picture, mut plan } => {
                    self.undershoot.lower(now, &mut plan);
                    self.encode(now, picture, &plan)?;
                }
                Output::Commit { choice } => self.commit(choice)?,
                Output::Forget { frame } => {
                    self.choosing.on_forgotten();
                    self.codec.encoder.forget(frame);
                }
                Output::Wait { until, .. } => {
                    self.wake = self.until_end(until);
                    break;
                }
                _ => {}
            }
        }
        for event in self.engine.drain_events() {
            self.frames.on_event(&event);
            self.ledger.on_event(&event.event);
            recorder.push(Record { at: event.at, flow: self.number, what: What::Sender(event.event) });
        }
        Ok(())
    }

    fn encode(&mut self, now: Time, picture: u64, plan: &EncodePlan) -> Result<(), SimulateError> {
        self.candidates = match &mut self.footage {
            None => self.codec.encoder.offer(Image::blank(self.format.size), plan)?,
            Some(footage) => {
                let picture = footage
                    .picture(picture)?
                    .ok_or_else(|| SimulateError::Scenario(format!("the video has no picture {picture}")))?;
                self.codec.encoder.candidates(&picture, plan)?
            }
        };
        let takes = self.codec_time.encode(plan) + self.codec.encoder.delay();
        self.encoding_done = now + takes.max(Span::from_nanos(1));
        Ok(())
    }

    fn commit(&mut self, choice: Option<(usize, u64)>) -> Result<(), SimulateError> {
        let index = choice.map(|(index, _)| index);
        self.choosing.on_choice(self.candidates.len(), index);
        self.codec.encoder.commit(index)?;
        if let Some((index, frame)) = choice {
            self.frames.on_commit(frame, &self.candidates[index]);
        }
        Ok(())
    }
}
