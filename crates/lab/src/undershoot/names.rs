//! The text form of an undershoot.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thalweg_units::{ConfigError, Seed, Span};

use super::{Drawn, Undershoot, Window};

/// The accepted forms.
const CHOICES: &str = "none, a ratio from 0.01 to 1 such as 0.6, windows such as 0.6@30s-60s,0.8@70s-, weighted ratios drawn every \
                       so often such as 0.6:1,1:3@12s, ios, android, or a file such as etr.txt or ./etr";

/// `0.6`, `0.6@30s-60s`, or `0.6@30s-` to the end.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Window { ratio, from: Span::ZERO, until: None } => write!(f, "{ratio}"),
            Window { ratio, from, until: None } => write!(f, "{ratio}@{from}-"),
            Window { ratio, from, until: Some(until) } => write!(f, "{ratio}@{from}-{until}"),
        }
    }
}

/// The form that [`FromStr`] reads: windows separated by commas, a preset by its name, ratios with their weights and
/// the block such as `0.6:1,1:3@12s`, or the file name.
impl fmt::Display for Undershoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let comma = |index: usize| if index == 0 { "" } else { "," };
        match self {
            Undershoot::None => f.write_str("none"),
            Undershoot::Windows(windows) => {
                windows.iter().enumerate().try_for_each(|(index, window)| write!(f, "{}{window}", comma(index)))
            }
            preset if *preset == Undershoot::ios() => f.write_str("ios"),
            preset if *preset == Undershoot::android() => f.write_str("android"),
            Undershoot::Drawn(Drawn { block, ratios }) => {
                for (index, (ratio, weight)) in ratios.iter().enumerate() {
                    write!(f, "{}{ratio}:{weight}", comma(index))?;
                }
                write!(f, "@{block}")
            }
            Undershoot::Recorded(name) => f.write_str(name),
        }
    }
}

impl FromStr for Undershoot {
    type Err = ConfigError;
    /// Reads the form that `Display` writes, ignoring case. A name with a slash is a file name, and so is one with
    /// letters and a point; the file is read when the undershoot is built.
    fn from_str(text: &str) -> Result<Undershoot, ConfigError> {
        let text = text.trim();
        if text.contains(['/', '\\']) {
            return Ok(Undershoot::Recorded(text.into()));
        }
        let read = match text.to_ascii_lowercase().as_str() {
            "none" => Undershoot::None,
            "ios" => Undershoot::ios(),
            "android" => Undershoot::android(),
            lower => match drawn(lower).or_else(|| windows(lower)) {
                Some(read) => read,
                None if is_file(text) => return Ok(Undershoot::Recorded(text.into())),
                None => return Err(ConfigError::out_of_range("undershoot", format!("'{text}'"), CHOICES)),
            },
        };
        read.build(Seed::default()).map(|_| read)
    }
}

/// Returns true if the text looks like a file name, and not like an attempt at a number.
fn is_file(text: &str) -> bool {
    text.contains('.') && text.contains(|c: char| c.is_alphabetic()) && !text.contains(['@', ',', ':'])
}

/// `0.6`, or `0.6@30s-60s,0.8@70s-`.
fn windows(text: &str) -> Option<Undershoot> {
    let window = |text: &str| {
        let Some((ratio, time)) = text.split_once('@') else { return text.parse().ok().map(Window::always) };
        let (from, until) = time.split_once('-')?;
        let until = if until.is_empty() { None } else { Some(until.parse().ok()?) };
        Some(Window { ratio: ratio.parse().ok()?, from: from.parse().ok()?, until })
    };
    text.split(',').map(window).collect::<Option<_>>().map(Undershoot::Windows)
}

/// `0.6:1,1:3@12s`.
fn drawn(text: &str) -> Option<Undershoot> {
    let (ratios, block) = text.rsplit_once('@')?;
    let weighted = |text: &str| {
        let (ratio, weight) = text.split_once(':')?;
        Some((ratio.parse().ok()?, weight.parse().ok()?))
    };
    let ratios = ratios.split(',').map(weighted).collect::<Option<_>>()?;
    Some(Undershoot::Drawn(Drawn { block: block.parse().ok()?, ratios }))
}

