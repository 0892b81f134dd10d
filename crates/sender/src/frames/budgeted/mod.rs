//! Frames that spend what is free on the path (docs/thalweg.md): a candidate, or several, of given shares of it is
//! encoded, and the largest that still fits at the moment of sending is sent.
//!
//! A picture is skipped only where not even a packet fits. Then a single small frame may go, one at a time, for its
//! outcome says when the path serves again; while nothing arrives at all, one every now and then. A ladder of sizes
//! keeps the smallest frame below the budget. What has waited too long in the sender is thrown away.

mod before_next;
mod encoding;
mod ladder;
mod opening;
mod silence;
mod undershoot;

use alloc::vec;
use alloc::vec::Vec;

use thalweg_control::Feedback;
use thalweg_types::feedback::DecoderReport;
use thalweg_types::{EncodePlan, EncodedFrame, Target};
use thalweg_units::{Bytes, ConfigError, Rate, Size, Span, Time, above, above_to, check};

use super::cap::Cap;
use super::policy::{FramePlan, FramePolicy, FrameSent, QueueVerdict, QueueView, RepairSent, View};
use super::rate_targeted::EncoderBounds;
use super::recovery::{self, Recovery};
use super::safeguards::{self, Safeguards};
use crate::event::Why;
use before_next::BeforeNext;
use encoding::Encoding;
use ladder::Ladder;
pub use ladder::LadderConfig;
use opening::Opening;
pub use opening::OpeningConfig;
use silence::Silence;
use undershoot::Undershoot;

/// The parts.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The candidates, as shares of what is free, largest first. One is enough: a second of half the size was sent in one
    /// picture of a hundred, changed no figure, and doubles the encoder's work.
    pub shares: Vec<f64>,
    /// The interval of pictures that the shares are for: pictures farther apart take as much more as so many of them would
    /// have taken one after the other. `None` for the same share at any interval.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub shares_for: Option<Span>,
    /// The encoding time that the shares are for: while a picture is encoded for longer, the path goes on, and what it has
    /// carried by then is free when the frame leaves. `100s`, say, for what is free before encoding.
    pub encodes_in: Span,
    /// An encoder that makes less than it is asked for, while its quantisers are coarse, is asked for up to so many times
    /// as much; 1 for no more than is wanted.
    pub asks_up_to: f64,
    /// No candidate takes more than the path carries in this many intervals of the camera: frames of like sizes arrive
    /// evenly, and a large one delays those behind it.
    pub intervals: f64,
    /// Least share of an interval: a frame of a camera whose pictures are at least one and a half times as far apart as
    /// `shares_for` takes no more than the path carries before the next picture is taken, if the way and the codecs leave
    /// that much of the interval. `None` for frames of all of it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub before_next: Option<f64>,
    /// No candidate is asked for that is smaller: what one packet carries costs a whole packet.
    pub least: Bytes,
    /// The encoder's max rate: no frame is larger than what it has left ([`CAP_DEPTH`](super::CAP_DEPTH)). `None` for none.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub max_rate: Option<Rate>,
    /// A frame that does not fit is sent only if what is under way, itself included, drains within this time.
    pub forced_within: Span,
    /// Nothing has arrived for this long beyond a round trip: the path has faded.
    pub silence: Span,
    /// While it has, one frame of `least` bytes is sent per this time; with each picture where the last fade was a burst of
    /// losses.
    pub probe_every: Span,
    /// The sizes; `None` for the camera's alone.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub ladder: Option<LadderConfig>,
    /// The first second; `None` where it is as any other.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub opening: Option<OpeningConfig>,
    /// How many candidates are encoded in parallel.
    pub cores: u8,
    /// How the sender recovers from a loss.
    pub recovery: recovery::Config,
    /// When the sender's queue is thrown away.
    pub safeguards: safeguards::Config,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            shares: vec![0.2],
            shares_for: None,
            // 720p by `CodecTime::default()`, rounded up.
            encodes_in: Span::from_millis(6),
            asks_up_to: 4.0,
            intervals: 1.3,
            before_next: None,
            least: Bytes::new(600),
            max_rate: Some(EncoderBounds::default().max),
            forced_within: Span::from_millis(220),
            silence: Span::from_millis(50),
            probe_every: Span::from_millis(150),
            ladder: Some(LadderConfig::default()),
            opening: Some(OpeningConfig::default()),
            cores: 2,
            recovery: recovery::Config::Stateful(recovery::stateful::Config::default()),
            safeguards: safeguards::Config { reset: Some(Span::from_millis(300)), ..safeguards::Config::NONE },
        }
    }
}

