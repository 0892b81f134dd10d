//! Mahimahi's format: one time in milliseconds per line, in decimal, never decreasing.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::Trace;

/// A trace could not be read; the message has the line, the value and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceError {
    /// It has no opportunities.
    Empty,
    /// The last opportunity is at 0, so the trace would loop without time passing.
    EndsAtZero,
    /// It has more opportunities than memory should hold (100 million take 800 MB), or lasts longer than milliseconds of a
    /// file may say.
    TooMany,
    /// A part was asked for that it does not have; the message has the part and the trace's length.
    Cut(String),
    /// A line is invalid.
    Line {
        /// The number of the line, from 1.
        number: usize,
        /// Its text (cut to 40 characters).
        text: String,
        /// The rule.
        rule: String,
    },
}

impl TraceError {
    /// An invalid line of a file, counted from 1, and the rule that it breaks.
    pub fn line(number: usize, text: &str, rule: impl Into<String>) -> TraceError {
        TraceError::Line { number, text: text.chars().take(40).collect(), rule: rule.into() }
    }

    pub(super) fn decreasing(number: usize, before: u64, value: u64) -> TraceError {
        let rule = alloc::format!("at least the line before it, {before}");
        TraceError::line(number, &value.to_string(), rule)
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::Empty => f.write_str(
                "the trace is empty: it needs one line with a time in ms for each 1500-byte delivery opportunity",
            ),
            TraceError::EndsAtZero => f.write_str(
                "the trace ends at 0 ms: its last line is the time after which it begins again and must be above 0",
            ),
            TraceError::TooMany => f.write_str(
                "the trace has more than 100 million opportunities of 1500 bytes, or does not end: lower rates, or end it",
            ),
            TraceError::Cut(message) => f.write_str(message),
            TraceError::Line { number, text, rule } => write!(f, "line {number} is '{text}', must be {rule}"),
        }
    }
}

impl core::error::Error for TraceError {}

impl Trace {
    /// Reads Mahimahi's format; blank lines before the first time and after the last are left out.
    ///
    /// # Errors
    /// When a line is not a time, times decrease, or there is none after 0.
    pub fn parse(text: &str) -> Result<Trace, TraceError> {
        let mut millis: Vec<u64> = Vec::new();
        let lines = (1..).zip(text.trim_end().lines());
        for (number, line) in lines.skip_while(|(_, line)| line.trim().is_empty()) {
            let value = line.trim().parse::<u64>().ok().filter(|value| *value <= MAX_MILLIS).ok_or_else(|| {
                TraceError::line(number, line, alloc::format!("a time in whole milliseconds, 0 to {MAX_MILLIS}"))
            })?;
            if let Some(before) = millis.last().filter(|before| value < **before) {
                return Err(TraceError::decreasing(number, *before, value));
            }
            millis.push(value);
        }
        Trace::new(millis)
    }

    /// Writes Mahimahi's format.
    pub fn to_text(&self) -> String {
        let mut text = String::with_capacity(self.millis.len() * 7);
        for millis in &self.millis {
            text.push_str(&millis.to_string());
            text.push('\n');
        }
        text
    }
}

/// A month: longer than any recording, and few enough seconds to count one by one (`rates_by_second`).
pub(super) const MAX_MILLIS: u64 = 31 * 24 * 3_600_000;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bad_traces_are_refused_with_line_value_and_rule() {
        let message = |text: &str| Trace::parse(text).unwrap_err().to_string();
        assert!(message("").contains("empty"));
        assert!(message("0\n0\n").contains("ends at 0"));
        let text = message("5\n7\n6\n");
        assert!(text.contains("line 3") && text.contains("'6'") && text.contains("7"), "{text}");
        let text = message("5\nabc\n");
        assert!(text.contains("line 2") && text.contains("'abc'"), "{text}");
        assert!(message("5\n\n7\n").contains("line 2"));
        assert!(message("\n5\n3\n").contains("line 3"));
        assert_eq!(Trace::parse("\n5\n7\n\n \n").unwrap().millis(), [5, 7]);
        assert!(message("-1\n").contains("line 1"));
        assert!(message("99999999999999\n").contains("line 1"));
    }

    proptest! {
        #[test]
        fn a_trace_survives_being_written_and_read(gaps in proptest::collection::vec(0u64..50, 1..200)) {
            let mut at = 1;
            let millis: Vec<u64> = gaps.iter().map(|gap| { at += gap; at }).collect();
            let trace = Trace::new(millis).unwrap();
            prop_assert_eq!(Trace::parse(&trace.to_text()).unwrap(), trace);
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,200}") {
            let _ = Trace::parse(&text);
        }
    }
}
