//! A conversation over UDP sockets: a sender and a receiver on the loopback interface, each with a certificate of its own
//! making. Offer and answer, ICE, DTLS, then video as protected RTP and the receiver's reports.
#![allow(clippy::disallowed_methods)] // A program with sockets reads a clock.

use std::error::Error;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use thalweg::prelude::*;
use thalweg::session::{Encoded, Incoming, Outgoing, incoming, outgoing};
use thalweg::transport::sdp::{self, Capabilities, Direction, Local, StreamIds};
use thalweg::transport::{Config, Connection, DtlsRole, Identity};
use thalweg::types::{EncodePlan, EncodedFrame, Target};
use thalweg::units::{Ecn, Seed};
use thalweg::wire::rtcp::NtpTime;

const CAMERA: Camera = Camera { size: Size::new(640, 360), interval: Span::from_millis(33) };

/// A socket, a connection over it, and how it is described to the other end. Streams have numbers from `first` on.
fn end(controlling: bool, first: u32, origin: Instant) -> Result<(UdpSocket, Connection, Local), Box<dyn Error>> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.set_nonblocking(true)?;
    let identity = Identity::generate()?;
    let mut connection = Connection::new(Config { controlling, ..Config::default() }, &identity, origin)?;
    connection.add_local(socket.local_addr()?)?;
    let local = Local {
        credentials: connection.credentials().clone(),
        fingerprint: identity.fingerprint(),
        candidates: vec![socket.local_addr()?],
        lite: false,
        setup: DtlsRole::Client,
        streams: StreamIds { video: first, retransmission: first + 1, fec: first + 2, audio: first + 3 },
        cname: format!("end-{first}"),
    };
    Ok((socket, connection, local))
}

/// The next datagram that has arrived, and who sent it.
fn received<'a>(socket: &UdpSocket, buffer: &'a mut [u8]) -> Option<(SocketAddr, &'a [u8])> {
    let (length, from) = socket.recv_from(buffer).ok()?;
    Some((from, &buffer[..length]))
}

/// An encoder that meets its target; the lowest bit of VP8's first byte is 0 in keyframes (RFC 6386 section 9.1).
fn encode(plan: &EncodePlan) -> Encoded {
    let Target::Rate(rate) = plan.targets[0] else { unreachable!("gcc gives rates") };
    let mut data = vec![0; rate.over(plan.interval).get().max(20) as usize];
    data[0] = u8::from(!plan.keyframe);
    let frame = EncodedFrame::new(Bytes::new(data.len() as u64), plan.size);
    Encoded { frame: frame.with(|frame| frame.keyframe = plan.keyframe), data: data.into() }
}

fn main() -> Result<(), Box<dyn Error>> {
    let origin = Instant::now();
    let ((here, mut sending, ours), (there, mut receiving, theirs)) =
        (end(false, 100, origin)?, end(true, 200, origin)?);

    // Signalling: the receiver offers, the sender answers. The two texts travel by any means, such as HTTP.
    let offer = sdp::offer(&theirs, &Capabilities::all(Direction::ReceiveOnly));
    let answer = sdp::answer(&offer.text, &ours, &Capabilities::all(Direction::SendOnly))?;
    let accepted = offer.accept(&answer.text)?;
    sending.set_dtls_role(answer.dtls);
    sending.set_remote(Time::ZERO, &answer.remote)?;
    receiving.set_dtls_role(accepted.dtls);
    receiving.set_remote(Time::ZERO, &accepted.remote)?;

    let setup = outgoing::Setup {
        scheme: Arc::new("gcc".parse::<Scheme>()?),
        camera: CAMERA,
        media: answer.media,
        cname: ours.cname,
        seed: Seed::new(5), // A real program draws it.
        wall: NtpTime::at(Time::ZERO),
        ipv6: false,
    };
    let mut outgoing = Outgoing::new(setup, sending, Time::ZERO)?;
    let mut incoming = Incoming::new(incoming::Setup::new(accepted.media, theirs.cname), receiving, Time::ZERO)?;

    let (mut buffer, mut pictures, mut frames, mut bytes) = ([0; 2048], 0, 0, 0);
    let mut now = Time::ZERO;
    while now < Time::from_millis(3000) {
        now = Time::from_nanos(origin.elapsed().as_nanos() as u64);
        // The sender: one input, then its outputs until it waits.
        match received(&here, &mut buffer) {
            Some((from, datagram)) => {
                outgoing.on_datagram(now, from, here.local_addr()?, Ecn::NotCapable, datagram);
            }
            None if now >= Time::ZERO + CAMERA.interval * pictures => {
                outgoing.on_picture(now, pictures as u64);
                pictures += 1;
            }
            None => outgoing.on_timeout(now),
        }
        loop {
            match outgoing.poll() {
                outgoing::Output::Transmit(datagram) => drop(here.send_to(&datagram.bytes, datagram.to)?),
                outgoing::Output::Encode { plan, .. } => outgoing.on_encoded(now, vec![encode(&plan)]),
                outgoing::Output::Event(event) => println!("{now:?}  sender: {event:?}"),
                outgoing::Output::Wait { .. } => break,
                // The chosen candidate, and states to forget: only for codecs that keep several.
                outgoing::Output::Commit { .. } | outgoing::Output::Forget { .. } => {}
            }
        }
        // The receiver, likewise.
        match received(&there, &mut buffer) {
            Some((from, datagram)) => {
                incoming.on_datagram(now, from, there.local_addr()?, Ecn::NotCapable, datagram);
            }
            None => {
                incoming.on_timeout(now);
                // A program with more to do waits for its sockets until the earlier of the two `Wait`s.
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        loop {
            match incoming.poll() {
                incoming::Output::Transmit(datagram) => drop(there.send_to(&datagram.bytes, datagram.to)?),
                incoming::Output::Frame(frame) => (frames, bytes) = (frames + 1, bytes + frame.data.len()),
                incoming::Output::Event(event) => println!("{now:?}  receiver: {event:?}"),
                incoming::Output::Wait { .. } => break,
                incoming::Output::Audio(_) | incoming::Output::Abandoned(_) => {}
            }
        }
    }
    println!("{frames} frames received, {bytes} bytes");
    if frames < 30 { Err("fewer than 30 frames in 3 s")? } else { Ok(()) }
}
