//! Media over QUIC: each frame a stream of noq, over sockets of this machine, for ten seconds.
//!
//! The controller is the connection's alone. The application asks its handle how large the next frame may be, leaves out
//! frames while earlier ones wait, and sends the padding that the controller wants as datagrams. With the name of a scheme,
//! such as `bbr`, another one than `rocc`.
//!
//! cargo run -p thalweg-quic-cc --features noq --example frames_over_quic

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use noq::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq::rustls::{self, pki_types::PrivateKeyDer};
use noq::{ClientConfig, Connection, Endpoint, ServerConfig, TransportConfig};
use thalweg_quic_cc::{Bytes, Factory, Handle, Rate, Settings, Span};
use tokio::task::JoinSet;
use tokio::time::{Instant, interval};

const INTERVAL: Span = Span::from_millis(33);
const PICTURES: u64 = 300;
/// A picture becomes no frame while more than this many frames are under way or wait.
const WAITING: usize = 4;
/// The share of the target for frames: QUIC adds 2 to 3 % to them.
const FRAMES: f64 = 0.95;

/// Ten seconds of a camera, with an encoder that meets its target exactly.
async fn send(connection: Connection, handle: Handle) -> Result<()> {
    let mut camera = interval(Duration::from_nanos(INTERVAL.as_nanos() as u64));
    let mut frames = JoinSet::new();
    let (mut sent, mut skipped) = (Bytes::ZERO, 0);
    for picture in 1..=PICTURES {
        camera.tick().await;
        while let Some(done) = frames.try_join_next() {
            done??;
        }
        let estimate = handle.snapshot();
        let size = estimate.target.scale(FRAMES).over(INTERVAL);
        if frames.len() > WAITING {
            skipped += 1;
        } else {
            frames.spawn(frame(connection.clone(), size));
            sent += size;
        }
        pad(&connection, estimate.padding.over(INTERVAL).saturating_sub(size))?;
        if picture % 30 == 0 {
            let rate = sent.per(INTERVAL * 30);
            println!("sent {rate}, target {}, window {}, {skipped} skipped", estimate.target, estimate.window);
            (sent, skipped) = (Bytes::ZERO, 0);
        }
    }
    while let Some(done) = frames.join_next().await {
        done??;
    }
    Ok(())
}

/// A frame on a stream of its own, until all of it is acknowledged.
async fn frame(connection: Connection, size: Bytes) -> Result<()> {
    let mut stream = connection.open_uni().await?;
    stream.write_all(&vec![0; size.get() as usize]).await?;
    stream.finish()?;
    stream.stopped().await?;
    Ok(())
}

/// Datagrams that nobody reads, of so many bytes.
fn pad(connection: &Connection, size: Bytes) -> Result<()> {
    let largest = connection.max_datagram_size().context("the receiver takes datagrams")?;
    let mut left = size.get() as usize;
    while left > 0 {
        let piece = left.min(largest);
        connection.send_datagram(vec![0; piece].into())?;
        left -= piece;
    }
    Ok(())
}

/// Reads frames until the camera is off; how many there were and how long the longest took from its first byte to its last.
async fn receive(endpoint: Endpoint) -> Result<(u64, Duration)> {
    let connection = endpoint.accept().await.context("the endpoint is closed")?.await?;
    let (mut frames, mut longest) = (0, Duration::ZERO);
    while let Ok(mut stream) = connection.accept_uni().await {
        let began = Instant::now();
        stream.read_to_end(1 << 20).await?;
        (frames, longest) = (frames + 1, longest.max(began.elapsed()));
    }
    Ok((frames, longest))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let certified = rcgen::generate_simple_self_signed(vec!["localhost".into()])?;
    let certificate = certified.cert.der().clone();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone())?;
    let key = PrivateKeyDer::Pkcs8(certified.signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = rustls::ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)?;
    let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = Endpoint::server(ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?)), here)?;
    let address = server.local_addr()?;
    let receiver = tokio::spawn(receive(server));

    // The one line of configuration that makes a controller of ours noq's.
    let rates = [1000, 100, 5000].map(Rate::from_kbps);
    let scheme = std::env::args().nth(1).unwrap_or("rocc".into());
    let factory = Factory::new(Settings::named(&scheme)?.with_rates(rates[0], rates[1], rates[2])?);
    let handle = factory.handle();
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(factory));

    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    config.transport_config(Arc::new(transport));
    let client = Endpoint::client(here)?;
    let connection = client.connect_with(config, address, "localhost")?.await?;
    send(connection.clone(), handle).await?;
    connection.close(0u32.into(), b"the camera is off");
    let (frames, longest) = receiver.await??;
    println!("{frames} frames arrived, the longest in {:.0} ms", longest.as_secs_f64() * 1e3);
    Ok(())
}
