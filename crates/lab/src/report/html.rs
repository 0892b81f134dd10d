//! Pieces of HTML.

use super::groups::Entry;

/// A square in an entry's colour, of the light or the dark page.
pub(super) fn key(entry: &Entry) -> String {
    let (light, dark) = (entry.style.light, entry.style.dark);
    format!("<span class=\"key\" style=\"--light:{light};--dark:{dark}\"></span>")
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
