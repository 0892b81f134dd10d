//! The other side: an estimator in Rust that answers lines.

use std::io::{self, BufRead, Write};

use thalweg_control::Report;
use thalweg_units::{ConfigError, Rate, Time};

use super::messages::{Reply, Request, Welcome};
use super::{PROTOCOL, VERSION};
use crate::contestant::{Estimator, Limits};

/// Answers requests with the estimator that `make` creates, until there are no more. `name` says what it is, and its
/// version; `around` is the scheme to surround it, such as `gcc`.
///
/// # Errors
/// When the lines can no longer be read or written, or a request is none.
pub fn serve(
    input: impl BufRead,
    mut output: impl Write,
    name: &str,
    around: &str,
    make: impl FnOnce(Limits) -> Result<Box<dyn Estimator>, ConfigError>,
) -> io::Result<()> {
    let mut lines = input.lines();
    let Some(first) = lines.next() else { return Ok(()) };
    let Request::Hello { start_bps, min_bps, max_bps, .. } = serde_json::from_str(&first?)? else {
        return Err(unexpected("a request before hello"));
    };
    let [start, min, max] = [start_bps, min_bps, max_bps].map(Rate::from_bps);
    let mut estimator = make(Limits { start, min, max }).map_err(io::Error::other)?;
    let mut say = |line: String| writeln!(output, "{line}").and_then(|()| output.flush());
    let (name, around, limits) = (name.into(), Some(around.into()), Reply::of(&*estimator));
    let welcome = Welcome { protocol: PROTOCOL.into(), version: VERSION, name, around, sent: true, limits };
    say(serde_json::to_string(&welcome)?)?;
    for line in lines {
        match serde_json::from_str(&line?)? {
            Request::Hello { .. } => return Err(unexpected("a second hello")),
            Request::Sent { packet, .. } => estimator.on_sent(&(&packet).into()),
            Request::Reports { now_ns, packets } => {
                let reports: Vec<Report> = packets.iter().map(Into::into).collect();
                estimator.on_reports(Time::from_nanos(now_ns), &reports);
            }
            Request::Timeout { now_ns } => estimator.on_timeout(Time::from_nanos(now_ns)),
        }
        say(serde_json::to_string(&Reply::of(&*estimator))?)?;
    }
    Ok(())
}

fn unexpected(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{what} is unexpected"))
}
