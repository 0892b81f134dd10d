//! Controller, pacer and queue in one, in virtual time: what the element does between its pads.

use std::collections::VecDeque;

use thalweg_control::{Decision, FramePlace, MSS, Payload, SendLimits, Signal};
use thalweg_driver::{Acked, Departure, Driver, Joined, Outcome};
use thalweg_sender::Prober;
use thalweg_sender::frames::QueueVerdict;
use thalweg_sender::pacing::{Pacer, PacingRate};
use thalweg_sender::padding::Verdict;
use thalweg_units::{Bytes, ConfigError, Rate, Span, Time};

use crate::queue::{Packet, Queue, Waiting};
use crate::report::Reported;
use crate::settings::{Parts, RTP_HEADER, Settings};

/// The srtt before the first report (specs/vidaptive.md C3).
const ASSUMED_SRTT: Span = Span::from_millis(100);
/// A new target is announced when it differs from the last by this share ...
const ANNOUNCED: f64 = 0.01;
/// ... and not sooner than this after it (docs/gstreamer.md): an encoder is set up anew each time.
const ANNOUNCED_APART: Span = Span::from_millis(20);
/// Packets whose reports are awaited: eight seconds at 10 Mbps.
const REMEMBERED: usize = 8192;
/// Time in which a queue of more than a frame is drained: the encoder makes so much less meanwhile. It cannot be told
/// to leave a picture out, and one that overshoots (webrtcsink's vp8enc does) would keep a queue for good at today's
/// pacing, a tenth above the estimate.
const DRAINED: Span = Span::from_millis(250);
/// A task that wakes late sends at once what it has missed, up to what this time carries (as `rtpgccbwe`).
/// Without it 6 Mbit/s, a packet each 1.6 ms, became 2 on a busy machine.
const LATE: Span = Span::from_millis(30);
/// But no less than this share of the estimate, for the queue and for a controller's pushback together: what remains in
/// libwebrtc at most of its pushback, half of the frames at half of the target (`thalweg_sender::frames`). Encoders asked
/// for less make more than they are asked for, and webrtcsink changes the frame rate at 500 kbps.
const LEAST_SHARE: f64 = 0.25;
/// After this long without a packet nothing is being sent.
const IDLE: Span = Span::from_millis(500);
/// Size of a packet that fills a probe, like media (libwebrtc's probes repeat recent packets).
const FILLER: Bytes = Bytes::new(1250);
/// The time by which a wait is longer than its end, so that what has to be exceeded is.
const TICK: Span = Span::from_nanos(1);

/// Next step of the element.
#[derive(Debug)]
pub(crate) enum Step<T> {
    /// Push this packet.
    Send(Waiting<T>),
    /// Push this event.
    Event(T),
    /// Push a packet of padding of at most so many bytes on the wire, and say so by [`Flow::on_padded`].
    Pad(Bytes),
    /// These were too old: drop them, and ask for a keyframe.
    Drop(Vec<Waiting<T>>),
    /// Nothing until this time, unless something comes.
    Wait(Time),
}

/// Notifications to the application.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct News {
    pub(crate) target: bool,
    pub(crate) hold: bool,
    pub(crate) keep_frames: bool,
}

/// How the flow knows what leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The numbers in reports are those that it counts.
    Seen,
    /// They are not: somebody behind it sends packets of their own. Packets are known by their reports.
    Joined,
}

/// Diagnostics beside the target: smoothed RTT, bytes in flight, loss.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) limits: SendLimits,
    pub(crate) pacing: Rate,
    pub(crate) driver: thalweg_driver::Stats,
    pub(crate) alpha: f64,
    pub(crate) queued: Bytes,
    pub(crate) queue_age: Span,
    pub(crate) mode: Mode,
    pub(crate) padding_packets: u64,
    pub(crate) dropped_packets: u64,
}

