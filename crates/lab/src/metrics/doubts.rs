//! Results that a reader may take for a fault of the laboratory, and where they are answered.

use super::Summary;

/// 95th percentile of the frame latency above which nobody can talk, in ms. ITU-T G.114 (2003) wants at most 400 ms one way; of
/// a second there is no doubt.
pub const TOO_LATE_MS: f64 = 1000.0;

/// Share of the link below which WebRTC's congestion control looks like a straw man.
const UNUSED: f64 = 0.5;

/// Sentences on results that look odd and are none of the laboratory's doing, each with its place in docs/faq.md.
pub fn doubts<'a>(runs: impl IntoIterator<Item = &'a Summary>) -> Vec<String> {
    let (mut gcc, mut copa) = (false, false);
    for run in runs {
        gcc |= run.scheme == "gcc" && run.utilization.is_some_and(|share| share < UNUSED);
        copa |= run.scheme == "copa" && run.latency_p95_ms.is_some_and(|late| late > TOO_LATE_MS);
    }
    let gcc = gcc.then_some(
        "gcc leaves half of the link or more unused, and so does Chromium: docs/faq.md#is-your-gcc-a-straw-man",
    );
    let copa = copa.then_some(
        "copa is Copa alone, whose frames wait in the sender: docs/faq.md#why-is-a-frame-of-copa-seconds-late",
    );
    gcc.into_iter().chain(copa).map(String::from).collect()
}
