//! Columns of numbers without a header: a time, and a rate at it, as in the cooked traces of Pensieve, Puffer and Oboe.
//! Nothing in such a file says its units; where the numbers leave them open, both readings are refused with the option
//! that chooses.

use thalweg_netsim::TraceError;
use thalweg_units::Span;

use crate::error::ReadError;
use crate::format::Format;
use crate::hold::Hold;
use crate::options::ReadOptions;
use crate::reader::{File, Reader, Reading, lines, numbers};
use crate::rows::{FARTHEST_MS, NOT_LATE, Points, Row, Wrong, mean, median};
use crate::steps::{self, Steps};
use crate::unit::{RateUnit, TimeUnit};

pub(crate) const READER: Reader = Reader {
    format: Format::Columns,
    options: &["column", "unit", "time-unit", "hold", "gaps", "gap"],
    is: |file| {
        let text = file.text()?;
        let first = text.lines().find_map(numbers);
        Ok(first.is_some_and(|fields| fields.len() > 1) && !is_counter(&text))
    },
    read,
};

/// Returns true if the first of two columns counts seconds: 0, 1, 2, ...
pub(crate) fn is_counter(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).enumerate();
    lines.all(|(number, line)| {
        let mut fields = line.split_whitespace();
        let first = fields.next().and_then(|field| field.parse::<f64>().ok());
        first == Some(number as f64) && fields.count() == 1
    })
}

/// Texts of a failed measurement that are not read as a number that is none.
const MISSING: [&str; 4] = ["-", "na", "n/a", "null"];

/// The columns' contents, before their units are known.
struct Table {
    /// The column of rates, from 1.
    column: usize,
    /// Rows with their times in the file's own unit.
    rows: Vec<Row>,
    missing: usize,
}

fn read(file: File<'_>, options: &ReadOptions) -> Result<Reading, ReadError> {
    let text = file.text()?;
    let lines = lines(&text);
    let Table { column, mut rows, missing } = table(&lines, options)?;
    let is_paired = is_paired(&rows);
    let time_unit = match options.time_unit {
        Some(unit) => unit,
        None => time_unit(&rows, is_paired)?,
    };
    rows.iter_mut().for_each(|row| row.millis *= time_unit.seconds() * 1e3);
    let wrong = |index: usize, wrong: Wrong| {
        let line = lines.get(index).map_or((0, ""), |(number, line)| (*number, *line));
        match wrong {
            Wrong::Falls => ReadError::line(line.0, line.1, "no earlier than the row before it"),
            Wrong::IsLate => ReadError::line(line.0, line.1, NOT_LATE),
            Wrong::IsAlone => ReadError::unclear(
                "all its rows have one time in the first column: take that column out to read one rate a second",
            ),
        }
    };
    let points = Points::new(&rows, options, wrong)?;
    let hold = options.hold.unwrap_or_else(|| points.hold());
    let values = points.steps(hold, options);
    let (unit, why) = match options.unit {
        Some(unit) => (unit, ""),
        None => rate_unit(mean(&values), column, time_unit, is_paired)?,
    };
    let mut notes = vec![format!(
        "times from column 1 in {time_unit}, rates from column {column} in {unit}{why}, each {}",
        held(hold)
    )];
    if options.unit.is_none() || options.time_unit.is_none() {
        notes.push("no header names the units: :time-unit= and :unit= say them".into());
    }
    if missing > 0 {
        notes.push(format!("{missing} rows have no rate: the rate before them holds"));
    }
    notes.extend(points.notes(&values, hold, options)?);
    notes.extend(other_reading(&points, hold, &values, unit, options));
    Ok(Reading::new(Format::Columns, steps::trace(in_unit(values, unit, column)?, options)?, notes))
}

fn held(hold: Hold) -> &'static str {
    if hold == Hold::Before { "up to its row" } else { "from its row on" }
}

/// The note of how much the mean would differ if rates held on the other side of their rows, unless that is little.
fn other_reading(
    points: &Points,
    hold: Hold,
    values: &Steps<f64>,
    unit: RateUnit,
    options: &ReadOptions,
) -> Option<String> {
    let (mine, other) = (mean(values), mean(&points.steps(hold.other(), options)));
    let apart = other / mine - 1.0;
    let rate = unit.rate(other).filter(|_| apart.abs() >= 0.02)?;
    let (side, mbps, percent) = (held(hold.other()), rate.as_mbps_f64(), apart * 100.0);
    Some(format!("{side} the mean would be {mbps:.4} Mbps ({percent:+.1} %): :hold={}", hold.other()))
}

