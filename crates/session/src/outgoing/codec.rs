//! The codec interface of AMuSys (Nagy, Singh, Ott, Eggert, MMSys 2014, section 6.1): an application's preferences, and
//! settings of the encoder by name during a call.
//!
//! They bound what the scheme asks of the encoder, and never raise it; the scheme's control continues under them.

use std::collections::VecDeque;
use std::fmt;

use thalweg_transport::sdp::VideoCodec;
use thalweg_types::{EncodePlan, Target};
use thalweg_units::{Bytes, Rate, Span, Time};

/// Preferences of an application (AMuSys's `setPreferences`); `None` leaves the choice to the scheme. Which camera is
/// used is the caller's own choice: pictures come from it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Preferences {
    /// The codec. It is negotiated when the call is set up, so another one than that is refused.
    pub codec: Option<VideoCodec>,
    /// Frames per second.
    pub frame_rate: Option<f64>,
    /// Lines of a frame.
    pub lines: Option<u16>,
}

/// Why a setting was refused; nothing has changed then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// There is no such parameter.
    #[error("unknown parameter of the codec '{0}': expected one of max-bitrate, max-frame-rate, max-lines")]
    Unknown(String),
    /// The value does not fit the parameter.
    #[error("invalid {name} '{value}': {example}")]
    Value {
        /// The parameter.
        name: &'static str,
        /// The refused value.
        value: String,
        /// A value that fits.
        example: &'static str,
    },
    /// Another codec was negotiated.
    #[error("{wanted} was not negotiated, but {negotiated}: offer it in a new call")]
    Codec {
        /// The preferred codec.
        wanted: &'static str,
        /// The negotiated one.
        negotiated: &'static str,
    },
}

/// Rate last requested of the encoder and rate that it makes (AMuSys's `getBitrate`: whether the requested rate is
/// imposed, and how quickly the codec converges to it).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bitrate {
    /// The target of the last picture; `None` if it was no rate, or before the first.
    pub requested: Option<Rate>,
    /// The rate of the frames of the last second.
    pub made: Rate,
}

/// The time over which [`Bitrate::made`] is measured.
const WINDOW: Span = Span::from_secs(1);
/// The max lines of a VP8 frame, the least of all codecs (RFC 6386 section 9.1: 14 bits).
const MAX_LINES: u16 = 16_383;
/// A picture this share of an interval early still comes in time: cameras are not exact.
const EARLY: f64 = 0.25;

/// The settings in force, and what the encoder made.
#[derive(Debug, Default)]
pub(super) struct Codec {
    max_bitrate: Option<Rate>,
    max_frame_rate: Option<f64>,
    max_lines: Option<u16>,
    /// When the next picture is due.
    next: Time,
    requested: Option<Rate>,
    made: VecDeque<(Time, Bytes)>,
}

impl Codec {
    pub(super) fn prefer(&mut self, preferences: &Preferences, negotiated: VideoCodec) -> Result<(), SettingError> {
        if let Some(codec) = preferences.codec.filter(|codec| *codec != negotiated) {
            return Err(SettingError::Codec { wanted: codec.name(), negotiated: negotiated.name() });
        }
        let frame_rate = preferences.frame_rate.map(|rate| frame_rate(&rate.to_string())).transpose()?;
        let lines = preferences.lines.map(|lines| self::lines(&lines.to_string())).transpose()?;
        (self.max_frame_rate, self.max_lines) = (frame_rate, lines);
        Ok(())
    }

    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        match name {
            "max-bitrate" => self.max_bitrate = Some(bitrate(value)?),
            "max-frame-rate" => self.max_frame_rate = Some(frame_rate(value)?),
            "max-lines" => self.max_lines = Some(lines(value)?),
            _ => return Err(SettingError::Unknown(name.into())),
        }
        Ok(())
    }

    pub(super) fn get(&self, name: &str) -> Result<Option<String>, SettingError> {
        fn shown(value: Option<impl fmt::Display>) -> Option<String> {
            value.map(|value| value.to_string())
        }
        match name {
            "max-bitrate" => Ok(shown(self.max_bitrate)),
            "max-frame-rate" => Ok(shown(self.max_frame_rate)),
            "max-lines" => Ok(shown(self.max_lines)),
            _ => Err(SettingError::Unknown(name.into())),
        }
    }

    pub(super) fn bitrate(&self, now: Time) -> Bitrate {
        let bytes = self.made.iter().filter(|(at, _)| now - *at < WINDOW).map(|(_, size)| *size).sum::<Bytes>();
        Bitrate { requested: self.requested, made: bytes.per(WINDOW) }
    }

    /// Returns true if a picture read now is one of the preferred frame rate.
    pub(super) fn is_due(&mut self, now: Time) -> bool {
        let Some(rate) = self.max_frame_rate else { return true };
        let interval = interval(rate);
        if now + interval.scale(EARLY) < self.next {
            return false;
        }
        self.next = (self.next + interval).max(now);
        true
    }

    /// Bounds a plan.
    pub(super) fn bound(&mut self, plan: &mut EncodePlan) {
        for target in &mut plan.targets {
            if let (Target::Rate(rate), Some(max)) = (target, self.max_bitrate) {
                *rate = (*rate).min(max);
            }
        }
        if let Some(rate) = self.max_frame_rate {
            plan.interval = plan.interval.max(interval(rate));
        }
        if let Some(lines) = self.max_lines.filter(|lines| *lines < plan.size.height) {
            plan.size = plan.size.scale(f64::from(lines) / f64::from(plan.size.height));
        }
        self.requested = plan.targets.iter().find_map(|target| match target {
            Target::Rate(rate) => Some(*rate),
            _ => None,
        });
    }

    /// A frame of this size will be sent.
    pub(super) fn on_frame(&mut self, now: Time, size: Bytes) {
        while self.made.front().is_some_and(|(at, _)| now - *at >= WINDOW) {
            self.made.pop_front();
        }
        self.made.push_back((now, size));
    }
}

