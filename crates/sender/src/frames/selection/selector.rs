//! Which frames of a group are sent, decided one by one as they are encoded (specs/rebera.md 6).

use alloc::vec;
use alloc::vec::Vec;

use thalweg_types::layers::Pattern;
use thalweg_units::Bytes;

use super::estimates::Estimates;
use super::priority::by_worth;

/// How a group's budget is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Method {
    /// Dynamic frame selection (Rebera's algorithm 1): a frame is sent if it fits in the budget after all remaining
    /// decodable frames that are worth more.
    #[default]
    Dynamic,
    /// All layers up to the highest that fits completely by estimate, in coding order until the budget is spent.
    LayerPush,
    /// All frames in coding order until the budget is spent.
    FramePush,
}

/// How much of a group's budget dynamic selection may still spend (`b_h` of algorithm 1). The two push methods may
/// spend all that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Room {
    /// `b - max(S, (n/N) b)`, as printed: the budget of the elapsed time is gone even if it was not spent.
    #[default]
    Elapsed,
    /// `b - S` (ours): what earlier frames did not use is left for later ones.
    Unspent,
}

impl Room {
    /// Bytes left of `budget` after `spent` bytes and this share of the group's duration, 0..1.
    fn left(self, budget: f64, spent: f64, elapsed: f64) -> f64 {
        match self {
            Room::Elapsed => budget - spent.max(elapsed * budget),
            Room::Unspent => budget - spent,
        }
    }
}

/// The frames of one group, and what is left of its budget.
///
/// Frames are considered in coding order; the first of a group is always sent. Sizes are in the same kind of bytes as
/// the budget.
#[derive(Debug, Clone)]
pub struct Selector {
    method: Method,
    room: Room,
    pattern: Pattern,
    by_worth: Vec<u32>,
    estimates: Estimates,
    /// b: the group's budget.
    budget: Bytes,
    /// S: what the group's sent frames took.
    spent: Bytes,
    /// For each frame of the group, whether it is still to come and could be decoded.
    possible: Vec<bool>,
    /// With the push methods: the budget is spent, so no more frames are sent.
    exhausted: bool,
    /// With layer push: the highest layer that is sent.
    highest: u8,
}

impl Selector {
    /// A selector with no budget; in the average of sizes the newest has weight `gain`, 0..=1 (gamma).
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

    /// Begins a group with this budget.
    pub fn begin(&mut self, budget: Bytes) {
        (self.budget, self.spent, self.exhausted) = (budget, Bytes::ZERO, false);
        self.possible.fill(true);
    }

    /// b: the group's budget.
    pub fn budget(&self) -> Bytes {
        self.budget
    }

    /// S: what the group's sent frames took so far.
    pub fn spent(&self) -> Bytes {
        self.spent
    }

    /// Returns true if the frame at `place` could be decoded and is still to come.
    pub fn is_possible(&self, place: u32) -> bool {
        self.possible.get(place as usize).copied().unwrap_or(false)
    }

    /// The frame at `place` is not sent, whatever its size.
    pub fn leave_out(&mut self, place: u32) {
        for missed in core::iter::once(place).chain(self.pattern.closure(place)) {
            if let Some(possible) = self.possible.get_mut(missed as usize) {
                *possible = false;
            }
        }
    }

    /// The frame at `place` was encoded and takes `size`; returns whether to send it.
    pub fn consider(&mut self, place: u32, size: Bytes) -> bool {
        let layer = self.pattern.layer(place).number;
        if place == 0 {
            self.estimates.on_keyframe(size);
        } else {
            // Unsent frames count too, and before the decision.
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

    /// Returns true if the frame fits in the room after all possible frames that are worth more.
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

    /// The highest layer up to which all frames fit by estimate, after a keyframe of `size`; at least the base layer.
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
