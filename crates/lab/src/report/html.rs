//! Helpers for writing the page.

pub(super) const CAPACITY: &str = "#e4e7ec";

/// Means over half seconds.
pub(super) fn halves(values: &[f64], bin: f64) -> Vec<(f64, f64)> {
    let chunk = ((0.5 / bin).round() as usize).max(1);
    let means = values.chunks(chunk).map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64);
    means.enumerate().map(|(index, mean)| ((index * chunk) as f64 * bin, mean)).collect()
}

pub(super) fn key(colour: &str) -> String {
    format!("<span class=\"key\" style=\"background:{colour}\"></span>")
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
