//! The text of a progress line.

use std::fmt;
use std::time::Duration;

/// The progress of all runs.
pub(super) struct Line<'a> {
    /// Share of the total simulated time that is done, 0 to 1.
    pub(super) share: f64,
    pub(super) elapsed: Duration,
    pub(super) done: usize,
    pub(super) runs: usize,
    /// The runs that are playing, each with its own share.
    pub(super) playing: Vec<(&'a str, f64)>,
}

impl Line<'_> {
    /// The remaining time at the present speed; `None` while it would be a guess, and once all is played and is only written.
    fn left(&self) -> Option<Duration> {
        let is_measured = self.elapsed >= Duration::from_secs(1) && (0.005..1.0).contains(&self.share);
        is_measured.then(|| self.elapsed.mul_f64((1.0 - self.share).max(0.0) / self.share))
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:3.0} %", self.share * 100.0)?;
        match self.left().map(|left| left.as_secs_f64().ceil() as u64) {
            Some(seconds @ 0..60) => write!(f, ", {seconds} s left")?,
            Some(seconds) => write!(f, ", {} min {:02} s left", seconds / 60, seconds % 60)?,
            None => (),
        }
        write!(f, ", {}/{} runs", self.done, self.runs)?;
        for (place, (label, share)) in self.playing.iter().enumerate() {
            write!(f, "{} {label} {:.0} %", if place == 0 { ":" } else { "," }, share * 100.0)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(share: f64, elapsed: u64) -> Line<'static> {
        let playing = vec![("copa over lte-driving", 0.5), ("vidaptive over lte-driving", 0.25)];
        Line { share, elapsed: Duration::from_secs(elapsed), done: 1, runs: 4, playing }
    }

    #[test]
    fn a_log_reads_the_share_the_time_left_and_each_run() {
        let text = " 40 %, 1 min 30 s left, 1/4 runs: copa over lte-driving 50 %, vidaptive over lte-driving 25 %";
        assert_eq!(line(0.4, 60).to_string(), text);
        assert!(line(0.9, 60).to_string().starts_with(" 90 %, 7 s left, "));
    }

    #[test]
    fn no_time_is_foretold_from_nothing_nor_when_all_is_played() {
        for (share, elapsed) in [(0.0, 60), (0.9, 0), (1.0, 60)] {
            assert!(!line(share, elapsed).to_string().contains("left"), "{share} after {elapsed} s");
        }
    }
}
