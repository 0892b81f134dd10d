//! The pages of docs/reference that are made from types, and their JSON schemas: `cargo run -p thalweg-reference` writes
//! them, and a test fails when they are not current.

mod expression;
mod model;
mod page;
mod schema;
mod source;

use std::fmt::Write;
use std::path::Path;

use thalweg_lab::record::columns::{COLUMNS, EVENTS, SCHEMA_VERSION};

use model::Model;
use source::Sources;

/// Every file that is made, by its path in the repository.
///
/// # Errors
/// When the sources cannot be read, or have a type of a form that is not known here.
pub fn files(root: &Path) -> Result<Vec<(&'static str, String)>, String> {
    let sources = Sources::read(&root.join("crates"))?;
    let model = |module: &[&str], name: &str, at: &str| {
        let mut model = Model::default();
        let title = model.add(&sources, module, name, at)?;
        Ok::<_, String>((model, title))
    };
    let (scenario, scenario_title) = model(&["lab", "scenario"], "Scenario", "")?;
    let (scheme, scheme_title) = model(&["sender", "scheme"], "Scheme", "scheme")?;
    let (summary, summary_title) = model(&["lab", "metrics", "summary"], "Summary", "")?;
    let mut outcome = Model::default();
    for name in ["Series", "FrameRecord", "OnScreen", "Still"] {
        outcome.add(&sources, &["lab", "outcome"], name, "")?;
    }
    outcome.add(&sources, &["lab", "bound", "curve"], "Point", "")?;
    let json = |model: &Model, root: &str, title: &str, about: &str| {
        serde_json::to_string_pretty(&schema::schema(model, root, title, about)).map(|text| text + "\n")
    };
    let schema_of =
        |model, root: &str, title, about| json(model, root, title, about).map_err(|error| error.to_string());
    Ok(vec![
        ("docs/reference/scenario.md", wrapped(SCENARIO) + &page::sections(&scenario, false)),
        (
            "crates/cli/src/commands/scenario/schema.json",
            schema_of(&scenario, &scenario_title, "scenario", "A scenario of Thalweg; the same structure in TOML.")?,
        ),
        ("docs/reference/scheme.md", wrapped(SCHEME) + &schemes() + &page::sections(&scheme, false)),
        (
            "docs/reference/scheme.schema.json",
            schema_of(&scheme, &scheme_title, "scheme", "The table [scheme] of a run.toml of Thalweg.")?,
        ),
        ("docs/reference/summary.md", wrapped(SUMMARY) + &page::sections(&summary, true)),
        (
            "docs/reference/summary.schema.json",
            schema_of(&summary, &summary_title, "summary", "summary.json of a run of Thalweg, and a run of --json.")?,
        ),
        ("docs/reference/outcome.md", wrapped(OUTCOME) + &page::sections(&outcome, true)),
        ("docs/reference/events.md", events()),
        ("docs/reference/views.sql", views()),
    ])
}

const SCENARIO: &str = "\
# Scenario

Everything that determines a run except the scheme: a TOML file for `thalweg run` (see
[examples](../../examples/step.toml)), and the table `[scenario]` of a `run.toml`. `thalweg scenario check FILE` reads
one, builds its path, its senders and its codec, and plays half a second; `thalweg scenario schema` prints the JSON
schema, for editors that complete and check.
";

const SCHEME: &str = "\
# Scheme

A sender: congestion control, frames, pacing, padding, repair and feedback under one name. `run.toml` has every
parameter of the scheme that played; change one and play it again with `thalweg run run.toml`. The defaults here are
those of the types; a scheme may set others, and the `run.toml` of a run of it says which.
";

const SUMMARY: &str = "\
# Summary

The figures of a run: `summary.json` of its folder, and each of the `runs` that `--json` prints. The
[JSON schema](summary.schema.json) is made from the same types.

`schema_version` is 1. Keys are only added: one that is here keeps its name, its unit and its meaning, and a figure that
does not apply is null or absent. If that ever has to change, `schema_version` is raised, and CHANGELOG.md says what.
How each figure is computed: [metrics](metrics.md).
";

const OUTCOME: &str = "\
# Series

`outcome.json` in the folder of a run has what the report draws: `summary` (as [summary.json](summary.md)), `codec`,
`series` over time, `frames`, one record for each captured picture, `screen`, what stood on the screen at each of the
camera's times, `queue_delay_percentiles_ms` (0 to 100) and `stills`, the pictures of the worst moments.

`thalweg report` and `thalweg diff` read it. Keys are only added. Every event behind these figures is in
[events.parquet](events.md).
";

const MADE: &str = "
This page is made from the types (`cargo run -p thalweg-reference`), and a test fails when it is not current.
";

/// How texts with a unit are written.
const FORMS: &str = "
A duration is written `20ms`, `1.5s`; a rate `2Mbps`, `500kbps`; data `1200B`, `1.5MB` (powers of ten); a size
`1280x720`, `720p`. A key with a default may be absent; where the default is none, absent means none.
";

fn wrapped(head: &str) -> String {
    let forms = if [SUMMARY, OUTCOME].contains(&head) { "" } else { FORMS };
    format!("{head}{forms}{MADE}")
}

fn schemes() -> String {
    let mut table = String::from("\n## Names\n\n| scheme | what |\n|---|---|\n");
    for known in thalweg_sender::scheme::known() {
        let _ = writeln!(table, "| `{}` | {} |", known.name, known.about.replace('|', "\\|"));
    }
    table += "\n| suffix | what |\n|---|---|\n";
    for suffix in thalweg_sender::scheme::suffixes() {
        let _ = writeln!(table, "| `{}` | {} |", suffix.name, suffix.about.replace('|', "\\|"));
    }
    table
}

fn events() -> String {
    let mut page = format!(
        "# Events\n\n`events.parquet` in the folder of a run has one row for each event, in order of time, all with the \
         same thirteen columns. What\n`bytes`, `count`, `span_ns`, `value`, `what` and `why` hold depends on the event; the \
         tables below say so, and\n[views.sql](views.sql) makes a view of each event under names that say it too. How to ask: \
         [queries](queries.md).\n{MADE}\n## Columns\n\n| column | unit |\n|---|---|\n"
    );
    for column in COLUMNS {
        let _ = writeln!(page, "| `{}` | {} |", column.name, column.unit);
    }
    let _ = write!(
        page,
        "\n## Metadata\n\nKey-value metadata of the file: `thalweg.schema_version` ({SCHEMA_VERSION}), `thalweg.version` (of the \
         program),\n`thalweg.fingerprint` (the hash of all events: equal for equal runs), `thalweg.units` (the table above, \
         as JSON),\n`thalweg.scheme`, `thalweg.trace`, `thalweg.video`, `thalweg.codec` and `thalweg.seed`.\n\n## Kinds\n"
    );
    for kind in &EVENTS {
        let _ = write!(page, "\n### {}\n\n{}\n", kind.event, kind.about);
        if kind.fields.is_empty() {
            page += "No columns beside time, flow and event.\n";
            continue;
        }
        page += "\n| column | in the view | what |\n|---|---|---|\n";
        for field in kind.fields {
            let _ = writeln!(page, "| `{}` | `{}` | {} |", field.column, field.name, field.about);
        }
    }
    page
}

fn views() -> String {
    let mut sql = String::from(
        "-- A view of each event of the table `events`, with names that say what its columns hold. In DuckDB, in the folder \
         of a run:\n--   CREATE VIEW events AS SELECT * FROM 'events.parquet';\n--   .read views.sql\n",
    );
    for kind in &EVENTS {
        sql += &kind.view();
        sql.push('\n');
    }
    sql
}
