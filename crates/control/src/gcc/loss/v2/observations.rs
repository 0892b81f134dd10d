//! Recent sent and lost bytes, in observations of 250 ms of sending time (libwebrtc
//! `LossBasedBweV2::PushBackObservation` and `CalculateAverageReportedByteLossRatio`).

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use thalweg_units::{Bytes, Span, Time};

use super::V2Config;
use crate::feedback::{Fate, Report};
use crate::packet::PacketId;

/// The min sending time that an observation covers.
const OBSERVATION: Span = Span::from_millis(250);
/// Weight of an observation relative to the next newer one.
const TEMPORAL_WEIGHT: f64 = 0.9;
/// Losses of an observation sent at this many times the median rate are attributed to that rate; they are no outlier.
const SUDDEN: f64 = 2.0;

/// Bytes in kB (or packets) and a rate in kbps, as the constants of the likelihood expect.
#[derive(Debug, Clone, Copy)]
pub(super) struct Observation {
    pub(super) bytes: f64,
    pub(super) lost: f64,
    pub(super) rate: f64,
}

impl Observation {
    fn share_lost(&self) -> f64 {
        self.lost / self.bytes.max(1e-9)
    }
}

#[derive(Debug, Clone, Default)]
struct Partial {
    packets: u32,
    bytes: Bytes,
    lost: BTreeMap<PacketId, Bytes>,
}

/// The newest observations, oldest first, and the partial next one.
#[derive(Debug, Clone)]
pub(super) struct Observations {
    config: V2Config,
    complete: VecDeque<Observation>,
    partial: Partial,
    until: Option<Time>,
}

impl Observations {
    pub(super) fn new(config: V2Config) -> Observations {
        Observations { config, complete: VecDeque::new(), partial: Partial::default(), until: None }
    }

    /// Number of complete observations.
    pub(super) fn len(&self) -> usize {
        self.complete.len()
    }

    /// Sending time of the last packet of the newest observation: the clock of libwebrtc's loss-based estimate.
    pub(super) fn until(&self) -> Time {
        self.until.unwrap_or(Time::ZERO)
    }

    /// Adds packets; returns true when an observation is complete.
    pub(super) fn add(&mut self, reports: &[Report]) -> bool {
        let sent = || reports.iter().map(|report| report.packet.at);
        let (Some(first), Some(last)) = (sent().min(), sent().max()) else { return false };
        for report in reports {
            match report.fate {
                Fate::Lost => {
                    self.partial.packets += 1;
                    self.partial.bytes += report.packet.size;
                    self.partial.lost.insert(report.packet.id, report.packet.size);
                }
                // A late packet that an earlier observation, or a feedback timeout, counted as lost was not counted in
                // this observation.
                Fate::Arrived { .. } => {
                    if self.partial.lost.remove(&report.packet.id).is_none() {
                        self.partial.packets += 1;
                        self.partial.bytes += report.packet.size;
                    }
                }
            }
        }
        let span = last - *self.until.get_or_insert(first);
        if span < OBSERVATION {
            return false;
        }
        self.until = Some(last);
        let partial = core::mem::take(&mut self.partial);
        let (bytes, lost) = if self.config.by_packets {
            (f64::from(partial.packets), partial.lost.len() as f64)
        } else {
            (partial.bytes.as_f64() / 1e3, partial.lost.values().copied().sum::<Bytes>().as_f64() / 1e3)
        };
        self.push(Observation { bytes, lost, rate: partial.bytes.per(span).as_kbps_f64() });
        true
    }

    pub(super) fn push(&mut self, observation: Observation) {
        if self.complete.len() == self.config.window {
            self.complete.pop_front();
        }
        self.complete.push_back(observation);
    }

    /// Observations with their weights, newest last.
    pub(super) fn weighted(&self) -> impl Iterator<Item = (f64, &Observation)> {
        let newest = self.complete.len() as i32 - 1;
        self.complete.iter().enumerate().map(move |(index, observation)| {
            (libm::pow(TEMPORAL_WEIGHT, f64::from(newest - index as i32)), observation)
        })
    }

    /// The average loss without the observations of the most and the least loss, if so configured, unless the most was
    /// sent at twice the usual rate.
    pub(super) fn average_loss(&self) -> f64 {
        let outliers = self.outliers();
        let (mut lost, mut bytes) = (0.0, 0.0);
        for (index, (weight, observation)) in self.weighted().enumerate() {
            if !outliers.is_some_and(|(max, min)| index == max || index == min) {
                lost += weight * observation.lost;
                bytes += weight * observation.bytes;
            }
        }
        if bytes > 0.0 { lost / bytes } else { 0.0 }
    }

    /// The observations with the most and the least loss, if they are excluded.
    fn outliers(&self) -> Option<(usize, usize)> {
        if self.complete.len() <= 3 || !self.config.without_outliers {
            return None;
        }
        let (mut max, mut min) = (0, 0);
        for (index, observation) in self.complete.iter().enumerate() {
            if observation.share_lost() > self.complete[max].share_lost() {
                max = index;
            }
            if observation.share_lost() < self.complete[min].share_lost() {
                min = index;
            }
        }
        (self.complete[max].rate < SUDDEN * self.median_rate()).then_some((max, min))
    }

    fn median_rate(&self) -> f64 {
        let mut rates: Vec<f64> = self.complete.iter().map(|observation| observation.rate).collect();
        rates.sort_by(f64::total_cmp);
        let middle = rates.len() / 2;
        if rates.len() % 2 == 1 { rates[middle] } else { f64::midpoint(rates[middle - 1], rates[middle]) }
    }
}
