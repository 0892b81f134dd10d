//! Many viewers in one thread, to load a server: `audience whep|janus URL VIEWERS SECONDS [PID]`.
//!
//! A viewer does what keeps it one: signalling, ICE, DTLS, consent, and reports: transport-wide feedback every 62 ms where the
//! server wants it, as Chromium sends it, and receiver reports. It decrypts and decodes no media, so that most of the machine
//! is left to the server: it only counts what comes. `whep` joins a publisher of this project (`http://HOST:PORT`), `janus` a
//! mountpoint of Janus' streaming plugin (`http://HOST:PORT/janus`). All receive by one socket, so the server must be on this
//! machine: a publisher sends from one port to viewer n at 127.1.x.y, Janus from a port for each viewer to one address of this
//! machine, since it sends nothing to loopback. With PID, that of the server, what it costs is measured too. Prints one JSON
//! object.

mod http;
mod janus;
mod metrics;
mod processor;
mod viewer;
mod whep;

use std::collections::BTreeMap;
use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde_json::{Value, json};
use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::{Lateness, Poller, PollerConfig, UdpConfig, UdpSocket};
use thalweg_live::publish::reached_at;
use thalweg_transport::sdp::Video;
use thalweg_transport::{Connection, Identity};
use thalweg_units::{Bytes, Span, Time};

use viewer::{REPORTS, Seat, Viewer};

/// The time in which viewers join, one after the other.
const JOINING: Span = Span::from_millis(40);
/// Time after joining that is not counted: GCC doubles its rate in 9 s.
const SETTLING: Span = Span::from_secs(20);

/// How a viewer joins.
type Join = fn(&str, &Seat<'_>, Time) -> Result<(Connection, Video), Box<dyn Error>>;

/// Time for which received datagrams wait for more: else each datagram would wake this program, at the cost of who
/// sends it, as the kernel does that in the sender's time where both are on one machine.
const GATHERING: Span = Span::from_micros(500);

/// The address of a viewer.
fn address(number: usize, port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::new(127, 1, (number / 250) as u8, (number % 250 + 1) as u8), port))
}

/// The number of the viewer with this address.
fn number(ip: IpAddr) -> Option<usize> {
    let IpAddr::V4(ip) = ip else { return None };
    let [_, _, high, low] = ip.octets();
    (usize::from(high) * 250 + usize::from(low)).checked_sub(1)
}

/// All viewers and their socket.
struct Audience {
    clock: Clock,
    poller: Poller,
    socket: UdpSocket,
    viewers: Vec<Viewer>,
    /// Whose server sends from where, where they have one address.
    sources: BTreeMap<SocketAddr, usize>,
    /// Whose turn it is to report, and when.
    next: usize,
    due: Time,
}

impl Audience {
    fn run_until(&mut self, end: Time) -> Result<(), Box<dyn Error>> {
        let mut touched = Vec::new();
        while self.clock.now() < end {
            let Audience { clock, poller, socket, viewers, sources, next, due } = self;
            poller.wait(end.min(*due), &[&*socket])?;
            poller.wait(clock.now() + GATHERING, &[])?;
            socket.receive(|datagram| {
                let known = sources.get(&datagram.from).copied();
                let found = known.or_else(|| number(datagram.to.ip()));
                let Some((number, viewer)) = found.and_then(|number| Some((number, viewers.get_mut(number)?))) else {
                    return;
                };
                if viewer.on_datagram(clock.now(), datagram.from, datagram.to, datagram.bytes) {
                    touched.push(number);
                }
            });
            touched.drain(..).for_each(|number| viewers[number].drain(socket));
            // Each reports in its turn: receivers that have nothing to do with each other do not report all at once.
            let now = clock.now();
            while *due <= now && !viewers.is_empty() {
                let viewer = &mut viewers[*next];
                viewer.report(now);
                viewer.drain(socket);
                *next = (*next + 1) % viewers.len();
                *due += REPORTS / viewers.len() as i64;
            }
            *due = (*due).max(now - REPORTS);
            socket.flush();
        }
        Ok(())
    }

    fn sum(&self, of: fn(&Viewer) -> u64) -> f64 {
        self.viewers.iter().map(of).sum::<u64>() as f64
    }
}

/// How long frames were on their way beyond the least of each viewer, to their last packets.
fn transits(viewers: &[Viewer]) -> Lateness {
    let mut all = Lateness::default();
    for viewer in viewers {
        let least = viewer.transits.iter().min().copied().unwrap_or_default();
        viewer.transits.iter().for_each(|transit| all.add(*transit - least));
    }
    all
}

