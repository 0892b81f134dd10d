//! The trait that an adapter implements.

use thalweg_control::{Probe, Report, SentPacket, gcc};
use thalweg_sender::frames::rate_targeted::EncoderBounds;
use thalweg_units::{Bytes, Rate, Time};

/// An estimator of another project: reports on packets in, a rate out. Two methods are required.
///
/// Time is virtual and every call carries it, so the same calls must give the same answers: read no clock, and draw
/// nothing from the machine's random numbers.
///
/// ```
/// use thalweg_control::{Fate, Report};
/// use thalweg_lab::contestant::{Contestant, Estimator};
/// use thalweg_units::{Rate, Time};
///
/// /// 50 kbit/s more with each report, a fifth less after a loss.
/// struct Mine(Rate);
///
/// impl Estimator for Mine {
///     fn on_reports(&mut self, _now: Time, reports: &[Report]) {
///         let lost = reports.iter().any(|report| report.fate == Fate::Lost);
///         self.0 = if lost { self.0.scale(0.8) } else { self.0 + Rate::from_kbps(50) };
///     }
///
///     fn target(&self) -> Rate {
///         self.0
///     }
/// }
///
/// let mine = Contestant::new("mine", |limits| Ok(Box::new(Mine(limits.start))));
/// assert_eq!(mine.limits().start, Rate::from_kbps(300));
/// ```
pub trait Estimator: Send {
    /// Takes a report of the receiver: every packet whose outcome became known by it, in order of sending. A packet is
    /// reported lost when one sent three places later has arrived (RFC 9002 section 6.1.1); if it arrives after all it
    /// is reported again, as `was_lost`.
    fn on_reports(&mut self, now: Time, reports: &[Report]);

    /// The estimate: the base of the encoder's target, in bits on the wire.
    fn target(&self) -> Rate;

    /// A packet left.
    fn on_sent(&mut self, packet: &SentPacket) {
        let _ = packet;
    }

    /// The time returned by [`Estimator::next_timeout`] has come.
    fn on_timeout(&mut self, now: Time) {
        let _ = now;
    }

    /// When to call [`Estimator::on_timeout`] next; [`Time::NEVER`] if not at all. At most one call a millisecond.
    fn next_timeout(&self) -> Time {
        Time::NEVER
    }

    /// The pacing rate: libwebrtc's factor of 1.1 above the target (`kDefaultPaceMultiplier` in goog_cc).
    fn pacing(&self) -> Rate {
        self.target().scale(1.1)
    }

    /// The rate up to which padding is sent when there is no media, which counts.
    fn padding(&self) -> Rate {
        Rate::ZERO
    }

    /// The next probe cluster: it is sent once for each number, and each number must be higher than the one before.
    fn probe(&self) -> Option<Probe> {
        None
    }

    /// Max bytes in flight; `None` when only pacing limits.
    fn window(&self) -> Option<Bytes> {
        None
    }

    /// Why it can no longer estimate, for one outside this process: the run ends with this error.
    fn failure(&self) -> Option<&str> {
        None
    }
}

/// Parameters of a new estimator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The estimate before the first report.
    pub start: Rate,
    /// The min rate that the encoder can use.
    pub min: Rate,
    /// The max rate that the encoder can use.
    pub max: Rate,
}

impl Default for Limits {
    /// Those of our `gcc` and its encoder.
    fn default() -> Limits {
        let encoder = EncoderBounds::default();
        Limits { start: gcc::Config::default().start, min: encoder.min, max: encoder.max }
    }
}