#[derive(Debug)]
struct Sent {
    number: u64,
    payload: u32,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Flow<T> {
    settings: Settings,
    driver: Driver,
    pacing: thalweg_sender::pacing::Config,
    pacer: Pacer,
    padding: thalweg_sender::padding::Continuous,
    prober: Prober,
    dummies: Option<thalweg_sender::padding::Dummies>,
    at_pace: bool,
    headroom: Option<thalweg_sender::frames::headroom::Headroom>,
    safeguards: thalweg_sender::frames::safeguards::Safeguards,
    queue: Queue<T>,
    mode: Mode,
    /// The transport-wide number of the next packet, before it is cut to 16 bits.
    next: u64,
    sent: VecDeque<Sent>,
    /// When the headroom was last chosen.
    chosen: Time,
    /// When the last packet left.
    departed: Time,
    /// When the window last kept a packet back, which is no lateness.
    blocked: Time,
    media_sent: bool,
    /// There was nothing to pad with when this was last tried, and nothing left since.
    cannot_pad: bool,
    padding_packets: u64,
    dropped_packets: u64,
    announced: (Time, u32),
    hold: bool,
    keep_frames: f64,
    decisions: Vec<Decision>,
}

impl<T> Flow<T> {
    /// # Errors
    /// Those of [`Settings::parts`].
    pub(crate) fn new(settings: Settings) -> Result<Flow<T>, ConfigError> {
        let Parts { driver, pacing, dummies, at_pace, headroom, safeguards } = settings.parts()?;
        let mut flow = Flow {
            driver,
            pacing,
            pacer: Pacer::new(pacing.burst),
            padding: thalweg_sender::padding::Continuous::default(),
            prober: Prober::default(),
            dummies,
            at_pace,
            headroom,
            safeguards,
            queue: Queue::default(),
            mode: Mode::Seen,
            next: 0,
            sent: VecDeque::new(),
            chosen: Time::ZERO,
            departed: Time::ZERO,
            blocked: Time::ZERO,
            media_sent: false,
            cannot_pad: false,
            padding_packets: 0,
            dropped_packets: 0,
            announced: (Time::ZERO, 0),
            hold: false,
            keep_frames: 1.0,
            decisions: Vec::new(),
            settings,
        };
        flow.announced.1 = flow.target();
        Ok(flow)
    }

    /// Goes on with other settings: the controller begins anew at `settings.start`, the queue stays.
    ///
    /// # Errors
    /// Those of [`Settings::parts`]; then nothing changes.
    pub(crate) fn change(&mut self, settings: Settings) -> Result<(), ConfigError> {
        let Parts { driver, pacing, dummies, at_pace, headroom, safeguards } = settings.parts()?;
        (self.driver, self.pacing, self.dummies) = (driver, pacing, dummies);
        (self.at_pace, self.headroom, self.safeguards) = (at_pace, headroom, safeguards);
        (self.pacer, self.prober, self.settings) = (Pacer::new(pacing.burst), Prober::default(), settings);
        // Reports on what the one before sent are none of the new one's.
        self.sent.clear();
        Ok(())
    }

    /// The rates between which the encoders can work have changed.
    pub(crate) fn on_demand(&mut self, now: Time, min: u32, max: u32) {
        (self.settings.min, self.settings.max) = (min, max);
        let (min, _, max) = self.settings.rates();
        // In order: `rates` sees to it.
        let _ = self.driver.on_demand(now, min, max);
    }

    /// Other limits of the queue.
    pub(crate) fn set_queue(&mut self, unpaced: bool, max_queue: Option<Span>) {
        (self.settings.unpaced, self.settings.max_queue) = (unpaced, max_queue);
    }

    /// A packet comes.
    pub(crate) fn push(&mut self, now: Time, item: T, packet: Packet) {
        let frames = self.queue.newest_frame();
        let completed = self.queue.push(now, item, packet, self.alpha());
        if self.queue.newest_frame() != frames {
            if let Some(headroom) = &mut self.headroom {
                headroom.on_encoded(now);
            }
            self.choose_headroom(now);
        }
        if let Some(frame) = completed {
            self.driver.on_signal(now, Signal::FrameQueued(frame));
        }
    }

    /// An event comes, which stays where it is between packets.
    pub(crate) fn push_event(&mut self, item: T) {
        self.queue.push_event(item);
    }

    /// Takes everything out of the queue, without a word. Returns the events, in order.
    pub(crate) fn clear(&mut self) -> Vec<T> {
        std::mem::take(&mut self.queue).into_events()
    }

    /// A report. Returns whether it showed that packets cannot be told by their numbers.
    pub(crate) fn on_report(&mut self, now: Time, reported: &[Reported]) -> bool {
        if self.queue.head().is_some_and(|head| !self.window_admits(head.size)) {
            self.blocked = now;
        }
        let mut fell = false;
        if self.mode == Mode::Seen && !reported.iter().all(|one| self.agrees(one)) {
            fell = self.fall_back();
        }
        match self.mode {
            Mode::Seen => {
                let acked: Vec<Acked> = reported
                    .iter()
                    .filter_map(|one| {
                        let key = self.find(one.number)?.number;
                        Some(Acked::new(key, one.arrived.map(Time::from_nanos), false))
                    })
                    .collect();
                // Only departures are shown in this mode.
                let _ = self.driver.on_acks(now, &acked, None);
            }
            Mode::Joined => self.join(now, reported),
        }
        fell
    }

