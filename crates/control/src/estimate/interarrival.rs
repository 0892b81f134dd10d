//! How times between arrivals are averaged: by whichever side measures them.

use thalweg_units::{Bytes, ConfigError, Span, above_to, check};

use crate::packet::MSS;

/// The average's parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Smoothing {
    /// alpha: how much a new time counts (Salsify section 3.2: 0.1).
    pub gain: f64,
    /// Take the beginning out: the paper's average begins with nothing between the first packet and itself, so that for some twenty
    /// packets the path seems many times faster than it is. The authors' encoder made a frame in 50 ms and could not do much
    /// harm in that time; one that makes sixty a second fills the path for seconds. Without the beginning, the average is
    /// divided by the weight of what was measured.
    pub corrects_beginning: bool,
    /// In what a path's work is counted.
    pub unit: Unit,
}

/// In what a path's work is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Unit {
    /// In packets, whatever their size: the paper's, whose packets are all full but a frame's last. Where frames have but a packet
    /// or two, or are cut into equal ones, the path looks as much faster than it is as they are smaller.
    Packets,
    /// In bytes: the time is that of a packet of so many on the wire.
    Bytes(Bytes),
}

impl Default for Smoothing {
    fn default() -> Smoothing {
        Smoothing { gain: 0.1, corrects_beginning: true, unit: Unit::Bytes(MSS) }
    }
}

impl Smoothing {
    /// As the paper has it.
    pub const PAPER: Smoothing = Smoothing { gain: 0.1, corrects_beginning: false, unit: Unit::Packets };

    /// The average before anything arrived.
    ///
    /// # Errors
    /// When the gain is no share.
    pub fn build(self) -> Result<Average, ConfigError> {
        check("salsify.gain", self.gain).within(above_to(0.0, 1.0), "0.1")?;
        check("salsify.unit", Bytes::ZERO)
            .is(self.unit != Unit::Bytes(Bytes::ZERO), "packets of more than 0 bytes, such as 1240B")?;
        Ok(Average { smoothing: self, microseconds: 0.0, work: 0.0, begun: false })
    }
}

/// An average of times between arrivals.
#[derive(Debug, Clone, Copy)]
pub struct Average {
    smoothing: Smoothing,
    microseconds: f64,
    /// The same average of the share that each packet was of the unit.
    work: f64,
    begun: bool,
}

impl Average {
    /// The first packet arrived.
    pub fn begin(&mut self) {
        self.begun = true;
    }

    /// A packet of `size` on the wire arrived this long after the one before, the sender's pauses taken off; below zero counts as
    /// zero.
    pub fn add(&mut self, interarrival: Span, size: Bytes) {
        let sample = interarrival.max(Span::ZERO).as_nanos() as f64 / 1000.0;
        let work = match self.smoothing.unit {
            Unit::Packets => 1.0,
            Unit::Bytes(unit) => size.as_f64() / unit.as_f64(),
        };
        let gain = self.smoothing.gain;
        self.microseconds += gain * (sample - self.microseconds);
        self.work += gain * (work - self.work);
    }

    /// tau, in whole microseconds as the authors' receiver rounds it; `None` before anything was measured.
    pub fn value(&self) -> Option<Span> {
        let microseconds = if self.smoothing.corrects_beginning || self.smoothing.unit != Unit::Packets {
            (self.work > 0.0).then(|| self.microseconds / self.work)
        } else {
            self.begun.then_some(self.microseconds)
        };
        microseconds.map(|microseconds| Span::from_micros(microseconds as i64))
    }
}

/// Which of the sender's pauses are taken off the time between two arrivals: the grace period that packets carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Grace {
    /// Of the time since the packet before, what the path was empty for. A packet that had to wait for the one before it was late
    /// because of the path, however long the sender paused: where frames have but a packet or two, the paper's rule takes off
    /// the pause between pictures even from packets that queue, and the path looks twice as fast as it is. Only the sender can
    /// tell, who knows the least delay there is; a receiver takes [`Grace::FirstOfFrame`] instead.
    #[default]
    WhileEmpty,
    /// The time since the packet before, of every packet, as the paper has it (Salsify section 3.2).
    EveryPacket,
    /// The time before a frame's first packet, as the authors' code has it: pacing within a frame, which is to be faster than the
    /// path, is not taken off.
    FirstOfFrame,
    /// None: the ablation without grace periods.
    None,
}

impl Grace {
    /// The grace period of a packet that leaves `gap` after the one before, and begins a frame or is no part of any: whatever is
    /// none was sent because the sender chose to, like a frame's beginning. [`Grace::WhileEmpty`] has that of
    /// [`Grace::FirstOfFrame`] for an end that cannot tell.
    pub fn of(self, begins: bool, gap: Span) -> Span {
        match self {
            Grace::EveryPacket => gap,
            Grace::FirstOfFrame | Grace::WhileEmpty if begins => gap,
            Grace::FirstOfFrame | Grace::WhileEmpty | Grace::None => Span::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(smoothing: Smoothing) -> alloc::vec::Vec<Option<Span>> {
        let mut average = smoothing.build().unwrap();
        average.begin();
        let mut values = alloc::vec![average.value()];
        for millis in [20, 20, 10] {
            average.add(Span::from_millis(millis), Bytes::new(750));
            values.push(average.value());
        }
        values
    }

    #[test]
    fn the_beginning_pulls_the_papers_average_down_and_not_the_corrected_one() {
        let micros = |values: [i64; 3]| values.map(|value| Some(Span::from_micros(value)));
        assert_eq!(values(Smoothing::PAPER)[1..], micros([2000, 3800, 4420]));
        assert_eq!(values(Smoothing::PAPER)[0], Some(Span::ZERO));
        // 4420 over a weight of 1 - 0.9^3.
        let corrected = Smoothing { corrects_beginning: true, ..Smoothing::PAPER };
        assert_eq!(values(corrected)[1..], micros([20_000, 20_000, 16_309]));
        assert_eq!(values(corrected)[0], None);
        // A packet of half the unit takes half of its time.
        assert_eq!(values(Smoothing::default())[1..], micros([40_000, 40_000, 32_619]));
    }
}
