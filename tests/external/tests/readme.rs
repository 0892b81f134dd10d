//! The ten lines of README.

use thalweg::{lab::Scenario, prelude::*};

#[test]
fn two_schemes_play_in_ten_lines() -> Result<(), Box<dyn std::error::Error>> {
    for name in ["gcc", "thalweg"] {
        let scheme: Scheme = name.parse()?;
        let summary = Scenario::over("lte-driving").play(&scheme)?.outcome.summary;
        let (rate, p95) = (summary.video_bitrate_bps / 1e6, summary.latency_p95_ms.unwrap_or_default());
        println!("{name:8} {rate:.2} Mbps of video, P95 {p95:.0} ms");
        assert!(rate > 0.5 && (25.0..2000.0).contains(&p95), "{name}: {rate} Mbps, {p95} ms");
    }
    Ok(())
}
