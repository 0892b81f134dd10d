//! Thalweg's own controller (docs/thalweg.md): what may be under way is what the path carries within a round trip and a
//! budget, and hindsight says how large the budget is.
//!
//! * `service.rs`: the rate at which the path serves, from a frame's own packets at the receiver's times.
//! * `margin`: the budget.
//! * `round_trip.rs`: the round trip of the empty path.
//! * `overflow.rs`: what the path's queue holds.
//! * `start.rs`: the first packets.
//! * `trains.rs`: trains that measure the path where frames are single packets.
//! * `steps.rs`: steps of the path's rate.
//! * `raised.rs`, `floor.rs`: a path that has become longer.
//! * `jitter.rs`: how much an empty path delays by itself.
//! * `competing`: a share beside flows that fill the queue.
//! * `policer.rs`: paths that lose what exceeds a rate or a burst.
//! * here: what is under way, and silence. Nothing arrives during a fade, so nothing may be added; the frame policy
//!   sends single packets that find out when the path serves again.

mod competing;
mod config;
mod floor;
mod jitter;
mod margin;
mod overflow;
mod policer;
mod raised;
mod round_trip;
mod service;
mod start;
mod steps;
mod trains;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time};

use crate::controller::{Controller, Decision, MediaLimit, SendLimits};
use crate::decisions::Decisions;
use crate::feedback::Feedback;
use crate::feedback::outstanding::Outstanding;
use crate::feedback::timeout::{FeedbackTimeout, Then};
use crate::packet::{MSS, SentPacket};
use competing::Competing;
pub use competing::Config as CompetingConfig;
pub use config::Config;
use floor::Floor;
pub use jitter::Config as JitterConfig;
use jitter::Jitter;
pub use margin::Config as MarginConfig;
use margin::Margin;
use overflow::Overflow;
pub use policer::Config as PolicerConfig;
use policer::Policer;
use round_trip::RoundTrip;
use service::Service;
pub use start::Config as StartConfig;
use start::Start;
pub use steps::Config as StepsConfig;
pub use trains::Config as TrainsConfig;
use trains::Trains;

/// The most that is added beside a flow that fills the queue: what the path carries in this time.
const MOST_CONTENDED: Span = Span::from_millis(300);
/// The greatest delay above the min that may be jitter (specs/rmcat.md 1: a deviation of 5 ms).
const JITTER: Span = Span::from_millis(5);
/// How much faster than the path a frame's packets leave: fast enough that they queue and measure it, as in Salsify's
/// sender (specs/salsify.md 3).
const PACING: f64 = 5.0;
/// The same where the path's queue is full, and where it may be: a little more, so that a faster path is measured.
const FULL_PACING: (f64, f64) = (0.9, 1.25);
/// A train that raises the rate by this factor shows a faster path.
const RISES: f64 = 1.01;
/// Frames do not measure a path this many times as fast as they were served.
const FAR_FASTER: f64 = 2.0;
/// The least pacing rate, for the first packets, which must not wait for a measurement, and for shares: where the frames
/// of two flows meet at the path, each is served as fast as its packets come. If that depended on what it was served, the
/// lesser would lose ever more. So both send as fast, faster than an encoder's cap (12 Mbps).
const LEAST_PACING: Rate = Rate::from_kbps(20_000);

/// The controller.
#[derive(Debug, Clone)]
pub struct Thalweg {
    config: Config,
    service: Service,
    margin: Option<Margin>,
    trains: Option<Trains>,
    jitter: Option<Jitter>,
    policer: Option<Policer>,
    competing: Option<Competing>,
    floor: Floor,
    start: Option<Start>,
    outstanding: Outstanding,
    round_trip: RoundTrip,
    overflow: Overflow,
    silence: FeedbackTimeout,
    /// When losses last ended that were a policer's answer.
    losses_ended: Option<Time>,
    newest_sent: Time,
    /// How long the last packet that arrived waited.
    waited: Span,
    now: Time,
    decisions: Decisions,
}

/// While nothing arrives a packet is sent this often: of losses in a row as many pass the sooner, and a path that fades
/// queues no more than 150 kbps.
const TRIES: Span = Span::from_millis(60);

