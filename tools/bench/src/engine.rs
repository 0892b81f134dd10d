//! `thalweg-bench engine`: the CPU cost of schemes with an encoder model, with a real encoder, and of their controllers
//! alone.

use serde_json::{Value, json};
use thalweg_codecs::Codec;
use thalweg_lab::record::Recorder;
use thalweg_sender::Scheme;
use thalweg_units::{Size, Span};

use super::controllers::{Script, replay};
use super::measure::{Spread, interleaved};
use super::runs::{Link, links, packets, play, scenario};

/// Interval between the transport-wide feedback reports of Chromium's receiver.
const BATCH: Span = Span::from_millis(62);

#[derive(clap::Args)]
#[group(id = "engine")]
pub(crate) struct Arguments {
    /// Schemes to measure, separated by commas (see `thalweg schemes`)
    #[arg(long, default_value = "gcc,copa,vidaptive,vidaptive:rocc", value_delimiter = ',')]
    scheme: Vec<String>,
    /// The size of the real encoder's pictures
    #[arg(long, default_value = "720p")]
    size: Size,
    /// Fewer and shorter runs: seconds instead of a minute, less accurate
    #[arg(long)]
    quick: bool,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// The number and length of measurements.
struct Effort {
    /// Length of a run with the encoder model, in simulated time.
    model: Span,
    /// Length of a run with the real encoder.
    real: Span,
    times: usize,
}

/// The measurements of a scheme.
struct Cost {
    scheme: String,
    /// One for each link.
    model: Vec<ModelCost>,
    real: Option<RealCost>,
    /// CPU seconds per packet sent and reported at once, and per report of several packets with these packets.
    packet: Spread,
    report: Spread,
    packets_per_report: f64,
}

/// A run with the encoder model.
struct ModelCost {
    link: &'static str,
    /// CPU seconds per simulated second.
    cpu: Spread,
    packets: f64,
    events: f64,
}

/// A run with a real encoder.
struct RealCost {
    codec: &'static str,
    cpu: Spread,
    /// The part of it that is neither codec nor pixels: the cost of the run with the model.
    rest: f64,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let schemes: Vec<Scheme> = arguments.scheme.iter().map(|name| name.parse()).collect::<Result<_, _>>()?;
    let effort = match arguments.quick {
        true => Effort { model: Span::from_secs(60), real: Span::from_secs(2), times: 3 },
        false => Effort { model: Span::from_secs(600), real: Span::from_secs(10), times: 5 },
    };
    let costs = measure(&schemes, arguments.size, &effort)?;
    if arguments.json {
        let schemes: Vec<Value> = costs.iter().map(Cost::json).collect();
        let whole =
            json!({ "bench": "engine", "size": arguments.size.to_string(), "times": effort.times, "schemes": schemes });
        println!("{}", serde_json::to_string_pretty(&whole)?);
    } else {
        print(&costs, arguments.size, effort.times);
    }
    Ok(())
}

fn measure(schemes: &[Scheme], size: Size, effort: &Effort) -> anyhow::Result<Vec<Cost>> {
    let tell = |what: &'static str| {
        move |round: usize| match round {
            0 => eprintln!("{what}: warming up"),
            _ => eprintln!("{what}: round {round} of {}", effort.times),
        }
    };
    let links = links(effort.model)?;
    let modelled = scenario(&Codec::Model(Default::default()), size, effort.model);
    let pairs: Vec<(&Scheme, &Link)> =
        schemes.iter().flat_map(|scheme| links.iter().map(move |link| (scheme, link))).collect();
    let seconds = effort.model.as_secs_f64();
    let cpu = interleaved(&pairs, effort.times, tell("encoder model"), |(scheme, link)| {
        Ok(play(&modelled, scheme, link)?.0 / seconds)
    })?;
    let recorders: Vec<Recorder> =
        pairs.iter().map(|(scheme, link)| Ok(play(&modelled, scheme, link)?.1)).collect::<anyhow::Result<_>>()?;
    let model: Vec<ModelCost> = (pairs.iter().zip(&recorders).zip(cpu))
        .map(|(((_, link), recorder), cpu)| {
            let [packets, events] = [packets(recorder), recorder.len()].map(|count| count as f64 / seconds);
            ModelCost { link: link.name, cpu, packets, events }
        })
        .collect();
    let (Some(hard), per_scheme) = (links.last(), links.len()) else { unreachable!("there are links") };

    // The feedback of each scheme over the last link, given to its controller in two ways.
    let over_last_link = recorders.iter().skip(per_scheme - 1).step_by(per_scheme);
    let scripts: Vec<(&Scheme, Script)> = (schemes.iter().zip(over_last_link))
        .flat_map(|(scheme, recorder)| [None, Some(BATCH)].map(|batch| (scheme, Script::new(recorder, batch))))
        .collect();
    let alone = interleaved(&scripts, effort.times, tell("controllers"), |(scheme, script)| replay(scheme, script))?;

