//! From the queue to the wire: what leaves next, and when.

use thalweg_control::{FramePlace, MSS, PacketId, Payload, SentPacket};
use thalweg_types::{Content, Packet, Protected};
use thalweg_units::{Bytes, Rate, Span, Time};

use super::Engine;
use crate::event::{Event, Wake, Why};
use crate::frames::{FrameSent, Occasion, RepairSent};
use crate::pacing::PacingRate;
use crate::pacing::bucket::Bucket;
use crate::padding::redundant::RedundantPadding;
use crate::padding::{Dummies, Verdict};
use crate::repair::Repair;

/// The weight of the past in the share of payload in what is sent: about the last hundred packets count.
const SHARE_MEMORY: f64 = 0.99;

/// The time that reports may wait on the reverse path before fewer are asked for: three of 62 bytes on 100 kbps.
const REVERSE_QUEUE: Span = Span::from_millis(15);
/// How much further apart reports are than the last ones waited on the reverse path.
const REPORTS_APART: i64 = 2;

/// Candidate to leave next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Repair,
    Media,
    Padding(Content, Bytes),
}

impl Engine {
    /// The packet that leaves now, if any.
    pub(super) fn release(&mut self) -> Option<Packet> {
        if let Some(audio) = self.release_audio() {
            return Some(audio);
        }
        self.begin_probe();
        self.follow_drain_rule();
        let probing = self.parts.prober.cluster().is_some();
        if self.next_send() > self.now {
            return None;
        }
        let next = self.next(probing)?;
        let size = self.size_of(next);
        if !self.window_admits(size) {
            return None;
        }
        Some(self.send(next, size))
    }

    /// When the next packet may leave: on the probe's schedule while one runs, at once within a burst, otherwise on the
    /// pacer's.
    fn next_send(&self) -> Time {
        self.next_send_below_ceiling().max(self.ceiling.next_send())
    }

    fn next_send_below_ceiling(&self) -> Time {
        if self.parts.prober.cluster().is_some() {
            self.parts.prober.next_send()
        } else if self.within_burst() || self.has_tokens() {
            self.now
        } else if let (Some(burst), Some(repair)) =
            (self.limits.burst.filter(|_| self.repairs_now()), &self.parts.repair)
        {
            // Retransmissions may join the previous burst as long as what the pacer still counts of it leaves room.
            let room = burst.scale(repair.riding_share()).saturating_sub(self.size_of(Next::Repair));
            self.parts.pacer.next_send() - self.parts.pacer.rate().time_for(room)
        } else {
            self.parts.pacer.next_send()
        }
    }

    /// Returns true if the next packet is media or repair that the bucket lets leave at once.
    fn has_tokens(&self) -> bool {
        self.parts.bucket.as_ref().is_some_and(Bucket::has_tokens)
            && (!self.parts.queue.is_empty() || self.repairs_now())
    }

    /// When the pacer and the ceiling let a packet leave.
    fn pacer_next(&self) -> Time {
        self.parts.pacer.next_send().max(self.ceiling.next_send())
    }

    /// Returns true if the next packet belongs to a burst that has partly left: the rest of its media, then its FEC.
    fn within_burst(&self) -> bool {
        self.amid_burst() || self.limits.burst.is_some() && self.fec_follows()
    }

    /// Returns true if the next packet is media of a burst that has partly left.
    fn amid_burst(&self) -> bool {
        self.limits.burst.is_some() && self.parts.queue.head().is_some_and(|head| !head.begins_burst)
    }

    fn fec_follows(&self) -> bool {
        self.parts.repair.as_ref().is_some_and(Repair::has_fec)
    }

    /// Returns true if a repair packet goes before media. Never inside a burst, which measures the path.
    fn repairs_now(&self) -> bool {
        !self.amid_burst() && self.parts.repair.as_ref().is_some_and(|repair| repair.next_time() <= self.now)
    }

