//! Links by name.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::{Arc, Mutex};

use anyhow::anyhow;
use thalweg_lab::inputs;
use thalweg_netsim::queue::{DualPi2Config, FqCodelConfig, Limits, Marker};
use thalweg_netsim::synthesize::{KINDS, presets};
use thalweg_netsim::{HopConfig, Jitter, LossModel, PathConfig, QueueConfig, Trace};
use thalweg_traces::{ReadOptions, Reading};
use thalweg_units::{Bytes, Rate, Seed, Span};

use crate::commands::values;
use crate::suggest::Unknown;

/// A trace by name: a file of any format ([`thalweg_traces::read`]) with options behind its name, a recording of the data
/// manifest such as `TMobile-LTE-short.down`, a rate such as `2Mbps`, rates in turn such as `2Mbps/500kbps@40s`, or a
/// synthetic link such as `lte-driving` or `poisson:rate=2Mbps`; behind a file or a synthetic link the part to play.
pub(crate) fn find(name: &str, duration: Span, seed: Seed) -> anyhow::Result<Arc<Trace>> {
    static NOTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if let Some((path, options)) = inputs::file(name)? {
        let Reading { trace, notes, .. } = inputs::read(&path, &options)?;
        // Once a command, however many runs it plays.
        if !notes.is_empty() && NOTED.lock().is_ok_and(|mut noted| noted.insert(name.into())) {
            note!("{name}: {}", notes.join("; "));
        }
        return Ok(Arc::new(trace));
    }
    let named = Trace::named(name, duration, seed).map(Arc::new);
    named.map_err(|error| {
        let file = ReadOptions::split(name).0;
        match name {
            _ if Path::new(file).is_dir() => anyhow!("{file}: is a folder: name a trace file in it"),
            _ if file == "-" || Path::new(file).exists() => {
                anyhow!("{file}: is a pipe or a device, and a trace is read more than once: write it to a file first")
            }
            // Its length or a parameter is out of range.
            _ if is_made(name) => anyhow!(error),
            _ if is_word(name) => Unknown::new("link", name, presets().iter().map(|preset| preset.name), LINKS).into(),
            _ => match rate_meant(file) {
                Some(fix) => anyhow!("invalid rate '{file}': {fix}"),
                None => anyhow!("there is no file '{file}', nor a link of that name ({LINKS})"),
            },
        }
    })
}

/// How to write the rate that was probably meant by a number with another unit, or none; `None` if it begins with no number.
fn rate_meant(text: &str) -> Option<String> {
    let digits = text.find(|letter: char| !(letter.is_ascii_digit() || ['.', ','].contains(&letter)));
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let number: f64 = number.replace(',', ".").parse().ok()?;
    Some(match unit.trim() {
        "" => format!("a rate has a unit: write {number}kbps or {number}Mbps"),
        "B/s" | "kB/s" | "MB/s" | "GB/s" => format!("write {}{}", number * 8.0, unit.trim().replace("B/s", "bps")),
        unit => {
            let written = format!("{number}{unit}");
            written.parse::<Rate>().ok().map(|_| format!("write {written}"))?
        }
    })
}

const LINKS: &str = "a trace file, a rate such as 2Mbps, rates in turn such as 2Mbps/500kbps@40s, a recording of `thalweg data list`, \
                     or what `thalweg trace synthesize list` has";

/// Returns true if it names a synthetic link or begins with a rate.
fn is_made(name: &str) -> bool {
    let first = name.split(['/', '@', ':']).next().unwrap_or_default();
    let mut synthetic = presets().iter().map(|preset| preset.name).chain(KINDS.iter().map(|kind| kind.name));
    first.parse::<Rate>().is_ok() || synthetic.any(|known| known == first)
}

/// Returns true if it can only be the name of a preset or a recording: no parameters, no unit, no path.
fn is_word(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_alphabetic())
        && name.chars().all(|letter| letter.is_alphanumeric() || ['-', '_'].contains(&letter))
}

/// A short name for tables: the file's own with its options, or the name as given.
pub(crate) fn label(name: &str) -> String {
    let (stem, options) = inputs::split(name);
    match Path::new(stem).file_name().filter(|_| Path::new(stem).is_file()) {
        Some(file) => format!("{}{options}", file.to_string_lossy()),
        None => name.into(),
    }
}

/// The length of a drop-tail queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum QueueLength {
    /// In bytes: 64kB.
    Bytes(Bytes),
    /// Time at the link's mean rate: 100ms.
    Time(Span),
    /// So many bandwidth-delay products, of the link's mean rate and the path's round trip: 1bdp.
    Products(f64),
}

impl FromStr for QueueLength {
    type Err = String;

    fn from_str(text: &str) -> Result<QueueLength, String> {
        let products = text.to_lowercase().strip_suffix("bdp").map(|number| number.trim().parse::<f64>());
        match products {
            Some(Ok(products)) if products > 0.0 && products.is_finite() => return Ok(QueueLength::Products(products)),
            Some(_) => return Err(format!("invalid queue '{text}': a number above 0 stands before bdp, as in 1bdp")),
            None => (),
        }
        if let Ok(bytes) = text.parse() {
            return Ok(QueueLength::Bytes(bytes));
        }
        match text.parse() {
            Ok(time) if time > Span::ZERO => Ok(QueueLength::Time(time)),
            _ => {
                Err(format!("invalid queue '{text}': write bytes (64kB), time at the link's mean rate (100ms) or 1bdp"))
            }
        }
    }
}

