//! One viewer, with its own sender, and its own encoder or a shared one.

use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::Sender;

use thalweg_sender::frames::EncodePlan;
use thalweg_sender::{Event, Wake};
use thalweg_session::outgoing::ConnectionEvent;
use thalweg_session::{AudioFrame, Encoded, Outgoing, Output};
use thalweg_transport::sdp::fragment::Fragment;
use thalweg_transport::sdp::{CongestionFeedback, Local, Offer};
use thalweg_transport::{Connection, Datagram, Received, Remote, TransportError};
use thalweg_units::{ConfigError, Seed, Span, Time};

use super::backlog::Backlog;
use super::gauges::Gauges;
use super::played::{Played, ReportRate, Reports};
use crate::joining::renewed;
use crate::publish::encoders::coder::{Coder, Encoding, KeyframeSource, Made, can_share, wants_candidates};
use crate::publish::encoders::ladder::Place;
use crate::publish::encoders::passthrough::{Choice, Passthrough};
use crate::publish::encoders::placement::Demand;
use crate::publish::encoders::pool::Pool;
use crate::publish::encoders::rung::Availability;
use crate::publish::messages::{Key, Outbox, RungId, State};
use crate::publish::overload::{LATE_PACKET, Tally};
use crate::publish::records::Records;
use crate::publish::sources::pictures::Pictures;
use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::{self, Lateness};

/// So many packets that were never sent, acknowledged by one viewer, are no error of its own: one is, at most, where 16 bits
/// were taken for a number 65,536 packets from it.
const FALSE_ACKNOWLEDGEMENTS: u64 = 3;

/// A connection that we offered.
pub(crate) struct Ours {
    pub(crate) offer: Offer,
    /// Receives changes of its state.
    pub(crate) states: Sender<State>,
}

/// A connection whose peer is not known yet.
pub(crate) struct Prepared {
    pub(crate) key: Key,
    pub(crate) seed: Seed,
    pub(crate) channel: usize,
    pub(crate) connection: Connection,
    pub(crate) local: Local,
}

/// An offer of ours without an answer so far.
pub(crate) struct Offered {
    pub(crate) prepared: Prepared,
    pub(crate) ours: Ours,
    pub(crate) at: Time,
}

/// A viewer that is joining.
pub(crate) struct PendingViewer {
    pub(crate) key: Key,
    pub(crate) id: String,
    pub(crate) channel: usize,
    pub(crate) remote: Remote,
    pub(crate) ours: Option<Ours>,
    /// See [`Viewer::asked`].
    pub(crate) asked: Option<String>,
    pub(crate) reports: Reports,
}

/// A viewer.
pub(crate) struct Viewer {
    pub(crate) key: Key,
    /// Its unguessable id.
    pub(crate) id: String,
    /// The tag of its ICE session.
    pub(crate) etag: u64,
    pub(crate) channel: usize,
    pub(crate) joined: Time,
    pub(crate) state: State,
    pub(crate) outgoing: Outgoing,
    /// The scheme that was asked for, if another is played because of the viewer's reports.
    pub(crate) asked: Option<String>,
    /// How it reports arrivals.
    pub(crate) reports: Reports,
    report_rate: ReportRate,
    pub(crate) gauges: Gauges,
    /// How late packets were sent.
    pub(crate) lateness: Lateness,
    /// Frames whose encoding took longer than the interval between frames.
    pub(crate) encode_times: Tally,
    /// Packets that left late.
    pub(crate) pacer: Tally,
    /// True if this machine was too slow when it was last judged.
    pub(crate) too_slow: bool,
    /// When the frame that is being encoded was requested.
    encoding_since: Option<Time>,
    /// The peer's parameters from signalling.
    pub(crate) remote: Remote,
    /// For a connection that we offered; `None` if the peer offered it.
    pub(crate) ours: Option<Ours>,
    /// Where it joined from ([`Join::from`](crate::web::Join::from)).
    pub(crate) from: Option<IpAddr>,
    encoding: Encoding,
    outbox: Outbox,
    /// Its encoder, from its first picture on: who never connects costs none.
    coder: Option<Coder>,
    /// Frames of somebody who sends that wait for its own sender; `None` where there is an encoder, or a file.
    backlog: Option<Backlog>,
    /// True if its sender can do with frames of a shared encoder.
    can_share: bool,
    /// Where its frames should come from.
    pub(crate) place: Place,
    /// A picture of which a shared encoder will make a frame, and what its sender asked for.
    awaits: Option<(u64, EncodePlan)>,
    /// Source from which it needs a keyframe.
    keyframe_needed: Option<KeyframeSource>,
    /// The number of its encoder, counting replacements.
    coder_number: u64,
    wake: (Time, Wake),
    /// The local address that the last packet was sent from.
    here: Option<SocketAddr>,
}

