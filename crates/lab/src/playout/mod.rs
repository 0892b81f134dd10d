//! When a receiver shows a frame: at once, as elsewhere in the laboratory, or held back for smoothness as WebRTC does
//! (libwebrtc `timing.cc`, `video_stream_buffer_controller.cc`, as of 2020 to 2023). A file that Vidaptive's and other
//! authors' receivers recorded has these delays in it, so medians compare only with them.
//!
//! A frame is due when it would arrive on average (`arrivals`), plus a delay that follows a target: what jitter needs
//! (`jitter`), the time to decode, and the time to draw.

mod arrivals;
mod jitter;
mod line;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, ConfigError, Span, Time, check, percentile};

use arrivals::Arrivals;
use jitter::Jitter;

/// Parameters of the playout, with libwebrtc's defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The time a renderer is given to draw (`kDefaultRenderDelay`). The frame is handed over that much earlier than it
    /// is due, which is when it counts as shown.
    pub render_delay: Span,
    /// The least delay between average arrival and rendering (the playout-delay extension).
    pub min: Span,
    /// The longest such delay; a frame due further away than that begins all estimates anew (`kMaxVideoDelay`).
    pub max: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config { render_delay: Span::from_millis(10), min: Span::ZERO, max: Span::from_secs(10) }
    }
}

/// How long decoding times count (libwebrtc `codec_timer.cc`).
const DECODE_WINDOW: Span = Span::from_secs(10);
/// The first decoded frames, whose times do not count (the same file).
const FIRST_DECODED: u32 = 5;

/// Schedules decoding and showing.
#[derive(Debug, Clone)]
pub struct Playout {
    config: Config,
    arrivals: Arrivals,
    jitter: Jitter,
    /// Arrival and capture of the frame before.
    previous: Option<(Time, Time)>,
    /// The delay after average arrival; `None` before the first frame.
    delay: Option<Span>,
    /// Decoding times of the last seconds, in ms.
    decoded: VecDeque<(Time, f64)>,
    decoded_count: u32,
    /// When the decoder has finished the frame before, and when that is shown.
    decoder_free: Time,
    shown: Time,
}

/// A frame that can be decoded.
#[derive(Debug, Clone, Copy)]
pub struct Complete {
    /// When it was captured, on the sender's clock.
    pub captured: Time,
    /// Its size.
    pub size: Bytes,
    /// True if a retransmission completed it: then its delay says nothing about the path.
    pub repaired: bool,
    /// The time to decode it.
    pub decode: Span,
}

impl Config {
    /// A playout in its initial state.
    ///
    /// # Errors
    /// When a delay is negative, or `max` is less than `min`.
    pub fn build(self) -> Result<Playout, ConfigError> {
        check("playout", format_args!("render_delay {}, min {}, max {}", self.render_delay, self.min, self.max)).is(
            self.render_delay >= Span::ZERO && self.min >= Span::ZERO && self.max >= self.min,
            "delays of at least 0, max of at least min",
        )?;
        Ok(Playout {
            config: self,
            arrivals: Arrivals::default(),
            jitter: Jitter::default(),
            previous: None,
            delay: None,
            decoded: VecDeque::new(),
            decoded_count: 0,
            decoder_free: Time::ZERO,
            shown: Time::ZERO,
        })
    }
}

impl Playout {
    /// A frame is complete now; returns when it is shown.
    pub fn on_frame(&mut self, now: Time, frame: &Complete) -> Time {
        let due = self.due(now, frame);
        let (required, drawing) = (self.decode_time(now), self.config.render_delay);
        let start = now.max(self.decoder_free).max(due - required - drawing);
        if !frame.repaired {
            self.measure_jitter(now, frame);
            self.follow_target(required, start - (due - required - drawing));
        }
        self.decoded_count += 1;
        if self.decoded_count > FIRST_DECODED {
            self.decoded.push_back((start, frame.decode.as_millis_f64()));
        }
        self.decoder_free = start + frame.decode;
        self.shown = self.shown.max(self.decoder_free).max(due - drawing);
        self.shown
    }

    /// When the frame should be on the screen.
    fn due(&mut self, now: Time, frame: &Complete) -> Time {
        if !frame.repaired {
            self.arrivals.update(now, frame.captured);
        }
        let delay = self.delay.unwrap_or(Span::ZERO).clamp(self.config.min, self.config.max);
        let due = self.arrivals.expected(frame.captured).unwrap_or(now) + delay;
        if (due - now).max(now - due) <= self.config.max {
            return due;
        }
        // The stream or the path has become another one.
        (self.arrivals, self.jitter, self.previous, self.delay) = Default::default();
        now
    }

