//! The required range of every figure, unless it is a known exception with its own bounds.

use super::cases::Case;
use super::figures::Figures;
use super::known::KNOWN;
use crate::support::subjects::Subject;

/// Seconds until recovery.
const BACK: (f64, f64) = (0.0, 10.0);
/// The receive rate, and the send rate, over the capacity.
const USED: (f64, f64) = (0.8, 1.05);
const SENT: (f64, f64) = (0.0, 1.05);

/// An exception for figures that a published algorithm does not reach: other bounds for these cases, on both sides.
#[derive(Debug, Clone, Copy)]
pub struct Exception {
    pub subjects: &'static [&'static str],
    /// The names of cases; a star matches any text.
    pub cases: &'static str,
    /// The reason, and the page that documents it.
    pub why: &'static str,
    pub back: (f64, f64),
    pub used: (f64, f64),
    pub sent: (f64, f64),
    /// In milliseconds; `None` for the algorithm's claim.
    pub queue: Option<(f64, f64)>,
}

impl Exception {
    pub const fn of(subjects: &'static [&'static str], cases: &'static str, why: &'static str) -> Exception {
        Exception { subjects, cases, why, back: BACK, used: USED, sent: SENT, queue: None }
    }

    pub const fn back(self, low: f64, high: f64) -> Exception {
        Exception { back: (low, high), ..self }
    }

    /// Does not recover within the run.
    pub const fn never_back(self) -> Exception {
        self.back(f64::INFINITY, f64::INFINITY)
    }

    pub const fn used(self, low: f64, high: f64) -> Exception {
        Exception { used: (low, high), ..self }
    }

    pub const fn queue(self, low: f64, high: f64) -> Exception {
        Exception { queue: Some((low, high)), ..self }
    }

    fn covers(&self, case: &Case, subject: &Subject) -> bool {
        let mut parts = self.cases.split('*');
        let (first, last) = (parts.next().unwrap_or(""), parts.next_back());
        let ends = last.map_or(case.name == first, |last| case.name.starts_with(first) && case.name.ends_with(last));
        ends && self.subjects.contains(&subject.name)
    }

    /// The figures that are out of bounds.
    fn misses(&self, figures: &Figures) -> Vec<String> {
        let queue = self.queue.unwrap_or((0.0, figures.claim));
        [
            ("seconds until back", figures.back, self.back),
            ("used", figures.used, self.used),
            ("sent", figures.sent, self.sent),
            ("ms in the queue", figures.queue, queue),
        ]
        .into_iter()
        .filter(|(_, value, (low, high))| value < low || value > high)
        .map(|(what, value, (low, high))| format!("{what} {value:.3} not within {low} to {high}"))
        .collect()
    }
}

/// Evaluates runs, and records which exceptions were needed.
#[derive(Debug, Default)]
pub struct Judge {
    wrong: Vec<String>,
    used: Vec<(usize, bool)>,
}

impl Judge {
    pub fn judge(&mut self, case: &Case, subject: &Subject, figures: &Figures) {
        let plain = Exception::of(&[], "", "");
        let known = KNOWN.iter().enumerate().find(|(_, exception)| exception.covers(case, subject));
        if let Some((index, _)) = known {
            self.used.push((index, !plain.misses(figures).is_empty()));
        }
        let misses = known.map_or(plain, |(_, exception)| *exception).misses(figures);
        self.wrong.extend(misses.iter().map(|miss| format!("{}, {}: {miss}; {figures}", case.name, subject.name)));
    }

    /// Fails if a figure is out of bounds, or if an exception is no longer needed.
    pub fn done(mut self) {
        for (index, exception) in KNOWN.iter().enumerate() {
            let mut uses = self.used.iter().filter(|(used, _)| *used == index).peekable();
            if uses.peek().is_some() && uses.all(|(_, needed)| !needed) {
                self.wrong.push(format!("no exception any more: {:?}, {}", exception.subjects, exception.cases));
            }
        }
        assert!(self.wrong.is_empty(), "{} figures out of bounds:\n{}", self.wrong.len(), self.wrong.join("\n"));
    }
}

#[test]
fn bars_and_bounds_are_missed_on_both_sides() {
    let good = Figures { back: 1.0, used: 0.95, sent: 0.97, queue: 20.0, claim: 30.0 };
    let plain = Exception::of(&[], "", "");
    assert!(plain.misses(&good).is_empty());
    for bad in [
        Figures { back: 10.1, ..good },
        Figures { back: f64::INFINITY, ..good },
        Figures { used: 0.79, ..good },
        Figures { sent: 1.06, ..good },
        Figures { queue: 30.1, ..good },
    ] {
        assert_eq!(plain.misses(&bad).len(), 1, "{bad}");
    }
    let known = plain.never_back().used(0.2, 0.4);
    assert!(known.misses(&Figures { back: f64::INFINITY, used: 0.3, ..good }).is_empty());
    assert_eq!(known.misses(&good).len(), 2, "better than known is a miss too");
}

#[test]
fn every_exception_is_of_some_case_and_says_where_it_is_shown() {
    let cases = super::cases::all();
    for exception in KNOWN {
        let matters = |name: &&str| {
            let subject = crate::support::subjects::ALL.iter().find(|subject| subject.name == *name);
            subject.is_some_and(|subject| cases.iter().any(|case| exception.covers(case, subject)))
        };
        assert!(exception.subjects.iter().all(matters), "{exception:?} is of no case");
        assert!(exception.why.contains(".md"), "{exception:?} names no page");
    }
}
