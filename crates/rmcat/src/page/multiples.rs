//! A row of small multiples: a case, by scheme.

use std::fmt::Write;

use super::axes::{Axes, is_back};
use super::{Row, anchor, badge, charts, number, strip};
use crate::junit::escaped;
use crate::network::{Media, Network};

/// A heading, the flows, and a cell for each scheme that played the case.
pub(super) fn row(page: &mut String, row: &Row<'_>) {
    let first = row.outcomes[0];
    let axes = Axes::of(&row.outcomes);
    let (case, title) = (escaped(&first.case), escaped(&first.title));
    let _ = write!(
        page,
        "<section class=\"case\" id=\"case-{}\">\n<h2>{case} <small>{title}, {}\u{a0}s</small></h2>\n",
        row.number,
        number(first.duration_s)
    );
    if let Some(network) = row.outcomes.iter().find_map(|outcome| outcome.network.as_ref()) {
        let _ = writeln!(page, "<p class=\"flows\">{}</p>", flows(network, first.duration_s));
    }
    let _ = write!(
        page,
        "<output class=\"at\"></output>\n<div class=\"row\" tabindex=\"0\" role=\"group\" aria-label=\"{case} by scheme\" \
         data-seconds=\"{}\" data-above=\"{}\" data-below=\"{}\" data-delay=\"{}\">\n",
        axes.seconds, axes.above, axes.below, axes.delay
    );
    for outcome in &row.outcomes {
        let verdict = outcome.verdict();
        let _ = write!(
            page,
            "<article id=\"{}\">\n<h3>{} {}</h3>\n",
            anchor(&outcome.case, &outcome.scheme),
            escaped(&outcome.scheme),
            badge(verdict)
        );
        if outcome.trajectories.is_empty() {
            page.push_str("<p>Not played: the case asks for weights, and the scheme has none.</p>\n");
        } else {
            charts::rates(page, outcome, &axes);
            charts::delays(page, outcome, &axes);
            strip::strip(page, outcome);
        }
        page.push_str("</article>\n");
    }
    page.push_str("</div>\n</section>\n");
}

/// The flows with their lines' look.
fn flows(network: &Network, duration_s: f64) -> String {
    let flow = |(number_of, flow): (usize, &Media)| {
        let mut about = format!(
            "flow {number_of}: {} to {} s, {} ms",
            number(flow.times.0),
            number(flow.times.1.min(duration_s)),
            number(flow.one_way.as_millis_f64())
        );
        if let Some((from, until)) = flow.pause {
            let _ = write!(about, ", off {} to {} s", number(from), number(until));
        }
        if (flow.weight - 1.0).abs() > 1e-9 {
            let _ = write!(about, ", weight {}", number(flow.weight));
        }
        if is_back(network, number_of) {
            about.push_str(", the way back, below the axis");
        }
        let class = charts::class(number_of);
        format!(
            "<span><svg class=\"swatch\" aria-hidden=\"true\" viewBox=\"0 0 30 10\"><path class=\"f {class}\" \
             d=\"M0 5h30\"/></svg>{about}</span>"
        )
    };
    network.flows.iter().enumerate().map(flow).collect::<Vec<_>>().join(" ")
}
