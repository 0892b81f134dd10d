//! Statistics of a viewer's sender.

use thalweg_control::Payload;
use thalweg_sender::{Event, Timed};
use thalweg_units::{Bytes, Rate, Size, Span, Time};

use crate::measure::LastSecond;

/// Counters and latest values, from the engine's events.
#[derive(Debug, Clone, Default)]
pub struct Gauges {
    /// Bytes sent, by kind.
    recent: [LastSecond; 4],
    /// Bytes sent so far by kind: media, padding, repair, audio.
    pub sent: [Bytes; 4],
    /// Packets sent so far by kind.
    pub packets: [u64; 4],
    /// Frames whose last packet has left.
    pub frames_sent: u64,
    /// Pictures that gave no frame.
    pub skipped: u64,
    /// Keyframes so far.
    pub keyframes: u64,
    /// Packets declared lost so far.
    pub lost: u64,
    /// Packets reported as arrived so far.
    pub arrived: u64,
    /// How long the last frame waited in the sender.
    pub frame_delay: Option<Span>,
    /// The encoder's latest target.
    pub target: Option<Rate>,
    /// True while encoding is paused.
    pub paused: bool,
    /// The latest alpha of the headroom optimiser.
    pub alpha: Option<f64>,
    /// Bytes in flight.
    pub in_flight: Bytes,
    /// The quantiser of the latest frame.
    pub quantizer: Option<u8>,
    /// The size of the latest frame.
    pub size: Option<Size>,
    /// The latest round-trip time.
    pub rtt: Option<Span>,
    /// The shortest round-trip time so far: the excess over it is queueing delay.
    pub min_rtt: Option<Span>,
    /// Payload bytes from the encoder.
    encoded: LastSecond,
}

impl Gauges {
    /// Updates the statistics with an event.
    pub fn on_event(&mut self, timed: &Timed) {
        match &timed.event {
            Event::PacketSent { payload, size, in_flight, .. } => {
                let kind = *payload as usize;
                self.in_flight = *in_flight;
                self.sent[kind] += *size;
                self.packets[kind] += 1;
                self.recent[kind].add(timed.at, size.get());
            }
            Event::FrameSent { delay, .. } => {
                self.frames_sent += 1;
                self.frame_delay = Some(*delay);
            }
            Event::PictureSkipped { .. } => self.skipped += 1,
            Event::FrameQueued { keyframe, quantizer, size, .. } => {
                self.keyframes += u64::from(*keyframe);
                self.quantizer = (*quantizer != u8::MAX).then_some(*quantizer);
                self.encoded.add(timed.at, size.get());
            }
            Event::EncodeStarted { target, size, .. } => {
                self.target = Some(*target).filter(|target| *target > Rate::ZERO);
                self.size = Some(*size);
            }
            Event::Paused { .. } => self.paused = true,
            Event::Resumed { .. } => self.paused = false,
            Event::Feedback { arrived, lost, rtt, in_flight } => {
                self.arrived += u64::from(*arrived);
                self.lost += u64::from(*lost);
                self.in_flight = *in_flight;
                if let Some(rtt) = rtt {
                    self.rtt = Some(*rtt);
                    self.min_rtt = Some(self.min_rtt.map_or(*rtt, |min| min.min(*rtt)));
                }
            }
            Event::Variable { name: "alpha", value } => self.alpha = Some(*value),
            Event::SchemeChanged => (self.paused, self.alpha) = (false, None),
            _ => {}
        }
    }

    /// Rate of one kind over the last second before `now`.
    pub fn rate(&self, now: Time, payload: Payload) -> Rate {
        self.recent[payload as usize].rate(now)
    }

    /// Total send rate over the last second before `now`.
    pub fn wire(&self, now: Time) -> Rate {
        self.recent.iter().map(|kind| kind.rate(now)).sum()
    }

    /// The encoder's rate over the last second before `now`.
    pub fn encoded(&self, now: Time) -> Rate {
        self.encoded.rate(now)
    }

    /// Packets lost as a share of those whose fate is known, 0 to 1.
    pub fn loss_ratio(&self) -> Option<f64> {
        let known = self.arrived + self.lost;
        (known > 0).then(|| self.lost as f64 / known as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_control::PacketId;

    #[test]
    fn a_rate_is_that_of_the_nine_whole_tenths_before_now() {
        let mut gauges = Gauges::default();
        for millis in 0..2_000u64 {
            let payload = if millis % 4 == 0 { Payload::Padding } else { Payload::Media };
            let size = Bytes::new(125);
            let event =
                Event::PacketSent { id: PacketId(millis), payload, size, in_flight: Bytes::ZERO, repeats: None };
            gauges.on_event(&Timed { at: Time::from_millis(millis), event });
        }
        let now = Time::from_millis(2_000);
        assert_eq!(gauges.wire(now), Rate::from_kbps(1_000));
        assert_eq!(gauges.rate(now, Payload::Padding), Rate::from_kbps(250));
        assert_eq!(gauges.rate(now, Payload::Media), Rate::from_kbps(750));
        assert_eq!(gauges.wire(Time::from_millis(4_000)), Rate::ZERO);
    }
}
