//! The figures measured in a run.

use std::fmt;

use thalweg_units::Span;

use super::cases::Case;
use crate::support::Record;
use crate::support::subjects::Subject;

/// A run's figures.
#[derive(Debug, Clone, Copy)]
pub struct Figures {
    /// Seconds from the event until four fifths of the capacity arrive over a second; infinite if they never do.
    pub back: f64,
    /// The receive rate over the capacity, in steady state.
    pub used: f64,
    /// The send rate over the capacity, in steady state.
    pub sent: f64,
    /// The max queueing time, in milliseconds, in steady state.
    pub queue: f64,
    /// The max queueing time that is claimed.
    pub claim: f64,
}

impl Figures {
    pub fn of(record: &Record, case: &Case, subject: &Subject) -> Figures {
        let (from, to) = case.settled;
        let share = |rate: thalweg_units::Rate| rate.as_bps_f64() / case.rate.as_bps_f64();
        let back = record.is_back(case.rate.scale(0.8), case.over).map_or(f64::INFINITY, |at| at - case.over);
        let claim = (subject.queue)(case.rate, case.rtt);
        let waits = case.style.interval().unwrap_or(Span::ZERO);
        Figures {
            back,
            used: share(record.arrived(from, to)),
            sent: share(record.sent(from, to)),
            queue: record.worst_queueing(from, to).as_millis_f64(),
            claim: (claim + waits).as_millis_f64(),
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures { back, used, sent, queue, claim } = self;
        write!(f, "back {back:5.1} s, used {used:.3}, sent {sent:.3}, queue {queue:.1} ms (of {claim:.0})")
    }
}
