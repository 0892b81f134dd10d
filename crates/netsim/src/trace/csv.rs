//! Comma-separated values with a header: a column of times, a column of rates, and their units in the header.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use thalweg_units::Rate;

use super::options::ReadOptions;
use super::unit::{RateUnit, date, seconds_of};
use super::{Trace, TraceError};

/// Columns of public data sets whose names have no unit: the rate, its unit, and a column that only this data set has.
/// G-NetTrack Pro, which recorded the Irish data sets (Raca et al., MMSys 2018 and 2020, github.com/uccmisl/5Gdataset),
/// writes kbps; Lumos5G (Narayanan et al., IMC 2020) has Mbps.
const KNOWN: [(&str, RateUnit, &str); 3] = [
    ("DL_bitrate", RateUnit::KBPS, "NetworkMode"),
    ("UL_bitrate", RateUnit::KBPS, "NetworkMode"),
    ("Throughput", RateUnit::MBPS, "seq_num"),
];
/// Lumos5G's time: it has a row each second.
const KNOWN_SECONDS: &str = "seq_num";

/// First words of columns that are times.
const TIMES: [&str; 10] = ["time", "timestamp", "t", "ts", "elapsed", "second", "seconds", "sec", "s", "ms"];
/// Words of columns that are rates, if only they had a unit.
const RATES: [&str; 5] = ["rate", "bitrate", "throughput", "bandwidth", "capacity"];
/// What a measurement that failed looks like.
const MISSING: [&str; 6] = ["", "-", "nan", "na", "n/a", "null"];

/// A day, beyond which the unit of the times is more likely wrong than the recording that long.
const LONGEST_MS: u64 = 86_400_000;

/// Rates, each for a number of milliseconds.
pub(super) type Steps = Vec<(u64, Rate)>;

/// Reads a file.
///
/// # Errors
/// When it is unclear which columns to read, or a value is none.
pub(super) fn read(text: &str, options: &ReadOptions) -> Result<(Trace, Vec<String>), TraceError> {
    let (steps, notes) = steps(text, options)?;
    Ok((Trace::from_steps(steps, options.most_opportunities)?, notes))
}

