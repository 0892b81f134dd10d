//! Record of each flow of a run, from its events.

use thalweg_control::Payload;
use thalweg_lab::record::What;
use thalweg_lab::simulate::Run;
use thalweg_netsim::DropReason;
use thalweg_sender::Event;
use thalweg_units::Bytes;

/// The length of a bin, in seconds: a divisor of RFC 8868's 200 ms, and of all times of the cases.
pub const BIN_S: f64 = 0.1;

/// A packet that arrived.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arrival {
    /// When, in seconds.
    pub at_s: f64,
    /// Time under way, in ms.
    pub delay_ms: f64,
    /// Time in queues without its own transmission, in ms.
    pub waited_ms: f64,
}

/// A media flow.
#[derive(Debug, Clone, Default)]
pub struct FlowLog {
    /// Bits sent by bin, padding and all.
    pub sent: Vec<f64>,
    /// Bits of padding sent by bin.
    pub filler: Vec<f64>,
    /// Bits received by bin.
    pub received: Vec<f64>,
    /// Packets that arrived, by arrival.
    pub arrivals: Vec<Arrival>,
    /// When packets were sent, in seconds, by their numbers: the laboratory numbers those of a flow from 0 without gaps.
    pub sent_s: Vec<f64>,
    /// When the packets that were dropped were sent, by drop, in seconds.
    pub dropped_s: Vec<f64>,
    /// Bytes sent that are not padding.
    pub media_bytes: u64,
    /// Bytes of reports.
    pub report_bytes: u64,
    /// When reports were sent, in order, in seconds.
    pub reports_s: Vec<f64>,
    /// When links dropped some, in order, in seconds.
    pub reports_dropped_s: Vec<f64>,
    /// The controller's target, sampled ten times a second and whenever it moves by more than 1 %: seconds and bit/s.
    pub target: Vec<(f64, f64)>,
    /// How long frames waited in the sender, each with when its last packet left: seconds and ms.
    pub pacer_ms: Vec<(f64, f64)>,
    /// When packets of video were sent, in seconds.
    pub video_s: Vec<f64>,
    /// The same of audio.
    pub audio_s: Vec<f64>,
}

/// A flow of TCP or of datagrams.
#[derive(Debug, Clone, Default)]
pub struct TcpLog {
    /// Bits received by bin.
    pub received: Vec<f64>,
    /// How long transfers took, in seconds, each with when it was complete.
    pub transfers: Vec<(f64, f64)>,
}

/// A run.
#[derive(Debug, Clone, Default)]
pub struct Log {
    /// Media flows.
    pub media: Vec<FlowLog>,
    /// The other flows.
    pub tcp: Vec<TcpLog>,
    /// The fingerprint of all events.
    pub fingerprint: u64,
}

fn add(bins: &mut Vec<f64>, at_s: f64, size: Bytes) {
    let bin = (at_s / BIN_S) as usize;
    if bins.len() <= bin {
        bins.resize(bin + 1, 0.0);
    }
    bins[bin] += size.bits() as f64;
}

impl Log {
    /// The log of a run with this many media flows; the other flows are TCP. `service` gives the time in seconds that a
    /// packet of a flow that arrives takes to be sent on links, by flow, time in seconds and size: what the laboratory
    /// counts as queueing and is not waiting.
    pub fn of(run: &Run, media: usize, service: &dyn Fn(usize, f64, Bytes) -> f64) -> Log {
        let mut log =
            Log { media: vec![FlowLog::default(); media], tcp: Vec::new(), fingerprint: run.recorder.fingerprint() };
        for record in run.recorder.records() {
            let (at_s, number) = (record.at.as_secs_f64(), usize::from(record.flow));
            let Some(flow) = log.media.get_mut(number) else {
                let tcp = number - media;
                if log.tcp.len() <= tcp {
                    log.tcp.resize_with(tcp + 1, TcpLog::default);
                }
                match record.what {
                    What::SegmentArrived { size, .. } | What::DatagramArrived { size, .. } => {
                        add(&mut log.tcp[tcp].received, at_s, size)
                    }
                    What::PageRead { took, .. } => log.tcp[tcp].transfers.push((at_s, took.as_secs_f64())),
                    _ => {}
                }
                continue;
            };
            match &record.what {
                What::Sender(Event::PacketSent { id, payload, size, .. }) => {
                    debug_assert_eq!(id.0, flow.sent_s.len() as u64, "packet numbers have a gap");
                    flow.sent_s.push(at_s);
                    add(&mut flow.sent, at_s, *size);
                    match payload {
                        Payload::Media => flow.video_s.push(at_s),
                        Payload::Audio => flow.audio_s.push(at_s),
                        _ => {}
                    }
                    if matches!(payload, Payload::Padding) {
                        add(&mut flow.filler, at_s, *size);
                    } else {
                        flow.media_bytes += size.get();
                    }
                }
                What::Sender(Event::Variable { name: "capacity_bps", value }) => flow.target.push((at_s, *value)),
                What::Sender(Event::SendLimits { capacity, .. }) => flow.target.push((at_s, capacity.as_bps_f64())),
                What::Sender(Event::FrameSent { delay, .. }) => flow.pacer_ms.push((at_s, delay.as_millis_f64())),
                What::Arrived { id, size, queued, .. } => {
                    add(&mut flow.received, at_s, *size);
                    let sent = flow.sent_s.get(*id as usize).copied().unwrap_or(at_s);
                    let waited_ms = (queued.as_secs_f64() - service(number, at_s, *size)).max(0.0) * 1e3;
                    flow.arrivals.push(Arrival { at_s, delay_ms: (at_s - sent) * 1e3, waited_ms });
                }
                // A user who has left a cell hears nothing: what still waits is no loss of a call.
                What::Dropped { why: DropReason::LinkOff, .. } => {}
                What::Dropped { id, .. } => {
                    flow.dropped_s.push(flow.sent_s.get(*id as usize).copied().unwrap_or(at_s));
                }
                What::ReportSent { size, .. } => {
                    flow.reports_s.push(at_s);
                    flow.report_bytes += size.get();
                }
                _ => {}
            }
        }
        for (flow, dropped) in log.media.iter_mut().zip(&run.reports_dropped) {
            flow.reports_dropped_s = dropped.iter().map(|at| at.as_secs_f64()).collect();
        }
        log
    }

    /// Rate that all flows without media receive within a window, in bit/s.
    pub fn cross_rate(&self, window: (f64, f64)) -> f64 {
        self.tcp.iter().map(|tcp| mean_rate(&tcp.received, window)).sum()
    }
}

/// The mean of bits in bins within [from, until), in bit/s; bins beyond the last are empty.
pub fn mean_rate(bins: &[f64], (from_s, until_s): (f64, f64)) -> f64 {
    let [first, last] = [from_s, until_s].map(|at| (at / BIN_S).round().max(0.0) as usize);
    let bits: f64 = bins.iter().take(last).skip(first).sum();
    if until_s > from_s { bits / (until_s - from_s) } else { 0.0 }
}

/// Means over windows of `length`, one for each bin at which such a window within [from, until] ends.
pub fn moving_means(bins: &[f64], (from_s, until_s): (f64, f64), length_s: f64) -> Vec<f64> {
    let [first, last, width] = [from_s, until_s, length_s].map(|at| (at / BIN_S).round().max(0.0) as usize);
    (first + width..=last).map(|end| mean_rate(bins, ((end - width) as f64 * BIN_S, end as f64 * BIN_S))).collect()
}
