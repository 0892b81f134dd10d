//! S: the bandwidth that one frame shows.

use thalweg_units::{Bytes, Rate, Span, Time};

use super::{Config, Counted, LonePackets};
use crate::estimate::WindowedMin;
use crate::feedback::Feedback;
use crate::trains::Train;

/// The window of the min delay for frames of one packet: two clocks drift apart by no more than a millisecond in that
/// time (100 ppm).
const LONG: Span = Span::from_secs(10);
/// A frame of one packet is full if it is at least this share of its budget.
const FULL: f64 = 1.0 / 1.5;
/// Faster than every path: the sample of a frame that took no time.
const FASTEST: Rate = Rate::from_kbps(10_000_000);

/// Why a frame is not sampled.
pub(super) type Silent = &'static str;

/// Min delays (arrival minus sending time, by two clocks), and the size of the packet that had the min.
#[derive(Debug, Clone, Default)]
pub(super) struct Delays {
    recent: WindowedMin<(Span, Bytes)>,
    long: WindowedMin<Span>,
}

impl Delays {
    /// Takes the delays of a report; Delta_min is the min over `window`.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>, window: Span) {
        for report in feedback.reports {
            if let Some(at) = report.arrival() {
                self.add(feedback.now, at - report.packet.at, report.packet.size, window);
            }
        }
        self.recent.expire(feedback.now, window);
    }

    pub(super) fn add(&mut self, now: Time, delay: Span, size: Bytes, window: Span) {
        self.recent.add(now, (delay, size), window);
        self.long.add(now, delay, LONG);
    }

    /// Delta_min; `None` before the first arrival.
    pub(super) fn min(&self) -> Option<Span> {
        self.recent.get().map(|(delay, _)| delay)
    }

    /// The bandwidth sample of a frame; frames are sent every `interval`.
    pub(super) fn sample(&self, train: &Train, interval: Span, config: &Config) -> Result<Rate, Silent> {
        let (Some((min, own)), Some(long)) = (self.recent.get(), self.long.get()) else {
            return Err("nothing arrived");
        };
        let (Some(first), Some(last)) = (train.first_arrival, train.last_arrival) else {
            return Err("nothing arrived");
        };
        if train.arrived_share() < config.min_arrived {
            return Err("too much of the frame was lost");
        }
        if train.size < config.min_size {
            return Err("frame too small");
        }
        // In floats, so that a budget of less than a byte is not a division by zero.
        let budget = train.aimed.as_bps_f64() / 8.0 * interval.as_secs_f64();
        let scaled = budget / train.size.as_f64().max(1.0);
        let scaled = if config.scales_down { scaled } else { scaled.max(1.0) };
        if scaled > config.max_scaled {
            return Err("frame too far below its budget");
        }
        if train.arrived < 2 {
            if config.lone_packets == LonePackets::Nothing || train.size.as_f64() < FULL * budget {
                return Err("expected two packets or more in a train");
            }
            let as_paced = train.aimed.scale(config.pacing_gain).time_for(train.size);
            return Ok(rate(train.arrived_size, 1.0, (last - train.began - long).max(as_paced)));
        }
        let shown = match config.counted {
            Counted::Whole => train.arrived_size,
            Counted::LessOnePacket => train.arrived_size.saturating_sub(own),
        };
        let took = (last - train.began - min) + (last - first).scale(scaled - 1.0);
        if took <= Span::ZERO {
            return Err("it took no time");
        }
        Ok(rate(shown, scaled, took))
    }
}

fn rate(shown: Bytes, scaled: f64, took: Span) -> Rate {
    let bits = shown.bits() as f64 * scaled;
    Rate::from_bps_f64(bits / took.as_secs_f64().max(1e-9)).clamp(Rate::from_bps(1), FASTEST)
}
