//! QUIC connections of quinn and noq over emulated paths, in virtual time or on sockets: their controllers beside ours.

mod ends;
#[cfg(test)]
#[path = "../../../tests/in_real_time.rs"]
mod in_real_time;
mod links;
mod live;
mod run;
mod stack;
mod table;
#[cfg(test)]
mod tests;

use clap::{Parser, ValueEnum};
use thalweg_netsim::QueueConfig;
use thalweg_netsim::queue::Limits;
use thalweg_units::{Bytes, Rate, Span};

use links::Paths;
use run::{Carriage, Outcome, Workload};
use stack::{Controller, Setup};
use table::Row;

#[derive(Parser)]
struct Arguments {
    /// Kind of traffic and its links.
    #[arg(value_enum)]
    table: Table,
    /// The stacks.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "quinn,noq")]
    stack: Vec<Stack>,
    /// Controllers: `cubic`, `newreno` and `bbr` of the stack, or schemes of ours with `ours:` before them.
    #[arg(long, value_delimiter = ',')]
    controller: Vec<String>,
    /// Links instead of the table's.
    #[arg(long, value_delimiter = ',')]
    link: Vec<String>,
    /// How frames travel.
    #[arg(long, value_enum, default_value = "datagrams")]
    carriage: Carriage,
    /// Bytes that the link's queue holds; endless if absent.
    #[arg(long)]
    queue: Option<u64>,
    /// Ask for an acknowledgement of each packet.
    #[arg(long)]
    each_acknowledged: bool,
    /// The most that the encoder makes.
    #[arg(long, default_value = "40Mbps")]
    max_rate: Rate,
    /// Seconds.
    #[arg(long, default_value_t = 120)]
    duration: i64,
    /// Also a row for each link.
    #[arg(long)]
    links: bool,
    /// Window and round trip each 33 ms, instead of the table.
    #[arg(long)]
    windows: bool,
    /// For `bulk`: max delay of a packet's delivery by the timer, in milliseconds, in both directions.
    #[arg(long, default_value_t = 0)]
    late: i64,
    /// For `live`: the number of bytes to send.
    #[arg(long, default_value_t = 20_000_000)]
    bytes: usize,
    /// For `live`: the program whose `emulate` is the link.
    #[arg(long, default_value = "thalweg")]
    thalweg: String,
    /// For `bulk` and `live`: fail unless `copa` and `bbr` meet the bar, in `live` `bbr` only in quinn.
    #[arg(long)]
    check: bool,
}

impl Arguments {
    /// The controllers that have to meet the bar. noq paces at BBR's own rate and has its whole window in flight, which a
    /// millisecond of lateness makes too large (docs/quic.md).
    fn held(&self, stack: Stack) -> &'static [&'static str] {
        if self.table == Table::Live && stack == Stack::Noq { &["copa"] } else { &["copa", "bbr"] }
    }
}

/// A link that lets packets leave later than this has no processor when it needs one, nor have client and server.
const BUSY: Span = Span::from_millis(2);

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Table {
    /// Media over the eight recorded cellular links of the test set.
    Test,
    /// The same over those of the tuning set.
    Tuning,
    /// A stream for a minute over 10 Mbps, 30 ms, 64 KB.
    Bulk,
    /// The same for some bytes on sockets of this machine, through `thalweg emulate`.
    Live,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Stack {
    Quinn,
    Noq,
}

impl Stack {
    fn name(self) -> &'static str {
        match self {
            Stack::Quinn => "quinn 0.11",
            Stack::Noq => "noq 1.4",
        }
    }
}

/// Our controllers in the tables.
const OURS: [&str; 6] = ["copa", "bbr", "rocc", "scream", "sqp", "pudica"];

fn controllers(names: &[String]) -> anyhow::Result<Vec<Controller>> {
    let theirs = [Controller::Cubic, Controller::NewReno, Controller::Bbr];
    if names.is_empty() {
        return Ok(theirs.into_iter().chain(OURS.map(Controller::Ours)).collect());
    }
    let named = |name: &String| match name.as_str() {
        "cubic" => Ok(Controller::Cubic),
        "newreno" => Ok(Controller::NewReno),
        "bbr" => Ok(Controller::Bbr),
        other => {
            let ours =
                OURS.into_iter().chain(thalweg_quic_cc::EXPERIMENTAL).find(|name| other == format!("ours:{name}"));
            ours.map(Controller::Ours).ok_or_else(|| anyhow::anyhow!("no controller '{other}': cubic, ours:copa, ..."))
        }
    };
    names.iter().map(named).collect()
}

/// The rates of a controller of ours for a bulk.
fn bulk_rates() -> [Rate; 3] {
    [1000, 100, 100_000].map(Rate::from_kbps)
}

