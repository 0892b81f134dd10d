//! All cases, by their ids.

mod bars;
mod webrtc;
mod wired;
mod wireless;

use crate::case::Case;
pub use webrtc::NOT_MODELLED;

/// Every case, in order.
pub fn all() -> Vec<Case> {
    [wired::cases(), wireless::cases(), webrtc::cases()].concat()
}

/// Why cases could not be chosen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no case '{pattern}': choose of {known}, or wired, wireless, webrtc, or all")]
pub struct UnknownCase {
    /// What was asked for.
    pub pattern: String,
    /// The ids that there are, near ones first.
    pub known: String,
}

/// The cases that `pattern` names: an id, an id with `*` at its end, a set (`wired`, `wireless`, `webrtc`), or `all`.
///
/// # Errors
/// When there is none.
pub fn find(pattern: &str) -> Result<Vec<Case>, UnknownCase> {
    let chosen: Vec<Case> = all()
        .into_iter()
        .filter(|case| match pattern {
            "all" => true,
            "wired" => case.id.starts_with(['5', '6']),
            "webrtc" => ["gcc.", "scream.", "rampup."].iter().any(|set| case.id.starts_with(set)),
            "wireless" => case.id.starts_with('w'),
            _ => match pattern.strip_suffix('*') {
                Some(begin) => case.id.starts_with(begin),
                None => case.id == pattern,
            },
        })
        .collect();
    if chosen.is_empty() {
        let known: Vec<String> = all().into_iter().map(|case| case.id).collect();
        return Err(UnknownCase { pattern: pattern.to_string(), known: known.join(", ") });
    }
    Ok(chosen)
}
