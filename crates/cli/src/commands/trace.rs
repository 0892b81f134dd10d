//! `thalweg trace`: inspect, convert and make link traces.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use thalweg_lab::inputs;
use thalweg_netsim::Trace;
use thalweg_netsim::synthesize::{KINDS, Synthetic, presets};
use thalweg_traces::{Format, ReadOptions, Reading, to_csv, to_seconds};
use thalweg_units::{Seed, Span, Time};

use crate::commands::values;
use crate::{folder, link, progress};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg trace inspect lte-driving
  thalweg trace inspect log.txt:unit=kbps@60s-180s
  thalweg trace synthesize umts-driving -o umts.trace
  thalweg trace convert throughput.log up.trace")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Print statistics of a link, and its rate over time
    Inspect {
        /// A trace file of any format, a rate, rates in turn or a synthetic link
        ///
        /// Behind the name of a file stand options (log.csv:column=DL_bitrate; docs/traces.md has them), and behind that
        /// or a synthetic link the part to read (@60s-180s, or @10s- to the end).
        trace: String,
        /// Length of a synthetic link
        #[arg(long, default_value = "120s", value_parser = values::duration)]
        duration: Span,
        /// Print one JSON object, with the rate of each second
        #[arg(long)]
        json: bool,
    },
    /// Write any link in Mahimahi's format, as one rate a second or as comma-separated values
    Convert {
        /// A trace file of any format (log.csv:column=DL_bitrate, call.pcap), a rate, rates in turn or a synthetic link
        ///
        /// A part of a file or a synthetic link may be read: log.csv@60s-180s, or @10s- to the end.
        from: String,
        /// The file to write
        to: PathBuf,
        /// Format to write (default: csv for a file of that ending, else mahimahi)
        #[arg(long = "as", value_name = "FORMAT")]
        format: Option<Written>,
        /// Write over a file that exists
        #[arg(long)]
        force: bool,
        /// Length of a synthetic link
        #[arg(long, default_value = "120s", value_parser = values::duration)]
        duration: Span,
    },
    /// Make a synthetic link, in Mahimahi's format
    Synthesize {
        /// The kind of link, such as lte-driving or poisson:rate=2Mbps, or `list`
        preset: String,
        /// File to write (default: standard output)
        #[arg(long, short)]
        out: Option<PathBuf>,
        /// Write over a file that exists
        #[arg(long, requires = "out")]
        force: bool,
        /// Length of the link
        #[arg(long, default_value = "120s", value_parser = values::duration)]
        duration: Span,
        /// Seed of the link; each gives another of this kind
        #[arg(long, default_value_t = Seed::new(1), value_parser = values::seed)]
        seed: Seed,
    },
}

/// A format to write.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Written {
    /// Time in milliseconds of each 1500 bytes, exactly as it is played
    Mahimahi,
    /// Number of each second and its rate in Mbps
    Seconds,
    /// Comma-separated values of each second, time_s,rate_mbps
    Csv,
}

/// A link, and how it was read if it is a file.
struct Found {
    trace: Arc<Trace>,
    format: Option<Format>,
    notes: Vec<String>,
    delay: Option<Span>,
}

