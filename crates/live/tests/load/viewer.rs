//! A viewer in this process: our receiver with a socket on loopback, in its own thread.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use thalweg_emulate::clock::Clock;
use thalweg_live::web::{Hub, Join, Refused};
use thalweg_session::Incoming;
use thalweg_session::incoming::{ConnectionEvent, Output, Setup};
use thalweg_transport::sdp::{self, Capabilities, Direction};
use thalweg_transport::{Config, Connection, Identity};
use thalweg_units::{Ecn, Span, Time};
use thalweg_wire::rtcp::{self, twcc};

use crate::ends::{connection, local};

/// A viewer's statistics so far.
#[derive(Debug, Default, Clone)]
pub struct Seen {
    pub connected: bool,
    pub closed: bool,
    pub frames: u64,
    pub audio_packets: u64,
    /// How much later pictures arrive than the audio of the same instant, with the time of each measurement.
    pub skews: Vec<(Time, Span)>,
}

/// A viewer's connection that has made an offer.
struct Offering {
    connection: Connection,
    offer: sdp::Offer,
    socket: UdpSocket,
}

fn offering(clock: &Clock) -> Offering {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let identity = Identity::generate().unwrap();
    let connection = connection(Config { controlling: true, ..Config::default() }, &identity, clock.origin(), address);
    let local = local(&connection, &identity, address, 200);
    let offer = sdp::offer(&local, &Capabilities::all(Direction::ReceiveOnly));
    Offering { connection, offer, socket }
}

/// Joins and then sends nothing; returns the id.
pub fn join_and_vanish(hub: &dyn Hub) -> Result<String, Refused> {
    let offer = offering(&Clock::new()).offer.text;
    hub.join(Join { offer, scheme: None, channel: None, name: None, from: None }).map(|joined| joined.id)
}

/// A viewer that watches.
pub struct Viewer {
    pub id: String,
    /// The ICE user name by which the publisher recognises its checks.
    pub username: String,
    seen: Arc<Mutex<Seen>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Viewer {
    /// Joins through `hub`, with a scheme.
    pub fn join(hub: &dyn Hub, scheme: &str) -> Result<Viewer, Refused> {
        Viewer::join_as(hub, scheme, false)
    }

    /// Joins, and acknowledges every packet as soon as it may have been sent, whether it came or not.
    pub fn join_lying(hub: &dyn Hub, scheme: &str) -> Result<Viewer, Refused> {
        Viewer::join_as(hub, scheme, true)
    }

    fn join_as(hub: &dyn Hub, scheme: &str, lies: bool) -> Result<Viewer, Refused> {
        let clock = Clock::new();
        let Offering { mut connection, offer, socket } = offering(&clock);
        let joined = hub.join(Join {
            offer: offer.text.clone(),
            scheme: Some(scheme.into()),
            channel: None,
            name: None,
            from: None,
        })?;
        let accepted = offer.accept(&joined.answer).unwrap();
        connection.set_dtls_role(accepted.dtls);
        connection.set_remote(clock.now(), &accepted.remote).unwrap();
        let setup = Setup::new(accepted.media, "viewer".into());
        let incoming = Incoming::new(setup, connection, clock.now()).unwrap();
        let (seen, stop) = (Arc::<Mutex<Seen>>::default(), Arc::<AtomicBool>::default());
        let (reported, stopped) = (seen.clone(), stop.clone());
        let thread = std::thread::spawn(move || watch(incoming, &socket, &clock, &reported, &stopped, lies));
        let username = accepted.remote.credentials.ufrag;
        Ok(Viewer { id: joined.id, username, seen, stop, thread: Some(thread) })
    }

    pub fn seen(&self) -> Seen {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn watch(mut incoming: Incoming, socket: &UdpSocket, clock: &Clock, seen: &Mutex<Seen>, stop: &AtomicBool, lies: bool) {
    let (here, mut came) = (socket.local_addr().unwrap(), 0u64);
    let mut buffer = [0; 2000];
    let mut sampled = Time::ZERO;
    while !stop.load(Ordering::Relaxed) {
        incoming.on_timeout(clock.now());
        let until = drain(&mut incoming, socket, seen);
        let now = clock.now();
        if now - sampled >= Span::from_secs(1) {
            sampled = now;
            seen.lock().unwrap().skews.extend(incoming.skew().map(|skew| (now, skew)));
        }
        let wait = (until.min(now + Span::from_secs(1)) - now).clamp(Span::from_millis(1), Span::from_millis(20));
        socket.set_read_timeout(Some(Duration::from_nanos(wait.as_nanos() as u64))).unwrap();
        let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
        incoming.on_datagram(clock.now(), from, here, Ecn::NotCapable, &buffer[..length]);
        // RTP by its first bytes (RFC 5761 section 4).
        came += u64::from((128..192).contains(&buffer[0]) && !(192..224).contains(&buffer[1]));
        if lies && came.is_multiple_of(20) {
            // There may be no keys yet.
            let _ = incoming.connection().send_rtcp(&everything_up_to(came, clock.now()));
        }
    }
    incoming.close(clock.now());
    drain(&mut incoming, socket, seen);
}

/// Transport-wide feedback that says that about 200 packets up to this one, and some after it, have arrived.
fn everything_up_to(newest: u64, now: Time) -> Vec<u8> {
    let feedback = twcc::Feedback {
        sender_ssrc: 200,
        media_ssrc: 100,
        base_sequence: newest.saturating_sub(200) as u16,
        reference_time: ((now - Time::ZERO).as_nanos() / twcc::REFERENCE_UNIT.as_nanos()) as u32 & 0xff_ffff,
        feedback_count: newest as u8,
        statuses: vec![twcc::Status::Arrived(1); 256],
    };
    let mut compound = Vec::new();
    rtcp::write(&[rtcp::Packet::TransportFeedback(feedback)], &mut compound).unwrap();
    compound
}

fn drain(incoming: &mut Incoming, socket: &UdpSocket, seen: &Mutex<Seen>) -> Time {
    loop {
        let output = incoming.poll();
        let mut seen = seen.lock().unwrap();
        match output {
            // The publisher may have gone.
            Output::Transmit(datagram) => drop(socket.send_to(&datagram.bytes, datagram.to)),
            Output::Frame(_) => seen.frames += 1,
            Output::Audio(_) => seen.audio_packets += 1,
            Output::Event(ConnectionEvent::Connected) => seen.connected = true,
            Output::Event(ConnectionEvent::Closed | ConnectionEvent::Failed(_)) => seen.closed = true,
            Output::Event(_) | Output::Abandoned(_) => {}
            Output::Wait { until } => return until,
        }
    }
}
