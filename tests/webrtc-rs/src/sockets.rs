//! One end of a call on a socket of this machine, by the clock.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rtc::interceptor::Registry;
use rtc::peer_connection::RTCPeerConnection;
use rtc::peer_connection::configuration::media_engine::MediaEngine;
use rtc::peer_connection::event::RTCPeerConnectionEvent;
use rtc::peer_connection::sdp::RTCSessionDescription;
use rtc::peer_connection::state::RTCPeerConnectionState;
use rtc::peer_connection::transport::RTCDtlsRole;
use rtc::sansio::Protocol;
use rtc::shared::{TaggedBytesMut, TransportContext, TransportProtocol};

use crate::peer::{Camera, TICK, peer};
use crate::{Error, Seen, Sender};

/// IPv4 and UDP.
const HEADERS: usize = 28;
/// A receiver stays this much longer than its sender, for what is under way.
const LINGERS: f64 = 2.0;

/// Sends the peer a description, and returns its answer.
pub type Exchange<'a> = &'a mut dyn FnMut(RTCSessionDescription) -> Result<RTCSessionDescription, Error>;

/// Offers a call, and sends frames of the size that the target allows for so many seconds once it is connected.
///
/// # Errors
/// When it is not connected after 30 s, and what webrtc-rs refuses.
pub fn send(sender: Sender, seconds: f64, exchange: Exchange<'_>) -> Result<Seen, Error> {
    let (registry, engine, target) = sender;
    let mut end = End::new(RTCDtlsRole::Server, engine, registry)?;
    let mut camera = Camera::new(&mut end.peer)?;
    let offer = end.peer.create_offer(None)?;
    end.peer.set_local_description(Instant::now(), offer.clone())?;
    let answer = exchange(offer)?;
    end.peer.set_remote_description(Instant::now(), answer)?;
    let mut seen = Seen::default();
    while end.since()? < seconds {
        if let Some(connected) = end.connected {
            seen.targets.push((connected.elapsed().as_secs_f64(), target()));
            camera.capture(&mut end.peer, connected, connected.elapsed(), target())?;
        }
        end.step(|_| {})?;
    }
    Ok(seen)
}

/// Answers a call of so many seconds; what arrived before the connection stood has a second of 0.
///
/// # Errors
/// As [`send`].
pub fn receive(
    receiver: (Registry, MediaEngine),
    offer: RTCSessionDescription,
    seconds: f64,
    answered: &mut dyn FnMut(RTCSessionDescription) -> Result<(), Error>,
) -> Result<Seen, Error> {
    let mut end = End::new(RTCDtlsRole::Client, receiver.1, receiver.0)?;
    end.peer.set_remote_description(Instant::now(), offer)?;
    let answer = end.peer.create_answer(None)?;
    end.peer.set_local_description(Instant::now(), answer.clone())?;
    answered(answer)?;
    let mut seen = Seen::default();
    while end.since()? < seconds + LINGERS {
        let since = end.since()?;
        end.step(|size| seen.arrived.push((since, size + HEADERS)))?;
    }
    Ok(seen)
}

struct End {
    peer: RTCPeerConnection,
    socket: UdpSocket,
    began: Instant,
    connected: Option<Instant>,
}

impl End {
    fn new(role: RTCDtlsRole, engine: MediaEngine, registry: Registry) -> Result<End, Error> {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.set_nonblocking(true)?;
        let began = Instant::now();
        let peer = peer(began, socket.local_addr()?, role, engine, registry)?;
        Ok(End { peer, socket, began, connected: None })
    }

    /// Seconds since the connection stood; 0 before.
    fn since(&self) -> Result<f64, Error> {
        if self.connected.is_none() && self.began.elapsed() > Duration::from_secs(30) {
            return Err("not connected after 30 s".into());
        }
        Ok(self.connected.map_or(0.0, |connected| connected.elapsed().as_secs_f64()))
    }

    /// Reads what has arrived, does what is due, sends what is to be sent, and waits a moment.
    fn step(&mut self, mut on_datagram: impl FnMut(usize)) -> Result<(), Error> {
        let local_addr = self.socket.local_addr()?;
        let mut datagram = [0; 2000];
        loop {
            let (size, peer_addr) = match self.socket.recv_from(&mut datagram) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // Somebody's port was closed.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => continue,
                Err(error) => return Err(error.into()),
            };
            on_datagram(size);
            let transport =
                TransportContext { local_addr, peer_addr, ecn: None, transport_protocol: TransportProtocol::UDP };
            let message = datagram[..size].into();
            // What is not understood is not our concern.
            let _ = self.peer.handle_read(TaggedBytesMut { now: Instant::now(), transport, message });
        }
        let now = Instant::now();
        if self.peer.poll_timeout().is_some_and(|due| due <= now) {
            self.peer.handle_timeout(now)?;
        }
        while let Some(event) = self.peer.poll_event() {
            if let RTCPeerConnectionEvent::OnConnectionStateChangeEvent(RTCPeerConnectionState::Connected) = event {
                self.connected.get_or_insert(now);
            }
        }
        while self.peer.poll_read().is_some() {}
        while let Some(out) = self.peer.poll_write() {
            self.socket.send_to(&out.message, out.transport.peer_addr)?;
        }
        sleep(TICK);
        Ok(())
    }
}
