//! The page: a matrix of verdicts, and small multiples of what happened. It needs nothing else: no other file, and no
//! JavaScript but for reading values under the pointer.

mod axes;
mod charts;
mod line;
mod matrix;
mod multiples;
mod strip;
#[cfg(test)]
mod tests;

use std::fmt::Write;

use crate::bar::{Judged, Source, Verdict};
use crate::junit::escaped;
use crate::outcome::Outcome;

/// Description of the page itself.
#[derive(Debug, Clone)]
pub struct About {
    /// The command that made it.
    pub command: String,
    /// How many seeds were played.
    pub seeds: usize,
}

/// The page.
pub fn page(outcomes: &[Outcome], about: &About) -> String {
    let table = Table::of(outcomes);
    let mut page = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n");
    page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n");
    let style = include_str!("style.css");
    // Writing to a string cannot fail.
    let _ = write!(page, "<title>rmcat: verdicts</title>\n<style>\n{style}</style>\n</head>\n<body>\n");
    head(&mut page, outcomes, about);
    matrix::matrix(&mut page, &table);
    legend(&mut page);
    for case in &table.cases {
        multiples::row(&mut page, case);
    }
    let _ = write!(page, "<script>\n{}</script>\n</body>\n</html>\n", include_str!("page.js"));
    page
}

/// Outcomes by case and by scheme, both in the order in which they were played.
struct Table<'a> {
    schemes: Vec<&'a str>,
    cases: Vec<Row<'a>>,
}

/// The outcomes of one case, of each scheme that played it.
struct Row<'a> {
    number: usize,
    outcomes: Vec<&'a Outcome>,
}

