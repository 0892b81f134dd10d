//! The budget to use, chosen by hindsight.
//!
//! A fixed budget is too large for a path that fades and too small for a varying one; on a steady path it is a queue
//! that serves nothing. No single setting is best on every link. But each frame of the last seconds says what another
//! budget would have meant: how long the path would have been empty before the frame, for want of packets, and how
//! long the frame would have waited. So the budget is chosen that would have served them best. Vidaptive chooses its
//! encoder's headroom so (specs/vidaptive.md 7).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use thalweg_units::{ConfigError, Span, Time, above, check};

use crate::packet::{Payload, SentPacket};

/// The parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// How long a frame counts.
    pub window: Span,
    /// A frame is in time if it waits no longer than this on the path.
    pub bound: Span,
    /// Cost of a late frame: as much as a path that is empty for this many intervals of frames.
    pub late: f64,
    /// Cost of waiting, for each `bound` that a frame waits, up to ten, in the unit of `late`.
    pub waiting: f64,
    /// The least budget.
    pub min: Span,
    /// The greatest.
    pub max: Span,
    /// How long the path must have served again after a fade until hindsight may raise the budget above the initial.
    pub cautious: Span,
    /// A regular pause of the path no longer than this delays frames whatever the budget is, and calls for no caution;
    /// `None` where each pause counts as a queue.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub pauses: Option<Span>,
    /// The budget where others' packets are among ours: the same for all, since of flows with the same packets under way
    /// beyond it each gets as much, whenever its camera takes pictures; `None` where hindsight chooses there too.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub shared: Option<Span>,
}

/// Pauses are regular if one comes as long after another as that after the one before, by this share.
const REGULAR: f64 = 0.1;

impl Default for Config {
    fn default() -> Config {
        Config {
            window: Span::from_secs(10),
            bound: Span::from_millis(100),
            late: 14.0,
            waiting: 0.2,
            min: Span::from_millis(20),
            max: Span::from_millis(160),
            cautious: Span::from_millis(500),
            pauses: Some(Span::from_millis(160)),
            shared: Some(Span::from_millis(60)),
        }
    }
}

impl Config {
    pub(super) fn build(self, initial: Span) -> Result<Margin, ConfigError> {
        for (name, value) in [("margin.window", self.window), ("margin.bound", self.bound)] {
            check(name, value).within(above(Span::ZERO), "the default")?;
        }
        for (name, value) in [("margin.late", self.late), ("margin.waiting", self.waiting)] {
            check(name, value).within(0.0..=1e3, "the default")?;
        }
        check("margin and budget", format_args!("min {}, budget {initial}, max {}", self.min, self.max))
            .is(self.min > Span::ZERO && self.min <= initial && initial <= self.max, "0 < min <= budget <= max")?;
        check("margin.cautious", self.cautious).within(Span::ZERO.., "500ms")?;
        check("margin.shared", self.shared.unwrap_or(self.min)).within(above(Span::ZERO), "60ms, or absent")?;
        check("margin.pauses", self.pauses.unwrap_or_default()).within(Span::ZERO.., "160ms, or absent")?;
        let step = (self.max - self.min) / (CANDIDATES as i64 - 1);
        let candidates =
            (0..CANDIDATES).map(|index| Tally { budget: self.min + step * index as i64, ..Tally::default() });
        Ok(Margin {
            config: self,
            initial,
            best: initial,
            cautious_until: Time::ZERO,
            newest_arrival: None,
            pause: None,
            paused: None,
            under_way: VecDeque::new(),
            samples: VecDeque::new(),
            candidates: candidates.collect(),
        })
    }
}

/// Budgets compared: 7 ms apart by default, less than what a frame takes of the budget.
const CANDIDATES: usize = 21;
/// Max frames under way that are remembered: half a minute at sixty a second.
const REMEMBERED: usize = 1 << 11;

/// A frame of which packets are under way.
#[derive(Debug, Clone, Copy)]
struct UnderWay {
    frame: u64,
    began: Time,
    /// Since the frame before it began.
    interval: Span,
    /// The budget in force.
    budget: Span,
    /// How long its first packet waited on the path, or, negative, how long the path was empty before it; once known.
    ahead: Option<Span>,
}

/// A frame that arrived.
#[derive(Debug, Clone, Copy)]
struct Sample {
    at: Time,
    frame: UnderWay,
    ahead: Span,
    /// How long its last packet waited.
    waited: Span,
    /// How much longer that would have been for each second of budget.
    slope: f64,
}

/// Tally of the outcomes that the frames in the window would have had with a budget.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    budget: Span,
    /// How long the path would have been empty for want of packets.
    empty: Span,
    /// The intervals of frames that would have been late.
    late: Span,
    waited: Span,
}

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Margin {
    config: Config,
    initial: Span,
    best: Span,
    cautious_until: Time,
    newest_arrival: Option<Time>,
    /// The last pause of the path: when it ended, and how long it was, if it was short and came when it was due.
    pause: Option<(Time, Span)>,
    /// When the last pause ended, and how long after the one before.
    paused: Option<(Time, Span)>,
    under_way: VecDeque<UnderWay>,
    samples: VecDeque<Sample>,
    candidates: Vec<Tally>,
}

impl Margin {
    /// The budget in force, while others' packets are among ours or not.
    pub(super) fn budget(&self, now: Time, is_shared: bool) -> Span {
        if let Some(shared) = self.config.shared.filter(|_| is_shared) {
            return shared;
        }
        if now < self.cautious_until { self.best.min(self.initial) } else { self.best }
    }

