//! A congestion controller by additive increase and multiplicative decrease.

use thalweg::prelude::*;

/// 50 kbps more for each round trip without a loss, three quarters after one with a loss or with half as much delay again.
#[derive(Debug, Clone)]
pub struct Aimd {
    rate: Rate,
    decided: Time,
}

impl Aimd {
    /// Begins at this rate.
    pub fn new(rate: Rate) -> Aimd {
        Aimd { rate, decided: Time::ZERO }
    }
}

impl Controller for Aimd {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let (Some(srtt), Some(min_rtt)) = (feedback.srtt, feedback.min_rtt) else { return };
        if feedback.now - self.decided < srtt {
            return;
        }
        self.decided = feedback.now;
        let is_congested = feedback.lost_bytes() > Bytes::ZERO || srtt > min_rtt + Span::from_millis(50);
        let rate = if is_congested { self.rate.scale(0.75) } else { self.rate + Rate::from_kbps(50) };
        self.rate = rate.clamp(Rate::from_kbps(150), Rate::from_kbps(20_000));
    }

    fn limits(&self) -> SendLimits {
        SendLimits::of_rate(self.rate)
    }
}

/// A sender that is WebRTC's but for its controller.
pub fn sender() -> Result<impl SenderFactory + use<>, Box<dyn std::error::Error>> {
    let gcc: Scheme = "gcc".parse()?;
    Ok(gcc.with_controller("aimd", || Ok(Aimd::new(Rate::from_kbps(500)))))
}

/// Compiles and runs the Rust of the project's front page.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct FrontPage;