impl Viewer {
    pub(crate) fn new(
        pending: PendingViewer,
        outgoing: Outgoing,
        encoding: Encoding,
        outbox: Outbox,
        now: Time,
    ) -> Viewer {
        let PendingViewer { key, id, channel, remote, ours, asked, reports } = pending;
        let can_share = can_share(encoding.codec.as_ref(), &**outgoing.scheme(), encoding.size);
        let backlog = encoding.relayed.then(Backlog::default);
        Viewer {
            key,
            id,
            etag: 0,
            channel,
            joined: now,
            state: State::Connecting,
            outgoing,
            asked,
            reports,
            report_rate: ReportRate::default(),
            gauges: Gauges::default(),
            lateness: Lateness::default(),
            encode_times: Tally::default(),
            pacer: Tally::default(),
            too_slow: false,
            encoding_since: None,
            remote,
            ours,
            from: None,
            encoding,
            outbox,
            coder: None,
            backlog,
            can_share,
            place: Place::Own,
            awaits: None,
            keyframe_needed: None,
            coder_number: 0,
            wake: (now, Wake::Nothing),
            here: None,
        }
    }

    /// When it needs service even if nothing happens.
    pub(crate) fn wake(&self) -> Time {
        self.wake.0
    }

    /// Something has changed: the viewer needs service now.
    pub(crate) fn due(&mut self, now: Time) {
        // If it was already due before `now`, that time is kept, so that its lateness counts.
        if now < self.wake.0 {
            self.wake = (now, Wake::Nothing);
        }
    }

    /// Returns true if it is sent media.
    pub(crate) fn is_sent(&self) -> bool {
        matches!(self.state, State::Connected | State::Disconnected)
    }

    /// Its demand of the encoders, from which its place follows.
    pub(crate) fn demand(&self) -> Demand {
        Demand {
            viewer: self.key,
            may_share: self.is_sent() && self.can_share,
            target: self.gauges.target,
            size: self.gauges.size,
            rung: self.rung(),
        }
    }

    /// Says goodbye; the packet is sent at the next call of `pump`.
    pub(crate) fn close(&mut self, now: Time) {
        self.outgoing.close(now);
        self.due(now);
    }

    /// Returns true if it acknowledges packets that it has not received: such a viewer is sent more than its path
    /// carries. It is logged.
    pub(crate) fn has_lied(&self) -> bool {
        let never_sent = self.outgoing.figures().never_sent;
        let lies = self.state == State::Connected && never_sent >= FALSE_ACKNOWLEDGEMENTS;
        if lies {
            tracing::warn!(viewer = self.key, "ended: it acknowledged {never_sent} packets that were never sent");
        }
        lies
    }

    /// A picture was taken at `captured`.
    pub(crate) fn on_picture(&mut self, now: Time, captured: Time, number: u64) {
        match &mut self.backlog {
            None => self.outgoing.on_captured(now, captured, number),
            // Before that there is no sender.
            Some(_) if self.state == State::Connecting => {}
            Some(backlog) => {
                backlog.add(now, number);
                self.give_next(now);
            }
        }
        self.due(now);
    }

    /// Gives its sender the next of the frames that wait, if it is ready.
    fn give_next(&mut self, now: Time) {
        if let Some(number) = self.backlog.as_mut().and_then(Backlog::next) {
            self.outgoing.on_picture(now, number);
        }
    }

    /// An audio packet was made.
    pub(crate) fn on_audio(&mut self, now: Time, audio: AudioFrame) {
        self.outgoing.on_audio(now, audio);
        self.due(now);
    }

    /// An encoder's frames; those of a replaced encoder are ignored.
    pub(crate) fn on_encoded(&mut self, now: Time, encoder: u64, made: Vec<Encoded>, interval: Span) {
        if encoder == self.coder_number {
            if let Some(since) = self.encoding_since.take() {
                self.encode_times.add(now, u64::from(now - since > interval), 1);
            }
            self.outgoing.on_encoded(now, made);
            self.due(now);
        }
    }

    /// A datagram came.
    pub(crate) fn on_datagram(&mut self, now: Time, datagram: &reactor::Received<'_>) -> Received {
        let reactor::Received { from, to, ecn, bytes } = *datagram;
        let received = self.outgoing.on_datagram(now, from, to, ecn, bytes);
        self.due(now);
        received
    }

