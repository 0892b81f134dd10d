//! A publisher under load: `publish_load SOURCE SIZE RATE ENCODERS` sends a built-in scene or file
//! to at most 1000 viewers, each at most at RATE, and prints the page's address. An .ivf file is sent as it is encoded.

use std::error::Error;
use std::sync::Arc;

use thalweg_codecs::Codec;
use thalweg_emulate::clock::{Clock, pause};
use thalweg_live::publish::{PublishConfig, Publisher};
use thalweg_live::web::{Server, WebConfig};
use thalweg_netsim::Trace;
use thalweg_sender::Scheme;
use thalweg_units::Span;
use thalweg_video::Video;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [source, size, rate, encoders] = &arguments[..] else {
        return Err("publish_load SOURCE SIZE RATE ENCODERS".into());
    };
    let is_encoded = source.ends_with(".ivf");
    let size = if is_encoded { None } else { Some(size.parse()?) };
    let clock = Clock::new();
    let config = PublishConfig {
        video: Video::of(source.clone(), size),
        audio: None,
        codec: (!is_encoded).then(Codec::default),
        encoders: Some(encoders.parse()?),
        max_viewers: 1000,
        max_rate: Some(rate.parse()?),
        ..PublishConfig::new("gcc".parse::<Scheme>()?)
    };
    let mut none = |name: &str| -> Result<Arc<Trace>, String> { Err(format!("no trace {name}")) };
    let publisher = Publisher::start(config, clock, &mut none)?;
    let server = Server::start(WebConfig::new("127.0.0.1:8090".parse()?)?, publisher.hub())?;
    println!("http://{}/", server.address());
    while publisher.is_running() {
        pause(Span::from_millis(500));
    }
    Ok(publisher.finish()?)
}
