//! Ratios from a file.

use thalweg_units::{ConfigError, Time, check};

use super::check_ratio;

/// The accepted forms of a line.
const LINE: &str = "a time in seconds and a ratio, such as 30 0.6, or a ratio alone on every line, one a second";
/// Max time in seconds: 31 years, far below the last representable nanosecond.
const LONGEST_S: f64 = 1e9;

/// The ratio from each time on, read from a file.
pub(super) fn read(name: &str) -> Result<Vec<(Time, f64)>, ConfigError> {
    let text = std::fs::read_to_string(name).map_err(|error| {
        let range = "none, a ratio such as 0.6, a window such as 0.6@30s-60s, ios, android, or a file that can be read";
        ConfigError::out_of_range("undershoot", format!("'{name}' ({error})"), range)
    })?;
    parse(&text, name)
}

fn parse(text: &str, name: &str) -> Result<Vec<(Time, f64)>, ConfigError> {
    let mut steps: Vec<(Time, f64)> = Vec::new();
    let mut timed = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let place = |of: &str| format!("{name} line {number}: {of}");
        let fields = line.split(|c: char| c == ',' || c.is_whitespace()).filter(|field| !field.is_empty());
        let fields: Option<Vec<f64>> = fields.map(|field| field.parse().ok()).collect();
        let (time, ratio) = match fields.as_deref() {
            Some([ratio]) if timed != Some(true) => (steps.len() as f64, *ratio),
            Some([time, ratio]) if timed != Some(false) => (*time, *ratio),
            _ => return Err(ConfigError::out_of_range(&place("it"), format!("'{line}'"), LINE)),
        };
        timed = timed.or_else(|| fields.map(|fields| fields.len() == 2));
        check(&place("the time"), time).is((0.0..=LONGEST_S).contains(&time), "0 to 1000000000 s")?;
        let from = Time::from_secs_f64(time);
        if let Some((before, _)) = steps.last() {
            let before_s = before.as_secs_f64();
            check(&place("the time"), time)
                .is(*before < from, format_args!("later than the {before_s} s of the line before"))?;
        }
        steps.push((from, check_ratio(&place("the ratio"), ratio)?));
    }
    check(name, "without a ratio").is(!steps.is_empty(), format_args!("lines, each {LINE}"))?;
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(steps: Vec<(Time, f64)>) -> Vec<(f64, f64)> {
        steps.into_iter().map(|(from, ratio)| (from.as_secs_f64(), ratio)).collect()
    }

    #[test]
    fn lines_are_times_and_ratios_or_one_ratio_a_second() {
        let timed = parse("# a telephone\n2.5 0.8\n\n12,0.55\n14.25\t1\n", "etr.txt").unwrap();
        assert_eq!(seconds(timed), [(2.5, 0.8), (12.0, 0.55), (14.25, 1.0)]);
        assert_eq!(seconds(parse("0.8\n0.55\n1", "etr.txt").unwrap()), [(0.0, 0.8), (1.0, 0.55), (2.0, 1.0)]);
    }

    #[test]
    fn a_bad_line_is_named_with_its_value_and_the_range() {
        for (text, words) in [
            ("0 0.8\n5 1.4\n", ["line 2", "1.4", "0.01 to 1"]),
            ("0.8\nhalf\n", ["line 2", "'half'", "one a second"]),
            ("0 0.8\n0.7\n", ["line 2", "'0.7'", "a time in seconds and a ratio"]),
            ("0.8\n1 0.7\n", ["line 2", "'1 0.7'", "a time in seconds and a ratio"]),
            ("# none\n5 0.8\n5 0.7", ["line 3", "time is 5", "later than the 5 s"]),
            ("-1 0.8", ["line 1", "time is -1", "0 to"]),
            ("nan 0.8", ["line 1", "time is NaN", "0 to"]),
            ("NaN", ["line 1", "ratio is NaN", "0.01 to 1"]),
            ("# nothing\n", ["etr.txt", "without a ratio", "0.6"]),
        ] {
            let message = parse(text, "etr.txt").unwrap_err().to_string();
            assert!(words.iter().all(|word| message.contains(word)), "{message}");
        }
    }
}
