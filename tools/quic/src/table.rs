//! Tables in Markdown, each row beside the first one, which is the stack's Cubic.

use thalweg_units::Span;

use crate::run::Outcome;
use crate::stack::Controller;

/// The bar: the share of Cubic's goodput at least, and of its P95 of frame delay at most.
const BAR: (f64, f64) = (0.9, 0.5);
/// The same of a bulk: the least of its goodput, and the most of its P95 of round trips (docs/quic.md).
const BULK_BAR: (f64, f64) = (0.95, 0.6);

/// Results of one controller over each link.
pub struct Row {
    pub controller: Controller,
    pub outcomes: Vec<Outcome>,
}

fn millis(span: Option<Span>) -> f64 {
    span.map_or(f64::INFINITY, Span::as_millis_f64)
}

/// The geometric mean.
fn mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// The ratios of a row to another by link.
fn ratios(row: &Row, base: &Row, of: impl Fn(&Outcome) -> f64) -> Vec<f64> {
    row.outcomes.iter().zip(&base.outcomes).map(|(outcome, base)| of(outcome) / of(base)).collect()
}

fn goodput(outcome: &Outcome) -> f64 {
    outcome.goodput().as_kbps_f64()
}

fn p95(outcome: &Outcome) -> f64 {
    millis(outcome.delay(0.95))
}

/// Means over links.
pub fn media(rows: &[Row]) {
    let Some(base) = rows.first() else { return };
    println!(
        "| | goodput, kbps | of Cubic's | least | P50, ms | P95, ms | of Cubic's | most | pictures sent | bar met |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for row in rows {
        let [rates, delays] = [ratios(row, base, goodput), ratios(row, base, p95)];
        let of = |of: &dyn Fn(&Outcome) -> f64| mean(&row.outcomes.iter().map(of).collect::<Vec<_>>());
        let sent = |outcome: &Outcome| {
            let complete = outcome.delays.len() - outcome.incomplete();
            complete as f64 / (outcome.delays.len() as f64 + outcome.skipped as f64)
        };
        let met = rates.iter().zip(&delays).filter(|(rate, delay)| **rate >= BAR.0 && **delay <= BAR.1).count();
        println!(
            "| {} | {:.0} | {:.2} | {:.2} | {:.0} | {:.0} | {:.3} | {:.3} | {:.0} % | {met} of {} |",
            row.controller.name(),
            of(&goodput),
            mean(&rates),
            rates.iter().copied().fold(f64::INFINITY, f64::min),
            of(&|outcome| millis(outcome.delay(0.5))),
            of(&p95),
            mean(&delays),
            delays.iter().copied().fold(0.0, f64::max),
            100.0 * of(&sent),
            row.outcomes.len(),
        );
    }
}

/// Each link: kbps / P95 in ms.
pub fn links(rows: &[Row], names: &[&str]) {
    println!("\n| | {} |", names.join(" | "));
    println!("|---{}|", "|---".repeat(names.len()));
    for row in rows {
        let of = |outcome: &Outcome| format!("{:.0} / {:.0}", goodput(outcome), p95(outcome));
        println!("| {} | {} |", row.controller.name(), row.outcomes.iter().map(of).collect::<Vec<_>>().join(" | "));
    }
}

/// One path.
pub fn bulk(rows: &[Row]) {
    let Some(base) = rows.first() else { return };
    println!("| | goodput, kbps | of Cubic's | P95 round trip, ms | of Cubic's | dropped |");
    println!("|---|---|---|---|---|---|");
    for row in rows {
        let trip = |outcome: &Outcome| outcome.round_trip(0.95);
        for outcome in &row.outcomes {
            println!(
                "| {} | {:.0} | {:.3} | {:.0} | {:.2} | {} |",
                row.controller.name(),
                goodput(outcome),
                mean(&ratios(row, base, goodput)),
                trip(outcome),
                mean(&ratios(row, base, trip)),
                outcome.dropped,
            );
        }
    }
}

/// The rows of a bulk that miss the bar, of those of these controllers.
pub fn missed(rows: &[Row], held: &[&str]) -> Vec<String> {
    let Some(base) = rows.first() else { return Vec::new() };
    let held = rows.iter().filter(|row| held.contains(&row.controller.name()));
    let of = held.map(|row| {
        let [rate, trip] = [ratios(row, base, goodput), ratios(row, base, |outcome| outcome.round_trip(0.95))];
        (row.controller.name(), mean(&rate), mean(&trip))
    });
    let missed = of.filter(|(_, rate, trip)| *rate < BULK_BAR.0 || *trip > BULK_BAR.1);
    missed.map(|(name, rate, trip)| format!("{name}: {rate:.3} of Cubic's goodput, {trip:.2} of its P95")).collect()
}