fn in_unit(values: Steps<f64>, unit: RateUnit, column: usize) -> Result<Steps, ReadError> {
    let rate = |(millis, value): (u64, Option<f64>)| match value.map(|value| unit.rate(value)) {
        Some(None) => Err(ReadError::unclear(format!(
            "invalid rate {} in column {column}: expected 0 to 100 Gbps, in {unit}",
            value.unwrap_or_default()
        ))),
        rate => Ok((millis, rate.flatten())),
    };
    values.into_iter().map(rate).collect()
}

/// The rows of a text, with the column that is asked for or the only one.
fn table(lines: &[(usize, &str)], options: &ReadOptions) -> Result<Table, ReadError> {
    let width = lines.first().map_or(0, |(_, line)| line.split_whitespace().count());
    if width < 2 {
        return Err(TraceError::Empty.into());
    }
    let column = match &options.column {
        Some(column) => column.parse().ok().filter(|column| (2..=width).contains(column)).ok_or_else(|| {
            ReadError::unclear(format!(
                "column '{column}': without a header it is a number, 2 to {width}; 1 is the time"
            ))
        })?,
        None if width == 2 => 2,
        None => return Err(several(lines, width)),
    };
    let (mut rows, mut missing, mut latest) = (Vec::new(), 0, 0.0);
    for (number, line) in lines {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let time = fields.first().and_then(|field| field.parse::<f64>().ok()).filter(|time| time.is_finite());
        let field = fields.get(column - 1).map_or(String::new(), |field| field.to_lowercase());
        let rate = match field.parse::<f64>() {
            Ok(rate) if rate.is_nan() => None,
            Err(_) if MISSING.contains(&&*field) => None,
            Ok(rate) if rate.is_finite() && rate >= 0.0 => Some(rate),
            _ => Some(f64::NAN),
        };
        let (Some(time), false, true) = (time, rate.is_some_and(f64::is_nan), fields.len() == width) else {
            let rule =
                format!("a time and {}, 0 or more, as in '12.5 34.5'", if width == 2 { "a rate" } else { "rates" });
            return Err(ReadError::line(*number, line, rule));
        };
        missing += usize::from(rate.is_none());
        latest = rate.unwrap_or(latest);
        rows.push(Row { millis: time, rate: latest });
    }
    Ok(Table { column, rows, missing })
}

/// The refusal of columns of which several may be the rates.
fn several(lines: &[(usize, &str)], width: usize) -> ReadError {
    /// Columns that are described.
    const FEW: usize = 8;
    let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); width];
    for fields in lines.iter().filter_map(|(_, line)| numbers(line)) {
        for (range, value) in ranges.iter_mut().zip(fields) {
            *range = (range.0.min(value), range.1.max(value));
        }
    }
    let described = (2..).zip(ranges.iter().skip(1)).take(FEW);
    let described: Vec<String> = described.map(|(at, (min, max))| format!(":column={at} ({min} to {max})")).collect();
    ReadError::unclear(format!(
        "{width} columns of numbers without a header, of which the first is the time: choose the rates with {}",
        described.join(" or ")
    ))
}

/// Returns true if rows come in pairs of one rate at whole numbers, the beginning and the end of a download: Oboe's
/// traces, in milliseconds and kbps.
fn is_paired(rows: &[Row]) -> bool {
    let is_even = rows.len() >= 4 && rows.len().is_multiple_of(2);
    let is_pair = |pair: &[Row]| pair[0].rate == pair[1].rate && pair.iter().all(|row| row.millis.fract() == 0.0);
    // A constant rate is in pairs too.
    is_even && rows.chunks_exact(2).all(is_pair) && rows.iter().any(|row| row.rate != rows[0].rate)
}

/// Seconds that the usual step of a log has less than, of whatever form.
const SHORT_STEP: f64 = 20.0;
/// Seconds from which on a step is one of milliseconds.
const LONG_STEP: f64 = 100.0;

