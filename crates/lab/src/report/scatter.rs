//! Delay against quality: one point per scheme, better towards the upper right.

use std::fmt::Write;

use super::chart::number;
use super::colour;
use super::html::escape;
use super::scale::Scale;

const WIDTH: f64 = 540.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 40.0;
/// Approximate width of a label's letter, and its height, in pixels.
const LETTER: (f64, f64) = (7.0, 13.0);

/// A chart of SSIM over delay, with a reversed delay axis as in Salsify's figures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scatter {
    /// The title.
    pub title: String,
    /// The points.
    pub points: Vec<ScatterPoint>,
}

/// A scheme in a [`Scatter`].
#[derive(Debug, Clone, PartialEq)]
pub struct ScatterPoint {
    /// Its name.
    pub label: String,
    /// 95th percentile of its frame latency, in ms.
    pub delay_ms: f64,
    /// Its SSIM, in dB.
    pub ssim_db: f64,
    /// 5th and 95th percentile of the SSIM of its frames, in dB.
    pub ssim_range_db: Option<(f64, f64)>,
    /// Index of the scheme on the page, which determines its colour; `None` for one that was not run here.
    pub scheme: Option<usize>,
    /// Whether it was run here; published results are drawn as hollow points.
    pub ours: bool,
}

impl ScatterPoint {
    /// Whether it is no worse than the other in both respects, and better in one.
    pub fn is_better(&self, other: &ScatterPoint) -> bool {
        let (delay, ssim) = (self.delay_ms - other.delay_ms, self.ssim_db - other.ssim_db);
        delay <= 0.0 && ssim >= 0.0 && (delay < 0.0 || ssim > 0.0)
    }
}

/// The Pareto front of our own points, in order of increasing delay.
fn front(points: &[ScatterPoint]) -> Vec<&ScatterPoint> {
    let ours = || points.iter().filter(|point| point.ours);
    let mut front: Vec<_> = ours().filter(|point| !ours().any(|other| other.is_better(point))).collect();
    front.sort_by(|a, b| a.delay_ms.total_cmp(&b.delay_ms));
    front
}

impl Scatter {
    /// The chart as a figure with its title.
    pub(super) fn svg(&self) -> String {
        let delays = || self.points.iter().map(|point| point.delay_ms.max(1.0));
        let ssims = || {
            let ends = |point: &ScatterPoint| {
                let (low, high) = point.ssim_range_db.unwrap_or((point.ssim_db, point.ssim_db));
                [low.min(point.ssim_db), high.max(point.ssim_db)]
            };
            self.points.iter().flat_map(ends)
        };
        if self.points.is_empty() {
            return String::new();
        }
        let (low, high) = (delays().fold(f64::INFINITY, f64::min), delays().fold(0.0, f64::max));
        let (worst, best) = (ssims().fold(f64::INFINITY, f64::min), ssims().fold(f64::NEG_INFINITY, f64::max));
        let bottom = HEIGHT - BOTTOM;
        // Reversed: the lowest delay is on the right.
        let x = Scale::logarithmic(low / 2.0, high * 1.8, WIDTH - RIGHT, LEFT);
        let y = Scale::linear((worst - 0.5).floor(), (best + 0.5).ceil(), bottom, TOP);
        let title = escape(&self.title);
        let mut svg = String::new();
        // Writing to a string cannot fail.
        let _ = write!(
            svg,
            "<figure style=\"width:49%\"><figcaption>{title}</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             aria-label=\"{title}\">"
        );
        for tick in y.ticks(6) {
            let at = y.place(tick);
            let _ = write!(svg, "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{:.1}\"/>", WIDTH - RIGHT);
            let label = number(tick);
            let _ =
                write!(svg, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", LEFT - 6.0, at + 4.0);
        }
        for tick in x.ticks(5) {
            let at = x.place(tick);
            let _ = write!(svg, "<path class=\"grid\" d=\"M{at:.1} {TOP}V{bottom:.1}\"/>");
            let label = number(tick);
            let _ = write!(svg, "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>", bottom + 16.0);
        }
        let _ = write!(
            svg,
            "<text class=\"unit\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">P95 latency, ms: quicker to the right</text>\
             <text class=\"unit\" x=\"{:.1}\" y=\"{:.1}\">SSIM, dB</text>",
            WIDTH - RIGHT,
            bottom + 33.0,
            LEFT + 4.0,
            TOP + 10.0
        );
        let place = |point: &ScatterPoint| (x.place(point.delay_ms), y.place(point.ssim_db));
        let front: Vec<String> =
            front(&self.points).into_iter().map(place).map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        if front.len() > 1 {
            let path = front.join("L");
            let _ = write!(svg, "<path fill=\"none\" stroke=\"#8c959f\" stroke-dasharray=\"3 3\" d=\"M{path}\"/>");
        }
        for point in &self.points {
            draw(&mut svg, point, place(point), point.ssim_range_db.map(|(low, high)| (y.place(low), y.place(high))));
        }
        let mut taken: Vec<Box> = self.points.iter().map(|point| Box::around(place(point))).collect();
        for point in &self.points {
            let label = Box::of_label(&point.label, place(point), &taken);
            let (x, y) = (label.left, label.bottom - 3.0);
            let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(&point.label));
            taken.push(label);
        }
        svg.push_str("</svg></figure>");
        svg
    }
}