impl Thalweg {
    /// The controller before the first packet.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<Thalweg, ConfigError> {
        config.check()?;
        Ok(Thalweg {
            service: Service::new(&config)?,
            margin: config.margin.map(|margin| margin.build(config.budget)).transpose()?,
            trains: config.trains.map(trains::Config::build).transpose()?,
            jitter: config.jitter.map(jitter::Config::build).transpose()?,
            policer: config.policer.map(policer::Config::build).transpose()?,
            competing: config
                .competing
                .map(|competing| competing.build(config.wire, service::LONGEST_GAP))
                .transpose()?,
            start: config.opening.map(|opening| opening.build(config.wire)).transpose()?,
            floor: Floor::new(Time::ZERO),
            outstanding: Outstanding::new(config.forget_after),
            round_trip: RoundTrip::default(),
            overflow: Overflow::default(),
            silence: FeedbackTimeout::new(round_trip::ASSUMED + config.silence, 0, Then::Same),
            losses_ended: None,
            newest_sent: Time::ZERO,
            waited: Span::ZERO,
            now: Time::ZERO,
            decisions: Decisions::default(),
            config,
        })
    }

    fn budget(&self) -> Span {
        self.margin.as_ref().map_or(self.config.budget, |margin| margin.budget(self.now, self.is_shared()))
    }

    fn capacity(&self) -> Rate {
        let competed = self.competing.as_ref().and_then(Competing::rate);
        self.kept(competed.or(self.service.rate()).unwrap_or(self.config.start).max(Rate::from_kbps(1)))
    }

    /// The rate at which the path serves, or the lesser one that is held.
    fn kept(&self, served: Rate) -> Rate {
        self.held().map_or(served, |held| served.min(held))
    }

    /// The rate to which all packets keep because the path loses what exceeds it.
    fn held(&self) -> Option<Rate> {
        self.policer.as_ref().filter(|_| !self.competes()).and_then(Policer::rate)
    }

    /// Returns true while a share is competed for.
    fn competes(&self) -> bool {
        self.competing.as_ref().is_some_and(Competing::is_active)
    }

    /// Returns true if others' packets are among ours.
    fn is_shared(&self) -> bool {
        self.competing.as_ref().is_some_and(Competing::is_shared)
    }

    /// The delay above the least that an empty path may have. Beside a flow that fills the queue it is that flow's.
    fn jitter(&self) -> Span {
        self.jitter.as_ref().filter(|_| !self.competes()).map_or(Span::ZERO, Jitter::get)
    }

    /// The longest round trip of an empty path.
    fn round_trip(&self) -> Span {
        self.round_trip.get() + self.jitter()
    }

    /// Wire bytes that the path carries in a round trip.
    fn carries(&self) -> Bytes {
        self.capacity().over(self.round_trip())
    }

    /// Wire bytes that may be under way.
    fn may_be_under_way(&self) -> Bytes {
        let most = self.start.as_ref().map(Start::most);
        // A rate that is held is one that the path serves, although no two packets together ever passed.
        match self.service.rate().or(self.held()) {
            None => most.unwrap_or(self.config.wire * self.config.first_packets),
            Some(served) => self.fills(served).min(most.unwrap_or(Bytes::MAX)),
        }
    }

    /// Wire bytes that may be under way on a path that serves at this rate.
    fn fills(&self, served: Rate) -> Bytes {
        let Config { wire, packets, .. } = self.config;
        let rate = self.kept(served);
        if let Some(window) = self.competing.as_ref().and_then(Competing::window) {
            return window;
        }
        if let Some(drained) = self.round_trip.draining(self.carries(), wire) {
            return drained;
        }
        // Beside a flow that fills the queue a share is got by what is queued: some packets more each second, as TCP one
        // in each round trip, until the queue overflows.
        let more = self.round_trip.contended_for(self.now).as_secs_f64() * self.config.contended_packets;
        let contended = wire.scale(more).min(rate.over(MOST_CONTENDED));
        let opening = self.start.as_ref().and_then(|start| start.queue(self.now));
        let queue = rate.over(self.budget()) + wire.scale(packets) + contended;
        let queue = queue.min(opening.map_or(Bytes::MAX, |queue| rate.over(queue)));
        // At a rate that is held nothing queues on the path, and what its queue has no room for waits in the sender.
        let limit = self.overflow.limit().filter(|_| self.held().is_none() && !self.spreads());
        self.carries() + limit.map_or(queue, |limit| queue.min(limit)).max(wire)
    }

    /// Returns true if what the path's queue has no room for leaves as the path serves: whole frames, and no other flow that
    /// would fill what we leave.
    fn spreads(&self) -> bool {
        !self.config.holds_packets && !self.is_shared() && !self.competes() && !self.is_contended()
    }

    /// Returns true if nothing arrives although packets are in flight.
    fn is_silent(&self) -> bool {
        self.silence.expired() > 0
    }

    /// When a packet is tried again while nothing arrives: never on a path that delivers late what it has.
    fn next_try(&self) -> Time {
        if self.waited > self.budget() { Time::NEVER } else { self.newest_sent + TRIES }
    }

    /// Payload bytes that may be sent in addition.
    fn free(&self) -> Bytes {
        let Config { packet, wire, .. } = self.config;
        if self.is_silent() {
            // A packet may always find out whether the path is back.
            let again = self.now >= self.next_try();
            return if again || self.outstanding.bytes() == Bytes::ZERO { packet } else { Bytes::ZERO };
        }
        // Beside flows that fill the queue: what the window pays for, so that it is filled in the mean.
        let paid = self.competing.as_ref().and_then(|competing| competing.free(self.now));
        let free = paid.unwrap_or_else(|| self.may_be_under_way().saturating_sub(self.outstanding.bytes()));
        free.scale(packet.as_f64() / wire.as_f64())
    }

    /// Takes feedback for what is known of the path's queue: whether it is ours, and what it holds.
    fn observe_queue(&mut self, feedback: &Feedback<'_>, before: Rate) {
        let Config { wire, .. } = self.config;
        let (carries, round_trip) = (self.carries(), self.round_trip());
        let drained = self.round_trip.draining(carries, wire);
        let was_contended = self.is_contended();
        let limit = self.overflow.limit();
        let has_drained = drained.is_some_and(|drained| self.outstanding.bytes() <= drained);
        let own = self.capacity().time_for(wire * round_trip::FEW);
        self.round_trip.on_feedback(feedback, has_drained, own, self.jitter());
        let contended = if was_contended { wire } else { Bytes::ZERO };
        // Nothing overflows at a rate that is held.
        if self.held().is_none() {
            self.overflow.on_feedback(feedback, carries, round_trip, contended);
        }
        let drains = drained.is_none() && self.round_trip.draining(carries, wire).is_some();
        let fell = self.overflow.limit().is_some_and(|now| limit.is_none_or(|before| now < before));
        for (is_new, what, why) in [
            (drains, "drain", "the path was not seen empty for 5 s"),
            (self.is_contended() && !was_contended, "contend", "the path does not drain: another flow fills its queue"),
            (was_contended && !self.is_contended(), "yield", "the path was seen empty"),
            (fell, "limit", "packets that meet a long queue are lost, others are not"),
        ] {
            if is_new {
                self.decide(feedback.now, what, why, before);
            }
        }
    }

    /// Takes feedback for whether a queue that does not change is a longer path.
    fn follow(&mut self, feedback: &Feedback<'_>, before: Rate) {
        self.floor.on_feedback(feedback);
        let jitter = self.jitter();
        let Some(risen) = self.floor.stands().and_then(|least| self.round_trip.risen(least, jitter)) else { return };
        if !self.config.rebases {
            return;
        }
        self.floor = Floor::new(feedback.now);
        self.round_trip.on_risen(feedback.now, risen);
        self.service.forget_least();
        self.margin.iter_mut().for_each(Margin::forget);
        self.competing.iter_mut().for_each(Competing::leave);
        self.decide(feedback.now, "rebase", "the queue does not change: the path has become longer", before);
    }

    /// Takes feedback for whether another flow fills the queue; returns true while we compete with it.
    fn compete(&mut self, feedback: &Feedback<'_>, before: Rate) -> bool {
        let (contended, empty_at, empty) = (self.is_contended(), self.round_trip.empty_at(), self.round_trip.get());
        let served = self.service.rate().unwrap_or(self.config.start);
        self.follow(feedback, before);
        let Some(competing) = &mut self.competing else { return false };
        competing.observe(feedback);
        let now = feedback.now;
        let queue = feedback.srtt.unwrap_or_default() - empty;
        let contends = contended && competing.is_suspected(now, queue);
        if competing.is_active() {
            self.round_trip.keep(now);
            self.service.keep();
            let Some(why) = competing.on_feedback(feedback, empty) else { return true };
            competing.leave();
            self.policer.iter_mut().for_each(|policer| policer.forget(now));
            self.round_trip.forget(now);
            self.margin.iter_mut().for_each(Margin::forget);
            self.decide(now, "yield", why, before);
        } else if contends && competing.enter(feedback, served) {
            self.round_trip.forget(now);
            self.decide(now, "compete", "the queue does not drain, and others' packets are among ours", before);
            return true;
        } else if self.round_trip.is_looking() {
            // What is known of the empty path is what others' queue is compared with. Where there are none it may be of
            // another path.
            if competing.is_shared() {
                self.round_trip.keep(now);
                self.service.keep();
            }
        } else if competing.suspects(now, empty_at, empty, queue, served) {
            let (little, own) = (competing.little(empty, served), competing.own_wait(empty, served));
            self.round_trip.look(now, little, own, queue);
            self.decide(now, "drain", "others' packets are among ours in a queue that was not seen empty", before);
        }
        false
    }

    /// Returns true if another flow fills the path's queue.
    fn is_contended(&self) -> bool {
        self.round_trip.contended_for(self.now) > Span::ZERO
    }

    /// Takes arrivals for what is known of the path's rate, and of its delay while it is empty.
    fn measure(&mut self, feedback: &Feedback<'_>, arrivals: &[(Time, SentPacket)]) {
        let before = self.capacity();
        let is_first = self.service.rate().is_none();
        if let Some(start) = &mut self.start {
            arrivals.iter().for_each(|(_, packet)| start.on_arrived(packet.size));
        }
        let (behind, paused, stepped) = (self.service.behind(), self.service.pause(), self.service.stepped());
        let reorders = self.jitter.as_ref().is_some_and(Jitter::reorders);
        // It puts distances between packets that are no other's.
        let is_jittery = reorders || self.jitter() > Span::ZERO;
        if let Some(competing) = &mut self.competing {
            for (at, packet) in arrivals {
                competing.on_arrival(*at, packet, self.service.due(packet));
            }
            if is_jittery {
                competing.forget_others();
            }
        }
        self.service.on_unreported(feedback.unreported);
        let risen = self.service.on_arrivals(arrivals, self.jitter(), reorders);
        if let Some(jitter) = &mut self.jitter {
            let service = self.service.least_service();
            for (at, packet) in arrivals {
                jitter.on_arrival(packet.id);
                // What waited for the end of a halt says nothing of it.
                if packet.place.is_some_and(|place| place.first) && !self.service.waited(packet, *at) {
                    jitter.on_first(*at, *at - packet.at, service);
                }
            }
        }
        if let Some(start) = self.start.as_mut().filter(|_| is_first && self.service.rate().is_some()) {
            start.on_measured(feedback.now);
            self.decide(feedback.now, "open", "the first packets measured the path", before);
        }
        if risen > Span::ZERO {
            self.round_trip.on_risen(feedback.now, risen);
            self.decide(
                feedback.now,
                "rebase",
                "the path is idle before frames, and none is as early as before",
                before,
            );
        }
        if self.service.stepped() > stepped {
            if self.capacity() > before.scale(FAR_FASTER) {
                self.margin.iter_mut().for_each(Margin::forget);
            }
            self.decide(feedback.now, "step", "packets in a row were served alike, and not as on average", before);
        }
        let pause = self.service.pause().filter(|pause| Some(*pause) != paused);
        if let Some(((ended, length), margin)) = pause.zip(self.margin.as_mut()) {
            margin.on_pause(ended, length);
        }
        if let Some(trains) = self.trains.as_mut().filter(|_| self.service.behind() > behind) {
            let of_frame = arrivals.iter().all(|(_, packet)| packet.probe.is_none());
            trains.on_measured(feedback.now, of_frame, self.service.rate() > Some(before.scale(RISES)));
        }
        let empty = self.service.min_delay().unwrap_or_default();
        // What another flow's packets push out of a queue that does not drain is no policer's doing. Where it drains, what
        // seem to be others' packets may be the noise of a busy receiver.
        let competes = self.competes();
        let is_shared = self.is_shared() && self.is_contended();
        let change = self.policer.as_mut().filter(|_| !competes).and_then(|policer| {
            if is_shared { policer.on_shared(feedback.now) } else { policer.on_feedback(feedback, empty) }
        });
        if let Some((what, why)) = change {
            if what == policer::HELD {
                self.losses_ended = Some(feedback.now);
            }
            self.decide(feedback.now, what, why, before);
        }
    }

    fn decide(&mut self, at: Time, what: &'static str, why: &'static str, from: Rate) {
        self.decisions.push(Decision { at, what, why, from, to: self.capacity() });
    }
}

