//! Mahimahi's log of a link, so that Mahimahi's plotting tools work.
//!
//! One line for each event, with whole milliseconds since time zero (specs/linkemu.md 6):
//!
//! ```text
//! # thalweg link log: 2Mbps/500kbps@40s
//! # base timestamp: 0
//! 3 + 1504            a packet of 1500 bytes arrived (sizes count 4 bytes of packet information)
//! 12 # 1504           the link could have carried this much
//! 12 - 1504 9         the packet left the path, having waited 9 ms in queues
//! # 15 d 1504 queue-full    it was dropped instead
//! ```
//!
//! Drops are written as comments, which `mm-throughput-graph` skips, because it rejects Mahimahi's own `d` lines. A
//! link that sends bit by bit has no delivery opportunities: each millisecond gets one of the size that the link
//! carries in it, and sizes are those of the IP packets.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use thalweg_netsim::{HopConfig, PACKET_INFORMATION, PathConfig, Rates, Schedule, Trace};
use thalweg_units::{Bytes, Rate, Span, Time};

/// A log being written.
pub(super) struct Log<W: Write = BufWriter<File>> {
    file: W,
    capacity: Capacity,
    /// The capacity at the beginning.
    built_with: Capacity,
    /// The error that stopped writing.
    error: Option<io::Error>,
}

/// The capacity of the path's first bottleneck, as far as it has been logged.
#[derive(Clone)]
enum Capacity {
    Unlimited,
    Trace(Schedule),
    Rates { rates: Rates, from: Time },
}

impl Log {
    /// A new log for a path of this configuration at `path`.
    pub(super) fn create(
        path: &Path,
        config: &PathConfig,
        find: impl FnMut(&str) -> Option<Arc<Trace>>,
    ) -> io::Result<Log> {
        Log::new(BufWriter::with_capacity(1 << 16, File::create(path)?), config, find)
    }
}

impl<W: Write> Log<W> {
    fn new(mut file: W, config: &PathConfig, mut find: impl FnMut(&str) -> Option<Arc<Trace>>) -> io::Result<Log<W>> {
        let bottleneck = config.hops.iter().find_map(|hop| match hop {
            HopConfig::Bottleneck { trace: name, once, .. } => {
                let trace = find(name)?;
                let schedule = if *once { Schedule::once(trace) } else { Schedule::looped(trace) };
                Some((name.clone(), Capacity::Trace(schedule)))
            }
            HopConfig::Rate { rate, .. } => {
                Some((rate.to_string(), Capacity::Rates { rates: rate.clone(), from: Time::ZERO }))
            }
            HopConfig::Delay { .. }
            | HopConfig::Loss(_)
            | HopConfig::Duplicate { .. }
            | HopConfig::Policer { .. }
            | HopConfig::Middlebox(_) => None,
        });
        let (name, capacity) = bottleneck.unwrap_or(("unlimited".into(), Capacity::Unlimited));
        writeln!(file, "# thalweg link log: {name}\n# base timestamp: 0")?;
        Ok(Log { file, built_with: capacity.clone(), capacity, error: None })
    }

    /// The bottleneck has this rate from `now` on, or again what it was built with.
    pub(super) fn changed(&mut self, now: Time, rate: Option<Rate>) {
        self.opportunities(now);
        let mut capacity = self.built_with.clone();
        match (&mut capacity, rate) {
            (Capacity::Trace(schedule), rate) => {
                if let Some(Ok(trace)) = rate.map(Trace::constant) {
                    *schedule = Schedule::looped(Arc::new(trace));
                }
                schedule.skip_to(now + Span::from_nanos(1));
            }
            (Capacity::Rates { rates, from }, rate) => {
                if let Some(Ok(constant)) = rate.map(Rates::constant) {
                    *rates = constant;
                }
                *from = Time::from_millis(now.as_millis());
            }
            (Capacity::Unlimited, _) => {}
        }
        self.capacity = capacity;
    }

    /// A packet arrived.
    pub(super) fn arrived(&mut self, at: Time, size: Bytes) {
        self.opportunities(at);
        let size = self.counted(size);
        self.line(format_args!("{} + {size}", at.as_millis()));
    }

    /// A packet left, after waiting `queued` in queues.
    pub(super) fn departed(&mut self, at: Time, size: Bytes, queued: Span) {
        self.opportunities(at);
        let size = self.counted(size);
        self.line(format_args!("{} - {size} {}", at.as_millis(), queued.as_millis()));
    }

    /// A packet was dropped.
    pub(super) fn dropped(&mut self, at: Time, size: Bytes, why: &str) {
        let size = self.counted(size);
        self.line(format_args!("# {} d {size} {why}", at.as_millis()));
    }

