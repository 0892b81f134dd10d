//! The receiver's thread.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc::Sender;

use thalweg_receiver::rtp::VideoFrame;
use thalweg_session::Incoming;
use thalweg_session::incoming::Output;
use thalweg_session::outgoing::ConnectionEvent;
use thalweg_units::{Bytes, Ecn, Span, Time};
use thalweg_wire::overhead;

use crate::RealTimeError;
use crate::route::{DatagramKind, PacketKey};
use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::{Lateness, Poller, Transmit, UdpSocket};

/// Passes complete frames to the decoder.
pub(crate) type Frames = Sender<Arc<[u8]>>;

/// An RTP packet that arrived.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    pub(crate) at: Time,
    pub(crate) key: PacketKey,
    pub(crate) size: Bytes,
}

/// A complete frame.
#[derive(Debug)]
pub(crate) struct ReceivedFrame {
    pub(crate) at: Time,
    /// RTP timestamp, 90 kHz.
    pub(crate) timestamp: u64,
    /// When its picture was taken, by the sender's clock; `None` before the first sender report.
    pub(crate) captured: Option<Time>,
    pub(crate) data: Arc<[u8]>,
}

/// The receiver's measurements.
#[derive(Debug, Default)]
pub(crate) struct Received {
    pub(crate) arrivals: Vec<Arrival>,
    pub(crate) frames: Vec<ReceivedFrame>,
    pub(crate) lateness: Lateness,
}

/// State that sender and receiver share outside of the connection.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// The run is over.
    pub(crate) over: AtomicBool,
    /// The round-trip time as the sender knows it, in nanoseconds; 0 if unknown.
    pub(crate) round_trip: AtomicI64,
}

/// A receiver.
pub(crate) struct Receiving {
    pub(crate) clock: Clock,
    pub(crate) poller: Poller,
    pub(crate) socket: UdpSocket,
    pub(crate) incoming: Incoming,
    /// The sender's own address, by which the connection knows it.
    pub(crate) peer: SocketAddr,
    /// The source address of its media: the relay, known once a packet has arrived through it.
    pub(crate) relay: Option<SocketAddr>,
    pub(crate) shared: Arc<Shared>,
    /// Decodes frames; `None` for those of an encoder model.
    pub(crate) decoder: Option<Frames>,
}

impl Receiving {
    /// Receives until the run is over.
    pub(crate) fn run(mut self) -> Result<Received, RealTimeError> {
        let mut received = Received::default();
        let (local, mut reported) = (self.socket.local_address(), 0);
        let mut wait = Time::ZERO;
        let mut inbox: Vec<(SocketAddr, Ecn, Vec<u8>)> = Vec::new();
        loop {
            let woken = self.poller.wait(wait, &[&self.socket])?;
            if self.shared.over.load(Ordering::Relaxed) {
                received.lateness = self.poller.lateness().clone();
                return Ok(received);
            }
            let now = woken.now;
            let round_trip = self.shared.round_trip.load(Ordering::Relaxed);
            if round_trip != reported {
                reported = round_trip;
                self.incoming.learn(Span::from_nanos(round_trip));
            }
            if woken.is_ready(0) {
                self.socket.receive(|datagram| inbox.push((datagram.from, datagram.ecn, datagram.bytes.to_vec())));
            }
            for (from, ecn, bytes) in inbox.drain(..) {
                if from != self.peer {
                    self.relay = Some(from);
                }
                if let DatagramKind::Media(key) = DatagramKind::of(&bytes) {
                    let size = overhead::IPV4 + overhead::UDP + Bytes::new(bytes.len() as u64);
                    received.arrivals.push(Arrival { at: now, key, size });
                }
                self.incoming.on_datagram(now, self.peer, local, ecn, &bytes);
                pump(&mut self.incoming, &mut self.socket, (self.peer, self.relay), &mut |frame| {
                    received.frames.push(complete(&self.clock, &frame, self.decoder.as_ref()));
                })?;
            }
            self.incoming.on_timeout(now);
            wait = pump(&mut self.incoming, &mut self.socket, (self.peer, self.relay), &mut |frame| {
                received.frames.push(complete(&self.clock, &frame, self.decoder.as_ref()));
            })?;
        }
    }
}

fn complete(clock: &Clock, frame: &VideoFrame, decoder: Option<&Frames>) -> ReceivedFrame {
    // Frames of an encoder model are not decoded.
    let data: Arc<[u8]> = if decoder.is_some() { frame.data.clone().into() } else { Arc::from([]) };
    if let Some(decoder) = decoder {
        // The decoder runs as long as this thread; if it failed, `Decoding::finish` returns the error.
        let _ = decoder.send(data.clone());
    }
    ReceivedFrame { at: clock.now(), timestamp: frame.timestamp, captured: frame.captured, data }
}

/// Handles every output of the connection; returns when to call it next.
fn pump(
    incoming: &mut Incoming,
    socket: &mut UdpSocket,
    (peer, relay): (SocketAddr, Option<SocketAddr>),
    frame: &mut dyn FnMut(VideoFrame),
) -> Result<Time, RealTimeError> {
    loop {
        match incoming.poll() {
            Output::Transmit(datagram) => {
                let to = match DatagramKind::of(&datagram.bytes) {
                    DatagramKind::Handshake => Some(peer),
                    // Before something has arrived over the link there is nothing to report.
                    _ => relay,
                };
                if let Some(to) = to {
                    socket.transmit(Transmit::from_known(datagram.from, to, datagram.ecn, datagram.bytes));
                }
            }
            Output::Frame(complete) => frame(complete),
            Output::Audio(_) | Output::Abandoned(_) => {}
            Output::Event(ConnectionEvent::Closed) => {
                return Err(RealTimeError::Failed("the sender closed the connection".into()));
            }
            Output::Event(ConnectionEvent::Failed(error)) => return Err(error.into()),
            Output::Event(ConnectionEvent::Unusable(error)) => return Err(error.into()),
            Output::Event(_) => {}
            Output::Wait { until } => return Ok(until),
        }
    }
}
