//! Results that the authors of Salsify published for their own runs (excamera/salsify-results), read if they are
//! present locally.
//!
//! In both formats the 66.7 ms of their apparatus are already subtracted: their run over a perfect link has a delay of
//! -0.8 ms, and 13.5 ms is among the 5th percentiles of their points.

use std::path::Path;

/// Location of the authors' results for one scheme over one link of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theirs {
    /// The link's name in the figure.
    pub link: &'static str,
    /// The scheme's name in their results.
    pub scheme: &'static str,
    /// The corresponding scheme here; `None` for products that were not run here.
    pub ours: Option<&'static str>,
    /// The location.
    pub place: Place,
}

/// A location in the authors' results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A file with six values: mean, 5th and 95th percentile of the signal's delay in ms, then of SSIM in dB.
    Points(&'static str),
    /// Runs with this name in the summary of all runs, or with this prefix if it ends with `*`. The values are means
    /// over those runs; if some have a signal delay, over those.
    Runs(&'static str),
}

/// The authors' results for a scheme over a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The scheme, link and location.
    pub of: Theirs,
    /// Mean delay, a missing frame counted until the next shown, in ms.
    pub delay_mean_ms: f64,
    /// 95th percentile of the delay, in ms.
    pub delay_p95_ms: f64,
    /// Mean SSIM, in dB.
    pub ssim_db: f64,
    /// 5th and 95th percentile of the SSIM of frames, in dB.
    pub ssim_range_db: (f64, f64),
    /// Source file, and what it contains.
    pub source: String,
}

impl Theirs {
    /// Reads the results from the authors' folder.
    ///
    /// # Errors
    /// When the file is missing or invalid; the error names it.
    pub fn read(&self, results: &Path) -> Result<Point, String> {
        let read = |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
        let (name, point) = match self.place {
            Place::Points(file) => (file.to_string(), self.point(file, &read(&results.join("graphs").join(file))?)),
            Place::Runs(run) => (format!("{SUMMARY}, {run}"), self.runs(run, &read(&results.join(SUMMARY))?)),
        };
        point.ok_or(format!("{}: no figures of {name} in it, or fewer than six", results.display()))
    }

    /// Parses a file of points.
    fn point(&self, file: &str, text: &str) -> Option<Point> {
        let line = text.lines().find(|line| !line.starts_with('#') && !line.trim().is_empty())?;
        let values: Vec<f64> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
        let [delay_mean_ms, _, delay_p95_ms, ssim_db, ssim_p5, ssim_p95] = values[..] else { return None };
        Some(Point {
            of: *self,
            delay_mean_ms,
            delay_p95_ms,
            ssim_db,
            ssim_range_db: (ssim_p5, ssim_p95),
            source: file.into(),
        })
    }

    /// Parses the summary of all runs: uses the signal's delay if present, otherwise that of shown frames.
    fn runs(&self, run: &str, text: &str) -> Option<Point> {
        let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let head = lines.next()?;
        // The second "p95" is of SSIM, the third of the signal's delay.
        let column =
            |name: &str, nth: usize| head.iter().enumerate().filter(|(_, n)| **n == name).nth(nth).map(|(i, _)| i);
        let names = [("frame_delay_mean_ms", 0), ("p95", 0), ("ssimY_mean_dB", 0), ("p5", 0), ("p95", 1)];
        let signal = [column("signal_delay_mean_ms", 0)?, column("p95", 2)?];
        let mut places = Vec::new();
        for (name, nth) in names {
            places.push(column(name, nth)?);
        }
        let wanted = |name: &str| run.strip_suffix('*').map_or(name == run, |beginning| name.starts_with(beginning));
        let (with, without): (Vec<_>, Vec<_>) = lines
            .filter(|cells| cells.first().is_some_and(|name| wanted(name)))
            .partition(|cells| cells.get(signal[0]).is_some_and(|cell| !cell.trim().is_empty()));
        let chosen: Vec<Vec<&str>> = if with.is_empty() { without } else { with };
        let mean = |place: usize| -> Option<f64> {
            let cells: Vec<f64> = chosen.iter().filter_map(|cells| cells.get(place)?.trim().parse().ok()).collect();
            (cells.len() == chosen.len() && !cells.is_empty()).then(|| cells.iter().sum::<f64>() / cells.len() as f64)
        };
        let of_signal = mean(signal[0]).zip(mean(signal[1]));
        let (delay_mean_ms, delay_p95_ms) = of_signal.or_else(|| mean(places[0]).zip(mean(places[1])))?;
        let what = if of_signal.is_some() { "" } else { ", delay of shown frames only" };
        let runs = if chosen.len() == 1 { String::new() } else { format!(", mean of {} runs", chosen.len()) };
        Some(Point {
            of: *self,
            delay_mean_ms,
            delay_p95_ms,
            ssim_db: mean(places[2])?,
            ssim_range_db: mean(places[3]).zip(mean(places[4]))?,
            source: format!("{SUMMARY}, {run}{runs}{what}"),
        })
    }
}

/// Their summary of all runs.
const SUMMARY: &str = "per-run-summary.tsv";

#[cfg(test)]
mod tests {
    use super::*;

    const OF: Theirs =
        Theirs { link: "l", scheme: "WebRTC", ours: Some("gcc"), place: Place::Points("paper/l/WebRTC.dat") };

    #[test]
    fn a_file_of_points_is_read_past_its_head() {
        let point =
            OF.point("f.dat", "# signal_delay_mean ...\n934.69 192.52 4729.94 13.3534 10.3511 15.9352\n").unwrap();
        assert_eq!((point.delay_mean_ms, point.delay_p95_ms, point.ssim_db), (934.69, 4729.94, 13.3534));
        assert_eq!(point.ssim_range_db, (10.3511, 15.9352));
        assert_eq!(OF.point("f.dat", "# nothing\n1 2 3\n"), None);
    }

    #[test]
    fn runs_of_the_summary_are_averaged_and_say_which_delay_it_is() {
        let head = "run\tclip\tframes\tdur_s\tfps\tframe_delay_mean_ms\tp50\tp95\tssimY_mean_dB\tp5\tp95\tsignal_delay_mean_ms\tp95";
        let rows = "b/r/s_1\tc\t9\t1\t9\t100\t90\t200\t14\t11\t19\t110\t300\nb/r/s_2\tc\t9\t1\t9\t200\t90\t400\t16\t12\t19\t210\t500\n\
                    b/r/t\tc\t9\t1\t9\t50\t45\t80\t12\t10\t15\t\t";
        let text = format!("{head}\n{rows}\n");
        let both = OF.runs("b/r/s*", &text).unwrap();
        assert_eq!((both.delay_mean_ms, both.delay_p95_ms, both.ssim_db), (160.0, 400.0, 15.0));
        assert_eq!(both.ssim_range_db, (11.5, 19.0));
        assert!(both.source.contains("mean of 2 runs"), "{}", both.source);
        let shown = OF.runs("b/r/t", &text).unwrap();
        assert_eq!((shown.delay_mean_ms, shown.delay_p95_ms), (50.0, 80.0));
        assert!(shown.source.contains("shown frames only"), "{}", shown.source);
        assert_eq!(OF.runs("b/r/u", &text), None);
        let all = OF.runs("b/r/*", &text).unwrap();
        assert_eq!(all.delay_mean_ms, 160.0, "a run without the signal's delay was averaged in");
    }
}
