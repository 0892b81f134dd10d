//! Measurement of a bar's figure from the log of a run.

use thalweg_units::percentile;

use crate::figures::{After, alternations, convergence, log_slope, settling, variation};
use crate::log::{Arrival, BIN_S, FlowLog, Log, mean_rate, moving_means};
use crate::network::{Media, Network, Phase};
use crate::range::{Range, range};

/// Makes the enum, its names, meanings, units and ranges and its measuring of one table. Each row: what the figure is, which
/// has to be understood without the rows beside it, its name in tables and in `--json`, unit (empty for ratios), possible
/// values and, of the run, the flow's log, its number and the window, the value.
macro_rules! figures {
    (|$seen:ident, $log:ident, $flow:ident, $window:ident|
     $($(#[doc = $doc:literal])* $figure:ident $(($field:ident: $type:ty))?, $name:literal, $unit:literal, $possible:expr => $value:expr;)*) => {
        /// A figure of a run.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Figure {
            $($(#[doc = $doc])* $figure $(($type))?,)*
        }

        impl Figure {
            /// Its name in tables and in `--json`.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Figure::$figure { .. } => $name,)*
                }
            }

            /// One sentence that says what it is.
            pub fn meaning(&self) -> &'static str {
                match self {
                    $(Figure::$figure { .. } => concat!($($doc),*).trim(),)*
                }
            }

            /// The values that it can have: an interval about a mean does not go beyond them.
            pub fn possible(&self) -> Range {
                match self {
                    $(Figure::$figure { .. } => $possible,)*
                }
            }

            /// Its unit; empty for ratios.
            pub fn unit(&self) -> &'static str {
                match self {
                    $(Figure::$figure { .. } => $unit,)*
                }
            }

            fn value(&self, $seen: &Seen<'_>, $log: &FlowLog, $flow: usize, $window: Window) -> Measured {
                match self {
                    $(Figure::$figure $(($field))? => Value::measured($value),)*
                }
            }
        }
    };
}

const POSITIVE: Range = range(0.0, f64::INFINITY);
const ANY: Range = range(f64::NEG_INFINITY, f64::INFINITY);

