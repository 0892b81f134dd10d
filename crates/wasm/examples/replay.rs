//! The recording of thalweg-capi, longer, through a controller natively: what the module must say to the bit.
//!
//! ```text
//! cargo run -p thalweg-wasm --example replay -- record 60          # a recording of so many seconds
//! cargo run -p thalweg-wasm --example replay -- play gcc FILE      # the time and the whole state after each report
//! cargo run --release -p thalweg-wasm --example replay -- time gcc FILE   # ns a line, with the state after each
//! ```
#![allow(clippy::disallowed_methods, reason = "a measurement reads a clock")]

#[path = "../../capi/tests/support/recording.rs"]
#[allow(dead_code, reason = "the replay there prints less")]
mod recording;

use std::error::Error;
use std::io::Write;

use thalweg_driver::{Config, Departure, Driver};
use thalweg_units::{Bytes, Span, Time};
use thalweg_wasm::state;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["record", seconds] => print!("{}", recording::record(Span::from_secs(seconds.parse()?))),
        ["play", scheme, file] => play(scheme, &std::fs::read_to_string(file)?)?,
        ["time", scheme, file] => measure(scheme, &parse(&std::fs::read_to_string(file)?)?)?,
        _ => return Err("usage: replay record SECONDS | play SCHEME FILE | time SCHEME FILE".into()),
    }
    Ok(())
}

/// A line of the recording.
struct Line {
    at: Time,
    what: What,
}

enum What {
    Sent(Departure),
    Rtcp(Vec<u8>),
}

fn parse(recording: &str) -> Result<Vec<Line>, Box<dyn Error>> {
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let at = Time::from_nanos(words[1].parse()?);
        let what = if words[0] == "sent" {
            let (key, size) = (words[2].parse()?, Bytes::new(words[3].parse()?));
            let mut departure = Departure::new(key, size);
            // The stream that the test of the Go package gives every packet.
            departure.stream = Some((1, key as u16));
            What::Sent(departure)
        } else {
            let byte = |place| u8::from_str_radix(&words[2][place..place + 2], 16);
            What::Rtcp((0..words[2].len()).step_by(2).map(byte).collect::<Result<_, _>>()?)
        };
        Ok(Line { at, what })
    };
    recording.lines().map(line).collect()
}

fn step(driver: &mut Driver, line: &Line) -> Result<(), Box<dyn Error>> {
    while driver.next_timeout() <= line.at {
        driver.on_timeout(driver.next_timeout());
    }
    match &line.what {
        What::Sent(departure) => driver.on_sent(line.at, *departure).map(drop)?,
        What::Rtcp(datagram) => driver.on_rtcp(line.at, datagram).map(drop)?,
    }
    Ok(())
}

fn play(scheme: &str, recording: &str) -> Result<(), Box<dyn Error>> {
    let mut driver = Driver::named(scheme, Config::default())?;
    let mut out = std::io::stdout().lock();
    for line in parse(recording)? {
        step(&mut driver, &line)?;
        if matches!(line.what, What::Sent(_)) {
            continue;
        }
        write!(out, "{}", line.at.as_nanos())?;
        for number in state::of(&driver) {
            write!(out, " {number:x}")?;
        }
        writeln!(out)?;
        while let Some(decided) = driver.poll_decision() {
            let (at, from, to) = (decided.at.as_nanos(), decided.from.as_bps(), decided.to.as_bps());
            writeln!(out, "{at} {from} {to} {}: {}", decided.what, decided.why)?;
        }
    }
    Ok(())
}

/// The best of nine: disturbances only make a run slower.
fn measure(scheme: &str, lines: &[Line]) -> Result<(), Box<dyn Error>> {
    let mut best = f64::MAX;
    for _ in 0..9 {
        let mut driver = Driver::named(scheme, Config::default())?;
        let begun = std::time::Instant::now();
        for line in lines {
            step(&mut driver, line)?;
            std::hint::black_box(state::of(&driver));
        }
        best = best.min(begun.elapsed().as_nanos() as f64 / lines.len() as f64);
    }
    println!("{scheme}: {best:.0} ns a line, of which there are {}", lines.len());
    Ok(())
}
