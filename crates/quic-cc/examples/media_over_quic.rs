//! Media over QUIC: the sender engine's packets as datagrams of quinn, over sockets of this machine, for ten seconds.
//!
//! Two controllers work together. quinn's, which is ours, keeps the connection's window; the engine's decides about
//! frames, by when the receiver says that each datagram arrived, and never sends more than the former's target.
//!
//! cargo run -p thalweg-quic-cc --features quinn --example media_over_quic

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::rustls::{self, pki_types::PrivateKeyDer};
use quinn::{ClientConfig, Connection, Endpoint, ServerConfig, TransportConfig};
use thalweg_control::{Acknowledgement, PacketId};
use thalweg_quic_cc::{Factory, Handle, Rate, Settings};
use thalweg_sender::{Camera, Engine, Output, Scheme};
use thalweg_types::{EncodePlan, EncodedFrame, Packet, Target};
use thalweg_units::{Bytes, Size, Span, Time};

const INTERVAL: Span = Span::from_millis(33);
const LASTS: Duration = Duration::from_secs(10);
/// IPv4 and UDP, and what QUIC adds to a datagram: the flags, a connection id, a packet number, the tag, the frame's type
/// and length.
const HEADERS: u64 = 28 + 1 + 8 + 4 + 16 + 3;
/// The number of the packet at the head of each datagram.
const NUMBER: usize = 8;

/// An encoder that meets its target exactly.
fn encode(plan: &EncodePlan) -> EncodedFrame {
    let size = match plan.targets[0] {
        Target::Rate(rate) => rate.over(plan.interval),
        Target::Size(size) | Target::Guess(size) => size,
        Target::Quantizer(_) => Bytes::new(4000),
    };
    EncodedFrame::new(size, plan.size).with(|frame| frame.keyframe = plan.keyframe)
}

/// Ten seconds of a camera.
async fn send(connection: Connection, handle: Handle) -> Result<()> {
    let start = now();
    let time = |at: Instant| Time::ZERO + Span::from_nanos((at - start).as_nanos() as i64);
    let camera = Camera { size: Size::HD, interval: INTERVAL };
    let mut engine = Engine::new(&"scream".parse::<Scheme>()?, camera, Time::ZERO)?;
    let (mut picture, mut wake, mut sent) = (0, Time::ZERO, Bytes::ZERO);
    while start.elapsed() < LASTS {
        let next = Time::ZERO + INTERVAL * picture;
        let sleep = start + Duration::from_nanos(next.min(wake).as_nanos());
        // A report of the receiver, a picture, or something that the engine waits for.
        let report = tokio::select! {
            report = connection.read_datagram() => Some(report?),
            () = tokio::time::sleep_until(sleep.into()) => None,
        };
        let at = time(now());
        engine.set_ceiling(at, Some(handle.snapshot().target));
        if let Some(report) = report {
            let number = |from: usize| Some(u64::from_be_bytes(report.get(from..from + NUMBER)?.try_into().ok()?));
            let (id, arrival) = number(0).zip(number(NUMBER)).context("a report has two numbers")?;
            let arrival = Some(Time::from_nanos(arrival));
            engine.on_feedback(at, &[Acknowledgement::new(PacketId(id), arrival)], None);
        } else if next <= at {
            engine.on_picture(at, picture as u64);
            picture += 1;
            if picture % 30 == 0 {
                let estimate = handle.snapshot();
                let rate = sent.per(INTERVAL * 30);
                println!("{at} sent {rate}, target {}, window {}", estimate.target, estimate.window);
                sent = Bytes::ZERO;
            }
        } else {
            engine.on_timeout(at);
        }
        wake = loop {
            match engine.poll() {
                Output::Encode { plan, .. } => engine.on_encoded(at, &[encode(&plan)]),
                Output::Transmit(packet) => {
                    sent += packet.sent.size;
                    connection.send_datagram(datagram(&packet).into())?;
                }
                Output::Wait { until, .. } => break until,
                _ => {}
            }
        };
        engine.drain_events().for_each(drop);
    }
    Ok(())
}

/// The packet's number and bytes: as many as it has on the wire, once QUIC has added its own.
fn datagram(packet: &Packet) -> Vec<u8> {
    let size = packet.sent.size.get().saturating_sub(HEADERS) as usize;
    let mut bytes = vec![0; size.max(NUMBER)];
    bytes[..NUMBER].copy_from_slice(&packet.sent.id.0.to_be_bytes());
    bytes
}

/// Says of each datagram when it arrived, by a clock of its own.
async fn receive(endpoint: Endpoint) -> Result<()> {
    let connection = endpoint.accept().await.context("the endpoint is closed")?.await?;
    let start = now();
    while let Ok(datagram) = connection.read_datagram().await {
        let mut report = datagram.slice(..NUMBER).to_vec();
        report.extend((start.elapsed().as_nanos() as u64).to_be_bytes());
        connection.send_datagram(report.into())?;
    }
    Ok(())
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

    // The one line of configuration that makes a controller of ours quinn's.
    let rates = [1000, 100, 5000].map(Rate::from_kbps);
    let factory = Factory::new(Settings::named("rocc")?.with_rates(rates[0], rates[1], rates[2])?);
    let handle = factory.handle();
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(factory));
    // The engine's packets have up to 1200 bytes of payload.
    transport.initial_mtu(1400);

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
    receiver.await?
}

/// A program that sends has a clock.
#[allow(clippy::disallowed_methods)]
fn now() -> Instant {
    Instant::now()
}
