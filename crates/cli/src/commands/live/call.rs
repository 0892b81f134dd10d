//! `thalweg call`: two people, browser to browser through this publisher.

use thalweg_emulate::clock::Clock;
use thalweg_live::publish::reached_at;
use thalweg_live::web::Server;

use super::access::printed;
use super::incoming::{Incoming, finish, say_left};
use super::sending::{Sending, attend, check_followed};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg call
  thalweg call --scheme vidaptive --back-scheme gcc --rate 2Mbps/500kbps@20s --delay 25ms
  thalweg call --listen 0.0.0.0:8443 --tls-certificate cert.pem --tls-key key.pem --pass-through")]
pub(crate) struct Arguments {
    /// The scheme from the first seat to the second (see `thalweg schemes`)
    #[arg(long, default_value = "vidaptive")]
    scheme: String,
    /// Scheme from the second seat to the first (default: that of --scheme)
    #[arg(long, value_name = "SCHEME")]
    back_scheme: Option<String>,
    #[command(flatten)]
    incoming: Incoming,
    #[command(flatten)]
    sending: Sending,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { scheme, back_scheme, incoming, sending } = arguments;
    super::logs::begin(sending.log_json)?;
    let back_scheme = back_scheme.as_ref().unwrap_or(scheme);
    for scheme in [scheme, back_scheme] {
        check_followed(scheme)?;
    }
    let clock = Clock::new();
    let there = incoming.start(sending, ("first seat", scheme), (0, Some("a")), clock)?;
    let back = incoming.start(sending, ("second seat", back_scheme), (1, Some("b")), clock)?;
    let web = sending.web(clock, "join in your place")?;
    let server = Server::start_calling(web, &[there.relayed(), back.relayed()])?;
    for address in reached_at(server.address())? {
        outln!("call at {}", printed(server.link(address), sending.token.as_ref()));
    }
    let on_tick = || {
        [&there, &back].into_iter().for_each(say_left);
        Ok(())
    };
    attend(clock, sending.duration, || there.is_running() && back.is_running(), on_tick)?;
    server.stop();
    finish(there).and(finish(back))
}
