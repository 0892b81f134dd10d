//! The record of a run, in bins of 100 ms.

use thalweg_control::{Decision, Feedback};
use thalweg_units::{Bytes, Rate, Span, Time};

const BIN: Span = Span::from_millis(100);
/// A packet later than this is useless: FBRA's players discard it (specs/fbra.md 2, delay_max).
const LATEST: Span = Span::from_millis(400);

/// One bin.
#[derive(Debug, Clone, Default)]
pub struct Bin {
    pub sent: Bytes,
    pub arrived: Bytes,
    pub fec: Bytes,
    /// Packets that passed the bottleneck, and packets that its full queue dropped.
    pub packets: u64,
    pub dropped: u64,
    /// Packets reported, and of those lost or later than [`LATEST`].
    pub reported: u64,
    pub useless: u64,
    pub queueing: Span,
    pub worst: Span,
    pub target: Rate,
    /// The window at its end.
    pub window: Option<Bytes>,
    /// The max burst at its end.
    pub burst: Option<Bytes>,
    pub round_trip: Span,
    pub round_trips: u64,
}

impl Bin {
    pub fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        for report in feedback.reports {
            let one_way = |rtt| rtt - feedback.min_rtt.unwrap_or(Span::ZERO) / 2;
            let in_time = feedback.rtt_of(report).is_some_and(|rtt| one_way(rtt) <= LATEST);
            self.reported += 1;
            self.useless += u64::from(!in_time);
        }
        self.round_trip += feedback.rtt.unwrap_or(Span::ZERO);
        self.round_trips += u64::from(feedback.rtt.is_some());
    }
}

/// The bins of a run.
#[derive(Debug, Clone)]
pub struct Record {
    pub bins: Vec<Bin>,
    pub decisions: Vec<Decision>,
    /// When a frame was captured, and the time from then to its last packet's arrival.
    pub frames: Vec<(Time, Span)>,
}

impl Record {
    pub fn new(duration: Span) -> Record {
        let bins = vec![Bin::default(); (duration.as_nanos() / BIN.as_nanos()) as usize + 1];
        Record { bins, decisions: Vec::new(), frames: Vec::new() }
    }

    pub fn bin(&mut self, now: Time) -> &mut Bin {
        let last = self.bins.len() - 1;
        &mut self.bins[((now.as_nanos() / BIN.as_nanos() as u64) as usize).min(last)]
    }

    /// Bins of seconds [from, to).
    pub fn seconds(&self, from: f64, to: f64) -> &[Bin] {
        &self.bins[(from * 10.0).round() as usize..((to * 10.0).round() as usize).min(self.bins.len())]
    }

    pub fn sent(&self, from: f64, to: f64) -> Rate {
        self.seconds(from, to).iter().map(|bin| bin.sent).sum::<Bytes>().per(Span::from_secs_f64(to - from))
    }

    pub fn arrived(&self, from: f64, to: f64) -> Rate {
        self.seconds(from, to).iter().map(|bin| bin.arrived).sum::<Bytes>().per(Span::from_secs_f64(to - from))
    }

    /// Mean queueing time at the bottleneck of the packets sent in that time.
    pub fn mean_queueing(&self, from: f64, to: f64) -> Span {
        let bins = self.seconds(from, to);
        bins.iter().map(|bin| bin.queueing).sum::<Span>()
            / bins.iter().map(|bin| bin.packets).sum::<u64>().max(1) as i64
    }

    pub fn worst_queueing(&self, from: f64, to: f64) -> Span {
        self.seconds(from, to).iter().map(|bin| bin.worst).max().unwrap_or(Span::ZERO)
    }

    pub fn mean_round_trip(&self, from: f64, to: f64) -> Span {
        let bins = self.seconds(from, to);
        let count = bins.iter().map(|bin| bin.round_trips).sum::<u64>().max(1);
        bins.iter().map(|bin| bin.round_trip).sum::<Span>() / count as i64
    }

