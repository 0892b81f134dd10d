//! Names that are none: what was meant, probably.

use std::fmt;

/// A name on the command line that nothing has: the program's exit code is 2, as for other wrong values.
#[derive(Debug)]
pub(crate) struct Unknown {
    what: &'static str,
    name: String,
    /// The nearest names, the best first.
    near: Vec<String>,
    /// Where all names are.
    list: &'static str,
}

/// How alike two names must be to be suggested, 0 to 1: below it a suggestion is more often wrong than right.
const ALIKE: f64 = 0.75;
const MAX_SUGGESTIONS: usize = 3;

impl Unknown {
    /// `what` is the kind of thing, `list` says how to see all of them.
    pub(crate) fn new<'a>(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
        list: &'static str,
    ) -> Unknown {
        let alike = |known: &str| strsim::jaro_winkler(&name.to_lowercase(), &known.to_lowercase());
        let mut near: Vec<(f64, &str)> = known.into_iter().map(|known| (alike(known), known)).collect();
        near.retain(|(alike, _)| *alike >= ALIKE);
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        let near = near.into_iter().take(MAX_SUGGESTIONS).map(|(_, known)| known.to_string()).collect();
        Unknown { what, name: name.into(), near, list }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unknown { what, name, near, list } = self;
        write!(f, "unknown {what} '{name}'")?;
        if !near.is_empty() {
            write!(f, ": did you mean {}?", near.join(" or "))?;
        }
        write!(f, " ({list})")
    }
}

impl std::error::Error for Unknown {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_are_suggested_and_nothing_if_none_is_near() {
        let said = |name: &str| {
            Unknown::new("scheme", name, ["gcc", "vidaptive", "vidaptive:rocc", "nada"], "LIST").to_string()
        };
        assert_eq!(said("vidaptve"), "unknown scheme 'vidaptve': did you mean vidaptive or vidaptive:rocc? (LIST)");
        assert!(said("gccc").contains("mean gcc?") && said("NADO").contains("mean nada?"));
        assert_eq!(said("quic"), "unknown scheme 'quic' (LIST)");
    }
}