fn play(
    stack: Stack,
    controller: Controller,
    each_acknowledged: bool,
    paths: &Paths,
    workload: Workload,
    duration: Span,
) -> anyhow::Result<Outcome> {
    let rates = match workload {
        Workload::Media { min, max, .. } => [Rate::from_kbps(1000), min, max.scale(1.0 / run::MEDIA_SHARE)],
        Workload::Bulk(_) => bulk_rates(),
    };
    let setup = Setup { controller, rates, each_acknowledged };
    let make = |now| match stack {
        Stack::Quinn => ends::quinn::ends(&setup, now),
        Stack::Noq => ends::noq::ends(&setup, now),
    };
    run::play(&make, paths, workload, duration)
}

/// A bulk on sockets.
fn live(stack: Stack, controller: Controller, size: usize, through: live::Through<'_>) -> anyhow::Result<Outcome> {
    let setup = Setup { controller, rates: bulk_rates(), each_acknowledged: false };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match stack {
            Stack::Quinn => live::quinn::bulk(&setup, size, through).await,
            Stack::Noq => live::noq::bulk(&setup, size, through).await,
        }
    })
}

/// The same through `thalweg emulate`, and how late packets left that (P99).
fn emulated(stack: Stack, controller: Controller, arguments: &Arguments) -> anyhow::Result<(Outcome, Span)> {
    let mut emulate = None;
    let outcome = live(stack, controller, arguments.bytes, &mut |server| {
        let started = emulate.insert(live::Emulate::start(&arguments.thalweg, server)?);
        Ok(started.address)
    });
    let passed = emulate.map(live::Emulate::stop).transpose()?;
    let (outcome, passed) = (outcome?, passed.expect("it has carried a bulk"));
    // A packet has no more than an Ethernet frame's payload.
    let least = outcome.received.get() / 1500;
    anyhow::ensure!(passed.delivered >= least, "of {least} packets only {} went through the link", passed.delivered);
    Ok((Outcome { dropped: passed.dropped, ..outcome }, passed.late))
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let duration = Span::from_secs(arguments.duration);
    let queue = match arguments.queue {
        Some(bytes) => QueueConfig::DropTail(Limits::bytes(Bytes::new(bytes))),
        None => QueueConfig::Infinite,
    };
    let media = Workload::Media { carriage: arguments.carriage, min: Rate::from_kbps(100), max: arguments.max_rate };
    let names: Vec<&str> = match arguments.table {
        _ if !arguments.link.is_empty() => arguments.link.iter().map(String::as_str).collect(),
        Table::Test => links::TEST.to_vec(),
        Table::Tuning => links::TUNING.to_vec(),
        Table::Bulk | Table::Live => vec!["10 Mbps"],
    };
    let controllers = controllers(&arguments.controller)?;
    let (mut missed, mut late) = (Vec::new(), Span::ZERO);
    for stack in &arguments.stack {
        let mut rows = Vec::new();
        for controller in &controllers {
            let mut outcomes = Vec::new();
            for name in &names {
                let play = |paths: Paths, workload: Workload| {
                    play(*stack, *controller, arguments.each_acknowledged, &paths, workload, duration)
                };
                let outcome = match arguments.table {
                    Table::Bulk => play(links::bulk(Span::from_millis(arguments.late)), Workload::Bulk(u64::MAX >> 20)),
                    Table::Live => emulated(*stack, *controller, &arguments).map(|(outcome, by)| {
                        late = late.max(by);
                        outcome
                    }),
                    Table::Test | Table::Tuning => play(links::recorded(name, queue), media),
                }?;
                if arguments.windows {
                    for (at, window, srtt) in &outcome.windows {
                        println!("{at} {window} {srtt}");
                    }
                }
                outcomes.push(outcome);
            }
            rows.push(Row { controller: *controller, outcomes });
        }
        println!("\n{}\n", stack.name());
        match arguments.table {
            Table::Bulk | Table::Live => table::bulk(&rows),
            Table::Test | Table::Tuning => table::media(&rows),
        }
        if arguments.links {
            table::links(&rows, &names);
        }
        if arguments.check {
            missed.extend(
                table::missed(&rows, arguments.held(*stack)).into_iter().map(|row| format!("{}, {row}", stack.name())),
            );
        }
    }
    if arguments.table == Table::Live {
        println!("\nPackets left the link late by {:.1} ms at most (P99 of a run).", late.as_millis_f64());
    }
    let missed = missed.join("; ");
    anyhow::ensure!(missed.is_empty() || late <= BUSY, "not to be judged beside so much other work: {missed}");
    anyhow::ensure!(missed.is_empty(), "the bar is missed: {missed}");
    Ok(())
}
