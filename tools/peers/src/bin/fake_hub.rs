//! The page of `thalweg publish` without a publisher: changing figures, no video. For work on the page and for its
//! tests.
//!
//! `cargo run -p thalweg-peers --bin fake_hub -- [--listen 127.0.0.1:8099] [--duel] [--token TOKEN] [--slow] [--waiting]
//! [--refuse] [--answer]`
//!
//! `--slow` reports a machine that does not keep up, `--waiting` a relay whose sender has left; `--refuse` refuses every
//! viewer as one too many; `--answer` answers any offer with the offer itself, which only a test can use.

#![allow(clippy::disallowed_methods, reason = "figures that move need a clock")]

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use thalweg_live::web::{
    About, Channel, Condition, Hub, Join, Joined, LinkChange, LinkFigures, Patched, Refused, RefusedKind, SchemeLine,
    Server, Sessions, Snapshot, Token, WebConfig,
};

const SCHEMES: [(&str, &str); 4] = [
    ("gcc", "WebRTC today"),
    ("gcc:2017", "WebRTC of Chrome 62"),
    ("vidaptive", "Vidaptive over Copa"),
    ("camel", "frames leave in bursts"),
];

fn is_scheme(name: &str) -> bool {
    SCHEMES.iter().any(|(known, _)| *known == name)
}

struct FakeHub {
    started: Instant,
    epoch_ms: f64,
    duel: bool,
    slow: bool,
    waiting: bool,
    link: Mutex<LinkFigures>,
    answers: bool,
    viewers: Mutex<BTreeMap<String, (Instant, String)>>,
}

impl FakeHub {
    fn no_such_viewer() -> Refused {
        Refused::new(RefusedKind::NoSuchViewer, "There is no such viewer; they may have left already.")
    }
}

impl Sessions for FakeHub {
    fn join(&self, join: Join) -> Result<Joined, Refused> {
        if !self.answers {
            return Err(Refused::new(RefusedKind::Full, "There are 4 viewers, as many as may be at one time."));
        }
        let id = Token::random().map_err(|error| Refused::new(RefusedKind::Unavailable, error.to_string()))?;
        let channel = join.channel.unwrap_or_default();
        let scheme = join.scheme.unwrap_or(if is_scheme(&channel) { channel } else { SCHEMES[0].0.into() });
        self.viewers.lock().unwrap().insert(id.reveal().into(), (Instant::now(), scheme));
        Ok(Joined { id: id.reveal().into(), answer: join.offer, etag: "1".into() })
    }

    fn patch(&self, _: &str, _: &str, _: &Condition) -> Result<Patched, Refused> {
        Err(Self::no_such_viewer())
    }

    fn leave(&self, id: &str) -> bool {
        self.viewers.lock().unwrap().remove(id).is_some()
    }

    fn metrics(&self) -> String {
        format!("thalweg_viewers {}\n", self.viewers.lock().unwrap().len())
    }
}

impl Hub for FakeHub {
    fn switch(&self, id: &str, scheme: &str) -> Result<(), Refused> {
        if !is_scheme(scheme) {
            let sentence = format!("The scheme {scheme:?}; there are {}.", SCHEMES.map(|(name, _)| name).join(", "));
            return Err(Refused::new(RefusedKind::UnknownScheme, sentence));
        }
        let mut viewers = self.viewers.lock().unwrap();
        viewers.get_mut(id).ok_or_else(Self::no_such_viewer)?.1 = scheme.into();
        Ok(())
    }

    fn change_link(&self, id: &str, change: &LinkChange) -> Result<(), Refused> {
        change.changes()?;
        if !self.viewers.lock().unwrap().contains_key(id) {
            return Err(Self::no_such_viewer());
        }
        let mut link = self.link.lock().unwrap();
        link.rate_bps = change.rate_bps.unwrap_or(link.rate_bps);
        link.delay_ms = change.delay_ms.unwrap_or(link.delay_ms);
        link.loss = change.loss.unwrap_or(link.loss);
        Ok(())
    }

