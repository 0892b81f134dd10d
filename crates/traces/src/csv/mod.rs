//! Comma-separated values with a header: a column of times, a column of rates, and their units in the header. Fields
//! may as well be separated by semicolons, tabs or spaces.

mod columns;

use std::fmt::Write as _;

use csv::{Position, ReaderBuilder, StringRecord, Trim};
use thalweg_netsim::{Trace, TraceError};
use thalweg_units::Rate;

use self::columns::{Times, column, rates};
use crate::error::ReadError;
use crate::format::Format;
use crate::hold::Hold;
use crate::options::ReadOptions;
use crate::reader::{File, Reader, Reading};
use crate::rows::{NOT_LATE, Points, Row, Wrong, spread};
use crate::steps::{self, Steps};
use crate::unit::RateUnit;

pub(crate) const READER: Reader =
    Reader { format: Format::Csv, options: &["column", "unit", "time", "hold", "gaps", "gap", "NAME"], is, read };

/// Texts of a failed measurement.
const MISSING: [&str; 6] = ["", "-", "nan", "na", "n/a", "null"];

fn is(file: File<'_>) -> Result<bool, ReadError> {
    let text = file.text()?;
    let first = first_line(&text);
    let begins_with_name = first.split_whitespace().next().is_some_and(|field| field.parse::<f64>().is_err());
    Ok(begins_with_name || first.contains([',', ';', '\u{22}']))
}

fn read(file: File<'_>, options: &ReadOptions) -> Result<Reading, ReadError> {
    let (steps, notes) = steps(&file.text()?, options)?;
    Ok(Reading::new(Format::Csv, steps::trace(steps, options)?, notes))
}

/// The rates of a file, and what was read and how.
///
/// # Errors
/// When it is unclear which columns to read, or a value is none.
fn steps(text: &str, options: &ReadOptions) -> Result<(Steps, Vec<String>), ReadError> {
    let mut rows = rows(text)?.into_iter();
    let names = rows.next().ok_or(TraceError::Empty)?;
    if names.iter().all(|name| name.parse::<f64>().is_ok()) {
        let rule = "the names of the columns with their units, such as time_s,rate_mbps";
        return Err(ReadError::line(number(&names), first_line(text), rule));
    }
    let only = options.only.iter().map(|(name, value)| Ok((column(&names, name)?, value.trim())));
    let only: Vec<(usize, &str)> = only.collect::<Result<_, ReadError>>()?;
    let is_wanted =
        |row: &StringRecord| only.iter().all(|(at, value)| row.get(*at).is_some_and(|field| field == *value));
    let rows: Vec<StringRecord> = rows.filter(is_wanted).collect();
    if rows.is_empty() {
        return Err(ReadError::unclear(
            "no row to read: a header is followed by a row for each rate, and :NAME=VALUE keeps some",
        ));
    }
    let (rate_at, unit) = rates(&names, options)?;
    let times = Times::of(&names, options, &rows)?;
    let (points, odd) = points(&rows, &names, (rate_at, unit), times, options)?;
    let hold = options.hold.unwrap_or(Hold::After);
    let values = points.steps(hold, options);
    let mut notes =
        vec![format!("rates from column '{}' in {unit}, times from column '{}'", &names[rate_at], &names[times.at])];
    notes.extend(points.notes(&values, hold, options)?);
    notes.extend(odd);
    let rate = |(millis, bps): (u64, Option<f64>)| (millis, bps.map(Rate::from_bps_f64));
    Ok((values.into_iter().map(rate).collect(), notes))
}

