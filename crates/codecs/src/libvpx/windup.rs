//! Prevents integrator windup in libvpx's rate control.
//!
//! libvpx's buffer accumulates without bound the bytes by which frames exceed the target. When even the coarsest
//! quantiser makes more than the target asks for (an outage takes Vidaptive's target to 30 kbps, and no quantiser makes
//! 720p that small), the debt grows for as long as that lasts. After the link has recovered it is repaid at the
//! coarsest quantisers for as long again: 11 s at half the target, measured on the 2 Mbps / 500 kbps link. libwebrtc
//! avoids this by letting libvpx drop frames, which ends the debt; libvpx itself bounds the debt for screen content
//! (`onyx_if.c`: "don't let the buffer level go below some threshold"). Here the encoder is never asked for a rate that
//! it cannot reach.

use thalweg_units::{Bytes, Rate, Span};

/// Weight of the newest frame in the measured floor rate.
const GAIN: f64 = 0.25;

/// Detects when the coarsest quantiser exceeds the target rate.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Windup {
    /// Rate at the coarsest quantiser, in bit/s; `None` while the encoder uses a finer one.
    floor: Option<f64>,
}

impl Windup {
    /// The rate to request from libvpx: at least the floor, so that no unavoidable debt accumulates.
    pub(super) fn rate_to_ask(&self, target: Rate) -> Rate {
        self.floor.map_or(target, |floor| target.max(Rate::from_bps(floor as u64)))
    }

    /// Reports an encoded frame of `size`; `coarsest` if it used the coarsest quantiser. Keyframes are ignored: their
    /// size says nothing about the frames between them.
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