    fn agrees(&self, reported: &Reported) -> bool {
        self.find(reported.number).is_none_or(|sent| sent.payload == reported.payload)
    }

    /// The packet of the last 65,536 with this number.
    fn find(&self, number: u16) -> Option<&Sent> {
        let last = self.next.checked_sub(1)?;
        let number = last.checked_sub(u64::from((last as u16).wrapping_sub(number)))?;
        let at = self.sent.binary_search_by_key(&number, |sent| sent.number).ok()?;
        self.sent.get(at)
    }

    /// Goes on by reports alone, at the present target.
    fn fall_back(&mut self) -> bool {
        let settings = Settings { start: self.target(), ..self.settings.clone() };
        let Ok(Parts { driver, .. }) = settings.parts() else { return false };
        (self.driver, self.mode) = (driver, Mode::Joined);
        self.sent.clear();
        true
    }

    fn join(&mut self, now: Time, reported: &[Reported]) {
        let mut joined: Vec<Joined> = Vec::with_capacity(reported.len());
        for one in reported {
            let key = self.unwrap(one.number);
            let outcome = match one.arrived {
                Some(at) => Outcome::Arrived { at: Time::from_nanos(at), ce: false },
                None => Outcome::Missing,
            };
            let size = Bytes::new(one.payload.into());
            if joined.iter().all(|other| other.departure.key != key) {
                joined.push(Joined::new(key, size, Time::from_nanos(one.departed).min(now), outcome));
            }
        }
        // Each key is there once.
        let _ = self.driver.join(now, &joined);
    }

    /// The full number nearest to the newest one, which it may become.
    fn unwrap(&mut self, number: u16) -> u64 {
        let ahead = number.wrapping_sub(self.next as u16) as i16;
        let full = self.next.saturating_add_signed(ahead.into());
        self.next = self.next.max(full + 1);
        full
    }

    /// Determines the next step.
    pub(crate) fn step(&mut self, now: Time) -> Step<T> {
        if self.driver.next_timeout() <= now {
            self.driver.on_timeout(now);
        }
        if self.mode == Mode::Joined {
            self.driver.set_sending(now, now - self.departed < IDLE);
        }
        while let Some(decision) = self.driver.poll_decision() {
            self.decisions.push(decision);
        }
        if self.headroom.is_some() && now >= self.chosen + self.queue.interval() {
            self.choose_headroom(now);
        }
        if self.is_too_old(now) {
            let dropped = self.queue.flush();
            self.dropped_packets += dropped.len() as u64;
            if !dropped.is_empty() {
                return Step::Drop(dropped);
            }
        }
        if let Some(event) = self.queue.pop_event() {
            return Step::Event(event);
        }
        self.follow_pace(now);
        self.begin_probe(now);
        let wait = self.next_timeout(now);
        let Some((size, kind)) = self.next(now) else { return Step::Wait(wait) };
        if kind != Payload::Audio && !self.settings.unpaced {
            if !self.window_admits(size) {
                self.blocked = now;
                return Step::Wait(wait);
            }
            let at = if self.prober.cluster().is_some() { self.prober.next_send() } else { self.pacer.next_send() };
            if at > now {
                return Step::Wait(wait.min(at));
            }
        }
        if kind == Payload::Padding {
            return Step::Pad(size);
        }
        let Some(waiting) = self.queue.pop() else { return Step::Wait(wait) };
        self.depart(now, &waiting.packet, waiting.place, waiting.since);
        if let Some((place, headroom)) = waiting.place.filter(|place| place.last).zip(self.headroom.as_mut()) {
            headroom.on_frame_sent(now, now - place.captured, waiting.alpha);
        }
        Step::Send(waiting)
    }

    /// The padding that [`Step::Pad`] asked for leaves; `None` if there is nothing to pad with.
    pub(crate) fn on_padded(&mut self, now: Time, packet: Option<&Packet>) {
        let Some(packet) = packet else {
            self.cannot_pad = true;
            return;
        };
        self.padding_packets += 1;
        self.depart(now, packet, None, now);
    }

    /// Returns true if the queue has to be thrown away. Also decides whether pictures are held back.
    fn is_too_old(&mut self, now: Time) -> bool {
        let view = self.queue.view();
        let verdict = self.safeguards.on_queue(now, &view);
        verdict == QueueVerdict::Flush || self.settings.max_queue.is_some_and(|limit| view.age(now) > limit)
    }

