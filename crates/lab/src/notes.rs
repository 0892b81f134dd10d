//! Notes of what a scenario sets and a sender, its codec or its receiver cannot obey: what is set is obeyed or said.

use std::fmt;

use thalweg_codecs::Codec;
use thalweg_control::{Demand, Signal};
use thalweg_netsim::{HopConfig, QueueConfig};
use thalweg_sender::{FeedbackStyle, Parts, SenderFactory};
use thalweg_units::{ConfigError, FrameRate, Rate, Size, Span};
use thalweg_video::Video;
use thalweg_video::quality::Ssim;
use thalweg_video::source::SceneConfig;

use crate::bound::Bound;
use crate::scenario::{Competitor, Paused, Route, Scenario, What};

/// A setting without effect, or with less than it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Its field of the scenario, such as `undershoot`.
    pub field: &'static str,
    /// Its value.
    pub value: String,
    /// The reason, and what to do instead.
    pub why: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} has no effect: {}", self.field, self.value, self.why)
    }
}

/// A sender of a scenario, as far as what is set concerns it.
pub(crate) struct Of<'a> {
    /// Its flow; that of the sender under test is 0.
    pub(crate) flow: u16,
    pub(crate) video: &'a Video,
    pub(crate) feedback: FeedbackStyle,
    pub(crate) parts: &'a Parts,
}

/// The fix where an encoder model reads no pictures.
const REAL: &str = "leave it out, or take a real encoder, such as vp8";

#[derive(Default)]
struct Notes(Vec<Note>);

impl Notes {
    /// Notes that `value` of a field has no effect, if that `holds`.
    fn add(&mut self, holds: bool, field: &'static str, value: impl fmt::Display, why: impl fmt::Display) {
        if holds {
            self.0.push(Note { field, value: value.to_string(), why: why.to_string() });
        }
    }
}

impl Scenario {
    /// Settings without effect on this sender, as far as that is known before it is played.
    ///
    /// # Errors
    /// When a parameter of the sender is out of range.
    pub fn notes(&self, sender: &dyn SenderFactory) -> Result<Vec<Note>, ConfigError> {
        if Bound::is_named_by(sender.name()) {
            return Ok(of_bound(self));
        }
        let parts = sender.parts(self.video.size.unwrap_or(Size::HD))?;
        let feedback = self.feedback.unwrap_or(sender.feedback());
        Ok(of(self, &Of { flow: 0, video: &self.video, feedback, parts: &parts }))
    }
}

/// Settings of a scenario without effect on a sender.
pub(crate) fn of(scenario: &Scenario, sender: &Of<'_>) -> Vec<Note> {
    let mut notes = Notes::default();
    of_codec(scenario, sender, &mut notes);
    of_quality(scenario, &mut notes);
    let why = "frames of this sender refer to the one before them anyway, or say what they refer to in another way";
    notes.add(
        scenario.in_order && !sender.parts.needs_descriptors(),
        "in_order",
        true,
        format_args!("{why}: leave it out"),
    );
    let controller = &sender.parts.controller;
    for change in &scenario.changes {
        let What::Bounds { flow, min, max } = change.what else { continue };
        let obeys = controller.obeys(&Signal::Bounds(Demand { min, max }));
        let why = "the controller keeps to max, and goes below min where it must";
        notes.add(flow == sender.flow && min > Rate::ZERO && !obeys, "changes.what.bounds.min", min, why);
    }
    if let Some(every) = scenario.request_feedback_every {
        let on_request = matches!(sender.feedback, FeedbackStyle::TwccOnRequest | FeedbackStyle::CcfbOnRequest);
        let why = format!("reports of the kind {} come unasked", sender.feedback.name());
        notes.add(!on_request, "request_feedback_every", every, why);
    }
    if sender.flow == 0 {
        of_times(scenario, &mut notes);
        of_microphones(scenario, &mut notes);
        of_links(scenario, &mut notes);
    }
    notes.0
}

/// Settings of a scenario without effect on a [`Bound`], which refuses most of the rest.
pub(crate) fn of_bound(scenario: &Scenario) -> Vec<Note> {
    let mut notes = Notes::default();
    of_candidates(&scenario.codec, &mut notes);
    let why = "the encoder of a bound meets every size: leave it out";
    notes.add(!scenario.undershoot.is_none(), "undershoot", &scenario.undershoot, why);
    let limited = scenario.forward.hops.iter().any(|hop| match hop {
        HopConfig::Bottleneck { queue, .. } | HopConfig::Rate { queue, .. } => *queue != QueueConfig::Infinite,
        _ => false,
    });
    let why = "packets of a bound wait as long as they like: leave it out";
    notes.add(limited, "forward.hops.queue", "with a limit", why);
    notes.0
}

