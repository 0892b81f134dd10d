//! Averages of interarrival times, for whichever side measures them.

use thalweg_units::{Bytes, ConfigError, Span, above_to, check};

use crate::packet::MSS;

/// The average's parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Smoothing {
    /// alpha: the weight of a new time (Salsify section 3.2: 0.1).
    pub gain: f64,
    /// Corrects the start of the average. The paper's average starts with a time of zero between the first packet and
    /// itself, so the path seems many times faster than it is for some twenty packets. The authors' encoder took 50 ms
    /// per frame and could not do much harm in that time; an encoder at sixty frames a second overfills the path for
    /// seconds. With this correction, the average is divided by the total weight of the measured samples.
    pub corrects_beginning: bool,
    /// The unit in which interarrival times are counted.
    pub unit: Unit,
}

/// The unit in which interarrival times are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Unit {
    /// Per packet, whatever its size, as in the paper, where all packets are full except the last of a frame. Where
    /// frames have only one or two packets, or are cut into equal ones, the path looks faster than it is by the factor
    /// by which they are smaller.
    Packets,
    /// Per byte: the result is the time of a packet of this wire size.
    Bytes(Bytes),
}

impl Default for Smoothing {
    fn default() -> Smoothing {
        Smoothing { gain: 0.1, corrects_beginning: true, unit: Unit::Bytes(MSS) }
    }
}

impl Smoothing {
    /// As in the paper.
    pub const PAPER: Smoothing = Smoothing { gain: 0.1, corrects_beginning: false, unit: Unit::Packets };

    /// The average before the first arrival.
    ///
    /// # Errors
    /// When the gain is outside its range.
    pub fn build(self) -> Result<Average, ConfigError> {
        check("salsify.gain", self.gain).within(above_to(0.0, 1.0), "0.1")?;
        check("salsify.unit", Bytes::ZERO)
            .is(self.unit != Unit::Bytes(Bytes::ZERO), "packets of more than 0 bytes, such as 1240B")?;
        Ok(Average { smoothing: self, microseconds: 0.0, work: 0.0, begun: false })
    }
}

/// An average of interarrival times.
#[derive(Debug, Clone, Copy)]
pub struct Average {
    smoothing: Smoothing,
    microseconds: f64,
    /// The same average of each packet's size as a share of the unit.
    work: f64,
    begun: bool,
}

impl Average {
    /// Records the arrival of the first packet.
    pub fn begin(&mut self) {
        self.begun = true;
    }

    /// Takes a packet of `size` wire bytes that arrived `interarrival` after the one before, the sender's pauses
    /// already subtracted; negative times count as zero.
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

    /// tau, in whole microseconds, rounded as the authors' receiver does; `None` before the first measurement.
    pub fn value(&self) -> Option<Span> {
        let microseconds = if self.smoothing.corrects_beginning || self.smoothing.unit != Unit::Packets {
            (self.work > 0.0).then(|| self.microseconds / self.work)
        } else {
            self.begun.then_some(self.microseconds)
        };
        microseconds.map(|microseconds| Span::from_micros(microseconds as i64))
    }
}

/// Which of the sender's pauses are subtracted from interarrival times: the grace period that packets carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Grace {
    /// The part of the time since the packet before in which the path was empty. A packet that had to wait behind the
    /// one before it was delayed by the path, however long the sender paused. Where frames have only one or two
    /// packets, the paper's rule subtracts the pause between pictures even from packets that queue, and the path looks
    /// twice as fast as it is. Only the sender can tell, because it knows the min delay; a receiver uses
    /// [`Grace::FirstOfFrame`] instead.
    #[default]
    WhileEmpty,
    /// The time since the packet before, for every packet, as in the paper (Salsify section 3.2).
    EveryPacket,
    /// The time before a frame's first packet, as in the authors' code: pacing within a frame, which should be faster
    /// than the path, is not subtracted.
    FirstOfFrame,
    /// Nothing: the ablation without grace periods.
    None,
}

impl Grace {
    /// The grace period of a packet that leaves `gap` after the one before. `begins` says that it begins a frame or
    /// belongs to no frame: the sender chose when to send such a packet, as it does for the beginning of a frame.
    /// [`Grace::WhileEmpty`] gives the same result as [`Grace::FirstOfFrame`], for a side that cannot tell when the
    /// path is empty.
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
