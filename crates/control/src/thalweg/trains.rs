//! Short trains, so that the estimate can rise whatever the frames' size.
//!
//! A packet that meets an empty path alone does not say how fast the path is: only the packets behind it do. Where every
//! frame is one packet, because the estimate is low or pictures are many, nothing behind it comes, and the estimate could
//! only fall. So such a frame is followed by packets of padding at once, now and then; each frame, as long as they show that
//! the path is faster.

use thalweg_units::{Bytes, ConfigError, Span, Time, above, check};

use crate::controller::Probe;
use crate::packet::{Payload, SentPacket};

use super::LEAST_PACING;

/// The parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// A frame becomes a train when no packet behind another has measured the path for this long.
    pub after: Span,
    /// Packets that follow the frame's only one.
    pub packets: u32,
    /// Packets that one of them stands for in the averages: few of them cost little.
    pub weight: f64,
    /// The longest time between two trains that show nothing new.
    pub longest: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config { after: Span::from_millis(100), packets: 1, weight: 4.0, longest: Span::from_secs(2) }
    }
}

impl Config {
    pub(super) fn build(self) -> Result<Trains, ConfigError> {
        check("thalweg.trains.after", self.after).within(above(Span::ZERO), "100ms")?;
        check("thalweg.trains.packets", self.packets).within(1..=10, "1")?;
        check("thalweg.trains.weight", self.weight).within(1.0..=100.0, "4")?;
        check("thalweg.trains.longest", self.longest).within(self.after.., "2s")?;
        Ok(Trains { config: self, cluster: 0, asked: None, measured: Time::ZERO, next: Time::ZERO, wait: self.after })
    }
}

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Trains {
    config: Config,
    cluster: u32,
    /// The train that has not begun.
    asked: Option<Probe>,
    /// When a packet behind another last measured the path.
    measured: Time,
    next: Time,
    wait: Span,
}

impl Trains {
    /// The train to send.
    pub(super) fn probe(&self) -> Option<Probe> {
        self.asked
    }

    /// Takes a packet that leaves; returns true if a train follows it.
    pub(super) fn on_sent(&mut self, packet: &SentPacket) -> bool {
        if packet.probe.is_some() {
            self.asked = None;
        }
        let is_alone = packet.payload == Payload::Media && packet.place.is_some_and(|place| place.first && place.last);
        let is_due = packet.at >= self.next && packet.at - self.measured >= self.config.after;
        if !is_alone || !is_due || self.asked.is_some() {
            return false;
        }
        self.cluster += 1;
        self.asked = Some(Probe::new(self.cluster, LEAST_PACING, self.config.packets, Bytes::ZERO, Span::ZERO));
        self.next = packet.at + self.wait;
        self.wait = (self.wait * 2).min(self.config.longest);
        true
    }

    /// Packets behind others have measured the path, of a train or of a frame; `rose` says whether it is faster than
    /// believed.
    pub(super) fn on_measured(&mut self, now: Time, of_frame: bool, rose: bool) {
        if of_frame {
            self.measured = now;
        }
        if of_frame || rose {
            self.wait = self.config.after;
        }
        if rose {
            self.next = now;
        }
    }
}