    let codec = ["vp8", "h264"].iter().find_map(|name| name.parse::<Codec>().ok());
    let real = match &codec {
        None => vec![None; schemes.len()],
        Some(codec) => {
            let scenario = scenario(codec, size, effort.real);
            let seconds = effort.real.as_secs_f64();
            let cpu = interleaved(schemes, effort.times, tell(codec.name()), |scheme| {
                Ok(play(&scenario, scheme, hard)?.0 / seconds)
            })?;
            cpu.into_iter().map(|cpu| Some((codec.name(), cpu))).collect()
        }
    };

    let mut model = model.into_iter();
    let costs = schemes.iter().zip(scripts.chunks(2)).zip(alone.chunks(2)).zip(real);
    Ok(costs
        .map(|(((scheme, scripts), alone), real)| {
            let model: Vec<ModelCost> = model.by_ref().take(per_scheme).collect();
            let rest = model.last().map_or(f64::NAN, |model| model.cpu.median);
            let real = real.map(|(codec, cpu)| RealCost { codec, cpu, rest: rest / cpu.median });
            let (packets, reports) = (scripts[0].1.packets as f64, scripts[1].1.reports as f64);
            Cost {
                scheme: scheme.name.clone(),
                model,
                real,
                packet: alone[0].map(|cpu| cpu / packets),
                report: alone[1].map(|cpu| cpu / reports),
                packets_per_report: packets / reports,
            }
        })
        .collect())
}

impl Cost {
    fn json(&self) -> Value {
        let nanos = |cpu: Spread, count: f64| cpu.map(|cpu| cpu * 1e9 / count).json();
        let model = self.model.iter().map(|run| {
            json!({
                "link": run.link,
                "speed_x": run.cpu.map(f64::recip).json(),
                "packets_per_s": run.packets,
                "ns_per_packet": nanos(run.cpu, run.packets),
                "ns_per_event": nanos(run.cpu, run.events),
            })
        });
        let real = self.real.as_ref().map(
            |run| json!({ "codec": run.codec, "speed_x": run.cpu.map(f64::recip).json(), "rest_share": run.rest }),
        );
        json!({
            "scheme": self.scheme,
            "model": model.collect::<Vec<_>>(),
            "real": real,
            "controller": {
                "ns_per_packet": nanos(self.packet, 1.0),
                "ns_per_report": nanos(self.report, 1.0),
                "packets_per_report": self.packets_per_report,
            },
        })
    }
}

/// A median, and the deviation of the others from it in percent.
fn text(spread: Spread, digits: usize) -> String {
    format!("{:.digits$} ±{:.0}%", spread.median, spread.relative() * 100.0)
}

fn print(costs: &[Cost], size: Size, times: usize) {
    println!("CPU of one core, median of {times} and half the spread; one flow, 30 fps, every event recorded\n");
    println!("with the encoder model");
    println!(
        "{:20} {:12} {:>15} {:>10} {:>15} {:>15}",
        "scheme", "link", "x real time", "packets/s", "ns a packet", "ns an event"
    );
    for cost in costs {
        for run in &cost.model {
            let [packet, event] = [run.packets, run.events].map(|count| run.cpu.map(|cpu| cpu * 1e9 / count));
            let (speed, packet, event) = (text(run.cpu.map(f64::recip), 0), text(packet, 0), text(event, 0));
            println!("{:20} {:12} {speed:>15} {:>10.0} {packet:>15} {event:>15}", cost.scheme, run.link, run.packets);
        }
    }
    println!("\nthe controller alone with the history of packets, fed with the feedback of its run over lte-driving");
    println!("{:20} {:>21} {:>26}", "scheme", "ns a packet, own report", "ns a 62 ms report");
    for cost in costs {
        let (packet, report) = (text(cost.packet.map(|cpu| cpu * 1e9), 0), text(cost.report.map(|cpu| cpu * 1e9), 0));
        println!("{:20} {packet:>23} {report:>26}  of {:.0} packets", cost.scheme, cost.packets_per_report);
    }
    let real: Vec<_> = costs.iter().filter_map(|cost| Some((&cost.scheme, cost.real.as_ref()?))).collect();
    let Some((_, RealCost { codec, .. })) = real.first() else {
        println!("\nno real encoder is in this build");
        return;
    };
    println!("\nwith {codec} at {size} over lte-driving, PSNR and SSIM of every frame");
    println!("{:20} {:>15} {:>18} {:>26}", "scheme", "x real time", "ms CPU a second", "neither codec nor pixels");
    for (scheme, run) in real {
        let (speed, cpu) = (text(run.cpu.map(f64::recip), 2), text(run.cpu.map(|cpu| cpu * 1e3), 0));
        println!("{scheme:20} {speed:>15} {cpu:>18} {:>25.2}%", run.rest * 100.0);
    }
}