/// The times of the rows and their rates in bit/s, and notes of what is odd about the rows.
fn points(
    rows: &[StringRecord],
    names: &StringRecord,
    (rate_at, unit): (usize, RateUnit),
    times: Times,
    options: &ReadOptions,
) -> Result<(Points, Vec<String>), ReadError> {
    let wrong = |row: &StringRecord, at: usize, rule: &str| {
        let field = row.get(at).unwrap_or_default();
        ReadError::line(number(row), field, format!("{rule} (column '{}')", &names[at]))
    };
    let (mut missing, mut latest) = (0, 0.0);
    let mut read = Vec::new();
    for row in rows {
        let time = row.get(times.at).and_then(|field| times.read(field));
        let time = time.ok_or_else(|| wrong(row, times.at, "a time"))?;
        let field = row.get(rate_at).unwrap_or_default();
        if MISSING.contains(&field.to_lowercase().as_str()) {
            missing += 1;
        } else {
            let rate = field.parse().ok().and_then(|value| unit.rate(value));
            let rule = || wrong(row, rate_at, &format!("a rate in {unit}, from 0 to 100 Gbps"));
            latest = rate.ok_or_else(rule)?.as_bps_f64();
        }
        read.push(Row { millis: time * 1e3, rate: latest });
    }
    let missing = (missing > 0).then(|| format!("{missing} rows have no rate: the rate before them holds"));
    let bunches = spread(&mut read, options.hold.unwrap_or(Hold::After));
    let run = || names.iter().find(|name| name.starts_with("run")).unwrap_or("NAME");
    let points = Points::new(&read, options, |index, what| match what {
        Wrong::Falls => {
            let rule =
                "no earlier than the row before it; if the file has several recordings, keep the rows of one with";
            wrong(&rows[index], times.at, &format!("{rule} :{}=VALUE", run()))
        }
        Wrong::IsLate => wrong(&rows[index], times.at, NOT_LATE),
        Wrong::IsAlone => ReadError::unclear(format!(
            "column '{}' has the same time in every row: choose another with :time=NAME",
            &names[times.at]
        )),
    })?;
    Ok((points, bunches.into_iter().chain(missing).collect()))
}

/// The fields of each line that has any, without the white space around them.
fn rows(text: &str) -> Result<Vec<StringRecord>, ReadError> {
    let header = first_line(text);
    let delimiter = [b',', b';', b'\t'].into_iter().max_by_key(|of| header.bytes().filter(|byte| byte == of).count());
    let Some(delimiter) = delimiter.filter(|of| header.as_bytes().contains(of)) else {
        return Ok((1..).zip(text.lines()).map(at_spaces).filter(|row| !row.is_empty()).collect());
    };
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).map(|(number, _)| number);
    let rows = reader.records().map(|row| {
        let mut row = row.map_err(|error| ReadError::unclear(error.to_string()))?;
        // The position of a row is before the blank lines above it.
        if let Some(mut position) = row.position().cloned() {
            position.set_line(lines.find(|line| *line >= position.line()).unwrap_or(position.line()));
            row.set_position(Some(position));
        }
        // A quotation mark that is not closed would take in the rows below it.
        match row.iter().find(|field| field.contains('\n')) {
            Some(field) => {
                let rule = "fields whose quotation marks are closed on the same line";
                Err(ReadError::line(number(&row), field, rule))
            }
            None => Ok(row),
        }
    });
    rows.filter(|row| !row.as_ref().is_ok_and(|row| row.len() == 1 && row[0].is_empty())).collect()
}

/// The first line that is not blank.
fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

/// The fields of a line between spaces.
fn at_spaces((number, line): (u64, &str)) -> StringRecord {
    let mut row = StringRecord::from(line.split_whitespace().collect::<Vec<_>>());
    let mut position = Position::new();
    position.set_line(number);
    row.set_position(Some(position));
    row
}

/// The number of a row's line.
fn number(row: &StringRecord) -> usize {
    row.position().map_or(0, |position| position.line() as usize)
}

