//! Seeds as text: `1..10`, `1,4,9`.

/// The most seeds of a range.
const MOST: u64 = 10_000;

/// The seeds of a number, a range such as `1..10`, whose ends both belong to it, or a list such as `1,4..6`.
///
/// # Errors
/// When it is none of these, has a seed twice, or a range has more than 10,000.
pub fn seeds(text: &str) -> Result<Vec<u64>, String> {
    let wrong = || {
        format!(
            "invalid seed '{text}': write a number, a range such as 1..10 (both ends played), or a list such as 1,4,9"
        )
    };
    let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
    let mut seeds = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            Some((from, to)) => {
                let (from, to) = (number(from)?, number(to)?);
                if from > to {
                    return Err(format!("invalid seed '{text}': the range ends before it begins: write {to}..{from}"));
                }
                if to - from >= MOST {
                    return Err(format!("invalid seed '{text}': a range has at most {MOST} seeds"));
                }
                seeds.extend(from..=to);
            }
            None => seeds.push(number(part)?),
        }
    }
    let mut sorted = seeds.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() < seeds.len() { Err(format!("'{text}' has a seed twice")) } else { Ok(seeds) }
}

#[cfg(test)]
mod tests {
    use super::seeds;

    #[test]
    fn seeds_are_numbers_ranges_and_lists() {
        assert_eq!(seeds("7"), Ok(vec![7]));
        assert_eq!(seeds("1..3"), Ok(vec![1, 2, 3]));
        assert_eq!(seeds("1,4..5, 9"), Ok(vec![1, 4, 5, 9]));
        for wrong in ["", "a", "3..1", "1..", "1,,2", "-1", "1..100000", "2,1..3"] {
            assert!(seeds(wrong).is_err(), "{wrong}");
        }
    }
}
