//! ICE-lite servers, as public ones often are: they answer connectivity checks and send none.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use thalweg_emulate::clock::{Clock, pause};
use thalweg_live::publish::WhipState;
use thalweg_live::watch::{Place, WatchConfig, Watcher};
use thalweg_live::whip::Endpoint;
use thalweg_transport::sdp::{self, Capabilities, Direction, Local};
use thalweg_transport::{Config, Connection, Event, Identity, Output};
use thalweg_units::{Ecn, Span, Time};

use super::call::Call;
use crate::alone;
use crate::ends::{connection, local};

/// The outcome of the server's one session.
#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    connected: bool,
    packets: u64,
    closed: bool,
    deleted: bool,
}

/// A server for one session: hand-written HTTP, and an ICE-lite connection. It ends when this is dropped.
struct LiteServer {
    url: String,
    seen: Arc<Mutex<Seen>>,
    stop: Arc<AtomicBool>,
}

impl Drop for LiteServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl LiteServer {
    /// A server for media in this direction, as seen from the server.
    fn new(direction: Direction) -> LiteServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/live/7", listener.local_addr().expect("bound"));
        let (seen, stop) = (Arc::<Mutex<Seen>>::default(), Arc::<AtomicBool>::default());
        let (reported, stopped) = (seen.clone(), stop.clone());
        // The thread ends with the process and is not joined.
        std::thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                answer(stream, direction, &reported, &stopped);
            }
        });
        LiteServer { url, seen, stop }
    }

    fn seen(&self) -> Seen {
        *self.seen.lock().expect("no panic")
    }

    /// Waits until the condition holds, for at most ten seconds.
    fn becomes(&self, is_so: impl Fn(Seen) -> bool) -> bool {
        let clock = Clock::new();
        while clock.now() < Time::from_millis(10_000) && !is_so(self.seen()) {
            pause(Span::from_millis(10));
        }
        is_so(self.seen())
    }
}

/// Answers one request.
fn answer(mut stream: TcpStream, direction: Direction, seen: &Arc<Mutex<Seen>>, stop: &Arc<AtomicBool>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a descriptor"));
    let mut lines = reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    let method = lines.next().unwrap_or_default().split(' ').next().unwrap_or_default().to_owned();
    let header = |line: String| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok();
    let length: usize = lines.filter_map(header).last().unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    let (status, text) = match method.as_str() {
        "POST" => {
            let offer = String::from_utf8(body).expect("an offer");
            ("201 Created\r\nContent-Type: application/sdp\r\nLocation: /session", begin(&offer, direction, seen, stop))
        }
        "DELETE" => {
            seen.lock().expect("no panic").deleted = true;
            ("200 OK", String::new())
        }
        _ => ("405 Method Not Allowed", String::new()),
    };
    let length = text.len();
    let _ = write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}");
}

/// Starts the session; returns its answer.
fn begin(offer: &str, direction: Direction, seen: &Arc<Mutex<Seen>>, stop: &Arc<AtomicBool>) -> String {
    let clock = Clock::new();
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let address = socket.local_addr().expect("bound");
    let identity = Identity::generate().expect("random numbers");
    let config = Config { lite: true, ..Config::default() };
    let mut connection = connection(config, &identity, clock.origin(), address);
    let local = Local { lite: true, ..local(&connection, &identity, address, 1) };
    let answer = sdp::answer(offer, &local, &Capabilities::all(direction)).expect("an answer");
    assert!(answer.text.contains("a=ice-lite"));
    connection.set_dtls_role(answer.dtls);
    connection.set_remote(clock.now(), &answer.remote).expect("a good description");
    let (seen, stop) = (seen.clone(), stop.clone());
    std::thread::spawn(move || attend(connection, &socket, &clock, &seen, &stop));
    answer.text
}

fn attend(mut connection: Connection, socket: &UdpSocket, clock: &Clock, seen: &Mutex<Seen>, stop: &AtomicBool) {
    let here = socket.local_addr().expect("bound");
    let mut buffer = [0; 2000];
    socket.set_read_timeout(Some(Duration::from_millis(5))).expect("more than nothing");
    while !stop.load(Ordering::Relaxed) {
        connection.on_timeout(clock.now());
        loop {
            let mut seen = seen.lock().expect("no panic");
            match connection.poll() {
                // The peer may have gone.
                Output::Transmit(datagram) => drop(socket.send_to(&datagram.bytes, datagram.to)),
                Output::Event(Event::Connected) => seen.connected = true,
                Output::Event(Event::Rtp(..)) => seen.packets += 1,
                Output::Event(Event::Closed | Event::Failed(_)) => seen.closed = true,
                Output::Event(_) => {}
                Output::Wait { .. } => break,
            }
        }
        let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
        connection.on_datagram(clock.now(), from, here, Ecn::NotCapable, &buffer[..length]);
    }
}

#[test]
fn a_whip_server_that_makes_no_checks_is_sent_to() {
    alone(|| {
        let server = LiteServer::new(Direction::ReceiveOnly);
        let (publisher, web) = Call::default().publish(Clock::new());
        let whip_session =
            publisher.whip_session(Endpoint::new(&server.url, None).expect("an address")).expect("a thread");
        assert!(server.becomes(|seen| seen.packets > 100), "{:?}", server.seen());
        assert_eq!(whip_session.state(), WhipState::Connected);
        drop(whip_session);
        assert!(server.becomes(|seen| seen.closed && seen.deleted), "{:?}", server.seen());
        web.stop();
    });
}

#[test]
fn a_whep_server_that_makes_no_checks_is_connected_to() {
    alone(|| {
        let server = LiteServer::new(Direction::SendOnly);
        let place = Place::new(&server.url, None, None, None).expect("an address");
        let watcher = Watcher::start(WatchConfig::new(place), Clock::new()).expect("a watcher");
        assert!(server.becomes(|seen| seen.connected), "{:?}", server.seen());
        let (_, ended) = watcher.finish();
        ended.expect("nothing went wrong");
        assert!(server.becomes(|seen| seen.closed && seen.deleted), "{:?}", server.seen());
    });
}
