//! Observations of a run: the arrived packets of each flow, and its sender's variables.

use std::ops::Range;

use thalweg_netsim::DropReason;
use thalweg_sender::Event;

use thalweg_lab::record::What;
use thalweg_lab::scenario::Scenario;
use thalweg_lab::simulate::Run;

/// A part of a run, in seconds.
pub type Window = Range<f64>;

/// A packet that arrived.
#[derive(Debug, Clone, Copy)]
struct Packet {
    at_s: f64,
    bytes: f64,
    wait_ms: f64,
    is_marked: bool,
}

/// A run that was played.
#[derive(Debug, Clone)]
pub struct Observed {
    /// By flow: 0 is the sender under test.
    flows: Vec<Vec<Packet>>,
    /// Those of the sender under test: when, which, what.
    variables: Vec<(f64, &'static str, f64)>,
    /// When packets of the sender under test were dropped for their ECN field.
    dropped_s: Vec<f64>,
    /// The same of any reason.
    dropped: usize,
    latency_p95_ms: f64,
    fingerprint: u64,
    end_s: f64,
}

impl Observed {
    pub(super) fn of(run: Run, scenario: &Scenario) -> Observed {
        let mut observed = Observed {
            flows: Vec::new(),
            variables: Vec::new(),
            dropped_s: Vec::new(),
            dropped: 0,
            latency_p95_ms: run.outcome.summary.latency_p95_ms.unwrap_or(f64::NAN),
            fingerprint: run.recorder.fingerprint(),
            end_s: scenario.duration.as_secs_f64(),
        };
        for record in run.recorder.records() {
            let (at_s, flow) = (record.at.as_secs_f64(), usize::from(record.flow));
            match &record.what {
                What::Arrived { size, queued, marked, .. } | What::SegmentArrived { size, queued, marked } => {
                    if observed.flows.len() <= flow {
                        observed.flows.resize(flow + 1, Vec::new());
                    }
                    let (bytes, wait_ms, is_marked) = (size.as_f64(), queued.as_millis_f64(), marked.is_some());
                    observed.flows[flow].push(Packet { at_s, bytes, wait_ms, is_marked });
                }
                What::Dropped { why, .. } if flow == 0 => {
                    observed.dropped += 1;
                    if *why == DropReason::EcnCapable {
                        observed.dropped_s.push(at_s);
                    }
                }
                What::Sender(Event::Variable { name, value }) if flow == 0 => {
                    observed.variables.push((at_s, name, *value));
                }
                _ => {}
            }
        }
        observed
    }

    /// The whole run.
    pub fn whole(&self) -> Window {
        0.0..self.end_s
    }

    fn packets(&self, flow: usize, window: &Window) -> &[Packet] {
        let all = self.flows.get(flow).map_or(&[][..], Vec::as_slice);
        let place = |at: f64| all.partition_point(|packet| packet.at_s < at);
        &all[place(window.start)..place(window.end)]
    }

    /// Received rate of a flow, from IP upwards, in Mbps.
    pub fn mbps(&self, flow: usize, window: Window) -> f64 {
        let bytes: f64 = self.packets(flow, &window).iter().map(|packet| packet.bytes).sum();
        bytes * 8e-6 / (window.end - window.start)
    }

    /// The least of that in a second, or in so many, that begin with a whole one.
    pub fn least_mbps(&self, flow: usize, window: Window, seconds: f64) -> f64 {
        let starts = (0..).map(|second| window.start + f64::from(second)).take_while(|at| at + seconds <= window.end);
        starts.map(|at| self.mbps(flow, at..at + seconds)).fold(f64::NAN, f64::min)
    }

    /// The seconds from the window's start until what arrived within a second is this much; NaN if it never is.
    pub fn seconds_until_mbps(&self, flow: usize, window: Window, mbps: f64) -> f64 {
        let mut ends = (10..).map(|tenth| window.start + f64::from(tenth) / 10.0).take_while(|at| *at <= window.end);
        let found = ends.find(|end| self.mbps(flow, end - 1.0..*end) >= mbps);
        found.map_or(f64::NAN, |end| end - window.start)
    }

