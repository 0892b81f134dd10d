//! Units as people write them in files.

use std::fmt;
use std::str::FromStr;

use thalweg_units::Rate;

/// Letters of the longest name of a unit.
const LONGEST_NAME: usize = "kbytes per second".len();

/// A unit of rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateUnit {
    bps: f64,
}

impl RateUnit {
    /// Bit/s.
    pub const BPS: RateUnit = RateUnit { bps: 1.0 };
    /// Kilobit/s.
    pub const KBPS: RateUnit = RateUnit { bps: 1e3 };
    /// Megabit/s.
    pub const MBPS: RateUnit = RateUnit { bps: 1e6 };
    /// Gigabit/s.
    pub const GBPS: RateUnit = RateUnit { bps: 1e9 };

    /// This many of it; `None` if that is no rate, or above 100 Gbps.
    pub fn rate(self, value: f64) -> Option<Rate> {
        let bps = value * self.bps;
        (0.0..=1e11).contains(&bps).then(|| Rate::from_bps_f64(bps))
    }

    /// The unit at the end of a column's name: `rate_mbps`, `Throughput (kbit/s)`, `bits_per_second`.
    pub(crate) fn ends(name: &str) -> Option<RateUnit> {
        let name = name.trim_end_matches([')', ']', ' ']);
        // A file that is no table may have one endless line for its header.
        let ends = name.char_indices().rev().take(LONGEST_NAME);
        ends.filter_map(|(at, _)| name[at..].parse().ok()).last()
    }
}

impl Default for RateUnit {
    fn default() -> RateUnit {
        RateUnit::MBPS
    }
}

impl FromStr for RateUnit {
    type Err = String;

    /// Reads it whatever the case, except that a capital B before `ps` or `/s` means bytes: `MBps`, but not `MBPS`.
    fn from_str(text: &str) -> Result<RateUnit, String> {
        let plain = text.trim().replace(['_', '-'], " ");
        let lower = plain.to_lowercase();
        let (prefix, rest) = match lower.as_bytes().first() {
            Some(b'k') => (RateUnit::KBPS, &lower[1..]),
            Some(b'm') => (RateUnit::MBPS, &lower[1..]),
            Some(b'g') => (RateUnit::GBPS, &lower[1..]),
            _ => (RateUnit::BPS, &lower[..]),
        };
        match rest {
            "bps" | "b/s" if plain.ends_with("Bps") || plain.ends_with("B/s") => Ok(prefix.bytes()),
            "byte/s" | "bytes/s" | "bytes per second" => Ok(prefix.bytes()),
            "bps" | "b/s" | "bit/s" | "bits/s" | "bit per second" | "bits per second" => Ok(prefix),
            _ => Err(format!(
                "unknown unit of rates '{text}': expected one of bps, kbps, Mbps, Gbps, or for bytes B/s, kB/s, MB/s"
            )),
        }
    }
}

impl RateUnit {
    fn bytes(self) -> RateUnit {
        RateUnit { bps: self.bps * 8.0 }
    }
}

impl fmt::Display for RateUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = [("bps", 1.0), ("kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9)];
        let bytes = [("B/s", 8.0), ("kB/s", 8e3), ("MB/s", 8e6), ("GB/s", 8e9)];
        let found = bits.iter().chain(&bytes).find(|(_, bps)| *bps == self.bps);
        f.write_str(&found.map_or_else(|| self.bps.to_string(), |(name, _)| (*name).into()))
    }
}

/// A unit of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Millis,
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
}

impl TimeUnit {
    const ALL: [(TimeUnit, &'static str, f64); 4] = [
        (TimeUnit::Seconds, "s", 1.0),
        (TimeUnit::Millis, "ms", 1e-3),
        (TimeUnit::Micros, "us", 1e-6),
        (TimeUnit::Nanos, "ns", 1e-9),
    ];

    /// How many seconds it has.
    pub fn seconds(self) -> f64 {
        TimeUnit::ALL.iter().find(|(unit, ..)| *unit == self).map_or(1.0, |(.., seconds)| *seconds)
    }
}

impl FromStr for TimeUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<TimeUnit, String> {
        let found = TimeUnit::ALL.iter().find(|(_, name, _)| *name == text);
        found
            .map(|(unit, ..)| *unit)
            .ok_or_else(|| format!("unknown unit of times '{text}': expected one of s, ms, us, ns"))
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(TimeUnit::ALL.iter().find(|(unit, ..)| unit == self).map_or("", |(_, name, _)| name))
    }
}

