//! The grammar of documentation, help and errors: each begins with a noun or a verb.
//!
//! A clause without a head ("What is left of the target.", "Whether it is due.") is read twice. So no line of
//! documentation and no text begins with What, That, Of or Whether, no error begins with one of them, and an error about
//! a value is "unknown scheme 'x': expected one of ...", not "'x' is no scheme: choose from ...".

use std::sync::LazyLock;

use regex::Regex;

use crate::{Fault, Source};

/// Patterns in a Rust or Python file, with the correction.
static PATTERNS: LazyLock<[(Regex, &str); 4]> = LazyLock::new(|| {
    let pattern = |text| Regex::new(text).unwrap();
    [
        (pattern(r"(?m)^\s*//[/!]\s+((?:What|That|Of|Whether)\b)"), "documentation begins with a noun or a verb, not"),
        (
            pattern(r#"(?m)^(?:[^/\n]|/[^/\n])*"((?:What|That|Of|Whether) )[a-z]"#),
            "a text begins with a noun or a verb, not",
        ),
        (
            pattern(r#"(?:#\[error|bail!|ensure!|anyhow!)\(\s*"((?:what|that|of|whether) )"#),
            "an error begins with a noun, not",
        ),
        (
            pattern(r#"(?m)^(?:[^/\n]|/[^/\n])*".*((?:\bis (?:no|not an?) [a-z {}']+:|: choose (?:from|of)) ).*""#),
            "an error about a value is \"unknown scheme 'x': expected one of ...\", not",
        ),
    ]
});

pub(crate) fn check(source: &Source<'_>, faults: &mut Vec<Fault>) {
    if !source.path.extension().is_some_and(|extension| extension == "rs" || extension == "py") {
        return;
    }
    for (pattern, rule) in &*PATTERNS {
        for found in pattern.captures_iter(source.text) {
            let text = &found[1];
            faults.push(source.fault(found.get(1).map_or(0, |word| word.start()), format!("{rule} '{}'", text.trim())));
        }
    }
}
