//! Every picture at a target rate, with safeguards: the policy of all schemes that steer a conventional encoder.

use alloc::collections::VecDeque;
use alloc::vec;

use thalweg_control::Demand;
use thalweg_types::{EncodePlan, EncodedFrame, Target};
use thalweg_units::{Bytes, ConfigError, Rate, Size, Span, Time, above, above_to, check};

use super::headroom::{self, Headroom};
use super::policy::{FramePlan, FramePolicy, FrameSent, Occasion, QueueVerdict, QueueView, View};
use super::pushback::Pushback;
use super::resolution::{self, Resolution, Signals};
use super::safeguards::{self, Safeguards};
use super::share::Share;
use super::target_forecast::{self, TargetForecast};
use crate::event::Why;

/// The queue, in time at the pacer's rate, beyond which libwebrtc stops the encoder (`congestion_control_handler.cc`,
/// `kMaxExpectedQueueLength`).
pub(crate) const MAX_EXPECTED_QUEUE: Span = Span::from_secs(2);

/// Base of the encoder's target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum TargetBase {
    /// The controller's capacity less what headers and retransmissions take, as WebRTC allocates.
    #[default]
    CapacityLessOverhead,
    /// The pacer's rate (CC-Rate) less what headers and retransmissions take, as WebRTC allocates.
    PacingRateLessOverhead,
    /// The pacer's rate (CC-Rate), as in Vidaptive's paper; alpha leaves room for headers as for everything else.
    PacingRate,
}

/// The configuration; an ablation leaves parts out.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The rate that the target is computed from.
    pub base: TargetBase,
    /// Forecasts that rate and aims at the forecast; `None` aims at its present value.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub target_forecast: Option<target_forecast::Config>,
    /// How much to subtract so that the sender's own queue empties; `None` subtracts nothing.
    #[cfg_attr(feature = "serde", serde(default))]
    pub reserve: Option<Reserve>,
    /// Pause and reset; [`safeguards::Config::NONE`] for none.
    pub safeguards: safeguards::Config,
    /// Encode nothing while the queue holds more than the pacer sends in this time: libwebrtc's emergency stop
    /// (`congestion_control_handler.cc` sets the target to 0 while the pacer's expected queue exceeds
    /// `kMaxExpectedQueueLength`, 2 s); `None` for no bound.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub queue_limit: Option<Span>,
    /// The alpha optimiser; `None` keeps alpha at 1.
    pub headroom: Option<headroom::Config>,
    /// How the size is chosen.
    pub resolution: resolution::Config,
    /// The encoder's bounds, applied after alpha.
    pub encoder: EncoderBounds,
    /// Lets the encoder's rate control drop pictures, as WebRTC does. Not under Vidaptive: in an outage alpha takes the
    /// target to a few kbps, the encoder then drops nearly everything, and N/T stays under MinFrameRate long after the
    /// link is back (seen: 4 s on the 2 Mbps / 500 kbps link).
    pub encoder_drops: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            base: TargetBase::default(),
            target_forecast: None,
            reserve: None,
            safeguards: safeguards::Config::NONE,
            queue_limit: None,
            headroom: None,
            resolution: resolution::Config::Fixed,
            encoder: EncoderBounds::default(),
            encoder_drops: true,
        }
    }
}

/// How much of the base is held back.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Reserve {
    /// Camel's headroom, and enough to drain the queue in time.
    Drain(Share),
    /// While the queue holds more than the pacer sends in `beyond`, the base is multiplied by `share` (specs/bbr.md 6:
    /// 50 ms, 0.85).
    Cut {
        /// The allowed queue, in time at the pacer's rate.
        beyond: Span,
        /// The share that remains, 0..1.
        share: f64,
    },
}