impl fmt::Display for QueueLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueLength::Bytes(bytes) => bytes.fmt(f),
            QueueLength::Time(time) => time.fmt(f),
            QueueLength::Products(products) => write!(f, "{products}bdp"),
        }
    }
}

/// A drop-tail queue before a link of this mean rate, on a path with this round trip; unlimited when absent.
pub(crate) fn queue(length: Option<QueueLength>, mean: Rate, round_trip: Span) -> QueueConfig {
    let bytes = match length {
        None => return QueueConfig::Infinite,
        Some(QueueLength::Bytes(bytes)) => bytes,
        Some(QueueLength::Time(time)) => mean.over(time),
        Some(QueueLength::Products(products)) => mean.over(round_trip).scale(products),
    };
    QueueConfig::DropTail(Limits::bytes(bytes.max(MIN_QUEUE)))
}

/// A queue holds at least one full packet: nothing would pass otherwise.
const MIN_QUEUE: Bytes = Bytes::new(1500);

/// Queue management of a bottleneck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Discipline {
    /// Drops packets that arrive at a full queue
    DropTail,
    /// Drops the oldest packets of a full queue
    DropHead,
    /// Controlled delay (RFC 8289): 5 ms of target, 100 ms of interval
    Codel,
    /// Proportional integral controller enhanced (RFC 8033): 15 ms of reference, bursts of 150 ms
    Pie,
    /// CoDel that marks ECN-capable packets where it drops others
    CodelEcn,
    /// Fair queueing of flows, each with codel-ecn (RFC 8290), with Linux's parameters
    FqCodel,
    /// Marks ECN-capable packets by their waiting time, from none at 5 ms to all at 10 ms
    Ramp,
    /// Marks as `ramp` does, by the predicted waiting time, as a base station knows it
    Predictive,
    /// Two queues, low latency and classic (RFC 9332), with Linux's parameters and a step of at least two packets
    Dualpi2,
}

impl Discipline {
    /// The queue of this kind in place of a drop-tail one of the same length.
    ///
    /// # Errors
    /// When an unlimited queue would never be full.
    pub(crate) fn over(self, queue: QueueConfig) -> anyhow::Result<QueueConfig> {
        let limits = match queue {
            QueueConfig::DropTail(limits) => Some(limits),
            _ => None,
        };
        // As many packets as Linux's codel and pie hold by default (tc-codel(8), tc-pie(8)).
        let managed = limits.unwrap_or(Limits::packets(1000));
        Ok(match (self, limits) {
            (Discipline::DropTail | Discipline::DropHead, None) => {
                anyhow::bail!("an unlimited queue is never full: give its length by --queue, such as 100ms")
            }
            (Discipline::DropTail, Some(limits)) => QueueConfig::DropTail(limits),
            (Discipline::DropHead, Some(limits)) => QueueConfig::DropHead(limits),
            // RFC 8289 sections 4.2 and 4.3.
            (Discipline::Codel, _) => {
                let (target, interval) = (Span::from_millis(5), Span::from_millis(100));
                QueueConfig::Codel { limits: managed, target, interval }
            }
            // RFC 8033 section 4.
            (Discipline::Pie, _) => {
                let (reference, max_burst) = (Span::from_millis(15), Span::from_millis(150));
                QueueConfig::Pie { limits: managed, reference, max_burst }
            }
            (Discipline::CodelEcn, _) => {
                let (target, interval) = (Span::from_millis(5), Span::from_millis(100));
                QueueConfig::CodelEcn { limits: managed, target, interval, threshold: None }
            }
            (Discipline::FqCodel, limits) => {
                let usual = FqCodelConfig::default();
                QueueConfig::FqCodel(FqCodelConfig { limits: limits.unwrap_or(usual.limits), ..usual })
            }
            (Discipline::Ramp, _) => {
                QueueConfig::Marking { limits: managed, marker: Marker::RADIO, only_ect1: false, least_packets: 0 }
            }
            (Discipline::Predictive, _) => QueueConfig::Predictive { limits: managed, marker: Marker::RADIO },
            // specs/l4s.md 2.2 and 2.4.
            (Discipline::Dualpi2, _) => {
                QueueConfig::DualPi2(DualPi2Config { limits, least_packets: 2, ..DualPi2Config::default() })
            }
        })
    }
}

/// The delivery opportunities of a trace, repeated without end, behind a queue.
pub(crate) fn bottleneck(trace: &str, queue: QueueConfig) -> HopConfig {
    HopConfig::Bottleneck { trace: trace.into(), queue, once: false }
}

