//! Negative numbers on the command line.

use std::ffi::OsString;

/// `--seed -1` as `--seed=-1`. No option begins with a digit, so `-1` is a value, and the error should be about the
/// value instead of about an unknown option. What follows `--` belongs to another program.
pub(crate) fn as_values(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    let mut is_own = true;
    for argument in arguments {
        is_own &= argument != "--";
        match joined.last_mut() {
            Some(option) if is_own && is_negative(&argument) && is_long_option(option) => {
                option.push("=");
                option.push(argument);
            }
            _ => joined.push(argument),
        }
    }
    joined
}

fn is_negative(argument: &OsString) -> bool {
    let number = argument.to_str().and_then(|text| text.strip_prefix('-'));
    number.is_some_and(|number| number.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.'))
}

fn is_long_option(argument: &OsString) -> bool {
    argument.to_str().is_some_and(|text| text.starts_with("--") && text.len() > 2 && !text.contains('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_number_after_an_option_is_its_value() {
        let joined = |line: &str| {
            let joined = as_values(line.split(' ').map(OsString::from));
            joined.into_iter().map(|part| part.into_string().unwrap()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(joined("thalweg run x --seed -1 --delay -.5ms"), "thalweg run x --seed=-1 --delay=-.5ms");
        for unchanged in ["thalweg compare --json -o out", "thalweg --seed=1 -5", "thalweg shell -- ping --count -3"] {
            assert_eq!(joined(unchanged), unchanged);
        }
    }
}