impl Serialize for Undershoot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Undershoot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Undershoot, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_name_of_the_documentation_is_read_and_written_again() {
        for text in [
            "none",
            "0.6",
            "1",
            "0.6@30s-60s",
            "0.6@30s-60s,0.8@60s-",
            "ios",
            "android",
            "0.6:1,1:3@12s",
            "etr.txt",
            "./etr",
        ] {
            assert_eq!(text.parse::<Undershoot>().unwrap().to_string(), text);
        }
        assert_eq!(" iOS ".parse(), Ok(Undershoot::ios()));
        assert_eq!(".6".parse(), Ok(Undershoot::always(0.6)));
        assert_eq!("0.4:10,0.55:15,0.7:25,0.85:25,1:25@12s".parse(), Ok(Undershoot::ios()));
    }

    #[test]
    fn what_cannot_be_read_says_what_can() {
        for text in ["", "iso", "0.6@", "0.6@30s", "0.6@30-60", "0.6:1@", "0.6:1", "60%", "0.6,,0.7"] {
            let message = text.parse::<Undershoot>().map(|read| read.to_string()).unwrap_err().to_string();
            assert!(message.contains(&format!("'{text}'")) && message.contains("0.6@30s-60s"), "{message}");
        }
        for (text, words) in [
            ("1.5", ["1.5", "0.01 to 1"]),
            ("0@30s-60s", ["is 0", "0.01 to 1"]),
            ("0.6@60s-30s", ["0.6@60s-30s", "ends after it begins"]),
            ("0.6@30s-60s,0.8@50s-70s", ["is 0.8@50s-70s", "after the end of the one before"]),
            ("0.6@30s-,0.8@50s-70s", ["is 0.8@50s-70s", "after the end of the one before"]),
            ("0.6@-30s", ["'0.6@-30s'", "ios"]),
            ("0.6:1,1:3@0s", ["block", "12s"]),
            ("0.6:0,1:0@12s", ["weights", "above 0"]),
            ("7:1@12s", ["is 7", "0.01 to 1"]),
        ] {
            let message = text.parse::<Undershoot>().map(|read| read.to_string()).unwrap_err().to_string();
            assert!(words.iter().all(|word| message.contains(word)), "{text}: {message}");
        }
    }

    fn undershoots() -> impl Strategy<Value = Undershoot> {
        let windows = proptest::collection::vec((0.01..=1.0, 0..100_000_000_000i64, 1..100_000_000_000i64), 1..5);
        let windows = (windows, any::<bool>()).prop_map(|(parts, open)| {
            let mut end = Span::ZERO;
            let window = |(ratio, pause, length)| {
                let from = end + Span::from_nanos(pause);
                end = from + Span::from_nanos(length);
                Window { ratio, from, until: Some(end) }
            };
            let mut windows: Vec<Window> = parts.into_iter().map(window).collect();
            if let (true, Some(last)) = (open, windows.last_mut()) {
                last.until = None;
            }
            Undershoot::Windows(windows)
        });
        let ratios = proptest::collection::vec((0.01..=1.0, 1..1000u32), 1..6);
        let drawn = (ratios, 1..100_000_000_000i64)
            .prop_map(|(ratios, block)| Undershoot::Drawn(Drawn { block: Span::from_nanos(block), ratios }));
        prop_oneof![windows, drawn, Just(Undershoot::None), Just(Undershoot::Recorded("runs/etr.txt".into()))]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_as_the_same(undershoot in undershoots()) {
            prop_assert_eq!(undershoot.to_string().parse::<Undershoot>(), Ok(undershoot.clone()));
            let text = serde_json::to_string(&undershoot).unwrap();
            prop_assert_eq!(serde_json::from_str::<Undershoot>(&text).unwrap(), undershoot);
        }

        #[test]
        fn no_text_is_a_panic(text in "[0-9.@:,s -]{0,20}") {
            let _ = text.parse::<Undershoot>();
        }
    }
}