impl<'a> Table<'a> {
    fn of(outcomes: &'a [Outcome]) -> Table<'a> {
        let (mut schemes, mut cases): (Vec<&str>, Vec<Row<'_>>) = (Vec::new(), Vec::new());
        for outcome in outcomes {
            if !schemes.contains(&outcome.scheme.as_str()) {
                schemes.push(&outcome.scheme);
            }
            match cases.iter_mut().find(|row| row.outcomes[0].case == outcome.case) {
                Some(row) => row.outcomes.push(outcome),
                None => cases.push(Row { number: cases.len(), outcomes: vec![outcome] }),
            }
        }
        Table { schemes, cases }
    }
}

fn head(page: &mut String, outcomes: &[Outcome], about: &About) {
    let seeds = match about.seeds {
        1 => "One seed was played, so each interval is a single value.".to_string(),
        count => format!("{count} seeds were played; a value is their mean with its 95 % interval."),
    };
    // What all have in common, once.
    let common = |of: &dyn Fn(&Outcome) -> &str| match outcomes.first().map(of) {
        Some(first) if outcomes.iter().all(|outcome| of(outcome) == first) => escaped(first),
        _ => "several".into(),
    };
    let own = |feedback: String| if feedback == "its own" { "each scheme's own".into() } else { feedback };
    let (media, feedback) = (common(&|outcome| &outcome.media), own(common(&|outcome| &outcome.feedback)));
    let media = if media == "fixfps" { "each exactly its share of the target (fixfps)".into() } else { media };
    let _ = write!(
        page,
        "<header>\n<h1>How bandwidth estimators do in the cases of RFC 8867</h1>\n<p>{seeds} Sizes of frames: \
         {media}; reports: {feedback}. A verdict leads to its charts.</p>\n<p><code>{}</code></p>\n</header>\n",
        escaped(&about.command)
    );
}

fn legend(page: &mut String) {
    page.push_str("<section class=\"legend\">\n<dl>\n");
    for (verdict, meaning) in [
        (Verdict::Pass, "every interval is inside of what must and of what should hold"),
        (Verdict::Weak, "what must hold does; something that should hold does not, or not surely"),
        (Verdict::Open, "the runs do not decide whether what must hold does"),
        (Verdict::Fail, "something that must hold does not"),
    ] {
        let _ = writeln!(page, "<div><dt>{}</dt><dd>{meaning}</dd></div>", badge(Some(verdict)));
    }
    let _ = writeln!(
        page,
        "<div><dt>{}</dt><dd>the case asks for weights, and the scheme has none</dd></div>",
        badge(None)
    );
    page.push_str("</dl>\n<dl>\n");
    for (figure, meaning) in [
        (
            "<svg viewBox=\"0 0 30 10\"><path class=\"f f0\" d=\"M0 5h30\"/></svg>",
            "a flow, first seed; the others pale",
        ),
        ("<svg viewBox=\"0 0 30 10\"><path class=\"c\" d=\"M0 5h30\"/></svg>", "capacity of the narrowest link"),
        ("<svg viewBox=\"0 0 30 10\"><path class=\"a\" d=\"M0 5h30\"/></svg>", "what a flow could have"),
        ("<svg viewBox=\"0 0 30 10\"><path class=\"t\" d=\"M0 1h30v9h-30z\"/></svg>", "TCP"),
        (
            "<svg viewBox=\"0 0 30 10\"><path class=\"b\" d=\"M0 1h30v8h-30z\"/><path class=\"m\" d=\"M0 5h30\"/></svg>",
            "one-way delay of flow 0: median, and 5 to 95 % of its packets",
        ),
        (
            "<svg viewBox=\"0 0 30 10\"><path class=\"q\" d=\"M0 5h30\"/></svg>",
            "delay without waiting, and with full queues",
        ),
        ("<svg viewBox=\"0 0 30 10\"><path class=\"k\" d=\"M4 10v-4M12 10v-8M20 10v-6\"/></svg>", "packets dropped"),
        (
            "<svg viewBox=\"0 0 30 10\"><path class=\"u\" d=\"M1 2h28v6h-28z\"/><path class=\"s\" d=\"M1 2h16v6h-16z\"/>\
          <path class=\"i\" d=\"M6 5h9\"/><path class=\"v\" d=\"M10 1v8\"/></svg>",
            "what must hold (frame), what should (filled), value and interval",
        ),
    ] {
        let figure = figure.replacen("<svg", "<svg class=\"swatch\" aria-hidden=\"true\"", 1);
        let _ = writeln!(page, "<div><dt>{figure}</dt><dd>{meaning}</dd></div>");
    }
    let _ = write!(
        page,
        "</dl>\n<p>Bounds without a mark are ours: the RFC words an expectation, and we put a number to it. \
         <sup>{}</sup> is a bound that RFC 8867 gives, <sup>{}</sup> one of libwebrtc's tests. Rates are of everything \
         on the wire, by second. A <i>settled</i> window is the second half of a phase. \
         Where a figure is named, the pointer over it shows what it is.</p>\n</section>\n",
        origin(Source::Rfc8867),
        origin(Source::Webrtc),
    );
}

/// The mark of a bound's origin; empty for ours.
fn origin(source: Source) -> &'static str {
    match source {
        Source::Rfc8867 => "RFC",
        Source::Webrtc => "webrtc",
        Source::Ours => "",
    }
}

fn name(verdict: Option<Verdict>) -> &'static str {
    verdict.map_or("n/a", Verdict::name)
}

/// The verdict as a class of the style sheet.
fn class(verdict: Option<Verdict>) -> &'static str {
    verdict.map_or("none", Verdict::name)
}

fn badge(verdict: Option<Verdict>) -> String {
    format!("<span class=\"badge {}\">{}</span>", class(verdict), name(verdict))
}

/// Subject of a bar, such as `q95 of flow 1, 60–80 s`.
fn subject(judged: &Judged) -> String {
    let of = judged.bar.flow.map_or_else(String::new, |flow| format!(" of flow {flow}"));
    let (from, until) = judged.bar.window;
    format!("{}{of}, {}–{}\u{a0}s", judged.bar.figure.name(), number(from), number(until))
}

/// Three significant figures at most, without zeros at the end.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    let short = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if short == "-0" { "0".into() } else { short.into() }
}

/// A name to link to: letters, digits, dots and dashes of both stay, every other byte is `_` and its two digits, so that
/// different names have different anchors.
fn anchor(case: &str, scheme: &str) -> String {
    let encoded = |text: &str| -> String {
        let byte = |byte: u8| match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'.' | b'-' => char::from(byte).to_string(),
            _ => format!("_{byte:02x}"),
        };
        text.bytes().map(byte).collect()
    };
    format!("{}/{}", encoded(case), encoded(scheme))
}