/// The time between pictures.
fn interval(rate: f64) -> Span {
    Span::from_secs(1).scale(1.0 / rate)
}

fn refused(name: &'static str, value: &str, example: &'static str) -> SettingError {
    SettingError::Value { name, value: value.into(), example }
}

fn bitrate(value: &str) -> Result<Rate, SettingError> {
    let rate: Option<Rate> = value.parse().ok();
    rate.filter(|rate| *rate != Rate::ZERO).ok_or_else(|| refused("max-bitrate", value, "1500kbps"))
}

fn frame_rate(value: &str) -> Result<f64, SettingError> {
    let rate: Option<f64> = value.parse().ok();
    rate.filter(|rate| (0.1..=1000.0).contains(rate)).ok_or_else(|| refused("max-frame-rate", value, "0.1 to 1000"))
}

fn lines(value: &str) -> Result<u16, SettingError> {
    let lines: Option<u16> = value.parse().ok();
    lines
        .filter(|lines| (16..=MAX_LINES).contains(lines))
        .ok_or_else(|| refused("max-lines", value, "16 to 16383, as 360"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Size;

    #[test]
    fn a_wrong_name_or_value_is_refused_and_changes_nothing() {
        let mut codec = Codec::default();
        codec.set("max-bitrate", "300kbps").unwrap();
        for (name, value) in [
            ("bitrate", "1Mbps"),
            ("max-bitrate", "fast"),
            ("max-bitrate", "0bps"),
            ("max-frame-rate", "0"),
            ("max-lines", "1"),
        ] {
            assert!(codec.set(name, value).is_err(), "{name} {value}");
        }
        assert_eq!(codec.get("max-bitrate").unwrap().unwrap().parse(), Ok(Rate::from_kbps(300)));
        assert_eq!((codec.get("max-frame-rate"), codec.get("max-lines")), (Ok(None), Ok(None)));
        assert!(codec.get("bitrate").is_err());
        let preferred = Preferences { codec: Some(VideoCodec::H264), lines: Some(360), ..Preferences::default() };
        let problem = codec.prefer(&preferred, VideoCodec::Vp8).unwrap_err().to_string();
        assert_eq!(problem, "H264 was not negotiated, but VP8: offer it in a new call");
        assert_eq!(codec.get("max-lines"), Ok(None));
    }

    #[test]
    fn ten_frames_a_second_are_every_third_of_a_camera_with_thirty() {
        let mut codec = Codec::default();
        codec.set("max-frame-rate", "10").unwrap();
        let due: Vec<u64> = (0..30).filter(|picture| codec.is_due(Time::from_nanos(picture * 33_333_333))).collect();
        assert_eq!(due, (0..30).step_by(3).collect::<Vec<_>>());
    }

    #[test]
    fn a_plan_is_bounded_and_what_was_made_of_it_is_counted_for_a_second() {
        let mut codec = Codec::default();
        codec.set("max-bitrate", "300kbps").unwrap();
        codec.set("max-lines", "360").unwrap();
        let target = Target::Rate(Rate::from_kbps(800));
        let mut plan = EncodePlan::new(vec![target], Size::HD, Span::from_millis(33));
        codec.bound(&mut plan);
        assert_eq!((plan.targets[0], plan.size), (Target::Rate(Rate::from_kbps(300)), Size::new(640, 360)));
        for millis in (0..2000).step_by(100) {
            codec.on_frame(Time::from_millis(millis), Bytes::new(3750));
        }
        let bitrate = codec.bitrate(Time::from_millis(1950));
        assert_eq!(bitrate, Bitrate { requested: Some(Rate::from_kbps(300)), made: Rate::from_kbps(300) });
        assert_eq!(codec.bitrate(Time::from_millis(4000)).made, Rate::ZERO);
    }
}
