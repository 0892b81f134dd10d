//! The measurements as a page: tables in Markdown next to the chart.

use std::fmt::Write;
use std::path::Path;

use anyhow::Context;

use super::contenders::Aim;
use super::{Measured, RANGE, chart};

/// Writes `measured.md` and `curves.svg` into a folder.
pub(crate) fn write(folder: &Path, videos: &[Measured]) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for (name, contents) in [("curves.svg", chart::svg(videos)), ("measured.md", page(videos))] {
        let path = folder.join(name);
        std::fs::write(&path, contents).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

fn page(videos: &[Measured]) -> String {
    let (min, max) = RANGE;
    let against = videos.iter().flat_map(|video| &video.comparisons).map(|one| one.against.as_str()).next();
    let against = against.unwrap_or("libvpx, which this build has not");
    // Writing to a string cannot fail.
    let mut page = format!(
        "<!-- Made by `thalweg-bench codec --report`: what is changed here is lost. -->\n# Measured\n\n\
         PSNR of luma, its mean over the pictures, and CPU time of the encoder on one thread. Encoders take turns at every point, so \
         that what else the machine does meets all of them; the times are this machine's, the ratios travel better.\n\n\
         ![PSNR and time over rate](curves.svg)\n\n\
         ## Beside {against}\n\n\
         Means over {min:.0} to {max:.0} kbit/s, the rates' logarithm evenly: PSNR more than {against} at the same rate, and the \
         share of its time.\n\n\
         | video | encoder | dB, one quantiser | time | dB, keeping a rate | time |\n|---|---|--:|--:|--:|--:|\n"
    );
    for video in videos {
        let mut encoders: Vec<&str> = Vec::new();
        for comparison in &video.comparisons {
            if !encoders.contains(&comparison.encoder.as_str()) {
                encoders.push(&comparison.encoder);
            }
        }
        for encoder in encoders {
            let cells = [Aim::Quantizer, Aim::Rate].map(|aim| {
                let found = video.comparisons.iter().find(|one| one.encoder == encoder && one.aim == aim);
                found.map_or("| |".to_string(), |one| {
                    format!("{:+.2} | {:.2} |", one.psnr_difference_db, one.time_ratio)
                })
            });
            let _ = writeln!(page, "| {} | {} | {} {}", video.video, encoder, cells[0], cells[1]);
        }
    }
    page.push_str(
        "\n## A second candidate, and decoding\n\n\
         Two candidates of a picture (Salsify's pair of quantisers) over one, by preset, and the speed of our decoder over libvpx's on \
         libvpx's streams.\n\n| video | two candidates over one | decoding |\n|---|---|--:|\n",
    );
    for video in videos {
        let ratios: Vec<_> =
            video.two_candidates.iter().map(|(preset, ratio)| format!("{preset} {ratio:.2}")).collect();
        let speed = video.decoder_speed.map_or(String::new(), |speed| format!("{speed:.2}x"));
        let _ = writeln!(page, "| {} | {} | {speed} |", video.video, ratios.join(", "));
    }
    page.push_str("\n## Every point\n");
    for video in videos {
        let _ = writeln!(
            page,
            "\n{}, {}, {} pictures: kbit/s, dB, ms a picture.\n",
            video.video, video.size, video.pictures
        );
        page.push_str("| encoder | keeps | points |\n|---|---|---|\n");
        for curve in &video.curves {
            let points: Vec<_> = curve
                .points
                .iter()
                .map(|point| format!("{:.0}: {:.2}, {:.1}", point.kbps, point.psnr_db, point.encode_ms))
                .collect();
            let _ = writeln!(page, "| {} | {} | {} |", curve.encoder, curve.aim, points.join("; "));
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::super::contenders::Aim;
    use super::super::curve::{Curve, Point};
    use super::super::{Comparison, Measured};

    fn measured() -> Measured {
        let points = [(300.0, 30.0), (2000.0, 38.0), (5000.0, 42.0)];
        let points = points.map(|(kbps, psnr_db)| Point { kbps, psnr_db, encode_ms: 5.0 }).to_vec();
        let curve = |encoder, aim| Curve::new(encoder, aim, points.clone());
        Measured {
            video: "a <clip>".into(),
            size: "1280x720".into(),
            pictures: 10,
            curves: vec![curve("libvpx -8", Aim::Quantizer), curve("fast", Aim::Quantizer)],
            comparisons: vec![Comparison {
                encoder: "fast".into(),
                against: "libvpx -8".into(),
                aim: Aim::Quantizer,
                psnr_difference_db: 0.5,
                time_ratio: 1.25,
            }],
            two_candidates: vec![("fast".into(), 1.6)],
            decoder_speed: None,
        }
    }

    #[test]
    fn the_page_has_every_comparison_and_an_empty_cell_for_what_is_not_compared() {
        let page = super::page(&[measured()]);
        assert!(page.contains("| a <clip> | fast | +0.50 | 1.25 | | |"), "{page}");
        assert!(page.contains("fast 1.60") && page.contains("2000: 38.00, 5.0"), "{page}");
    }

    #[test]
    fn the_chart_draws_the_range_only_and_says_where_there_is_nothing() {
        let svg = super::chart::svg(&[measured()]);
        // Two encoders in two panels; the rate-keeping panel is empty.
        assert_eq!(svg.matches("stroke-linejoin").count(), 4);
        assert_eq!(svg.matches("no curve in this range").count(), 1);
        assert!(svg.contains("a &lt;clip>") && svg.ends_with("</svg>\n"));
    }
}