fn of_codec(scenario: &Scenario, sender: &Of<'_>, notes: &mut Notes) {
    let (codec, video, frames) = (&scenario.codec, sender.video, &sender.parts.frames);
    let (source, is_scene) = (&video.source, SceneConfig::is_named_by(&video.source));
    let why = format!("the encoder {codec} looks at no pictures, only at what --size and --frame-rate set: {REAL}");
    notes.add(codec.is_model() && source != "scene", "video.source", source, why);
    let kept = !is_scene && !video.retimed && video.frame_rate != FrameRate::whole(30);
    notes.add(kept, "video.frame_rate", video.frame_rate, "a file plays at its own; retimed = true converts it");
    let why = "the scene never ends: leave it out";
    notes.add(is_scene && video.there_and_back, "video.there_and_back", video.there_and_back, why);
    let by_quality = "frames are asked for by their quantiser, which is no amount to stay below: leave it out, or play \
                      another scheme";
    let undershoot = &scenario.undershoot;
    notes.add(!undershoot.is_none() && frames.asks_for_quantizers(), "undershoot", undershoot, by_quality);
    if !frames.wants_candidates() {
        return;
    }
    of_candidates(codec, notes);
    let one_by_one = "frames are asked for one by one, not by a rate";
    match codec {
        Codec::Functional(set) => {
            let usual = thalweg_codecs::functional::Settings::default();
            let differs = |differs: bool, name, value: &dyn fmt::Display, notes: &mut Notes| {
                notes.add(differs, name, value, one_by_one);
            };
            differs(set.rate_window != usual.rate_window, "codec.functional.rate_window", &set.rate_window, notes);
            let percent = set.keyframe_percent;
            differs(percent != usual.keyframe_percent, "codec.functional.keyframe_percent", &percent, notes);
            let finest = set.min_quantizer;
            let is_set = finest != usual.min_quantizer && frames.asks_for_quantizers();
            notes.add(is_set, "codec.functional.min_quantizer", finest, "frames are asked for by their quantiser");
        }
        Codec::Model(set) => {
            let usual = thalweg_codecs::model::Config::default();
            notes.add(set.lag != usual.lag, "codec.model.lag", "of its own", one_by_one);
            notes.add(set.account != usual.account, "codec.model.account", "of its own", one_by_one);
        }
        _ => {}
    }
}

/// A codec that makes one frame of a picture, for a sender that chooses among several.
fn of_candidates(codec: &Codec, notes: &mut Notes) {
    let played = codec.functional();
    let why = format!("the sender chooses among several frames of a picture, and plays {played}: leave it out");
    notes.add(played.name() != codec.name(), "codec", codec, why);
}

/// Metrics that compare pixels, where there are none.
fn of_quality(scenario: &Scenario, notes: &mut Notes) {
    let why = match (scenario.codec.is_model(), scenario.measure_quality) {
        (false, true) => return,
        (true, _) => format!("it compares pixels, and an encoder model has none: {REAL}"),
        (false, false) => "measure_quality is false".into(),
    };
    notes.add(scenario.vmaf, "vmaf", true, &why);
    notes.add(scenario.ms_ssim, "ms_ssim", true, &why);
    notes.add(scenario.ssim != Ssim::Window, "ssim", "daala", &why);
}

/// Events after the end of the run.
fn of_times(scenario: &Scenario, notes: &mut Notes) {
    let end = scenario.duration;
    let why = format!("the run ends at {end}");
    let mut late = |field, at: Span| notes.add(at >= end, field, at, &why);
    scenario.changes.iter().for_each(|change| late("changes.at", change.at));
    scenario.pauses.iter().for_each(|pause| late("pauses.from", pause.from));
    for competitor in &scenario.competitors {
        match competitor {
            // Refused.
            Competitor::Sender(_) => {}
            Competitor::Datagrams(traffic) => late("competitors.datagrams.from", traffic.from),
            Competitor::Tcp(traffic) => late("competitors.tcp.from", traffic.from),
            Competitor::Web(traffic) => late("competitors.web.from", traffic.from),
        }
    }
}

/// Pauses of a microphone that is not there.
fn of_microphones(scenario: &Scenario, notes: &mut Notes) {
    for pause in &scenario.pauses {
        let silent = scenario.audio.is_none() && pause.what == Paused::Microphone;
        notes.add(silent, "pauses.what", "microphone", "no audio is sent: set audio");
    }
}

/// Links and media that no flow crosses.
fn of_links(scenario: &Scenario, notes: &mut Notes) {
    let later = scenario.changes.iter().filter_map(|change| match &change.what {
        What::Route { route, .. } => Some(route),
        _ => None,
    });
    let ways = |route: &Route| route.forward.iter().chain(&route.reverse).cloned().collect::<Vec<_>>();
    let crossed: Vec<String> = scenario.routes.iter().chain(later).flat_map(ways).collect();
    let why = "no flow's route crosses it";
    for link in &scenario.links {
        notes.add(!crossed.contains(&link.name), "links", &link.name, why);
    }
    for medium in &scenario.media {
        let is_port = |name: &String| name.split(' ').next() == Some(medium.name.as_str());
        notes.add(!crossed.iter().any(is_port), "media", &medium.name, why);
    }
}