    /// Returns true if `size` more may be in flight. One packet always may, so that a small window cannot block the
    /// flow, and so may the packets of a probe timeout, which no feedback would free otherwise. A burst may begin as
    /// long as the window has any room (specs/camel.md 6).
    fn window_admits(&self, size: Bytes) -> bool {
        let in_flight = self.history.in_flight();
        let begins_burst = self.limits.burst.is_some() && !self.within_burst();
        match self.limits.window {
            Some(window) => {
                in_flight == Bytes::ZERO
                    || self.probe_packets > 0
                    || in_flight + size <= window
                    || begins_burst && in_flight < window
            }
            None => true,
        }
    }

    /// A cluster begins with media, or after media was sent (libwebrtc starts at a queued packet, or opens with
    /// padding).
    fn begin_probe(&mut self) {
        self.parts.prober.expire(self.now);
        if let Some(probe) = self.limits.probe
            && (!self.parts.queue.is_empty() || self.next_sequence > 0 && !self.silent)
        {
            self.parts.prober.begin(self.now, probe);
        }
    }

    /// libwebrtc's drain rule: a pacing rate high enough that the queue empties within the limit (specs/gcc.md 11).
    fn follow_drain_rule(&mut self) {
        let Some(limit) = self.parts.pacing.drain_within.filter(|_| self.limits.burst.is_none()) else { return };
        let mut rate = self.limits.pacing.min(self.parts.pacing.limit.unwrap_or(Rate::MAX));
        if !self.parts.queue.is_empty() {
            let left = (limit - self.parts.queue.mean_wait(self.now)).max(Span::from_millis(1));
            rate = rate.max(self.parts.queue.wire_bytes().per(left));
        }
        if matches!(self.parts.pacing.rate, PacingRate::Controller) {
            self.parts.pacer.set_rate(self.now, rate);
        }
    }

    fn next(&mut self, probing: bool) -> Option<Next> {
        if self.repairs_now() {
            return Some(Next::Repair);
        }
        if !self.parts.queue.is_empty() {
            return Some(Next::Media);
        }
        if self.next_sequence == 0 {
            // No padding before the first media packet: the receiver knows no stream to assign it to
            // (specs/vidaptive.md C7).
            return None;
        }
        if probing {
            return Some(self.fill(self.probe_padding()));
        }
        if self.probe_packets > 0 {
            return Some(self.fill(self.parts.sizes.padding));
        }
        if !self.pads() {
            return None;
        }
        if let Some(dummies) = &mut self.parts.dummies {
            let (verdict, size) = (dummies.verdict(self.now, self.last_read, self.camera.interval), dummies.size());
            return (verdict == Verdict::Send).then(|| self.fill(size));
        }
        let due = self.parts.padding.next_send() <= self.now;
        due.then(|| self.fill(self.parts.sizes.padding))
    }

    /// Returns true if padding has a use: there is media, for which it looks for room, and the path is not known to bear all
    /// that may be sent.
    fn pads(&self) -> bool {
        !self.silent && !self.ceiling.is_reached
    }

    /// The padding packet that leaves now: useful content if there is any, otherwise `padding` bytes without content.
    fn fill(&mut self, padding: Bytes) -> Next {
        let nothing = Next::Padding(Content::Padding, padding);
        if self.parts.redundant.is_none() {
            return nothing;
        }
        let (round_trip, max) = (self.path_rtt(), self.room_for_padding());
        let Some(redundant) = &mut self.parts.redundant else { return nothing };
        let refresh = self.keyframe.is_none() && redundant.wants_keyframe(self.now);
        let found =
            redundant.head(self.now, round_trip, max).map_or(nothing, |(content, size)| Next::Padding(content, size));
        if refresh {
            self.force_keyframe(Why::LossesAndRoom);
        }
        found
    }

    /// The max size of a padding packet: what the window has room for and, with dummies, what the pacer sends before
    /// the guard of the next camera read, so that padding larger than a dummy does not delay the next frame.
    fn room_for_padding(&self) -> Bytes {
        let in_flight = self.history.in_flight();
        let window = self.limits.window.filter(|_| in_flight > Bytes::ZERO);
        let room = window.map_or(Bytes::new(u64::MAX), |window| window.saturating_sub(in_flight));
        let Some(dummies) = &self.parts.dummies else { return room };
        let quiet = dummies.quiet_from(self.last_read, self.camera.interval);
        if self.now < quiet { room.min(self.parts.pacer.rate().over(quiet - self.now)) } else { room }
    }

