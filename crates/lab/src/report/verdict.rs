//! Verdict on the numbers, in words: each scheme against the first.

use super::groups::Page;
use crate::metrics::{Summary, TOO_LATE_MS, doubts};
use crate::statistics::{Against, Estimate, over, paired};

/// Which scheme is best, a sentence for each but the first, the best first, one on how far to trust them, and what a reader may
/// doubt; none for a single scheme.
pub(super) fn verdict(page: &Page<'_>) -> Vec<String> {
    let Some(base) = page.entries.first().filter(|_| page.schemes > 1) else { return Vec::new() };
    let its = page.summaries(0);
    let against = |entry: usize, against, value: fn(&Summary) -> Option<f64>| {
        paired(&page.summaries(entry), &its, against, value)
    };
    let order = order(page);
    let mut said = Vec::new();
    for entry in order.iter().copied().filter(|entry| *entry > 0) {
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
        let too_late = mean_of(page, entry, |run| run.latency_p95_ms).filter(|late| *late > TOO_LATE_MS);
        let too_late = too_late.map(|late| format!("too late for a call (P95 {:.1} s)", late / 1e3));
        let parts: Vec<String> = (!rates.is_empty()).then_some(rates).into_iter().chain(psnr).chain(too_late).collect();
        if !parts.is_empty() {
            said.push(format!("{}: {}.", page.entries[entry].name, parts.join("; ")));
        }
    }
    if !said.is_empty() {
        said.splice(0..0, best(page, &order));
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
        said.splice(said.len() - 1..said.len() - 1, doubts((0..page.schemes).flat_map(|entry| page.summaries(entry))));
    }
    said
}

/// The mean of a figure over a scheme's runs.
fn mean_of(page: &Page<'_>, entry: usize, value: fn(&Summary) -> Option<f64>) -> Option<f64> {
    Some(over(&page.summaries(entry), value)?.mean)
}

/// The schemes, the best first: those in time for a call before those that are not, then by what stood on the screen to a tenth of
/// a dB, or by the rate of video where that was not measured, then by latency.
fn order(page: &Page<'_>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..page.schemes).collect();
    let in_time = |entry: usize| mean_of(page, entry, |run| run.latency_p95_ms).is_some_and(|late| late <= TOO_LATE_MS);
    let rank = |entry: usize| {
        let screen = mean_of(page, entry, |run| run.screen_ssim_db);
        let seen = screen.map(|ssim| (ssim * 10.0).round());
        let seen = seen.or_else(|| mean_of(page, entry, |run| Some(run.video_bitrate_bps))).unwrap_or_default();
        (in_time(entry), seen, mean_of(page, entry, |run| run.latency_p95_ms).unwrap_or(f64::INFINITY))
    };
    order.sort_by(|a, b| {
        let (a, b) = (rank(*a), rank(*b));
        b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.total_cmp(&b.2))
    });
    order
}

/// The sentence on the best scheme; none where nothing that judges it was measured.
fn best(page: &Page<'_>, order: &[usize]) -> Option<String> {
    let [first, second, ..] = *order else { return None };
    let screen: fn(&Summary) -> Option<f64> = |run| run.screen_ssim_db;
    let (late, ssim) = (mean_of(page, first, |run| run.latency_p95_ms)?, mean_of(page, first, screen)?);
    if late > TOO_LATE_MS {
        return Some("Best: none, as the P95 latency of each is above 1 s, too late for a call.".into());
    }
    let compared = paired(&page.summaries(first), &page.summaries(second), Against::Difference, screen);
    let within = compared.is_some_and(|found| chance(found, Against::Difference));
    let within = if within { format!(", within chance of {}", page.entries[second].name) } else { String::new() };
    Some(format!(
        "Best: {}, with the highest SSIM on the screen, {ssim:.1} dB, of those in time for a call (P95 up to 1 s){within}.",
        page.entries[first].name
    ))
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

    #[test]
    fn sentences_stand_in_the_order_of_what_was_seen_in_time_and_say_which_is_too_late() {
        let mut runs = ["gcc", "copa", "vidaptive", "camel"].map(|scheme| outcome("a", scheme, 1));
        for (run, (ssim, late)) in runs.iter_mut().zip([(10.0, 300.0), (14.0, 3400.0), (12.0, 200.0), (11.0, 100.0)]) {
            (run.summary.screen_ssim_db, run.summary.latency_p95_ms) = (Some(ssim), Some(late));
        }
        let said = verdict(&Page::of(&runs));
        assert!(
            said[0].starts_with("Best: vidaptive, with the highest SSIM on the screen, 12.0 dB, of those in time"),
            "{said:?}"
        );
        let names: Vec<&str> = said[1..4].iter().filter_map(|sentence| sentence.split(':').next()).collect();
        assert_eq!(names, ["vidaptive", "camel", "copa"]);
        assert!(said[3].ends_with("; too late for a call (P95 3.4 s)."), "{said:?}");
        runs.iter_mut().for_each(|run| run.summary.latency_p95_ms = Some(1500.0));
        assert!(verdict(&Page::of(&runs))[0].starts_with("Best: none"));
    }
}
