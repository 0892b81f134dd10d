//! `thalweg watch`: measures what a browser would receive.

use std::io::ErrorKind;
use std::path::PathBuf;

use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::{Poller, PollerConfig, Signals};
use thalweg_live::measure::MeasureError;
use thalweg_live::watch::{Feedback, Place, Report, WatchConfig, WatchError, Watcher};
use thalweg_live::whip::Token;
use thalweg_units::{Span, Time};

use super::authorities::{authorities, refused};
use crate::commands::values;
use crate::progress::StatusLine;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg watch http://127.0.0.1:8080/
  thalweg watch http://127.0.0.1:8080/ --duration 30s --json
  thalweg watch http://127.0.0.1:8080/ --record out.ivf")]
pub(crate) struct Arguments {
    /// The link that `publish` prints, or a WHEP address
    #[arg(value_name = "URL")]
    url: String,
    /// The bearer token, if it is not in the link
    #[arg(long, env = "THALWEG_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Accept only this certificate (PEM) of the server, instead of the authorities that the web trusts
    ///
    /// The certificate may be the server's own, or its signer's.
    #[arg(long, value_name = "FILE")]
    certificate_authority: Option<PathBuf>,
    /// Channel, where there are several (in a duel, `left` or `right`)
    #[arg(long)]
    channel: Option<String>,
    /// The sender's scheme to request (see `thalweg schemes`)
    #[arg(long)]
    scheme: Option<String>,
    /// Feedback format: twcc, twcc-on-request, ccfb, xr, plain, or any
    ///
    /// `xr` is extended reports, `plain` receiver reports alone; `any` leaves the choice to the sender.
    #[arg(long, default_value_t)]
    feedback: Feedback,
    /// Write frames as received: VP8 and VP9 as IVF, H.264 as a byte stream (Annex B)
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Write decoded pictures as y4m; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "no_decode")]
    y4m: Option<PathBuf>,
    /// Skip decoding: a frame counts as shown when it is complete
    #[arg(long)]
    no_decode: bool,
    /// Stop after this time (default: at Ctrl-C)
    #[arg(long, value_parser = values::duration)]
    duration: Option<Span>,
    /// Exit when the session ends, instead of joining again
    #[arg(long)]
    no_reconnect: bool,
    /// Latency above which a picture counts as late
    #[arg(long, default_value = "400ms", value_parser = values::duration)]
    late: Span,
    /// Print the figures as one JSON object
    #[arg(long)]
    json: bool,
    /// Write logs as one JSON object per line
    #[arg(long)]
    log_json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    super::logs::begin(arguments.log_json)?;
    let token = arguments.token.as_deref().map(str::parse::<Token>).transpose()?;
    let place = Place::new(&arguments.url, token, arguments.channel.as_deref(), arguments.scheme.as_deref())?;
    let place = match &arguments.certificate_authority {
        Some(path) => place.known_by(&authorities(path)?),
        None => place,
    };
    if place.shows_token() {
        eprintln!("warning: the token goes to another machine by http, where others may read it; use https");
    }
    let config = WatchConfig {
        feedback: arguments.feedback,
        decode: !arguments.no_decode,
        record: arguments.record.clone(),
        y4m: arguments.y4m.clone(),
        reconnect: !arguments.no_reconnect,
        late: arguments.late,
        ..WatchConfig::new(place)
    };
    let clock = Clock::new();
    let mut signals = Signals::to_end()?;
    let mut poller = Poller::new(clock, PollerConfig::default())?;
    let watcher = Watcher::start(config, clock)?;
    let end = arguments.duration.map_or(Time::NEVER, |duration| clock.now() + duration);
    let status = StatusLine::new();
    let mut line = Time::ZERO;
    while watcher.is_running() && !signals.take() && clock.now() < end {
        poller.wait(end.min(clock.now() + Span::from_millis(200)), &[&signals])?;
        if !status.is_hidden() && clock.now() >= line {
            line = clock.now() + Span::from_secs(1);
            status.show(summary(&watcher.report()));
        }
    }
    drop(status);
    let (report, ended) = watcher.finish();
    let to_output = arguments.y4m.as_ref().is_some_and(|path| path.as_os_str() == "-");
    if report.sessions > 0 || ended.is_ok() {
        let text = text(arguments.json, &report)?;
        // With pictures on standard output, text goes to standard error.
        if to_output { eprintln!("{text}") } else { outln!("{text}") }
    }
    match ended {
        // The reader of the pictures has closed the pipe: a normal end.
        Err(WatchError::Measure(MeasureError::Write { error, .. }))
            if to_output && error.kind() == ErrorKind::BrokenPipe =>
        {
            Ok(())
        }
        Err(WatchError::Server(error)) => Err(refused(&error)),
        ended => Ok(ended?),
    }
}

fn text(json: bool, report: &Report) -> anyhow::Result<String> {
    Ok(if json { serde_json::to_string(report)? } else { summary(report) })
}

/// Milliseconds, if they are known.
pub(super) fn milliseconds(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.0}"))
}

/// The report as one line.
fn summary(report: &Report) -> String {
    format!(
        "{:.0} s  {} {}  {:.1} fps  {:.2} Mbps  latency p50 {} p95 {} ms  loss {:.2} %  repaired {}  freezes {}  audio {:.0}/s",
        report.duration_s,
        report.codec.as_deref().unwrap_or("connecting"),
        report.resolution.as_deref().unwrap_or("-"),
        report.frame_rate_fps,
        report.wire_bitrate_bps / 1e6,
        milliseconds(report.latency_p50_ms),
        milliseconds(report.latency_p95_ms),
        100.0 * report.packet_loss_ratio,
        report.packets_retransmitted + report.packets_recovered,
        report.freezes,
        report.audio_rate_pps,
    )
}
