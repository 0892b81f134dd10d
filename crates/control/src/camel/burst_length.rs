//! M: how many bytes of a frame may leave back to back (Camel, equation 7; specs/camel.md 4).

use alloc::vec;
use alloc::vec::Vec;

use thalweg_units::{Bytes, ConfigError, Span, Time, above, check};

use crate::estimate::WindowedMin;

/// How M follows from losses by their position in the burst.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The width of a bin, and the step of M (2 KB; 1 KB taken as 1024 bytes (R)).
    pub bin: Bytes,
    /// M before the first evaluation (R).
    pub first: Bytes,
    /// Min of M (R: a bin) ...
    pub min: Bytes,
    /// ... and its max (R).
    pub max: Bytes,
    /// Interval between evaluations of M (5 s).
    pub period: Span,
    /// Loss at the end of the burst may exceed loss at its beginning by this much (equation 7: 0.10); with 1, M never
    /// shrinks.
    pub margin: f64,
    /// The same at the min of M, beyond which GCC takes over (R; the paper's "still above L_0" is 0).
    pub margin_at_min: f64,
    /// The quantity that the bins divide.
    pub bins: Bins,
    /// A bin with fewer packets is not evaluated (R).
    pub min_packets: u32,
    /// Treatment of M while bursts are too short to show its effect.
    pub unseen: Unseen,
    /// The min loss of the first bin within this time counts as the path's own loss, where first packets are too few to
    /// tell (R).
    pub memory: Span,
}

/// Meaning of the paper's "2 KB intervals" (R: section 4.3 says that frames are cut into them, and that larger frames
/// lose more).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Bins {
    /// Slices of a burst: a packet's bin is that of its offset in the burst.
    #[default]
    Slices,
    /// Classes of bursts by size: a packet's bin is that of its burst's last byte.
    BurstSizes,
}

/// Treatment of M when the bin of its last byte has too few packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Unseen {
    /// The furthest bin that bursts reach is evaluated instead. M shrinks below that bin if it loses, and never grows:
    /// a frame of 4 KB that overflows a queue of 2 KB is evidence enough against an M of 6 KB.
    #[default]
    FurthestSeen,
    /// M stays unchanged (specs/camel.md 4, choice 4).
    Keep,
    /// M grows: the paper's "otherwise". With an encoder that undershoots, M drifts to its maximum.
    Grow,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            bin: Bytes::new(2048),
            first: Bytes::new(6144),
            min: Bytes::new(2048),
            max: Bytes::new(65_536),
            period: Span::from_secs(5),
            margin: 0.10,
            margin_at_min: 0.10,
            bins: Bins::default(),
            min_packets: 10,
            unseen: Unseen::default(),
            memory: Span::from_secs(60),
        }
    }
}

impl Config {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check(
            "camel.burst_length",
            format_args!("bin {}, min {}, first {}, max {}", self.bin, self.min, self.first, self.max),
        )
        .is(
            self.bin != Bytes::ZERO && self.min >= self.bin && self.first >= self.min && self.max >= self.first,
            "0 < bin <= min <= first <= max, such as 2048B, 2048B, 6144B, 65536B",
        )?;
        check("camel.burst_length.max", format_args!("{} in bins of {}", self.max, self.bin))
            .is(self.max.get() / self.bin.get() <= 4096, "at most 4096 bins")?;
        check("camel.burst_length.period", self.period).within(above(Span::ZERO), "5s")?;
        for (name, margin) in
            [("camel.burst_length.margin", self.margin), ("camel.burst_length.margin_at_min", self.margin_at_min)]
        {
            check(name, margin).within(0.0..=1.0, "0.1")?;
        }
        check("camel.burst_length.min_packets", self.min_packets).within(above(0), "10")?;
        Ok(())
    }
}

/// Numbers of packets of a kind that arrived and were lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Count {
    pub(super) arrived: u32,
    pub(super) lost: u32,
}

/// The outcome of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Arrived,
    /// Arrived after it had been counted as lost.
    ArrivedLate,
    Lost,
}