    /// One count over another, each summed over bins.
    fn share(&self, from: f64, to: f64, counts: fn(&Bin) -> (u64, u64)) -> f64 {
        let add = |(part, all), bin| (part + counts(bin).0, all + counts(bin).1);
        let (part, all) = self.seconds(from, to).iter().fold((0, 0), add);
        part as f64 / all.max(1) as f64
    }

    /// The share of the reported packets that were lost or later than [`LATEST`].
    pub fn useless(&self, from: f64, to: f64) -> f64 {
        self.share(from, to, |bin| (bin.useless, bin.reported))
    }

    /// The share of the packets sent that a full queue dropped.
    pub fn dropped(&self, from: f64, to: f64) -> f64 {
        self.share(from, to, |bin| (bin.dropped, bin.dropped + bin.packets))
    }

    /// The mean of targets at the ends of bins.
    pub fn mean_target(&self, from: f64, to: f64) -> Rate {
        let bins = self.seconds(from, to);
        Rate::from_bps_f64(bins.iter().map(|bin| bin.target.as_bps_f64()).sum::<f64>() / bins.len() as f64)
    }

    /// Mean and 95th percentile of the delays of frames captured in that time, in ms.
    pub fn frame_delay_ms(&self, from: f64, to: f64) -> (f64, f64) {
        let within = |at: Time| (from..to).contains(&at.as_secs_f64());
        let mut delays: Vec<f64> = self.frames.iter().filter(|f| within(f.0)).map(|f| f.1.as_millis_f64()).collect();
        delays.sort_by(f64::total_cmp);
        let mean = delays.iter().sum::<f64>() / delays.len().max(1) as f64;
        (mean, delays.get(delays.len() * 95 / 100).copied().unwrap_or(f64::INFINITY))
    }

    pub fn target(&self, at: f64) -> Rate {
        self.bins[(at * 10.0) as usize].target
    }

    /// The min and max window at the ends of bins.
    pub fn windows(&self, from: f64, to: f64) -> (Bytes, Bytes) {
        let windows = || self.seconds(from, to).iter().filter_map(|bin| bin.window);
        (windows().min().unwrap_or(Bytes::ZERO), windows().max().unwrap_or(Bytes::ZERO))
    }

    /// The first time after `from` (both in seconds) at which the average over `window` seconds of what arrives reaches
    /// `rate`.
    pub fn reaches(&self, rate: Rate, from: f64, window: f64) -> Option<f64> {
        let starts = (from * 10.0) as usize..self.bins.len().saturating_sub((window * 10.0) as usize);
        starts.map(|bin| bin as f64 / 10.0).find(|at| self.arrived(*at, at + window) >= rate)
    }

    /// The first second after `from` in which `rate` is both sent and received: arrivals after an outage may be old
    /// packets.
    pub fn is_back(&self, rate: Rate, from: f64) -> Option<f64> {
        let starts = (from * 10.0) as usize..self.bins.len().saturating_sub(10);
        let whole = |at: &f64| self.arrived(*at, at + 1.0) >= rate && self.sent(*at, at + 1.0) >= rate;
        starts.map(|bin| bin as f64 / 10.0).find(whole)
    }

    /// Prints one line per second.
    pub fn print(&self, title: &str) {
        println!("# {title}\nsec,sent_kbps,arrived_kbps,target_kbps,qdelay_mean_ms,qdelay_max_ms");
        for second in 0..self.bins.len() / 10 {
            let (from, to) = (second as f64, second as f64 + 1.0);
            println!(
                "{},{:.1},{:.1},{:.1},{:.1},{:.1}",
                second + 1,
                self.sent(from, to).as_kbps_f64(),
                self.arrived(from, to).as_kbps_f64(),
                self.target(to - 0.1).as_kbps_f64(),
                self.mean_queueing(from, to).as_millis_f64(),
                self.worst_queueing(from, to).as_millis_f64(),
            );
        }
    }
}
