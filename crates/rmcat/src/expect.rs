//! Verdicts that are expected, for others' continuous integration.

use std::fmt;

use crate::bar::Verdict;
use crate::outcome::Outcome;

/// Expected verdict of one case, for one contestant or for all.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Expectation {
    case: String,
    scheme: Option<String>,
    /// `None` for any.
    verdict: Option<Verdict>,
    because: Option<String>,
}

/// A file of lines such as `5.1 = pass`, `5.5 gcc = weak because "..."` or `5.6-1000ms = any`; `#` begins a comment.
/// Cases that no line names may come out as they will; a verdict better than expected is an error as a worse one is, so
/// that a repair shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expectations(Vec<Expectation>);

/// A line that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line}, '{text}': write CASE = VERDICT or CASE SCHEME = VERDICT, with pass, weak, open, fail or any, \
         then because \"...\" if you like"
)]
pub struct ExpectationError {
    line: usize,
    text: String,
}

/// Verdicts that came out differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unexpected(Vec<String>);

impl fmt::Display for Unexpected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} verdicts are not as expected: {}", self.0.len(), self.0.join("; "))
    }
}

impl std::error::Error for Unexpected {}

impl Expectations {
    /// Reads the file's text.
    ///
    /// # Errors
    /// When a line cannot be read, or there is none.
    pub fn read(text: &str) -> Result<Expectations, ExpectationError> {
        let lines = text.lines().enumerate().map(|(number, line)| {
            let wrong = || ExpectationError { line: number + 1, text: line.into() };
            let meant = line.split('#').next().unwrap_or_default().trim();
            if meant.is_empty() {
                return Ok(None);
            }
            read_line(meant).map(Some).ok_or_else(wrong)
        });
        let read: Result<Vec<Option<Expectation>>, _> = lines.collect();
        let read: Vec<Expectation> = read?.into_iter().flatten().collect();
        if read.is_empty() {
            // Nothing would ever be unexpected.
            return Err(ExpectationError { line: 1, text: String::new() });
        }
        Ok(Expectations(read))
    }

    /// Compares with what came out.
    ///
    /// # Errors
    /// When a verdict differs, or a case that is named was not played.
    pub fn check(&self, outcomes: &[Outcome]) -> Result<(), Unexpected> {
        let mut wrong = Vec::new();
        for Expectation { case, scheme, verdict, because } in &self.0 {
            let meant = |outcome: &&Outcome| {
                outcome.case == *case && scheme.as_ref().is_none_or(|scheme| *scheme == outcome.scheme)
            };
            let mut played = outcomes.iter().filter(meant).peekable();
            if played.peek().is_none() {
                let scheme = scheme.as_ref().map_or_else(String::new, |scheme| format!(" by {scheme}"));
                wrong.push(format!("{case} was not played{scheme}"));
            }
            for outcome in played {
                let came = outcome.verdict();
                if verdict.is_some_and(|verdict| came != Some(verdict)) {
                    let name = |verdict: Option<Verdict>| verdict.map_or("n/a", Verdict::name);
                    let because = because.as_ref().map_or_else(String::new, |because| format!(" because {because}"));
                    let decided = outcome.decided_by().map_or_else(String::new, |bar| format!(" ({bar})"));
                    let (came, meant) = (name(came), name(*verdict));
                    wrong.push(format!("{case} {}: {came}{decided}, expected {meant}{because}", outcome.scheme));
                }
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(Unexpected(wrong)) }
    }
}

fn read_line(line: &str) -> Option<Expectation> {
    let (subject, expected) = line.split_once('=')?;
    let mut words = subject.split_whitespace();
    let (case, scheme) = (words.next()?.to_string(), words.next().map(str::to_string));
    if words.next().is_some() {
        return None;
    }
    let (verdict, because) = match expected.split_once(" because ") {
        Some((verdict, because)) => (verdict, Some(because.trim().to_string())),
        None => (expected, None),
    };
    let verdict = match verdict.trim() {
        "pass" => Some(Verdict::Pass),
        "weak" => Some(Verdict::Weak),
        "open" => Some(Verdict::Open),
        "fail" => Some(Verdict::Fail),
        "any" => None,
        _ => return None,
    };
    Some(Expectation { case, scheme, verdict, because })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_name_a_case_perhaps_a_scheme_and_a_verdict() {
        let text = "# ours\n5.1 = pass\n5.5 gcc = weak because \"it yields\"  # until mended\n\n5.6-1000ms=any\n";
        let Expectations(lines) = Expectations::read(text).unwrap();
        assert_eq!(lines.len(), 3);
        assert_eq!((lines[1].scheme.as_deref(), lines[1].verdict), (Some("gcc"), Some(Verdict::Weak)));
        assert_eq!((lines[1].because.as_deref(), lines[2].verdict), (Some("\"it yields\""), None));
        assert!(Expectations::read("# none\n").is_err());
        for wrong in ["5.1", "5.1 = good", "5.1 gcc nada = pass", "= pass"] {
            let error = Expectations::read(&format!("5.2 = any\n{wrong}")).unwrap_err().to_string();
            assert!(error.starts_with("line 2") && error.contains("pass, weak, open, fail or any"), "{error}");
        }
    }

    #[test]
    fn a_case_that_was_not_played_is_not_as_expected() {
        let expected = Expectations::read("5.1 gcc = pass").unwrap();
        assert_eq!(
            expected.check(&[]).unwrap_err().to_string(),
            "1 verdicts are not as expected: 5.1 was not played by gcc"
        );
    }
}