/// The rates of a file, and what was read and how.
///
/// # Errors
/// As [`read`].
pub(super) fn steps(text: &str, options: &ReadOptions) -> Result<(Steps, Vec<String>), TraceError> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let (_, header) = lines.next().ok_or(TraceError::Empty)?;
    let delimiter = [',', ';', '\t'].into_iter().max_by_key(|of| header.matches(*of).count()).unwrap_or(',');
    let delimiter = Some(delimiter).filter(|of| header.contains(*of));
    let names: Vec<Cow<'_, str>> = fields(header, delimiter).ok_or_else(|| quote(1, header))?;
    if names.iter().all(|name| name.parse::<f64>().is_ok()) {
        let rule = "the names of the columns with their units, such as time_s,rate_mbps";
        return Err(TraceError::line(1, header, rule));
    }
    let rows: Vec<(usize, Vec<Cow<'_, str>>)> = lines
        .map(|(number, line)| Ok((number, fields(line, delimiter).ok_or_else(|| quote(number, line))?)))
        .collect::<Result<_, TraceError>>()?;
    let only = options.only.iter().map(|(name, value)| Ok((column(&names, name)?, value.trim())));
    let only: Vec<(usize, &str)> = only.collect::<Result<_, TraceError>>()?;
    let is_wanted =
        |row: &[Cow<'_, str>]| only.iter().all(|(at, value)| row.get(*at).is_some_and(|field| field == value));
    let rows: Vec<(usize, Vec<Cow<'_, str>>)> = rows.into_iter().filter(|(_, row)| is_wanted(row)).collect();
    if rows.is_empty() {
        return Err(unclear("no row to read: a header is followed by a row for each rate, and :NAME=VALUE keeps some"));
    }
    let (rate_at, unit) = rates(&names, options)?;
    let times = Times::of(&names, options, &rows)?;
    let (steps, missing) = steps_of(&rows, &names, (rate_at, unit), times)?;
    let mut notes = alloc::vec![format!(
        "rates from column '{}' in {unit}, times from column '{}'",
        names[rate_at], names[times.at]
    )];
    let longest = steps.iter().map(|(millis, _)| *millis).max().unwrap_or(0);
    let usual = usual(&steps);
    if longest > 5 * usual {
        notes.push(format!(
            "usually {usual} ms from row to row, at most {longest}: until a row, the rate before it holds"
        ));
    }
    if missing > 0 {
        notes.push(format!("{missing} rows have no rate: the rate before them holds"));
    }
    Ok((steps, notes))
}

/// The column of times: where, and seconds of its unit; `None` for dates.
#[derive(Debug, Clone, Copy)]
struct Times {
    at: usize,
    unit: Option<f64>,
}

impl Times {
    fn of(
        names: &[Cow<'_, str>],
        options: &ReadOptions,
        rows: &[(usize, Vec<Cow<'_, str>>)],
    ) -> Result<Times, TraceError> {
        let is_date = |at: usize| rows.iter().all(|(_, row)| row.get(at).is_some_and(|field| date(field).is_some()));
        if let Some(name) = &options.time {
            let at = column(names, name)?;
            let unit = words(name).last().and_then(|unit| seconds_of(unit)).unwrap_or(1.0);
            return Ok(Times { at, unit: (!is_date(at)).then_some(unit) });
        }
        let mut times = Vec::new();
        let mut unknown = None;
        for (at, name) in names.iter().enumerate() {
            let words = words(name);
            if !words.first().is_some_and(|first| TIMES.contains(&first.as_str())) {
                continue;
            }
            match words.last().and_then(|unit| seconds_of(unit)) {
                Some(unit) => times.push(Times { at, unit: Some(unit) }),
                None if is_date(at) => times.push(Times { at, unit: None }),
                None => unknown = Some((name, words)),
            }
        }
        if times.is_empty()
            && let Some(at) = names.iter().position(|name| name == KNOWN_SECONDS)
        {
            return Ok(Times { at, unit: Some(1.0) });
        }
        match (&times[..], unknown) {
            ([one], _) => Ok(*one),
            ([], Some((name, words))) => Err(unclear(format!(
                "column '{name}': {} s, ms, us, ns, or dates; name it time_s, or say :time={name} for seconds",
                match words.len() {
                    1 => "its unit is not in its name:".into(),
                    _ => format!("unknown unit of time '{}':", words[words.len() - 1]),
                }
            ))),
            ([], None) => Err(unclear(format!(
                "no column of times, such as time_s, timestamp_ms or dates, among {}; choose one of seconds with \
                 :time=NAME",
                listed(names)
            ))),
            (several, _) => Err(unclear(format!(
                "columns {} are times: choose one with :time={}",
                listed_at(names, several.iter().map(|times| times.at)),
                names[several[0].at]
            ))),
        }
    }

    /// Seconds of a field.
    fn read(self, field: &str) -> Option<f64> {
        match self.unit {
            Some(unit) => field.parse::<f64>().ok().map(|value| value * unit),
            None => date(field),
        }
        .filter(|seconds| seconds.is_finite())
    }
}

/// The column of rates, and its unit.
fn rates(names: &[Cow<'_, str>], options: &ReadOptions) -> Result<(usize, RateUnit), TraceError> {
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    let unit_of = |name: &str| {
        let known = KNOWN.iter().find(|(rate, _, beside)| *rate == name && has(beside));
        options.unit.or_else(|| RateUnit::ends(name)).or(known.map(|(_, unit, _)| *unit))
    };
    // Only a rate has a unit of rates; without one, a name may say that it is a rate.
    let says_rate = |name: &str| words(name).iter().any(|word| RATES.contains(&word.as_str()));
    if let Some(name) = &options.column {
        let at = column(names, name)?;
        return unit_of(name).map(|unit| (at, unit)).ok_or_else(|| without_unit(name));
    }
    let is_rate = |name: &str| match options.unit {
        Some(_) => RateUnit::ends(name).is_some() || says_rate(name),
        None => unit_of(name).is_some(),
    };
    let found: Vec<usize> = (0..names.len()).filter(|at| is_rate(&names[*at])).collect();
    match &found[..] {
        [at] => Ok((*at, unit_of(&names[*at]).unwrap_or_default())),
        [] => match names.iter().find(|name| says_rate(name)) {
            Some(name) => Err(without_unit(name)),
            None => Err(unclear(format!(
                "no column of rates with their unit, such as rate_mbps or throughput_kbps, among {}; choose one with \
                 :column=NAME,unit=kbps",
                listed(names)
            ))),
        },
        several => Err(unclear(format!(
            "columns {} are rates: choose one with :column={}",
            listed_at(names, several.iter().copied()),
            names[several[0]]
        ))),
    }
}

fn without_unit(name: &str) -> TraceError {
    let words = words(name);
    let problem = match words.last() {
        Some(last) if words.len() > 1 && !RATES.contains(&last.as_str()) => format!("unknown unit of rates '{last}'"),
        _ => "its unit is not in its name".into(),
    };
    unclear(format!(
        "column '{name}': {problem}: bps, kbps, Mbps, Gbps, or for bytes B/s, kB/s, MB/s; say :column={name},unit=kbps"
    ))
}

/// Each rate for the time to the next row, the last for the usual time between rows. Also how many rows had none.
fn steps_of(
    rows: &[(usize, Vec<Cow<'_, str>>)],
    names: &[Cow<'_, str>],
    (rate_at, unit): (usize, RateUnit),
    times: Times,
) -> Result<(Steps, usize), TraceError> {
    let mut points: Vec<(u64, Rate)> = Vec::new();
    let mut missing = 0;
    let mut start = None;
    for (number, row) in rows {
        let wrong = |at: usize, rule: String| {
            let field = row.get(at).map_or("", |field| field);
            TraceError::line(*number, field, format!("{rule} (column '{}')", names[at]))
        };
        let time = row.get(times.at).and_then(|field| times.read(field));
        let time = time.ok_or_else(|| wrong(times.at, "a time".into()))?;
        let millis = (time - *start.get_or_insert(time)) * 1e3;
        let before = points.last().map_or(0, |(at, _)| *at);
        if libm::round(millis) < before as f64 {
            let rule = format!(
                "no earlier than the row before it; if the file has several recordings, keep the rows of one with \
                 :{}=VALUE",
                names.iter().find(|name| name.starts_with("run")).map_or("NAME", |name| name)
            );
            return Err(wrong(times.at, rule));
        }
        if millis > LONGEST_MS as f64 {
            return Err(wrong(times.at, "at most a day after the first row: is its unit right?".into()));
        }
        let field = row.get(rate_at).map_or("", |field| field);
        let rate = if MISSING.contains(&field.to_lowercase().as_str()) {
            missing += 1;
            points.last().map_or(Rate::ZERO, |(_, rate)| *rate)
        } else {
            let rate = field.parse().ok().and_then(|value| unit.rate(value));
            rate.ok_or_else(|| wrong(rate_at, format!("a rate in {unit}, from 0 to 100 Gbps")))?
        };
        let at = libm::round(millis) as u64;
        // Of several rows with one time, the last counts.
        match points.last_mut() {
            Some(last) if last.0 == at => last.1 = rate,
            _ => points.push((at, rate)),
        }
    }
    if points.len() < 2 && rows.len() > 1 {
        return Err(unclear(format!(
            "column '{}' has the same time in every row: choose another with :time=NAME",
            names[times.at]
        )));
    }
    let mut steps: Steps = points.windows(2).map(|pair| (pair[1].0 - pair[0].0, pair[0].1)).collect();
    let last = usual(&steps).max(1);
    steps.extend(points.last().map(|(_, rate)| (if steps.is_empty() { 1000 } else { last }, *rate)));
    Ok((steps, missing))
}

/// The median time between rows.
fn usual(steps: &[(u64, Rate)]) -> u64 {
    let mut spans: Vec<u64> = steps.iter().map(|(millis, _)| *millis).collect();
    spans.sort_unstable();
    spans.get(spans.len() / 2).copied().unwrap_or(0)
}

fn column(names: &[Cow<'_, str>], wanted: &str) -> Result<usize, TraceError> {
    let found = names.iter().position(|name| name == wanted);
    found.ok_or_else(|| unclear(format!("no column '{wanted}': there are {}", listed(names))))
}

fn listed(names: &[Cow<'_, str>]) -> String {
    listed_at(names, 0..names.len())
}

fn listed_at(names: &[Cow<'_, str>], places: impl Iterator<Item = usize>) -> String {
    places.map(|at| format!("'{}'", names[at])).collect::<Vec<_>>().join(", ")
}

fn unclear(message: impl Into<String>) -> TraceError {
    TraceError::Unclear(message.into())
}

fn quote(number: usize, line: &str) -> TraceError {
    TraceError::line(number, line, "fields whose quotation marks are closed on the same line")
}

/// The words of a column's name, in lower case.
fn words(name: &str) -> Vec<String> {
    let words = name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The fields of a line, at white space if there is no delimiter; `None` if a quotation mark is not closed. A quotation
/// mark inside quotation marks is doubled (RFC 4180 section 2).
fn fields(line: &str, delimiter: Option<char>) -> Option<Vec<Cow<'_, str>>> {
    let Some(delimiter) = delimiter else { return Some(line.split_whitespace().map(Cow::Borrowed).collect()) };
    let (mut fields, mut rest) = (Vec::new(), line);
    loop {
        let quoted = rest.trim_start_matches([' ', '\t']).strip_prefix('"');
        let (field, after): (Cow<'_, str>, &str) = match quoted {
            None => {
                let end = rest.find(delimiter).unwrap_or(rest.len());
                (Cow::Borrowed(rest[..end].trim()), &rest[end..])
            }
            Some(quoted) => {
                let mut text = String::new();
                let mut left = quoted;
                loop {
                    let end = left.find('"')?;
                    text.push_str(&left[..end]);
                    left = &left[end + 1..];
                    match left.strip_prefix('"') {
                        Some(more) => {
                            text.push('"');
                            left = more;
                        }
                        None => break,
                    }
                }
                let end = left.find(delimiter).unwrap_or(left.len());
                if !left[..end].trim().is_empty() {
                    return None;
                }
                (Cow::Owned(text.trim().to_string()), &left[end..])
            }
        };
        fields.push(field);
        match after.strip_prefix(delimiter) {
            Some(next) => rest = next,
            None => return Some(fields),
        }
    }
}

impl Trace {
    /// Writes one rate a second as comma-separated values with the header `time_s,rate_mbps`.
    pub fn to_csv(&self) -> String {
        let mut text = String::from("time_s,rate_mbps\n");
        for (second, rate) in self.rates_by_second().iter().enumerate() {
            text.push_str(&format!("{second},{}\n", rate.as_mbps_f64()));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Milliseconds and kbps, and the notes.
    type Read = (Vec<(u64, u64)>, Vec<String>);

    fn read(text: &str, options: &str) -> Result<Read, String> {
        let options = if options.is_empty() { ReadOptions::default() } else { options.parse()? };
        let (steps, notes) = steps(text, &options).map_err(|error| error.to_string())?;
        Ok((steps.into_iter().map(|(millis, rate)| (millis, rate.as_bps() / 1000)).collect(), notes))
    }

    #[test]
    fn times_and_rates_are_found_by_their_names_and_units() {
        let wanted = [(500, 1000), (500, 2500), (500, 0)];
        for text in [
            "time_s,rate_mbps\n0,1\n0.5,2.5\n1,0\n",
            "\"timestamp_ms\",\"throughput_kbps\"\r\n\"1600000000000\",\"1000\"\r\n1600000000500, 2500\r\n\
             1600000001000,0\r\n",
            "rate (Mbit/s);cell;Time [ms]\n1;\"a;b \"\"c\"\"\";10\n2.5;;510\n0;;1010\n",
            "elapsed_us\tbits_per_second\n0\t1e6\n500000\t2.5e6\n1000000\t0\n",
            "t_s speed_kmh downlink_kB/s\n3 50 125\n3.5 50 312.5\n4 50 0\n",
            "Timestamp,rate_mbps\n2019-12-16 13:40:04.5,1\n2019-12-16 13:40:05,2.5\n2019-12-16 13:40:05.500,0\n",
        ] {
            assert_eq!(read(text, "").unwrap().0, wanted, "{text}");
        }
    }

    #[test]
    fn the_irish_5g_data_set_is_read_by_the_column_that_is_asked_for() {
        let text = "Timestamp,Longitude,Latitude,Speed,Operatorname,CellID,NetworkMode,RSRP,RSRQ,SNR,CQI,RSSI,\
                    DL_bitrate,UL_bitrate,State\n\
                    2019.12.16_13.40.04,-8.39,51.88,0,B,2,5G,-102,-11,6,8,-80,9000,120,D\n\
                    2019.12.16_13.40.05,-8.39,51.88,0,B,2,5G,-102,-11,-,8,-80,30000,450,D\n\
                    2019.12.16_13.40.05,-8.39,51.88,0,B,2,5G,-102,-11,-,8,-80,12000,-,D\n\
                    2019.12.16_13.40.06,-8.39,51.88,0,B,2,5G,-102,-11,6,8,-80,0,80,I\n";
        let error = read(text, "").unwrap_err();
        assert!(error.contains("'DL_bitrate', 'UL_bitrate'") && error.contains(":column=DL_bitrate"), "{error}");
        assert_eq!(read(text, "column=DL_bitrate").unwrap().0, [(1000, 9000), (1000, 12_000), (1000, 0)]);
        let (up, notes) = read(text, "column=UL_bitrate").unwrap();
        assert_eq!(up, [(1000, 120), (1000, 450), (1000, 80)]);
        assert!(notes[0].contains("'UL_bitrate' in kbps") && notes[1].contains("1 rows have no rate"), "{notes:?}");
        assert_eq!(read(text, "column=DL_bitrate,State=D").unwrap().0, [(1000, 9000), (1000, 12_000)]);
    }

    #[test]
    fn lumos5g_is_read_one_run_at_a_time() {
        let text = "run_num,seq_num,movingSpeed,nrStatus,Throughput,tower_id\n\
                    1,1,0.2,CONNECTED,812,4\n1,2,0.2,CONNECTED,1100.5,4\n2,1,0.2,NOT,31,4\n2,2,0.2,NOT,0,4\n";
        let error = read(text, "").unwrap_err();
        assert!(error.contains("line 4") && error.contains(":run_num=VALUE"), "{error}");
        assert_eq!(read(text, "run_num=2").unwrap().0, [(1000, 31_000), (1000, 0)]);
        let error = read(text, "run_num=9").unwrap_err();
        assert!(error.contains("no row"), "{error}");
    }

    #[test]
    fn the_iperf_logs_of_the_sigcomm21_5g_artifact_are_read_by_their_columns() {
        let text = "timestamp,time,_start,_end,_seconds,bits_per_second,Throughput\n\
                    2021-01-16 19:10:27 CST,19:10:28,0.0,1.0,1.0,1210000000.0,1210.0\n\
                    2021-01-16 19:10:27 CST,19:10:29,1.0,2.0,1.0,1170000000.0,1170.0\n";
        let error = read(text, "").unwrap_err();
        assert!(error.contains("are times") && error.contains(":time="), "{error}");
        assert!(read(text, "time=timestamp").unwrap_err().contains("same time in every row"));
        let wanted = [(1000, 1_210_000), (1000, 1_170_000)];
        assert_eq!(read(text, "time=_start").unwrap().0, wanted);
        assert_eq!(read(text, "time=_start,column=Throughput,unit=Mbps").unwrap().0, wanted);
    }

    #[test]
    fn what_a_header_does_not_say_is_asked_for_by_name() {
        for (text, words) in [
            ("0,1.5\n1,2\n", ["line 1", "time_s,rate_mbps"]),
            ("time_s,throughput\n0,1\n", ["'throughput': its unit is not in its name", "unit=kbps"]),
            ("time_s,rate_furlongs\n0,1\n", ["'rate_furlongs': 'furlongs' is no unit of rates", "Mbps"]),
            ("time_fortnights,rate_mbps\n0,1\n", ["'time_fortnights': 'fortnights' is no unit of time", "time_s"]),
            ("time,rate_mbps\n0,1\n", ["'time': its unit is not in its name", ":time=time"]),
            ("rate_mbps\n1\n", ["no column of times", ":time=NAME"]),
            ("time_s,rsrp\n0,1\n", ["no column of rates", "'rsrp'"]),
            ("time_s,up_kbps,down_kbps\n0,1,2\n", ["'up_kbps', 'down_kbps' are rates", ":column=up_kbps"]),
            ("time_s,rate_mbps\n0,fast\n", ["line 2 is 'fast'", "rate in Mbps"]),
            ("time_s,rate_mbps\n0,-1\n", ["line 2 is '-1'", "from 0"]),
            ("time_s,rate_mbps\n0\n", ["line 2 is ''", "no rate"]),
            ("time_s,rate_mbps\nnever,1\n", ["line 2 is 'never'", "a time"]),
            ("time_s,rate_mbps\n5,1\n4,1\n", ["line 3 is '4'", "no earlier"]),
            ("time_s,rate_mbps\n0,1\n1600000000,1\n", ["line 3", "is its unit right"]),
            ("time_s,\"rate_mbps\n0,1\n", ["line 1", "quotation marks"]),
        ] {
            match read(text, "") {
                Err(error) => assert!(words.iter().all(|word| error.contains(word)), "{text:?}: {error}"),
                // A rate that is missing is said, not refused.
                Ok((_, notes)) => assert!(words[1] == "no rate" && notes[1].contains("1 rows"), "{text:?}: {notes:?}"),
            }
        }
        assert!(read("time_s,x\n0,1\n", "column=y").unwrap_err().contains("no column 'y'"));
        assert_eq!(read("time_s,x\n0,1\n", "column=x,unit=kB/s").unwrap().0, [(1000, 8)]);
        assert_eq!(read("time,rate\n0,1\n2,3\n", "time=time,unit=Mbps").unwrap().0, [(2000, 1000), (2000, 3000)]);
    }

    #[test]
    fn a_trace_written_by_the_second_is_read_again_with_every_opportunity() {
        let trace = Trace::from_rates([(1000, Rate::from_kbps(1200)), (1500, Rate::from_kbps(24))]).unwrap();
        assert_eq!(trace.to_csv(), "time_s,rate_mbps\n0,1.2\n1,0.024\n2,0.012\n");
        let (again, _) = super::read(&trace.to_csv(), &ReadOptions::default()).unwrap();
        assert_eq!(again.millis().len(), trace.millis().len());
    }
}
