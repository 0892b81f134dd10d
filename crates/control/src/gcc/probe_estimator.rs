//! Measures the rate of probe clusters (specs/gcc.md 8; libwebrtc `probe_bitrate_estimator.cc`).

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Rate, Span, Time};

use crate::controller::Probe;
use crate::feedback::Report;

/// At least this share of the cluster's packets and bytes must have arrived.
const MIN_SHARE: f64 = 0.8;
/// Clusters over a longer span are discarded.
const MAX_SPAN: Span = Span::from_secs(1);
/// Clusters whose receive rate exceeds this many times the send rate are discarded.
const MAX_RATIO: f64 = 2.0;
/// A receive rate below this share of the send rate means that the link was full ...
const SATURATED: f64 = 0.9;
/// ... and then the measurement is this share of the receive rate.
const SATURATED_SHARE: f64 = 0.95;
/// Max clusters that wait for their packets.
const CLUSTERS: usize = 16;

#[derive(Debug, Clone, Copy)]
struct Cluster {
    probe: Probe,
    packets: u32,
    bytes: Bytes,
    first_sent: Time,
    last_sent: Time,
    first_arrival: Time,
    last_arrival: Time,
    last_sent_size: Bytes,
    first_arrived_size: Bytes,
}

/// Collects the arrivals of clusters.
#[derive(Debug, Clone, Default)]
pub(super) struct ProbeEstimator {
    begun: VecDeque<Probe>,
    clusters: VecDeque<Cluster>,
}

impl ProbeEstimator {
    /// Records that a cluster has begun.
    pub(super) fn on_begun(&mut self, probe: Probe) {
        if self.begun.len() == CLUSTERS {
            self.begun.pop_front();
        }
        self.begun.push_back(probe);
    }

    /// Takes an arrived packet; returns a measurement if it belongs to a cluster of which enough has arrived.
    pub(super) fn on_arrival(&mut self, report: &Report) -> Option<Rate> {
        let number = report.packet.probe?;
        let arrival = report.arrival()?;
        let (sent, size) = (report.packet.at, report.packet.size);
        let index = match self.clusters.iter().position(|cluster| cluster.probe.cluster == number) {
            Some(index) => index,
            None => {
                let probe = *self.begun.iter().find(|probe| probe.cluster == number)?;
                if self.clusters.len() == CLUSTERS {
                    self.clusters.pop_front();
                }
                self.clusters.push_back(Cluster {
                    probe,
                    packets: 0,
                    bytes: Bytes::ZERO,
                    first_sent: sent,
                    last_sent: sent,
                    first_arrival: arrival,
                    last_arrival: arrival,
                    last_sent_size: size,
                    first_arrived_size: size,
                });
                self.clusters.len() - 1
            }
        };
        let cluster = &mut self.clusters[index];
        cluster.packets += 1;
        cluster.bytes += size;
        cluster.first_sent = cluster.first_sent.min(sent);
        if sent >= cluster.last_sent {
            (cluster.last_sent, cluster.last_sent_size) = (sent, size);
        }
        if arrival < cluster.first_arrival {
            (cluster.first_arrival, cluster.first_arrived_size) = (arrival, size);
        }
        cluster.last_arrival = cluster.last_arrival.max(arrival);
        cluster.measure()
    }
}

impl Cluster {
    fn measure(&self) -> Option<Rate> {
        let enough = f64::from(self.packets) >= MIN_SHARE * f64::from(self.probe.packets)
            && self.bytes.as_f64() >= MIN_SHARE * self.probe.bytes.as_f64();
        let send_span = self.last_sent - self.first_sent;
        let receive_span = self.last_arrival - self.first_arrival;
        let usable = |span: Span| span > Span::ZERO && span <= MAX_SPAN;
        if !enough || !usable(send_span) || !usable(receive_span) {
            return None;
        }
        let send_rate = (self.bytes - self.last_sent_size).per(send_span);
        let receive_rate = (self.bytes - self.first_arrived_size).per(receive_span);
        let ratio = receive_rate.as_bps_f64() / send_rate.as_bps_f64();
        if ratio > MAX_RATIO {
            None
        } else if ratio < SATURATED {
            Some(receive_rate.scale(SATURATED_SHARE))
        } else {
            Some(send_rate.min(receive_rate))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_packets_sent_in_60_ms_and_received_in_72_measure_760_kbps() {
        let probe = Probe {
            cluster: 1,
            rate: Rate::from_kbps(960),
            packets: 5,
            bytes: Bytes::new(1800),
            spacing: Span::from_millis(2),
        };
        let mut cluster = Cluster {
            probe,
            packets: 7,
            bytes: Bytes::new(8400),
            first_sent: Time::ZERO,
            last_sent: Time::from_millis(60),
            first_arrival: Time::from_millis(100),
            last_arrival: Time::from_millis(172),
            last_sent_size: Bytes::new(1200),
            first_arrived_size: Bytes::new(1200),
        };
        assert_eq!(cluster.measure(), Some(Rate::from_kbps(760)));
        cluster.last_arrival = Time::from_millis(120);
        assert_eq!(cluster.measure(), None, "received over twice as fast as sent");
        cluster.packets = 3;
        assert_eq!(cluster.measure(), None, "too few arrived");
    }
}