impl Count {
    pub(super) fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Lost => self.lost += 1,
            Outcome::Arrived => self.arrived += 1,
            Outcome::ArrivedLate => {
                self.arrived += 1;
                self.lost = self.lost.saturating_sub(1);
            }
        }
    }

    /// The share lost, if the outcome of at least `min_packets` packets is known.
    pub(super) fn loss(&self, min_packets: u32) -> Option<f64> {
        let all = self.arrived + self.lost;
        (all >= min_packets.max(1)).then(|| f64::from(self.lost) / f64::from(all))
    }
}

/// The evaluation of M over one period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Keep,
    Grow,
    Shrink,
    /// Even the shortest burst loses more than the path's own loss.
    GiveUp,
}

/// M and the losses of the current period.
#[derive(Debug, Clone)]
pub(super) struct BurstLength {
    config: Config,
    length: Bytes,
    bins: Vec<Count>,
    firsts: Count,
    /// L_0 of earlier periods, in millionths.
    min: WindowedMin<u32>,
    /// L_0 and L_i of the last period, for logs and charts.
    seen: (f64, f64),
}

impl BurstLength {
    pub(super) fn new(config: Config) -> BurstLength {
        let bins = config.max.get().div_ceil(config.bin.get()) as usize;
        BurstLength {
            length: config.first,
            bins: vec![Count::default(); bins],
            firsts: Count::default(),
            min: WindowedMin::default(),
            seen: (0.0, 0.0),
            config,
        }
    }

    /// M.
    pub(super) fn get(&self) -> Bytes {
        self.length
    }

    /// L_0 and L_i of the last evaluation.
    pub(super) fn seen(&self) -> (f64, f64) {
        self.seen
    }

    /// Restarts with the shortest burst.
    pub(super) fn restart(&mut self) {
        self.length = self.config.min;
        self.forget();
    }

    /// Counts the outcome of a packet that begins `offset` into its burst of `size`.
    pub(super) fn on_packet(&mut self, offset: Bytes, size: Bytes, first: bool, outcome: Outcome) {
        let bin = match self.config.bins {
            Bins::Slices => (offset.get() / self.config.bin.get()) as usize,
            Bins::BurstSizes => self.config.last_bin(size),
        };
        if let Some(bin) = self.bins.get_mut(bin) {
            bin.add(outcome);
        }
        if first {
            self.firsts.add(outcome);
        }
    }

    /// The recent min of L_0: the path's own loss.
    pub(super) fn min_loss(&self) -> Option<f64> {
        self.min.get().map(|millionths| f64::from(millionths) * 1e-6)
    }

    /// L_i so far in this period.
    pub(super) fn end_loss(&self) -> Option<f64> {
        self.judged_bin().and_then(|bin| self.loss(bin))
    }

    fn loss(&self, bin: usize) -> Option<f64> {
        self.bins[bin].loss(self.config.min_packets)
    }

    /// Ends the period: evaluates M and begins the next period.
    pub(super) fn judge(&mut self, now: Time) -> Verdict {
        let config = self.config;
        let judged = self.judged_bin();
        // L_0: the smallest interval that has packets, the first one if bins are slices.
        let smallest = (0..self.bins.len()).find(|bin| self.loss(*bin).is_some());
        let (l0, li) = (smallest.and_then(|bin| self.loss(bin)), self.end_loss());
        self.seen = (l0.unwrap_or(0.0), li.unwrap_or(0.0));
        let reach = config.bin * (judged.unwrap_or(0) as u64 + 1);
        let whole = reach >= self.length;
        // The smallest interval has no smaller one to compare with, only the first packets of bursts.
        let own = match smallest == judged {
            true => self.firsts.loss(config.min_packets).or(self.min_loss()),
            false => l0,
        };
        let (margin, worse) = match self.length > config.min {
            true => (config.margin, Verdict::Shrink),
            false => (config.margin_at_min, Verdict::GiveUp),
        };
        let verdict = match (li, own) {
            (Some(li), Some(own)) if li > own + margin => worse,
            (Some(_), _) if whole => Verdict::Grow,
            (None, _) if config.unseen == Unseen::Grow => Verdict::Grow,
            _ => Verdict::Keep,
        };
        if let Some(l0) = l0 {
            self.min.add(now, (l0 * 1e6) as u32, config.memory);
        }
        self.length = match verdict {
            Verdict::Grow => self.length + config.bin,
            Verdict::Shrink => self.length.min(reach).saturating_sub(config.bin),
            Verdict::Keep | Verdict::GiveUp => self.length,
        };
        self.length = self.length.clamp(config.min, config.max);
        self.forget();
        verdict
    }