/// Repair counts for no more than this share in the encoder's max rate: three packets for each of media
/// (`repair::fec::Config::max_per_packet`).
const MOST_REPAIR: f64 = 0.75;
/// A camera is slow whose pictures are this many times as far apart as those that the shares are for: 50 ms.
const SLOW: f64 = 1.5;
/// Max number of candidates.
const MAX_CANDIDATES: usize = 8;

impl Config {
    /// The policy before the first picture of a camera of this size.
    ///
    /// # Errors
    /// When a part's parameter is out of range.
    pub fn build(&self, source: Size) -> Result<Budgeted, ConfigError> {
        let shares = &self.shares;
        let are_shares =
            shares.iter().all(|share| *share > 0.0 && share.is_finite()) && shares.is_sorted_by(|a, b| a >= b);
        check("budgeted.shares", format_args!("{shares:?}")).is(
            are_shares && (1..=MAX_CANDIDATES).contains(&shares.len()),
            "1 to 8 shares above 0, largest first, such as [0.4, 0.2]",
        )?;
        check("budgeted.intervals", self.intervals).within(above_to(0.0, 100.0), "1.2")?;
        check("budgeted.before_next", self.before_next.unwrap_or(1.0)).within(above_to(0.0, 1.0), "0.55, or absent")?;
        check("budgeted.asks_up_to", self.asks_up_to).within(1.0..=100.0, "4")?;
        check("budgeted.least", self.least).within(above(Bytes::ZERO), "600B")?;
        check("budgeted.max_rate", self.max_rate.unwrap_or(Rate::MAX))
            .within(above(Rate::ZERO), "12Mbps, or absent")?;
        check("budgeted.shares_for", self.shares_for.unwrap_or(Span::MAX))
            .within(above(Span::ZERO), "33.3ms, or absent")?;
        check("budgeted.cores", self.cores).within(above(0), "2")?;
        for (name, value) in [
            ("budgeted.encodes_in", self.encodes_in),
            ("budgeted.forced_within", self.forced_within),
            ("budgeted.silence", self.silence),
            ("budgeted.probe_every", self.probe_every),
        ] {
            check(name, value).within(above(Span::ZERO), "the default")?;
        }
        Ok(Budgeted {
            ladder: self.ladder.as_ref().map(|ladder| ladder.build(source)).transpose()?,
            opening: self.opening.map(OpeningConfig::build).transpose()?,
            recovery: self.recovery.build()?,
            safeguards: self.safeguards.build()?,
            cap: Cap::new(self.max_rate),
            config: self.clone(),
            before_next: BeforeNext::default(),
            silence: Silence::default(),
            forced: None,
            forcing: false,
            keyframe: None,
            asked: Bytes::ZERO,
            undershoot: Undershoot::new(self.asks_up_to),
            planned: None,
            encoding: Encoding::default(),
            free: Bytes::ZERO,
            repair_share: 0.0,
            skips: 0,
        })
    }
}

/// A frame that was sent although it did not fit.
#[derive(Debug, Clone, Copy)]
struct Forced {
    /// Its number.
    frame: u64,
    at: Time,
    /// True if its outcome is known.
    answered: bool,
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Budgeted {
    config: Config,
    cap: Cap,
    ladder: Option<Ladder>,
    opening: Option<Opening>,
    recovery: Recovery,
    safeguards: Safeguards,
    before_next: BeforeNext,
    silence: Silence,
    /// The last forced frame.
    forced: Option<Forced>,
    /// True if the frame just chosen does not fit.
    forcing: bool,
    /// The last keyframe, as long as it is under way: little is free then, which says nothing of the next frames.
    keyframe: Option<u64>,
    /// The size asked for of the smallest candidate.
    asked: Bytes,
    undershoot: Undershoot,
    /// When the picture that is encoded was planned.
    planned: Option<Time>,
    encoding: Encoding,
    free: Bytes,
    /// Share of repair when the last picture was chosen.
    repair_share: f64,
    skips: u32,
}

impl Budgeted {
    fn size(&self, source: Size) -> Size {
        self.ladder.as_ref().map_or(source, Ladder::size)
    }

    /// Bytes that a frame may take: those that the controller leaves, and no more than the encoder's max rate has left,
    /// less its repair.
    fn free(&self, view: &View) -> Bytes {
        let most = self
            .opening(view.now)
            .map_or(Bytes::MAX, |opening| opening.most(view.limits.capacity).scale(view.payload_share));
        view.room().min(self.cap.room(view.now)).min(most).scale(1.0 - view.repair_share)
    }

