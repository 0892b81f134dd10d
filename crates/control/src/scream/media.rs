//! The target and the pacing (draft sections "Media Rate Control" and "Packet Pacing").

use thalweg_units::{Bytes, Rate, Span};

use super::MediaConfig;
use super::window::Window;
use crate::controller::{Demand, FrameQueued};

/// The allowance for frames in the target: their waiting time and size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Media {
    config: MediaConfig,
    segment: Bytes,
    /// raf: up to 0.5, increased while frames wait longer than a quarter of their interval.
    rate_adjust: f64,
    /// fsd: how much larger than nominal frames are on average, as a share, up to 0.2.
    size_deviation: f64,
}

impl Media {
    pub(super) fn new(config: MediaConfig, segment: Bytes) -> Media {
        Media { config, segment, rate_adjust: 0.0, size_deviation: 0.0 }
    }

    /// Records a queued frame, with the target at that time.
    pub(super) fn on_frame(&mut self, frame: &FrameQueued, target: Rate) {
        if frame.interval <= Span::ZERO {
            return;
        }
        let age = frame.age.ratio(frame.interval);
        self.rate_adjust = (self.rate_adjust + (age - 0.25) / 16.0).clamp(0.0, 0.5);
        let nominal = target.over(frame.interval).as_f64().max(1.0);
        let above = ((frame.size.as_f64() - nominal) / nominal).max(0.0);
        self.size_deviation = (self.size_deviation * 63.0 / 64.0 + above / 64.0).min(0.2);
    }

    /// The encoder's target.
    pub(super) fn target(&self, window: &Window, srtt: Span, demand: Demand) -> Rate {
        let few_packets = 1.0 - (window.segment_share() - 0.1).clamp(0.0, 0.2);
        let headers = self.segment.as_f64() / (self.segment + self.config.packet_overhead).as_f64();
        let margin = self.config.target_margin + self.rate_adjust + self.size_deviation;
        let rate = window.bytes().per(srtt.max(Span::from_millis(1)));
        rate.scale(few_packets * headers / margin).clamp(demand.min, demand.max.max(demand.min))
    }

    /// The pacing rate: its headroom grows as the target approaches the encoder's maximum.
    pub(super) fn pacing(&self, target: Rate, demand: Demand) -> Rate {
        let MediaConfig { pacing, min_pacing, pacing_relaxed, pacing_relaxed_from, .. } = self.config;
        let share = target.as_bps_f64() / demand.max.as_bps_f64().max(1.0);
        let near = (share - pacing_relaxed_from) / (1.0 - pacing_relaxed_from);
        let strictness = (1.0 - near).clamp(1.0 / pacing_relaxed, 1.0);
        target.max(min_pacing).scale(pacing / strictness)
    }

    pub(super) fn rate_adjust(&self) -> f64 {
        self.rate_adjust
    }

    pub(super) fn size_deviation(&self) -> f64 {
        self.size_deviation
    }
}

#[cfg(test)]
mod tests {
    use super::super::WindowConfig;
    use super::*;

    const ANY: Demand = Demand { min: Rate::from_kbps(30), max: Rate::from_kbps(50_000) };

    fn media() -> Media {
        Media::new(MediaConfig::default(), WindowConfig::default().segment)
    }

    fn target(media: &Media, bytes: u64, demand: Demand) -> f64 {
        let mut window = Window::new(WindowConfig::default());
        window.set(Bytes::new(bytes));
        media.target(&window, Span::from_millis(50), demand).as_mbps_f64()
    }

    #[test]
    fn the_target_is_the_windows_rate_less_what_headers_few_packets_and_frames_need() {
        assert!((target(&media(), 50_000, ANY) - 6.536).abs() < 1e-3);
        assert!((target(&media(), 5_000, ANY) - 0.588).abs() < 1e-3);
        let frames = Media { rate_adjust: 0.3, size_deviation: 0.1, ..media() };
        assert!((target(&frames, 50_000, ANY) - 4.902).abs() < 1e-3);
    }

    #[test]
    fn the_target_keeps_to_what_the_encoder_can_make() {
        let demand = Demand { min: Rate::from_kbps(1000), max: Rate::from_kbps(2000) };
        assert_eq!((target(&media(), 3_000, demand), target(&media(), 50_000, demand)), (1.0, 2.0));
    }

    #[test]
    fn pacing_relaxes_fourfold_as_the_target_nears_its_maximum() {
        let demand = Demand { max: Rate::from_kbps(1000), ..ANY };
        for (percent, strictness) in [(50, 1.0), (80, 1.0), (90, 0.5), (100, 0.25)] {
            let target = Rate::from_kbps(10 * percent);
            let pacing = media().pacing(target, demand).as_bps_f64();
            assert!((pacing - 1.5 * target.as_bps_f64() / strictness).abs() < 1.0, "{percent} %: {pacing}");
        }
        assert_eq!(media().pacing(Rate::from_kbps(10), ANY), Rate::from_kbps(75));
    }

    #[test]
    fn frames_that_wait_and_frames_that_are_too_large_lower_the_target_by_and_by() {
        let mut media = media();
        let interval = Span::from_millis(40);
        let frame = |size: u64, age| FrameQueued { size: Bytes::new(size), interval, ahead: Bytes::ZERO, age };
        let target = Rate::from_kbps(1000);
        media.on_frame(&frame(7500, interval), target);
        assert!((media.rate_adjust - 0.75 / 16.0).abs() < 1e-9 && (media.size_deviation - 0.5 / 64.0).abs() < 1e-9);
        media.on_frame(&frame(5000, Span::ZERO), target);
        assert!((media.rate_adjust - 0.5 / 16.0).abs() < 1e-9);
        (0..1000).for_each(|_| media.on_frame(&frame(50_000, Span::from_secs(1)), target));
        assert_eq!((media.rate_adjust, media.size_deviation), (0.5, 0.2));
        (0..1000).for_each(|_| media.on_frame(&frame(100, Span::ZERO), target));
        assert!(media.rate_adjust == 0.0 && media.size_deviation < 1e-6);
    }
}
