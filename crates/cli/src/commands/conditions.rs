//! Conditions under which results are a failure, for people's continuous integration.

use std::fmt::{self, Write};
use std::str::FromStr;

use anyhow::bail;
use thalweg_lab::metrics::{Column, Summary, every_column};
use thalweg_lab::statistics::{Against, distinct, over, paired};

/// `KEY > NUMBER`, `ratio(KEY, SCHEME) < NUMBER` or `difference(KEY, SCHEME) < NUMBER`, of every scheme or, after
/// `SCHEME:`, of one.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    text: String,
    scheme: Option<String>,
    column: &'static Column,
    base: Option<(Against, String)>,
    above: bool,
    bound: f64,
}

/// The outcome of a condition for a scheme.
pub(crate) struct Verdict {
    condition: String,
    scheme: String,
    value: f64,
    /// True if it holds, which is a failure.
    pub(crate) holds: bool,
}

/// A condition held: the program's exit code is 3.
#[derive(Debug)]
pub(crate) struct Failed(pub(crate) String);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--fail-if holds: {}", self.0)
    }
}

impl std::error::Error for Failed {}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verdict { condition, scheme, value, .. } = self;
        write!(f, "{scheme}: {condition} ({value:.4})")
    }
}

const FORM: &str = "write 'latency_p95_ms > 200', 'vidaptive: latency_p95_ms > 200', 'ratio(video_bitrate_bps, gcc) < 1.2' or \
                    'difference(psnr_db, gcc) < 0.5'";

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Condition, String> {
        let wrong = |why: String| format!("'{text}': {why}; {FORM}");
        let place = text.find(['<', '>']).ok_or_else(|| wrong("neither < nor > in it".into()))?;
        let (left, right) = text.split_at(place);
        let (sign, bound) = right.split_at(1);
        let bound: f64 =
            bound.trim().parse().map_err(|_| wrong(format!("invalid bound '{}': expected a number", bound.trim())))?;
        if !bound.is_finite() {
            return Err(wrong(format!("invalid bound {bound}: expected a finite number")));
        }
        let left = left.trim();
        // A scheme's name may contain a colon itself, so the last one that is followed by a space separates.
        let (scheme, left) = match left.rsplit_once(": ") {
            Some((scheme, left)) => (Some(scheme.trim().to_string()), left.trim()),
            None => (None, left),
        };
        let call =
            |name: &str| Some(left.strip_prefix(name)?.trim().strip_prefix('(')?.strip_suffix(')')?.split_once(','));
        let (key, base) = match (call("ratio"), call("difference")) {
            (Some(Some((key, base))), _) => (key.trim(), Some((Against::Ratio, base.trim().to_string()))),
            (_, Some(Some((key, base)))) => (key.trim(), Some((Against::Difference, base.trim().to_string()))),
            (Some(None), _) | (_, Some(None)) => return Err(wrong("no scheme to compare with".into())),
            (None, None) => (left, None),
        };
        let column = every_column().find(|column| column.key == key || column.name == key).ok_or_else(|| {
            let keys: Vec<&str> = every_column().map(|column| column.key).collect();
            wrong(format!("unknown figure '{key}': expected one of {}", keys.join(", ")))
        })?;
        Ok(Condition { text: text.trim().into(), scheme, column, base, above: sign == ">", bound })
    }
}

impl Condition {
    /// Judges the condition for each scheme that it is about.
    ///
    /// # Errors
    /// When it names a scheme that was not played, or nothing was measured: a gate that is never closed is none.
    pub(crate) fn judge(&self, runs: &[Summary]) -> anyhow::Result<Vec<Verdict>> {
        let mut schemes = distinct(runs.iter().map(|run| run.scheme.as_str()));
        schemes.sort_unstable();
        let named = self.scheme.iter().chain(self.base.iter().map(|(_, base)| base));
        for name in named {
            if !schemes.contains(&name.as_str()) {
                bail!("--fail-if '{}': {name} was not played, but {}", self.text, schemes.join(", "));
            }
        }
        let of = |scheme: &str| -> Vec<&Summary> { runs.iter().filter(|run| run.scheme == scheme).collect() };
        let about = schemes.iter().filter(|scheme| match (&self.scheme, &self.base) {
            (Some(only), _) => only == *scheme,
            (None, Some((_, base))) => base != *scheme,
            (None, None) => true,
        });
        let judged = |scheme: &&str| -> anyhow::Result<Verdict> {
            let found = match &self.base {
                Some((against, base)) => paired(&of(scheme), &of(base), *against, self.column.value),
                None => over(&of(scheme), self.column.value),
            };
            let Some(found) = found else {
                bail!("--fail-if '{}': no run of {scheme} has {}", self.text, self.column.key);
            };
            let holds = if self.above { found.mean > self.bound } else { found.mean < self.bound };
            Ok(Verdict { condition: self.text.clone(), scheme: (*scheme).into(), value: found.mean, holds })
        };
        let verdicts: Vec<Verdict> = about.map(judged).collect::<Result<_, _>>()?;
        if verdicts.is_empty() {
            bail!("--fail-if '{}': no other scheme was played", self.text);
        }
        Ok(verdicts)
    }
}

