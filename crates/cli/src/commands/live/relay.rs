//! `thalweg relay`: what anybody sends by WHIP goes to viewers, each with a sender of its own.

use thalweg_emulate::clock::Clock;
use thalweg_live::publish::reached_at;
use thalweg_live::web::Server;

use super::access::printed;
use super::incoming::{Incoming, finish, say_left};
use super::sending::{Sending, attend, browsers_follow};
use super::whip_server::{Reached, WhipServer};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg relay
  thalweg relay --scheme gcc --size 640x360 --encoders 2
  thalweg relay --pass-through --accept h264 --whip https://example.org/whip/endpoint
  thalweg relay --rate 3Mbps/1Mbps@10s --delay 25ms")]
pub(crate) struct Arguments {
    /// Scheme of the senders to viewers (see `thalweg schemes`); viewers can switch
    #[arg(long, default_value = "vidaptive")]
    scheme: String,
    #[command(flatten)]
    whip: WhipServer,
    #[command(flatten)]
    incoming: Incoming,
    #[command(flatten)]
    sending: Sending,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { scheme, whip, incoming, sending } = arguments;
    super::logs::begin(sending.log_json)?;
    let endpoint = whip.endpoint()?;
    if !browsers_follow(scheme)? {
        eprintln!("warning: browsers cannot follow {scheme}: watch it with `thalweg watch`, or let viewers switch");
    }
    let clock = Clock::new();
    let relay = incoming.start(sending, ("relay", scheme), (0, None), clock)?;
    let server = Server::start_relaying(sending.web(clock, "take the video or send in your place")?, &relay.relayed())?;
    let token = sending.token.as_ref();
    for address in reached_at(server.address())? {
        outln!("watch at {}", printed(server.link(address), token));
        outln!("send a camera from {}", printed(server.link_to(address, "send/"), token));
        outln!("send by WHIP to {}", server.endpoint(address, "send/whip"));
    }
    let mut reached = Reached::start(endpoint, relay.publisher())?;
    let on_tick = || {
        say_left(&relay);
        reached.look()
    };
    let ended = attend(clock, sending.duration, || relay.is_running(), on_tick)?;
    server.stop();
    let reached = reached.finish(ended);
    finish(relay)?;
    reached
}
