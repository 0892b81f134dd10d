//! All cases, by their ids.

mod bars;
mod l4s;
mod webrtc;
mod wired;
mod wireless;

use crate::case::Case;
pub use webrtc::NOT_MODELLED;

/// Every case, in order.
pub fn all() -> Vec<Case> {
    [wired::cases(), wireless::cases(), webrtc::cases(), l4s::cases()].concat()
}

/// Why cases could not be chosen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown case '{pattern}': expected one of {known}, or wired, wireless, crowded, webrtc, l4s, suite, or all")]
pub struct UnknownCase {
    /// Pattern that matches no case.
    pub pattern: String,
    /// The ids that there are.
    pub known: String,
}

/// The cases that `pattern` names: an id, an id with `*` at its end, a set, or `all`. The sets are `wired`, `wireless`,
/// `crowded` (Wi-Fi with 16 to 32 flows, which take twice as long as all others together), `webrtc`, `l4s` (the wired ones
/// over queues that mark), and `suite`, which is all but `crowded` and `l4s`.
///
/// # Errors
/// When there is none.
pub fn find(pattern: &str) -> Result<Vec<Case>, UnknownCase> {
    let chosen: Vec<Case> = all()
        .into_iter()
        .filter(|case| match pattern {
            "all" => true,
            "suite" => !is_crowded(case) && !case.id.starts_with("l4s-"),
            "l4s" => case.id.starts_with("l4s-"),
            "crowded" => is_crowded(case),
            "wired" => case.id.starts_with(['5', '6']),
            "webrtc" => ["gcc.", "scream.", "rampup."].iter().any(|set| case.id.starts_with(set)),
            "wireless" => case.id.starts_with('w') && !is_crowded(case),
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

/// Returns true if it has so many flows that it takes seconds.
fn is_crowded(case: &Case) -> bool {
    case.id.starts_with("w4.2") && case.flows() >= 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_there_once_and_the_sets_are_all_cases() {
        let ids: Vec<String> = all().into_iter().map(|case| case.id).collect();
        let mut once = ids.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), ids.len());
        let count = |pattern| find(pattern).unwrap().len();
        assert_eq!(["wired", "wireless", "webrtc"].map(count).iter().sum::<usize>(), count("suite"));
        assert_eq!(["suite", "crowded", "l4s"].map(count).iter().sum::<usize>(), count("all"));
        assert_eq!(find("5.1*").unwrap().len(), 2);
        assert!(find("5.9").unwrap_err().to_string().starts_with("unknown case '5.9': expected one of 5.1, "));
    }
}
