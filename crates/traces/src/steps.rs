//! Traces from rates in turn.

use thalweg_netsim::{Trace, TraceError};
use thalweg_units::{Rate, Span};

use crate::error::ReadError;
use crate::options::ReadOptions;

/// Rates, each for a number of milliseconds; `None` is a pause, which is taken out after the file was cut.
pub(crate) type Steps<R = Rate> = Vec<(u64, Option<R>)>;

/// Bits of an opportunity that count as throughput: a packet of 1500 bytes.
const OPPORTUNITY_BITS: f64 = 12_000.0;
/// A day, beyond which the unit of the times is more likely wrong than the recording that long.
pub(crate) const LONGEST_MS: u64 = 86_400_000;

/// The trace of a file's rates: the part that is asked for, without pauses. It has up to
/// [`most_opportunities`](ReadOptions::most_opportunities): a file may ask for more than memory holds.
///
/// # Errors
/// When the part is not in it, nothing is ever delivered, or too much.
pub(crate) fn trace(steps: Steps, options: &ReadOptions) -> Result<Trace, ReadError> {
    let lasts = length(&steps);
    let steps = match options.cut {
        Some(cut) => {
            let (from, to) = cut.within(Span::from_millis(lasts.min(LONGEST_SPAN_MS) as i64))?;
            between(&steps, from, to)
        }
        None => steps,
    };
    let steps: Vec<(u64, Rate)> = steps.into_iter().filter_map(|(millis, rate)| Some((millis, rate?))).collect();
    let seconds = steps.iter().map(|(millis, _)| *millis as f64).sum::<f64>() / 1e3;
    let bits: f64 = steps.iter().map(|(millis, rate)| rate.as_bps_f64() * *millis as f64 / 1e3).sum();
    let packets = bits / OPPORTUNITY_BITS;
    if packets > options.most_opportunities as f64 {
        let most = options.most_opportunities as f64;
        // What fits at the mean rate, in whole seconds.
        let fits = (seconds * most / packets).floor().max(1.0);
        return Err(ReadError::unclear(format!(
            "it has {:.1} million packets of 1500 bytes in {seconds:.1} s, must be at most {} million: are its units \
             right? If so, cut it by its name, as in FILE@0s-{fits}s",
            packets / 1e6,
            most / 1e6,
        )));
    }
    Trace::from_rates(steps).map_err(|error| match error {
        TraceError::Empty => {
            ReadError::unclear("all its rates together do not carry one packet of 1500 bytes: are its units right?")
        }
        other => other.into(),
    })
}

/// The longest a [`Span`] of nanoseconds can be: what a cut leaves out may last for any time.
const LONGEST_SPAN_MS: u64 = i64::MAX as u64 / 1_000_000;

/// How long they last together, in milliseconds.
pub(crate) fn length<R>(steps: &[(u64, Option<R>)]) -> u64 {
    steps.iter().fold(0, |sum: u64, (millis, _)| sum.saturating_add(*millis))
}

/// A stretch between two times, in milliseconds.
fn between(steps: &[(u64, Option<Rate>)], from: u64, to: u64) -> Steps {
    let mut end = 0u64;
    let inside = steps.iter().filter_map(|(millis, rate)| {
        let begin = end;
        end = end.saturating_add(*millis);
        let (begin, end) = (begin.max(from), end.min(to));
        (begin < end).then(|| (end - begin, *rate))
    });
    inside.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(steps: &[(u64, Option<u64>)], options: &str) -> Result<Trace, String> {
        let steps = steps.iter().map(|(millis, kbps)| (*millis, kbps.map(Rate::from_kbps))).collect();
        trace(steps, &options.parse()?).map_err(|error| error.to_string())
    }

    #[test]
    fn steps_are_cut_at_their_edges_and_pauses_are_taken_out_behind_the_cut() {
        let steps = [(1000, Some(1200)), (60_000, None), (1000, Some(2400))];
        let whole = of(&steps, "").unwrap();
        assert_eq!((whole.period(), whole.millis().len()), (Span::from_secs(2), 300));
        // Half of the first second, the pause, and 100 ms of the last.
        let cut = of(&steps, "@0.5s-61.1s").unwrap();
        assert_eq!((cut.period(), cut.millis().len()), (Span::from_millis(600), 70));
        for (options, words) in
            [("@1s-61s", "do not carry one packet"), ("@62s-", "it lasts 62s"), ("@1s-63s", "@1s- goes to its end")]
        {
            let error = of(&steps, options).unwrap_err();
            assert!(error.contains(words), "{options}: {error}");
        }
        let endless = [(1000, Some(1200)), (u64::MAX, Some(1200)), (u64::MAX, None)];
        assert_eq!(of(&endless, "@0.5s-2s").unwrap().period(), Span::from_millis(1500));
    }

    #[test]
    fn more_packets_than_memory_holds_are_refused_with_a_cut_that_fits_and_the_cut_is_read() {
        // 1200 s at 1.2 Gbps: 120 million packets.
        let steps = [(600_000, Some(1_200_000)), (600_000, Some(1_200_000))];
        let error = of(&steps, "").unwrap_err();
        assert!(error.contains("120.0 million packets") && error.contains("FILE@0s-1000s"), "{error}");
        assert_eq!(of(&steps, "@599s-601s").unwrap().millis().len(), 200_000);
    }
}
