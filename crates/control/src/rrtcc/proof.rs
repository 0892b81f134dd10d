//! FEC in place of a raise, until the path has borne it (FBRA section 7).

use thalweg_units::{Rate, Span, Time};

/// The min packets per FEC packet: FBRA's, with which FEC is half of media.
const MIN_INTERVAL: f64 = 2.0;

/// How a changed rate was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// Media follows it at once.
    Fell,
    /// FEC makes up the difference from now on.
    Begun,
    /// The difference was borne: it is media's.
    Proved,
    /// As before.
    Unchanged,
}

/// The rate of media, and the higher one that FEC tries.
#[derive(Debug, Clone)]
pub(super) struct Proof {
    lasting: Span,
    media: Rate,
    /// The tried rate, and since when.
    tried: Option<(Rate, Time)>,
}

impl Proof {
    pub(super) fn new(lasting: Span, media: Rate) -> Proof {
        Proof { lasting, media, tried: None }
    }

    pub(super) fn media(&self) -> Rate {
        self.media
    }

    /// N: one FEC packet after this many media packets makes up the difference.
    pub(super) fn fec_interval(&self) -> Option<u16> {
        let (tried, _) = self.tried?;
        let interval = libm::rint(self.media.as_bps_f64() / (tried - self.media).as_bps_f64());
        Some(interval.clamp(MIN_INTERVAL, f64::from(u16::MAX)) as u16)
    }

    /// The controller allows `rate`: with each report, changed or not.
    pub(super) fn on_rate(&mut self, now: Time, rate: Rate) -> Taken {
        if rate <= self.media {
            let fell = self.tried.is_some() || rate < self.media;
            (self.media, self.tried) = (rate, None);
            return if fell { Taken::Fell } else { Taken::Unchanged };
        }
        match self.tried {
            None => {
                self.tried = Some((rate, now));
                Taken::Begun
            }
            Some((tried, since)) if now - since >= self.lasting => {
                self.media = tried.min(rate);
                self.tried = (rate > self.media).then_some((rate, now));
                Taken::Proved
            }
            Some((tried, since)) => {
                self.tried = Some((tried.min(rate), since));
                Taken::Unchanged
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KBPS: fn(u64) -> Rate = Rate::from_kbps;

    #[test]
    fn a_raise_of_a_twelfth_is_fec_for_a_second_and_then_media() {
        let mut proof = Proof::new(Span::from_secs(1), KBPS(192));
        assert_eq!(proof.on_rate(Time::ZERO, KBPS(208)), Taken::Begun);
        assert_eq!((proof.media(), proof.fec_interval()), (KBPS(192), Some(12)));
        assert_eq!(proof.on_rate(Time::from_millis(900), KBPS(230)), Taken::Unchanged);
        assert_eq!(proof.on_rate(Time::from_millis(1000), KBPS(230)), Taken::Proved);
        // What was allowed meanwhile is tried next: 208 over 22.
        assert_eq!((proof.media(), proof.fec_interval()), (KBPS(208), Some(9)));
    }

    #[test]
    fn a_rate_that_falls_takes_media_along_and_ends_the_trial() {
        let mut proof = Proof::new(Span::from_secs(1), KBPS(200));
        proof.on_rate(Time::ZERO, KBPS(300));
        assert_eq!(proof.fec_interval(), Some(2));
        assert_eq!(proof.on_rate(Time::from_millis(500), KBPS(200)), Taken::Fell);
        assert_eq!((proof.media(), proof.fec_interval()), (KBPS(200), None));
        proof.on_rate(Time::from_millis(600), KBPS(220));
        assert_eq!(proof.on_rate(Time::from_millis(2000), KBPS(150)), Taken::Fell);
        assert_eq!((proof.media(), proof.fec_interval()), (KBPS(150), None));
    }
}
