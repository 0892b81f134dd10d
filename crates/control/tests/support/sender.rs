//! A sender that exactly follows the send limits.

use std::collections::VecDeque;

use thalweg_control::{
    Controller, Demand, FrameQueued, History, MSS, PacketId, PaddingLimit, Payload, Probe, SendLimits, SentPacket,
    Signal,
};
use thalweg_units::{Bytes, Rate, Span, Time};

use super::encoder::{Encoder, INTERVAL, PACKET, Waiting};
use super::feedback::Message;
use super::record::Bin;
use super::simulation::Scenario;

/// The source of the data to send.
#[derive(Debug, Clone, Copy)]
pub enum Source {
    /// Always another packet of this size.
    Backlog(Bytes),
    /// 30 frames a second, each this share of the size it may have, never above `max`.
    Encoder { share: f64, max: Rate },
}

impl Source {
    fn packet(self) -> Bytes {
        match self {
            Source::Backlog(size) => size,
            Source::Encoder { .. } => PACKET,
        }
    }

    fn demand(self) -> Demand {
        let max = match self {
            Source::Backlog(_) => Rate::from_kbps(1_000_000),
            Source::Encoder { max, .. } => max,
        };
        Demand { min: Rate::from_kbps(30), max }
    }
}

/// How packets are paced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pacing {
    /// At the controller's pacing rate.
    Controller,
    /// At window / srtt if there is a window: Vidaptive's CC-Rate.
    WindowRate,
}

/// A probe cluster being sent.
#[derive(Debug, Clone, Copy)]
struct Probing {
    probe: Probe,
    began: Time,
    next: Time,
    burst: Bytes,
    sent: Bytes,
    packets: u32,
}

/// FEC as requested: a packet as long as the longest of the media packets that it protects.
#[derive(Debug, Clone, Copy, Default)]
struct Fec {
    of: u16,
    longest: Bytes,
    due: Option<Bytes>,
}

impl Fec {
    fn on_media(&mut self, size: Bytes, interval: Option<u16>) {
        let Some(interval) = interval else {
            *self = Fec { due: self.due, ..Fec::default() };
            return;
        };
        self.of += 1;
        self.longest = self.longest.max(size);
        if self.of >= interval {
            *self = Fec { due: Some(self.longest), ..Fec::default() };
        }
    }
}

/// Controller, history, pacer and queue.
pub struct Sender {
    pub controller: Box<dyn Controller>,
    pub history: History,
    source: Source,
    pacing: Pacing,
    encoder: Option<Encoder>,
    /// Queued packets of frames.
    queue: VecDeque<Waiting>,
    next_id: u64,
    next_send: Time,
    /// The slice being sent.
    slice: Option<u64>,
    probing: Option<Probing>,
    last_cluster: u32,
    fec: Fec,
}

impl Sender {
    pub fn new(mut controller: Box<dyn Controller>, scenario: &Scenario) -> Sender {
        let Scenario { source, pacing, .. } = *scenario;
        controller.on_demand(Time::ZERO, source.demand());
        let encoder = match source {
            Source::Backlog(_) => None,
            Source::Encoder { share, max } => Some(Encoder::new(scenario, share, max)),
        };
        Sender {
            controller,
            history: History::new(thalweg_control::LossDetectionConfig::default()),
            source,
            pacing,
            encoder,
            queue: VecDeque::new(),
            next_id: 0,
            next_send: Time::ZERO,
            slice: None,
            probing: None,
            last_cluster: 0,
            fec: Fec::default(),
        }
    }

    /// The encoder produces a frame, unless the controller holds frames back.
    pub fn on_frame(&mut self, now: Time) {
        let limits = self.controller.limits();
        let (ahead, oldest) = (self.queued(), self.queue.front().map_or(now, |packet| packet.since));
        let Some(encoder) = &mut self.encoder else { return };
        let frame = encoder.frame(now, &limits, ahead);
        if !frame.is_empty() {
            let size = frame.iter().map(|packet| packet.size).sum();
            let frame = FrameQueued::new(size, INTERVAL, ahead, now - oldest);
            self.controller.on_signal(now, Signal::FrameQueued(frame));
        }
        self.queue.extend(frame);
    }

    fn queued(&self) -> Bytes {
        self.queue.iter().map(|packet| packet.size).sum()
    }

    pub fn on_message(&mut self, now: Time, message: &Message, bin: &mut Bin) {
        let feedback = self.history.on_report(now, &message.acknowledgements, message.hold);
        bin.on_feedback(&feedback);
        self.controller.on_feedback(&feedback);
    }

    pub fn on_timeouts(&mut self, now: Time, bin: &mut Bin) {
        if let Some(feedback) = self.history.on_timeout(now) {
            bin.on_feedback(&feedback);
            self.controller.on_feedback(&feedback);
        }
        if self.controller.next_timeout() <= now {
            self.controller.on_timeout(now);
        }
    }

