//! Parity: sums of media packets from which the receiver makes what it misses, without asking (RFC 8627; fec.md).
//!
//! How much there may be is a share of what is sent: every packet that leaves earns its part, a parity packet costs its
//! size, and at a frame's end the next ones are as many as are nearest to what was earned, so that the share is kept in
//! the long run. They leave right behind the frame, and packet i is under the one numbered i modulo their number: a
//! burst of losses spreads over them.

mod protected;
mod sum;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use thalweg_units::{Bytes, ConfigError, Span, Time};

use crate::packet::Fragment;
pub use protected::{LONGEST, Protected};
pub use sum::Sum;

/// How much parity, and over what.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// How much.
    pub amount: Amount,
    /// Packets so far apart, or farther, are never protected together: 46, so that the header has the middle of
    /// FlexFEC's masks, or 1 to 109.
    pub packets: u64,
    /// A packet that no parity was due for yet may come under one within this time, and within a round trip, after
    /// which a repeat is quicker (fec.md section 3); zero to protect every frame by itself (R).
    pub reach: Span,
    /// At most this many parity packets for each media packet. One makes duplicates; where half is lost, so are half of
    /// those, and what repeats do not need of the wire is better spent on more (R).
    pub most_per_packet: f64,
    /// The parity packet's own RTP header extensions, besides those it protects: transport-wide-cc-01 in the one-byte
    /// form.
    pub extensions: Bytes,
}

/// How much parity there is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Amount {
    /// What the budget grants, by the losses seen.
    #[default]
    Granted,
    /// This share of what is sent, whatever is lost: 0 to 0.9.
    Share(f64),
}

impl Default for Config {
    fn default() -> Config {
        Config {
            amount: Amount::Granted,
            packets: 46,
            reach: Span::from_millis(100),
            most_per_packet: 3.0,
            extensions: Bytes::new(8),
        }
    }
}

impl Config {
    /// Parity for a stream that begins.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn build(self) -> Result<Parity, ConfigError> {
        if !(1..=LONGEST).contains(&self.packets) {
            return Err(ConfigError::out_of_range("repair.parity.packets", self.packets, "1 to 109, such as 46"));
        }
        if self.reach < Span::ZERO {
            return Err(ConfigError::out_of_range("repair.parity.reach", self.reach, "0 or longer, such as 100ms"));
        }
        if !(self.most_per_packet > 0.0 && self.most_per_packet <= 10.0) {
            let (value, range) = (self.most_per_packet, "above 0 and at most 10, such as 3");
            return Err(ConfigError::out_of_range("repair.parity.most_per_packet", value, range));
        }
        if let Amount::Share(share) = self.amount
            && !(0.0..=0.9).contains(&share)
        {
            return Err(ConfigError::out_of_range("repair.parity.amount.share", share, "0 to 0.9: media is left"));
        }
        Ok(Parity { config: self, earned: 0.0, uncovered: VecDeque::new(), waiting: VecDeque::new() })
    }
}

/// A media packet that no parity packet protects.
#[derive(Debug, Clone, Copy)]
struct Uncovered {
    sequence: u64,
    at: Time,
    fragment: Fragment,
    size: Bytes,
}

/// A parity packet that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// The media packets it is the sum of.
    pub protects: Protected,
    /// Their sum.
    pub sum: Sum,
    /// Its wire size.
    pub size: Bytes,
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Parity {
    config: Config,
    /// Bytes of parity that may be sent; below zero, when more was sent.
    earned: f64,
    uncovered: VecDeque<Uncovered>,
    waiting: VecDeque<Due>,
}

impl Parity {
    /// The share of what is sent that is to be parity, when the budget grants `granted`.
    pub fn share(&self, granted: f64) -> f64 {
        match self.config.amount {
            Amount::Granted => granted,
            Amount::Share(share) => share,
        }
    }

    /// Media packet `sequence` of wire size `size` left; sequences come without gaps. `granted` is what the budget
    /// grants.
    pub fn on_media(
        &mut self,
        now: Time,
        (sequence, fragment): (u64, Fragment),
        size: Bytes,
        granted: f64,
        srtt: Span,
    ) {
        let reach = self.config.reach.min(srtt);
        let too_old = |packet: &Uncovered| packet.fragment.frame != fragment.frame && packet.at + reach < now;
        while self.uncovered.front().is_some_and(too_old) {
            self.uncovered.pop_front();
        }
        self.earned += self.share(granted) * size.as_f64();
        self.uncovered.push_back(Uncovered { sequence, at: now, fragment, size });
        if fragment.index + 1 >= fragment.count || self.uncovered.len() as u64 == self.config.packets {
            self.cover(granted);
        }
        if self.uncovered.len() as u64 == self.config.packets {
            self.uncovered.pop_front();
        }
    }

    /// Something else that is no filler left: a repeat.
    pub fn on_other(&mut self, size: Bytes, granted: f64) {
        self.earned += self.share(granted) * size.as_f64();
    }

    /// Makes what was earned of what is uncovered.
    fn cover(&mut self, granted: f64) {
        let Some(all) = Protected::of(self.uncovered.iter().map(|packet| packet.sequence)) else { return };
        let longest = self.uncovered.iter().map(|packet| packet.size).max().unwrap_or(Bytes::ZERO);
        // A parity packet earns its part too.
        let cost = (longest + all.header() + self.config.extensions).as_f64() * (1.0 - self.share(granted));
        let most = libm::floor(self.uncovered.len() as f64 * self.config.most_per_packet).max(1.0);
        let count = libm::round(self.earned / cost).clamp(0.0, most) as usize;
        if count == 0 {
            return;
        }
        let packets: Vec<Uncovered> = self.uncovered.drain(..).collect();
        let mut left = count;
        while left > 0 {
            let groups = left.min(packets.len());
            left -= groups;
            for first in 0..groups {
                self.make(&packets, first, groups, granted);
            }
        }
        // What could not be spent is not for later frames.
        self.earned = self.earned.min(cost);
    }

    /// The sum of every `stride`-th of `packets` from number `first`.
    fn make(&mut self, packets: &[Uncovered], first: usize, stride: usize, granted: f64) {
        let members = || packets.iter().skip(first).step_by(stride);
        let Some(protects) = Protected::of(members().map(|packet| packet.sequence)) else { return };
        let longest = members().map(|packet| packet.size).max().unwrap_or(Bytes::ZERO);
        let size = longest + protects.header() + self.config.extensions;
        self.earned -= size.as_f64() * (1.0 - self.share(granted));
        self.waiting.push_back(Due { protects, sum: Sum::of(members().map(|packet| &packet.fragment)), size });
    }

    /// The parity packet that is due next.
    pub fn head(&self) -> Option<&Due> {
        self.waiting.front()
    }

    /// Takes it out.
    pub fn pop(&mut self) -> Option<Due> {
        self.waiting.pop_front()
    }

    /// The frames under way are given up.
    pub fn flush(&mut self) {
        self.uncovered.clear();
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests;