    /// Probes are padded with retransmissions of recent packets where the stream has a retransmission stream, as
    /// libwebrtc does.
    fn probe_padding(&self) -> Bytes {
        match &self.parts.repair {
            Some(_) => self.parts.sizes.max_payload + self.parts.sizes.overhead,
            None => self.parts.sizes.padding,
        }
    }

    fn size_of(&self, next: Next) -> Bytes {
        let payload = |length: u32| Bytes::new(u64::from(length)) + self.parts.sizes.overhead;
        match next {
            Next::Repair => {
                let head = self.parts.repair.as_ref().and_then(|repair| repair.head(self.now));
                head.map_or(Bytes::ZERO, |(_, size)| size)
            }
            Next::Media => self.parts.queue.head().map_or(Bytes::ZERO, |head| {
                let states = if head.fragment.index == 0 { self.parts.sizes.states } else { Bytes::ZERO };
                payload(head.fragment.length) + states
            }),
            Next::Padding(_, size) => size,
        }
    }

    fn send(&mut self, next: Next, size: Bytes) -> Packet {
        let mut finished = None;
        // The last packet of a burst's media or FEC asks for a report, and so does any other packet that is not media.
        let (mut begins_burst, mut ends_burst) = (false, true);
        let (payload, place, content) = match next {
            Next::Padding(content, _) => {
                self.note_padding(&content, size);
                (Payload::Padding, None, content)
            }
            Next::Repair => {
                let (content, _) = self.parts.repair.as_mut().and_then(|r| r.pop(self.now)).expect("repair was chosen");
                (Payload::Repair, None, content)
            }
            Next::Media => {
                let head = self.parts.queue.pop().expect("media was chosen");
                let fragment = head.fragment;
                let (first, last) = (fragment.index == 0, fragment.index + 1 == fragment.count);
                (begins_burst, ends_burst) = (head.begins_burst && self.limits.burst.is_some(), head.ends_burst);
                if last {
                    finished = Some(FrameSent { frame: fragment.frame, at: self.now, delay: self.now - head.enqueued });
                }
                let offset = Bytes::new(u64::from(fragment.offset));
                let (frame, captured, keyframe) = (fragment.frame, fragment.captured, fragment.keyframe);
                let place = FramePlace { frame, first, last, offset, captured, keyframe };
                let sequence = self.next_sequence;
                self.next_sequence += 1;
                if first {
                    self.first_packets.push_back((sequence, frame));
                    // No FEC packet protects packets farther apart, and so no more frames.
                    if self.first_packets.len() as u64 > Protected::LONGEST {
                        self.first_packets.pop_front();
                    }
                }
                (Payload::Media, Some(place), Content::Media { sequence, fragment })
            }
        };
        let probe = self.parts.prober.cluster();
        if probe.is_some() {
            self.parts.prober.on_sent(self.now, size);
        }
        let mut packet = SentPacket::new(PacketId(self.next_id), self.now, size);
        (packet.payload, packet.probe, packet.place) = (payload, probe, place);
        let (sent, grace, before) = self.depart(packet, &content);
        if let Some(frames) = self.repaired_by(&content) {
            self.parts.policy.on_repair_sent(&RepairSent { packet: sent.id, frames });
        }
        if let Some(frame) = finished {
            self.parts.policy.on_frame_sent(&frame);
            self.emit(Event::FrameSent { frame: frame.frame, delay: frame.delay });
            self.changed.queue = true;
            self.changed.picture = self.parts.queue.is_empty().then_some(Occasion::QueueEmpty);
        }
        // A packet that fills the window within a burst asks too: only a report lets the burst go on.
        let follows = if self.amid_burst() { Next::Media } else { Next::Repair };
        let stalls = self.within_burst() && !self.window_admits(self.size_of(follows));
        let requests_feedback = begins_burst || stalls || ends_burst && !self.fec_follows();
        let report_may_wait = self.limits.burst.is_none() && self.report_may_wait();
        Packet { sent, grace, before, requests_feedback, report_may_wait, content }
    }