figures! {
    |seen, log, flow, window|
    /// Received rate of a flow, divided by its attainable rate.
    Use, "use", "", POSITIVE => seen.share(&[flow], window);
    /// Received rate of all flows together, divided by their attainable rate, from 10 s after the first begins to the
    /// last's end.
    UseOfRun, "use_run", "", POSITIVE => seen.share(&(0..seen.log.media.len()).collect::<Vec<_>>(), window);
    /// Received rate of all flows together, divided by their attainable rate, within a part of the run.
    UseOfAll, "use_all", "", POSITIVE => seen.share(&(0..seen.log.media.len()).collect::<Vec<_>>(), window);
    /// Rate over one link, divided by its capacity.
    UseOfLink(link: usize), "use_link", "", POSITIVE => seen.use_of_link(*link, window);
    /// Time to converge after a start, a rise or a resume, in seconds.
    Rise, "rise", "s", range(1.0, f64::INFINITY) => seen.rise(log, flow, window);
    /// Time to settle after a fall, in seconds.
    Fall, "fall", "s", range(BIN_S, f64::INFINITY) => seen.fall(log, flow, window);
    /// 95th percentile of waiting in queues, in ms.
    QueueP95, "q95", "ms", POSITIVE => waits(log, window, 0.95);
    /// 5th percentile of waiting in queues, in ms: a standing queue.
    QueueP05, "q05", "ms", POSITIVE => waits(log, window, 0.05);
    /// Packets dropped of those sent, in %.
    Loss, "loss", "%", POSITIVE => loss(std::slice::from_ref(log), window);
    /// Packets dropped of those sent within 5 s of a fall, in %.
    LossAfterFall, "loss_fall", "%", POSITIVE => loss(std::slice::from_ref(log), window);
    /// Alternations between at least 0.95 and at most 0.60 of what is attainable, per minute, in settled windows.
    Oscillation, "osc", "/min", POSITIVE => seen.oscillation(log, flow);
    /// Deviation over mean of the sending rate in 200 ms, in settled windows.
    Variation, "cv", "", POSITIVE => seen.variation(log, flow);
    /// Bytes of reports over bytes of media, in %.
    Overhead, "overhead", "%", POSITIVE => ratio(log.report_bytes as f64 * 100.0, log.media_bytes as f64);
    /// The greatest of the flows' rates over the least, averaged over 20 s.
    Ratio, "ratio", "", range(1.0, f64::INFINITY) => seen.ratio(window);
    /// Jain's index of the flows' rates, mean over seconds.
    Jain, "jain", "", range(0.0, 1.0) => seen.jain(window);
    /// Slope of the logarithm of a flow's rate over that of its round trip.
    SlopeOverRoundTrip, "rtt_slope", "", ANY => seen.slope(window);
    /// Received rate of a flow, in Mbps.
    Rate, "rate", "Mbps", POSITIVE => Some(mean_rate(&log.received, window) / 1e6);
    /// The greatest sending rate within a second, in Mbps.
    PeakRate, "peak", "Mbps", POSITIVE => greatest(moving_means(&log.sent, window, 1.0)).map(|bps| bps / 1e6);
    /// The least rate received within any 2 s, in Mbps.
    LeastRate, "least", "Mbps", POSITIVE => least(moving_means(&log.received, window, 2.0)).map(|bps| bps / 1e6);
    /// Padding sent, in Mbps.
    Filler, "filler", "Mbps", POSITIVE => Some(mean_rate(&log.filler, window) / 1e6);
    /// The first flow's rate over the mean of the others'.
    RateOverOthers, "weight_ratio", "", POSITIVE => {
        let rates = seen.rates(window);
        let others = &rates[1..];
        ratio(rates[0] * others.len() as f64, others.iter().sum())
    };
    /// Received rate of TCP, in Mbps.
    TcpRate, "tcp", "Mbps", POSITIVE => Some(seen.log.cross_rate(window) / 1e6);
    /// Received rate of media and TCP together, in Mbps.
    RateOfAll, "rate_all", "Mbps", POSITIVE =>
        Some((seen.rates(window).iter().sum::<f64>() + seen.log.cross_rate(window)) / 1e6);
    /// The median time of transfers over that of the same without media.
    CompletionOverAlone, "completion", "", POSITIVE => {
        let alone = seen.reference.and_then(|log| completion(log, window));
        // Without a single one within the window it took at least as long.
        let ours = completion(seen.log, window).unwrap_or(window.1 - window.0);
        alone.and_then(|alone| ratio(ours, alone))
    };
    /// Received rate of a flow, divided by the same flow's in the reference run.
    RateOverReference, "rate_ref", "", POSITIVE => {
        let reference = seen.reference.and_then(|log| log.media.get(flow));
        reference.and_then(|other| ratio(mean_rate(&log.received, window), mean_rate(&other.received, window)))
    };
    /// 95th percentile of waiting less that of the reference run, in ms.
    QueueOverReference, "q95_ref", "ms", ANY => {
        let reference = seen.reference.and_then(|log| waits(log.media.get(flow)?, window, 0.95));
        waits(log, window, 0.95).zip(reference).map(|(ours, theirs)| ours - theirs)
    };
    /// Reports dropped of those sent, in %.
    ReportLoss, "report_loss", "%", POSITIVE =>
        ratio(count(&log.reports_dropped_s, window) * 100.0, count(&log.reports_s, window));
    /// The least of the flows' received rates over what each could have.
    LeastUse, "use_min", "", POSITIVE => least(seen.shares(window));
    /// The greatest of the flows' received rates over what each could have.
    GreatestUse, "use_max", "", POSITIVE => greatest(seen.shares(window));
    /// Received rate of all media flows, divided by that of all flows in the reference run.
    TotalOverReference, "total_ref", "", POSITIVE => {
        let cross = seen.reference.map(|log| log.cross_rate(window));
        cross.and_then(|theirs| ratio(seen.rates(window).iter().sum(), theirs))
    };
    /// Median over flows of the received rate, divided by that of the same flow in the reference run.
    MedianOverReference, "median_ref", "", POSITIVE => seen.median_over_reference(window);
    /// 95th percentile of the one-way delay of all flows' packets, in ms.
    DelayP95, "d95", "ms", POSITIVE => {
        let delays: Vec<f64> = seen.log.media.iter().flat_map(|log| delays(log, window)).collect();
        percentile(&delays, 0.95)
    };
    /// The median over flows of the 95th percentile of each one's one-way delay, in ms.
    MedianDelayP95, "d95_median", "ms", POSITIVE => percentile(&seen.delays_p95(window), 0.5);
    /// The greatest over flows of the 95th percentile of each one's one-way delay, in ms.
    GreatestDelayP95, "d95_max", "ms", POSITIVE => greatest(seen.delays_p95(window));
    /// Packets dropped of those that all flows sent, in %.
    LossOfAll, "loss_all", "%", POSITIVE => loss(&seen.log.media, window);
    /// The controller's target at the end of the window, in kbps.
    Target, "target", "kbps", POSITIVE => target_at(log, window.1);
    /// The least of the controller's targets, sampled each second, in kbps.
    LeastTarget, "target_min", "kbps", POSITIVE => least(targets(log, window));
    /// The greatest of the controller's targets, sampled each second, in kbps.
    GreatestTarget, "target_max", "kbps", POSITIVE => greatest(targets(log, window));
    /// The least of the controller's targets over the greatest, sampled each second.
    LeastOverGreatestTarget, "target_min_max", "", POSITIVE => {
        let (least, greatest) = (least(targets(log, window)), greatest(targets(log, window)));
        least.zip(greatest).and_then(|(least, greatest)| ratio(least, greatest))
    };
    /// The target at the end of the window less that at its begin, in kbps.
    TargetRise, "target_rise", "kbps", ANY =>
        target_at(log, window.1).zip(target_at(log, window.0)).map(|(end, begin)| end - begin);
    /// How often at most the target dips by more than 100 kbps within 500 ms, seen every 50 ms (CountBandwidthDips of
    /// libwebrtc's goog_cc_network_control_unittest.cc).
    Dips, "dips", "", POSITIVE => dips(log, window);
    /// 95th percentile of the time that frames wait in the sender, in ms.
    PacerDelay, "pacer95", "ms", POSITIVE => {
        let within = log.pacer_ms.iter().filter(|(at, _)| (window.0..window.1).contains(at));
        percentile(&within.map(|(_, waited)| *waited).collect::<Vec<_>>(), 0.95)
    };
    /// The mean over time of how long packets of two flows that go opposite ways are under way, added, in ms: what RTCP's
    /// reports would measure, which leave at random times (RFC 3550 section 6.3.1).
    RoundTrip, "rtt", "ms", POSITIVE => seen.round_trip(window);
    /// Packets of video sent.
    VideoPackets, "video_packets", "", POSITIVE => Some(count(&log.video_s, window));
    /// Packets of audio sent.
    AudioPackets, "audio_packets", "", POSITIVE => Some(count(&log.audio_s, window));
}

