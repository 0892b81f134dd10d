//! The page: table, time series, distributions.

use std::fmt::Write;

use thalweg_video::quality::ssim_db;

use super::chart::{Chart, Line, Stroke};
use super::html::{CAPACITY, escape, halves, key};
use super::shares::shares;
use super::{About, colour};
use crate::metrics::{Column, Summary, columns, latency};
use crate::outcome::{Mark, Outcome, Series};

const STYLE: &str = "
body{font:15px/1.5 system-ui,sans-serif;color:#1b1f24;background:#fff;max-width:1120px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem;margin:0 0 .2rem}h2{font-size:1.1rem;margin:2rem 0 .4rem}p{margin:.3rem 0}.quiet{color:#57606a}
table{border-collapse:collapse;width:100%;font-size:.82rem;font-variant-numeric:tabular-nums;margin:1rem 0}
th,td{padding:.3rem .3rem;text-align:right;border-bottom:1px solid #d8dee4;white-space:nowrap}
th:first-child,td:first-child,td.words{text-align:left}th{font-weight:600;color:#57606a}
.wide{overflow-x:auto}.wide th:first-child,.wide td:first-child{position:sticky;left:0;background:#fff}
tbody td:first-child{font-weight:600}.key{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.45em}
figure{margin:.6rem 0;display:inline-block;vertical-align:top}figcaption{font-weight:600;font-size:.9rem;color:#57606a}
svg{width:100%;height:auto;display:block}svg text{font:12px system-ui,sans-serif;fill:#57606a}
.grid{stroke:#eef1f4;stroke-width:1;fill:none}.unit{fill:#8c959f;color:#8c959f;font-weight:400}
.legend span{margin-right:1.2em;white-space:nowrap}code{background:#f3f5f7;padding:.1em .3em;border-radius:4px}
@media print{body{margin:0;max-width:none}figure{break-inside:avoid}}";

pub(super) fn page(about: &About, runs: &[Outcome]) -> String {
    let mut html = String::new();
    let title = escape(&about.title);
    // Writing to a string cannot fail.
    let _ = write!(
        html,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{title}</title><style>{STYLE}</style></head><body><h1>{title}</h1>"
    );
    if let Some(first) = runs.first() {
        let s = &first.summary;
        let _ = write!(
            html,
            "<p class=\"quiet\">{} over {}, {:.0} s, seed {}. {}.</p>",
            escape(&s.video),
            escape(&s.trace),
            s.duration_s,
            s.seed,
            escape(&first.codec)
        );
    }
    html.push_str(&table(runs));
    if !about.scatters.is_empty() {
        html.push_str("<h2>Delay against quality</h2>");
        about.scatters.iter().for_each(|scatter| html.push_str(&scatter.svg()));
        if about.scatters.iter().any(|scatter| scatter.points.iter().any(|point| !point.ours)) {
            html.push_str(
                "<p class=\"quiet\">Filled: played here. Hollow: what the authors published, with another video, encoder and \
                 machine: order and shape compare, absolute values do not. Dashed: what is beaten on both by nothing else played \
                 here. Upright: from the 5th to the 95th percentile of frames.</p>",
            );
        }
    }
    let links = distinct(runs, |run| &run.summary.trace);
    for link in &links {
        let over: Vec<Drawn> = drawn(runs).filter(|drawn| drawn.run.summary.trace == *link).collect();
        let of = if links.len() > 1 { format!("{}: over", escape(link)) } else { "Over".into() };
        let _ = write!(html, "<h2>{of} time (seconds)</h2><p class=\"legend\">");
        for Drawn { run, colour } in &over {
            let _ = write!(html, "<span>{}{}</span>", key(colour), escape(&run.summary.scheme));
        }
        let _ = write!(html, "<span>{}what the link could carry</span></p>", key(CAPACITY));
        for chart in time_charts(&over) {
            html.push_str(&chart.figure());
        }
        over.iter().for_each(|drawn| html.push_str(&shares(drawn.run)));
        let of = if links.len() > 1 { format!("{}: distributions", escape(link)) } else { "Distributions".into() };
        let _ = write!(html, "<h2>{of}</h2>");
        for chart in distributions(&over) {
            html.push_str(&chart.figure());
        }
    }
    let _ = write!(
        html,
        "<p class=\"quiet\">Latency is from the camera to the display, over all captured frames; one that was not shown counts until \
         the next that was. PSNR and SSIM are of luma, scaled to the source's size. Utilisation is what the bottleneck let \
         through over what it could have.</p><p class=\"quiet\">Made by Thalweg {}: <code>{}</code></p></body></html>",
        env!("CARGO_PKG_VERSION"),
        escape(&about.command)
    );
    html
}

/// A run with the colour of its scheme.
struct Drawn<'a> {
    run: &'a Outcome,
    colour: &'static str,
}

/// Each run with the colour of its scheme's index on the page, or with its own colour if a scheme was run twice over a
/// link.
fn drawn(runs: &[Outcome]) -> impl Iterator<Item = Drawn<'_>> {
    let schemes = distinct(runs, |run| &run.summary.scheme);
    let once = |run: &Outcome| {
        let same = |other: &&Outcome| {
            (&other.summary.scheme, &other.summary.trace) == (&run.summary.scheme, &run.summary.trace)
        };
        runs.iter().filter(same).count() == 1
    };
    let by_scheme = runs.iter().all(once);
    runs.iter().enumerate().map(move |(index, run)| {
        let place = schemes.iter().position(|scheme| by_scheme && *scheme == run.summary.scheme);
        Drawn { run, colour: colour(place.unwrap_or(index)) }
    })
}

/// The distinct values of `of` over the runs, in order.
fn distinct<'a>(runs: &'a [Outcome], of: impl Fn(&'a Outcome) -> &'a str) -> Vec<&'a str> {
    runs.iter().map(of).fold(Vec::new(), |mut known, next| {
        if !known.contains(&next) {
            known.push(next);
        }
        known
    })
}

fn table(runs: &[Outcome]) -> String {
    let several = distinct(runs, |run| &run.summary.trace).len() > 1;
    let columns = columns(runs.iter().map(|run| &run.summary));
    let mut html = String::from("<div class=\"wide\"><table><thead><tr><th>scheme</th>");
    html.push_str(if several { "<th>link</th>" } else { "" });
    for column in &columns {
        let _ = write!(html, "<th>{}<br><span class=\"unit\">{}</span></th>", column.name, column.unit);
    }
    html.push_str("</tr></thead><tbody>");
    for Drawn { run, colour } in drawn(runs) {
        let link = if several { format!("</td><td>{}", escape(&run.summary.trace)) } else { String::new() };
        row(&mut html, &format!("{}{}{link}", key(colour), escape(&run.summary.scheme)), &columns, &run.summary);
        for competitor in &run.summary.competitors {
            row(&mut html, &format!("and {}{link}", escape(&competitor.scheme)), &columns, competitor);
        }
        for traffic in &run.summary.traffic {
            let (name, columns) = (escape(&traffic.name), columns.len());
            let _ = write!(
                html,
                "<tr><td>and {name}{link}</td><td class=\"words\" colspan=\"{columns}\">{traffic}</td></tr>"
            );
        }
    }
    html.push_str("</tbody></table></div>");
    html
}

fn row(html: &mut String, name: &str, columns: &[&Column], run: &Summary) {
    let _ = write!(html, "<tr><td>{name}</td>");
    for column in columns {
        let cell = column.cell(run);
        let _ = write!(html, "<td>{}</td>", cell.as_deref().unwrap_or("–"));
    }
    html.push_str("</tr>");
}

fn time_charts(runs: &[Drawn]) -> Vec<Chart> {
    let end = runs.iter().map(|drawn| drawn.run.summary.duration_s).fold(1.0, f64::max);
    let over_time = |title, height, y_range, logarithmic_y, lines| Chart {
        title,
        x: "",
        x_range: (0.0, end),
        y_range,
        logarithmic_x: false,
        logarithmic_y,
        height,
        width_share: 1.0,
        lines,
    };
    let each = |stroke, points: &dyn Fn(&Outcome) -> Vec<(f64, f64)>| -> Vec<Line> {
        runs.iter().map(|Drawn { run, colour }| Line { colour, stroke, points: points(run) }).collect()
    };
    // The capacity, the same for all runs, behind their lines.
    let area = |series: fn(&Series) -> &[f64]| -> Vec<Line> {
        let series = runs.iter().take(1).map(|Drawn { run, .. }| halves(series(&run.series), run.series.bin_s));
        series.map(|points| Line { colour: CAPACITY, stroke: Stroke::Area, points }).collect()
    };
    let mut rates = area(|series| &series.capacity_mbps);
    let highest = |lines: &[Line]| lines.iter().flat_map(|line| &line.points).map(|point| point.1).fold(0.1, f64::max);
    rates.extend(each(Stroke::Steps, &|run| halves(&run.series.sent_mbps, run.series.bin_s)));
    let mut video: Vec<Line> = rates.first().cloned().into_iter().collect();
    video.extend(each(Stroke::Steps, &|run| halves(&run.series.video_mbps, run.series.bin_s)));
    // An estimate far above the available rate may exceed the chart's range, instead of flattening the chart.
    let believed = runs.iter().flat_map(|drawn| &drawn.run.series.available_mbps).copied().fold(0.1, f64::max) * 1.5;
    let mut estimates = area(|series| &series.available_mbps);
    estimates.extend(each(Stroke::Line, &|run| {
        let points = run.series.variable("capacity_bps").iter();
        points.map(|(at, bps)| (*at, (bps / 1e6).min(believed))).collect()
    }));
    let late = each(Stroke::Line, &|run| {
        run.frames.iter().filter_map(|f| Some((f.captured_s, (f.displayed_s? - f.captured_s) * 1e3))).collect()
    });
    let quality = each(Stroke::Steps, &|run| by_second(run, |frame| frame.psnr_db));
    let size = each(Stroke::Steps, &|run| {
        let shown = run.frames.iter().filter(|frame| frame.displayed_s.is_some());
        shown.map(|frame| (frame.captured_s, f64::from(frame.height))).collect()
    });
    let alpha = each(Stroke::Line, &|run| run.series.variable("alpha").to_vec());
    let marks = each(Stroke::Marks, &|run| {
        run.series.marks.iter().filter(|(_, mark)| *mark == Mark::Reset).map(|(at, _)| (*at, 0.0)).collect()
    });
    let one_way = each(Stroke::Line, &|run| run.series.variable("one_way_delay_ms").to_vec());
    let bursts = each(Stroke::Steps, &|run| run.series.variable("M_bytes").to_vec());
    let padding = each(Stroke::Steps, &|run| halves(&run.series.padding_mbps, run.series.bin_s));
    let slowest = highest(&late).max(200.0);
    let mut alpha_and_marks = alpha;
    alpha_and_marks.extend(marks);
    let top = highest(&rates);
    let charts = vec![
        over_time("On the wire, Mbps, against what the link could carry", 240.0, (0.0, top), false, rates),
        over_time("Video on the wire, Mbps", 180.0, (0.0, top), false, video),
        over_time(
            "Estimate of the path, Mbps, against a fair share of what there was (cut at one and a half times that)",
            200.0,
            (0.0, believed),
            false,
            estimates,
        ),
        over_time("Frame latency, ms", 220.0, (20.0, slowest), true, late),
        over_time("One-way delay of packets, ms", 160.0, (0.0, highest(&one_way)), false, one_way),
        over_time("PSNR, dB (mean of each second)", 160.0, range(&quality), false, quality),
        over_time("Resolution, lines", 130.0, (0.0, highest(&size) * 1.05), false, size),
        over_time("Burst length M, bytes", 130.0, (0.0, highest(&bursts) * 1.05), false, bursts),
        over_time("Padding on the wire, Mbps", 120.0, (0.0, highest(&padding)), false, padding),
        over_time(
            "Headroom factor alpha (ticks at the top: encoder resets)",
            140.0,
            (0.0, 1.05),
            false,
            alpha_and_marks,
        ),
    ];
    // Charts without any points are omitted.
    charts.into_iter().filter(|chart| chart.lines.iter().any(|line| !line.points.is_empty())).collect()
}

fn distributions(runs: &[Drawn]) -> Vec<Chart> {
    let cumulative = |mut values: Vec<f64>| -> Vec<(f64, f64)> {
        values.sort_by(f64::total_cmp);
        let count = values.len().max(1) as f64;
        let step = (values.len() / 400).max(1);
        let chosen = values.iter().enumerate().filter(|(index, _)| index % step == 0 || index + 1 == values.len());
        chosen.map(|(index, value)| (*value, (index + 1) as f64 / count)).collect()
    };
    let chart = |title, x, logarithmic_x, values: &dyn Fn(&Outcome) -> Vec<f64>| {
        let line =
            |Drawn { run, colour }: &Drawn| Line { colour, stroke: Stroke::Line, points: cumulative(values(run)) };
        let lines: Vec<Line> = runs.iter().map(line).collect();
        let all = || lines.iter().flat_map(|line| &line.points).map(|point| point.0);
        let (from, to) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        let x_range =
            if from.is_finite() { (if logarithmic_x { from.max(1.0) } else { from }, to) } else { (1.0, 10.0) };
        Chart {
            title,
            x,
            x_range,
            y_range: (0.0, 1.0),
            logarithmic_x,
            logarithmic_y: false,
            height: 220.0,
            width_share: 0.49,
            lines,
        }
    };
    vec![
        chart("Share of frames at most this late", "ms", true, &|run| {
            latency(&run.frames).map(|latency| latency.each_ms).unwrap_or_default()
        }),
        chart("Share of shown frames with at most this PSNR", "dB", false, &|run| {
            run.frames.iter().filter_map(|frame| frame.psnr_db).collect()
        }),
        chart("Share of shown frames with at most this SSIM", "dB", false, &|run| {
            run.frames.iter().filter_map(|frame| frame.ssim).map(ssim_db).collect()
        }),
        chart("Share of frames at most this large", "bytes", true, &|run| {
            run.frames.iter().filter(|frame| frame.queued_s.is_some()).map(|frame| frame.bytes as f64).collect()
        }),
    ]
}

fn by_second(run: &Outcome, value: impl Fn(&crate::outcome::FrameRecord) -> Option<f64>) -> Vec<(f64, f64)> {
    let seconds = run.summary.duration_s.ceil() as usize;
    let mut sums = vec![(0.0, 0u32); seconds];
    for frame in &run.frames {
        if let (Some(value), Some(sum)) = (value(frame), sums.get_mut(frame.captured_s as usize)) {
            *sum = (sum.0 + value, sum.1 + 1);
        }
    }
    let present = sums.into_iter().enumerate().filter(|(_, (_, count))| *count > 0);
    present.map(|(second, (sum, count))| (second as f64, sum / f64::from(count))).collect()
}

/// A range slightly larger than the lines.
fn range(lines: &[Line]) -> (f64, f64) {
    let all = || lines.iter().flat_map(|line| &line.points).map(|point| point.1);
    let (from, to) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    if from.is_finite() { ((from - 1.0).floor(), (to + 1.0).ceil()) } else { (0.0, 1.0) }
}