    /// The first and the last frame of which this may stand for a packet.
    fn repaired_by(&self, content: &Content) -> Option<(u64, u64)> {
        match content {
            Content::Media { .. } | Content::Audio { .. } | Content::Padding => None,
            Content::Retransmission { fragment, .. } => Some((fragment.frame, fragment.frame)),
            Content::Fec { protects } => {
                let frame = |sequence: u64| {
                    let place = self.first_packets.partition_point(|(first, _)| *first <= sequence);
                    self.first_packets.get(place.saturating_sub(1)).map(|(_, frame)| *frame)
                };
                Some((frame(protects.first())?, frame(protects.iter().last()?)?))
            }
        }
    }

    /// Returns true if the reverse path does not bear a report on this packet yet: the last reports waited on it, and
    /// since the last packet to be reported at once, less than [`REPORTS_APART`] times that wait has passed. So reports
    /// come as often as the reverse path carries them without a queue; a receiver of per-packet reports sends 31 % of
    /// the rate of 200-byte dummies otherwise.
    fn report_may_wait(&mut self) -> bool {
        let wait = self.history.reverse_queueing();
        let waits = wait > REVERSE_QUEUE && self.now - self.last_report_due < wait * REPORTS_APART;
        if !waits {
            self.last_report_due = self.now;
        }
        waits
    }

    /// Charges a packet that leaves now to everything that counts packets. Returns the packet as sent, its grace (the
    /// time since the last one left) and the wire bytes sent before it.
    pub(super) fn depart(&mut self, mut packet: SentPacket, content: &Content) -> (SentPacket, Span, Bytes) {
        let (payload, size) = (packet.payload, packet.size);
        self.parts.charge(self.now, &packet, content);
        self.ceiling.on_sent(self.now, size);
        self.parts.padding.on_sent(self.now, size, payload == Payload::Padding);
        if let Some(dummies) = &mut self.parts.dummies {
            dummies.on_sent(self.now, size);
        }
        self.account(packet.id, payload, content, size);
        packet.app_limited = self.nothing_follows();
        if let Some(ecn) = &mut self.parts.ecn {
            packet.ecn = ecn.ecn();
            ecn.on_sent(&packet);
        }
        let sent = self.history.on_sent(packet);
        self.next_id += 1;
        self.probe_packets = self.probe_packets.saturating_sub(1);
        self.parts.controller.on_sent(&sent);
        // A controller that limits frame sizes allows less after every packet, and one may ask for a probe behind it; the
        // others change only on feedback.
        let asks = || self.parts.controller.limits().probe != self.limits.probe;
        if sent.probe.is_some() || self.limits.media.frame().is_some() || asks() {
            self.changed.controller = true;
        }
        let repeats = match content {
            Content::Retransmission { of, .. } => u32::try_from(*of).ok(),
            _ => None,
        };
        self.emit(Event::PacketSent { id: sent.id, payload, size, in_flight: sent.in_flight, repeats });
        let grace = self.last_sent.map_or(Span::ZERO, |last| self.now - last);
        self.last_sent = Some(self.now);
        let before = self.sent_in_all;
        self.sent_in_all += size;
        (sent, grace, before)
    }

    /// Returns true if the flow is application-limited after this packet: no media or repair waits, no padding may be
    /// made, and the window has room for a whole segment.
    fn nothing_follows(&mut self) -> bool {
        if self.repairs_now() || !self.parts.queue.is_empty() || !self.window_admits(MSS) {
            return false;
        }
        if !self.pads() {
            return true;
        }
        let next_send = self.pacer_next().max(self.now);
        match &mut self.parts.dummies {
            Some(dummies) => dummies.verdict(next_send, self.last_read, self.camera.interval) != Verdict::Send,
            None => true,
        }
    }

    /// Records that useful padding left, so that it is not made a second time.
    fn note_padding(&mut self, content: &Content, size: Bytes) {
        if let Some(redundant) = &mut self.parts.redundant {
            redundant.on_sent(content);
            redundant.on_padding(size);
        }
        if let (Content::Retransmission { of, .. }, Some(repair)) = (content, &mut self.parts.repair) {
            repair.on_retransmitted_elsewhere(self.now, *of);
        }
    }