    fn snapshot(&self, id: &str) -> Option<Snapshot> {
        let viewers = self.viewers.lock().unwrap();
        let (joined, scheme) = viewers.get(id)?;
        let time_s = joined.elapsed().as_secs_f64();
        // A step every ten seconds, reached by one scheme at once and by the other gradually; a little noise on
        // everything.
        let wave = |period: f64, phase: f64| (time_s / period * std::f64::consts::TAU + phase).sin();
        let link = self.link.lock().unwrap().clone();
        let step = if (self.started.elapsed().as_secs() / 10).is_multiple_of(2) { 3e6 } else { 1e6 };
        let capacity = link.rate_bps.unwrap_or(step);
        let patience = if scheme == "gcc" { (time_s % 10.0 / 10.0).sqrt() } else { 0.95 };
        let encoder = capacity * patience * 0.82 + 4e4 * wave(0.7, 0.0);
        let fills = scheme == "vidaptive";
        let padding = if fills { (capacity * 0.9 - encoder).max(0.0) * (0.5 + 0.5 * wave(3.0, 1.0)) } else { 0.0 };
        Some(Snapshot {
            time_s,
            scheme: scheme.clone(),
            asked_scheme: None,
            target_bps: Some(capacity * patience * 0.8),
            encoder_bps: Some(encoder),
            wire_bps: Some(encoder * 1.04 + padding + 6e4 + 2e4),
            padding_bps: Some(padding),
            repair_bps: Some(2e4),
            audio_bps: Some(6e4),
            capacity_bps: Some(capacity * (0.97 + 0.03 * wave(1.3, 0.0))),
            window_bytes: Some((capacity * 0.08 / 8.0) as u64),
            in_flight_bytes: Some((encoder * 0.06 / 8.0 * (1.0 + 0.3 * wave(0.4, 0.0))) as u64),
            rtt_ms: Some(52.0 + 6.0 * wave(0.9, 0.5)),
            queue_ms: Some(4.0 + 3.0 * wave(0.9, 0.5)),
            frame_delay_ms: Some(9.0),
            alpha: fills.then(|| 0.7 + 0.2 * wave(8.0, 0.0)),
            paused: false,
            frames_sent: (time_s * 30.0) as u64,
            frames_skipped: (time_s / 9.0) as u64,
            keyframes: 1,
            resolution: Some("1280x720".into()),
            quantizer: Some(34.0),
            loss_ratio: Some(0.004),
            nacks: 3,
            plis: 0,
            feedback_kind: Some("twcc-02".into()),
            connection_state: "connected".into(),
            pacing_lateness_us_p50: Some(21.0),
            pacing_lateness_us_p99: Some(180.0),
            sent_bytes: (time_s * encoder / 8.0) as u64,
            sent_by_ecn: Default::default(),
            arrived_by_ecn: Default::default(),
            epoch_timestamp: None,
            link: Some(LinkFigures { capacity_bps: Some(capacity), ..link }),
            waiting: self.waiting.then(|| "the sender has left or pauses".into()),
            too_slow: self
                .slow
                .then(|| "the encoder took longer than a frame lasts (33 ms) for 41 % of frames".into())
                .into_iter()
                .collect(),
        })
    }

    fn about(&self) -> About {
        let channel = |name: &str| Channel { name: name.into(), scheme: name.into(), switchable: !self.duel };
        About {
            title: "built-in scene".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            channels: if self.duel { vec![channel("gcc"), channel("vidaptive")] } else { vec![channel("gcc")] },
            schemes: SCHEMES.map(|(name, about)| SchemeLine { name: name.into(), about: about.into() }).to_vec(),
            width: 1280,
            height: 720,
            frame_interval_ms: 1000.0 / 30.0,
            barcodes: true,
            epoch_ms: self.epoch_ms,
            link: Some("over an emulated link of 3 Mbps and 25 ms, with a step to 1 Mbps every ten seconds".into()),
            feedback_on_request: true,
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let value =
        |name: &str| arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1));
    let mut config = WebConfig::new(value("--listen").map_or("127.0.0.1:8099", |listen| listen).parse()?)?;
    if let Some(token) = value("--token") {
        config.token = Some(token.parse()?);
    }
    let hub = FakeHub {
        started: Instant::now(),
        epoch_ms: SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64() * 1e3,
        duel: has("--duel"),
        slow: has("--slow"),
        waiting: has("--waiting"),
        link: Mutex::new(LinkFigures { delay_ms: 25.0, ..LinkFigures::default() }),
        answers: has("--answer") && !has("--refuse"),
        viewers: Mutex::default(),
    };
    let server = Server::start(config, Arc::new(hub))?;
    println!("{}", server.link(server.address()));
    // Runs until standard input ends, that is until the program that started this one ends.
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    server.stop();
    Ok(())
}
