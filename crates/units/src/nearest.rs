//! The names that are nearest to one that nothing has.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// How alike two names must be to be suggested, 0 to 1: below it a suggestion is more often wrong than right.
const ALIKE: f64 = 0.75;
/// The most suggestions.
const MOST: usize = 3;

/// Those of `known` that were probably meant by `name`, each once and the best first; upper and lower case are the same.
fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let letters = |name: &str| name.chars().flat_map(char::to_lowercase).collect::<Vec<char>>();
    let name = letters(name);
    let mut near: Vec<(f64, &str)> = known.into_iter().map(|known| (likeness(&name, &letters(known)), known)).collect();
    near.retain(|(likeness, _)| *likeness >= ALIKE);
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut names = Vec::new();
    for (_, known) in near {
        if names.len() < MOST && !names.contains(&known) {
            names.push(known);
        }
    }
    names
}

/// Those names as a question to end an error with; empty if none is near.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let near = nearest(name, known);
    (!near.is_empty()).then(|| alloc::format!("did you mean {}?", near.join(" or ")))
}

/// A message of serde about a name that it does not know, such as "unknown field `a`, expected one of `b`, `c`", with the nearest
/// of the expected names instead of all of them; as it is where none is near.
pub fn with_nearest(message: &str) -> String {
    let shortened = || {
        let (head, rest) = message.split_once(", expected one of `")?;
        let name = head.rsplit('`').nth(1)?;
        let (list, tail) = rest.split_at(rest.find('\n').unwrap_or(rest.len()));
        let question = did_you_mean(name, list.split("`, `").map(|known| known.trim_end_matches('`')))?;
        Some(alloc::format!("{head}: {question}{tail}"))
    };
    shortened().unwrap_or_else(|| message.into())
}

/// Jaro's similarity, raised by Winkler's bonus for a common beginning: typing errors are seldom in the first letters.
fn likeness(a: &[char], b: &[char]) -> f64 {
    let jaro = jaro(a, b);
    let common = a.iter().zip(b).take(4).take_while(|(a, b)| a == b).count();
    if jaro > 0.7 { jaro + 0.1 * common as f64 * (1.0 - jaro) } else { jaro }
}

/// The share of letters that both have within half a length of each other, less half of those in another order.
fn jaro(a: &[char], b: &[char]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return f64::from(u8::from(a.len() == b.len()));
    }
    let reach = (a.len().max(b.len()) / 2).saturating_sub(1);
    let mut taken = vec![false; b.len()];
    let mut of_a = Vec::new();
    for (place, letter) in a.iter().enumerate() {
        let within = place.saturating_sub(reach)..(place + reach + 1).min(b.len());
        if let Some(found) = within.into_iter().find(|at| !taken[*at] && b[*at] == *letter) {
            taken[found] = true;
            of_a.push(letter);
        }
    }
    let of_b = b.iter().zip(&taken).filter(|(_, taken)| **taken).map(|(letter, _)| letter);
    let moved = of_a.iter().zip(of_b).filter(|(a, b)| **a != *b).count();
    let common = of_a.len() as f64;
    if of_a.is_empty() {
        return 0.0;
    }
    (common / a.len() as f64 + common / b.len() as f64 + (common - moved as f64 / 2.0) / common) / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_is_as_winklers_examples_have_it() {
        let letters = |name: &str| name.chars().collect::<Vec<char>>();
        for (a, b, expected) in [
            ("martha", "marhta", 0.9611),
            ("dixon", "dicksonx", 0.8133),
            ("dwayne", "duane", 0.84),
            ("gcc", "gcc", 1.0),
            ("gcc", "nada", 0.0),
            ("", "nada", 0.0),
        ] {
            let likeness = likeness(&letters(a), &letters(b));
            assert!((likeness - expected).abs() < 1e-4, "{a} {b}: {likeness}");
        }
    }

    #[test]
    fn a_message_of_serde_names_the_nearest_alone_if_there_is_one() {
        let message =
            |name: &str| alloc::format!("line 2\nunknown field `{name}`, expected one of `seed`, `name`, `video`\n");
        assert_eq!(with_nearest(&message("sed")), "line 2\nunknown field `sed`: did you mean seed?\n");
        assert_eq!(with_nearest(&message("zzz")), message("zzz"));
        assert_eq!(with_nearest("unknown field `a`"), "unknown field `a`");
    }

    #[test]
    fn the_nearest_names_are_suggested_and_nothing_if_none_is_near() {
        let known = ["gcc", "vidaptive", "vidaptive:rocc", "nada"];
        assert_eq!(nearest("vidaptve", known), ["vidaptive", "vidaptive:rocc"]);
        assert_eq!((nearest("gccc", known), nearest("NADO", known)), (vec!["gcc"], vec!["nada"]));
        assert_eq!(nearest("quic", known), [""; 0]);
        assert_eq!(did_you_mean("vidaptve", known).unwrap(), "did you mean vidaptive or vidaptive:rocc?");
    }
}
