//! Capacity and loss of the path, measured from packets in their order of arrival (specs/rebera.md 3).
//!
//! The same code runs on both sides: a receiver measures its arrivals, a sender the arrivals reported to it.

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time, above, check};

use crate::feedback::PathReport;

/// How trains are measured. \[P\] is the paper, \[R\] a reading where it is silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct MeasurementConfig {
    /// T: how far back trains count (an intra-period \[P\]: 32 frames at 30 a second).
    pub window: Span,
    /// A train that arrives within less than this is short: packets that waited out an outage arrive at the speed of
    /// the last hop (10 ms \[P\]).
    pub shortest: Span,
    /// How short trains are counted.
    pub short: Short,
    /// Delta: the interval between a receiver's reports (far below T \[P\]: 100 ms \[R\]).
    pub interval: Span,
}

/// How trains that arrive in too short a time are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Short {
    /// Not at all, as in the paper. From 120 kbps on, a path of some Mbps is then never measured, because no frame of
    /// that rate takes 10 ms on it; on a path with varying capacity, only the slow periods are measured.
    LeftOut,
    /// As if they had taken `shortest`, or at the capacity measured before if that is higher: they can raise the
    /// measured capacity but never lower it (ours).
    #[default]
    Min,
}

impl Default for MeasurementConfig {
    fn default() -> MeasurementConfig {
        MeasurementConfig {
            window: Span::from_nanos(1_066_666_667),
            shortest: Span::from_millis(10),
            short: Short::default(),
            interval: Span::from_millis(100),
        }
    }
}

impl MeasurementConfig {
    /// The measurement before anything arrived.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn build(self) -> Result<Measurement, ConfigError> {
        for (name, span) in [("rebera.window", self.window), ("rebera.interval", self.interval)] {
            check(name, span).within(above(Span::ZERO), "1.067s and 100ms")?;
        }
        check("rebera.shortest", self.shortest).within(above(Span::ZERO), "10ms")?;
        Ok(Measurement {
            config: self,
            current: None,
            trains: VecDeque::new(),
            received: Bytes::ZERO,
            lost: Bytes::ZERO,
            last: None,
        })
    }
}

/// A packet as it arrives at the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// When it arrived.
    pub at: Time,
    /// The number of its train, such as the frame number; it increases from train to train. `None` for packets that
    /// must not measure the path, such as retransmissions.
    pub train: Option<u64>,
    /// True for the last packet sent of its train.
    pub last: bool,
    /// Its size on the wire.
    pub size: Bytes,
    /// H: wire bytes sent before it.
    pub before: Bytes,
}

/// A train of packets that left together.
#[derive(Debug, Clone, Copy)]
struct Train {
    number: u64,
    first: Time,
    last: Time,
    /// Z: bytes that arrived after its first packet.
    size: Bytes,
}

/// The max number of trains in a window: 60 frames a second for half a minute, and a bound for a sender that sends one
/// packet per train.
const MAX_TRAINS: usize = 2048;

/// The measurement of the path.
#[derive(Debug, Clone)]
pub struct Measurement {
    config: MeasurementConfig,
    /// The train that is arriving.
    current: Option<Train>,
    trains: VecDeque<Train>,
    received: Bytes,
    lost: Bytes,
    /// The capacity reported last.
    last: Option<Rate>,
}

impl Measurement {
    /// Sets the window over which trains count.
    pub fn set_window(&mut self, window: Span) {
        if window > Span::ZERO {
            self.config.window = window;
        }
    }

    /// Takes an arrived packet; it arrived later than all before it by the receiver's clock. Do not pass duplicates.
    pub fn on_arrival(&mut self, arrival: &Arrival) {
        // Assumes the order of sending: packets sent before this one that have not arrived count as lost. The next
        // arrival corrects the count for a packet that was overtaken.
        self.lost = arrival.before.saturating_sub(self.received);
        self.received += arrival.size;
        let Some(number) = arrival.train else { return };
        match &mut self.current {
            Some(train) if train.number == number => {
                train.last = arrival.at.max(train.last);
                train.size += arrival.size;
            }
            // A late packet of a train that has ended.
            Some(train) if train.number > number => return,
            _ => {
                self.end();
                if self.trains.back().is_some_and(|train| train.number >= number) {
                    return;
                }
                let Arrival { at, .. } = *arrival;
                self.current = Some(Train { number, first: at, last: at, size: Bytes::ZERO });
            }
        }
        if arrival.last {
            self.end();
        }
    }

    fn end(&mut self) {
        let Some(train) = self.current.take() else { return };
        self.trains.push_back(train);
        if self.trains.len() > MAX_TRAINS {
            self.trains.pop_front();
        }
    }

