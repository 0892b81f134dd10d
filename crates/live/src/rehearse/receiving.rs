//! The receiver's thread.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use thalweg_receiver::rtp::VideoFrame;
use thalweg_session::Incoming;
use thalweg_session::incoming::Output;
use thalweg_session::outgoing::Notice;
use thalweg_units::{Bytes, Span, Time};
use thalweg_wire::overhead;

use super::RehearseError;
use super::decoding::Frames;
use super::route::{Cargo, Label};
use crate::clock::Clock;
use crate::reactor::{Lateness, Poller, UdpSocket};

/// A media packet that came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    pub(super) at: Time,
    pub(super) label: Label,
    pub(super) size: Bytes,
}

/// A frame that came whole.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) at: Time,
    /// RTP's, 90 kHz.
    pub(super) timestamp: u64,
    /// When its picture was taken, by the sender's clock, if a sender report came before it.
    pub(super) captured: Option<Time>,
    pub(super) data: Arc<[u8]>,
}

/// What a receiver saw.
#[derive(Debug, Default)]
pub(super) struct Received {
    pub(super) arrivals: Vec<Arrival>,
    pub(super) frames: Vec<Whole>,
    pub(super) lateness: Lateness,
}

/// What sender and receiver tell each other beside the wire.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// The run is over.
    pub(super) over: AtomicBool,
    /// The round trip as the sender knows it, in nanoseconds; 0 for not at all.
    pub(super) round_trip: AtomicI64,
}

/// A receiver.
pub(super) struct Receiving {
    pub(super) clock: Clock,
    pub(super) poller: Poller,
    pub(super) socket: UdpSocket,
    pub(super) incoming: Incoming,
    /// The sender's own address, which the connection knows it by.
    pub(super) peer: SocketAddr,
    /// Where its media comes from: the relay, once something came over it.
    pub(super) over_link: Option<SocketAddr>,
    pub(super) shared: Arc<Shared>,
    /// Who decodes frames; nobody a model's.
    pub(super) decoder: Option<Frames>,
}

impl Receiving {
    /// Receives until the run is over.
    pub(super) fn run(mut self) -> Result<Received, RehearseError> {
        let mut received = Received::default();
        let (local, mut told) = (self.socket.local_address(), 0);
        let mut wait = Time::ZERO;
        let mut inbox: Vec<(SocketAddr, Vec<u8>)> = Vec::new();
        loop {
            let woken = self.poller.wait(wait, &[&self.socket])?;
            if self.shared.over.load(Ordering::Relaxed) {
                received.lateness = self.poller.lateness().clone();
                return Ok(received);
            }
            let now = woken.now;
            let round_trip = self.shared.round_trip.load(Ordering::Relaxed);
            if round_trip != told {
                told = round_trip;
                self.incoming.learn(Span::from_nanos(round_trip));
            }
            if woken.is_ready(0) {
                self.socket.receive(|datagram| inbox.push((datagram.from, datagram.bytes.to_vec())));
            }
            for (from, bytes) in inbox.drain(..) {
                if from != self.peer {
                    self.over_link = Some(from);
                }
                if let Cargo::Media(label) = Cargo::of(&bytes) {
                    let size = overhead::IPV4 + overhead::UDP + Bytes::new(bytes.len() as u64);
                    received.arrivals.push(Arrival { at: now, label, size });
                }
                self.incoming.on_datagram(now, self.peer, local, &bytes);
                pump(&mut self.incoming, &mut self.socket, (self.peer, self.over_link), &mut |frame| {
                    received.frames.push(whole(&self.clock, &frame, self.decoder.as_ref()));
                })?;
            }
            self.incoming.on_timeout(now);
            wait = pump(&mut self.incoming, &mut self.socket, (self.peer, self.over_link), &mut |frame| {
                received.frames.push(whole(&self.clock, &frame, self.decoder.as_ref()));
            })?;
        }
    }
}

fn whole(clock: &Clock, frame: &VideoFrame, decoder: Option<&Frames>) -> Whole {
    // A model's frames are nothing to keep.
    let data: Arc<[u8]> = if decoder.is_some() { frame.data.clone().into() } else { Arc::from([]) };
    if let Some(decoder) = decoder {
        // It ends when this does.
        let _ = decoder.send(data.clone());
    }
    Whole { at: clock.now(), timestamp: frame.timestamp, captured: frame.captured, data }
}

/// Does what is to be done; until when to wait.
fn pump(
    incoming: &mut Incoming,
    socket: &mut UdpSocket,
    (peer, over_link): (SocketAddr, Option<SocketAddr>),
    frame: &mut dyn FnMut(VideoFrame),
) -> Result<Time, RehearseError> {
    loop {
        match incoming.poll() {
            Output::Transmit(datagram) => match (Cargo::of(&datagram.bytes), over_link) {
                (Cargo::Handshake, _) => {
                    socket.send(peer, &datagram.bytes);
                }
                (_, Some(link)) => {
                    socket.send(link, &datagram.bytes);
                }
                // Nothing came yet of which there would be something to say.
                (_, None) => {}
            },
            Output::Frame(whole) => frame(whole),
            Output::Audio(_) | Output::Abandoned(_) => {}
            Output::News(Notice::Closed) => return Err(RehearseError::Broken("the sender left".into())),
            Output::News(Notice::Failed(error)) => return Err(error.into()),
            Output::News(_) => {}
            Output::Wait { until } => return Ok(until),
        }
    }
}
