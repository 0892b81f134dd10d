//! The table of results: values with intervals, the best of each column, differences to the first scheme.

use std::fmt::Write;

use super::groups::{Cell, Group, Page};
use super::html::{escape, key};
use crate::metrics::{Column, QualitySource, Summary, columns};
use crate::outcome::Outcome;
use crate::statistics::{distinct, over, paired};
use thalweg_sender::FeedbackStyle;
use thalweg_video::quality::Ssim;

/// The table and the explanations under it.
pub(super) fn table(page: &Page<'_>, runs: &[Outcome]) -> String {
    let several = page.cells.len() > 1;
    let summaries: Vec<&Summary> = runs.iter().map(|run| &run.summary).collect();
    let columns = columns(summaries);
    let mut html = String::from(
        "<p class=\"hint\">The table scrolls sideways.</p><div class=\"wide\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Results\"><table id=\"results\"><thead><tr><th>scheme</th>",
    );
    html.push_str(if several { "<th>link</th>" } else { "" });
    let styles = distinct(runs.iter().map(|run| run.summary.feedback));
    let differs = styles.len() > 1;
    html.push_str(if differs {
        "<th title=\"Kind of the receiver's reports, and their frequency.\">feedback</th>"
    } else {
        ""
    });
    let feedback = |run: &Summary| match run.feedback {
        _ if !differs => String::new(),
        style => format!("<td class=\"words\">{}</td>", style.map_or("–", FeedbackStyle::name)),
    };
    for column in &columns {
        let ([name, unit], about) = (column.head(), column.about());
        // Writing to a string cannot fail.
        let _ = write!(html, "<th title=\"{}\">{name}<br><span class=\"unit\">{unit}</span></th>", escape(about));
    }
    html.push_str("</tr></thead><tbody>");
    for cell in &page.cells {
        let best: Vec<Option<f64>> = columns.iter().map(|column| best(cell, column)).collect();
        let base = cell.groups.first().filter(|_| page.schemes > 1);
        for group in &cell.groups {
            let entry = &page.entries[group.entry];
            let link = if several { format!("<td class=\"words\">{}</td>", escape(cell.link)) } else { String::new() };
            let first = &group.runs[0].summary;
            let (key, name, reports) = (key(entry), escape(&entry.name), feedback(first));
            let _ =
                write!(html, "<tr data-entry=\"{}\"><th scope=\"row\">{key}{name}</th>{link}{reports}", group.entry);
            for (column, best) in columns.iter().zip(&best) {
                let _ = write!(html, "{}", value(column, group, base.filter(|base| base.entry != group.entry), *best));
            }
            html.push_str("</tr>");
            for competitor in &first.competitors {
                let (name, reports) = (escape(&competitor.scheme), feedback(competitor));
                let _ = write!(html, "<tr><th scope=\"row\">and {name}</th>{link}{reports}");
                for column in &columns {
                    let _ = write!(html, "<td>{}</td>", column.cell(competitor).as_deref().unwrap_or("–"));
                }
                html.push_str("</tr>");
            }
            for traffic in &first.traffic {
                let (name, columns) = (escape(&traffic.name), columns.len() + usize::from(differs));
                let _ = write!(
                    html,
                    "<tr><th scope=\"row\">and {name}</th>{link}<td class=\"words\" colspan=\"{columns}\">{traffic}</td></tr>"
                );
            }
        }
    }
    html.push_str("</tbody></table></div>");
    let base = page.entries.first().filter(|_| page.schemes > 1);
    if let Some(base) = base {
        let name = escape(&base.name);
        let _ = write!(
            html,
            "<p class=\"quiet\"><b class=\"best\">best</b> marks the best of its column; small figures compare with {name}: a \
             factor, or a difference (of shares in points){}.</p>",
            if page.most_runs() > 1 {
                ", * significant (95 % interval excludes no difference); ± is half the interval of a mean"
            } else {
                ""
            }
        );
    }
    if let [Some(style)] = styles.as_slice() {
        let _ = write!(html, "<p class=\"quiet\">Feedback of every row: {style}.</p>");
    }
    if let Some(measured) = runs.first().map(|run| measured(&run.summary)) {
        let _ = write!(html, "<p class=\"quiet\">{}</p>", escape(&measured));
    }
    html.push_str("<details class=\"about\"><summary>What the columns mean</summary><dl>");
    for column in &columns {
        let _ = write!(html, "<dt>{}</dt><dd>{}</dd>", column.head().join(" "), escape(column.about()));
    }
    html.push_str("</dl></details>");
    html
}

/// A table whose cells are given, below its headings; empty if there is none.
pub(super) fn given(rows: &[Vec<String>]) -> String {
    let [heads, rows @ ..] = rows else { return String::new() };
    let line = |tag: &str, cells: &[String]| -> String {
        let cells = cells.iter().map(|cell| format!("<{tag} class=\"words\">{}</{tag}>", escape(cell)));
        format!("<tr>{}</tr>", cells.collect::<String>())
    };
    let rows: String = rows.iter().map(|row| line("td", row)).collect();
    format!("<div class=\"wide\"><table><thead>{}</thead><tbody>{rows}</tbody></table></div>", line("th", heads))
}

/// Which metrics of quality there are, and what computed them.
fn measured(run: &Summary) -> String {
    let ssim = match run.ssim_variant {
        Ssim::Window => "SSIM over 8x8 windows, as ffmpeg's",
        Ssim::Daala => "SSIM under a Gaussian, as Daala's",
    };
    let version = &run.version;
    match run.quality {
        QualitySource::None => "Quality was not measured.".into(),
        QualitySource::Modelled => format!(
            "Quality is estimated by the encoder model of Thalweg {version}; what stands on the screen while it is frozen, by how \
             pictures of its content differ from later ones."
        ),
        QualitySource::Measured => {
            let more = run.ms_ssim.map_or("", |_| ", MS-SSIM over five scales");
            let vmaf = run.vmaf_tool.as_ref().map_or(String::new(), |tool| format!("; VMAF by {tool}"));
            format!("Quality on luma at the source's size: PSNR, {ssim}{more}, by Thalweg {version}{vmaf}.")
        }
    }
}

/// The best mean of a column, if one is.
fn best(cell: &Cell<'_>, column: &Column) -> Option<f64> {
    column.best(cell.groups.iter().filter_map(|group| Some(over(&group.summaries(), column.value)?.mean)))
}

fn value(column: &Column, group: &Group<'_>, base: Option<&Group<'_>>, best: Option<f64>) -> String {
    let runs = group.summaries();
    let Some(found) = over(&runs, column.value) else { return "<td>–</td>".into() };
    let is_best = best.is_some_and(|best| column.text(best) == column.text(found.mean));
    let class = if is_best { " class=\"best\"" } else { "" };
    let mut html = format!("<td{class} data-value=\"{}\">", found.mean);
    html.push_str(&column.text(found.mean));
    if let Some(margin) = found.margin() {
        let _ = write!(html, "<small>±{}</small>", column.text(margin));
    }
    let against = column.against();
    if let Some(compared) = base.and_then(|base| paired(&runs, &base.summaries(), against, column.value)) {
        let _ = write!(html, "<small class=\"delta\">{}</small>", column.compared(against, compared));
    }
    html.push_str(if is_best { "<small>best</small>" } else { "" });
    html + "</td>"
}