    /// The report at `now`, by the receiver's clock.
    pub fn report(&mut self, now: Time) -> PathReport {
        let MeasurementConfig { window, shortest, short, .. } = self.config;
        // A receiver's clock may be set back: trains far after `now` are discarded.
        self.trains.retain(|train| train.last + window > now && train.last < now + window);
        let (mut size, mut time) = (Bytes::ZERO, Span::ZERO);
        for train in self.trains.iter().filter(|train| train.size > Bytes::ZERO) {
            let lasted = train.last - train.first;
            let lasted = match short {
                _ if lasted >= shortest => lasted,
                Short::LeftOut => continue,
                Short::Min => self.last.map_or(shortest, |last| last.time_for(train.size).min(shortest)),
            };
            size += train.size;
            time += lasted;
        }
        let capacity = (time > Span::ZERO).then(|| size.per(time));
        self.last = capacity.or(self.last);
        PathReport { capacity, received: self.received, lost: self.lost }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KB: Bytes = Bytes::new(1000);

    fn measurement() -> Measurement {
        MeasurementConfig { short: Short::LeftOut, ..MeasurementConfig::default() }.build().unwrap()
    }

    fn arrival(at_ms: u64, train: u64, size: Bytes, before: u64) -> Arrival {
        Arrival { at: Time::from_millis(at_ms), train: Some(train), last: false, size, before: Bytes::new(before) }
    }

    /// Trains of two packets, of which the second has this many bytes and arrives this many ms later: (Z, A).
    fn trains(of: &[(u64, u64)]) -> Measurement {
        let (mut measurement, mut before) = (measurement(), 0);
        for (number, (size, ms)) in of.iter().enumerate() {
            let at = 200 * number as u64;
            measurement.on_arrival(&arrival(at, number as u64, KB, before));
            let second = arrival(at + ms, number as u64, Bytes::new(*size), before + 1000);
            measurement.on_arrival(&Arrival { last: true, ..second });
            before += 1000 + size;
        }
        measurement
    }

    #[test]
    fn trains_add_up_to_the_capacity_and_what_comes_at_once_is_left_out() {
        // specs/rebera.md 9, example 1.
        let mut all = trains(&[(3000, 40), (1500, 5), (6000, 100)]);
        let report = all.report(Time::from_millis(600));
        assert_eq!(report.capacity, Some(Rate::from_bps(514_285)));
        assert_eq!((report.received, report.lost), (Bytes::new(13_500), Bytes::ZERO));
        all.config.shortest = Span::from_nanos(1);
        assert_eq!(all.report(Time::from_millis(600)).capacity, Some(Rate::from_bps(579_310)));
        // 10500 bytes in 150 ms: 1500 of them within 5 ms count as 10 ms.
        all.config = MeasurementConfig::default();
        assert_eq!(all.report(Time::from_millis(600)).capacity, Some(Rate::from_kbps(560)));
    }

    #[test]
    fn a_train_counts_for_one_window_from_its_last_packet_on() {
        let mut one = trains(&[(3000, 40)]);
        let until = Time::from_millis(40) + MeasurementConfig::default().window;
        assert!(one.report(until - Span::from_nanos(1)).capacity.is_some());
        assert_eq!(one.report(until).capacity, None);
    }

    #[test]
    fn a_train_is_over_when_the_next_begins_although_its_last_packet_never_came() {
        let mut measurement = measurement();
        for (at, train, before) in [(0, 0, 0), (30, 0, 1000), (60, 0, 2000), (100, 1, 4000)] {
            measurement.on_arrival(&arrival(at, train, KB, before));
        }
        assert_eq!(measurement.report(Time::from_millis(100)).capacity, Some(Rate::from_bps(266_666)));
        // An overtaken packet of the first train neither restarts that train nor ends the second.
        measurement.on_arrival(&arrival(110, 0, KB, 3000));
        measurement.on_arrival(&Arrival { last: true, ..arrival(120, 1, KB, 5000) });
        assert_eq!(measurement.report(Time::from_millis(120)).capacity, Some(Rate::from_bps(300_000)));
    }

    #[test]
    fn a_lost_packet_is_told_from_one_that_waits_by_the_bytes_before_the_next() {
        // specs/rebera.md 9, example 5: the third of four is lost.
        let mut measurement = measurement();
        for before in [0, 1000, 3000] {
            measurement.on_arrival(&arrival(before / 100, 0, KB, before));
        }
        let report = measurement.report(Time::from_millis(40));
        assert_eq!((report.received, report.lost), (Bytes::new(3000), KB));
        assert_eq!(Bytes::new(4000).saturating_sub(report.received + report.lost), Bytes::ZERO);
        // It was late: the next packet corrects the loss count to zero.
        measurement.on_arrival(&arrival(50, 0, KB, 2000));
        measurement.on_arrival(&arrival(60, 0, KB, 4000));
        let report = measurement.report(Time::from_millis(60));
        assert_eq!((report.received, report.lost), (Bytes::new(5000), Bytes::ZERO));
    }

    #[test]
    fn repeats_are_counted_and_measure_nothing() {
        let mut measurement = measurement();
        for at in 0..10 {
            measurement.on_arrival(&Arrival { train: None, ..arrival(20 * at, 0, KB, 1000 * at) });
        }
        let report = measurement.report(Time::from_millis(200));
        assert_eq!((report.capacity, report.received), (None, Bytes::new(10_000)));
    }

    proptest! {
        /// The bytes reported as received plus those reported as lost always equal the bytes sent up to the last
        /// arrival.
        #[test]
        fn what_was_sent_is_received_or_lost(packets in prop::collection::vec((1u64..1500, any::<bool>()), 1..200)) {
            let (mut measurement, mut before, mut received) = (measurement(), 0, 0);
            for (number, (size, came)) in packets.iter().enumerate() {
                if *came {
                    measurement.on_arrival(&arrival(number as u64, number as u64 / 3, Bytes::new(*size), before));
                    received += size;
                    let report = measurement.report(Time::from_millis(number as u64));
                    prop_assert_eq!(report.received + report.lost, Bytes::new(before + size));
                    prop_assert_eq!(report.received, Bytes::new(received));
                }
                before += size;
            }
        }
    }
}
