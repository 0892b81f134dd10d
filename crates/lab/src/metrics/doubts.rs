//! Results that a reader may take for a fault of the laboratory, and where they are answered.

use super::{Summary, mean};

/// 95th percentile of the frame latency above which nobody can talk, in ms. ITU-T G.114 (2003) wants at most 400 ms one way; of
/// a second there is no doubt.
pub const TOO_LATE_MS: f64 = 1000.0;

/// Share of the link below which WebRTC's congestion control looks like a straw man.
const UNUSED: f64 = 0.5;

/// Share of pictures after the last one shown from which the 95th percentile of latency would be theirs, had they any.
const FROZEN: f64 = 0.05;

/// Sentences on results that look odd and are none of the laboratory's doing, each with its place in docs/faq.md.
pub fn doubts<'a>(runs: impl IntoIterator<Item = &'a Summary>) -> Vec<String> {
    let (mut used, mut late, mut frozen) = (Vec::new(), Vec::new(), Vec::new());
    for run in runs {
        if ends_frozen(run) && !frozen.contains(&run.scheme.as_str()) {
            frozen.push(&run.scheme);
        }
        match run.scheme.as_str() {
            "gcc" => used.extend(run.utilization),
            "copa" => late.extend(run.latency_p95_ms),
            _ => {}
        }
    }
    let gcc = mean(used).is_some_and(|share| share < UNUSED);
    let copa = mean(late).is_some_and(|late| late > TOO_LATE_MS);
    let gcc = gcc.then_some(
        "gcc leaves half of the link or more unused, and so does Chromium: docs/faq.md#is-your-gcc-a-straw-man",
    );
    let copa = copa.then_some(
        "copa is Copa alone, whose frames wait in the sender: docs/faq.md#why-is-a-frame-of-copa-seconds-late",
    );
    let frozen = (!frozen.is_empty()).then(|| {
        format!(
            "{} ended with a frozen picture: those captured after it have no latency, so P50, P95 and mean are of the time \
             before (docs/reference/metrics.md#latency)",
            frozen.join(", ")
        )
    });
    gcc.into_iter().chain(copa).map(String::from).chain(frozen).collect()
}

/// Returns true if the figures of latency leave out enough at the end to look better than it was.
fn ends_frozen(run: &Summary) -> bool {
    let shown = run.frame_rate_fps * run.duration_s;
    run.latency_p95_ms.is_some() && run.tail_missing as f64 > FROZEN * (shown + run.tail_missing as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A minute of 30 pictures a second.
    fn run(scheme: &str, utilization: f64, latency_p95_ms: f64) -> Summary {
        let empty = Summary { duration_s: 60.0, frame_rate_fps: 30.0, ..Summary::empty(scheme, "a", 1) };
        Summary { utilization: Some(utilization), latency_p95_ms: Some(latency_p95_ms), ..empty }
    }

    #[test]
    fn the_mean_over_runs_is_what_is_answered() {
        let said = |runs: &[Summary]| doubts(runs).len();
        assert_eq!(said(&[run("gcc", 0.4, 300.0), run("gcc", 0.7, 300.0), run("copa", 0.4, 900.0)]), 0);
        assert_eq!(said(&[run("gcc", 0.4, 300.0), run("copa", 0.9, 3000.0), run("sqp", 0.1, 5000.0)]), 2);
    }

    #[test]
    fn a_call_that_ends_frozen_says_that_its_latency_is_of_the_time_before() {
        let ends = |tail_missing| Summary { tail_missing, ..run("sqp", 0.9, 100.0) };
        // Of 1,800 shown, a twentieth of all would be 95.
        assert_eq!(doubts(&[ends(94)]), [] as [String; 0]);
        let said = doubts(&[run("nada", 0.9, 100.0), ends(96), ends(300)]);
        assert!(said.len() == 1 && said[0].starts_with("sqp ended with a frozen picture"), "{said:?}");
    }
}
