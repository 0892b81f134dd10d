//! Names that are none: what was meant, probably.

use std::borrow::Cow;
use std::fmt;

use thalweg_units::did_you_mean;

/// A name on the command line that nothing has: the program's exit code is 2, as for other wrong values.
#[derive(Debug)]
pub(crate) struct Unknown {
    what: &'static str,
    name: String,
    /// The nearest names as a question, if any is near.
    question: Option<String>,
    /// Where all names are, or what they are; empty where the question is enough.
    list: Cow<'static, str>,
}

impl Unknown {
    /// `what` is the kind of thing, `list` says how to see all of them.
    pub(crate) fn new<'a>(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
        list: &'static str,
    ) -> Unknown {
        Unknown { what, name: name.into(), question: did_you_mean(name, known), list: list.into() }
    }

    /// The same, where `list` has all names, and is said only if none of them is near.
    pub(crate) fn of_few<'a>(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
        list: String,
    ) -> Unknown {
        let question = did_you_mean(name, known);
        let list = if question.is_some() { "".into() } else { list.into() };
        Unknown { what, name: name.into(), question, list }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unknown { what, name, question, list } = self;
        write!(f, "unknown {what} '{name}'")?;
        if let Some(question) = question {
            write!(f, ": {question}")?;
        }
        if list.is_empty() { Ok(()) } else { write!(f, " ({list})") }
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
