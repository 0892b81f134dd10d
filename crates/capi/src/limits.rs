//! Limits set by a controller.

use thalweg_control::{MediaLimit, PaddingLimit, Probe, SendLimits};
use thalweg_units::{Bytes, Rate, Span};

use crate::error::Error;
use crate::schemes::checked;
use crate::sized::Structure;

/// `thalweg_limits.window` holds.
pub const THALWEG_HAS_WINDOW: u32 = 1;
/// `thalweg_limits.burst` holds.
pub const THALWEG_HAS_BURST: u32 = 2;
/// `thalweg_limits.frame` holds.
pub const THALWEG_HAS_FRAME: u32 = 4;
/// `thalweg_limits.fec_interval` holds.
pub const THALWEG_HAS_FEC_INTERVAL: u32 = 8;
/// `thalweg_limits.period` holds.
pub const THALWEG_HAS_PERIOD: u32 = 16;
/// `thalweg_limits.probe_...` hold.
pub const THALWEG_HAS_PROBE: u32 = 32;
/// `thalweg_limits.padding` is wanted beside media, which otherwise counts.
pub const THALWEG_PADDING_BESIDE: u32 = 64;

/// Limits set by a controller. Sizes are from the IP header up. Rates are as the program counts: of a controller with
/// `overhead`, without it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Limits {
    /// sizeof(thalweg_limits).
    pub size: u32,
    /// Which of the fields below hold: THALWEG_HAS_...
    pub has: u32,
    /// Max bytes in flight.
    pub window: u64,
    /// The rate to pace at, bit/s.
    pub pacing: u64,
    /// The estimated capacity of the path, bit/s: the base of an encoder's target.
    pub capacity: u64,
    /// The rate to send at for a program that can follow only one number, bit/s: the capacity, or what fills the window
    /// if that is less, times `keep_frames`; before the first report the start. Of an engine the capacity: its frames
    /// have targets of their own.
    pub target: u64,
    /// How many bytes of a frame may leave back to back; without it, none may.
    pub burst: u64,
    /// The rate of padding that is wanted while there is no media, bit/s. Media counts, so that both together do not exceed
    /// it, unless `has` says `THALWEG_PADDING_BESIDE`.
    pub padding: u64,
    /// Payload bytes that may be sent in addition to those already sent.
    pub frame: u64,
    /// Bytes for the whole of the period that began last.
    pub period: u64,
    /// The share of frames to keep, 0 to 1: the rest is dropped before it is encoded.
    pub keep_frames: f64,
    /// One FEC packet after this many media packets, as the controller's probe.
    pub fec_interval: u32,
    /// The number of the next probe, to be copied into `thalweg_sent.probe`; it has begun once a packet with it was
    /// sent.
    pub probe_cluster: u32,
    /// Min packets of the probe.
    pub probe_packets: u32,
    /// Zero.
    pub reserved: u32,
    /// The rate of the probe, bit/s.
    pub probe_rate: u64,
    /// Min bytes of the probe.
    pub probe_bytes: u64,
    /// The min time between two bursts of the probe, ns.
    pub probe_spacing: i64,
}

// SAFETY: numbers without gaps.
unsafe impl Structure for Limits {
    const NAME: &'static str = "thalweg_limits";
    const DEFAULT: Limits = Limits {
        size: size_of::<Limits>() as u32,
        has: 0,
        window: 0,
        pacing: 0,
        capacity: 0,
        target: 0,
        burst: 0,
        padding: 0,
        frame: 0,
        period: 0,
        keep_frames: 1.0,
        fec_interval: 0,
        probe_cluster: 0,
        probe_packets: 0,
        reserved: 0,
        probe_rate: 0,
        probe_bytes: 0,
        probe_spacing: 0,
    };
}

