//! Data for a flow's figures, collected as events happen, so that the records themselves need not be stored.

use std::collections::BTreeMap;

use thalweg_control::Payload;
use thalweg_sender::Event;
use thalweg_units::{Bytes, Time};

use super::{Record, What};
use crate::outcome::Mark;

/// Width of a series bin, in seconds.
pub(crate) const BIN_S: f64 = 0.1;

/// Amounts of data by bin.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bins(Vec<f64>);

impl Bins {
    pub(crate) fn add(&mut self, at: Time, size: Bytes) {
        let index = (at.as_secs_f64() / BIN_S) as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, 0.0);
        }
        self.0[index] += size.bits() as f64 / 1e6 / BIN_S;
    }

    /// The values of the first `count` bins, in Mbps.
    pub(crate) fn values(&self, count: usize) -> Vec<f64> {
        let mut values = self.0.clone();
        values.resize(count, 0.0);
        values
    }
}

/// The activity of one flow, a video sender or other traffic.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) sent: Bins,
    pub(crate) video: Bins,
    pub(crate) padding: Bins,
    pub(crate) delivered: Bins,
    pub(crate) wire_bytes: Bytes,
    pub(crate) padding_bytes: Bytes,
    pub(crate) delivered_bytes: Bytes,
    pub(crate) packets: u64,
    pub(crate) arrivals: u64,
    pub(crate) drops: u64,
    /// Queueing delay of each received packet.
    pub(crate) queued_ms: Vec<f64>,
    pub(crate) on_the_way: OnTheWay,
    pub(crate) variables: BTreeMap<&'static str, Vec<(f64, f64)>>,
    pub(crate) marks: Vec<(f64, Mark)>,
    /// Load time of each page.
    pub(crate) pages_s: Vec<f64>,
}

impl Tally {
    pub(super) fn add(&mut self, record: &Record) {
        let at = record.at;
        match record.what {
            What::Sender(Event::PacketSent { id, payload, size, .. }) => {
                self.on_the_way.sent(id.0, at);
                self.packets += 1;
                self.wire_bytes += size;
                self.sent.add(at, size);
                match payload {
                    Payload::Media => self.video.add(at, size),
                    Payload::Padding => {
                        self.padding_bytes += size;
                        self.padding.add(at, size);
                    }
                    Payload::Repair | Payload::Audio => {}
                }
            }
            What::Arrived { id, size, queued, .. } => {
                self.on_the_way.arrived(id, at);
                self.deliver(at, size);
                self.queued_ms.push(queued.as_millis_f64());
            }
            What::Dropped { .. } => {
                self.drops += 1;
                self.mark(at, Mark::Drop);
            }
            What::DatagramArrived { size, .. } | What::SegmentArrived { size, .. } => self.deliver(at, size),
            What::DatagramDropped { .. } | What::SegmentDropped { .. } => self.drops += 1,
            What::PageRead { took, .. } => self.pages_s.push(took.as_secs_f64()),
            What::Sender(Event::Variable { name, value }) => {
                self.variables.entry(name).or_default().push((at.as_secs_f64(), value));
            }
            What::Sender(Event::Paused { .. }) => self.mark(at, Mark::Pause),
            What::Sender(Event::Resumed { .. }) => self.mark(at, Mark::Resume),
            What::Sender(Event::Reset { .. }) => self.mark(at, Mark::Reset),
            What::Sender(Event::FrameQueued { keyframe: true, .. }) => self.mark(at, Mark::Keyframe),
            What::Sender(Event::SizeChanged { .. }) => self.mark(at, Mark::Resize),
            _ => {}
        }
    }

    fn deliver(&mut self, at: Time, size: Bytes) {
        self.delivered_bytes += size;
        self.arrivals += 1;
        self.delivered.add(at, size);
    }

    fn mark(&mut self, at: Time, mark: Mark) {
        self.marks.push((at.as_secs_f64(), mark));
    }
}

/// One-way delays of a flow's received packets.
#[derive(Debug, Clone, Default)]
pub(crate) struct OnTheWay {
    /// Sending time of each packet, by its index in sending order.
    left: Vec<Time>,
    /// By bin of arrival: the sum of delays in ms, and the number of packets.
    bins: Vec<(f64, u32)>,
}

impl OnTheWay {
    /// A packet was sent.
    fn sent(&mut self, id: u64, at: Time) {
        debug_assert_eq!(id, self.left.len() as u64, "packet numbers have a gap");
        self.left.push(at);
    }

    /// A packet arrived.
    fn arrived(&mut self, id: u64, at: Time) {
        let Some(left) = self.left.get(id as usize) else { return };
        let bin = (at.as_secs_f64() / BIN_S) as usize;
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, (0.0, 0));
        }
        self.bins[bin].0 += (at - *left).as_millis_f64();
        self.bins[bin].1 += 1;
    }

    /// Mean over all packets of the first `count` bins, in ms.
    pub(crate) fn mean_ms(&self, count: usize) -> Option<f64> {
        let bins = self.bins.iter().take(count);
        let (sum, count) = bins.fold((0.0, 0), |(sum, count), bin| (sum + bin.0, count + bin.1));
        (count > 0).then(|| sum / f64::from(count))
    }

    /// Mean of each of the first `count` bins with arrivals: (seconds, ms).
    pub(crate) fn by_bin(&self, count: usize) -> Vec<(f64, f64)> {
        let bins = self.bins.iter().take(count).enumerate().filter(|(_, (_, count))| *count > 0);
        bins.map(|(index, (sum, count))| (index as f64 * BIN_S, sum / f64::from(*count))).collect()
    }
}