    fn follow_pace(&mut self, now: Time) {
        let limits = self.driver.limits();
        let mut rate = self.pacing_rate(&limits);
        if let Some(within) = self.pacing.drain_within.filter(|_| !self.queue.is_empty()) {
            let left = (within - self.queue.mean_wait(now)).max(Span::from_millis(1));
            rate = rate.max(self.queue.view().bytes.per(left));
        }
        self.pacer.set_rate(now, rate);
        self.padding.set_limit(now, limits.padding);
    }

    /// By the scheme's rule (`thalweg_sender::pacing`).
    fn pacing_rate(&self, limits: &SendLimits) -> Rate {
        let srtt = self.driver.stats().srtt.unwrap_or(ASSUMED_SRTT);
        let rate = match (self.pacing.rate, limits.window) {
            (PacingRate::Controller, _) | (PacingRate::WindowRate(_), None) => limits.pacing,
            (PacingRate::WindowRate(factor), Some(window)) => window.per(srtt).scale(factor),
            (PacingRate::Unpaced, _) => Rate::MAX,
        };
        rate.min(self.pacing.limit.unwrap_or(Rate::MAX))
    }

    /// A probe begins with media, or after some has left where it can be filled.
    fn begin_probe(&mut self, now: Time) {
        self.prober.expire(now);
        let can = !self.queue.is_empty() || self.media_sent && self.can_pad();
        if let Some(probe) = self.driver.limits().probe.filter(|_| can && self.mode == Mode::Seen) {
            self.prober.begin(now, probe);
        }
    }

    fn can_pad(&self) -> bool {
        self.settings.padding && self.media_sent && !self.cannot_pad
    }

    /// Packet that could leave now if it is its time: its size on the wire, and its purpose.
    fn next(&mut self, now: Time) -> Option<(Bytes, Payload)> {
        if let Some(packet) = self.queue.head() {
            return Some((packet.size, packet.kind));
        }
        if !self.can_pad() {
            return None;
        }
        if self.prober.cluster().is_some() {
            return Some((FILLER, Payload::Padding));
        }
        let (read, interval) = (self.queue.newest_frame()?, self.queue.interval());
        if let Some(dummies) = &mut self.dummies {
            let may = dummies.verdict(now, read, interval) == Verdict::Send;
            return may.then(|| (dummies.size(), Payload::Padding));
        }
        (self.padding.next_send() <= now).then_some((FILLER, Payload::Padding))
    }

    /// One packet always may leave, so that a small window blocks nothing.
    fn window_admits(&self, size: Bytes) -> bool {
        let in_flight = self.driver.stats().in_flight;
        self.mode == Mode::Joined
            || in_flight == Bytes::ZERO
            || self.driver.limits().window.is_none_or(|window| in_flight + size <= window)
    }

    /// A packet leaves that could have done so since `ready`, but for the pace.
    fn depart(&mut self, now: Time, packet: &Packet, place: Option<FramePlace>, ready: Time) {
        let probe = self.prober.cluster();
        if probe.is_some() {
            self.prober.on_sent(now, packet.size);
        }
        self.pacer.on_sent(ready.max(self.blocked).max(now - LATE), packet.size);
        self.padding.on_sent(now, packet.size, packet.kind == Payload::Padding);
        self.departed = now;
        if let Some(dummies) = &mut self.dummies {
            dummies.on_sent(now, packet.size);
        }
        if packet.kind == Payload::Media {
            (self.media_sent, self.cannot_pad) = (true, false);
        }
        if self.mode == Mode::Joined || !packet.numbered {
            return;
        }
        let foreign = packet.size.saturating_sub(self.driver.overhead());
        let mut departure = Departure::new(self.next, foreign);
        (departure.payload, departure.place, departure.probe) = (packet.kind, place, probe);
        departure.app_limited =
            self.queue.is_empty() && self.window_admits(packet.size + MSS) && self.dummies.is_none();
        // Each key is used once, in one mode.
        let _ = self.driver.on_sent(now, departure);
        self.sent.push_back(Sent { number: self.next, payload: packet.payload });
        self.next += 1;
        if self.sent.len() > REMEMBERED {
            self.sent.pop_front();
        }
    }

    fn choose_headroom(&mut self, now: Time) {
        self.chosen = now;
        let interval = self.queue.interval();
        if let Some(headroom) = &mut self.headroom {
            headroom.update(now, interval);
        }
    }

    fn alpha(&self) -> f64 {
        self.headroom.as_ref().map_or(1.0, thalweg_sender::frames::headroom::Headroom::alpha)
    }

