//! Paths of SVG in whole units, relative: most differences are of one or two digits, and a page has half a million.

use std::fmt::Write;

/// A line through values that are `step` apart, beginning at `from`; it has gaps where there is no value.
pub(super) fn line(from: f64, step: usize, values: impl Iterator<Item = Option<i64>>) -> String {
    let mut path = String::new();
    let mut before = None;
    for (place, value) in values.enumerate() {
        match (value, before) {
            (Some(value), Some(last)) => relative(&mut path, step as i64, value - last),
            (Some(value), None) => {
                let _ = write!(path, "M{} {value}l0 0", from + (place * step) as f64);
            }
            (None, _) => {}
        }
        before = value;
    }
    path
}

/// The area between two lines through values that are 1 apart, beginning at `from`.
pub(super) fn band(from: f64, ends: &[Option<(i64, i64)>]) -> String {
    let mut path = String::new();
    let mut place = 0;
    for piece in ends.split(Option::is_none) {
        let piece: Vec<(i64, i64)> = piece.iter().flatten().copied().collect();
        if let (Some(first), Some(last)) = (piece.first(), piece.last()) {
            let _ = write!(path, "M{} {}l0 0", from + place as f64, first.1);
            piece.windows(2).for_each(|two| relative(&mut path, 1, two[1].1 - two[0].1));
            relative(&mut path, 0, last.0 - last.1);
            piece.windows(2).rev().for_each(|two| relative(&mut path, -1, two[0].0 - two[1].0));
            path.push('z');
        }
        place += piece.len() + 1;
    }
    path
}

/// Level pieces, each from one time to another at a value.
pub(super) fn levels(pieces: impl Iterator<Item = (f64, f64, i64)>) -> String {
    let mut path = String::new();
    let mut end = None;
    for (from, until, value) in pieces {
        let _ = match end == Some(from) {
            true => write!(path, "V{value}H{until}"),
            false => write!(path, "M{from} {value}H{until}"),
        };
        end = Some(until);
    }
    path
}

/// A minus sign separates numbers as well as a space does.
fn relative(path: &mut String, x: i64, y: i64) {
    for number in [x, y] {
        let separator = if number < 0 { "" } else { " " };
        let _ = write!(path, "{separator}{number}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_relative_and_break_where_there_is_nothing() {
        let values = [Some(10), Some(7), Some(9), None, Some(5)];
        assert_eq!(line(0.5, 1, values.into_iter()), "M0.5 10l0 0 1-3 1 2M4.5 5l0 0");
        assert_eq!(line(3.0, 2, [Some(1), Some(1)].into_iter()), "M3 1l0 0 2 0");
        assert_eq!(line(0.5, 1, [None, None].into_iter()), "");
    }

    #[test]
    fn a_band_goes_there_at_its_upper_ends_and_back_at_its_lower() {
        assert_eq!(band(0.5, &[Some((9, 4)), Some((8, 2))]), "M0.5 4l0 0 1-2 0 6-1 1z");
        assert_eq!(band(0.5, &[None, Some((9, 4))]), "M1.5 4l0 0 0 5z");
    }

    #[test]
    fn levels_that_meet_are_one_step() {
        assert_eq!(levels([(0.0, 40.0, 9), (40.0, 60.0, 4), (70.0, 99.0, 4)].into_iter()), "M0 9H40V4H60M70 4H99");
    }
}
