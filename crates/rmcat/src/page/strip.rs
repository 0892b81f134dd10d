//! The bars of a case as a strip of bullets: the value and its interval, on what must and what should hold.

use std::fmt::Write;

use super::{class, name, number, origin, subject};
use crate::bar::{Judged, Verdict};
use crate::junit::escaped;
use crate::outcome::Outcome;
use crate::range::Range;

/// How many bars are shown before the others are behind a click.
const SHOWN: usize = 8;
/// The width of a bullet, and of its margins, in units of the drawing.
const WIDTH: f64 = 76.0;
const MARGIN: f64 = 8.0;

/// Bars that decide first.
pub(super) fn strip(page: &mut String, outcome: &Outcome) {
    let mut bars: Vec<&Judged> = outcome.bars.iter().collect();
    bars.sort_by(|a, b| b.verdict.cmp(&a.verdict).then(excess(b).total_cmp(&excess(a))));
    let shown = if bars.len() <= SHOWN + SHOWN / 2 { bars.len() } else { SHOWN };
    list(page, &bars[..shown]);
    let rest = &bars[shown..];
    if !rest.is_empty() {
        let all = [Some(Verdict::Fail), Some(Verdict::Open), Some(Verdict::Weak), Some(Verdict::Pass), None];
        let count = |verdict| rest.iter().filter(|judged| judged.verdict == verdict).count();
        let counts = all.into_iter().map(|verdict| (verdict, count(verdict))).filter(|(_, count)| *count > 0);
        let counts: Vec<String> = counts.map(|(verdict, count)| format!("{count} {}", name(verdict))).collect();
        let _ = writeln!(page, "<details><summary>{} more: {}</summary>", rest.len(), counts.join(", "));
        list(page, rest);
        page.push_str("</details>\n");
    }
}

fn excess(judged: &Judged) -> f64 {
    let should = judged.bar.should;
    judged.interval.map_or(f64::NEG_INFINITY, |(low, high)| should.excess(low).max(should.excess(high)))
}

fn list(page: &mut String, bars: &[&Judged]) {
    page.push_str("<ul>\n");
    for judged in bars {
        let (class, bar) = (class(judged.verdict), &judged.bar);
        let meaning = escaped(bar.figure.meaning());
        let _ = write!(page, "<li class=\"{class}\"><span title=\"{meaning}\">{}", subject(judged));
        if !origin(bar.source).is_empty() {
            let _ = write!(page, " <sup>{}</sup>", origin(bar.source));
        }
        let _ = write!(page, "</span><b>{}</b>{}<small>", value(judged), bullet(judged));
        if judged.verdict != Some(Verdict::Pass) {
            let _ = write!(page, "{}: ", name(judged.verdict));
        }
        let _ = write!(page, "must {}, should {}", bar.must, bar.should);
        if judged.censored > 0 {
            let _ = write!(page, "; in {} of {} seeds the phase ended first", judged.censored, judged.values.len());
        }
        page.push_str("</small>");
        page.push_str("</li>\n");
    }
    page.push_str("</ul>\n");
}

fn value(judged: &Judged) -> String {
    let Some(mean) = judged.mean else { return "none".into() };
    let margin = number(judged.interval.map_or(0.0, |(low, high)| (high - low) / 2.0));
    let margin = if margin == "0" { String::new() } else { format!(" ±{margin}") };
    let unit = judged.bar.figure.unit();
    let space = if unit.is_empty() { "" } else { " " };
    format!("{}{margin}{space}{unit}", number(mean))
}

/// The scale depends on the bar alone, so that it is the same in every cell of a row: what must hold, with a margin at
/// each side for what does not. A value that is farther away is an arrow in the margin.
fn bullet(judged: &Judged) -> String {
    let mut svg = format!("<svg aria-hidden=\"true\" viewBox=\"0 0 {WIDTH} 10\">");
    let (must, should) = (judged.bar.must, judged.bar.should);
    let (low, high) = scale(must, should);
    let place = |value: f64| MARGIN + (value - low) / (high - low) * (WIDTH - 2.0 * MARGIN);
    let clamped = |value: f64| place(value).clamp(2.0, WIDTH - 2.0);
    let block = |class: &str, range: Range, from: i64, tall: i64| {
        let (left, right) = (place(range.low.max(low)), place(range.high.min(high)));
        format!("<path class=\"{class}\" d=\"M{left:.0} {from}H{right:.0}v{tall}H{left:.0}z\"/>")
    };
    svg.push_str(&block("u", must, 1, 8));
    svg.push_str(&block("s", should, 1, 8));
    if let (Some(mean), Some(interval)) = (judged.mean, judged.interval) {
        if interval.1 > interval.0 {
            let _ = write!(svg, "<path class=\"i\" d=\"M{:.0} 5H{:.0}\"/>", clamped(interval.0), clamped(interval.1));
        }
        let mark = match place(mean) {
            far if far > WIDTH - 2.0 => format!("M{} 1l5 4-5 4", WIDTH - 6.0),
            far if far < 2.0 => "M6 1l-5 4 5 4".to_string(),
            near => format!("M{near:.1} 0v10"),
        };
        let _ = write!(svg, "<path class=\"v\" d=\"{mark}\"/>");
    }
    svg + "</svg>"
}

/// The ends of what must hold; an infinite one is as far from the other as the bounds that there are let one guess.
fn scale(must: Range, should: Range) -> (f64, f64) {
    let ends = [must.low, must.high, should.low, should.high].into_iter().filter(|end| end.is_finite());
    let (least, most) =
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), end| (least.min(end), most.max(end)));
    if least > most {
        return (0.0, 1.0);
    }
    let spread = if most > least { most - least } else { most.abs().max(1.0) };
    let low = if must.low.is_finite() { must.low } else { (least - spread).max(least.min(0.0)) };
    let high = if must.high.is_finite() { must.high } else { most + spread };
    if high > low { (low, high) } else { (low - spread, low + spread) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::range::range;

    #[test]
    fn a_scale_is_what_must_hold_and_has_two_ends_always() {
        assert_eq!(scale(range(0.0, 200.0), range(0.0, 60.0)), (0.0, 200.0));
        assert_eq!(scale(range(500.0, f64::INFINITY), range(700.0, f64::INFINITY)), (500.0, 900.0));
        assert_eq!(scale(range(f64::NEG_INFINITY, 40.0), range(f64::NEG_INFINITY, 20.0)), (0.0, 40.0));
        let open = range(f64::NEG_INFINITY, f64::INFINITY);
        for (must, should) in [(open, open), (range(1.0, 1.0), range(1.0, 1.0))] {
            let (low, high) = scale(must, should);
            assert!(low < high && low.is_finite() && high.is_finite());
        }
    }
}