impl Reserve {
    fn checked(self) -> Result<Reserve, ConfigError> {
        let (name, share) = match self {
            Reserve::Drain(share) => ("reserve.headroom", share.headroom),
            Reserve::Cut { share, .. } => ("reserve.share", share),
        };
        check(name, share).within(above_to(0.0, 1.0), "0.95")?;
        let longest = match self {
            Reserve::Drain(share) => share.drain_within.unwrap_or(Span::MAX),
            Reserve::Cut { beyond, .. } => beyond,
        };
        check("reserve", longest).within(above(Span::ZERO), "250ms")?;
        Ok(self)
    }

    /// The part of `base` that remains, given the queue in `view`, of which `fresh` bytes have only just been encoded: where
    /// encoding takes longer than the camera's interval, each picture waits for the frame before it.
    fn leaves(&self, base: Rate, view: &View, fresh: Bytes) -> Rate {
        match *self {
            Reserve::Drain(share) => share.rate(base, view.queue.bytes.saturating_sub(fresh), Rate::ZERO, Rate::ZERO),
            Reserve::Cut { beyond, share } if view.queue.bytes > view.pacing.over(beyond) => base.scale(share),
            Reserve::Cut { .. } => base,
        }
    }
}

/// The range of rates an encoder can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct EncoderBounds {
    /// Min target rate (libwebrtc's minimum, 30 kbps).
    pub min: Rate,
    /// Max target rate (specs/vidaptive.md: 12 Mbps).
    pub max: Rate,
    /// The rate at which the controller need not look for more; `None` for `max`. More than `max` leaves the encoder its
    /// max rate although headers, repair and headroom come off the estimate.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub demand: Option<Rate>,
}

impl Default for EncoderBounds {
    fn default() -> EncoderBounds {
        EncoderBounds { min: Rate::from_kbps(30), max: Rate::from_kbps(12_000), demand: None }
    }
}

impl EncoderBounds {
    /// The bounds as the controller takes them.
    pub(super) fn demand(self) -> Demand {
        Demand { min: self.min, max: self.demand.unwrap_or(self.max) }
    }

    /// Checks that the bounds are ordered.
    ///
    /// # Errors
    /// When the bounds are not in order.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check("encoder bounds", format_args!("{} to {}", self.min, self.max))
            .is(self.min <= self.max && self.max != Rate::ZERO, "min <= max and max above 0")?;
        let demand = self.demand.unwrap_or(self.max);
        check("encoder.demand", demand)
            .is(demand >= self.min, "at least encoder.min, such as 1.2 times encoder.max")?;
        Ok(())
    }
}

fn checked_limit(limit: Option<Span>) -> Result<Option<Span>, ConfigError> {
    check("queue_limit", limit.unwrap_or(Span::MAX)).within(above(Span::ZERO), "2s, or absent")?;
    Ok(limit)
}

impl Config {
    /// Builds the policy for a camera of this size.
    ///
    /// # Errors
    /// When a part's parameter is out of range, or the encoder's bounds are the wrong way round.
    pub fn build(&self, source: Size) -> Result<RateTargeted, ConfigError> {
        self.encoder.check()?;
        Ok(RateTargeted {
            base: self.base,
            target_forecast: self.target_forecast.map(target_forecast::Config::build).transpose()?,
            reserve: self.reserve.map(Reserve::checked).transpose()?,
            safeguards: self.safeguards.build()?,
            queue_limit: checked_limit(self.queue_limit)?,
            headroom: self.headroom.map(headroom::Config::build).transpose()?,
            resolution: self.resolution.build(source)?,
            encoder: self.encoder,
            encoder_drops: self.encoder_drops,
            alphas: VecDeque::new(),
            pushback: Pushback::default(),
            target: self.encoder.min,
            newest: (Time::ZERO, Bytes::ZERO),
        })
    }
}

/// See the module.
#[derive(Debug, Clone)]
pub struct RateTargeted {
    base: TargetBase,
    target_forecast: Option<TargetForecast>,
    reserve: Option<Reserve>,
    safeguards: Safeguards,
    queue_limit: Option<Span>,
    headroom: Option<Headroom>,
    resolution: Resolution,
    encoder: EncoderBounds,
    encoder_drops: bool,
    /// alpha by frame, for frames queued and not completely sent: alpha_i is the one in force at encoding.
    alphas: VecDeque<(u64, f64)>,
    pushback: Pushback,
    target: Rate,
    /// When the last frame was encoded, and its size.
    newest: (Time, Bytes),
}

