//! Publishes the built-in scene to browsers, with a controller that Thalweg does not know.

use thalweg::emulate::clock::Clock;
use thalweg::emulate::reactor::{Poller, PollerConfig, Signals};
use thalweg::live::publish::{PublishConfig, Publisher};
use thalweg::live::web::{Server, WebConfig};
use thalweg::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut config = PublishConfig::new(external::sender()?);
    config.video.size = Some(Size::new(640, 360));
    config.codec = Some("functional".parse()?);
    let clock = Clock::new();
    let mut signals = Signals::to_end()?;
    let publisher = Publisher::start(config, clock, &mut |name| Err(format!("there is no link '{name}'")))?;
    let web = WebConfig { clock, ..WebConfig::new("127.0.0.1:0".parse()?)? };
    let server = Server::start(web, publisher.hub())?;
    println!("watch at http://{}/", server.address());
    let mut poller = Poller::new(clock, PollerConfig::default())?;
    while publisher.is_running() && !signals.take() {
        poller.wait(clock.now() + Span::from_millis(200), &[&signals])?;
    }
    server.stop();
    Ok(publisher.finish()?)
}