    /// The queueing time that this share of a flow's packets does not exceed, in ms; NaN if none arrived.
    pub fn wait_ms(&self, flow: usize, window: Window, share: f64) -> f64 {
        let mut waits: Vec<f64> = self.packets(flow, &window).iter().map(|packet| packet.wait_ms).collect();
        waits.sort_by(f64::total_cmp);
        let last = waits.len().checked_sub(1);
        last.map_or(f64::NAN, |last| waits[(last as f64 * share) as usize])
    }

    /// How many ms after the window's start a packet, later than the one that waited longest, waited less than `below_ms`.
    pub fn ms_until_wait_below(&self, flow: usize, window: Window, below_ms: f64) -> f64 {
        let packets = self.packets(flow, &window);
        let longest = packets.iter().enumerate().max_by(|(_, a), (_, b)| a.wait_ms.total_cmp(&b.wait_ms));
        let after = longest.and_then(|(place, _)| packets[place..].iter().find(|packet| packet.wait_ms < below_ms));
        after.map_or(f64::NAN, |packet| (packet.at_s - window.start) * 1e3)
    }

    /// The share of a flow's packets that were marked.
    pub fn marked(&self, flow: usize, window: Window) -> f64 {
        let packets = self.packets(flow, &window);
        packets.iter().filter(|packet| packet.is_marked).count() as f64 / packets.len() as f64
    }

    /// How many of them were.
    pub fn marks(&self, flow: usize, window: Window) -> f64 {
        self.packets(flow, &window).iter().filter(|packet| packet.is_marked).count() as f64
    }

    /// When the first of a flow's packets was marked, in seconds; NaN if none was.
    pub fn first_mark_s(&self, flow: usize) -> f64 {
        let all = self.flows.get(flow).map_or(&[][..], Vec::as_slice);
        all.iter().find(|packet| packet.is_marked).map_or(f64::NAN, |packet| packet.at_s)
    }

    /// Packets of the sender under test that the path dropped, as a share of all.
    pub fn lost(&self) -> f64 {
        let arrived = self.packets(0, &self.whole()).len();
        self.dropped as f64 / (arrived + self.dropped) as f64
    }

    /// When its packets were dropped for their ECN field.
    pub fn dropped_s(&self, window: Window) -> impl Iterator<Item = f64> {
        self.dropped_s.iter().copied().filter(move |at| window.contains(at))
    }

    /// The values of a variable of its sender, with their times.
    pub fn variable(&self, name: &'static str, window: Window) -> impl Iterator<Item = (f64, f64)> {
        let of = self.variables.iter().filter(move |(at, known, _)| *known == name && window.contains(at));
        of.map(|(at, _, value)| (*at, *value))
    }

    /// The greatest value of a variable; NaN without one.
    pub fn greatest(&self, name: &'static str, window: Window) -> f64 {
        self.variable(name, window).map(|(_, value)| value).fold(f64::NAN, f64::max)
    }

    /// The mean value of a variable; NaN without one.
    pub fn mean(&self, name: &'static str, window: Window) -> f64 {
        let (sum, count) =
            self.variable(name, window).fold((0.0, 0.0), |(sum, count), (_, value)| (sum + value, count + 1.0));
        sum / count
    }

    /// The last value of a variable at each whole second of the window.
    pub fn by_second(&self, name: &'static str, window: Window) -> impl Iterator<Item = f64> {
        let seconds = (0..).map(move |second| window.start + f64::from(second)).take_while(move |at| *at <= window.end);
        seconds.filter_map(move |at| self.variable(name, 0.0..at + 1e-6).last().map(|(_, value)| value))
    }

    /// 95th percentile of the time from a picture's capture to the screen, in ms.
    pub fn latency_p95_ms(&self) -> f64 {
        self.latency_p95_ms
    }

    /// A hash of all events.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}
