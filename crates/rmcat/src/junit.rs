//! Verdicts as JUnit's XML, which continuous integration shows.

use std::fmt::Write;

use crate::bar::Verdict;
use crate::outcome::Outcome;

/// A test suite per contestant, a test case per case: `fail` is a failure, `open` and `n/a` are skipped, `weak` passes
/// with its bars as output.
pub fn junit(outcomes: &[Outcome]) -> String {
    let mut schemes: Vec<&str> = Vec::new();
    for outcome in outcomes {
        if !schemes.contains(&outcome.scheme.as_str()) {
            schemes.push(&outcome.scheme);
        }
    }
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"rmcat\">\n");
    // Writing to a string cannot fail.
    for scheme in schemes {
        let of_scheme: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.scheme == scheme).collect();
        let count = |of: &dyn Fn(Option<Verdict>) -> bool| of_scheme.iter().filter(|o| of(o.verdict())).count();
        let failures = count(&|verdict| verdict == Some(Verdict::Fail));
        let skipped = count(&|verdict| matches!(verdict, None | Some(Verdict::Open)));
        let _ = writeln!(
            text,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">",
            escaped(scheme),
            of_scheme.len(),
        );
        for outcome in of_scheme {
            let _ = write!(text, "    {}", test_case(outcome));
        }
        text.push_str("  </testsuite>\n");
    }
    text + "</testsuites>\n"
}

fn test_case(outcome: &Outcome) -> String {
    let (scheme, case) = (escaped(&outcome.scheme), escaped(&outcome.case));
    let said = |verdict: Verdict| {
        let bars = outcome.bars.iter().filter(|judged| judged.verdict == Some(verdict));
        escaped(&bars.map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    };
    let inside = match outcome.verdict() {
        Some(Verdict::Pass) => String::new(),
        Some(Verdict::Weak) => format!("<system-out>weak:\n{}</system-out>", said(Verdict::Weak)),
        Some(Verdict::Open) => {
            format!("<skipped message=\"the seeds do not decide\">{}</skipped>", said(Verdict::Open))
        }
        Some(Verdict::Fail) => {
            let decided = outcome.decided_by().map_or_else(String::new, ToString::to_string);
            format!("<failure message=\"{}\">{}</failure>", escaped(&decided), said(Verdict::Fail))
        }
        None => "<skipped message=\"nothing to judge: no weights, or no figure\"/>".into(),
    };
    format!("<testcase classname=\"rmcat.{scheme}\" name=\"{case}\">{inside}</testcase>\n")
}

/// Text within XML, also within quotes.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