/// The options of a path besides its bottleneck, for the laboratory and for real sockets.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Around {
    /// One-way delay of the path in each direction (default: 25ms; none around real packets)
    #[arg(long, value_parser = values::delay)]
    pub(crate) delay: Option<Span>,
    /// Share of packets lost at random in each direction, between bottleneck and delay: 0.02 or 2%
    #[arg(long, value_parser = values::share, value_name = "SHARE")]
    pub(crate) loss: Option<f64>,
    /// Maximum jitter, drawn uniformly from 0 for each packet in each direction; packets stay in order
    #[arg(long, value_parser = values::delay)]
    pub(crate) jitter: Option<Span>,
    /// Length of each bottleneck's queue: 64kB, 100ms or 1bdp (default: unlimited)
    ///
    /// A time is converted at the link's mean rate; 1bdp is that rate times twice the delay.
    #[arg(long, value_name = "LENGTH")]
    pub(crate) queue: Option<QueueLength>,
    /// Queue management (AQM) (default: drop-tail)
    #[arg(long, value_name = "DISCIPLINE")]
    pub(crate) aqm: Option<Discipline>,
}

impl Around {
    /// The queue before a link of this mean rate, with this one-way delay.
    ///
    /// # Errors
    /// When the options do not fit each other.
    pub(crate) fn queue(&self, mean: Rate, delay: Span) -> anyhow::Result<QueueConfig> {
        let plain = queue(self.queue, mean, delay * 2);
        self.aqm.map_or(Ok(plain), |discipline| discipline.over(plain))
    }

    /// A path: bottlenecks in series, then random loss, then the delay.
    pub(crate) fn path(&self, bottlenecks: impl IntoIterator<Item = HopConfig>, delay: Span) -> PathConfig {
        let loss = self.loss.map(|probability| HopConfig::Loss(LossModel::Random { probability }));
        let jitter = self.jitter.map_or(Jitter::None, |max| Jitter::Uniform { max });
        let delay = HopConfig::Delay { delay: delay.into(), jitter, reorders: false };
        PathConfig { hops: bottlenecks.into_iter().chain(loss).chain([delay]).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_is_none_is_answered_by_what_was_probably_meant() {
        let said = |name: &str| find(name, Span::from_secs(1), Seed::new(1)).unwrap_err().to_string();
        assert!(
            said("up.trace").starts_with("there is no file 'up.trace', nor a link of that name ("),
            "{}",
            said("up.trace")
        );
        assert!(said("up.trace:unit=kbps").starts_with("there is no file 'up.trace', nor "));
        assert_eq!(said("."), ".: is a folder: name a trace file in it");
        assert!(
            said("2,5Mbps").ends_with("write 2.5Mbps") && said("2MB/s").ends_with("write 16Mbps"),
            "{}",
            said("2MB/s")
        );
        assert!(said("2000").contains("write 2000kbps or 2000Mbps"), "{}", said("2000"));
        assert!(said("poisson:speed=3").contains("unknown parameter 'speed'"));
        assert!(said("lte-drving").contains("did you mean lte-driving"));
        let short = find("lte-driving", Span::from_millis(20), Seed::new(1)).unwrap_err().to_string();
        assert!(short.contains("20ms") && !short.contains("did you mean"), "{short}");
        for rate in ["999999Gbps", "2Mbps/500kbps@1us"] {
            assert!(
                !said(rate).contains("write 999999Gbps") && !said(rate).contains("there is no file"),
                "{}",
                said(rate)
            );
        }
    }

    #[test]
    fn a_queue_discipline_takes_the_queues_length_or_linuxs() {
        let limits = Limits::bytes(Bytes::new(64_000));
        let (length, none) = (QueueConfig::DropTail(limits), QueueConfig::Infinite);
        assert_eq!(Discipline::DropHead.over(length).unwrap(), QueueConfig::DropHead(limits));
        let limits_of = |queue| match Discipline::Codel.over(queue).unwrap() {
            QueueConfig::Codel { limits, .. } => limits,
            other => panic!("{other:?}"),
        };
        assert_eq!((limits_of(length), limits_of(none)), (limits, Limits::packets(1000)));
        assert!(Discipline::DropHead.over(none).unwrap_err().to_string().contains("--queue"));
    }

    #[test]
    fn a_queue_is_bytes_or_time_at_the_mean_rate_or_bandwidth_delay_products() {
        let bytes = |text: &str| {
            let config = queue(Some(text.parse().unwrap()), Rate::from_kbps(2000), Span::from_millis(50));
            let QueueConfig::DropTail(limits) = config else { panic!("{config:?}") };
            limits
        };
        assert_eq!(bytes("64kB"), Limits::bytes(Bytes::new(64_000)));
        assert_eq!(bytes("100ms"), Limits::bytes(Bytes::new(25_000)));
        assert_eq!(bytes("2 BDP"), Limits::bytes(Bytes::new(25_000)));
        assert_eq!(bytes("1ms"), Limits::bytes(MIN_QUEUE));
        assert_eq!(queue(None, Rate::from_kbps(2000), Span::from_millis(50)), QueueConfig::Infinite);
        for wrong in ["fast", "-1ms", "0bdp", "bdp", "xbdp"] {
            assert!(wrong.parse::<QueueLength>().unwrap_err().contains("invalid queue"), "{wrong}");
        }
    }
}