/// A figure's value, with whether the phase ended before it was reached if that can be.
trait Value {
    fn measured(self) -> Measured;
}

impl Value for Option<f64> {
    fn measured(self) -> Measured {
        (self, false)
    }
}

impl Value for Measured {
    fn measured(self) -> Measured {
        self
    }
}

/// A run and what is known about its case.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The run.
    pub log: &'a Log,
    /// The reference run, if the case has one.
    pub reference: Option<&'a Log>,
    /// The case's network; `None` for a scenario of its own, whose bars measure no shares.
    pub network: Option<&'a Network>,
    /// Max rate of a flow on the wire, in bit/s.
    pub wire_bps: f64,
    /// The phases of each media flow.
    pub phases: &'a [Vec<Phase>],
}

/// The ratio of rates where one flow has nothing.
pub(crate) const NOBODY: f64 = 1e3;

type Window = (f64, f64);

/// A value, if there is one, and whether the phase ended before it was reached.
pub type Measured = (Option<f64>, bool);

impl Seen<'_> {
    /// The figure of `flow`, or of all flows together, within `window`.
    pub fn measure(&self, figure: &Figure, flow: Option<usize>, window: Window) -> Measured {
        let flow = flow.unwrap_or(0);
        self.log.media.get(flow).map_or((None, false), |log| figure.value(self, log, flow, window))
    }

    /// Received rates of all media flows, in bit/s.
    fn rates(&self, window: Window) -> Vec<f64> {
        self.log.media.iter().map(|log| mean_rate(&log.received, window)).collect()
    }

    /// Received rate of each flow, divided by its attainable rate.
    fn shares(&self, window: Window) -> Vec<f64> {
        let attainable = self.network.map(|network| network.mean_attainable(window, self.wire_bps)).unwrap_or_default();
        self.rates(window)
            .into_iter()
            .zip(attainable)
            .filter_map(|(rate, attainable)| ratio(rate, attainable))
            .collect()
    }

    /// The part of `window` in which each flow is there, if it is at least 5 s: less says little.
    fn stays(&self, window: Window) -> Vec<(usize, Window)> {
        let flows = self.network.map_or(&[][..], |network| &network.flows);
        let stay = |flow: &Media| (flow.times.0.max(window.0), flow.times.1.min(window.1));
        let stays = flows.iter().map(stay).enumerate();
        stays.filter(|(_, (from, until))| until - from >= 5.0).collect()
    }

    fn median_over_reference(&self, window: Window) -> Option<f64> {
        let reference = self.reference?;
        let over = |(flow, stay): (usize, Window)| {
            let theirs = mean_rate(&reference.tcp.get(flow)?.received, stay);
            ratio(mean_rate(&self.log.media[flow].received, stay), theirs)
        };
        percentile(&self.stays(window).into_iter().filter_map(over).collect::<Vec<f64>>(), 0.5)
    }

    fn delays_p95(&self, window: Window) -> Vec<f64> {
        let p95 = |(flow, stay): (usize, Window)| percentile(&delays(&self.log.media[flow], stay), 0.95);
        self.stays(window).into_iter().filter_map(p95).collect()
    }

    fn share(&self, flows: &[usize], window: Window) -> Option<f64> {
        let network = self.network?;
        let received = flows.iter().map(|flow| mean_rate(&self.log.media[*flow].received, window)).sum();
        let attainable = network.mean_attainable(window, self.wire_bps);
        ratio(received, flows.iter().map(|flow| attainable[*flow]).sum())
    }

    fn use_of_link(&self, link: usize, window: Window) -> Option<f64> {
        let network = self.network?;
        let crossing = network.flows.iter().zip(&self.log.media).filter(|(flow, _)| flow.forward.contains(&link));
        let received: f64 = crossing.map(|(_, log)| mean_rate(&log.received, window)).sum();
        ratio(received, network.links[link].rate(window.0).as_bps_f64())
    }

    /// Sending rates of whole seconds relative to what is attainable, the first ending a second after the begin.
    fn relative(&self, log: &FlowLog, flow: usize, window: Window) -> Option<Vec<f64>> {
        let attainable = self.network?.mean_attainable(window, self.wire_bps)[flow];
        Some(moving_means(&log.sent, window, 1.0).into_iter().map(|rate| rate / attainable).collect())
    }

    fn rise(&self, log: &FlowLog, flow: usize, window: Window) -> Measured {
        let Some(relative) = self.relative(log, flow, window) else { return (None, false) };
        let After { seconds, censored } = convergence(&relative, 1.0, BIN_S);
        (Some(seconds), censored)
    }

    fn fall(&self, log: &FlowLog, flow: usize, window: Window) -> Measured {
        let Some(relative) = self.relative(log, flow, window) else { return (None, false) };
        let waits: Vec<f64> = (0..relative.len())
            .map(|place| {
                let from = window.0 + place as f64 * BIN_S;
                waits(log, (from, from + 1.0), 0.95).unwrap_or(0.0)
            })
            .collect();
        let After { seconds, censored } = settling(&relative, &waits, 1.0, BIN_S);
        (Some(seconds), censored)
    }

    /// The sending rate in bins of this length in the settled windows of a flow, each relative to what is attainable.
    fn settled(&self, log: &FlowLog, flow: usize, length_s: f64) -> Vec<Vec<f64>> {
        let windows = self.phases.get(flow).into_iter().flatten().map(|phase| (phase.settled(), phase.attainable_bps));
        windows
            .map(|((from, until), attainable)| {
                let count = ((until - from) / length_s) as usize;
                let bin = |index: usize| from + index as f64 * length_s;
                (0..count).map(|index| mean_rate(&log.sent, (bin(index), bin(index + 1))) / attainable).collect()
            })
            .collect()
    }

    fn oscillation(&self, log: &FlowLog, flow: usize) -> Option<f64> {
        let windows = self.settled(log, flow, 0.5);
        let minutes: f64 = windows.iter().map(|window| window.len() as f64 * 0.5 / 60.0).sum();
        let count: usize = windows.iter().map(|window| alternations(window)).sum();
        ratio(count as f64, minutes)
    }

    fn variation(&self, log: &FlowLog, flow: usize) -> Option<f64> {
        let windows = self.settled(log, flow, 0.2);
        let whole: usize = windows.iter().map(Vec::len).sum();
        let weighted = windows.iter().filter_map(|window| Some(variation(window)? * window.len() as f64));
        ratio(weighted.sum(), whole as f64)
    }

    fn ratio(&self, (from, until): Window) -> Option<f64> {
        const AVERAGED_S: f64 = 20.0;
        if self.log.media.len() < 2 {
            return None;
        }
        let count = (((until - from) / AVERAGED_S).round() as usize).max(1);
        let edge = |part: usize| from + (until - from) * part as f64 / count as f64;
        let of_part = |part: usize| {
            let rates = self.rates((edge(part), edge(part + 1)));
            ratio(rates.iter().copied().fold(0.0, f64::max), rates.iter().copied().fold(f64::INFINITY, f64::min))
        };
        let ratios: Vec<f64> = (0..count).map(|part| of_part(part).unwrap_or(f64::INFINITY)).collect();
        Some(ratios.iter().sum::<f64>() / count as f64).map(|ratio| ratio.min(NOBODY))
    }

    fn jain(&self, (from, until): Window) -> Option<f64> {
        if self.log.media.len() < 2 {
            return None;
        }
        let seconds = (until - from) as usize;
        let by_second = (0..seconds).filter_map(|second| {
            let at = from + second as f64;
            thalweg_lab::metrics::jain(&self.rates((at, at + 1.0)))
        });
        let indices: Vec<f64> = by_second.collect();
        ratio(indices.iter().sum(), indices.len() as f64)
    }

    fn round_trip(&self, window: Window) -> Option<f64> {
        // A delay counts for the time since the arrival before: packets come densest while the queue is long.
        let mean = |log: &FlowLog| {
            let (mut last, mut sum) = (window.0, 0.0);
            for arrival in arriving(log, window) {
                sum += arrival.delay_ms * (arrival.at_s - last);
                last = arrival.at_s;
            }
            ratio(sum, last - window.0)
        };
        self.log.media.iter().take(2).map(mean).sum()
    }

    fn slope(&self, window: Window) -> Option<f64> {
        let round_trips = self.network?.flows.iter().map(|flow| flow.one_way.as_millis_f64() * 2.0);
        log_slope(&round_trips.zip(self.rates(window)).collect::<Vec<_>>())
    }
}

