//! Verdict on the numbers, in words: each scheme against the first.

use super::groups::Page;
use crate::metrics::Summary;
use crate::statistics::{Against, Estimate, paired};

/// One sentence for each scheme but the first, and one on how far to trust them; none for a single scheme.
pub(super) fn verdict(page: &Page<'_>) -> Vec<String> {
    let Some(base) = page.entries.first().filter(|_| page.schemes > 1) else { return Vec::new() };
    let its = page.summaries(0);
    let against = |entry: usize, against, value: fn(&Summary) -> Option<f64>| {
        paired(&page.summaries(entry), &its, against, value)
    };
    let mut said = Vec::new();
    for entry in 1..page.schemes {
        let video = against(entry, Against::Ratio, |run| Some(run.video_bitrate_bps));
        let late = against(entry, Against::Ratio, |run| run.latency_p95_ms);
        let psnr = against(entry, Against::Difference, |run| run.psnr_db);
        let mut parts = Vec::new();
        parts.extend(video.map(|ratio| times(ratio, &format!("{}'s video bitrate", base.name))));
        parts.extend(late.map(|ratio| times(ratio, "its P95 latency")));
        let rates = parts.join(" at ");
        let psnr = psnr.map(|difference| {
            let way = if difference.mean < 0.0 { "lower" } else { "higher" };
            let chance = if chance(difference, Against::Difference) { ", within chance" } else { "" };
            format!("PSNR {:.1} dB {way}{}{chance}", difference.mean.abs(), interval(difference, 1))
        });
        let parts: Vec<String> = (!rates.is_empty()).then_some(rates).into_iter().chain(psnr).collect();
        if !parts.is_empty() {
            said.push(format!("{}: {}.", page.entries[entry].name, parts.join("; ")));
        }
    }
    if !said.is_empty() {
        said.push(match (page.most_runs(), page.cells.len()) {
            (1, 1) => "One run each: another seed or another link may well say otherwise.".into(),
            (1, cells) => {
                format!("One run each over {cells} links or videos; in parentheses the 95 % interval over them.")
            }
            (runs, _) => format!(
                "Up to {runs} runs each, compared in pairs of the same seed; in parentheses the 95 % interval, \
                 \"within chance\" where it includes no difference."
            ),
        });
    }
    said
}

fn times(ratio: Estimate, what: &str) -> String {
    let chance = if chance(ratio, Against::Ratio) { " (within chance)" } else { "" };
    format!("{:.2} times {what}{}{chance}", ratio.mean, interval(ratio, 2))
}

/// Returns true if the interval includes the value of no difference.
fn chance(found: Estimate, against: Against) -> bool {
    found.interval.is_some() && !found.excludes(against.unchanged())
}

fn interval(found: Estimate, digits: usize) -> String {
    found.interval.map_or(String::new(), |(low, high)| format!(" ({low:.digits$} to {high:.digits$})"))
}

#[cfg(test)]
mod tests {
    use super::super::data::tests::outcome;
    use super::*;

    #[test]
    fn one_run_each_is_said_plainly_and_with_care() {
        let runs = [outcome("a", "gcc", 1), outcome("a", "vidaptive", 1)];
        let said = verdict(&Page::of(&runs));
        assert_eq!(
            said[0],
            "vidaptive: 2.00 times gcc's video bitrate at 0.50 times its P95 latency; PSNR 1.0 dB higher."
        );
        assert!(said[1].starts_with("One run each"));
        assert_eq!(verdict(&Page::of(&runs[..1])), Vec::<String>::new());
    }

    #[test]
    fn a_difference_within_chance_is_called_so() {
        let mut runs: Vec<_> =
            (1..=4).flat_map(|seed| [outcome("a", "gcc", seed), outcome("a", "copa", seed)]).collect();
        for (run, more) in runs.iter_mut().zip([0.0, 2.0, 3.0, 1.0, 1.0, 3.0, 2.0, 0.0]) {
            run.summary.video_bitrate_bps = 1e6 + 1e5 * more;
        }
        let said = verdict(&Page::of(&runs));
        assert!(said[0].contains("video bitrate (") && said[0].contains("(within chance) at 0.50 times"), "{said:?}");
        assert!(said[1].starts_with("Up to 4 runs"));
    }
}
