//! Traces: the delivery opportunities of a link.

mod cut;
mod generate;
mod mahimahi;
mod named;
mod schedule;
mod statistics;

use alloc::vec::Vec;

use thalweg_units::{Bytes, Rate, Span, Time};

pub use cut::Cut;
pub use mahimahi::TraceError;
pub use named::NameError;
pub use schedule::Schedule;
pub use statistics::Statistics;

/// Bytes of one opportunity: an IP packet of 1500 bytes and the 4 bytes of packet information that Mahimahi's TUN
/// device puts before it (specs/linkemu.md 1).
pub const OPPORTUNITY: Bytes = Bytes::new(1504);

/// The most opportunities that are made of rates, which take 800 MB: a quarter of an hour of 1.3 Gbps.
pub const MOST_OPPORTUNITIES: u64 = 100_000_000;

/// Opportunities at whole milliseconds, in order; a millisecond is repeated for each of its opportunities. The last one
/// is later than 0; a looped trace starts again there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    millis: Vec<u64>,
}

impl Trace {
    /// A trace of opportunities at these milliseconds.
    ///
    /// # Errors
    /// When there are none, they are not in order, or the last is 0.
    pub fn new(millis: Vec<u64>) -> Result<Trace, TraceError> {
        if let Some(at) = millis.windows(2).position(|pair| pair[1] < pair[0]) {
            return Err(TraceError::decreasing(at + 2, millis[at], millis[at + 1]));
        }
        match millis.last() {
            None => Err(TraceError::Empty),
            Some(0) => Err(TraceError::EndsAtZero),
            Some(_) => Ok(Trace { millis }),
        }
    }

    /// The opportunities, in milliseconds.
    pub fn millis(&self) -> &[u64] {
        &self.millis
    }

    /// The length of the trace until it loops.
    pub fn period(&self) -> Span {
        Span::from_millis(*self.millis.last().unwrap_or(&1) as i64)
    }

    /// The mean rate of the whole trace, counting 1500 bytes per opportunity.
    pub fn mean_rate(&self) -> Rate {
        (Bytes::new(1500) * self.millis.len() as u64).per(self.period())
    }

    /// The same link, written out this number of times.
    pub fn repeated(&self, times: u64) -> Trace {
        let period = self.millis.last().copied().unwrap_or(1);
        let lap = |lap: u64| self.millis.iter().map(move |millis| millis + lap * period);
        Trace { millis: (0..times.max(1)).flat_map(lap).collect() }
    }

    /// The number of opportunities in [from, to) of the looped trace.
    pub fn opportunities(&self, from: Time, to: Time) -> u64 {
        self.before(to).saturating_sub(self.before(from))
    }

    /// Opportunities before `at`.
    fn before(&self, at: Time) -> u64 {
        // An opportunity at millisecond t is before `at` if t < at, that is t <= ceil(at) - 1.
        let limit = at.as_nanos().div_ceil(1_000_000);
        let period = self.millis[self.millis.len() - 1];
        let loops = limit / period;
        let rest = limit % period;
        let inside = self.millis.partition_point(|millis| *millis < rest) as u64;
        // At a multiple of the period, the last opportunity of the previous loop coincides with the start of the next:
        // it is before `at` only if `rest` is past it.
        let whole = loops * self.millis.len() as u64;
        let at_boundary = self.millis.iter().rev().take_while(|millis| **millis == period).count() as u64;
        if loops > 0 && rest == 0 { whole - at_boundary + inside } else { whole + inside }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn a_link_written_out_several_times_is_the_same_link() {
        let trace = Trace::new(vec![0, 4, 10]).unwrap();
        assert_eq!(trace.repeated(1), trace);
        assert_eq!(trace.repeated(2).millis(), [0, 4, 10, 10, 14, 20]);
        for to in 0..80 {
            let count = |trace: &Trace| trace.opportunities(Time::ZERO, Time::from_millis(to));
            assert_eq!(count(&trace.repeated(3)), count(&trace), "{to} ms");
        }
    }

    #[test]
    fn opportunities_are_counted_over_loops() {
        let trace = Trace::new(vec![0, 4, 10]).unwrap();
        // 0, 4, 10, 10, 14, 20, 20, 24, ...
        let count = |from, to| trace.opportunities(Time::from_millis(from), Time::from_millis(to));
        assert_eq!(count(0, 10), 2);
        assert_eq!(count(0, 11), 4);
        assert_eq!(count(10, 11), 2);
        assert_eq!(count(0, 21), 7);
        assert_eq!(count(4, 5), 1);
        assert_eq!(count(5, 10), 0);
    }
}
