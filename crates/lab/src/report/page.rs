//! The page around table and charts.

use std::fmt::Write;

use super::About;
use super::charts::charts;
use super::data::{Data, Named, Points, Spot};
use super::groups::{Cell, Group, Page};
use super::html::escape;
use super::scatter::front;
use super::table::table;
use super::verdict::verdict;
use super::worst::worst;
use crate::metrics::mean;
use crate::outcome::Outcome;

const STYLE: &str = include_str!("web/style.css");
const SCRIPT: &str = include_str!("web/report.js");
const UPLOT: &str = include_str!("vendor/uplot/uPlot.iife.min.js");
const UPLOT_STYLE: &str = include_str!("vendor/uplot/uPlot.min.css");
const UPLOT_LICENCE: &str = include_str!("vendor/uplot/LICENSE");

pub(super) fn page(about: &About, runs: &[Outcome]) -> String {
    let mut page = Page::of(runs);
    let data = data(about, &mut page, runs);
    let title = escape(&about.title);
    let mut html = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        html,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width,initial-scale=1\"><title>{title}</title><style>{UPLOT_STYLE}{STYLE}</style></head>\
         <body><header><h1>{title}</h1><button id=\"theme\" type=\"button\">Dark</button></header>"
    );
    if !about.description.is_empty() {
        let _ = write!(html, "<p>{}</p>", escape(&about.description));
    }
    html.push_str(&super::table::given(&about.table));
    if let Some(first) = runs.first() {
        let s = &first.summary;
        let seeds: Vec<String> = page.cells[0].groups[0].runs.iter().map(|run| run.summary.seed.to_string()).collect();
        let _ = write!(
            html,
            "<p class=\"quiet\">{} over {}, {:.0} s, seed {}. {}.</p>",
            escape(&s.video),
            escape(&s.trace),
            s.duration_s,
            seeds.join(", "),
            escape(&first.codec)
        );
    }
    let said = verdict(&page);
    if !said.is_empty() {
        html.push_str("<ul id=\"verdict\">");
        said.iter().for_each(|sentence| {
            let _ = write!(html, "<li>{}</li>", escape(sentence));
        });
        html.push_str("</ul>");
    }
    html.push_str(&table(&page, runs));
    html.push_str(
        "<noscript><p><b>The charts need JavaScript;</b> the table above does not.</p></noscript><nav id=\"bar\"></nav>\
         <div id=\"scatters\"></div>",
    );
    for (place, cell) in page.cells.iter().enumerate() {
        let of = if page.cells.len() > 1 {
            format!("{}, {}", escape(cell.link), escape(cell.video))
        } else {
            "Over time".into()
        };
        let _ = write!(html, "<h2>{of}</h2><section class=\"charts\" data-cell=\"{place}\"></section>");
    }
    html.push_str(&worst(&page));
    let _ = write!(
        html,
        "<footer><p class=\"quiet\">Lines stand for means over half seconds (PSNR: seconds) until 20 s or less are in view. \
         Bands reach from the 5th to the 95th percentile of the runs.</p><p class=\"quiet\">Made by Thalweg {}: \
         <code>{}</code></p></footer><script type=\"application/json\" id=\"data\">{}</script><script>/*\n{UPLOT_LICENCE}*/\n\
         {UPLOT}\n{SCRIPT}</script></body></html>",
        env!("CARGO_PKG_VERSION"),
        escape(&about.command),
        // Plain numbers and texts: serialisation fails only for maps with keys that are not strings, and there are none.
        data.json().unwrap_or_default()
    );
    html
}

fn data(about: &About, page: &mut Page<'_>, runs: &[Outcome]) -> Data {
    let seconds = runs.iter().map(|run| run.summary.duration_s).fold(1.0, f64::max);
    let mut data = Data { schemes: page.schemes, seconds, ..Data::default() };
    for cell in page.cells.clone() {
        let charts = charts(page, &cell, &mut data);
        data.cells.push(charts);
    }
    let place = |name: &str| page.entries.iter().position(|entry| entry.name == name);
    let scatters = about.scatters.iter().map(|scatter| Points {
        title: scatter.title.clone(),
        y: "SSIM, dB",
        zero: false,
        curve: None,
        points: scatter
            .points
            .iter()
            .map(|point| Spot {
                label: point.label.clone(),
                entry: point.scheme.as_deref().and_then(place),
                ours: point.ours,
                x: point.delay_ms,
                y: point.ssim_db,
                range: point.ssim_range_db,
            })
            .collect(),
        front: front(&scatter.points).into_iter().map(|point| (point.delay_ms, point.ssim_db)).collect(),
    });
    data.scatters = scatters.collect();
    for cell in page.cells.clone() {
        data.scatters.extend(against_bound(page, &cell));
    }
    data.entries = page.entries.iter().map(|entry| Named { name: entry.name.clone(), style: entry.style }).collect();
    data
}

