//! A model as Markdown: one section for each type, one row for each field.

use std::fmt::Write;

use crate::model::{Described, Field, Form, Model};

/// The sections of all types, in the order in which they are first used; without ranges and defaults for files that are
/// only written.
pub fn sections(model: &Model, is_written_only: bool) -> String {
    let mut page = String::new();
    for title in &model.order {
        let of = &model.types[title];
        let at = if of.at.is_empty() { String::new() } else { format!(" At `{}`.", of.at) };
        let choice = if of.is_choice { " One of:" } else { "" };
        let _ = write!(page, "\n## {title}\n\n{}{at}{choice}\n\n", of.about);
        page += &table(model, of, is_written_only);
    }
    page
}

fn table(model: &Model, of: &Described, is_written_only: bool) -> String {
    let mut table = String::new();
    if of.is_choice {
        table += "| value | content | meaning |\n|---|---|---|\n";
        for field in &of.fields {
            let content = match &field.form {
                Some(form) => written(form),
                None if field.fields.is_empty() => "a word".into(),
                None => field.fields.iter().map(inner).collect::<Vec<_>>().join("; "),
            };
            let range = field.range.as_ref().map(|range| format!(" Range: {range}.")).unwrap_or_default();
            let _ = writeln!(table, "| `{}` | {} | {}{range} |", field.name, cell(&content), cell(&field.about));
        }
    } else if is_written_only {
        table += "| key | type | meaning |\n|---|---|---|\n";
        for Field { name, form, about, .. } in &of.fields {
            let form = form.as_ref().map(written).unwrap_or_default();
            let _ = writeln!(table, "| `{name}` | {} | {} |", cell(&form), cell(about));
        }
    } else {
        table += "| key | type | range | default | meaning |\n|---|---|---|---|---|\n";
        for Field { name, form, range, default, about, .. } in &of.fields {
            let form = form.as_ref().map(written).unwrap_or_default();
            let range = range.as_deref().unwrap_or("");
            let default = default.as_ref().map_or("**required**".into(), |default| shown(model, default));
            let [form, range, default, about] = [&form, range, &default, about].map(cell);
            let _ = writeln!(table, "| `{name}` | {form} | {range} | {default} | {about} |");
        }
    }
    table
}

/// A default as code, unless it leads elsewhere.
fn shown(model: &Model, default: &str) -> String {
    match default.strip_prefix("that of ") {
        Some(title) if model.types.contains_key(title) => format!("that of [{title}](#{})", title.to_lowercase()),
        _ if default == "its defaults" => default.into(),
        _ => format!("`{default}`"),
    }
}

/// A field of a choice.
fn inner(field: &Field) -> String {
    let form = field.form.as_ref().map(written).unwrap_or_default();
    let default = field.default.as_ref().map(|default| format!(" (default `{default}`)")).unwrap_or_default();
    let range = field.range.as_ref().map(|range| format!(", {range}")).unwrap_or_default();
    format!("`{}`: {form}{range}{default}: {}", field.name, field.about)
}

fn written(form: &Form) -> String {
    match form {
        Form::Text(kind) => (*kind).into(),
        Form::Whole => "integer".into(),
        Form::Number => "number".into(),
        Form::Switch => "true or false".into(),
        Form::List(of) => format!("list of {}", written(of)),
        Form::Tuple(of) => format!("list of {}", of.iter().map(written).collect::<Vec<_>>().join(", ")),
        Form::Optional(of) => format!("{}, or none", written(of)),
        Form::Type(title) => format!("[{title}](#{})", title.to_lowercase()),
    }
}

/// A text that ends no cell.
fn cell(text: impl AsRef<str>) -> String {
    text.as_ref().replace('|', "\\|").replace('\n', " ")
}