    /// The bin of M's last byte or, if no packets reached that bin, the one evaluated in its place.
    fn judged_bin(&self) -> Option<usize> {
        let last = self.config.last_bin(self.length).min(self.bins.len() - 1);
        let seen = |bin: &usize| self.loss(*bin).is_some();
        match self.config.unseen {
            Unseen::FurthestSeen => (0..=last).rev().find(seen),
            Unseen::Keep | Unseen::Grow => Some(last).filter(seen),
        }
    }

    fn forget(&mut self) {
        self.bins.fill(Count::default());
        self.firsts = Count::default();
    }
}

impl Config {
    /// i: the bin that holds the last byte of a burst of this length.
    fn last_bin(&self, length: Bytes) -> usize {
        (length.get().div_ceil(self.bin.get()) as usize).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(length: &mut BurstLength, bin: u64, lost: u32, all: u32) {
        for packet in 0..all {
            let outcome = if packet < lost { Outcome::Lost } else { Outcome::Arrived };
            let offset = Bytes::new(2048 * bin + 100);
            length.on_packet(offset, offset + Bytes::new(500), false, outcome);
        }
    }

    #[test]
    fn the_worked_periods_shrink_grow_and_leave_the_burst() {
        // specs/camel.md 9, example 4.
        let mut length = BurstLength::new(Config::default());
        reported(&mut length, 0, 2, 100);
        reported(&mut length, 2, 15, 60);
        assert_eq!((length.judge(Time::from_millis(5000)), length.get()), (Verdict::Shrink, Bytes::new(4096)));
        reported(&mut length, 0, 2, 100);
        reported(&mut length, 1, 6, 80);
        assert_eq!((length.judge(Time::from_millis(10_000)), length.get()), (Verdict::Grow, Bytes::new(6144)));
        reported(&mut length, 0, 2, 100);
        reported(&mut length, 2, 4, 4);
        assert_eq!((length.judge(Time::from_millis(15_000)), length.get()), (Verdict::Keep, Bytes::new(6144)));
        let mut letter = BurstLength::new(Config { unseen: Unseen::Grow, ..Config::default() });
        assert_eq!((letter.judge(Time::from_millis(5000)), letter.get()), (Verdict::Grow, Bytes::new(8192)));
    }

    #[test]
    fn frames_shorter_than_the_burst_can_shrink_it_but_not_lengthen_it() {
        let after = |unseen: Unseen, lost: u32| {
            let mut length = BurstLength::new(Config { first: Bytes::new(20_480), unseen, ..Config::default() });
            reported(&mut length, 0, 2, 100);
            reported(&mut length, 1, lost, 100);
            (length.judge(Time::from_millis(5000)), length.get())
        };
        assert_eq!(after(Unseen::FurthestSeen, 50), (Verdict::Shrink, Bytes::new(2048)));
        assert_eq!(after(Unseen::FurthestSeen, 5), (Verdict::Keep, Bytes::new(20_480)));
        assert_eq!(after(Unseen::Keep, 50), (Verdict::Keep, Bytes::new(20_480)));
        assert_eq!(after(Unseen::Grow, 50), (Verdict::Grow, Bytes::new(22_528)));
    }

    #[test]
    fn the_shortest_burst_is_given_up_when_it_loses_more_than_first_packets_do() {
        let shortest = Config { first: Bytes::new(2048), ..Config::default() };
        let judged = |firsts_lost: u32, lost: u32| {
            let mut length = BurstLength::new(shortest);
            for packet in 0..20 {
                let outcome = if packet < firsts_lost { Outcome::Lost } else { Outcome::Arrived };
                length.on_packet(Bytes::ZERO, Bytes::new(2000), true, outcome);
            }
            reported(&mut length, 0, lost - firsts_lost, 80);
            length.judge(Time::from_millis(5000))
        };
        assert_eq!(judged(0, 11), Verdict::GiveUp);
        assert_eq!(judged(0, 10), Verdict::Grow);
        assert_eq!(judged(10, 50), Verdict::Grow, "half of everything lost is the path's own loss");
    }

    #[test]
    fn a_burst_at_its_least_of_several_bins_is_given_up_when_its_end_loses_more() {
        let min = Bytes::new(6144);
        let mut length = BurstLength::new(Config { min, first: min, ..Config::default() });
        reported(&mut length, 0, 0, 100);
        reported(&mut length, 2, 11, 100);
        assert_eq!((length.judge(Time::from_millis(5000)), length.get()), (Verdict::GiveUp, min));
    }

    #[test]
    fn bins_of_burst_sizes_compare_large_bursts_with_small_ones() {
        let judged = |bins: Bins, small_lost: u32, large_lost: u32| {
            let mut length = BurstLength::new(Config { bins, ..Config::default() });
            for packet in 0..100 {
                let outcome = |lost: u32| if packet < lost { Outcome::Lost } else { Outcome::Arrived };
                // Each burst is reported by a packet near its beginning.
                length.on_packet(Bytes::new(100), Bytes::new(1500), false, outcome(small_lost));
                length.on_packet(Bytes::new(100), Bytes::new(6144), false, outcome(large_lost));
            }
            (length.judge(Time::from_millis(5000)), length.get().get())
        };
        assert_eq!(judged(Bins::BurstSizes, 2, 15), (Verdict::Shrink, 4096));
        assert_eq!(judged(Bins::BurstSizes, 2, 12), (Verdict::Grow, 8192));
        assert_eq!(judged(Bins::Slices, 2, 15), (Verdict::Keep, 6144), "all are in the first slice");
    }

    #[test]
    fn the_margin_at_the_min_of_m_is_one_of_its_own_and_one_of_1_never_gives_up() {
        let min = Bytes::new(6144);
        let after = |margin: f64, margin_at_min: f64, lost: u32| {
            let config = Config { min, first: min, margin, margin_at_min, ..Config::default() };
            let mut length = BurstLength::new(config);
            reported(&mut length, 0, 0, 100);
            reported(&mut length, 2, lost, 100);
            length.judge(Time::from_millis(5000))
        };
        assert_eq!((after(0.1, 0.0, 1), after(0.1, 0.0, 0)), (Verdict::GiveUp, Verdict::Grow));
        assert_eq!((after(0.1, 0.1, 1), after(1.0, 1.0, 100)), (Verdict::Grow, Verdict::Grow));
    }

    #[test]
    fn without_first_packets_the_least_loss_of_a_minute_is_the_paths_own() {
        let mut length =
            BurstLength::new(Config { first: Bytes::new(2048), max: Bytes::new(2048), ..Config::default() });
        reported(&mut length, 0, 0, 100);
        assert_eq!(length.judge(Time::from_millis(5000)), Verdict::Grow);
        reported(&mut length, 0, 20, 100);
        assert_eq!(length.judge(Time::from_millis(10_000)), Verdict::GiveUp);
        for period in 3..=14u64 {
            reported(&mut length, 0, 20, 100);
            length.judge(Time::from_millis(period * 5000));
        }
        reported(&mut length, 0, 20, 100);
        assert_eq!(length.judge(Time::from_millis(75_000)), Verdict::Grow);
    }

    #[test]
    fn a_packet_that_was_only_late_is_not_counted_as_lost() {
        let mut count = Count::default();
        count.add(Outcome::Lost);
        count.add(Outcome::ArrivedLate);
        assert_eq!((count.loss(1), count.loss(2)), (Some(0.0), None));
    }
}
