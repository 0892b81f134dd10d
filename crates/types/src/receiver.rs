//! Kinds of receivers: what they report, and how they handle frames.

use core::fmt;

use thalweg_control::estimate::MeasurementConfig;
use thalweg_control::estimate::{Grace, Smoothing};
use thalweg_units::Span;

/// Kind of the receiver's reports, and their frequency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum FeedbackStyle {
    /// Every packet at once, and before it what is missing: assumed by the papers' window controllers.
    PerPacket,
    /// Transport-wide feedback as Chromium sends it: every 62 ms (specs/measured.md 1), 250 us ticks.
    Twcc,
    /// Transport-wide feedback when a packet asks for it ([`Packet::requests_feedback`](crate::Packet::requests_feedback)), and
    /// 62 ms after one that does not.
    TwccOnRequest,
    /// RFC 8888 every 31 ms (specs/measured.md 1), 1/1024 s ticks with hold times.
    Ccfb,
    /// RFC 8888 when a packet asks for it, at most each 5 ms, and 10 ms after one that does not: marks are answered within
    /// a round trip (specs/l4s.md 4.1).
    CcfbOnRequest,
    /// RFC 8888 as libwebrtc has it since 2026: as a frame ends, 25 ms after the last report at the earliest, and 25 ms after
    /// the first packet not reported otherwise (specs/l4s.md 4.1).
    CcfbByFrame,
    /// RFC 8888 every 100 ms: the interval of the RMCAT authors' simulations (ns3-rmcat), for comparing algorithms under
    /// the same reports.
    #[cfg_attr(feature = "serde", serde(rename = "ccfb-100ms"))]
    CcfbEvery100Ms,
    /// RTCP extended reports (RFC 3611, RFC 7097, RFC 7243) with receiver reports every 200 ms or two round trips,
    /// whichever is longer, and early when something is lost or arrived too late to be played, in at most one interval
    /// of two (RFC 4585): FBRA's. 1/90,000 s ticks.
    Extended,
    /// The same with each interval multiplied by a number between 0.5 and 1.5, drawn anew (RFC 3550 section 6.3.1,
    /// RFC 4585 section 3.4): a regular report may then come so soon that FBRA takes it for an early one.
    ExtendedRandomised,
}

impl FeedbackStyle {
    /// Every style.
    pub const ALL: [FeedbackStyle; 9] = [
        FeedbackStyle::Twcc,
        FeedbackStyle::TwccOnRequest,
        FeedbackStyle::Ccfb,
        FeedbackStyle::CcfbOnRequest,
        FeedbackStyle::CcfbByFrame,
        FeedbackStyle::CcfbEvery100Ms,
        FeedbackStyle::PerPacket,
        FeedbackStyle::Extended,
        FeedbackStyle::ExtendedRandomised,
    ];

    /// Its name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            FeedbackStyle::PerPacket => "per-packet",
            FeedbackStyle::Twcc => "twcc",
            FeedbackStyle::TwccOnRequest => "twcc-on-request",
            FeedbackStyle::Ccfb => "ccfb",
            FeedbackStyle::CcfbOnRequest => "ccfb-on-request",
            FeedbackStyle::CcfbByFrame => "ccfb-by-frame",
            FeedbackStyle::CcfbEvery100Ms => "ccfb-100ms",
            FeedbackStyle::Extended => "extended",
            FeedbackStyle::ExtendedRandomised => "extended-randomised",
        }
    }

    /// Returns true if reports give the ECN field with which packets arrived.
    pub fn carries_ecn(self) -> bool {
        match self {
            FeedbackStyle::PerPacket
            | FeedbackStyle::Ccfb
            | FeedbackStyle::CcfbOnRequest
            | FeedbackStyle::CcfbByFrame
            | FeedbackStyle::CcfbEvery100Ms => true,
            FeedbackStyle::Twcc
            | FeedbackStyle::TwccOnRequest
            | FeedbackStyle::Extended
            | FeedbackStyle::ExtendedRandomised => false,
        }
    }

    /// Returns true for RTCP extended reports.
    pub fn is_extended(self) -> bool {
        matches!(self, FeedbackStyle::Extended | FeedbackStyle::ExtendedRandomised)
    }
}

impl fmt::Display for FeedbackStyle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How the receiver handles frames.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum ReceiverKind {
    /// Decodes complete frames whose references it has, and requests missing packets and keyframes: any receiver of
    /// today.
    #[default]
    Standard,
    /// A standard receiver that also measures the path from the packet trains of frames, and reports it (Rebera).
    Measures(MeasurementConfig),
    /// Keeps its decoder's states under their hashes, goes back to them when a frame names one, and lists them in each
    /// report (Salsify section 3.2).
    Stateful(StatefulReceiver),
}

impl ReceiverKind {
    /// Returns true if it keeps states of the decoder, so that no standard decoder, such as a browser's, can be the receiver.
    pub const fn is_stateful(&self) -> bool {
        matches!(self, ReceiverKind::Stateful(_))
    }
}

/// How a stateful receiver handles losses.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct StatefulReceiver {
    /// How times between arrivals are averaged.
    pub smoothing: Smoothing,
    /// Which pauses of the sender, as written in its packets, are subtracted from the time between arrivals.
    pub grace: Grace,
    /// Decode what arrived of a frame when the next one begins, and complete frames even without the state they are
    /// based on, as the authors' receiver does: the picture moves on, damaged. Otherwise only frames that decode
    /// exactly are shown.
    pub shows_damage: bool,
    /// Max number of states kept.
    pub max_states: usize,
    /// The longest wait for packets of a frame that those of a newer one overtook; where packets were late in the last
    /// 10 s, they are waited for as long as those were. 0 as in the paper, whose receiver knows no reordering.
    pub reordering_window: Span,
}

impl StatefulReceiver {
    /// The receiver of a call: packets that were overtaken are waited for up to 100 ms; an older picture is of no use.
    pub fn for_calls() -> StatefulReceiver {
        StatefulReceiver { reordering_window: Span::from_millis(100), ..StatefulReceiver::default() }
    }
}

impl Default for StatefulReceiver {
    fn default() -> StatefulReceiver {
        StatefulReceiver {
            smoothing: Default::default(),
            grace: Default::default(),
            shows_damage: true,
            max_states: 64,
            reordering_window: Span::ZERO,
        }
    }
}
