//! A call in one process, in virtual time.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use rtc::interceptor::Registry;
use rtc::peer_connection::configuration::media_engine::MediaEngine;
use rtc::peer_connection::event::RTCPeerConnectionEvent;
use rtc::peer_connection::state::RTCPeerConnectionState;
use rtc::peer_connection::transport::RTCDtlsRole;
use rtc::sansio::Protocol;
use rtc::shared::{TaggedBytesMut, TransportContext, TransportProtocol};

use crate::peer::{Camera, TICK, peer};
use crate::{Error, Seen, Target};

/// The path between them.
#[derive(Debug, Clone, Copy)]
pub struct Path {
    /// Bit/s, from the sender to the receiver.
    pub capacity: f64,
    pub one_way: Duration,
    /// Seconds of capacity.
    pub queue: f64,
    /// Every datagram whose number this divides is lost.
    pub lost_one_in: Option<u64>,
}

/// Connects a sender with this registry to a receiver that reports by transport-wide feedback, and sends frames of the size
/// that its target allows for so many seconds.
pub fn play(
    path: Path,
    sender: (Registry, MediaEngine, Target),
    receiver: (Registry, MediaEngine),
    seconds: f64,
) -> Result<Seen, Error> {
    let epoch = Instant::now();
    let addresses: [SocketAddr; 2] = ["127.0.0.1:5000".parse()?, "127.0.0.2:5000".parse()?];
    let (registry, engine, target) = sender;
    let mut peers = [
        peer(epoch, addresses[0], RTCDtlsRole::Server, engine, registry)?,
        peer(epoch, addresses[1], RTCDtlsRole::Client, receiver.1, receiver.0)?,
    ];
    let mut camera = Camera::new(&mut peers[0])?;
    let offer = peers[0].create_offer(None)?;
    peers[0].set_local_description(epoch, offer.clone())?;
    peers[1].set_remote_description(epoch, offer)?;
    let answer = peers[1].create_answer(None)?;
    peers[1].set_local_description(epoch, answer.clone())?;
    peers[0].set_remote_description(epoch, answer)?;

    let mut seen = Seen::default();
    let mut under_way: [VecDeque<(Duration, BytesMut)>; 2] = Default::default();
    let (mut now, mut free_at, mut sent) = (Duration::ZERO, Duration::ZERO, 0u64);
    let mut connected = [None; 2];
    loop {
        now += TICK;
        let instant = epoch + now;
        let since = connected[0].zip(connected[1]).map(|(one, other): (Duration, Duration)| now - one.max(other));
        if since.is_none() && now > Duration::from_secs(30) {
            return Err("not connected after 30 s".into());
        }
        if since.is_some_and(|since| since.as_secs_f64() >= seconds) {
            return Ok(seen);
        }
        if let Some(since) = since {
            seen.targets.push((since.as_secs_f64(), target()));
            camera.capture(&mut peers[0], epoch, now, target())?;
        }
        for (index, peer) in peers.iter_mut().enumerate() {
            if peer.poll_timeout().is_some_and(|due| due <= instant) {
                peer.handle_timeout(instant)?;
            }
            while let Some(event) = peer.poll_event() {
                if let RTCPeerConnectionEvent::OnConnectionStateChangeEvent(RTCPeerConnectionState::Connected) = event {
                    connected[index].get_or_insert(now);
                }
            }
            while peer.poll_read().is_some() {}
            while let Some(msg) = peer.poll_write() {
                let arrives = if index == 0 {
                    sent += 1;
                    let waits = free_at.saturating_sub(now).as_secs_f64();
                    let lost = since.is_some() && path.lost_one_in.is_some_and(|one_in| sent.is_multiple_of(one_in));
                    if waits > path.queue || lost {
                        continue;
                    }
                    let bits = 8.0 * (msg.message.len() + 28) as f64;
                    free_at = free_at.max(now) + Duration::from_secs_f64(bits / path.capacity);
                    free_at + path.one_way
                } else {
                    now + path.one_way
                };
                under_way[1 - index].push_back((arrives, msg.message));
            }
        }
        for (index, peer) in peers.iter_mut().enumerate() {
            while under_way[index].front().is_some_and(|(at, _)| *at <= now) {
                let (_, message) = under_way[index].pop_front().ok_or("nothing under way")?;
                if let Some(since) = since.filter(|_| index == 1) {
                    seen.arrived.push((since.as_secs_f64(), message.len() + 28));
                }
                let transport = TransportContext {
                    local_addr: addresses[index],
                    peer_addr: addresses[1 - index],
                    ecn: None,
                    transport_protocol: TransportProtocol::UDP,
                };
                // What is not understood is not our concern.
                let _ = peer.handle_read(TaggedBytesMut { now: instant, transport, message });
            }
        }
    }
}