fn draw(svg: &mut String, point: &ScatterPoint, (x, y): (f64, f64), range: Option<(f64, f64)>) {
    let colour = point.scheme.map_or("#8c959f", colour);
    if let Some((low, high)) = range {
        let _ = write!(
            svg,
            "<path stroke=\"{colour}\" stroke-width=\"1\" opacity=\"0.45\" d=\"M{x:.1} {low:.1}V{high:.1}\"/>"
        );
    }
    let fill = if point.ours { colour } else { "#fff" };
    let _ = write!(
        svg,
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"2\"/>"
    );
}

/// An occupied area of the drawing.
#[derive(Clone, Copy)]
struct Box {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Box {
    fn around((x, y): (f64, f64)) -> Box {
        Box { left: x - 6.0, right: x + 6.0, top: y - 6.0, bottom: y + 6.0 }
    }

    /// The position near a point that overlaps least with occupied areas.
    fn of_label(label: &str, (x, y): (f64, f64), taken: &[Box]) -> Box {
        let (width, height) = (label.chars().count() as f64 * LETTER.0, LETTER.1);
        let at = |left: f64, top: f64| Box { left, right: left + width, top, bottom: top + height };
        let rows = [0.0, -10.0, 10.0, -20.0, 20.0, -32.0, 32.0, -44.0, 44.0];
        let places = rows.into_iter().flat_map(|row| {
            let top = y - height / 2.0 + row;
            let middle = if row == 0.0 { None } else { Some(at(x - width / 2.0, top)) };
            [Some(at(x + 9.0, top)), Some(at(x - 9.0 - width, top)), middle].into_iter().flatten()
        });
        let cost = |place: &Box| {
            let off = (LEFT - place.left).max(0.0) + (place.right - WIDTH).max(0.0);
            let off = off + (TOP - 8.0 - place.top).max(0.0) + (place.bottom - (HEIGHT - BOTTOM)).max(0.0);
            off * height + taken.iter().map(|other| place.overlap(other)).sum::<f64>()
        };
        let first = at(x + 9.0, y - height / 2.0);
        places
            .fold((f64::INFINITY, first), |best, place| {
                let cost = cost(&place);
                if cost + 1e-9 < best.0 { (cost, place) } else { best }
            })
            .1
    }

    fn overlap(&self, other: &Box) -> f64 {
        let wide = self.right.min(other.right) - self.left.max(other.left);
        let high = self.bottom.min(other.bottom) - self.top.max(other.top);
        wide.max(0.0) * high.max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(label: &str, delay_ms: f64, ssim_db: f64, ours: bool) -> ScatterPoint {
        ScatterPoint { label: label.into(), delay_ms, ssim_db, ssim_range_db: None, scheme: None, ours }
    }

    #[test]
    fn the_front_is_what_of_ours_is_beaten_by_nothing_of_ours_on_both() {
        let points = [
            point("slow and good", 3000.0, 17.0, true),
            point("quick", 150.0, 14.0, true),
            point("beaten", 200.0, 13.0, true),
            point("between", 400.0, 15.0, true),
            point("not ours", 10.0, 30.0, false),
        ];
        let names: Vec<&str> = front(&points).into_iter().map(|point| point.label.as_str()).collect();
        assert_eq!(names, ["quick", "between", "slow and good"]);
    }

    #[test]
    fn the_quicker_of_two_points_is_to_the_right_and_the_better_above() {
        let points = vec![point("slow", 1000.0, 10.0, true), point("quick", 100.0, 16.0, true)];
        let svg = Scatter { title: "a <link>".into(), points }.svg();
        assert!(svg.contains("a &lt;link&gt;"));
        let circle = |index: usize, what: &str| -> f64 {
            let circle = svg.split("<circle ").nth(index + 1).unwrap();
            circle.split(&format!("{what}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        assert!(circle(1, "cx") > circle(0, "cx"));
        assert!(circle(1, "cy") < circle(0, "cy"));
    }

    #[test]
    fn labels_of_points_that_coincide_do_not() {
        let at = (200.0, 100.0);
        let mut taken = vec![Box::around(at)];
        for label in ["salsify-1c", "salsify-2c", "Salsify-2", "gcc"] {
            let place = Box::of_label(label, at, &taken);
            assert!(taken.iter().all(|other| place.overlap(other) == 0.0), "{label}");
            taken.push(place);
        }
    }
}