    /// [`free`](Self::free) when a frame planned now leaves: by then the path has carried some of what is under way.
    fn free_after_encoding(&self, view: &View) -> Bytes {
        let longer = (self.encoding.mean() - self.config.encodes_in).max(Span::ZERO);
        let carried = view.limits.capacity.over(longer).min(view.in_flight).scale(view.payload_share);
        let free = self.free(view);
        // Where nothing is free, how much too much is under way is not known.
        if free == Bytes::ZERO { free } else { free + carried.scale(1.0 - view.repair_share) }
    }

    /// How many pictures of the interval that the shares are for would have been taken in that of the camera.
    fn frames(&self, view: &View) -> f64 {
        self.config.shares_for.map_or(1.0, |interval| view.interval.ratio(interval).max(1.0))
    }

    /// Bytes of a frame that is to be shown before the next picture is taken, where the camera is slow and they are enough.
    fn before_next(&self, view: &View) -> Option<Bytes> {
        let least = self.config.before_next.filter(|_| self.frames(view) >= SLOW)?;
        let left =
            self.before_next.left(view, self.encoding.mean()).filter(|left| *left >= view.interval.scale(least))?;
        Some(view.limits.capacity.over(left).scale(view.payload_share))
    }

    /// The opening while it lasts.
    fn opening(&self, now: Time) -> Option<&Opening> {
        self.opening.as_ref().filter(|opening| opening.lasts(now))
    }

    /// Returns true if nothing arrives although packets are in flight.
    fn is_silent(&self, view: &View) -> bool {
        self.silence.lasts(view, self.config.silence)
    }

    /// Returns true if a frame of `size` that does not fit may go.
    fn may_force(&self, view: &View, size: Bytes) -> bool {
        if view.queue.packets > 0 {
            return false;
        }
        if self.is_silent(view) {
            let every = if self.silence.was_burst() { Span::ZERO } else { self.config.probe_every };
            return self.forced.is_none_or(|forced| view.now - forced.at >= every);
        }
        let drains = view.limits.capacity.time_for(view.in_flight + size) <= view.srtt + self.config.forced_within;
        // A keyframe of the smallest size goes some time.
        let fits = drains || view.in_flight == Bytes::ZERO;
        fits && self.forced.is_none_or(|forced| forced.answered)
    }
}

impl FramePolicy for Budgeted {
    fn wants_candidates(&self) -> bool {
        true
    }

    fn names_references(&self) -> bool {
        self.recovery.names_references()
    }

    fn refer_to_the_last(&mut self) {
        self.recovery.refer_to_the_last();
    }

    fn expect_overtaking(&mut self) {
        self.recovery.expect_overtaking();
    }

    fn plan(&mut self, view: &View) -> FramePlan {
        self.forcing = false;
        let is_silent = self.is_silent(view);
        self.silence.on_picture(view, is_silent);
        self.free = self.free_after_encoding(view);
        self.planned = Some(view.now);
        if is_silent && !self.may_force(view, self.config.least) {
            self.skips += 1;
            return FramePlan::Skip(Why::NoFeedback);
        }
        let Config { least, cores, intervals, .. } = self.config;
        let most = view.limits.capacity.over(view.interval).scale(intervals * view.payload_share);
        let most = self.before_next(view).unwrap_or(most).min(most).min(self.encoding.most());
        let first = self.config.shares[0];
        // A new size begins with a keyframe: everything that is free for the first candidate.
        let whole = self.ladder.as_ref().is_some_and(Ladder::changes);
        let frames = self.frames(view);
        let of_all = |share: f64| if frames > 1.0 { 1.0 - libm::pow(1.0 - share.min(1.0), frames) } else { share };
        let opening = self.opening(view.now).map(Opening::share);
        let sized = |share: &f64| {
            let most = if whole { Bytes::MAX } else { most.scale(share / first) };
            let taken = opening.map_or(of_all(*share), |opening| of_all(*share).max(opening * share / first));
            self.free.scale(if whole { share / first } else { taken }).min(most).max(least)
        };
        let mut sizes: Vec<Bytes> =
            if is_silent { vec![least] } else { self.config.shares.iter().map(sized).collect() };
        sizes.dedup();
        self.asked = sizes.last().copied().unwrap_or(least);
        let asked = |size| if whole || is_silent { size } else { self.undershoot.asked(size) };
        let targets = sizes.into_iter().map(asked).map(Target::Size).collect();
        // A fade says nothing of the rate, and a keyframe is no probe.
        let size = self.ladder.as_ref().filter(|_| is_silent).map_or(self.size(view.source), Ladder::shown);
        let mut plan = EncodePlan::new(targets, size, view.interval).with(|plan| plan.cores = cores);
        self.recovery.plan(view.now, view.next_frame, is_silent, &mut plan);
        FramePlan::Encode(plan)
    }