    /// Writes everything up to `now` to the file.
    pub(super) fn flush(&mut self, now: Time) {
        self.opportunities(now);
        if self.error.is_none() {
            self.error = self.file.flush().err();
        }
    }

    /// The error that stopped writing.
    pub(super) fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// Logs every delivery opportunity up to `now`.
    fn opportunities(&mut self, now: Time) {
        loop {
            let (at, size) = match &mut self.capacity {
                Capacity::Unlimited => return,
                Capacity::Trace(schedule) => {
                    let at = schedule.next();
                    if at > now {
                        return;
                    }
                    schedule.advance();
                    (at, thalweg_netsim::trace::OPPORTUNITY)
                }
                Capacity::Rates { rates, from } => {
                    let to = *from + Span::from_millis(1);
                    if to > now {
                        return;
                    }
                    let size = rates.passes(Time::ZERO, to) - rates.passes(Time::ZERO, *from);
                    *from = to;
                    (to, size)
                }
            };
            self.line(format_args!("{} # {}", at.as_millis(), size.get()));
        }
    }

    fn counted(&self, size: Bytes) -> u64 {
        match self.capacity {
            Capacity::Rates { .. } => size.get(),
            Capacity::Unlimited | Capacity::Trace(_) => (size + PACKET_INFORMATION).get(),
        }
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        if self.error.is_none() {
            self.error = writeln!(self.file, "{line}").err();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(hop: HopConfig, events: impl FnOnce(&mut Log<Vec<u8>>)) -> String {
        let find = |_: &str| Some(Arc::new(Trace::new(vec![5, 5, 12]).unwrap()));
        let mut log = Log::new(Vec::new(), &PathConfig { hops: vec![hop] }, find).unwrap();
        events(&mut log);
        String::from_utf8(log.file).unwrap()
    }

    #[test]
    fn events_stand_in_order_between_the_traces_opportunities() {
        let hop = HopConfig::Bottleneck { trace: "a".into(), queue: Default::default(), once: true };
        let text = written(hop, |log| {
            log.arrived(Time::from_micros(3_900), Bytes::new(1500));
            log.departed(Time::from_millis(5), Bytes::new(1500), Span::from_micros(1_100));
            log.dropped(Time::from_millis(6), Bytes::new(100), "lost");
            log.flush(Time::from_millis(40));
        });
        let lines: Vec<&str> = text.lines().skip(1).collect();
        let expected =
            ["# base timestamp: 0", "3 + 1504", "5 # 1504", "5 # 1504", "5 - 1504 1", "# 6 d 104 lost", "12 # 1504"];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_rate_has_a_millisecond_of_it_in_each_line() {
        let hop = HopConfig::Rate { rate: "1Mbps".parse().unwrap(), queue: Default::default() };
        let text = written(hop, |log| log.arrived(Time::from_micros(2_500), Bytes::new(100)));
        assert!(text.ends_with("1 # 125\n2 # 125\n2 + 100\n"), "{text}");
    }

    #[test]
    fn a_changed_rate_shows_in_the_opportunities_until_it_is_given_back() {
        let change = |log: &mut Log<Vec<u8>>| {
            log.changed(Time::from_millis(6), Some(Rate::from_kbps(6_000)));
            log.changed(Time::from_millis(9), None);
            log.flush(Time::from_millis(17));
        };
        let trace = HopConfig::Bottleneck { trace: "a".into(), queue: Default::default(), once: false };
        let of_a_trace = "# base timestamp: 0\n5 # 1504\n5 # 1504\n8 # 1504\n12 # 1504\n17 # 1504\n17 # 1504\n";
        assert!(written(trace, change).ends_with(of_a_trace));
        let rate = HopConfig::Rate { rate: "1Mbps".parse().unwrap(), queue: Default::default() };
        let text = written(rate, change);
        assert!(text.contains("6 # 125\n7 # 750\n8 # 750\n9 # 750\n10 # 125\n"), "{text}");
    }

    #[test]
    fn a_full_disk_stops_the_log_and_is_remembered() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                // Room for the header only.
                if bytes.starts_with(b"5") { Err(io::ErrorKind::StorageFull.into()) } else { Ok(bytes.len()) }
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut log = Log::new(Full, &PathConfig::default(), |_| None).unwrap();
        log.arrived(Time::from_millis(5), Bytes::new(100));
        log.arrived(Time::from_millis(6), Bytes::new(100));
        assert_eq!(log.error().map(io::Error::kind), Some(io::ErrorKind::StorageFull));
    }
}
