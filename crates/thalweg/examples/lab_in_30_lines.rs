//! Schemes compared on two links, with a statistical encoder: a minute of each takes a fraction of a second.

use thalweg::lab::Scenario;
use thalweg::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{:12} {:12} {:>6} {:>8} {:>8} {:>6}", "link", "scheme", "Mbps", "P50 ms", "P95 ms", "dB");
    for link in ["lte-driving", "3Mbps/1Mbps@10s"] {
        let scenario = Scenario::over(link);
        for scheme in ["gcc", "copa", "scream", "vidaptive"] {
            let scheme: Scheme = scheme.parse()?;
            let summary = scenario.play(&scheme)?.outcome.summary;
            let [p50, p95, psnr] =
                [summary.latency_p50_ms, summary.latency_p95_ms, summary.psnr_db].map(Option::unwrap_or_default);
            let rate = summary.video_bitrate_bps / 1e6;
            println!("{link:15} {:12} {rate:6.2} {p50:8.0} {p95:8.0} {psnr:6.1}", summary.scheme);
        }
    }
    Ok(())
}
