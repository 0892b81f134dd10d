//! Two connections of str0m over a path in virtual time: ICE, DTLS, SRTP and all.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use str0m::bwe::{Bitrate, BweKind};
use str0m::format::Codec;
use str0m::media::{MediaKind, Mid, Pt};
use str0m::net::{Protocol, Receive};
use str0m::rtp::{RtpWrite, Ssrc};
use str0m::{Candidate, Event, Input, Output, Rtc, RtcConfig};
use thalweg_driver::Config;

use crate::Controlled;

pub type Error = Box<dyn std::error::Error>;

const TICK: Duration = Duration::from_micros(500);
const FRAME: Duration = Duration::from_micros(33_333);
const MEDIA: u32 = 1111;
const RTX: u32 = 2222;
const PAYLOAD: usize = 1100;
/// IPv4 and UDP.
const DATAGRAM: usize = 28;

/// The path between them.
#[derive(Debug, Clone, Copy)]
pub struct Path {
    /// Bit/s, from the sender to the receiver.
    pub capacity: f64,
    /// From the second half of the call on.
    pub later: f64,
    pub one_way: Duration,
    /// Seconds of capacity.
    pub queue: f64,
    /// Every datagram whose number this divides is lost.
    pub lost_one_in: Option<u64>,
}

/// Who says how fast to send.
pub enum Control<'a> {
    /// str0m's own estimator and pacer.
    Str0m { start: u64, max: u64 },
    /// A controller of this name.
    Thalweg { scheme: &'a str, config: Config },
}

/// Record of a call after the connection stood.
#[derive(Debug, Default)]
pub struct Seen {
    /// Second and bit/s.
    pub targets: Vec<(f64, f64)>,
    /// Second, bytes with IP and UDP, and seconds in the queue, of each datagram that arrived.
    pub arrived: Vec<(f64, usize, f64)>,
    pub dropped: u64,
}

impl Seen {
    pub fn reached(&self, target: f64) -> Option<f64> {
        self.targets.iter().find(|(_, said)| *said >= target).map(|(at, _)| *at)
    }

    /// Bit/s.
    pub fn delivered(&self, from: f64, until: f64) -> f64 {
        let within = self.arrived.iter().filter(|(at, ..)| *at >= from && *at < until);
        8.0 * within.map(|(_, size, _)| size).sum::<usize>() as f64 / (until - from)
    }

    /// The 95th percentile of the time in the queue, seconds.
    pub fn queued(&self) -> f64 {
        let mut waits: Vec<f64> = self.arrived.iter().map(|(.., wait)| *wait).collect();
        waits.sort_by(f64::total_cmp);
        waits.get(waits.len() * 95 / 100).copied().unwrap_or(0.0)
    }
}

struct Peer {
    rtc: Rtc,
    due: Instant,
    connected: bool,
}

impl Peer {
    fn new(now: Instant, config: RtcConfig) -> Peer {
        Peer { rtc: config.build(now), due: now, connected: false }
    }

    /// Polls until there is nothing left to do now.
    fn poll(&mut self, mut on_event: impl FnMut(&Event), mut on_datagram: impl FnMut(Vec<u8>)) -> Result<(), Error> {
        loop {
            match self.rtc.poll_output()? {
                Output::Timeout(due) => {
                    self.due = due;
                    return Ok(());
                }
                Output::Transmit(datagram) => on_datagram(datagram.contents.to_vec()),
                Output::Event(event) => {
                    self.connected |= matches!(event, Event::Connected);
                    on_event(&event);
                }
            }
        }
    }
}

/// From the sender to the receiver, and back.
struct Network {
    path: Path,
    epoch: Instant,
    free_at: Duration,
    sent: u64,
    /// For each of the two: when a datagram arrives, the datagram, and how long it waited in the queue.
    under_way: [VecDeque<(Duration, Vec<u8>, f64)>; 2],
    dropped: u64,
}

impl Network {
    fn send(&mut self, from: usize, now: Duration, capacity: f64, lossy: bool, datagram: Vec<u8>) {
        if from == 1 {
            return self.under_way[0].push_back((now + self.path.one_way, datagram, 0.0));
        }
        self.sent += 1;
        let waits = self.free_at.saturating_sub(now).as_secs_f64();
        let lost = lossy && self.path.lost_one_in.is_some_and(|one_in| self.sent.is_multiple_of(one_in));
        if waits > self.path.queue || lost {
            self.dropped += 1;
            return;
        }
        let bits = 8.0 * (datagram.len() + DATAGRAM) as f64;
        self.free_at = self.free_at.max(now) + Duration::from_secs_f64(bits / capacity);
        self.under_way[1].push_back((self.free_at + self.path.one_way, datagram, waits));
    }
}

fn connect(peers: &mut [Peer; 2], addresses: [SocketAddr; 2], mid: Mid) -> Result<Pt, Error> {
    for (index, peer) in peers.iter_mut().enumerate() {
        let [local, remote] = [index, 1 - index].map(|index| Candidate::host(addresses[index], "udp"));
        peer.rtc.add_local_candidate(local?);
        peer.rtc.add_remote_candidate(remote?);
    }
    let fingerprints = [0, 1].map(|index: usize| peers[index].rtc.direct_api().local_dtls_fingerprint().clone());
    let credentials = [0, 1].map(|index: usize| peers[index].rtc.direct_api().local_ice_credentials());
    for (index, peer) in peers.iter_mut().enumerate() {
        let mut direct = peer.rtc.direct_api();
        direct.set_remote_fingerprint(fingerprints[1 - index].clone());
        direct.set_remote_ice_credentials(credentials[1 - index].clone());
        direct.set_ice_controlling(index == 0);
        direct.start_dtls(index == 0)?;
        direct.enable_twcc_feedback();
        direct.declare_media(mid, MediaKind::Video);
    }
    let (media, rtx): (Ssrc, Ssrc) = (MEDIA.into(), RTX.into());
    peers[0].rtc.direct_api().declare_stream_tx(media, Some(rtx), mid, None);
    peers[1].rtc.direct_api().expect_stream_rx(media, Some(rtx), mid, None);
    let vp8 = peers[0].rtc.codec_config().find(|params| params.spec().codec == Codec::Vp8);
    Ok(vp8.ok_or("no VP8")?.pt())
}

