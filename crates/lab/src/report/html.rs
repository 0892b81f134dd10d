//! Pieces of HTML.

use super::colours::Style;
use super::groups::Entry;

/// A piece of an entry's line, in its colour of the light or the dark page: colours alone repeat.
pub(super) fn key(entry: &Entry) -> String {
    let Style { light, dark, dash } = entry.style;
    let dash: Vec<String> = dash.iter().map(u8::to_string).collect();
    format!(
        "<svg class=\"line\" width=\"22\" height=\"8\" style=\"stroke:light-dark({light},{dark})\"><path d=\"M0 4h22\" \
         stroke-width=\"3\" stroke-dasharray=\"{}\"/></svg>",
        dash.join(" ")
    )
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