/// The unit of times of which nothing is said.
fn time_unit(rows: &[Row], is_paired: bool) -> Result<TimeUnit, ReadError> {
    let (first, last) = (rows.first().map_or(0.0, |row| row.millis), rows.last().map_or(0.0, |row| row.millis));
    // Of a day between 2001 and 2096.
    for (unit, least) in
        [(TimeUnit::Seconds, 1e9), (TimeUnit::Millis, 1e12), (TimeUnit::Micros, 1e15), (TimeUnit::Nanos, 1e18)]
    {
        if (least..4.0 * least).contains(&first) {
            return Ok(unit);
        }
    }
    let mut steps: Vec<f64> = rows.windows(2).map(|pair| pair[1].millis - pair[0].millis).collect();
    steps.retain(|step| *step > 0.0);
    let usual = median(&steps).unwrap_or(1.0);
    let same = steps.iter().filter(|step| (**step / usual - 1.0).abs() < 1e-3).count();
    if usual >= LONG_STEP || last - first > FARTHEST_MS as f64 / 1e3 || (is_paired && usual >= SHORT_STEP) {
        return Ok(TimeUnit::Millis);
    }
    if usual < SHORT_STEP || same * 10 >= steps.len() * 9 {
        return Ok(TimeUnit::Seconds);
    }
    let lasts = |unit: TimeUnit| Span::from_secs_f64((last - first) * unit.seconds());
    Err(ReadError::unclear(format!(
        "the times of the first column have no unit: as seconds they last {}, in ms {}: say :time-unit=s or :time-unit=ms",
        lasts(TimeUnit::Seconds),
        lasts(TimeUnit::Millis)
    )))
}