    fn measure_jitter(&mut self, now: Time, frame: &Complete) {
        if let Some((arrived, captured)) = self.previous {
            let variation = (now - arrived) - (frame.captured - captured);
            self.jitter.update(now, variation.as_millis_f64(), frame.size.get() as f64);
        }
        self.previous = Some((now, frame.captured));
    }

    /// A frame decoded `late` raises the delay by that, at most to the target; a target below the delay holds at once
    /// (libwebrtc `VCMTiming::UpdateCurrentDelay`).
    fn follow_target(&mut self, required: Span, late: Span) {
        let jitter = Span::from_secs_f64(self.jitter.estimate_ms() / 1e3);
        let target = (jitter + required + self.config.render_delay).max(self.config.min);
        let delay = self.delay.unwrap_or(jitter);
        self.delay = Some((delay + late.max(Span::ZERO)).min(target));
    }

    /// The 95th percentile of decoding times.
    fn decode_time(&mut self, now: Time) -> Span {
        while self.decoded.front().is_some_and(|(at, _)| now - *at > DECODE_WINDOW) {
            self.decoded.pop_front();
        }
        let times: Vec<f64> = self.decoded.iter().map(|(_, ms)| *ms).collect();
        Span::from_secs_f64(percentile(&times, 0.95).unwrap_or(0.0) / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays frames of equal size, 30 a second, each arriving this many ms after its capture, decoded in 5 ms; returns
    /// the time from capture to display of each, in ms.
    fn latencies(count: u64, transit_ms: impl Fn(u64) -> u64) -> Vec<f64> {
        let mut playout = Config::default().build().unwrap();
        let shown = (0..count).map(|number| {
            let captured = Time::from_nanos(number * 33_333_333);
            let now = captured + Span::from_millis(transit_ms(number) as i64);
            let decode = Span::from_millis(5);
            let frame = Complete { captured, size: Bytes::new(5000), repaired: false, decode };
            (playout.on_frame(now, &frame) - captured).as_millis_f64()
        });
        shown.collect()
    }

    #[test]
    fn on_a_steady_path_a_frame_waits_for_the_least_jitter_estimate() {
        // 50 ms of path, 10 ms of jitter of the machine, 1 ms of noise threshold. The delay was set by the first frames,
        // whose decoding time does not count, and no frame is late since: 5 ms of decoding fit into it.
        let latencies = latencies(600, |_| 50);
        assert!((latencies[599] - 61.0).abs() < 0.5, "{:?}", &latencies[590..]);
    }

    #[test]
    fn jittered_frames_are_shown_evenly_once_the_delay_covers_the_jitter() {
        let jitter = |number: u64| 50 + [0, 25, 5, 40, 10, 30][number as usize % 6];
        let latencies = latencies(900, jitter);
        let (least, most) =
            latencies[600..].iter().fold((f64::MAX, 0.0f64), |(low, high), ms| (low.min(*ms), high.max(*ms)));
        // Shown as they arrive they would vary by 40 ms.
        assert!(most - least < 15.0 && (70.0..130.0).contains(&most), "{least} to {most}");
    }

    #[test]
    fn a_frame_that_comes_too_late_is_shown_when_decoded() {
        let latencies = latencies(300, |number| if number == 299 { 900 } else { 50 });
        assert_eq!(latencies[299], 905.0);
    }

    #[test]
    fn a_frame_due_further_away_than_the_longest_delay_is_shown_at_once() {
        let mut playout = Config::default().build().unwrap();
        let mut waits = Vec::new();
        for number in 0..400u64 {
            // Frames keep arriving; from the 301st on they bear capture times 12 s older.
            let now = Time::from_secs_f64(20.0) + Span::from_nanos(number as i64 * 33_333_333);
            let captured = now - Span::from_millis(if number < 300 { 50 } else { 12_050 });
            let decode = Span::from_millis(5);
            let frame = Complete { captured, size: Bytes::new(5000), repaired: false, decode };
            waits.push((playout.on_frame(now, &frame) - now).as_millis_f64());
        }
        assert!((waits[299] - 11.0).abs() < 0.5 && waits[300] == 5.0, "{:?}", &waits[298..302]);
        assert!((waits[399] - 11.0).abs() < 6.0, "{}", waits[399]);
    }

    #[test]
    fn delays_the_wrong_way_round_are_refused() {
        assert!(Config { min: Span::from_secs(11), ..Config::default() }.build().is_err());
        assert!(Config { render_delay: Span::from_millis(-1), ..Config::default() }.build().is_err());
    }
}
