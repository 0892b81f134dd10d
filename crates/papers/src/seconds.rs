//! A recorded link as one rate per second, scaled to a given mean or as it is.
//!
//! Papers measure throughput per second with a download or iperf, and replay it with a shaper. A Mahimahi recording is
//! finer and faster: every opportunity to send 1500 bytes, at its millisecond. Counted per second and scaled, it keeps
//! the variation from one second to the next, outages included, and loses the variation within a second.

use thalweg_netsim::trace::OPPORTUNITY;
use thalweg_netsim::{Rates, Trace};
use thalweg_units::{ConfigError, Rate, Span, Time};

const SECOND: Span = Span::from_secs(1);

/// A recorded link by whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seconds {
    /// The name of the recording.
    pub recording: &'static str,
    /// The mean over all of its whole seconds; `None` for the recording's own.
    pub mean: Option<Rate>,
}

impl Seconds {
    /// `trace` by whole seconds, as a sequence of rates whose mean is [`Seconds::mean`] exactly: each second's
    /// opportunities multiplied by the same factor, with rounding carried over so that nothing is lost. A second
    /// without opportunities stays at 0.
    ///
    /// # Errors
    /// When there is no whole second, no opportunity in any of them, or the mean is 0.
    pub fn rates(&self, trace: &Trace) -> Result<Rates, ConfigError> {
        let at = |second: u64| Time::from_millis(second * 1000);
        let seconds = (trace.period().as_nanos() / SECOND.as_nanos()).max(0) as u64;
        let until = |second: u64| u128::from(trace.opportunities(Time::ZERO, at(second)));
        let opportunities = until(seconds).max(1);
        let bits = match self.mean {
            Some(mean) => u128::from(mean.as_bps()) * u128::from(seconds),
            None => opportunities * u128::from(OPPORTUNITY.bits()),
        };
        // Cumulative bits at the end of each second, so that rounding carries over to the next second.
        let passed = |second: u64| (until(second) * bits / opportunities) as u64;
        let rates = (0..seconds).map(|second| Rate::from_bps(passed(second + 1) - passed(second)));
        Rates::in_turn(rates.collect(), SECOND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(millis: &[u64], kbps: u64) -> Result<Rates, ConfigError> {
        let trace = Trace::new(millis.to_vec()).unwrap();
        Seconds { recording: "made here", mean: Some(Rate::from_kbps(kbps)) }.rates(&trace)
    }

    fn turn(rates: &Rates, seconds: std::ops::Range<u64>) -> Vec<u64> {
        seconds.map(|second| rates.at(Time::from_millis(second * 1000)).0.as_bps()).collect()
    }

    #[test]
    fn seconds_are_to_each_other_as_their_opportunities_and_come_round_again_whole() {
        // Three, one, none and two, and half a second that is ignored.
        let millis = [0, 500, 999, 1000, 3400, 3401, 4200, 4500];
        let rates = seconds(&millis, 600).unwrap();
        assert_eq!(turn(&rates, 0..4), [1_200_000, 400_000, 0, 800_000]);
        assert_eq!(turn(&rates, 4..8), turn(&rates, 0..4));
    }

    #[test]
    fn without_a_mean_each_second_passes_what_was_recorded() {
        let trace = Trace::new(vec![0, 500, 999, 1000, 3400, 3999]).unwrap();
        let rates = Seconds { recording: "made here", mean: None }.rates(&trace).unwrap();
        assert_eq!(turn(&rates, 0..3), [3, 1, 0].map(|packets| packets * 1504 * 8));
    }

    #[test]
    fn the_mean_is_exact_where_no_second_is() {
        let rates = seconds(&[0, 1000, 1001, 2000, 2001, 2002, 2003, 3000], 1).unwrap();
        let of = turn(&rates, 0..3);
        assert_eq!(of, [428, 857, 1715]);
        assert_eq!(of.iter().sum::<u64>(), 3_000);
    }

    #[test]
    fn what_has_no_whole_second_or_nothing_in_one_is_refused() {
        assert!(seconds(&[10, 999], 100).is_err());
        assert!(seconds(&[1500], 100).is_err());
        assert!(seconds(&[10, 1500], 0).is_err());
        assert!(seconds(&[10, 1500], 1).is_ok());
    }
}