/// The schemes of a link by P95 latency and rate of video, below what any sender could have; nothing where that is not
/// defined. Of several seeds, points are means, and the curve is that of the first.
fn against_bound(page: &mut Page<'_>, cell: &Cell<'_>) -> Option<Points> {
    let curve = cell.groups.iter().flat_map(|group| &group.runs).find(|run| !run.bound.is_empty())?;
    let curve = curve.bound.iter().map(|point| (point.latency_p95_ms, point.video_bitrate_bps / 1e6)).collect();
    let spot = |group: &Group<'_>| {
        let (name, runs) = (page.entries[group.entry].name.clone(), group.summaries());
        let latency = mean(runs.iter().filter_map(|run| run.latency_p95_ms))?;
        let rate = mean(runs.iter().map(|run| run.video_bitrate_bps))?;
        Some(Spot { label: name, entry: Some(group.entry), ours: true, x: latency, y: rate / 1e6, range: None })
    };
    let points = cell.groups.iter().filter_map(spot).collect();
    let title =
        format!("Rate of video over latency, and its upper bound, a sender that knows the future: {}", cell.link);
    Some(Points { title, y: "video, Mbps", zero: true, curve: Some((page.bound(), curve)), points, front: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::super::data::tests::outcome;
    use super::*;
    use crate::bound::Point;

    fn four(link: &str) -> Vec<Outcome> {
        ["gcc", "copa", "vidaptive", "vidaptive:rocc"].map(|scheme| outcome(link, scheme, 1)).to_vec()
    }

    #[test]
    fn a_minute_of_four_schemes_is_less_than_a_megabyte_and_the_same_each_time() {
        let runs = four("lte");
        let html = page(&About::default(), &runs);
        assert!(html.len() < 1_000_000, "{} bytes", html.len());
        assert!(html == page(&About::default(), &runs));
    }

    #[test]
    fn ten_minutes_are_thinned() {
        let mut runs = four("lte");
        for run in &mut runs {
            run.summary.duration_s = 600.0;
            let minute = run.frames.clone();
            run.frames = (0..10)
                .flat_map(|of| {
                    minute.iter().map(move |frame| {
                        let mut frame = frame.clone();
                        frame.captured_s += 60.0 * f64::from(of);
                        frame.displayed_s = frame.displayed_s.map(|shown| shown + 60.0 * f64::from(of));
                        frame
                    })
                })
                .collect();
        }
        assert!(page(&About::default(), &runs).len() < 1_000_000);
    }

    #[test]
    fn names_cannot_leave_their_place() {
        let evil = "</script><img src=x onerror=alert(1)>\"";
        let runs = [outcome(evil, evil, 1), outcome(evil, "gcc", 1)];
        let about = About { title: evil.into(), description: evil.into(), command: evil.into(), ..About::default() };
        let html = page(&about, &runs);
        assert!(!html.contains("<img src=x"));
        assert_eq!(html.matches("</script>").count(), 2, "the data's end and the program's");
        let json = html.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
        let data: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(data["entries"][0]["name"], evil);
    }

    #[test]
    fn a_link_with_a_bound_has_its_curve_above_the_schemes_and_in_the_legend() {
        let point = |latency_p95_ms, video_bitrate_bps| Point { within_ms: 33.0, latency_p95_ms, video_bitrate_bps };
        let mut runs = four("lte");
        runs.iter_mut().for_each(|run| run.bound = vec![point(60.0, 2e6), point(100.0, 3e6)]);
        runs.extend(four("no bound"));
        let mut page = Page::of(&runs);
        let data = data(&About::default(), &mut page, &runs);
        let [chart] = &data.scatters[..] else { panic!("{:?}", data.scatters) };
        let (entry, curve) = chart.curve.clone().unwrap();
        assert_eq!((data.entries[entry].name.as_str(), curve), ("bound", vec![(60.0, 2.0), (100.0, 3.0)]));
        assert!(entry >= data.schemes && chart.points.len() == 4 && chart.points[1].y == 2.0, "{chart:?}");
    }

    #[test]
    fn nothing_is_asked_of_the_network() {
        let html = page(&About::default(), &four("lte"));
        for word in ["src=\"http", "href=\"http", "@import", "fetch(", "XMLHttpRequest"] {
            assert!(!html.contains(word), "{word}");
        }
    }

    #[test]
    fn a_page_without_runs_is_a_page() {
        assert!(page(&About { title: "No runs".into(), ..About::default() }, &[]).contains("No runs"));
    }
}