    fn account(&mut self, id: PacketId, payload: Payload, content: &Content, size: Bytes) {
        if let Content::Fec { .. } = content {
            self.parts.repair.iter_mut().for_each(Repair::on_fec);
            self.parts.redundant.iter_mut().for_each(RedundantPadding::on_fec);
        }
        if payload == Payload::Padding {
            return;
        }
        let repair = if payload == Payload::Repair { size.as_f64() } else { 0.0 };
        let payload = match content {
            // FEC that the controller probes with comes on top of what it allows the encoder, as padding does.
            Content::Fec { .. } if self.parts.repair.as_ref().is_some_and(Repair::probes) => return,
            Content::Padding => 0.0,
            Content::Retransmission { .. } | Content::Fec { .. } | Content::Audio { .. } => 0.0,
            Content::Media { sequence, fragment } => {
                let srtt = self.srtt();
                if let Some(repair) = &mut self.parts.repair {
                    repair.on_media(self.now, (*sequence, *fragment), size, srtt);
                }
                if let Some(redundant) = &mut self.parts.redundant {
                    redundant.on_media(self.now, id, (*sequence, *fragment), size);
                }
                f64::from(fragment.length)
            }
        };
        self.sent_wire = self.sent_wire * SHARE_MEMORY + size.as_f64();
        self.sent_payload = self.sent_payload * SHARE_MEMORY + payload;
        self.sent_repair = self.sent_repair * SHARE_MEMORY + repair;
    }

    /// When to wake up if nothing happens before, and why; among equal times the first in this order.
    pub(super) fn next_wake(&mut self) -> (Time, Wake) {
        let mut wake = (Time::NEVER, Wake::Nothing);
        let mut earlier = |at: Time, why: Wake| {
            if at < wake.0 {
                wake = (at, why);
            }
        };
        let repair = self.parts.repair.as_ref().map_or(Time::NEVER, Repair::next_time);
        let has_media = !self.parts.queue.is_empty() || repair <= self.now;
        let probing = self.parts.prober.cluster().is_some();
        let after_now = self.now + Span::from_nanos(1);
        if has_media || probing {
            // The packet that release() would choose: checking the window for a smaller one would wake up for nothing,
            // again and again.
            let next = match (self.repairs_now(), has_media) {
                (true, _) => Next::Repair,
                (false, true) => Next::Media,
                (false, false) => Next::Padding(Content::Padding, self.probe_padding()),
            };
            let size = self.size_of(next);
            if self.window_admits(size) {
                let why = if probing { Wake::Probe } else { Wake::Pacer };
                earlier(self.next_send().max(after_now), why);
            }
        } else if self.next_sequence > 0 && self.probe_packets > 0 {
            earlier(self.pacer_next().max(after_now), Wake::ProbeTimeout);
        } else if self.next_sequence > 0 && self.pads() {
            let next_send = self.pacer_next();
            let padding = self.parts.dummies.as_ref().map_or(self.parts.sizes.padding, Dummies::size);
            if !self.window_admits(padding) {
                // Only feedback opens the window.
            } else if let Some(dummies) = &mut self.parts.dummies {
                let at = next_send.max(self.now);
                let at = match dummies.verdict(at, self.last_read, self.camera.interval) {
                    Verdict::Send => at,
                    Verdict::Wait(until) => until,
                };
                earlier(at.max(after_now), Wake::Padding);
            } else {
                earlier(self.parts.padding.next_send().max(next_send).max(after_now), Wake::Padding);
            }
        }
        if repair > self.now {
            earlier(repair, Wake::Repair);
        }
        let queue = self.queue_view();
        earlier(self.parts.policy.next_timeout(&queue).max(after_now), Wake::FramePolicy);
        earlier(self.parts.controller.next_timeout().max(after_now), Wake::Controller);
        earlier(self.history.next_probe().max(after_now), Wake::ProbeTimeout);
        earlier(self.history.next_timeout().max(after_now), Wake::FeedbackTimeout);
        wake
    }
}