/// How many of these times are within the window.
fn count(times: &[f64], (from, until): Window) -> f64 {
    times.iter().filter(|at| (from..until).contains(*at)).count() as f64
}

/// See [`Figure::Dips`].
fn dips(log: &FlowLog, (from, until): Window) -> Option<f64> {
    const STEP_S: f64 = 0.05;
    const SEEN: usize = 10;
    const DEPTH_KBPS: f64 = 100.0;
    let steps = ((until - from) / STEP_S).round() as usize;
    let series: Vec<f64> = (1..=steps).filter_map(|step| target_at(log, from + step as f64 * STEP_S)).collect();
    let within = |seen: &[f64]| {
        let (mut dips, mut high) = (0, true);
        for target in &seen[1..] {
            if target + DEPTH_KBPS < seen[0] && high {
                (dips, high) = (dips + 1, false);
            } else if *target == seen[0] {
                high = true;
            } else if *target > seen[0] {
                high = false;
            }
        }
        f64::from(dips)
    };
    greatest((0..series.len()).map(|end| within(&series[(end + 1).saturating_sub(SEEN)..=end])).collect())
}

fn ratio(of: f64, over: f64) -> Option<f64> {
    (over > 0.0).then(|| of / over)
}

fn least(values: Vec<f64>) -> Option<f64> {
    values.into_iter().min_by(f64::total_cmp)
}