/// Share of a core that each thread had.
fn shares(before: &BTreeMap<String, f64>, process: &str, seconds: f64) -> (f64, Value) {
    let share = |(name, time): (String, f64)| {
        let share = (time - before.get(&name).unwrap_or(&0.0)) / seconds;
        (name, share)
    };
    let shares: Vec<(String, f64)> = processor::time(process).into_iter().map(share).collect();
    let most = shares.iter().filter(|(_, share)| *share >= 0.005);
    (shares.iter().map(|(_, share)| share).sum(), most.map(|(name, share)| (name.clone(), json!(share))).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (kind, url, count, seconds, process) = match &arguments[..] {
        [kind, url, count, seconds] => (kind, url, count, seconds, None),
        [kind, url, count, seconds, process] => (kind, url, count, seconds, Some(process)),
        _ => return Err("audience whep|janus URL VIEWERS SECONDS [PID]".into()),
    };
    let (join, is_one_port): (Join, bool) = match kind.as_str() {
        "whep" => (whep::join, true),
        "janus" => (janus::join, false),
        other => return Err(format!("unknown kind of server {other:?}: expected whep or janus").into()),
    };
    let (count, seconds): (usize, u32) = (count.parse()?, seconds.parse()?);
    let clock = Clock::new();
    let config = UdpConfig { buffer: Bytes::new(64 << 20), batch: 4096, ..UdpConfig::default() };
    let socket = UdpSocket::bind("0.0.0.0:0".parse()?, &config)?;
    let port = socket.local_address().port();
    let (poller, identity) = (Poller::new(clock, PollerConfig::default())?, Identity::generate()?);
    let (viewers, sources) = (Vec::new(), BTreeMap::new());
    let one = *reached_at(socket.local_address())?.first().ok_or("this machine has no address")?;
    let mut audience = Audience { clock, poller, socket, viewers, sources, next: 0, due: Time::ZERO };
    for number in 0..count {
        let address = if is_one_port { address(number, port) } else { one };
        let viewer =
            Viewer::new(join(url, &Seat { address, identity: &identity, origin: clock.origin() }, clock.now())?)?;
        if !is_one_port {
            audience.sources.extend(viewer.sources().map(|source| (source, number)));
        }
        audience.viewers.push(viewer);
        audience.run_until(clock.now() + JOINING)?;
    }
    audience.run_until(clock.now() + SETTLING)?;
    let counts: [fn(&Viewer) -> u64; 4] =
        [|viewer| viewer.packets, |viewer| viewer.bytes, |viewer| viewer.other, |viewer| viewer.missing];
    let sums = |audience: &Audience| counts.map(|of| audience.sum(of));
    audience.viewers.iter_mut().for_each(|viewer| viewer.transits.clear());
    let (before, began, own) = (sums(&audience), clock.now(), processor::time("self"));
    let theirs = process.map(|process| processor::time(process));
    audience.run_until(clock.now() + Span::from_secs(i64::from(seconds)))?;
    let (after, passed) = (sums(&audience), (clock.now() - began).as_secs_f64());
    let own = shares(&own, "self", passed);
    let theirs = process.zip(theirs).map(|(process, before)| (process, shares(&before, process, passed)));
    let [packets, bytes, other, missing] = std::array::from_fn(|index| after[index] - before[index]);
    let connected = audience.viewers.iter().filter(|viewer| viewer.is_connected).count();
    let frames = transits(&audience.viewers);
    let millis = |share: f64| frames.percentile(share).map(Span::as_millis_f64);
    let server = theirs.map(|(process, (cores, threads))| {
        json!({
            "cores": cores,
            "threads": threads,
            "us_a_packet": 1e6 * cores * passed / packets,
            "ms_a_viewer_second": 1e3 * cores / connected as f64,
            "memory_mb": processor::memory(process),
        })
    });
    let metrics = if kind == "whep" {
        let (_, text) = http::get(&format!("{}/metrics", url.trim_end_matches('/')))?;
        metrics::summary(&text)
    } else {
        Value::Null
    };
    let each = |sum: f64| sum / passed / count as f64;
    println!(
        "{}",
        json!({
            "viewers": connected,
            "asked": count,
            "mbps_each": each(bytes) * 8e-6,
            "packets_a_second": packets / passed,
            "other_packets_share": other / packets,
            "frames_a_second_each": each(frames.count() as f64),
            "frame_transit_ms": { "p50": millis(0.5), "p99": millis(0.99) },
            "missing_share": missing / packets,
            "dropped_here": audience.socket.counts().missed,
            "audience": { "cores": own.0 },
            "server": server,
            "metrics": metrics,
        })
    );
    Ok(())
}