fn find(name: &str, duration: Span) -> anyhow::Result<Found> {
    match inputs::file(name)? {
        Some((path, options)) => {
            let Reading { trace, format, notes, delay, .. } = inputs::read(&path, &options)?;
            Ok(Found { trace: Arc::new(trace), format: Some(format), notes, delay })
        }
        None => {
            let trace = link::find(name, duration, Seed::new(1))?;
            Ok(Found { trace, format: None, notes: Vec::new(), delay: None })
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.command {
        Command::Inspect { trace, duration, json: true } => {
            outln!("{}", serde_json::to_string_pretty(&json(trace, &find(trace, *duration)?))?);
            Ok(())
        }
        Command::Inspect { trace, duration, json: false } => {
            inspect(&find(trace, *duration)?);
            Ok(())
        }
        Command::Convert { from, to, format, force, duration } => {
            if let Some((input, _)) = inputs::file(from)?
                && is_same(&input, to)
            {
                let fix = "the recording would be lost: give another file to write";
                anyhow::bail!("{}: is the file that is read, {fix}", to.display());
            }
            check_free(to, *force)?;
            let Found { trace, notes, .. } = find(from, *duration)?;
            let is_csv = to.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
            let (text, format) = match format.unwrap_or(if is_csv { Written::Csv } else { Written::Mahimahi }) {
                Written::Mahimahi => (mahimahi(&trace, to), Format::Mahimahi),
                Written::Seconds => (seconds(&trace, to), Format::Seconds),
                Written::Csv => (to_csv(&trace), Format::Csv),
            };
            notes.iter().for_each(|note| note!("{from}: {note}"));
            folder::write_whole(to, text.as_bytes())?;
            wrote(&trace, to, format);
            Ok(())
        }
        Command::Synthesize { preset, .. } if preset == "list" => {
            for preset in presets() {
                outln!("{:16} {}", preset.name, preset.about);
            }
            for kind in &KINDS {
                outln!("{:16} {} ({}:{})", kind.name, kind.about, kind.name, kind.parameters);
            }
            Ok(())
        }
        Command::Synthesize { preset, out, force, duration, seed } => {
            let link: Synthetic = preset.parse()?;
            out.as_ref().map_or(Ok(()), |out| check_free(out, *force))?;
            write(&link.synthesize(*duration, *seed)?, out.as_deref())
        }
    }
}

/// Returns true if both paths are of one file, by whatever names and links.
fn is_same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let file = |path: &Path| path.metadata().map(|found| (found.dev(), found.ino())).ok();
        if file(one).is_some_and(|one| file(other) == Some(one)) {
            return true;
        }
    }
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// Refuses to write over a file that exists, unless that is wanted.
fn check_free(to: &Path, force: bool) -> anyhow::Result<()> {
    anyhow::ensure!(to != Path::new("-"), "-: a trace is written to a file, whose ending says its format: name one");
    let is_taken = !force && to.symlink_metadata().is_ok();
    anyhow::ensure!(!is_taken, "{}: exists: give another file to write, or --force to write over it", to.display());
    Ok(())
}

/// Says what was written.
fn wrote(trace: &Trace, to: &Path, format: Format) {
    let (seconds, mbps) = (trace.period().as_secs_f64(), trace.mean_rate().as_mbps_f64());
    note!("wrote {}: {format}, {seconds:.1} s at {mbps:.3} Mbps", to.display());
}

/// The text of a file of one rate a second.
fn seconds(trace: &Trace, to: &Path) -> String {
    let (text, name) = (to_seconds(trace), to.to_string_lossy());
    if thalweg_traces::read(text.as_bytes(), &name, &ReadOptions::default()).is_err() {
        note!("{name}: its rates could be kbps as well; read it as {name}:unit=Mbps");
    }
    text
}

/// The text of a file in Mahimahi's format. A link of few milliseconds is repeated, so that it is not mistaken for
/// rates when the file is read.
fn mahimahi(trace: &Trace, to: &Path) -> String {
    let (name, options) = (to.to_string_lossy(), ReadOptions::default());
    let texts = doublings(trace).map(|doubled| trace.repeated(1 << doubled).to_text());
    let mut clear = texts.filter(|text| thalweg_traces::read(text.as_bytes(), &name, &options).is_ok());
    clear.next().unwrap_or_else(|| {
        note!("{name}: could be one rate a second as well; read it as {name}:format=mahimahi");
        trace.to_text()
    })
}

/// How often doubling a link may make it clear: until it has 16 times and lasts a second. A slow link never becomes
/// clear, and a long one would fill the memory.
fn doublings(trace: &Trace) -> impl Iterator<Item = u32> {
    let period = trace.period();
    (0..).take_while(move |doubled| *doubled <= 4 || period * (1 << (doubled - 1)) < Span::from_secs(1))
}

fn write(trace: &Trace, to: Option<&Path>) -> anyhow::Result<()> {
    match to {
        Some(path) => {
            folder::write_whole(path, mahimahi(trace, path).as_bytes())?;
            wrote(trace, path, Format::Mahimahi);
            Ok(())
        }
        None => {
            out!("{}", trace.to_text());
            Ok(())
        }
    }
}

fn inspect(Found { trace, format, notes, .. }: &Found) {
    if let Some(format) = format {
        outln!("read as           {format}");
    }
    notes.iter().for_each(|note| outln!("                  {note}"));
    let s = trace.statistics();
    if s.duration < Span::from_secs(1) {
        outln!(
            "constant rate     {:.3} Mbps, {} opportunities of 1500 bytes in turn",
            s.mean.as_mbps_f64(),
            s.opportunities
        );
        return;
    }
    let [min, p5, p25, median, p75, p95, max] = s.per_second.map(|rate| format!("{:.2}", rate.as_mbps_f64()));
    outln!("duration          {:.1} s, {} opportunities of 1500 bytes", s.duration.as_secs_f64(), s.opportunities);
    outln!("mean rate         {:.3} Mbps", s.mean.as_mbps_f64());
    outln!("rate per second   {min} min, {p5} p5, {p25} p25, {median} median, {p75} p75, {p95} p95, {max} max (Mbps)");
    outln!(
        "variation         {:.2} (deviation over mean), {:.2} correlated with the next second",
        s.variation,
        s.autocorrelation
    );
    outln!("longest gap       {:.0} ms; {} gaps over 1 s", s.longest_gap.as_millis_f64(), s.long_gaps);
    outln!("in outages        {:.1}% of the time (gaps over 100 ms)", s.outage_share * 100.0);
    let (line, highest) = sparkline(trace, progress::width_of_output().min(80));
    outln!("rate over time    0 to {highest:.2} Mbps; a blank is an outage");
    outln!("{line}");
}

/// The rate over time in this many letters, and the highest rate that a letter stands for, in Mbps.
fn sparkline(trace: &Trace, letters: usize) -> (String, f64) {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let millis = trace.period().as_millis().max(1).unsigned_abs();
    // Letters of whole milliseconds, so that each has its share of opportunities.
    let each = millis.div_ceil(letters.max(1) as u64);
    // An opportunity is at the end of its millisecond.
    let count = |from: u64, to: u64| trace.opportunities(Time::from_millis(from + 1), Time::from_millis(to + 1));
    let starts = (0..millis).step_by(each as usize);
    let mbps = |from: u64| {
        let to = (from + each).min(millis);
        count(from, to) as f64 * 0.012 / (to - from) as f64 * 1e3
    };
    let rates: Vec<f64> = starts.map(mbps).collect();
    let highest = rates.iter().copied().fold(0.0, f64::max);
    let level = |rate: &f64| match *rate {
        rate if rate > 0.0 => LEVELS[((rate / highest * 8.0).round() as usize).clamp(1, 8) - 1],
        _ => ' ',
    };
    (rates.iter().map(level).collect(), highest)
}

/// The keys are described in docs/traces.md.
fn json(name: &str, Found { trace, format, notes, delay }: &Found) -> serde_json::Value {
    let s = trace.statistics();
    let [min, p5, p25, p50, p75, p95, max] = s.per_second.map(|rate| rate.as_bps());
    let rates: Vec<u64> = trace.rates_by_second().iter().map(|rate| rate.as_bps()).collect();
    serde_json::json!({
        "trace": name,
        "format": format.map(|format| format.to_string()),
        "notes": notes,
        "delay_ms": delay.map(Span::as_millis_f64),
        "duration_s": s.duration.as_secs_f64(),
        "opportunities": s.opportunities,
        "mean_bps": s.mean.as_bps(),
        "per_second_bps": { "min": min, "p5": p5, "p25": p25, "p50": p50, "p75": p75, "p95": p95, "max": max },
        "variation": s.variation,
        "autocorrelation": s.autocorrelation,
        "longest_gap_ms": s.longest_gap.as_millis_f64(),
        "gaps_over_1s": s.long_gaps,
        "outage_ratio": s.outage_share,
        "rates_bps": rates,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Rate;

    #[test]
    fn a_link_is_doubled_only_as_often_as_that_may_make_it_clear() {
        let most = |millis: Vec<u64>| doublings(&Trace::new(millis).unwrap()).last();
        assert_eq!((most(vec![1]), most(vec![100]), most(vec![86_400_000])), (Some(10), Some(4), Some(4)));
    }

    #[test]
    fn a_sparkline_has_a_letter_for_each_stretch_and_a_blank_for_an_outage() {
        let [all, half] = [8000, 4000].map(Rate::from_kbps);
        let steps = [(1000, all), (500, Rate::ZERO), (1000, half), (500, all)];
        let (line, highest) = sparkline(&Trace::from_rates(steps).unwrap(), 6);
        assert_eq!(line, "██ ▄▄█");
        assert!((highest - 8.0).abs() < 0.05, "{highest}");
        assert_eq!(sparkline(&Trace::new(vec![1]).unwrap(), 80), ("█".into(), 12.0));
    }
}