/// Seconds of a unit of time.
pub(crate) fn seconds_of(unit: &str) -> Option<f64> {
    Some(match unit {
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "ms" | "msec" | "millis" | "milliseconds" => 1e-3,
        "us" | "usec" | "micros" | "microseconds" => 1e-6,
        "ns" | "nsec" | "nanos" | "nanoseconds" => 1e-9,
        _ => return None,
    })
}

/// Seconds since 1970 of a date and time in digits, however separated: `2019.12.16_13.40.04` as G-NetTrack writes it,
/// `2021-01-16 19:10:28`, `2021-01-16T19:10:28.5Z`. A time zone is not read: only differences are used.
pub(crate) fn date(text: &str) -> Option<f64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u32>().ok();
    let separators = [4, 7, 10, 13, 16].map(|at| text.as_bytes().get(at).is_some_and(|byte| !byte.is_ascii_digit()));
    let [year, month, day] = [number(0, 4)?, number(5, 7)?, number(8, 10)?];
    let [hour, minute, second] = [number(11, 13)?, number(14, 16)?, number(17, 19)?];
    if separators.contains(&false) || !(1..=12).contains(&month) || !(1..=31).contains(&day) || year < 1 {
        return None;
    }
    let digits = text.get(19..)?.strip_prefix('.').map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
    let fraction = match digits.flatten() {
        Some(digits) if !digits.is_empty() => format!("0.{digits}").parse().ok()?,
        _ => 0.0,
    };
    // Days of the proleptic Gregorian calendar, the year beginning in March so that the leap day is its last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day;
    let days = f64::from(days) - DAYS_BEFORE_1970;
    Some(days * 86_400.0 + f64::from(hour * 3600 + minute * 60 + second) + fraction)
}

/// 1 January 1970 in the count of days of [`date`].
const DAYS_BEFORE_1970: f64 = 719_469.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_as_they_are_written_and_bytes_are_not_bits() {
        for (text, bps) in [
            ("Mbps", 1e6),
            ("MBPS", 1e6),
            ("mbit/s", 1e6),
            ("MBps", 8e6),
            ("MB/s", 8e6),
            ("Mb/s", 1e6),
            ("kbits/s", 1e3),
            ("bits_per_second", 1.0),
            ("bytes per second", 8.0),
            ("Gbps", 1e9),
        ] {
            assert_eq!(text.parse(), Ok(RateUnit { bps }), "{text}");
        }
        assert_eq!(RateUnit::ends("Throughput [kbit/s]"), Some(RateUnit::KBPS));
        assert_eq!(RateUnit::ends("rateMBps"), Some(RateUnit::MBPS.bytes()));
        assert_eq!(RateUnit::ends("downlink_kbytes_per_second"), Some(RateUnit::KBPS.bytes()));
        assert_eq!(RateUnit::ends("Throughput"), None);
        assert!("knots".parse::<RateUnit>().unwrap_err().contains("'knots'"));
        assert_eq!(RateUnit::MBPS.rate(-1.0), None);
        assert_eq!(RateUnit::MBPS.rate(f64::NAN), None);
    }

    #[test]
    fn dates_are_seconds_since_1970() {
        assert_eq!(date("1970-01-01 00:00:00"), Some(0.0));
        // `date -u -d '2019-12-16 13:40:04' +%s`.
        assert_eq!(date("2019.12.16_13.40.04"), Some(1_576_503_604.0));
        assert_eq!(date("2000-02-29T00:00:00.25Z"), Some(951_782_400.25));
        assert_eq!(date("2000-03-01T00:00:00+01:00"), Some(951_868_800.0));
        for text in ["", "19:10:28", "2019.13.16_13.40.04", "20191216134004000000", "2019.12.1é_13.40.04"] {
            assert_eq!(date(text), None, "{text}");
        }
    }
}
