//! The matrix of verdicts.

use std::fmt::Write;

use super::{Table, anchor, class, name, subject};
use crate::bar::Verdict;
use crate::junit::escaped;
use crate::outcome::Outcome;

/// Cases down, schemes across; each cell leads to its charts.
pub(super) fn matrix(page: &mut String, table: &Table<'_>) {
    page.push_str(
        "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Verdicts\">\n<table class=\"matrix\">\n",
    );
    page.push_str("<thead><tr><th scope=\"col\">case</th>");
    for scheme in &table.schemes {
        let _ = write!(page, "<th scope=\"col\"><span>{}</span></th>", escaped(scheme));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.cases {
        let first = row.outcomes[0];
        let (case, title) = (escaped(&first.case), escaped(&first.title));
        let _ = write!(
            page,
            "<tr><th scope=\"row\"><a href=\"#case-{}\">{case}</a> <small>{title}</small></th>",
            row.number
        );
        for scheme in &table.schemes {
            match row.outcomes.iter().find(|outcome| outcome.scheme == *scheme) {
                Some(outcome) => cell(page, outcome),
                None => page.push_str("<td></td>"),
            }
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody>\n<tfoot><tr><th scope=\"row\">how many</th>");
    for scheme in &table.schemes {
        let of_scheme = || {
            let outcomes = table.cases.iter().flat_map(|row| &row.outcomes);
            outcomes.filter(|outcome| outcome.scheme == *scheme).map(|outcome| outcome.verdict())
        };
        let count = |verdict| of_scheme().filter(|of| *of == Some(verdict)).count();
        let all = [Verdict::Pass, Verdict::Weak, Verdict::Open, Verdict::Fail];
        let counts = all.map(|verdict| (verdict, count(verdict))).into_iter().filter(|(_, count)| *count > 0);
        let counts: Vec<String> = counts.map(|(verdict, count)| format!("{count} {}", verdict.name())).collect();
        let _ = write!(page, "<td>{}</td>", counts.join("<br/>"));
    }
    page.push_str("</tr></tfoot>\n</table>\n</div>\n");
}

fn cell(page: &mut String, outcome: &Outcome) {
    let verdict = outcome.verdict();
    let (to, class, name) = (anchor(&outcome.case, &outcome.scheme), class(verdict), name(verdict));
    let decided = outcome.decided_by();
    let title = decided.map_or_else(String::new, |judged| {
        format!(" title=\"{}: {}\"", escaped(&subject(judged)), escaped(judged.bar.figure.meaning()))
    });
    let why = decided.map_or("", |judged| judged.bar.figure.name());
    let _ = write!(page, "<td class=\"{class}\"><a href=\"#{to}\"{title}>{name}<small>{why}</small></a></td>");
}
