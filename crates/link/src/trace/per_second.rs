//! Logs with one throughput value per second, such as Lumos5G's: `second megabits`.

use alloc::vec::Vec;

use thalweg_units::Rate;

use super::{Trace, TraceError};

impl Trace {
    /// Reads a log with one line per second: its number and the throughput of that second in Mbps, separated by white
    /// space (or the throughput alone).
    ///
    /// # Errors
    /// When a line has another form, or nothing is ever delivered.
    pub fn parse_per_second(text: &str) -> Result<Trace, TraceError> {
        let mut rates = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let value = line.split_whitespace().next_back().and_then(|field| field.parse::<f64>().ok());
            let fields = line.split_whitespace().count();
            match value.filter(|mbps| (0.0..=1e5).contains(mbps) && (1..=2).contains(&fields)) {
                Some(mbps) => rates.push(Rate::from_mbps_f64(mbps)),
                None => {
                    let rule = "the number of the second and its throughput in Mbps, 0 to 100000, as in '12 34.5'";
                    return Err(TraceError::line(index + 1, line, rule));
                }
            }
        }
        Trace::from_rates(rates.iter().map(|rate| (1000, *rate)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use thalweg_units::Time;

    #[test]
    fn each_second_gets_the_opportunities_of_its_throughput() {
        let trace = Trace::parse_per_second("0 1.2\n1 0\n2.0 12\n").unwrap();
        let per_second = |second: u64| {
            trace.opportunities(Time::from_millis(second * 1000 + 1), Time::from_millis(second * 1000 + 1001))
        };
        assert_eq!((per_second(0), per_second(1), per_second(2)), (100, 0, 1000));
    }

    #[test]
    fn a_line_that_is_no_throughput_is_refused() {
        let message = Trace::parse_per_second("0 1.2\n1 fast\n").unwrap_err().to_string();
        assert!(message.contains("line 2") && message.contains("Mbps"), "{message}");
        assert!(Trace::parse_per_second("0 -3\n").is_err());
        assert!(Trace::parse_per_second("0 0\n").is_err());
    }
}
