//! Which charts a page has.

use thalweg_video::quality::ssim_db;

use super::data::{Chart, Charts, Data, Line};
use super::groups::{Cell, Page};
use super::series::{Point, Series, Thin, cumulative, over_time};
use crate::metrics::latency;
use crate::outcome::{self, FrameRecord, Mark, Outcome, Quality};

/// A variable's points for each run.
type Points<'a> = &'a dyn Fn(&Outcome) -> Vec<Point>;

/// The charts of a cell. The other flows of a run get entries of their own.
pub(super) fn charts(page: &mut Page<'_>, cell: &Cell<'_>, data: &mut Data) -> Charts {
    let mut charts = over_seconds(cell, data);
    charts.extend(shares(page, cell, data));
    charts.extend(distributions(cell, data));
    charts.retain(|chart| chart.lines.iter().any(|line| !line.y.is_empty()));
    Charts { charts }
}

/// A bin's values as points.
fn bins(series: &outcome::Series, values: &[f64]) -> Vec<Point> {
    values.iter().enumerate().map(|(index, value)| (index as f64 * series.bin_s, *value)).collect()
}

fn duration(cell: &Cell<'_>) -> f64 {
    cell.groups.iter().flat_map(|group| &group.runs).map(|run| run.summary.duration_s).fold(1.0, f64::max)
}

fn lines(cell: &Cell<'_>, data: &mut Data, thin: Thin, points: Points<'_>) -> Vec<Line> {
    let seconds = duration(cell);
    let of = |group: &super::groups::Group<'_>| {
        let runs = group.runs.iter().map(|run| points(run)).collect();
        (group.entry, over_time(runs, seconds, thin))
    };
    let series: Vec<(usize, Series)> = cell.groups.iter().map(of).collect();
    let present = series.iter().filter(|(_, series)| !series.points.is_empty());
    present.map(|(entry, series)| data.line(*entry, series, false)).collect()
}

/// Capacity of the link, from the first run: the same for all.
fn area(cell: &Cell<'_>, data: &mut Data, values: fn(&outcome::Series) -> &[f64]) -> Option<Line> {
    let series = &cell.groups.first()?.runs.first()?.series;
    let line = over_time(vec![bins(series, values(series))], duration(cell), Thin::Mean);
    (!line.points.is_empty()).then(|| data.line(0, &line, false))
}

fn over_seconds(cell: &Cell<'_>, data: &mut Data) -> Vec<Chart> {
    let shown = |run: &Outcome, value: &dyn Fn(&FrameRecord) -> Option<f64>| -> Vec<Point> {
        run.frames.iter().filter_map(|frame| Some((frame.captured_s, value(frame)?))).collect()
    };
    let screen = |run: &Outcome, value: &dyn Fn(&Quality) -> Option<f64>| -> Vec<Point> {
        run.screen.iter().filter_map(|seen| Some((seen.at_s, value(&seen.quality)?))).collect()
    };
    let variable = |run: &Outcome, name: &str| run.series.variable(name).to_vec();
    let runs = || cell.groups.iter().flat_map(|group| &group.runs);
    let capacity = |data: &mut Data| area(cell, data, |series| &series.capacity_mbps);
    // An estimate far above the available rate would flatten the chart.
    let available = runs().flat_map(|run| &run.series.available_mbps).copied().fold(0.0, f64::max);
    let resets = cell.groups.iter().map(|group| {
        let marks = group.runs.iter().flat_map(|run| &run.series.marks).filter(|(_, mark)| *mark == Mark::Reset);
        (group.entry, marks.map(|(at, _)| *at).collect::<Vec<f64>>())
    });
    let resets: Vec<_> = resets.filter(|(_, times)| !times.is_empty()).collect();
    let rate = Chart { unit: "Mbps", height: 220, steps: true, zero: true, coarse: 0.5, ..Chart::default() };
    let value = Chart { height: 180, ..Chart::default() };
    vec![
        Chart {
            title: "Sent, everything on the wire".into(),
            area: capacity(data).map(|line| ("what the link could carry", line)),
            lines: lines(cell, data, Thin::Mean, &|run| bins(&run.series, &run.series.sent_mbps)),
            ..rate.clone()
        },
        Chart {
            title: "Sent, video only".into(),
            area: capacity(data).map(|line| ("what the link could carry", line)),
            lines: lines(cell, data, Thin::Mean, &|run| bins(&run.series, &run.series.video_mbps)),
            ..rate.clone()
        },
        Chart {
            title: "The controller's estimate of the path".into(),
            unit: "Mbps",
            zero: true,
            top: (available > 0.0).then_some(1.5 * available),
            area: area(cell, data, |series| &series.available_mbps)
                .map(|line| ("a fair share of what there was", line)),
            lines: lines(cell, data, Thin::Extremes, &|run| {
                variable(run, "capacity_bps").into_iter().map(|(at, bps)| (at, bps / 1e6)).collect()
            }),
            ..value.clone()
        },
        Chart {
            title: "Frame latency, camera to display".into(),
            unit: "ms",
            height: 220,
            log: true,
            lines: lines(cell, data, Thin::Extremes, &|run| {
                shown(run, &|frame| Some((frame.displayed_s? - frame.captured_s) * 1e3))
            }),
            ..value.clone()
        },
        Chart {
            title: "One-way delay of packets".into(),
            unit: "ms",
            zero: true,
            lines: lines(cell, data, Thin::Extremes, &|run| variable(run, "one_way_delay_ms")),
            ..value.clone()
        },
        Chart {
            title: "PSNR of shown frames".into(),
            unit: "dB",
            steps: true,
            coarse: 1.0,
            lines: lines(cell, data, Thin::Extremes, &|run| shown(run, &|frame| frame.psnr_db)),
            ..value.clone()
        },
        Chart {
            title: "PSNR of what stands on the screen".into(),
            unit: "dB",
            steps: true,
            coarse: 1.0,
            lines: lines(cell, data, Thin::Extremes, &|run| screen(run, &|seen| Some(seen.psnr_db))),
            ..value.clone()
        },
        Chart {
            title: "VMAF of what stands on the screen".into(),
            unit: "VMAF",
            steps: true,
            coarse: 1.0,
            lines: lines(cell, data, Thin::Extremes, &|run| screen(run, &|seen| seen.vmaf)),
            ..value.clone()
        },
        Chart {
            title: "Resolution of shown frames".into(),
            unit: "lines",
            height: 140,
            steps: true,
            zero: true,
            lines: lines(cell, data, Thin::Extremes, &|run| {
                changes(shown(run, &|frame| frame.displayed_s.map(|_| f64::from(frame.height))))
            }),
            ..value.clone()
        },
        Chart {
            title: "Burst length M".into(),
            unit: "bytes",
            height: 140,
            steps: true,
            zero: true,
            lines: lines(cell, data, Thin::Extremes, &|run| variable(run, "M_bytes")),
            ..value.clone()
        },
        Chart {
            title: "Padding on the wire".into(),
            height: 140,
            lines: lines(cell, data, Thin::Mean, &|run| bins(&run.series, &run.series.padding_mbps)),
            ..rate
        },
        Chart {
            title: "Headroom factor alpha".into(),
            unit: "share",
            height: 140,
            zero: true,
            lines: lines(cell, data, Thin::Extremes, &|run| variable(run, "alpha")),
            marks: (!resets.is_empty()).then_some(("ticks at the top: encoder resets", resets)),
            ..value
        },
    ]
}

