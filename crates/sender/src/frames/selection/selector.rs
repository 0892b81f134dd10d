//! Which frames of a group are sent, decided one after the other as they are made (specs/rebera.md 6).

use alloc::vec;
use alloc::vec::Vec;

use thalweg_media::layers::Pattern;
use thalweg_units::Bytes;

use super::estimates::Estimates;
use super::priority::by_worth;

/// How a budget is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Method {
    /// Dynamic frame selection (Rebera's algorithm 1): a frame is sent if, of all that are left and could be decoded, those worth more
    /// leave room for it.
    #[default]
    Dynamic,
    /// The highest layer that all fits by estimate, in order of coding until the budget is spent.
    LayerPush,
    /// In order of coding until the budget is spent.
    FramePush,
}

/// What of a group's budget dynamic selection may still spend (`b_h` of algorithm 1). The pushes spend all that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Room {
    /// `b - max(S, (n/N) b)`, as printed: the share of the time that is over is gone, even where it was not spent.
    #[default]
    Elapsed,
    /// `b - S` (ours): what earlier frames left over is for later ones.
    Unspent,
}

impl Room {
    /// Bytes left of `budget` when `spent` is spent and this share of the group is over, 0..1.
    fn left(self, budget: f64, spent: f64, elapsed: f64) -> f64 {
        match self {
            Room::Elapsed => budget - spent.max(elapsed * budget),
            Room::Unspent => budget - spent,
        }
    }
}

/// The frames of one group, and what of its budget is left.
///
/// Frames are considered in order of coding; the first of a group is always sent. Bytes are of whatever kind the budget is in.
#[derive(Debug, Clone)]
pub struct Selector {
    method: Method,
    room: Room,
    pattern: Pattern,
    by_worth: Vec<u32>,
    estimates: Estimates,
    /// b.
    budget: Bytes,
    /// S: what was sent of it.
    spent: Bytes,
    /// Frames of the group that are to come and could be decoded.
    possible: Vec<bool>,
    /// With the pushes: nothing more is sent.
    exhausted: bool,
    /// With layer push: the highest layer that is sent.
    highest: u8,
}

impl Selector {
    /// A selector with no budget; of an average of sizes the newest weighs `gain`, 0..=1 (gamma).
    pub fn new(method: Method, room: Room, pattern: Pattern, gain: f64) -> Selector {
        Selector {
            method,
            room,
            pattern,
            by_worth: by_worth(&pattern),
            estimates: Estimates::new(gain),
            budget: Bytes::ZERO,
            spent: Bytes::ZERO,
            possible: vec![true; pattern.period() as usize],
            exhausted: false,
            highest: 0,
        }
    }

    /// A group begins, and may cost so much.
    pub fn begin(&mut self, budget: Bytes) {
        (self.budget, self.spent, self.exhausted) = (budget, Bytes::ZERO, false);
        self.possible.fill(true);
    }

    /// b.
    pub fn budget(&self) -> Bytes {
        self.budget
    }

    /// S: what was sent of the group so far.
    pub fn spent(&self) -> Bytes {
        self.spent
    }

    /// Whether the frame at `place` could be sent: what it refers to was.
    pub fn is_possible(&self, place: u32) -> bool {
        self.possible.get(place as usize).copied().unwrap_or(false)
    }

    /// The frame at `place` is not sent, whatever it would cost.
    pub fn leave_out(&mut self, place: u32) {
        for missed in core::iter::once(place).chain(self.pattern.closure(place)) {
            if let Some(possible) = self.possible.get_mut(missed as usize) {
                *possible = false;
            }
        }
    }

    /// The frame at `place` was made and takes `size`: whether to send it.
    pub fn consider(&mut self, place: u32, size: Bytes) -> bool {
        let layer = self.pattern.layer(place).number;
        if place == 0 {
            self.estimates.on_keyframe(size);
        } else {
            // Also of frames that are not sent, and before it is decided.
            self.estimates.on_frame(layer, size);
        }
        let send = self.is_possible(place)
            && match self.method {
                _ if place == 0 => true,
                Method::Dynamic => self.is_worth_it(place, size),
                Method::LayerPush => layer <= self.highest && self.pushes(size),
                Method::FramePush => self.pushes(size),
            };
        if place == 0 {
            self.highest = self.highest_that_fits(size);
        }
        if send {
            self.spent += size;
            if let Some(possible) = self.possible.get_mut(place as usize) {
                *possible = false;
            }
        } else {
            self.leave_out(place);
        }
        send
    }

    /// Whether the frame is among the dearest of those left that fit: the first that does not fit ends them.
    fn is_worth_it(&self, place: u32, size: Bytes) -> bool {
        let elapsed = f64::from(place) / f64::from(self.pattern.period());
        let mut room = self.room.left(self.budget.as_f64(), self.spent.as_f64(), elapsed);
        for candidate in self.by_worth.iter().copied().filter(|candidate| self.is_possible(*candidate)) {
            let cost = if candidate == place {
                size.as_f64()
            } else {
                self.estimates.of(self.pattern.layer(candidate).number)
            };
            room -= cost;
            if room < 0.0 {
                return false;
            }
            if candidate == place {
                return true;
            }
        }
        false
    }

    fn pushes(&mut self, size: Bytes) -> bool {
        self.exhausted |= self.spent + size > self.budget;
        !self.exhausted
    }

    /// The highest layer of which all frames fit by estimate, after a keyframe of `size`; the base at least.
    fn highest_that_fits(&self, size: Bytes) -> u8 {
        let cost = |place: u32| self.estimates.of(self.pattern.layer(place).number);
        let all = |highest: u8| {
            let of_layers = |place: &u32| self.pattern.layer(*place).number <= highest;
            size.as_f64() + (1..self.pattern.period()).filter(of_layers).map(cost).sum::<f64>()
        };
        (0..self.pattern.layers()).rev().find(|highest| all(*highest) <= self.budget.as_f64()).unwrap_or(0)
    }
}

#[cfg(test)]
impl Selector {
    pub(super) fn set_estimates(&mut self, sizes: [f64; 3]) {
        self.estimates.set(sizes);
    }
}