/// The verdicts in JUnit's XML, a test case each.
pub(crate) fn junit(verdicts: &[Verdict]) -> String {
    let failures = verdicts.iter().filter(|verdict| verdict.holds).count();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"thalweg\" tests=\"{}\" failures=\"{failures}\">\n",
        verdicts.len()
    );
    for verdict in verdicts {
        let (scheme, condition) = (escaped(&verdict.scheme), escaped(&verdict.condition));
        let _ = write!(xml, "  <testcase classname=\"{scheme}\" name=\"not {condition}\"");
        if verdict.holds {
            let message = escaped(&verdict.to_string());
            let _ = writeln!(xml, ">\n    <failure message=\"{message}\"/>\n  </testcase>");
        } else {
            xml.push_str("/>\n");
        }
    }
    xml + "</testsuite>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(scheme: &str, seed: u64, value: f64) -> Summary {
        serde_json::from_value(serde_json::json!({
            "scheme": scheme, "trace": "t", "video": "v", "seed": seed, "duration_s": 1.0, "video_bitrate_bps": value,
            "wire_bitrate_bps": 0.0, "padding_bitrate_bps": 0.0, "frame_rate_fps": 0.0, "stall_ratio": 0.0,
            "packet_loss_ratio": 0.0, "tail_missing": 0, "events_fingerprint": "",
        }))
        .unwrap()
    }

    fn judged(text: &str) -> Result<Vec<(String, bool)>, String> {
        let runs = [summary("gcc", 1, 1e6), summary("gcc", 2, 2e6), summary("a:b", 1, 2e6), summary("a:b", 2, 2e6)];
        let condition: Condition = text.parse()?;
        let verdicts = condition.judge(&runs).map_err(|error| error.to_string())?;
        Ok(verdicts.into_iter().map(|verdict| (verdict.scheme, verdict.holds)).collect())
    }

    #[test]
    fn a_condition_is_about_the_mean_of_each_scheme_or_of_one() {
        let both = |a: bool, gcc: bool| Ok(vec![("a:b".to_string(), a), ("gcc".to_string(), gcc)]);
        assert_eq!(judged("video_bitrate_bps < 1600000"), both(false, true));
        assert_eq!(judged("video_bitrate_bps > 1e6"), both(true, true));
        assert_eq!(judged("a:b: video_bitrate_bps > 1e6"), Ok(vec![("a:b".into(), true)]));
        // By pairs: 2 and 1, so 1.5.
        assert_eq!(judged("ratio(video_bitrate_bps, gcc) < 1.4"), Ok(vec![("a:b".into(), false)]));
        assert_eq!(judged("ratio(video_bitrate_bps, gcc) < 1.6"), Ok(vec![("a:b".into(), true)]));
        assert_eq!(judged("difference(video_bitrate_bps, gcc) > 4e5"), Ok(vec![("a:b".into(), true)]));
    }

    #[test]
    fn what_cannot_be_judged_is_an_error_and_no_success() {
        for (text, word) in [
            ("latency_p95_ms", "neither"),
            ("latency_p95_ms > fast", "expected a number"),
            ("latency_p95_ms > nan", "expected a finite number"),
            ("latency_p59_ms > 2", "expected one of"),
            ("ratio(video_bitrate_bps) > 2", "no scheme"),
            ("latency_p95_ms > 200", "no run of a:b has latency_p95_ms"),
            ("nada: video_bitrate_bps > 2", "nada was not played"),
            ("gcc: ratio(video_bitrate_bps, nada) > 2", "nada was not played"),
        ] {
            let error = judged(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn junit_has_a_case_each_and_a_failure_where_the_condition_holds() {
        let runs = [summary("gcc", 1, 1e6), summary("a\"b", 1, 2e6)];
        let condition: Condition = "video_bitrate_bps < 1500000".parse().unwrap();
        let xml = junit(&condition.judge(&runs).unwrap());
        assert!(xml.contains("tests=\"2\" failures=\"1\"") && xml.contains("classname=\"a&quot;b\""), "{xml}");
        assert!(xml.contains("<failure message=\"gcc: video_bitrate_bps &lt; 1500000 (1000000.0000)\"/>"), "{xml}");
    }
}
