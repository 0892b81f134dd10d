//! The bounds as senders in the simulator.

use thalweg_codecs::Codec;
use thalweg_codecs::model::{Config, Content, ContentPreset, Scatter, Variation};
use thalweg_control::fixed::{self, Fixed};
use thalweg_netsim::{FindTrace, HopConfig, PathConfig, QueueConfig};
use thalweg_sender::frames::{EncodePlan, EncodedFrame, FramePlan, FramePolicy, Target, View};
use thalweg_sender::pacing::PacingRate;
use thalweg_sender::{FeedbackStyle, Parts, SenderFactory, Why, pacing};
use thalweg_units::{Bytes, ConfigError, Rate, Size, Time, above, check};

use super::aim::Aim;
use super::known::Known;
use super::{Bound, Kind};
use crate::Undershoot;
use crate::scenario::Scenario;

/// A bound that was given the path of its run.
pub(crate) struct Placed {
    bound: Bound,
    known: Known,
}

/// The bound as a sender over the scenario's path, and the scenario it is played in: its encoder meets each size, and its
/// packets wait before the link as long as they like, as they could at a sender that releases each in time.
///
/// # Errors
/// When the scenario has no bound; the error says why and what to leave out.
pub(crate) fn placed(
    bound: &Bound,
    scenario: &Scenario,
    find: &mut FindTrace<'_>,
) -> Result<(Scenario, Placed), String> {
    let refused = |why: String| format!("{} is not defined here: {why}", bound.name());
    let known = Known::of(scenario, find).map_err(refused)?;
    if known.back.is_none() && matches!(bound.kind, Kind::Causal(_)) {
        return Err(refused(
            "feedback takes no fixed time: leave out the link, loss and jitter of the reverse path".into(),
        ));
    }
    let unlimited = |hop: &HopConfig| match hop.clone() {
        HopConfig::Bottleneck { trace, once, .. } => {
            HopConfig::Bottleneck { trace, once, queue: QueueConfig::Infinite }
        }
        HopConfig::Rate { rate, .. } => HopConfig::Rate { rate, queue: QueueConfig::Infinite },
        hop => hop,
    };
    let forward = PathConfig { hops: scenario.forward.hops.iter().map(unlimited).collect() };
    let (codec, undershoot) = (exact(&scenario.codec), Undershoot::None);
    Ok((Scenario { forward, codec, undershoot, ..scenario.clone() }, Placed { bound: bound.clone(), known }))
}

/// The functional form of a codec; of a model without the scatter of its sizes.
fn exact(codec: &Codec) -> Codec {
    let Codec::Model(config) = codec.functional() else { return codec.functional() };
    let none = Variation { deviation: 0.0, correlation: 0.0 };
    let content = config.content.content();
    let scatter = Scatter { steered: none, at_floor: none, cut_every: None, ..content.scatter };
    let content = ContentPreset::Custom(Content { scatter, ..content });
    Codec::Model(Config { content, ..config })
}

impl SenderFactory for Placed {
    fn name(&self) -> &str {
        self.bound.name()
    }

    fn parts(&self, source: Size) -> Result<Parts, ConfigError> {
        let aim = Aim::new(self.bound.kind, &self.known, source);
        if let Kind::Omniscient { within } = self.bound.kind {
            check(self.bound.name(), within).within(above(aim.encode()), "66ms, longer than encoding takes")?;
        }
        let mean = self.known.link.carries(Time::ZERO, self.known.end).per(self.known.end.since_start());
        let rate = Fixed::new(fixed::Config { rate: mean.max(Rate::from_bps(1)) })?;
        let mut parts = Parts::new(Box::new(rate), Box::new(Foresighted { aim, payload: Bytes::ZERO }));
        parts.pacing = pacing::Config { rate: PacingRate::Unpaced, ..pacing::Config::default() };
        // Nothing is unknown that a probe could show.
        parts.loss_detection.probe_packets = 0;
        Ok(parts)
    }

    fn feedback(&self) -> FeedbackStyle {
        FeedbackStyle::PerPacket
    }
}

/// Frames as large as what is known of the link.
struct Foresighted {
    aim: Aim,
    /// The most that the frame in the encoder may have.
    payload: Bytes,
}

impl FramePolicy for Foresighted {
    fn wants_candidates(&self) -> bool {
        true
    }

    fn plan(&mut self, view: &View) -> FramePlan {
        self.payload = self.aim.payload(view.now, view.now - view.picture_age, view.interval);
        if self.payload == Bytes::ZERO {
            return FramePlan::Skip(Why::NoCandidateFits);
        }
        FramePlan::Encode(EncodePlan::new(vec![Target::Size(self.payload)], view.source, view.interval))
    }

    /// A frame that the codec cannot make so small is sent only where nothing is in its way; a keyframe always, or there
    /// would be no video at all.
    fn choose(&mut self, view: &View, candidates: &[EncodedFrame]) -> Option<usize> {
        let fits = |frame: &EncodedFrame| frame.keyframe || frame.size <= self.payload;
        candidates.first().is_some_and(|frame| fits(frame) || self.aim.is_free(view.now)).then_some(0)
    }

    fn on_queued(&mut self, now: Time, _frame: u64, encoded: &EncodedFrame, packets: u16) {
        self.aim.sent(now, encoded.size, packets);
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("room kB", self.payload.as_f64() / 1000.0);
    }
}