    fn choose(&mut self, view: &View, candidates: &[EncodedFrame]) -> Option<usize> {
        self.free = self.free(view);
        self.repair_share = view.repair_share;
        let smallest = (0..candidates.len()).min_by_key(|index| candidates[*index].size)?;
        let made = &candidates[smallest];
        if let Some(planned) = self.planned.take() {
            let is_fine = self.ladder.as_ref().is_some_and(|ladder| ladder.is_fine(made.quantizer));
            self.encoding.on_encoded(view.now - planned, view.interval, made, is_fine);
        }
        let says_nothing = self.is_silent(view) || self.keyframe.is_some();
        if let Some(ladder) = self.ladder.as_mut().filter(|_| !says_nothing) {
            self.undershoot.on_made(self.asked, made, ladder.fine());
            let most = self.free + view.in_flight.scale(view.payload_share);
            ladder.on_encoded(self.encoding.mean().ratio(view.interval));
            ladder.on_candidates(view.now, candidates, self.free.max(self.asked), most);
            // A keyframe of a size that turned out too large, or that has to wait.
            let waits = made.size > self.free && made.size <= most;
            if made.keyframe && (made.picture != ladder.size() || (ladder.changes() && waits)) {
                self.skips += 1;
                return None;
            }
        }
        let fits = |index: &usize| candidates[*index].size <= self.free;
        // Among equally large ones the better, which was asked for first.
        let chosen = (0..candidates.len()).rev().filter(fits).max_by_key(|index| candidates[*index].size);
        if chosen.is_some() {
            return chosen;
        }
        self.forcing = self.may_force(view, made.size);
        if !self.forcing {
            self.skips += 1;
        }
        self.forcing.then_some(smallest)
    }

    fn on_queued(&mut self, now: Time, frame: u64, encoded: &EncodedFrame, packets: u16) {
        self.skips = 0;
        // With its repair: a peer that reports losses gets no more than the max rate.
        self.cap.on_queued(now, encoded.size.scale(1.0 / (1.0 - self.repair_share.min(MOST_REPAIR))));
        self.silence.on_queued(now);
        if core::mem::take(&mut self.forcing) {
            self.forced = Some(Forced { frame, at: now, answered: false });
        }
        if encoded.keyframe {
            self.keyframe = Some(frame);
        }
        if let Some(ladder) = &mut self.ladder {
            ladder.on_queued(now, encoded);
        }
        self.recovery.on_queued(frame, encoded, packets);
    }

    fn on_frame_sent(&mut self, sent: &FrameSent) {
        self.recovery.on_frame_sent(sent.frame);
    }

    fn on_repair_sent(&mut self, sent: &RepairSent) {
        self.recovery.on_repair_sent(sent);
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.silence.on_feedback(feedback);
        self.before_next.on_feedback(feedback);
        // Audio begins before video, and does not measure the path.
        if feedback.reports.iter().any(|report| report.arrival().is_some() && report.packet.place.is_some()) {
            let opens = self.opening.as_mut().is_some_and(|opening| opening.on_arrival(feedback.now));
            self.ladder.iter_mut().filter(|_| opens).for_each(Ladder::open);
        }
        let places = || feedback.reports.iter().filter_map(|report| report.packet.place);
        if let Some(forced) = &mut self.forced {
            forced.answered |= places().any(|place| place.frame >= forced.frame);
        }
        let is_over =
            |frame: &mut u64| places().any(|place| place.frame > *frame || (place.frame == *frame && place.last));
        self.keyframe.take_if(is_over);
        self.recovery.on_feedback(feedback);
    }

    fn on_decoder(&mut self, now: Time, report: &DecoderReport) {
        self.recovery.on_decoder(now, report);
    }

    fn on_flushed(&mut self, now: Time) -> bool {
        // Its outcome may never become known.
        (self.forced, self.keyframe) = (None, None);
        self.recovery.on_flushed(now)
    }

    fn is_recovering(&self, now: Time) -> bool {
        self.recovery.is_recovering(now)
    }

    fn poll_forgotten(&mut self) -> Option<u64> {
        self.recovery.poll_forgotten()
    }

    fn on_queue(&mut self, now: Time, queue: &QueueView) -> QueueVerdict {
        self.safeguards.on_queue(now, queue)
    }

    fn next_timeout(&self, queue: &QueueView) -> Time {
        self.safeguards.next_timeout(queue)
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("free kB", self.free.as_f64() / 1000.0);
        see("skips", f64::from(self.skips));
        if let Some(ladder) = &self.ladder {
            see("height", f64::from(ladder.size().height));
        }
    }
}

#[cfg(test)]
mod tests;
