//! A custom controller against WebRTC's: it holds the queue at 40 ms, similar to LEDBAT (RFC 6817).

use thalweg::lab::Scenario;
use thalweg::prelude::*;

/// The target queueing delay.
const TARGET: Span = Span::from_millis(40);

#[derive(Clone)]
struct HoldQueue {
    rate: Rate,
}

impl Controller for HoldQueue {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let (Some(rtt), Some(min_rtt)) = (feedback.rtt, feedback.min_rtt) else { return };
        // 1 with an empty queue, 0 at the target, -1 at twice the target and above.
        let off_target = (1.0 - (rtt - min_rtt).as_secs_f64() / TARGET.as_secs_f64()).max(-1.0);
        let change = if feedback.lost_bytes() > Bytes::ZERO { 0.9 } else { 1.0 + 0.03 * off_target };
        self.rate = self.rate.scale(change).clamp(Rate::from_kbps(100), Rate::from_kbps(10_000));
    }

    fn limits(&self) -> SendLimits {
        SendLimits::of_rate(self.rate)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scenario = Scenario::over("lte-driving");
    let gcc: Scheme = "gcc".parse()?;
    let own = gcc.clone().with_controller("hold-queue", || Ok(HoldQueue { rate: Rate::from_kbps(300) }));
    let senders: [&dyn SenderFactory; 2] = [&gcc, &own];
    for sender in senders {
        let summary = scenario.play(sender)?.outcome.summary;
        let [used, p95] = [summary.utilization, summary.latency_p95_ms].map(Option::unwrap_or_default);
        println!(
            "{:12} {:.2} Mbps, {:.0} % of the link, P95 {p95:.0} ms",
            summary.scheme,
            summary.video_bitrate_bps / 1e6,
            used * 100.0
        );
    }
    Ok(())
}
