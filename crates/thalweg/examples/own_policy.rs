//! A custom frame policy: below 1 Mbps it encodes every second picture, so that each keeps its quality.

use thalweg::lab::Scenario;
use thalweg::prelude::*;
use thalweg::sender::frames::{EveryFrame, FramePlan, View};
use thalweg::sender::{Parts, Why};
use thalweg::types::{EncodePlan, Target};

#[derive(Default)]
struct HalfWhenPoor {
    skipped: bool,
}

impl FramePolicy for HalfWhenPoor {
    fn plan(&mut self, view: &View) -> FramePlan {
        let rate = view.limits.capacity;
        let is_poor = rate < Rate::from_kbps(1000);
        self.skipped = is_poor && !self.skipped;
        if self.skipped {
            return FramePlan::Skip(Why::Policy("half the frame rate below 1 Mbps"));
        }
        let interval = if is_poor { view.interval + view.interval } else { view.interval };
        let mut plan = EncodePlan::new(vec![Target::Rate(rate)], view.source, interval);
        plan.may_drop = true;
        FramePlan::Encode(plan)
    }
}

/// A scheme with its frame policy replaced.
struct WithFrames(&'static str, Scheme, fn() -> Box<dyn FramePolicy>);

impl SenderFactory for WithFrames {
    fn name(&self) -> &str {
        self.0
    }

    fn parts(&self, source: Size) -> Result<Parts, ConfigError> {
        let mut parts = self.1.parts(source)?;
        parts.frames = (self.2)();
        Ok(parts)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scenario = Scenario::over("2Mbps/500kbps@10s");
    let gcc: Scheme = "gcc".parse()?;
    let every = WithFrames("every-frame", gcc.clone(), || Box::new(EveryFrame));
    let half = WithFrames("half-when-poor", gcc, || Box::new(HalfWhenPoor::default()));
    let senders: [&dyn SenderFactory; 2] = [&every, &half];
    for sender in senders {
        let summary = scenario.play(sender)?.outcome.summary;
        let [psnr, p95] = [summary.psnr_db, summary.latency_p95_ms].map(Option::unwrap_or_default);
        println!("{:15} {:4.1} fps, {psnr:.1} dB, P95 {p95:.0} ms", summary.scheme, summary.frame_rate_fps);
    }
    Ok(())
}
