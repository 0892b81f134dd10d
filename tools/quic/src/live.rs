//! A bulk from each stack's own client to its own server, on sockets of this machine and by the clock.

use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use thalweg_units::{Bytes, Span};
use tokio::time::Instant;

use crate::ends;
use crate::run::Outcome;
use crate::stack::{NAME, Setup, Tls};

/// How often the sender is asked for its smoothed round trip.
const SAMPLE: Duration = Duration::from_millis(10);
pub const HERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Puts a link before the server at this address, and returns the address that a client sends to.
pub type Through<'a> = &'a mut dyn FnMut(SocketAddr) -> anyhow::Result<SocketAddr>;

/// Content to send: bytes that are missing, or in the place of others, are noticed.
fn content(size: usize) -> Vec<u8> {
    (0..size as u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

macro_rules! stack {
    ($module:ident, $rtt:expr) => {
        pub mod $module {
            use ::$module::crypto::rustls::{QuicClientConfig, QuicServerConfig};
            use ::$module::{ClientConfig, Connection, Endpoint, ServerConfig};

            use super::*;

            /// Sends so many bytes in one stream. Round trips are smoothed ones, as the stack knows no others for long.
            pub async fn bulk(setup: &Setup, size: usize, through: Through<'_>) -> anyhow::Result<Outcome> {
                let tls = Tls::new()?;
                let config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls.server)?));
                let server = Endpoint::server(config, HERE)?;
                let address = through(server.local_addr()?)?;
                let receiver = tokio::spawn(receive(server, size));

                let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls.client)?));
                config.transport_config(Arc::new(ends::$module::sending(setup)?.0));
                let connection = Endpoint::client(HERE)?.connect_with(config, address, NAME)?.await?;
                let (sent, began) = (content(size), Instant::now());
                let mut stream = connection.open_uni().await?;
                let transfer = async {
                    stream.write_all(&sent).await?;
                    stream.finish()?;
                    receiver.await?
                };
                tokio::pin!(transfer);
                let (mut each, mut round_trips) = (tokio::time::interval(SAMPLE), Vec::new());
                let (received, ended) = loop {
                    tokio::select! {
                        done = &mut transfer => break done?,
                        _ = each.tick() => round_trips.push(Span::from_nanos($rtt(&connection).as_nanos() as i64)),
                    }
                };
                ensure!(received == sent, "of {size} bytes {} arrived, and not these", received.len());
                Ok(Outcome {
                    delays: Vec::new(),
                    skipped: 0,
                    received: Bytes::new(received.len() as u64),
                    took: Span::from_nanos((ended - began).as_nanos() as i64),
                    round_trips,
                    dropped: 0,
                    windows: Vec::new(),
                })
            }

            /// Everything of one stream, and when its last byte was read.
            async fn receive(server: Endpoint, size: usize) -> anyhow::Result<(Vec<u8>, Instant)> {
                let connection: Connection = server.accept().await.context("the endpoint is closed")?.await?;
                let received = connection.accept_uni().await?.read_to_end(size).await?;
                Ok((received, Instant::now()))
            }
        }
    };
}

stack!(quinn, |connection: &Connection| connection.rtt());
stack!(noq, |connection: &Connection| connection.rtt(::noq::PathId::ZERO).unwrap_or_default());

/// `thalweg emulate` as a process of its own, with the link of the bulk in it: [`crate::links::bulk`].
pub struct Emulate {
    child: Child,
    pub address: SocketAddr,
}

impl Emulate {
    pub fn start(program: &str, server: SocketAddr) -> anyhow::Result<Emulate> {
        let (listen, to) = (HERE.to_string(), server.to_string());
        let link = ["--rate", "10Mbps", "--delay", "15ms", "--queue", "64kB"];
        let mut child = Command::new(program)
            .args(["emulate", "--json", "--listen", &listen, "--to", &to])
            .args(link)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start '{program}': --thalweg names the program"))?;
        let mut said = String::new();
        BufReader::new(child.stderr.as_mut().context("it is piped")?).read_line(&mut said)?;
        let address = said.split_whitespace().nth(1).and_then(|address| address.parse().ok());
        let address = address.with_context(|| format!("'{program} emulate' says: {said}"))?;
        Ok(Emulate { child, address })
    }

    /// Ends it.
    pub fn stop(self) -> anyhow::Result<Passed> {
        Command::new("sh").args(["-c", &format!("kill -INT {}", self.child.id())]).status()?;
        let said = self.child.wait_with_output()?.stdout;
        let up = &serde_json::from_slice::<serde_json::Value>(&said).context("its statistics are JSON")?["up"];
        let reasons = up["dropped"].as_object().context("drops have reasons")?;
        Ok(Passed {
            delivered: up["delivered"].as_u64().context("a count")?,
            dropped: reasons.values().filter_map(serde_json::Value::as_u64).sum(),
            late: Span::from_secs_f64(up["lateness_p99_us"].as_f64().context("packets passed")? / 1e6),
        })
    }
}

/// Packets that the link passed, from client to server.
#[derive(Debug, Clone, Copy)]
pub struct Passed {
    pub delivered: u64,
    pub dropped: u64,
    /// The 99th percentile of how late packets left it: what the machine did otherwise meanwhile.
    pub late: Span,
}