    /// Something arrives again after a fade: be cautious for a while, unless it was a short pause.
    pub(super) fn on_fade(&mut self, now: Time) {
        if self.pause.is_none() {
            self.cautious_until = now + self.config.cautious;
        }
    }

    /// The path served a packet at `at` only after a pause of `length`.
    pub(super) fn on_pause(&mut self, at: Time, length: Span) {
        let (last, interval) = self.paused.unwrap_or_default();
        let since = at - last;
        let is_regular = (since - interval).abs() <= interval.scale(REGULAR);
        self.paused = Some((at, since));
        self.pause = self.config.pauses.filter(|longest| is_regular && length <= *longest).map(|_| (at, length));
    }

    /// The path has become another: what frames met before says nothing of it.
    pub(super) fn forget(&mut self) {
        self.samples.clear();
        self.candidates.iter_mut().for_each(|tally| *tally = Tally { budget: tally.budget, ..Tally::default() });
        self.best = self.initial;
    }

    /// Takes a packet that leaves, and the budget in force.
    pub(super) fn on_sent(&mut self, packet: &SentPacket, budget: Span) {
        let Some(place) = packet.place.filter(|place| packet.payload == Payload::Media && place.first) else { return };
        if self.under_way.len() == REMEMBERED {
            self.under_way.pop_front();
        }
        // A pause is no interval.
        let interval =
            self.under_way.back().map_or(Span::ZERO, |before| (packet.at - before.began).min(self.config.bound));
        self.under_way.push_back(UnderWay { frame: place.frame, began: packet.at, interval, budget, ahead: None });
    }

    /// Takes arrivals in their order, and with them the frames whose last packet has arrived; `empty` is the delay of
    /// the empty path, by two clocks, and `round_trip` the time from sending a packet on it to the report.
    pub(super) fn on_arrivals(&mut self, now: Time, arrivals: &[(Time, SentPacket)], empty: Span, round_trip: Span) {
        for (at, packet) in arrivals {
            self.on_arrival(now, *at, packet, empty, round_trip);
            self.newest_arrival = self.newest_arrival.max(Some(*at));
        }
        let since = now - self.config.window;
        while let Some(sample) = self.samples.front().copied().filter(|sample| sample.at <= since) {
            self.count(&sample, -1);
            self.samples.pop_front();
        }
        if !arrivals.is_empty() {
            self.best = self.best();
        }
    }

    fn on_arrival(&mut self, now: Time, at: Time, packet: &SentPacket, empty: Span, round_trip: Span) {
        let Some(place) = packet.place.filter(|_| packet.payload == Payload::Media) else { return };
        let Ok(index) = self.under_way.binary_search_by_key(&place.frame, |frame| frame.frame) else { return };
        if place.first {
            let due = packet.at + empty;
            let idle = self.newest_arrival.map_or(Span::ZERO, |newest| (due - newest).max(Span::ZERO));
            self.under_way[index].ahead = Some(if idle > Span::ZERO { -idle } else { at - due });
        }
        if !place.last {
            return;
        }
        // A frame of which the first packet is unknown says nothing of the path before it.
        let frame = self.under_way[index];
        self.under_way.drain(..index);
        let Some(ahead) = frame.ahead else { return };
        let due = frame.began + empty;
        let paused = self.pause.filter(|(ended, _)| due < *ended && *ended <= at);
        let paused = paused.map_or(Span::ZERO, |(ended, length)| length.min(ended - due));
        let waited = (at - due - paused).max(Span::ZERO);
        // What is under way waits in proportion to what it is: a path that serves at half of the rate doubles it.
        let slope = (round_trip + waited).as_secs_f64() / (round_trip + frame.budget).as_secs_f64();
        if self.samples.is_empty() {
            // At the beginning, and after a pause longer than the window.
            self.cautious_until = self.cautious_until.max(now + self.config.cautious);
        }
        let sample = Sample { at: now, frame, ahead, waited, slope };
        self.samples.push_back(sample);
        self.count(&sample, 1);
    }

    /// Adds a sample to every candidate's sums, or takes it away.
    fn count(&mut self, sample: &Sample, sign: i64) {
        let Config { bound, .. } = self.config;
        for tally in &mut self.candidates {
            let more = tally.budget - sample.frame.budget;
            let empty = (-(sample.ahead + more)).max(Span::ZERO).min(sample.frame.interval);
            let waited = (sample.waited + more.scale(sample.slope)).max(Span::ZERO);
            tally.empty += empty * sign;
            tally.late += if waited > bound { sample.frame.interval * sign } else { Span::ZERO };
            tally.waited += waited.min(bound * 10) * sign;
        }
    }

    /// The budget with the least cost.
    fn best(&self) -> Span {
        if self.samples.is_empty() {
            return self.initial;
        }
        let Config { bound, late, waiting, .. } = self.config;
        let intervals: Span = self.samples.iter().map(|sample| sample.frame.interval).sum();
        let waiting = waiting * intervals.as_secs_f64() / (self.samples.len() as f64 * bound.as_secs_f64());
        let cost = |tally: &Tally| tally.empty + tally.late.scale(late) + tally.waited.scale(waiting);
        let best = self.candidates.iter().min_by_key(|tally| cost(tally));
        best.map_or(self.initial, |tally| tally.budget)
    }
}