impl RateTargeted {
    fn alpha(&self) -> f64 {
        self.headroom.as_ref().map_or(1.0, Headroom::alpha)
    }

    fn update(&mut self, view: &View) {
        let mut outage = false;
        if let Some(headroom) = &mut self.headroom {
            headroom.update(view.now, view.interval);
            outage = headroom.outage(view.now);
        }
        let base = match self.base {
            TargetBase::CapacityLessOverhead => view.limits.capacity,
            TargetBase::PacingRateLessOverhead | TargetBase::PacingRate => view.pacing,
        };
        let base = self.target_forecast.as_mut().map_or(base, |target_forecast| target_forecast.of(view.now, base));
        let fresh = if self.newest.0 == view.now { self.newest.1 } else { Bytes::ZERO };
        let base = self.reserve.map_or(base, |reserve| reserve.leaves(base, view, fresh));
        let base = match self.base {
            TargetBase::PacingRate => base,
            _ => base.scale(view.payload_share),
        };
        let target = base.scale(self.alpha()).clamp(self.encoder.min, self.encoder.max);
        self.target = self.pushback.update(view.limits.media.share(), target, self.encoder.min);
        let signals =
            Signals { now: view.now, outage, alpha: self.alpha(), target: self.target, interval: view.interval };
        self.resolution.on_camera(&signals);
    }

    fn encode(&mut self, view: &View) -> FramePlan {
        if let Some(headroom) = &mut self.headroom {
            headroom.on_encoded(view.now);
        }
        // The camera's interval, although pushback leaves pictures out: libwebrtc gives its encoder the frame rate of its
        // input.
        let plan = EncodePlan::new(vec![Target::Rate(self.target)], self.resolution.size(), view.interval);
        FramePlan::Encode(plan.with(|plan| plan.may_drop = self.encoder_drops))
    }
}

impl FramePolicy for RateTargeted {
    fn demand(&self) -> Option<Demand> {
        Some(self.encoder.demand())
    }

    fn plan(&mut self, view: &View) -> FramePlan {
        // A picture that waited for the encoder is seen here for the first time, as if it had just been read.
        if view.occasion != Occasion::QueueEmpty {
            self.update(view);
        }
        if self.safeguards.paused() {
            return FramePlan::Hold(Why::QueueOld);
        }
        if view.occasion == Occasion::QueueEmpty && !self.safeguards.still_fresh(view.picture_age, view.interval) {
            return FramePlan::Skip(Why::PictureOld);
        }
        if self.queue_limit.is_some_and(|limit| view.queue.bytes > view.pacing.over(limit)) {
            return FramePlan::Skip(Why::QueueLong);
        }
        if self.pushback.drops() {
            return FramePlan::Skip(Why::Pushback);
        }
        self.encode(view)
    }

    fn choose(&mut self, view: &View, candidates: &[EncodedFrame]) -> Option<usize> {
        self.resolution.on_encoded(view.now, candidates.first());
        (!candidates.is_empty()).then_some(0)
    }

    fn on_queued(&mut self, now: Time, frame: u64, encoded: &EncodedFrame, _packets: u16) {
        self.newest = (now, encoded.size);
        if self.headroom.is_some() {
            self.alphas.push_back((frame, self.alpha()));
        }
    }

    fn on_frame_sent(&mut self, sent: &FrameSent) {
        while let Some((frame, alpha)) = self.alphas.front().copied() {
            if frame > sent.frame {
                break;
            }
            self.alphas.pop_front();
            // Older frames in the list lost packets in a reset: their delay is unknown and gives no sample.
            if let Some(headroom) = self.headroom.as_mut().filter(|_| frame == sent.frame) {
                headroom.on_frame_sent(sent.at, sent.delay, alpha);
            }
        }
    }