    /// The kind of feedback that acknowledges packets.
    pub(crate) fn feedback_kind(&self) -> &'static str {
        match self.outgoing.video().congestion() {
            Some(CongestionFeedback::PerStream) => "rfc8888",
            Some(CongestionFeedback::TransportOnRequest) => "twcc-02",
            Some(CongestionFeedback::Transport) => "twcc-01",
            Some(CongestionFeedback::Extended) => "extended-reports",
            None => "receiver-reports",
        }
    }

    /// Returns true if its reports turn out to be seldom now.
    pub(crate) fn reports_are_seldom(&mut self, now: Time) -> bool {
        let held = self.outgoing.figures().held_reports;
        let seldom = self.reports == Reports::Often && self.report_rate.is_low(now, held);
        if seldom {
            self.reports = Reports::Seldom;
        }
        seldom
    }

    /// Continues with another scheme.
    pub(crate) fn switch(&mut self, now: Time, played: Played) -> Result<(), String> {
        played.log(self.key, self.reports);
        let Played { scheme, asked } = played;
        let codec = self.encoding.codec.as_ref();
        wants_candidates(codec, &*scheme, self.encoding.size)?;
        let can_share = can_share(codec, &*scheme, self.encoding.size);
        self.outgoing.change_scheme(now, scheme).map_err(|error: ConfigError| error.to_string())?;
        // The engine must not wait for the old encoder, whose result, if it still comes, is ignored.
        self.coder_number += 1;
        if self.encoding_since.take().is_some() {
            self.outgoing.on_encoded(now, Vec::new());
        }
        (self.coder, self.awaits, self.asked, self.can_share) = (None, None, asked, can_share);
        self.backlog.iter_mut().for_each(|backlog| *backlog = Backlog::default());
        if !can_share {
            self.place = Place::Own;
        }
        self.due(now);
        tracing::info!(viewer = self.key, scheme = self.outgoing.scheme().name(), "switched");
        Ok(())
    }

    /// The peer's part of an ICE restart.
    ///
    /// # Errors
    /// When its credentials or candidates are unusable; nothing has changed then.
    pub(crate) fn restarted(&mut self, now: Time, theirs: &Fragment) -> Result<(), TransportError> {
        let remote = renewed(&self.remote, theirs);
        self.outgoing.connection().set_remote(now, &remote)?;
        self.remote = remote;
        self.due(now);
        Ok(())
    }

    /// Does everything that is due; datagrams go to `send`.
    pub(crate) fn pump(
        &mut self,
        clock: &Clock,
        (pictures, pool): (&Pictures, &Pool),
        records: &mut Records,
        mut send: impl FnMut(Datagram),
    ) {
        let now = clock.now();
        let (wanted, why) = self.wake;
        if wanted > now {
            return;
        }
        if matches!(why, Wake::Pacer | Wake::Padding | Wake::Probe | Wake::Repair) {
            self.lateness.record(wanted, now);
            self.pacer.add(now, u64::from(now - wanted > LATE_PACKET), 1);
        }
        self.outgoing.on_timeout(now);
        loop {
            match self.outgoing.poll() {
                Output::Transmit(datagram) => {
                    self.here = Some(datagram.from);
                    send(datagram);
                }
                Output::Encode { picture, plan } => {
                    self.encode(now, (pictures, pool), picture, plan);
                    self.backlog.iter_mut().for_each(|backlog| backlog.on_used(picture));
                    self.give_next(now);
                }
                Output::Commit { choice } => {
                    self.coder.iter_mut().for_each(|coder| coder.commit(choice.map(|(index, _)| index)));
                }
                Output::Forget { frame } => self.coder.iter_mut().for_each(|coder| coder.forget(frame)),
                Output::Event(event) => self.on_connection_event(now, event),
                Output::Wait { until, why } => {
                    self.wake = (until, why);
                    break;
                }
            }
        }
        for event in self.outgoing.drain_events() {
            self.gauges.on_event(&event);
            if let (Event::PictureSkipped { picture, .. }, Some(backlog)) = (&event.event, &mut self.backlog) {
                backlog.on_left_out(*picture);
            }
            tracing::trace!(viewer = self.key, at = %event.at, event = ?event.event);
            records.happened(self.key, event);
        }
        // No packets are captured before the path is known.
        if let Some((here, there)) = self.here.zip(self.outgoing.remote_address()) {
            self.outgoing.take_plain().into_iter().for_each(|packet| records.passed(here, there, packet));
        }
    }

    fn encode(&mut self, now: Time, (pictures, pool): (&Pictures, &Pool), number: u64, plan: EncodePlan) {
        self.take_place(now, pool, number);
        if let Some(Coder::Rung(..)) = self.coder {
            self.awaits = Some((number, plan));
            self.encoding_since = Some(now);
            self.offer_shared(now, pool);
            return;
        }
        let seen = pictures.find(number).map(|taken| &taken.seen);
        // Without an encoder it is as if that had dropped the picture.
        let encode = |coder: &mut Coder| coder.encode(now, number, seen, plan);
        match self.coder.as_mut().map_or(Made::Now(Vec::new()), encode) {
            Made::Now(made) => self.outgoing.on_encoded(now, made),
            Made::Later => self.encoding_since = Some(now),
            Made::KeyframeNeeded => {
                self.keyframe_needed = Some(KeyframeSource::Upstream);
                self.outgoing.on_encoded(now, Vec::new());
            }
        }
    }

    /// Goes over to the encoder that it should have, if it can with picture `number`: a shared one must make a keyframe of
    /// it, unless there is nothing to go on with until then.
    fn take_place(&mut self, now: Time, pool: &Pool, number: u64) {
        match (self.place, &self.coder) {
            (Place::Own, None | Some(Coder::Rung(..))) => {
                self.coder_number += 1;
                match self.encoding.start(&**self.outgoing.scheme(), self.key, self.coder_number, &self.outbox) {
                    Ok(coder) => self.coder = Some(coder),
                    Err(error) => {
                        tracing::error!(viewer = self.key, error, "no encoder");
                        self.close(now);
                    }
                }
            }
            (Place::Rung(id), coder) if self.rung() != Some(id) => {
                let is_keyframe = pool.get(id).is_some_and(|rung| {
                    rung.is_keyframe(number) || rung.availability(number) == Availability::Coming { keyframe: true }
                });
                if is_keyframe || coder.is_none() {
                    self.coder = Some(Coder::Rung(id, Passthrough::within_target()));
                    // What the old encoder still makes is ignored.
                    self.coder_number += 1;
                } else {
                    self.keyframe_needed = Some(KeyframeSource::Rung(id));
                }
            }
            _ => {}
        }
    }

    /// The shared encoder that its frames come from now.
    pub(crate) fn rung(&self) -> Option<RungId> {
        match &self.coder {
            Some(Coder::Rung(id, _)) => Some(*id),
            _ => None,
        }
    }

    /// Returns true if its sender waits for a frame of a shared encoder.
    pub(crate) fn waits(&self) -> bool {
        self.awaits.is_some()
    }

    /// Who should make a keyframe for it.
    pub(crate) fn take_keyframe_request(&mut self) -> Option<KeyframeSource> {
        self.keyframe_needed.take()
    }

    /// Its shared encoder has made a frame.
    pub(crate) fn on_shared(&mut self, now: Time, pool: &Pool, interval: Span) {
        let since = self.encoding_since;
        self.offer_shared(now, pool);
        if let Some(since) = since.filter(|_| self.encoding_since.is_none()) {
            self.encode_times.add(now, u64::from(now - since > interval), 1);
            self.due(now);
        }
    }

    /// Offers its sender the frame that it waits for, unless that is still to come.
    fn offer_shared(&mut self, now: Time, pool: &Pool) {
        let Some(Coder::Rung(id, passthrough)) = &mut self.coder else { return };
        let (rung, Some((number, plan))) = (pool.get(*id), &self.awaits) else { return };
        let offer = match rung {
            Some(rung) if matches!(rung.availability(*number), Availability::Coming { .. }) => return,
            Some(rung) => passthrough.offer(now, rung.frames(*number), plan),
            None => Choice::Nothing,
        };
        let made = match offer {
            Choice::Frame(frame) => vec![frame.encoded.clone()],
            Choice::Nothing => Vec::new(),
            Choice::KeyframeNeeded => {
                self.keyframe_needed = Some(KeyframeSource::Rung(*id));
                Vec::new()
            }
        };
        (self.awaits, self.encoding_since) = (None, None);
        self.outgoing.on_encoded(now, made);
    }

    fn on_connection_event(&mut self, now: Time, event: ConnectionEvent) {
        let viewer = self.key;
        self.state = match event {
            ConnectionEvent::Connected => {
                tracing::info!(viewer, scheme = self.outgoing.scheme().name(), "connected");
                self.report_rate.begin(now);
                State::Connected
            }
            ConnectionEvent::Disconnected => {
                tracing::info!(viewer, "disconnected: nothing is received from it");
                State::Disconnected
            }
            ConnectionEvent::Reconnected => {
                tracing::info!(viewer, "reconnected");
                State::Connected
            }
            ConnectionEvent::Closed => {
                tracing::info!(viewer, "left");
                State::Closed
            }
            ConnectionEvent::Failed(error) => {
                tracing::warn!(viewer, %error, "the connection failed");
                State::Closed
            }
            ConnectionEvent::Unusable(error) => {
                tracing::error!(viewer, %error, "no sender can be built for the connection");
                State::Closed
            }
            ConnectionEvent::Unsent(error) => {
                tracing::error!(viewer, %error, "a packet could not be sent; more of them are only counted");
                self.state
            }
        };
        if let Some(ours) = &self.ours {
            // The owner may no longer listen.
            let _ = ours.states.send(self.state);
        }
    }
}
