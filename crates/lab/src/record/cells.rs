//! Events in columns: what the Parquet file and tables of other programs are made from.

use std::collections::BTreeMap;

use super::columns::COLUMNS;
use super::{Record, Row};

/// The cells of one column, one for each row.
#[derive(Debug, Clone, PartialEq)]
pub struct Cells {
    /// The values.
    pub values: Values,
    /// Which rows have a value; `None` for a column that every row has.
    pub present: Option<Vec<bool>>,
}

/// The values of a column; where a row has none it is 0, NaN for figures.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Whole numbers.
    Long(Vec<i64>),
    /// Small whole numbers.
    Int(Vec<i32>),
    /// Figures.
    Double(Vec<f64>),
    /// Words, each the number of an entry in a list.
    Words {
        /// The number of each row's word.
        numbers: Vec<i32>,
        /// The words, in order of appearance.
        words: Vec<&'static str>,
    },
}

/// The columns of these events, in the order of [`COLUMNS`].
pub fn cells<'a>(records: impl IntoIterator<Item = &'a Record>) -> [Cells; COLUMNS.len()] {
    let mut columns = Columns::default();
    records.into_iter().for_each(|record| columns.push(&Row::of(record)));
    let Columns { time_ns, flow, event, optional, value, what, why } = columns;
    let [packet, frame, picture, bytes, count, rate_bps, span_ns] = optional.map(|column| column.cells(Values::Long));
    let every = |values| Cells { values, present: None };
    let (time_ns, flow, value) = (every(Values::Long(time_ns)), every(Values::Int(flow)), value.cells(Values::Double));
    let [event, what, why] = [event, what, why].map(|column| every(column.values()));
    [time_ns, flow, event, packet, frame, picture, bytes, count, rate_bps, span_ns, value, what, why]
}

#[derive(Default)]
struct Columns {
    time_ns: Vec<i64>,
    flow: Vec<i32>,
    event: Words,
    /// From `packet` to `span_ns`.
    optional: [Optional<i64>; 7],
    value: Optional<f64>,
    what: Words,
    why: Words,
}

impl Columns {
    fn push(&mut self, row: &Row<'static>) {
        self.time_ns.push(row.time_ns as i64);
        self.flow.push(row.flow.into());
        self.event.push(row.event);
        let whole = |value: Option<u64>| value.map(|value| value as i64);
        let [packet, frame, picture] = [row.packet, row.frame, row.picture].map(whole);
        let [bytes, count, rate_bps] = [row.bytes, row.count, row.rate_bps].map(whole);
        let values = [packet, frame, picture, bytes, count, rate_bps, row.span_ns];
        self.optional.iter_mut().zip(values).for_each(|(column, value)| column.push(value, 0));
        self.value.push(row.value, f64::NAN);
        self.what.push(row.what);
        self.why.push(row.why);
    }
}

#[derive(Default)]
struct Optional<T> {
    values: Vec<T>,
    present: Vec<bool>,
}

impl<T> Optional<T> {
    fn push(&mut self, value: Option<T>, absent: T) {
        self.present.push(value.is_some());
        self.values.push(value.unwrap_or(absent));
    }

    fn cells(self, values: fn(Vec<T>) -> Values) -> Cells {
        Cells { values: values(self.values), present: Some(self.present) }
    }
}

#[derive(Default)]
struct Words {
    numbers: Vec<i32>,
    words: Vec<&'static str>,
    known: BTreeMap<&'static str, i32>,
}

impl Words {
    fn push(&mut self, word: &'static str) {
        let number = *self.known.entry(word).or_insert_with(|| {
            self.words.push(word);
            self.words.len() as i32 - 1
        });
        self.numbers.push(number);
    }

    fn values(self) -> Values {
        Values::Words { numbers: self.numbers, words: self.words }
    }
}
