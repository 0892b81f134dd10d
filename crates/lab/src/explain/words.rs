//! Numbers as people say them: two or three digits and a unit.

/// A rate in bit/s.
pub(super) fn rate(bps: f64) -> String {
    // The sum of nothing is -0.
    let bps = bps + 0.0;
    match bps.abs() {
        size if size >= 99.5e6 => format!("{:.0} Mbps", bps / 1e6),
        size if size >= 999.5e3 => format!("{:.1} Mbps", bps / 1e6),
        size if size >= 9.95e3 || size == 0.0 => format!("{:.0} kbps", bps / 1e3),
        _ => format!("{:.1} kbps", bps / 1e3),
    }
}

/// A duration in ms.
pub(super) fn span(ms: f64) -> String {
    match ms.abs() {
        size if size >= 999.5 => format!("{:.1} s", ms / 1e3),
        size if size >= 9.95 || size == 0.0 => format!("{ms:.0} ms"),
        _ => format!("{ms:.1} ms"),
    }
}

/// An amount of data in bytes.
pub(super) fn bytes(bytes: f64) -> String {
    match bytes.abs() {
        size if size >= 999.5e3 => format!("{:.1} MB", bytes / 1e6),
        size if size >= 9.95e3 => format!("{:.0} kB", bytes / 1e3),
        size if size >= 999.5 => format!("{:.1} kB", bytes / 1e3),
        _ => format!("{bytes:.0} B"),
    }
}

/// A moment in seconds, without digits that are zero.
pub(super) fn moment(seconds: f64) -> String {
    format!("{} s", plain(seconds))
}

/// A number with at most two digits after the point, and none that is a closing zero.
pub(super) fn plain(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// A share of one.
pub(super) fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.005 { "less than 1 %".into() } else { format!("{:.0} %", share * 100.0) }
}

/// The value of a variable, in the unit that ends its name.
pub(super) fn variable(name: &str, value: f64) -> String {
    let ends = |unit: &str| name.ends_with(&format!("_{unit}")) || name.ends_with(&format!(" {unit}"));
    match () {
        () if ends("bps") => rate(value),
        () if ends("kbps") => rate(value * 1e3),
        () if ends("mbps") => rate(value * 1e6),
        () if ends("ms") => span(value),
        () if ends("bytes") => bytes(value),
        () if ends("kB") => bytes(value * 1e3),
        () if value != 0.0 && value.abs() < 0.1 => format!("{value:.1e}"),
        () => plain(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_round_and_have_their_unit() {
        assert_eq!([rate(1.7e6), rate(3.64e5), rate(1.2e8), rate(0.0)], ["1.7 Mbps", "364 kbps", "120 Mbps", "0 kbps"]);
        assert_eq!([span(350.4), span(2.345), span(1234.0)], ["350 ms", "2.3 ms", "1.2 s"]);
        assert_eq!([bytes(45_123.0), bytes(1_500.0), bytes(900.0)], ["45 kB", "1.5 kB", "900 B"]);
        assert_eq!([moment(11.0), moment(2.3), moment(0.567_8)], ["11 s", "2.3 s", "0.57 s"]);
        assert_eq!(variable("B kbps", 1_250.0), "1.2 Mbps");
        assert_eq!(variable("cwnd_bytes", 45_000.0), "45 kB");
        assert_eq!([percent(0.002), percent(0.0), percent(0.62)], ["less than 1 %", "0 %", "62 %"]);
        assert_eq!([variable("paused", 1.0), variable("gradient", 0.000_12)], ["1", "1.2e-4"]);
    }
}