impl Controller for Thalweg {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.now = feedback.now;
        let was_silent = self.is_silent();
        // The mean wait for a report is half of the time between reports.
        let round_trip = self.round_trip();
        self.silence.set_wait(round_trip + self.round_trip.held() + self.config.silence, 0);
        let arrivals = feedback.in_order_of_arrival();
        if !arrivals.is_empty() {
            self.silence.on_feedback(feedback);
        }
        let before = self.capacity();
        if let Some(policer) = self.policer.as_mut().filter(|_| was_silent && !arrivals.is_empty()) {
            policer.forget(feedback.now);
        }
        self.measure(feedback, &arrivals);
        if let Some(((at, packet), empty)) = arrivals.last().zip(self.service.min_delay()) {
            self.waited = *at - packet.at - empty - self.jitter();
        }
        self.outstanding.on_feedback(feedback);
        let jitter = self.jitter();
        if !self.compete(feedback, before) {
            self.observe_queue(feedback, before);
            let opens = self.start.as_ref().is_some_and(|start| start.lasts(feedback.now));
            let margin = self.margin.as_mut().filter(|_| !opens);
            if let Some((margin, empty)) = margin.zip(self.service.min_delay()) {
                margin.on_arrivals(feedback.now, &arrivals, empty + jitter, round_trip);
            }
        }
        if was_silent && !self.is_silent() {
            if let Some(margin) = &mut self.margin {
                margin.on_fade(feedback.now);
            }
            self.decide(feedback.now, "resume", "packets arrive again after a fade", before);
        }
    }

    fn limits(&self) -> SendLimits {
        let capacity = self.capacity();
        // Or each frame by itself: none waits for a window.
        let media = if self.config.holds_packets { MediaLimit::None } else { MediaLimit::Frame(self.free()) };
        let under_way = self.outstanding.bytes();
        let fast = match self.overflow.limit().filter(|_| self.spreads()) {
            Some(limit) if under_way > self.carries() + limit => capacity.scale(FULL_PACING.0),
            Some(limit) if under_way > limit => capacity.scale(FULL_PACING.1),
            _ => capacity.scale(PACING).max(LEAST_PACING),
        };
        let pacing = self.held().unwrap_or(fast);
        SendLimits {
            capacity,
            probe: self.trains.as_ref().and_then(Trains::probe),
            window: self.config.holds_packets.then(|| self.may_be_under_way().max(MSS)),
            media,
            losses_ended: self.losses_ended,
            jitter: self.jitter(),
            ..SendLimits::of_rate(pacing)
        }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        (self.now, self.newest_sent) = (packet.at, packet.at);
        self.silence.on_sent(packet.at);
        self.outstanding.on_sent(packet);
        if let Some(competing) = &mut self.competing {
            competing.on_sent(packet);
        }
        let budget = self.budget();
        if let Some(margin) = &mut self.margin {
            margin.on_sent(packet, budget);
        }
        if self.trains.as_mut().is_some_and(|trains| trains.on_sent(packet)) {
            self.decide(
                packet.at,
                "train",
                "frames are single packets, which cannot show a faster path",
                self.capacity(),
            );
        }
    }

    fn on_timeout(&mut self, now: Time) {
        self.now = now;
        self.outstanding.on_timeout(now);
        if self.silence.on_timeout(now) && self.silence.expired() == 1 {
            self.decide(now, "stop", "nothing arrives although something is under way", self.capacity());
        }
    }

    fn next_timeout(&self) -> Time {
        let again = self.next_try();
        let tries = if self.is_silent() && self.now < again { again } else { Time::NEVER };
        self.silence.deadline().min(self.outstanding.next_timeout()).min(tries)
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.decisions.pop()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("under way kB", self.outstanding.bytes().as_f64() / 1000.0);
        see("allowed kB", self.may_be_under_way().as_f64() / 1000.0);
        if let Some(limit) = self.overflow.limit() {
            see("queue limit kB", limit.as_f64() / 1000.0);
        }
        if let Some(held) = self.held() {
            see("held Mbps", held.as_mbps_f64());
        }
        if self.jitter.is_some() {
            see("jitter ms", self.jitter().as_millis_f64());
        }
        if let Some(others) = self.competing.as_ref().and_then(Competing::others) {
            see("others", others);
        }
        see("contended s", self.round_trip.contended_for(self.now).as_secs_f64());
        see("budget ms", self.budget().as_millis_f64());
        see("silent", f64::from(u8::from(self.is_silent())));
    }
}

#[cfg(test)]
mod tests;