impl Limits {
    /// As C has them, with rates as `foreign` counts.
    pub(crate) fn new(limits: &SendLimits, target: Rate, foreign: impl Fn(Rate) -> Rate) -> Limits {
        let mut has = 0;
        let mut held = |bytes: Option<Bytes>, bit| {
            has |= if bytes.is_some() { bit } else { 0 };
            bytes.map_or(0, Bytes::get)
        };
        let window = held(limits.window, THALWEG_HAS_WINDOW);
        let burst = held(limits.burst, THALWEG_HAS_BURST);
        let frame = held(limits.media.frame(), THALWEG_HAS_FRAME);
        let period = held(limits.media.period(), THALWEG_HAS_PERIOD);
        has |= limits.fec_interval.map_or(0, |_| THALWEG_HAS_FEC_INTERVAL);
        has |= limits.probe.map_or(0, |_| THALWEG_HAS_PROBE);
        has |= if matches!(limits.padding, PaddingLimit::Beside(_)) { THALWEG_PADDING_BESIDE } else { 0 };
        let bps = |rate: Rate| foreign(rate).as_bps();
        let mut reported = Limits {
            has,
            window,
            pacing: bps(limits.pacing),
            capacity: bps(limits.capacity),
            target: target.as_bps(),
            burst,
            padding: bps(limits.padding.rate()),
            frame,
            period,
            keep_frames: limits.media.share(),
            fec_interval: limits.fec_interval.map_or(0, u32::from),
            ..Limits::DEFAULT
        };
        if let Some(probe) = limits.probe {
            (reported.probe_cluster, reported.probe_packets) = (probe.cluster, probe.packets);
            (reported.probe_rate, reported.probe_bytes) = (bps(probe.rate), probe.bytes.get());
            reported.probe_spacing = probe.spacing.as_nanos();
        }
        reported
    }

    /// Limits of a controller in C.
    pub(crate) fn of_caller(&self) -> Result<SendLimits, Error> {
        let held = |bit, bytes: u64| (self.has & bit != 0).then_some(Bytes::new(bytes.min(u64::from(u32::MAX))));
        let mut limits = SendLimits::of_rate(checked("capacity", self.capacity)?);
        if self.pacing != 0 {
            limits.pacing = checked("pacing", self.pacing)?;
        }
        let padding = checked("padding", self.padding)?;
        let beside = self.has & THALWEG_PADDING_BESIDE != 0;
        limits.padding = if beside { PaddingLimit::beside(padding) } else { PaddingLimit::up_to(padding) };
        limits.window = held(THALWEG_HAS_WINDOW, self.window);
        limits.burst = held(THALWEG_HAS_BURST, self.burst);
        limits.media = match (held(THALWEG_HAS_FRAME, self.frame), held(THALWEG_HAS_PERIOD, self.period)) {
            (Some(frame), _) => MediaLimit::Frame(frame),
            (None, Some(period)) => MediaLimit::Period(period),
            (None, None) if !(0.0..=1.0).contains(&self.keep_frames) => {
                return Err(Error::range("keep_frames", self.keep_frames, "0 to 1, such as 1"));
            }
            (None, None) if self.keep_frames < 1.0 => MediaLimit::Share(self.keep_frames),
            (None, None) => MediaLimit::None,
        };
        if self.has & THALWEG_HAS_FEC_INTERVAL != 0 {
            let interval = u16::try_from(self.fec_interval).ok().filter(|interval| *interval > 0);
            let refused = || Error::range("fec_interval", self.fec_interval, "1 to 65535, such as 8");
            limits.fec_interval = Some(interval.ok_or_else(refused)?);
        }
        if self.has & THALWEG_HAS_PROBE != 0 {
            let rate = checked("probe_rate", self.probe_rate)?;
            let bytes = Bytes::new(self.probe_bytes.min(u64::from(u32::MAX)));
            let spacing = Span::from_nanos(self.probe_spacing).max(Span::ZERO);
            limits.probe = Some(Probe::new(self.probe_cluster, rate, self.probe_packets, bytes, spacing));
        }
        Ok(limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_controller_allows_is_the_same_after_it_was_c() {
        let mut limits = SendLimits::of_rate(Rate::from_kbps(800));
        let (pacing, spacing) = (Rate::from_kbps(2000), Span::from_millis(2));
        (limits.window, limits.burst, limits.pacing) = (Some(Bytes::new(30_000)), Some(Bytes::new(6144)), pacing);
        limits.fec_interval = Some(8);
        let bytes = Bytes::new(5000);
        limits.probe = Some(Probe::new(3, Rate::from_kbps(1600), 5, bytes, spacing));
        let frame = Bytes::new(9000);
        let medias = [MediaLimit::None, MediaLimit::Share(0.5), MediaLimit::Frame(frame), MediaLimit::Period(frame)];
        let rate = Rate::from_kbps(7);
        let paddings = [PaddingLimit::None, PaddingLimit::UpTo(rate), PaddingLimit::Beside(rate), PaddingLimit::None];
        for (media, padding) in medias.into_iter().zip(paddings) {
            (limits.media, limits.padding) = (media, padding);
            let reported = Limits::new(&limits, Rate::ZERO, |rate| rate);
            assert_eq!(reported.of_caller().unwrap(), limits);
        }
        let refused = Limits { keep_frames: f64::NAN, ..Limits::DEFAULT }.of_caller().unwrap_err().message;
        assert_eq!(refused, "keep_frames is NaN, must be 0 to 1, such as 1");
    }
}