/// Connects a sender to a receiver, and sends frames of the size that the target allows for so many seconds.
///
/// # Errors
/// When the two do not connect within 30 s, and what str0m refuses.
pub fn play(path: Path, control: Control<'_>, seconds: f64) -> Result<Seen, Error> {
    let epoch = Instant::now();
    let addresses: [SocketAddr; 2] = ["10.0.0.1:5000".parse()?, "10.0.0.2:5000".parse()?];
    let plain = || RtcConfig::new().set_rtp_mode(true);
    let media: Ssrc = MEDIA.into();
    let (config, mut controlled, mut target) = match &control {
        Control::Str0m { start, .. } => (plain().enable_bwe(Some(Bitrate::bps(*start))), None, *start as f64),
        Control::Thalweg { scheme, config } => {
            let controlled = Controlled::new(epoch, media, scheme, *config)?;
            let target = controlled.target().as_bps_f64();
            (plain().enable_raw_packets(true), Some(controlled), target)
        }
    };
    let mut peers = [Peer::new(epoch, config), Peer::new(epoch, plain())];
    let mid: Mid = "vid".into();
    let pt = connect(&mut peers, addresses, mid)?;
    if let Control::Str0m { max, .. } = &control {
        peers[0].rtc.bwe().set_bitrate(Bitrate::ZERO, Bitrate::bps(*max));
    }

    let mut network =
        Network { path, epoch, free_at: Duration::ZERO, sent: 0, under_way: Default::default(), dropped: 0 };
    let mut seen = Seen::default();
    let (mut now, mut began, mut next_frame, mut sequence) = (Duration::ZERO, None, Duration::ZERO, 0u64);
    loop {
        now += TICK;
        let instant = network.epoch + now;
        if began.is_none() && peers[0].connected && peers[1].connected {
            began = Some(now);
        }
        let since = began.map(|began: Duration| (now - began).as_secs_f64());
        if since.is_none() && now > Duration::from_secs(30) {
            return Err("not connected after 30 s".into());
        }
        if since.is_some_and(|since| since >= seconds) {
            seen.dropped = network.dropped;
            return Ok(seen);
        }
        let capacity = if since.is_some_and(|since| since >= seconds / 2.0) { path.later } else { path.capacity };
        for (index, peer) in peers.iter_mut().enumerate() {
            let mut changed = false;
            while network.under_way[index].front().is_some_and(|(at, ..)| *at <= now) {
                let (_, datagram, wait) = network.under_way[index].pop_front().ok_or("nothing under way")?;
                if let Some(since) = since.filter(|_| index == 1) {
                    seen.arrived.push((since, datagram.len() + DATAGRAM, wait));
                }
                let received = Receive::new(Protocol::Udp, addresses[1 - index], addresses[index], &datagram)?;
                peer.rtc.handle_input(Input::Receive(instant, received))?;
                peer.poll(
                    |event| listen(event, instant, controlled.as_mut().filter(|_| index == 0), &mut target),
                    |datagram| network.send(index, now, capacity, since.is_some(), datagram),
                )?;
            }
            if index == 0 && since.is_some() && now >= next_frame {
                next_frame = now + FRAME;
                let mut left = (target * FRAME.as_secs_f64() / 8.0) as usize;
                while left > 0 {
                    let size = left.min(PAYLOAD);
                    left -= size;
                    let time = (now.as_millis() * 90) as u32;
                    let packet = RtpWrite::new(pt, sequence.into(), time, instant, vec![0u8; size])
                        .marker(left == 0)
                        .nackable(true);
                    sequence += 1;
                    match &mut controlled {
                        // The RTP header with one extension is about 20 bytes; the controller sees the true size later.
                        Some(controlled) => controlled.write(packet, size + 20),
                        None => peer.rtc.direct_api().stream_tx(&media).ok_or("no stream")?.write_rtp(packet),
                    }
                }
                changed = true;
            }
            loop {
                let released = match &mut controlled {
                    Some(controlled) if index == 0 && since.is_some() => controlled.release(instant, &mut peer.rtc),
                    _ => false,
                };
                if !released && !changed && peer.due > instant {
                    break;
                }
                changed = false;
                peer.rtc.handle_input(Input::Timeout(instant))?;
                peer.poll(
                    |event| listen(event, instant, controlled.as_mut().filter(|_| index == 0), &mut target),
                    |datagram| network.send(index, now, capacity, since.is_some(), datagram),
                )?;
                if !released && peer.due <= instant {
                    // str0m asks for this very instant again: time has to pass.
                    break;
                }
            }
        }
        if let Some(controlled) = &controlled {
            target = controlled.target().as_bps_f64();
        }
        if let Some(since) = since {
            seen.targets.push((since, target));
        }
    }
}

fn listen(event: &Event, now: Instant, controlled: Option<&mut Controlled>, target: &mut f64) {
    if let Some(controlled) = controlled {
        controlled.on_event(now, event);
    } else if let Event::EgressBitrateEstimate(BweKind::Twcc { estimate, .. }) = event {
        *target = estimate.as_f64();
    }
}