    /// The next packet that may leave now, and whether it asks for a report; or the time at which to call again.
    pub fn send(&mut self, now: Time) -> Result<(SentPacket, bool), Time> {
        let limits = self.controller.limits();
        let backlog = matches!(self.source, Source::Backlog(_));
        if self.probing.is_none()
            && let Some(probe) = limits.probe.filter(|probe| probe.cluster > self.last_cluster)
            && (backlog || !self.queue.is_empty())
        {
            self.last_cluster = probe.cluster;
            self.probing =
                Some(Probing { probe, began: now, next: now, burst: Bytes::ZERO, sent: Bytes::ZERO, packets: 0 });
        }
        if let Some(probing) = self.probing {
            return if now < probing.next {
                Err(probing.next.min(self.timeouts()))
            } else {
                Ok((self.send_probe(now, probing), true))
            };
        }
        if let Some(size) = self.fec.due {
            if now < self.next_send {
                return Err(self.next_send.min(self.timeouts()));
            }
            self.fec.due = None;
            self.next_send = now + limits.pacing.time_for(size);
            return Ok((self.leave(now, size, Payload::Repair, None, &limits), true));
        }
        let padding = !backlog && self.queue.is_empty() && limits.padding != PaddingLimit::None;
        let (size, slice) = match self.queue.front() {
            Some(packet) => (packet.size, Some(packet.slice)),
            None if backlog || padding => (self.source.packet(), None),
            None => return Err(self.timeouts()),
        };
        let begins = slice.is_none() || slice != self.slice;
        // The first packet of a burst leaves as soon as the window is not full.
        let min = if begins && limits.burst.is_some() { Bytes::new(1) } else { size };
        if !fits(&limits, self.history.in_flight() + min) {
            return Err(self.timeouts());
        }
        if begins && now < self.next_send {
            return Err(self.next_send.min(self.timeouts()));
        }
        let pacing = if padding { limits.padding.rate() } else { self.pacing(&limits).max(self.drain(&limits)) };
        let from = if begins { now } else { self.next_send };
        self.next_send = from + pacing.time_for(size).min(Span::from_secs(2));
        self.slice = slice;
        let payload = if padding { Payload::Padding } else { Payload::Media };
        let sent = self.leave(now, size, payload, None, &limits);
        let next = self.queue.front().filter(|next| Some(next.slice) == slice);
        let asks = begins || next.is_none_or(|next| !fits(&limits, sent.in_flight + next.size));
        Ok((sent, asks))
    }

    fn pacing(&self, limits: &SendLimits) -> Rate {
        match (self.pacing, limits.window, self.history.srtt()) {
            (Pacing::WindowRate, Some(window), Some(srtt)) => window.per(srtt),
            _ => limits.pacing,
        }
    }

    /// WebRTC's pacer empties its queue within two seconds; with bursts or a frame limit, the encoder waits instead.
    fn drain(&self, limits: &SendLimits) -> Rate {
        let waits = limits.burst.is_some() || limits.media.frame().is_some();
        if waits { Rate::ZERO } else { self.queued().per(Span::from_secs(2)) }
    }

    fn send_probe(&mut self, now: Time, mut probing: Probing) -> SentPacket {
        let probe = probing.probe;
        let payload = if self.queue.is_empty() { Payload::Padding } else { Payload::Media };
        let size = self.queue.front().map_or(self.source.packet(), |packet| packet.size);
        probing.sent += size;
        probing.burst += size;
        probing.packets += 1;
        if probing.burst >= probe.rate.over(probe.spacing) {
            probing.burst = Bytes::ZERO;
            probing.next = probing.began + probe.rate.time_for(probing.sent);
        }
        let done = probing.packets >= probe.packets && probing.sent >= probe.bytes;
        self.probing = (!done).then_some(probing);
        let limits = self.controller.limits();
        self.leave(now, size, payload, Some(probe.cluster), &limits)
    }

    fn leave(
        &mut self,
        now: Time,
        size: Bytes,
        payload: Payload,
        probe: Option<u32>,
        limits: &SendLimits,
    ) -> SentPacket {
        let place = if payload == Payload::Repair { None } else { self.queue.pop_front().map(|packet| packet.place) };
        let encoder = matches!(self.source, Source::Encoder { .. });
        let app_limited = encoder && self.queue.is_empty() && fits(limits, self.history.in_flight() + size + MSS);
        let mut packet = SentPacket::new(PacketId(self.next_id), now, size);
        (packet.payload, packet.probe, packet.place) = (payload, probe, place);
        packet.app_limited = app_limited;
        let packet = self.history.on_sent(packet);
        self.next_id += 1;
        self.controller.on_sent(&packet);
        if payload == Payload::Media {
            self.fec.on_media(size, self.controller.limits().fec_interval);
        }
        packet
    }

    fn timeouts(&self) -> Time {
        self.controller.next_timeout().min(self.history.next_timeout())
    }
}

fn fits(limits: &SendLimits, in_flight: Bytes) -> bool {
    limits.window.is_none_or(|window| in_flight <= window)
}
