//! Published results of a figure: numbers, and orders without numbers.
//!
//! The numbers are in `published/PAPER.csv`, a row for each:
//!
//! | column | content |
//! |---|---|
//! | figures | names of the figures here that it belongs to, in the order of its rows |
//! | link | the figure's link; empty for the mean over all |
//! | scheme | the scheme here that answers to it, or the paper's name of one that is not to be had |
//! | key | the quantity, as `--json` has it; its end is its unit (`_bps`, `_ms`, `_s`, `_db`), else a ratio or a count |
//! | value | the number in that unit |
//! | sigma | the printed standard deviation |
//! | claim | what it says of ours: empty for near, a share to be within, `>` or `<` for a bound, `elsewhere` |
//! | source | where it is printed |
//! | line | its line in the paper's file of the data set `published`; empty where the number is a reading of words, a mean of printed numbers, or from the authors' results |
//!
//! A test compares each line with the data set. Salsify's points of Figures 6a and 9 are from the authors' results
//! (excamera/salsify-results, graphs/paper; the scheme named New there is the conventional transport and codec), the 67 ms
//! of their apparatus subtracted; the coefficient of delay of its video call is printed as -6.39e-6 per ms, with which
//! 100 ms would be worth 0.01 dB, and read as -0.639 per second. Rebera's traces are not public, so
//! of its table II only the ratio of the filter's error to that of the best average is compared.

use std::sync::LazyLock;

/// A number the paper prints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    /// The link of the figure; `None` for the mean over all.
    pub link: Option<&'static str>,
    /// The scheme.
    pub scheme: &'static str,
    /// The key of a [`Reading`](super::Reading), or of a comparison with the first scheme (see [`compare`](super::compare)).
    pub key: &'static str,
    /// The value, in the unit of the key.
    pub value: f64,
    /// Its claim about our number.
    pub claim: Claim,
    /// The printed standard deviation.
    pub sigma: Option<f64>,
    /// Where it is printed.
    pub source: &'static str,
    /// Its line in the paper's file of the data set `published`.
    pub line: Option<usize>,
}

/// Claim of a published number about ours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Claim {
    /// Ours is within this share of it, or within the standard deviation that the paper prints.
    Within(f64),
    /// Ours is at least it.
    AtLeast,
    /// Ours is at most it.
    AtMost,
    /// A number of a sender that is not available: shown beside ours, and in no verdict.
    Elsewhere,
}

impl Claim {
    /// Within a tenth: what another encoder, video and random number generator may change.
    pub const NEAR: Claim = Claim::Within(0.1);
}

/// The papers' numbers, as described above.
const PRINTED: [&str; 6] = [
    include_str!("published/camel.csv"),
    include_str!("published/fbra.csv"),
    include_str!("published/gcc.csv"),
    include_str!("published/rebera.csv"),
    include_str!("published/salsify.csv"),
    include_str!("published/vidaptive.csv"),
];

/// The numbers of a figure.
pub(super) fn of(figure: &str) -> Vec<Published> {
    static ROWS: LazyLock<Vec<(Vec<&'static str>, Published)>> =
        LazyLock::new(|| PRINTED.iter().flat_map(|file| file.lines().skip(1)).map(row).collect());
    let is_its = |(figures, _): &&(Vec<&str>, Published)| figures.contains(&figure);
    ROWS.iter().filter(is_its).map(|(_, published)| *published).collect()
}

/// A row: its figures, and the number.
fn row(line: &'static str) -> (Vec<&'static str>, Published) {
    let number = |cell: &str| cell.parse::<f64>().unwrap_or_else(|error| panic!("'{cell}' in '{line}': {error}"));
    let some = |cell: &&str| !cell.is_empty();
    let cells = cells(line);
    let [figures, link, scheme, key, value, sigma, claim, source, place] = cells[..] else {
        panic!("{} cells in '{line}': expected 9", cells.len())
    };
    let claim = match claim {
        "" => Claim::NEAR,
        ">" => Claim::AtLeast,
        "<" => Claim::AtMost,
        "elsewhere" => Claim::Elsewhere,
        share => Claim::Within(number(share)),
    };
    let sigma = Some(sigma).filter(some).map(number);
    let place = Some(place).filter(some).map(|place| number(place) as usize);
    let link = Some(link).filter(some);
    (
        figures.split(' ').collect(),
        Published { link, scheme, key, value: number(value), claim, sigma, source, line: place },
    )
}

/// The cells of a line of comma-separated values (RFC 4180).
fn cells(line: &'static str) -> Vec<&'static str> {
    let (mut cells, mut rest) = (Vec::new(), line);
    loop {
        let end = match rest.strip_prefix('"') {
            Some(quoted) => {
                let is_end = |at: &usize| !quoted[..*at].ends_with('"') && !quoted[at + 1..].starts_with('"');
                let mark = quoted.match_indices('"').map(|(at, _)| at).find(is_end);
                mark.unwrap_or_else(|| panic!("a quotation mark is open in '{line}'")) + 2
            }
            None => rest.find(',').unwrap_or(rest.len()),
        };
        let cell = &rest[..end];
        let inner = cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"'));
        cells.push(match inner {
            Some(text) if text.contains('"') => Box::leak(text.replace("\"\"", "\"").into_boxed_str()),
            Some(text) => text,
            None => cell,
        });
        let Some(next) = rest[end..].strip_prefix(',') else { return cells };
        rest = next;
    }
}

impl Published {
    /// Number of a scheme over all links that an order needs and the paper does not print.
    pub const fn asked(scheme: &'static str, key: &'static str) -> Published {
        Published { link: None, scheme, key, value: f64::NAN, claim: Claim::NEAR, sigma: None, source: "", line: None }
    }

    /// Returns true if `ours` is as the paper claims.
    pub fn holds(&self, ours: f64) -> bool {
        match self.claim {
            Claim::Within(share) => {
                (ours - self.value).abs() <= (self.value.abs() * share).max(self.sigma.unwrap_or(0.0))
            }
            Claim::AtLeast => ours >= self.value,
            Claim::AtMost => ours <= self.value,
            Claim::Elsewhere => false,
        }
    }
}

/// An order of schemes that a paper states or draws, without printing the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// The key of the number.
    pub key: &'static str,
    /// The schemes, from the highest value to the lowest.
    pub falling: &'static [&'static str],
}

#[cfg(test)]
impl Published {
    /// A number without a deviation, which ours should be near.
    pub(super) fn new(link: Option<&'static str>, scheme: &'static str, key: &'static str, value: f64) -> Published {
        Published { link, value, source: "text", ..Published::asked(scheme, key) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_may_have_commas_and_quotation_marks() {
        assert_eq!(cells(r#"a,"b, c",,"d ""e"", f",1"#), ["a", "b, c", "", "d \"e\", f", "1"]);
    }

    #[test]
    fn every_row_is_read_and_belongs_to_a_figure_that_there_is() {
        let names: Vec<&str> = crate::figures().into_iter().map(|figure| figure.name).collect();
        let rows: Vec<_> = PRINTED.iter().flat_map(|file| file.lines().skip(1)).map(row).collect();
        assert_eq!(rows.len(), 779);
        for (figures, published) in rows {
            assert!(figures.iter().all(|figure| names.contains(figure)), "{figures:?}");
            assert!(published.value.is_finite() && !published.source.is_empty(), "{published:?}");
        }
    }
}
