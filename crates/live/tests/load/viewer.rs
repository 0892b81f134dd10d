//! A viewer in this process: our receiver with a socket on loopback, in its own thread.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use thalweg_live::clock::Clock;
use thalweg_live::web::{Hub, Join, Refused};
use thalweg_session::Incoming;
use thalweg_session::incoming::{ConnectionEvent, Output, Setup};
use thalweg_transport::sdp::{self, Capabilities, Direction};
use thalweg_transport::{Config, Connection, Identity};
use thalweg_units::{Span, Time};

use super::ends::{connection, local};

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
    hub.join(Join { offer, scheme: None, channel: None }).map(|joined| joined.id)
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
        let clock = Clock::new();
        let Offering { mut connection, offer, socket } = offering(&clock);
        let joined = hub.join(Join { offer: offer.text.clone(), scheme: Some(scheme.into()), channel: None })?;
        let accepted = offer.accept(&joined.answer).unwrap();
        connection.set_dtls_role(accepted.dtls);
        connection.set_remote(clock.now(), &accepted.remote).unwrap();
        let setup = Setup::new(accepted.media, "viewer".into());
        let incoming = Incoming::new(setup, connection, clock.now()).unwrap();
        let (seen, stop) = (Arc::<Mutex<Seen>>::default(), Arc::<AtomicBool>::default());
        let (reported, stopped) = (seen.clone(), stop.clone());
        let thread = std::thread::spawn(move || watch(incoming, &socket, &clock, &reported, &stopped));
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

fn watch(mut incoming: Incoming, socket: &UdpSocket, clock: &Clock, seen: &Mutex<Seen>, stop: &AtomicBool) {
    let here = socket.local_addr().unwrap();
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
        incoming.on_datagram(clock.now(), from, here, &buffer[..length]);
    }
    incoming.close(clock.now());
    drain(&mut incoming, socket, seen);
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