    fn on_queue(&mut self, now: Time, queue: &QueueView) -> QueueVerdict {
        self.safeguards.on_queue(now, queue)
    }

    fn next_timeout(&self, queue: &QueueView) -> Time {
        self.safeguards.next_timeout(queue)
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        if let Some(headroom) = &self.headroom {
            see("alpha", headroom.alpha());
        }
        if let Some(target_forecast) = &self.target_forecast {
            see("target_forecast_ratio", target_forecast.ratio());
        }
        see("paused", f64::from(u8::from(self.safeguards.paused())));
        see("height", f64::from(self.resolution.size().height));
        see("target_bps", self.target.as_bps_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_control::{MediaLimit, SendLimits};

    #[test]
    fn nothing_is_encoded_while_the_queue_holds_more_than_two_seconds() {
        let source = Size { width: 1280, height: 720 };
        let config = Config { queue_limit: Some(Span::from_secs(2)), ..Config::default() };
        let mut policy = config.build(source).unwrap();
        let mut plan = |bytes| {
            let limits = SendLimits::of_rate(Rate::from_kbps(400));
            let mut view = View::new(Time::ZERO, limits, source, Span::from_millis(33));
            view.pacing = Rate::from_kbps(400);
            view.queue = QueueView { bytes: Bytes::new(bytes), packets: 80, oldest: Some(Time::ZERO) };
            policy.plan(&view)
        };
        // 400 kbps for two seconds are 100 kB.
        assert_eq!(plan(100_001), FramePlan::Skip(Why::QueueLong));
        assert!(matches!(plan(100_000), FramePlan::Encode(_)));
        assert!(Config { queue_limit: Some(Span::ZERO), ..Config::default() }.build(source).is_err());
    }

    #[test]
    fn a_frame_that_was_encoded_at_this_moment_is_no_queue_to_be_drained() {
        let source = Size { width: 1280, height: 720 };
        let reserve = Some(Reserve::Drain(Share { headroom: 1.0, drain_within: Some(Span::from_millis(100)) }));
        let mut policy = Config { reserve, ..Config::default() }.build(source).unwrap();
        let mut target = |now: u64, queued: u64| {
            let limits = SendLimits::of_rate(Rate::from_kbps(2000));
            let mut view = View::new(Time::from_millis(now), limits, source, Span::from_millis(33));
            view.queue = QueueView { bytes: Bytes::new(queued), packets: 5, oldest: Some(Time::ZERO) };
            policy.on_queued(Time::from_millis(40), 0, &crate::testing::encoded(5000), 5);
            let FramePlan::Encode(plan) = policy.plan(&view) else { panic!("it is encoded") };
            plan.targets[0]
        };
        assert_eq!(target(40, 5000), Target::Rate(Rate::from_kbps(2000)));
        // 5 kB in 100 ms are 400 kbps.
        assert_eq!(target(40, 10_000), Target::Rate(Rate::from_kbps(1600)));
        assert_eq!(target(73, 5000), Target::Rate(Rate::from_kbps(1600)));
    }

    #[test]
    fn the_encoder_is_told_the_cameras_interval_although_push_back_leaves_every_second_picture_out() {
        let source = Size { width: 1280, height: 720 };
        let mut policy = Config::default().build(source).unwrap();
        let mut limits = SendLimits::of_rate(Rate::from_kbps(400));
        limits.media = MediaLimit::Share(0.0);
        let interval = Span::from_millis(33);
        let view = |picture: u64| View {
            next_frame: picture,
            ..View::new(Time::from_millis(33 * picture), limits, source, interval)
        };
        let plans: vec::Vec<FramePlan> = (0..10).map(|picture| policy.plan(&view(picture))).collect();
        let encoded = plans.iter().filter_map(|plan| match plan {
            FramePlan::Encode(plan) => Some((plan.interval, plan.targets[0])),
            _ => None,
        });
        let encoded: vec::Vec<_> = encoded.collect();
        assert_eq!(encoded, [(interval, Target::Rate(Rate::from_kbps(200))); 5]);
    }
}