/// Writes one rate a second as comma-separated values with the header `time_s,rate_mbps`.
pub fn to_csv(trace: &Trace) -> String {
    let mut text = String::from("time_s,rate_mbps\n");
    for (second, rate) in trace.rates_by_second().iter().enumerate() {
        let _ = writeln!(text, "{second},{}", rate.as_mbps_f64());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Milliseconds and kbps, and the notes.
    type Read = (Vec<(u64, u64)>, Vec<String>);

    fn read(text: &str, options: &str) -> Result<Read, String> {
        let options = if options.is_empty() { ReadOptions::default() } else { options.parse()? };
        let (steps, notes) = steps(text, &options).map_err(|error| error.to_string())?;
        let kept = steps.into_iter().filter_map(|(millis, rate)| Some((millis, rate?.as_bps() / 1000)));
        Ok((kept.collect(), notes))
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
        assert_eq!(read(text, "column=DL_bitrate").unwrap().0, [(1000, 9000), (1000, 21_000), (1000, 0)]);
        let (up, notes) = read(text, "column=UL_bitrate").unwrap();
        assert_eq!(up, [(1000, 120), (1000, 450), (1000, 80)]);
        assert!(notes[0].contains("'UL_bitrate' in kbps") && notes[2].contains("1 rows have no rate"), "{notes:?}");
        assert!(notes[1].contains("1 rows have the time of the row before"), "{notes:?}");
        assert_eq!(read(text, "column=DL_bitrate,State=D").unwrap().0, [(1000, 9000), (1000, 21_000)]);
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
            ("time_s,rate_furlongs\n0,1\n", ["'rate_furlongs': unknown unit of rates 'furlongs'", "Mbps"]),
            ("time_fortnights,rate_mbps\n0,1\n", ["'time_fortnights': unknown unit of time 'fortnights'", "time_s"]),
            ("time,rate_mbps\n0,1\n", ["'time': its unit is not in its name", ":time=time"]),
            ("rate_mbps\n1\n", ["no column of times", ":time=NAME"]),
            ("time_s,rsrp\n0,1\n", ["no column of rates", "'rsrp'"]),
            ("time_s,Heart Rate (bpm),download,x\n0,70,9e6,1\n", ["column 'download': its unit is not", "unit=kbps"]),
            ("time_s,error rate (%),frame_rate_fps\n0,1,2\n", ["no column of rates", "'frame_rate_fps'"]),
            ("time_s,Heart Rate (bpm),download,upload\n0,70,9e6,1e6\n", ["'download', 'upload' may be", "unit=kbps"]),
            ("time_s,up_kbps,down_kbps\n0,1,2\n", ["'up_kbps', 'down_kbps' are rates", ":column=up_kbps"]),
            ("time_s,rate_mbps\n0,fast\n", ["line 2 is 'fast'", "rate in Mbps"]),
            ("time_s,rate_mbps\n0,-1\n", ["line 2 is '-1'", "from 0"]),
            ("time_s,rate_mbps\n0\n", ["line 2 is ''", "no rate"]),
            ("time_s,rate_mbps\nnever,1\n", ["line 2 is 'never'", "a time"]),
            ("time_s,rate_mbps\n5,1\n4,1\n", ["line 3 is '4'", "no earlier"]),
            ("time_s,rate_mbps\n0,1\n1600000000,1\n", ["line 3", "is its unit right"]),
            ("\n\n0,1.5\n1,2\n", ["line 3 is '0,1.5'", "names of the columns"]),
            ("time_s,rate_mbps\n\n0,1\n\n\n1,x\n", ["line 6 is 'x'", "rate in Mbps"]),
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
    fn rows_of_one_time_count_by_their_mean_and_a_pause_between_two_drives_is_taken_out_and_said() {
        let (steps, notes) = read("time_s,rate_mbps\n0,10\n0.0004,20\n1,30\n", "").unwrap();
        assert_eq!(steps, [(1000, 15_000), (1000, 30_000)]);
        assert!(notes[1].starts_with("1 rows have the time"), "{notes:?}");
        let two_drives = "time_s,rate_mbps\n0,1\n1,2\n2,3\n2658,4\n2659,5\n";
        let wanted = [(1000, 1000), (1000, 2000), (1000, 3000), (1000, 4000), (1000, 5000)];
        let (steps, notes) = read(two_drives, "").unwrap();
        assert_eq!(steps, wanted);
        assert!(notes[1].contains("a pause of 2655 s") && notes[1].contains(":gaps=hold"), "{notes:?}");
        let (held, notes) = read(two_drives, "gaps=hold").unwrap();
        assert_eq!(held.iter().filter(|step| step.1 == 3000).map(|step| step.0).sum::<u64>(), 2_656_000);
        assert!(notes[1].contains("at most 2656000: until a row"), "{notes:?}");
        let (zero, notes) = read(two_drives, "gaps=zero").unwrap();
        assert!(zero.contains(&(2_655_000, 0)) && notes[1].contains("nothing passes"), "{notes:?}");
        // A minute is no pause, nor what is usual; what is one can be said.
        assert_eq!(read("time_s,rate_mbps\n0,1\n1,2\n2,3\n62,4\n", "").unwrap().0[2], (60_000, 3000));
        assert_eq!(read("time_s,rate_mbps\n0,1\n100,2\n200,3\n", "").unwrap().0[1], (100_000, 2000));
        assert_eq!(read("time_s,rate_mbps\n0,1\n1,2\n2,3\n62,4\n", "gap=30s").unwrap().0[2], (1000, 3000));
    }

    #[test]
    fn rows_that_a_program_wrote_in_bunches_are_spread_over_the_time_since_the_bunch_before() {
        // Ten rows at 5 s, at 10 s and at 15 s, 40 us apart: 0.5 s each.
        let stamp = |row: u32| f64::from(5 * (row / 10 + 1)) + f64::from(row % 10) * 4e-5;
        let bunched: String = (0..30).map(|row| format!("{},{}\n", stamp(row), row + 1)).collect();
        let bunched = format!("time_s,rate_mbps\n{bunched}");
        let (steps, notes) = read(&bunched, "").unwrap();
        assert!(steps.iter().all(|(millis, _)| millis.abs_diff(500) <= 1), "{steps:?}");
        let rates: Vec<u64> = steps.iter().map(|(_, kbps)| kbps / 1000).collect();
        assert_eq!(rates, (1..=30).collect::<Vec<u64>>());
        assert!(notes.iter().any(|note| note.contains("30 rows were stamped in 3 bunches")), "{notes:?}");
        assert_eq!(read(&bunched, "hold=before").unwrap().0.len(), 30);
        // Seven rows are no bunch, nor are groups that are near one another.
        let few: String =
            (0..14).map(|row| format!("{},1\n", f64::from(row / 7 * 5) + f64::from(row % 7) * 4e-5)).collect();
        assert_eq!(read(&format!("time_s,rate_mbps\n{few}"), "").unwrap().0.len(), 2);
        let near: String =
            (0..20).map(|row| format!("{},1\n", f64::from(row / 10 * 2) / 10.0 + f64::from(row % 10) * 4e-3)).collect();
        assert_eq!(read(&format!("time_s,rate_mbps\n{near}"), "").unwrap().0.len(), 20);
    }

    #[test]
    fn a_file_longer_than_a_day_is_cut_and_one_of_two_days_of_drives_is_read() {
        let days: String = (0..=50).map(|hour| format!("{},1\n", hour * 3600)).collect();
        let error = read(&format!("time_s,rate_mbps\n{days}"), "").unwrap_err();
        assert!(error.contains("at most a day") && error.contains("FILE@0s-3600s"), "{error}");
        let (steps, _) = read(&format!("time_s,rate_mbps\n{days}"), "@30h-31h").unwrap();
        assert_eq!(steps.len(), 51);
        // Two drives, the second on the next day.
        let (steps, notes) = read("time_s,rate_mbps\n0,1\n1,2\n90000,3\n90001,4\n", "").unwrap();
        assert_eq!(steps, [(1000, 1000), (1000, 2000), (1000, 3000), (1000, 4000)]);
        assert!(notes[1].contains("a pause of 89998 s"), "{notes:?}");
    }

    #[test]
    fn a_trace_written_by_the_second_is_read_again_with_every_opportunity() {
        let trace = Trace::from_rates([(1000, Rate::from_kbps(1200)), (1500, Rate::from_kbps(24))]).unwrap();
        assert_eq!(to_csv(&trace), "time_s,rate_mbps\n0,1.2\n1,0.024\n2,0.012\n");
        let file = to_csv(&trace);
        let again = super::read(File { name: "", bytes: file.as_bytes() }, &ReadOptions::default()).unwrap().trace;
        assert_eq!(again.millis().len(), trace.millis().len());
    }
}
