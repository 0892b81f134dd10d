//! `thalweg trace`: inspect, convert and make link traces.

use std::path::{Path, PathBuf};

use anyhow::Context;
use thalweg_link::Trace;
use thalweg_link::synthesize::{KINDS, Synthetic, presets};
use thalweg_units::{Seed, Span};

use crate::commands::values;
use crate::link;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg trace inspect lte-driving
  thalweg trace synthesize umts-driving -o umts.trace
  thalweg trace convert throughput.log up.trace")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Print statistics of a trace
    Inspect {
        /// A trace file, a rate, rates in turn or a synthetic link
        trace: String,
        /// Length of a synthetic link
        #[arg(long, default_value = "120s", value_parser = values::duration)]
        duration: Span,
    },
    /// Write any trace in Mahimahi's format
    Convert {
        /// A trace file (Mahimahi's, or one throughput value in Mbps per second)
        from: PathBuf,
        /// The file to write
        to: PathBuf,
    },
    /// Make a synthetic link, in Mahimahi's format
    Synthesize {
        /// The kind of link, such as lte-driving or poisson:rate=2Mbps, or `list`
        preset: String,
        /// The file to write; standard output when absent
        #[arg(long, short)]
        out: Option<PathBuf>,
        /// Length of the link
        #[arg(long, default_value = "120s", value_parser = values::duration)]
        duration: Span,
        /// The seed: each gives another link of this kind
        #[arg(long, default_value_t = Seed::new(1), value_parser = values::seed)]
        seed: Seed,
    },
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.command {
        Command::Inspect { trace, duration } => {
            inspect(&*link::find(trace, *duration, Seed::new(1))?);
            Ok(())
        }
        Command::Convert { from, to } => {
            let text = std::fs::read_to_string(from).with_context(|| from.display().to_string())?;
            let trace = link::read(&text).with_context(|| from.display().to_string())?;
            write(&trace, Some(to))
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
        Command::Synthesize { preset, out, duration, seed } => {
            let link: Synthetic = preset.parse()?;
            write(&link.synthesize(*duration, *seed)?, out.as_deref())
        }
    }
}

fn write(trace: &Trace, to: Option<&Path>) -> anyhow::Result<()> {
    match to {
        Some(path) => std::fs::write(path, trace.to_text()).with_context(|| path.display().to_string()),
        None => {
            out!("{}", trace.to_text());
            Ok(())
        }
    }
}

fn inspect(trace: &Trace) {
    let s = trace.statistics();
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
}
