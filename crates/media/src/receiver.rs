//! What kind of receiver there is: what it reports, and what it does with frames.

use thalweg_control::estimate::MeasurementConfig;
use thalweg_control::estimate::{Grace, Smoothing};

/// What the receiver is asked to report, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum FeedbackStyle {
    /// Each packet at once: what the papers' window controllers assume.
    PerPacket,
    /// Transport-wide feedback as Chromium sends it: every 62 ms (specs/measured.md 1), 250 us ticks.
    Twcc,
    /// Transport-wide feedback when a packet asks for it ([`Packet::requests_feedback`](crate::Packet::requests_feedback)), and 62 ms after one that does not.
    TwccOnRequest,
    /// RFC 8888 every 31 ms (specs/measured.md 1), 1/1024 s ticks with hold times.
    Ccfb,
    /// RTCP extended reports (RFC 3611, RFC 7097, RFC 7243) beside receiver reports every 200 ms or two round trips, whichever is longer,
    /// and early when something is lost or came too late to be played, in one interval of two at most (RFC 4585): FBRA's. 1/90,000 s ticks.
    Extended,
}

/// What the receiver does with frames.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum ReceiverKind {
    /// Decodes what is whole and refers to what it has, asks for what is missing and for keyframes: any receiver of today.
    #[default]
    Standard,
    /// As a standard one, and measures the path by the trains that frames leave as, which it reports (Rebera).
    Measures(MeasurementConfig),
    /// Keeps its decoder's states under their hashes, goes back to them when a frame says so, and tells them with each report
    /// (Salsify section 3.2).
    Stateful(StatefulReceiver),
}

/// How a receiver that keeps states deals with what is missing.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct StatefulReceiver {
    /// How times between arrivals are averaged.
    pub smoothing: Smoothing,
    /// Which pauses of the sender are taken off the time between arrivals: what the sender writes into its packets.
    pub grace: Grace,
    /// Decode what came of a frame when the next begins, and whole frames although the state they are meant for is missing, as the
    /// authors' receiver does: the picture moves on, damaged. Otherwise only frames that decode exactly are shown.
    pub shows_damage: bool,
    /// The most states kept.
    pub max_states: usize,
}

impl Default for StatefulReceiver {
    fn default() -> StatefulReceiver {
        StatefulReceiver {
            smoothing: Default::default(),
            grace: Default::default(),
            shows_damage: true,
            max_states: 64,
        }
    }
}
