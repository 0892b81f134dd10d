//! Pushback: drops frames, or lowers the target, while more bytes are in flight than the data window allows (specs/gcc.md
//! 10; libwebrtc `congestion_window_pushback_controller.cc`).

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Rate, Span};

/// Parameters (`rate_control_settings.cc`: QueueSize:350, DropFrame:true).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// Queueing time that the data window allows beyond the max recent RTT.
    pub queue: Span,
    /// Drop frames; otherwise the target is lowered.
    pub drop_frames: bool,
    /// The target is not lowered below this.
    pub min: Rate,
    /// Media that waits in the pacer counts as in flight (WebRTC-AddPacingToCongestionWindowPushback).
    pub with_queue: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config { queue: Span::from_millis(350), drop_frames: true, min: Rate::from_kbps(30), with_queue: false }
    }
}

/// Number of reports over which the max RTT is taken.
const RTTS: usize = 32;
/// The min data window.
const MIN_WINDOW: Bytes = Bytes::new(3000);

/// The data window and the share of the encoding rate that it allows.
#[derive(Debug, Clone)]
pub(super) struct Pushback {
    config: Config,
    rtts: VecDeque<Span>,
    window: Option<Bytes>,
    ratio: f64,
    /// Media in the pacer's queue.
    queued: Bytes,
}

impl Pushback {
    pub(super) fn new(config: Config) -> Pushback {
        Pushback { config, rtts: VecDeque::new(), window: None, ratio: 1.0, queued: Bytes::ZERO }
    }

    /// Takes the max RTT of a report, and the target at that time.
    pub(super) fn on_report(&mut self, max_rtt: Option<Span>, target: Rate) {
        if let Some(rtt) = max_rtt {
            if self.rtts.len() == RTTS {
                self.rtts.pop_front();
            }
            self.rtts.push_back(rtt);
        }
        self.follow(target);
    }

    /// Moves the window halfway towards the target's window: called with each report and on each tick.
    pub(super) fn follow(&mut self, target: Rate) {
        let Some(min) = self.rtts.iter().min() else { return };
        let fresh = target.over(*min + self.config.queue);
        let window = self.window.map_or(fresh, |window| Bytes::new(u64::midpoint(window.get(), fresh.get())));
        self.window = Some(window.max(MIN_WINDOW));
    }

    /// A frame joined the pacer's queue, which now holds this much.
    pub(super) fn on_queued(&mut self, queued: Bytes) {
        self.queued = queued;
    }

    /// Media left the pacer's queue.
    pub(super) fn on_media(&mut self, size: Bytes) {
        self.queued = self.queued.saturating_sub(size);
    }

    /// Updates the share when a packet was sent or acknowledged, or on a tick: libwebrtc updates at each of these, with
    /// a tick of 25 ms.
    pub(super) fn on_in_flight(&mut self, in_flight: Bytes) {
        let Some(window) = self.window else { return };
        let queued = if self.config.with_queue { self.queued } else { Bytes::ZERO };
        let fill = (in_flight + queued).as_f64() / window.as_f64();
        self.ratio = if fill > 1.5 {
            self.ratio * 0.9
        } else if fill > 1.0 {
            self.ratio * 0.95
        } else if fill < 0.1 {
            1.0
        } else {
            (self.ratio * 1.05).min(1.0)
        };
    }

    /// The share of the encoding rate that is left.
    pub(super) fn ratio(&self) -> f64 {
        self.ratio
    }

    /// The share of frames to keep.
    pub(super) fn share_of_frames(&self) -> f64 {
        if self.config.drop_frames { self.ratio } else { 1.0 }
    }

    /// Part of `target` left for the encoder; all of it where frames are dropped instead.
    pub(super) fn lower(&self, target: Rate) -> Rate {
        if self.config.drop_frames { target } else { target.scale(self.ratio).max(self.config.min.min(target)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_follows_the_fill_as_in_the_worked_example() {
        let mut pushback = Pushback::new(Config::default());
        pushback.on_report(Some(Span::from_millis(100)), Rate::from_kbps(1000));
        assert_eq!(pushback.window, Some(Bytes::new(56_250)));
        for (fill, ratio) in [(1.2, 0.95), (1.2, 0.9025), (1.6, 0.81225), (0.5, 0.852_862_5), (0.05, 1.0)] {
            pushback.on_in_flight(Bytes::new(56_250).scale(fill));
            assert!((pushback.ratio() - ratio).abs() < 1e-9, "{fill}: {}", pushback.ratio());
        }
        pushback.on_report(None, Rate::from_kbps(2000));
        assert_eq!(pushback.window, Some(Bytes::new(84_375)));
    }

    #[test]
    fn instead_of_frames_the_target_gives_way_down_to_the_minimum_and_never_rises() {
        let fills = |config: Config| {
            let mut pushback = Pushback::new(config);
            pushback.on_report(Some(Span::from_millis(100)), Rate::from_kbps(1000));
            pushback.on_in_flight(Bytes::new(100_000));
            pushback
        };
        let mut pushback = fills(Config { drop_frames: false, ..Config::default() });
        assert_eq!(pushback.lower(Rate::from_kbps(1000)), Rate::from_kbps(900));
        assert_eq!(pushback.share_of_frames(), 1.0);
        (0..100).for_each(|_| pushback.on_in_flight(Bytes::new(100_000)));
        assert_eq!([1000, 20].map(|kbps| pushback.lower(Rate::from_kbps(kbps)).as_bps() / 1000), [30, 20]);
        let frames = fills(Config::default());
        assert_eq!((frames.lower(Rate::from_kbps(1000)), frames.share_of_frames()), (Rate::from_kbps(1000), 0.9));
    }

    #[test]
    fn media_in_the_pacer_counts_where_it_is_to() {
        for (with_queue, ratio) in [(false, 1.0), (true, 0.95)] {
            let mut pushback = Pushback::new(Config { with_queue, ..Config::default() });
            pushback.on_report(Some(Span::from_millis(100)), Rate::from_kbps(1000));
            pushback.on_queued(Bytes::new(40_000));
            pushback.on_media(Bytes::new(10_000));
            pushback.on_in_flight(Bytes::new(30_000));
            assert_eq!(pushback.ratio(), ratio);
        }
    }
}