/// The points where the value changes, and the last.
fn changes(points: Vec<Point>) -> Vec<Point> {
    let last = points.len().saturating_sub(1);
    let changes = |index: &usize| *index == 0 || *index == last || points[*index - 1].1 != points[*index].1;
    (0..points.len()).filter(changes).map(|index| points[index]).collect()
}

/// Data delivered for each flow of a run that had competitors.
fn shares(page: &mut Page<'_>, cell: &Cell<'_>, data: &mut Data) -> Vec<Chart> {
    let mut charts = Vec::new();
    for group in cell.groups.iter().filter(|group| !group.runs[0].series.others.is_empty()) {
        let others = &group.runs[0].series.others;
        let delivered: Points<'_> = &|run| bins(&run.series, &run.series.delivered_mbps);
        let alone = Cell { groups: vec![group.clone()], ..cell.clone() };
        let mut all = lines(&alone, data, Thin::Mean, delivered);
        for (place, other) in others.iter().enumerate() {
            let before = others[..place].iter().filter(|known| known.name == other.name).count();
            let entry = page.competitor(&other.name, before);
            let points: Points<'_> =
                &|run| run.series.others.get(place).map(|it| bins(&run.series, &it.delivered_mbps)).unwrap_or_default();
            all.extend(lines(&alone, data, Thin::Mean, points).into_iter().map(|line| Line { entry, ..line }));
        }
        charts.push(Chart {
            title: format!("Delivered to each flow beside {}", page.entries[group.entry].name),
            unit: "Mbps",
            height: 200,
            steps: true,
            zero: true,
            coarse: 0.5,
            area: area(cell, data, |series| &series.capacity_mbps).map(|line| ("what the link could carry", line)),
            lines: all,
            ..Chart::default()
        });
    }
    charts
}

fn distributions(cell: &Cell<'_>, data: &mut Data) -> Vec<Chart> {
    let mut chart = |title: &str, x, log, values: &dyn Fn(&Outcome) -> Vec<f64>| {
        let lines = cell.groups.iter().map(|group| {
            let series = cumulative(group.runs.iter().map(|run| values(run)).collect());
            data.line(group.entry, &series, true)
        });
        let lines = lines.filter(|line| !line.y.is_empty()).collect();
        Chart { title: title.into(), unit: "%", x: Some(x), height: 230, log, zero: true, lines, ..Chart::default() }
    };
    vec![
        chart("Frames at most this late", "latency, ms", true, &|run| {
            latency(&run.frames).map(|latency| latency.each_ms).unwrap_or_default()
        }),
        chart("Shown frames with at most this PSNR", "PSNR, dB", false, &|run| {
            run.frames.iter().filter_map(|frame| frame.psnr_db).collect()
        }),
        chart("Shown frames with at most this SSIM", "SSIM, dB", false, &|run| {
            run.frames.iter().filter_map(|frame| frame.ssim).map(ssim_db).collect()
        }),
        chart("Frames at most this large", "bytes", true, &|run| {
            run.frames.iter().filter(|frame| frame.queued_s.is_some()).map(|frame| frame.bytes as f64).collect()
        }),
    ]
}