    /// When to call [`Flow::step`] if nothing comes, beside the time of the next packet.
    fn next_timeout(&mut self, now: Time) -> Time {
        let view = self.queue.view();
        let too_old = view.oldest.zip(self.settings.max_queue).map_or(Time::NEVER, |(at, limit)| at + limit + TICK);
        let mut at = self.driver.next_timeout().min(self.safeguards.next_timeout(&view)).min(too_old);
        if self.headroom.is_some() {
            at = at.min(self.chosen + self.queue.interval());
        }
        if self.prober.cluster().is_some() {
            // A cluster without packets is given up.
            at = at.min(self.prober.next_send() + Span::from_millis(10) + TICK);
        } else if self.queue.is_empty() && self.can_pad() {
            at = at.min(self.next_padding(now));
        }
        if self.differs() {
            at = at.min(self.announced.0 + ANNOUNCED_APART);
        }
        at.max(now + Span::from_micros(100))
    }

    fn next_padding(&mut self, now: Time) -> Time {
        let (read, interval) = (self.queue.newest_frame().unwrap_or(now), self.queue.interval());
        if let Some(dummies) = &mut self.dummies {
            let at = self.pacer.next_send().max(now);
            return match dummies.verdict(at, read, interval) {
                Verdict::Send => at,
                Verdict::Wait(until) => until,
            };
        }
        self.padding.next_send()
    }

    /// The bitrate for the encoders, without RTP's headers and everything below, in bit/s.
    pub(crate) fn target(&self) -> u32 {
        let (min, _, max) = self.settings.rates();
        let limits = self.driver.limits();
        let (full, rate) = if self.driver.stats().srtt.is_none() {
            (self.driver.target(), self.driver.target())
        } else if self.at_pace {
            let pace = self.driver.foreign(self.pacing_rate(&limits));
            (pace, pace.scale(limits.media.share() * self.alpha()))
        } else {
            (self.driver.foreign(limits.capacity), self.driver.target())
        };
        let excess = self.queue.view().bytes.saturating_sub(full.over(self.queue.interval()));
        let least = full.scale(LEAST_SHARE * self.alpha());
        let rate = rate.saturating_sub(excess.per(DRAINED)).max(least);
        u32::try_from(rate.clamp(min, max).as_bps()).unwrap_or(u32::MAX)
    }

    fn differs(&self) -> bool {
        let announced = f64::from(self.announced.1);
        (f64::from(self.target()) - announced).abs() > ANNOUNCED * announced
    }

    /// Notifications due to the application now.
    pub(crate) fn news(&mut self, now: Time) -> News {
        let target = self.differs() && now >= self.announced.0 + ANNOUNCED_APART;
        if target {
            self.announced = (now, self.target());
        }
        let (hold, keep_frames) = (self.safeguards.paused(), self.driver.limits().media.share());
        let news = News { target, hold: hold != self.hold, keep_frames: keep_frames != self.keep_frames };
        (self.hold, self.keep_frames) = (hold, keep_frames);
        news
    }

    /// Returns true while pictures are better not encoded.
    pub(crate) fn hold(&self) -> bool {
        self.safeguards.paused()
    }

    /// The share of pictures to encode.
    pub(crate) fn keep_frames(&self) -> f64 {
        self.driver.limits().media.share()
    }

    /// The decisions since the last call, oldest first.
    pub(crate) fn decisions(&mut self) -> Vec<Decision> {
        std::mem::take(&mut self.decisions)
    }

    pub(crate) fn figures(&self, now: Time) -> Figures {
        let (limits, view) = (self.driver.limits(), self.queue.view());
        Figures {
            limits,
            pacing: self.pacing_rate(&limits),
            driver: self.driver.stats(),
            alpha: self.alpha(),
            queued: view.bytes,
            queue_age: view.age(now),
            mode: self.mode,
            padding_packets: self.padding_packets,
            dropped_packets: self.dropped_packets,
        }
    }
}

/// The size on the wire of a packet with so many bytes from RTP's header on.
pub(crate) fn on_the_wire(bytes: usize) -> Bytes {
    Bytes::new(bytes as u64) + thalweg_driver::RTP_OVERHEAD
}

/// How many bytes from RTP's header on make so many on the wire.
pub(crate) fn off_the_wire(size: Bytes) -> usize {
    size.saturating_sub(thalweg_driver::RTP_OVERHEAD).get() as usize
}

const _: () = assert!(RTP_HEADER.get() < FILLER.get());

#[cfg(test)]
mod tests;