/// The unit of rates of this mean of which nothing is said, and why it is that.
pub(crate) fn rate_unit(
    mean: f64,
    column: usize,
    times: TimeUnit,
    is_paired: bool,
) -> Result<(RateUnit, &'static str), ReadError> {
    // No recording by the second has a mean of 1 Gbps; the fastest of 220 cooked traces of 5G has 906 Mbps.
    let (surely_mbps, surely_kbps) = if times == TimeUnit::Seconds { (1e3, f64::INFINITY) } else { (50.0, 1e3) };
    match mean {
        _ if is_paired && times == TimeUnit::Millis => {
            Ok((RateUnit::KBPS, " (rows in pairs of one rate, as Oboe's traces)"))
        }
        _ if mean < surely_mbps => Ok((RateUnit::MBPS, "")),
        _ if mean >= surely_kbps => Ok((RateUnit::KBPS, " (times are not in s, and the mean as Mbps is above 1 Gbps)")),
        _ => Err(ReadError::unclear(format!(
            "the rates of column {column} have no unit: as Mbps their mean is {:.4} Gbps, as kbps {:.4} Mbps: say \
             :unit=Mbps or :unit=kbps",
            mean / 1e3,
            mean / 1e3
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, name: &str) -> Result<Reading, String> {
        let options: ReadOptions = name.parse()?;
        crate::read::read(text.as_bytes(), "link", &options).map_err(|error| error.to_string())
    }

    /// Seconds, Mbps of all that passes, and all notes.
    fn read(text: &str, options: &str) -> Result<(f64, f64, String), String> {
        let Reading { trace, format, notes, .. } = of(text, options)?;
        assert_eq!(format, Format::Columns, "{text}");
        Ok((trace.period().as_secs_f64(), trace.mean_rate().as_mbps_f64(), notes.join("; ")))
    }

    fn assert_is(text: &str, options: &str, seconds: f64, mbps: f64) -> String {
        let got = read(text, options).unwrap_or_else(|error| panic!("{text}{options}: {error}"));
        // A packet may be added at the end.
        assert!((got.0 - seconds).abs() < 5e-4, "{text}{options}: {got:?}");
        assert!((got.1 - mbps).abs() <= 0.0005 * mbps + 0.012 / seconds, "{text}{options}: {got:?}");
        got.2
    }

    // Downloads that end at their rows: (0.5 x 2 + 1 x 4 + 2.5 x 1) / 4; a schedule: (10 x 1 + 3 x 5) / 13; logs each
    // 5 s that begin late: the mean of four; milliseconds: (24 x 1936.5 + 751 x 1936.5 + 49 x 1963.2 + 634 x 1963.2 +
    // 575 x 2010) / 2033 kbps.
    const ENDS: &str = "0.5 2.0\n1.5 4.0\n4.0 1.0\n";
    const SCHEDULE: &str = "0.0 1.0\n10.0 5.0\n11.0 5.0\n12.0 5.0\n";
    const LATE: &str = "1480.0\t0.48\n1485.0\t0.52\n1490.0\t0.58\n1495.0\t0.58\n";
    const MILLIS: &str = "24.0 1936.5\n775.0 1936.5\n824.0 1963.2\n1458.0 1963.2\n2033.0 2010.0\n";

    #[test]
    fn the_first_column_is_time_and_rates_hold_on_the_side_that_the_file_shows() {
        let notes = assert_is(ENDS, "", 4.0, 1.875);
        assert!(notes.contains("times from column 1 in s") && notes.contains("in Mbps, each up to its row"), "{notes}");
        // From the rows on (1 x 2 + 2.5 x 4 + 2.5 x 1) / 6: 2.4167.
        assert!(notes.contains("from its row on the mean would be 2.4167 Mbps (+28.9 %): :hold=after"), "{notes}");
        assert_is(ENDS, "hold=after", 6.0, 14.5 / 6.0);
        let notes = assert_is(SCHEDULE, "", 13.0, 25.0 / 13.0);
        assert!(notes.contains("from its row on") && notes.contains(":hold=before"), "{notes}");
        assert_is(SCHEDULE, "hold=before", 12.0, 5.0);
        assert_is(LATE, "", 20.0, 0.54);
        let notes = assert_is(MILLIS, "", 2.033, 1.9655);
        assert!(notes.contains("in ms, rates from column 2 in kbps"), "{notes}");
        assert_is("2.5 3.0\n", "unit=Mbps", 1.0, 3.0);
        assert_is(&format!("# a bus\n\n{ENDS}\n"), "", 4.0, 1.875);
        // What is behind the cut may be at any time.
        assert_is("1 3\n2.5 4\n1e9 2\n1e171 3\n", "@1s-2s", 1.0, 2.0);
        assert_is(ENDS, "@1s-3s", 2.0, (0.5 * 4.0 + 1.5) / 2.0);
    }

    #[test]
    fn times_are_read_in_the_unit_they_have_or_are_said_to_have() {
        for (first, step, options) in [
            ("1600000000", 1.0, ""),
            ("1600000000000", 1e3, ""),
            ("1600000000000000", 1e6, ""),
            ("0.25", 1e3, "time-unit=ms"),
            ("5000", 1e6, "time-unit=us"),
        ] {
            let first: f64 = first.parse().unwrap();
            let text: String =
                (0..10).map(|row| format!("{} {}\n", first + step * f64::from(row), 1 + row % 2)).collect();
            let seconds = if first > 1e9 { 10.0 } else { 9.0 + first / step };
            let got = read(&text, options).unwrap();
            assert!((got.0 - seconds).abs() < 1.1e-3, "{text}{options}: {got:?}");
        }
        let uneven = "0 2\n31 3\n60 2\n93 3\n150 3\n";
        let error = read(uneven, "").unwrap_err();
        assert!(
            ["they last 150s", "in ms 150ms", ":time-unit=s or :time-unit=ms"].iter().all(|w| error.contains(w)),
            "{error}"
        );
        assert_is(uneven, "time-unit=s", 183.0, (31.0 * 2.0 + 29.0 * 3.0 + 33.0 * 2.0 + 90.0 * 3.0) / 183.0);
        // Each 60 s are seconds, each 200 are not.
        let even = |step: u32| (0..6).map(|row| format!("{} {}\n", step * row, 2 + row % 2)).collect::<String>();
        assert_is(&even(60), "", 360.0, 2.5);
        assert_is(&even(200), "", 1.2, 2.5);
    }

    #[test]
    fn rates_are_read_in_the_unit_they_can_only_have_and_else_both_readings_are_refused() {
        // Beginning and end of each download, in kbps below 1000 as well: (100 x 300 + 400 x 300 + 50 x 600 + 450 x 600) / 1000.
        let pairs = "100 300\n500 300\n550 600\n1000 600\n";
        let notes = assert_is(pairs, "", 1.0, 0.45);
        assert!(notes.contains("in ms, rates from column 2 in kbps (rows in pairs"), "{notes}");
        // A schedule in seconds with both ends of each rate, and a constant rate, are no such pairs.
        assert_is("0 2\n9 2\n10 5\n15 5\n", "", 20.0, (10.0 * 2.0 + 10.0 * 5.0) / 20.0);
        assert_is("200 8\n500 8\n900 8\n1200 8\n", "", 1.2, 8.0);
        for (text, words) in [
            ("0 1500\n2 1600\n4 1700\n", ["1.6000 Gbps", "1.6000 Mbps"]),
            ("0 300\n200 310\n400 320\n600 330\n", ["0.3150 Gbps", "0.3150 Mbps"]),
            ("0 1500\n1 1600\n2 1700\n", ["1.6000 Gbps", "1.6000 Mbps"]),
        ] {
            let error = of(text, "").unwrap_err();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
            assert!(error.contains(":unit=Mbps or :unit=kbps"), "{error}");
            assert!(of(text, "unit=kbps").is_ok() && of(text, "unit=Mbps").is_ok(), "{text}");
        }
        let error = of(&"47286.0\n".repeat(30), "").unwrap_err();
        assert!(error.contains("47.286 Gbps") && error.contains("47286 bytes"), "{error}");
    }

    #[test]
    fn rows_of_one_time_are_averaged_and_a_long_log_whose_slow_rows_took_long_holds_backwards() {
        // (10 + 20) / 2 for 1 s, 30 for the usual second.
        let notes = assert_is("0.0 10\n0.0002 20\n1 30\n", "", 2.0, 22.5);
        assert!(notes.contains("1 rows have the time"), "{notes}");
        // Downloads of 4 Mbit each, the first of which begins at 0: 19 x 4 Mbit; the row at 0 covers no time.
        let (mut at, mut text, mut rate) = (0.0, String::from("0 4\n"), 0);
        for row in 0..19 {
            rate = 1 + row % 4;
            at += 4.0 / f64::from(rate);
            text += &format!("{at} {rate}\n");
        }
        let notes = assert_is(&text, "", at, 76.0 / at);
        assert!(rate > 0 && notes.contains("each up to its row"), "{notes}");
        // States at times that do not depend on them hold from their rows on.
        let states: String = (0..20).map(|row| format!("{} {}\n", row * 2, 1 + row % 3)).collect();
        let notes = assert_is(&states, "", 40.0, 1.95);
        assert!(notes.contains("each from its row on"), "{notes}");
    }

    #[test]
    fn columns_that_leave_a_choice_or_are_wrong_are_refused_with_the_row_and_the_option() {
        let three = "0.5 2.0 7\n1.5 4.0 7\n4.0 1.0 8\n";
        let error = of(three, "").unwrap_err();
        assert!(error.contains(":column=2 (1 to 4) or :column=3 (7 to 8)"), "{error}");
        assert_is(three, "column=2", 4.0, 1.875);
        for (text, options, words) in [
            (three, "column=4", "2 to 3"),
            (three, "column=rate", "it is a number"),
            ("0.5 2\n1.5\n", "", "line 2 is '1.5', must be a time and a rate"),
            ("0.5 2\n1.5 -1\n", "", "line 2 is '1.5 -1'"),
            ("0.5 2\n1.5 inf\n", "", "line 2 is '1.5 inf'"),
            ("0.5 2\n1.5 2\n1.2 2\n", "", "line 3 is '1.2 2', must be no earlier"),
            ("# x\n0.5 2\n1.5 2\n1e13 2\n", "", "line 4 is '1e13 2', must be at most 31 days"),
            ("5.5 2\n5.5 3\n", "", "one time in the first column"),
            ("0.5 2e9\n1.5 2e9\n", "unit=Mbps", "0 to 100 Gbps"),
            ("0.5 0\n1.5 0\n", "", "do not carry one packet"),
        ] {
            let error = of(text, options).unwrap_err();
            assert!(error.contains(words), "{text:?}: {error}");
        }
        let notes = assert_is("0.5 2\n1 nan\n1.5 2\n", "", 1.5, 2.0);
        assert!(notes.contains("1 rows have no rate"), "{notes}");
    }
}
