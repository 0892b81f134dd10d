//! `thalweg emulate`: the simulator's link between other programs.

use std::net::SocketAddr;

use anyhow::{Context, ensure};
use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::{Poller, PollerConfig, Signals};
use thalweg_emulate::{DirectionStatistics, Relay, RelayConfig, Statistics, Zero};
use thalweg_units::{Bytes, Span, Time};

use super::addresses::local_address;
use super::emulated::Emulated;
use crate::clock;
use crate::commands::values;
use crate::progress::StatusLine;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg emulate --listen 9000 --to 5004 --rate 2Mbps --delay 20ms
  thalweg emulate --listen 9000 --to 192.0.2.7:5004 --up lte-driving --loss 1%")]
pub(crate) struct Arguments {
    /// The address or local port clients send to, such as 127.0.0.1:9000 or 9000; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", value_parser = local_address)]
    listen: SocketAddr,
    /// The server's address or local port
    #[arg(long, value_name = "ADDRESS", value_parser = local_address)]
    to: SocketAddr,
    /// The maximum number of clients at a time
    #[arg(long, default_value_t = 64)]
    clients: usize,
    /// Timeout after which a silent client is removed
    #[arg(long, default_value = "60s", value_parser = values::duration)]
    idle: Span,
    /// Stop after this time (default: at Ctrl-C)
    #[arg(long, value_parser = values::duration)]
    duration: Option<Span>,
    /// Length of the busy wait at the end of each sleep: timers fire less late, at the cost of a busy core
    #[arg(long, default_value = "0us", value_parser = values::time)]
    spin: Span,
    /// Print the statistics at the end as one JSON object instead of four lines
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    link: Emulated,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let (listen, to) = (arguments.listen, arguments.to);
    ensure!(to.port() != 0, "--to {to}: port 0 is none that a server listens on: name its port");
    ensure!(to != listen, "--to {to}: is the address of --listen: each datagram would go around without end");
    let link = arguments.link.link(Zero::Start)?;
    let config = RelayConfig {
        link: link.config.clone(),
        max_clients: arguments.clients,
        idle: arguments.idle,
        poller: PollerConfig { spin: arguments.spin },
        ..RelayConfig::new(listen, to)
    };
    let mut signals = Signals::to_end()?;
    let relay = Relay::start(&config, &mut |name| link.find(name))?;
    let until = arguments.duration.map_or_else(String::new, |duration| format!("until {}, ", clock::after(duration)));
    eprintln!("from {} to {}; {until}Ctrl-C ends", relay.address(), to);
    let end = arguments.duration.map_or(Time::NEVER, |duration| config.clock.now() + duration);
    watch(&relay, config.clock, end, &mut signals)?;
    let statistics = relay.stop().context("the relay failed")?;
    match arguments.json {
        true => outln!("{}", serde_json::to_string_pretty(&statistics.json())?),
        false => outln!("{statistics}"),
    }
    Ok(())
}

/// Prints the relay's statistics, once a second on a terminal, until a signal or `end`.
fn watch(relay: &Relay, clock: Clock, end: Time, signals: &mut Signals) -> anyhow::Result<()> {
    let mut poller = Poller::new(clock, PollerConfig::default())?;
    let status = StatusLine::new();
    let mut tick = clock.now();
    let mut before = [Bytes::ZERO; 2];
    while !signals.take() && clock.now() < end {
        tick += Span::from_secs(1);
        let woken = poller.wait(tick.min(end), &[&*signals])?;
        // A relay that has failed reports the reason when it is stopped.
        let Some(statistics) = relay.statistics() else { break };
        if !status.is_hidden() && woken.due {
            status.show(line(&statistics, before));
            before = [statistics.up.delivered_bytes, statistics.down.delivered_bytes];
        }
    }
    Ok(())
}

fn line(statistics: &Statistics, before: [Bytes; 2]) -> String {
    let part = |name: &str, direction: &DirectionStatistics, before: Bytes| {
        let rate = (direction.delivered_bytes - before).per(Span::from_secs(1)).as_mbps_f64();
        let dropped = direction.dropped.values().sum::<u64>() + direction.overflowed;
        format!("{name} {rate:.2} Mbps, {} waiting, {dropped} dropped", direction.inside)
    };
    let (up, down) = (part("up", &statistics.up, before[0]), part("down", &statistics.down, before[1]));
    format!("{up}; {down}; {} clients", statistics.clients)
}
