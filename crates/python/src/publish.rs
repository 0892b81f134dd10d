//! Sending to browsers, with any sender: a controller in Python among them.

use std::net::SocketAddr;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use thalweg_codecs::{Codec, ParseCodecError};
use thalweg_emulate::LinkConfig;
use thalweg_emulate::clock::{Clock, pause};
use thalweg_lab::bound;
use thalweg_live::publish::{PublishConfig, PublishError, Publisher, reached_at};
use thalweg_live::web::{Server, WebConfig, WebError};
use thalweg_sender::Scheme;
use thalweg_sender::scheme::UnknownScheme;
use thalweg_units::{Span, Time};

use crate::errors::{from, raised};
use crate::links::Links;
use crate::sender::Sender;
use crate::{scenario, value};

/// Between two looks at Python's signals and at what a controller raised.
const LOOK_EVERY: Span = Span::from_millis(50);

/// Publishes a video until Ctrl-C, until its end or for `seconds`; `started` is called with the address of the page. The
/// paths of the scenario `over` are emulated between the sender and its viewers.
#[pyfunction]
#[pyo3(signature = (sender, video, codec, listen, over, links, seconds, started))]
#[expect(clippy::too_many_arguments, reason = "it is called by `thalweg.publish` alone, which has names and defaults")]
pub(crate) fn publish(
    py: Python<'_>,
    sender: &Sender,
    video: &Bound<'_, PyAny>,
    codec: &str,
    listen: &str,
    over: Option<&Bound<'_, PyAny>>,
    links: Py<Links>,
    seconds: Option<f64>,
    started: Py<PyAny>,
) -> PyResult<()> {
    if bound::Bound::is_named_by(sender.0.name()) {
        return Err(from("SchemeError", &bound::Bound::refusal(sender.0.name())));
    }
    let listen: SocketAddr = listen.parse().map_err(|_| {
        PyValueError::new_err(format!("listen is '{listen}': must be an address with a port, such as 127.0.0.1:8080"))
    })?;
    let wrong = |error: &ParseCodecError| raised(py, "ScenarioError", &format!("codec: {error}"), Some("codec"));
    let codec: Codec = codec.parse().map_err(|error| wrong(&error))?;
    let video = value::read(video, "ScenarioError")?;
    let over = over.map(scenario::of).transpose()?;
    // Any scheme: the channel's is the sender.
    let gcc: Scheme = "gcc".parse().map_err(|error: UnknownScheme| from("SchemeError", &error))?;
    let mut config = PublishConfig { video, codec: Some(codec), ..PublishConfig::new(gcc) };
    for channel in &mut config.channels {
        (channel.scheme, channel.bind) = (sender.0.clone(), SocketAddr::new(listen.ip(), 0));
        channel.link = over.as_ref().map(|over| LinkConfig {
            up: over.forward.clone(),
            down: over.reverse.clone(),
            seed: over.seed,
            ..LinkConfig::default()
        });
    }
    let mut find = |name: &str| match &over {
        Some(over) => links.get().find(name, over.duration, over.seed),
        None => Err(format!("no trace '{name}' without a link")),
    };
    // Without Python's lock from the first thread to the end of the last: a controller waits for it.
    py.detach(|| {
        let clock = Clock::new();
        let publisher = Publisher::start(config, clock, &mut find).map_err(failed)?;
        let web = WebConfig { clock, ..WebConfig::new(listen).map_err(refused)? };
        let server = Server::start(web, publisher.hub()).map_err(refused)?;
        let addresses = reached_at(server.address()).map_err(failed)?;
        let pages: Vec<String> = addresses.into_iter().map(|address| server.link(address)).collect();
        let mut ended = Python::attach(|py| started.call1(py, (pages,)).map(drop));
        let end = seconds.map_or(Time::NEVER, |seconds| clock.now() + Span::from_secs_f64(seconds));
        while ended.is_ok() && publisher.is_running() && clock.now() < end {
            pause(LOOK_EVERY);
            ended = sender.take_exception().map_or_else(|| Python::attach(|py| py.check_signals()), Err);
        }
        server.stop();
        let finished = publisher.finish().map_err(failed);
        ended.and(finished)
    })
}

fn failed(error: PublishError) -> PyErr {
    from("RunError", &error)
}

fn refused(error: WebError) -> PyErr {
    from("RunError", &error)
}