fn greatest(values: Vec<f64>) -> Option<f64> {
    values.into_iter().max_by(f64::total_cmp)
}

/// The packets that arrive within the window.
fn arriving(log: &FlowLog, (from, until): Window) -> &[Arrival] {
    let place = |at: f64| log.arrivals.partition_point(|arrival| arrival.at_s < at);
    &log.arrivals[place(from)..place(until.max(from))]
}

/// Percentile of the waiting of packets that arrive within the window, in ms.
fn waits(log: &FlowLog, window: Window, share: f64) -> Option<f64> {
    let waits: Vec<f64> = arriving(log, window).iter().map(|arrival| arrival.waited_ms).collect();
    percentile(&waits, share)
}

/// The one-way delays of packets that arrive within the window, in ms.
fn delays(log: &FlowLog, window: Window) -> Vec<f64> {
    arriving(log, window).iter().map(|arrival| arrival.delay_ms).collect()
}

/// Packets that these flows sent within the window and that were dropped, in %.
fn loss(flows: &[FlowLog], window: Window) -> Option<f64> {
    let dropped: f64 = flows.iter().map(|log| count(&log.dropped_s, window)).sum();
    ratio(dropped * 100.0, flows.iter().map(|log| count(&log.sent_s, window)).sum())
}

/// The median time of the transfers that were complete within the window, in seconds.
fn completion(log: &Log, (from, until): Window) -> Option<f64> {
    let all = log.tcp.iter().flat_map(|tcp| &tcp.transfers);
    let took: Vec<f64> = all.filter(|(at, _)| (from..until).contains(at)).map(|(_, took)| *took).collect();
    percentile(&took, 0.5)
}

/// The last target sampled by `at`, in kbps.
fn target_at(log: &FlowLog, at: f64) -> Option<f64> {
    // A sample at a whole second may be a rounding error later.
    let place = log.target.partition_point(|(sampled, _)| *sampled <= at + 1e-6);
    place.checked_sub(1).map(|last| log.target[last].1 / 1e3)
}

/// The targets at each whole second within the window, in kbps.
fn targets(log: &FlowLog, (from, until): Window) -> Vec<f64> {
    (from.ceil() as u64..=until.floor() as u64).filter_map(|second| target_at(log, second as f64)).collect()
}
