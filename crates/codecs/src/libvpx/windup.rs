//! Keeping libvpx's rate control from winding up.
//!
//! libvpx's buffer remembers without bound what frames cost beyond the target. When even the coarsest quantiser makes more than
//! the target asks for (an outage takes Vidaptive's target to 30 kbps, and no quantiser makes 720p that small), the debt grows
//! for as long as that lasts, and is paid back at the coarsest quantisers for as long again after the link has recovered: 11 s
//! at half the target, measured on the 2 Mbps / 500 kbps link. libwebrtc never sees this, because it lets libvpx drop frames
//! instead, which ends the debt; libvpx itself bounds the debt for screen content (`onyx_if.c`: "don't let the buffer level go
//! below some threshold"). Here: a rate that the encoder cannot go below is not asked of it.

use thalweg_units::{Bytes, Rate, Span};

/// How much a frame weighs in the rate that is being made.
const GAIN: f64 = 0.25;

/// Notices when the coarsest quantiser makes more than is asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Windup {
    /// What the encoder makes at its coarsest quantiser, in bit/s; `None` while it is not at it.
    floor: Option<f64>,
}

impl Windup {
    /// The rate to ask for so that no debt is made that nothing can avoid.
    pub(super) fn rate_to_ask(&self, target: Rate) -> Rate {
        self.floor.map_or(target, |floor| target.max(Rate::from_bps(floor as u64)))
    }

    /// A frame of `size` was made; `coarsest` if no quantiser would have made it smaller. Keyframes say nothing of what the
    /// frames between them need.
    pub(super) fn on_frame(&mut self, size: Bytes, interval: Span, coarsest: bool, keyframe: bool) {
        if keyframe {
            return;
        }
        let made = size.bits() as f64 / interval.as_secs_f64();
        self.floor = coarsest.then(|| self.floor.map_or(made, |floor| floor + GAIN * (made - floor)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_coarsest_quantiser_makes_is_the_least_that_is_asked_for() {
        let (interval, target) = (Span::from_millis(100), Rate::from_kbps(30));
        let mut windup = Windup::default();
        windup.on_frame(Bytes::new(5000), interval, false, false);
        assert_eq!(windup.rate_to_ask(target), target);
        for _ in 0..50 {
            windup.on_frame(Bytes::new(5000), interval, true, false);
        }
        assert_eq!(windup.rate_to_ask(target), Rate::from_kbps(400));
        assert_eq!(windup.rate_to_ask(Rate::from_kbps(900)), Rate::from_kbps(900));
        windup.on_frame(Bytes::new(80_000), interval, true, true);
        assert_eq!(windup.rate_to_ask(target), Rate::from_kbps(400));
        windup.on_frame(Bytes::new(5000), interval, false, false);
        assert_eq!(windup.rate_to_ask(target), target);
    }
}
