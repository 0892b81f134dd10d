//! The columns of a file: which one has the times, which one the rates, and in which units.

use csv::StringRecord;

use crate::error::ReadError;
use crate::options::ReadOptions;
use crate::unit::{RateUnit, date, seconds_of};

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
const RATES: [&str; 9] =
    ["rate", "bitrate", "throughput", "bandwidth", "capacity", "download", "upload", "downlink", "uplink"];
/// Last words of columns that are something else: rates of a heart or of pictures, shares, times.
const OTHERS: [&str; 15] =
    ["bpm", "rpm", "hz", "khz", "mhz", "ghz", "fps", "percent", "pct", "ratio", "s", "ms", "us", "ns", "dbm"];

/// The column of times: where, and seconds of its unit; `None` for dates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub(super) at: usize,
    unit: Option<f64>,
}

impl Times {
    pub(super) fn of(names: &StringRecord, options: &ReadOptions, rows: &[StringRecord]) -> Result<Times, ReadError> {
        let is_date = |at: usize| rows.iter().all(|row| row.get(at).is_some_and(|field| date(field).is_some()));
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
            ([], Some((name, words))) => Err(ReadError::unclear(format!(
                "column '{name}': {} s, ms, us, ns, or dates; name it time_s, or say :time={name} for seconds",
                match words.len() {
                    1 => "its unit is not in its name:".into(),
                    _ => format!("unknown unit of time '{}':", words[words.len() - 1]),
                }
            ))),
            ([], None) => Err(ReadError::unclear(format!(
                "no column of times, such as time_s, timestamp_ms or dates, among {}; choose one of seconds with \
                 :time=NAME",
                listed(names)
            ))),
            (several, _) => Err(ReadError::unclear(format!(
                "columns {} are times: choose one with :time={}",
                listed_at(names, several.iter().map(|times| times.at)),
                &names[several[0].at]
            ))),
        }
    }

    /// Seconds of a field.
    pub(super) fn read(self, field: &str) -> Option<f64> {
        match self.unit {
            Some(unit) => field.parse::<f64>().ok().map(|value| value * unit),
            None => date(field),
        }
        .filter(|seconds| seconds.is_finite())
    }
}

/// The column of rates, and its unit.
pub(super) fn rates(names: &StringRecord, options: &ReadOptions) -> Result<(usize, RateUnit), ReadError> {
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    let unit_of = |name: &str| {
        let known = KNOWN.iter().find(|(rate, _, beside)| *rate == name && has(beside));
        options.unit.or_else(|| RateUnit::ends(name)).or(known.map(|(_, unit, _)| *unit))
    };
    // Only a rate has a unit of rates; without one, a name may say that it is a rate, unless its unit is another.
    let says_rate = |name: &str| {
        let words = words(name);
        let is_other = words.last().is_some_and(|last| OTHERS.contains(&last.as_str())) || name.contains('%');
        !is_other && words.iter().any(|word| RATES.contains(&word.as_str()))
    };
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
        [] => match &(0..names.len()).filter(|at| says_rate(&names[*at])).collect::<Vec<usize>>()[..] {
            [at] => Err(without_unit(&names[*at])),
            several @ [first, ..] => Err(ReadError::unclear(format!(
                "columns {} may be rates, but have no unit in their names: choose one and say it with \
                 :column={},unit=kbps (or bps, Mbps, Gbps, or for bytes B/s, kB/s, MB/s)",
                listed_at(names, several.iter().copied()),
                &names[*first]
            ))),
            [] => Err(ReadError::unclear(format!(
                "no column of rates with their unit, such as rate_mbps or throughput_kbps, among {}; choose one with \
                 :column=NAME,unit=kbps",
                listed(names)
            ))),
        },
        several => Err(ReadError::unclear(format!(
            "columns {} are rates: choose one with :column={}",
            listed_at(names, several.iter().copied()),
            &names[several[0]]
        ))),
    }
}

fn without_unit(name: &str) -> ReadError {
    let words = words(name);
    let problem = match words.last() {
        Some(last) if words.len() > 1 && !RATES.contains(&last.as_str()) => format!("unknown unit of rates '{last}'"),
        _ => "its unit is not in its name".into(),
    };
    ReadError::unclear(format!(
        "column '{name}': {problem}: bps, kbps, Mbps, Gbps, or for bytes B/s, kB/s, MB/s; say :column={name},unit=kbps"
    ))
}

pub(super) fn column(names: &StringRecord, wanted: &str) -> Result<usize, ReadError> {
    let found = names.iter().position(|name| name == wanted);
    found.ok_or_else(|| ReadError::unclear(format!("no column '{wanted}': there are {}", listed(names))))
}

fn listed(names: &StringRecord) -> String {
    listed_at(names, 0..names.len())
}

fn listed_at(names: &StringRecord, places: impl Iterator<Item = usize>) -> String {
    places.map(|at| format!("'{}'", &names[at])).collect::<Vec<_>>().join(", ")
}

/// The words of a column's name, in lower case.
fn words(name: &str) -> Vec<String> {
    let words = name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
