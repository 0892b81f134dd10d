//! `thalweg receive`: anybody's sender by WHIP, measured.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use thalweg_emulate::Zero;
use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::{Poller, PollerConfig, Signals};
use thalweg_lab::metrics::Summary;
use thalweg_lab::report::About;
use thalweg_lab::{Outcome, inputs, run_folder};
use thalweg_lab_sockets::received::{self, Measured};
use thalweg_live::measure::Feedback;
use thalweg_live::receive::{Observe, Observed, ReceiveConfig, Receiver, SenderReport, VideoCodec};
use thalweg_live::web::{Server, Token};
use thalweg_units::{Size, Span, Time};
use thalweg_video::Video;
use thalweg_video::footage::Footage;

use super::access::{self, Access};
use super::addresses::{address, local_address};
use super::emulated::{Emulated, Link, finder};
use super::watch::milliseconds;
use crate::commands::values;
use crate::progress::{self, StatusLine};
use crate::{folder, play, table};

/// Headings of the help.
const SENDERS: &str = "Page and senders";
const MEDIA: &str = "Video and audio";
const RECORDS: &str = "Records";

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg receive
  thalweg receive --rate 2Mbps/500kbps@20s --delay 25ms
  thalweg receive --listen 0.0.0.0:8443 --tls-certificate cert.pem --tls-key key.pem --duration 60s --json")]
pub(crate) struct Arguments {
    /// Read options from a TOML file too, by their names, such as `listen = "0.0.0.0:8443"`
    ///
    /// Options on the command line take precedence.
    // Read before the others are parsed (configured.rs).
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Address or local port of the page and the WHIP endpoint
    #[arg(long, default_value = "127.0.0.1:8081", value_name = "ADDRESS", value_parser = local_address)]
    #[arg(help_heading = SENDERS)]
    listen: SocketAddr,
    /// Address that media is received at (default: the page's address and any free port)
    #[arg(long, value_name = "ADDRESS", value_parser = address, help_heading = SENDERS)]
    udp: Option<SocketAddr>,
    /// Addresses announced to senders in place of this machine's own, such as the public address of its NAT
    ///
    /// Unavailable with an emulated link, which has a port of its own for each sender.
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',', value_parser = address, help_heading = SENDERS)]
    advertise: Vec<SocketAddr>,
    /// The maximum number of senders at a time
    #[arg(long, default_value_t = 4, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=100))]
    #[arg(help_heading = SENDERS)]
    senders: usize,
    /// Token that senders must present (default: a random one, except on loopback)
    ///
    /// Sent in the page's link, or as a bearer token.
    #[arg(long, conflicts_with = "open", help_heading = SENDERS, env = "THALWEG_TOKEN", hide_env_values = true)]
    token: Option<Token>,
    /// Let anyone who can connect send
    #[arg(long, help_heading = SENDERS)]
    open: bool,
    /// Serve page and endpoint by https with this certificate and those of its signers (PEM)
    ///
    /// Browsers allow a page to use the camera only by https or on the same machine.
    #[arg(long, requires = "tls_key", value_name = "FILE", help_heading = SENDERS)]
    tls_certificate: Option<PathBuf>,
    /// The certificate's private key (PEM)
    #[arg(long, requires = "tls_certificate", value_name = "FILE", help_heading = SENDERS)]
    tls_key: Option<PathBuf>,
    /// Codecs to accept, of vp8, vp9, h264 and av1; the one that the sender prefers is used
    ///
    /// Default: all that can be decoded here, with av1 where dav1d is installed.
    #[arg(long, value_name = "CODEC", value_delimiter = ',', value_parser = codec, help_heading = MEDIA)]
    codec: Vec<VideoCodec>,
    /// Feedback format to send: twcc, twcc-on-request, ccfb, xr, plain, or any
    ///
    /// `any` is the first of twcc-on-request, ccfb and twcc that the sender offers; `plain` is receiver reports alone.
    #[arg(long, default_value_t, help_heading = MEDIA)]
    feedback: Feedback,
    /// Refuse audio
    #[arg(long, help_heading = MEDIA)]
    no_audio: bool,
    /// Skip decoding: a frame counts as shown when it is complete
    #[arg(long, help_heading = MEDIA)]
    no_decode: bool,
    /// Latency above which a picture counts as late
    #[arg(long, default_value = "400ms", value_parser = values::duration, help_heading = MEDIA)]
    late: Span,
    /// Stop after this time (default: at Ctrl-C)
    #[arg(long, value_parser = values::duration)]
    duration: Option<Span>,
    /// Stop when the first sender has left
    #[arg(long)]
    once: bool,
    /// Folder for the results: a run of each sender with events and figures, and report.html of all
    #[arg(long, short, value_name = "FOLDER", help_heading = RECORDS)]
    out: Option<PathBuf>,
    /// Source video of the sender, to measure PSNR and SSIM against; sent by `thalweg publish --barcode`
    ///
    /// After the sender has left, each picture is compared with the source picture of its number; until then its frames
    /// stay in memory.
    #[arg(long, value_name = "VIDEO", requires = "out", help_heading = RECORDS)]
    reference: Option<String>,
    /// Size to which the sender scales it, such as 640x360 or 720p
    #[arg(long, requires = "reference", help_heading = RECORDS)]
    reference_size: Option<Size>,
    /// Folder for frames as received: VP8, VP9 and AV1 as IVF, H.264 as a byte stream (Annex B)
    #[arg(long, value_name = "FOLDER", help_heading = RECORDS)]
    record: Option<PathBuf>,
    /// Print the figures of each sender that has left as one JSON object per line
    #[arg(long, help_heading = RECORDS)]
    json: bool,
    /// Write logs as one JSON object per line
    #[arg(long, help_heading = RECORDS)]
    log_json: bool,
    #[command(flatten)]
    link: Emulated,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    super::logs::begin(arguments.log_json)?;
    if let Some(folder) = &arguments.record {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    if let Some(folder) = &arguments.out {
        // Results of an earlier command move away now; those of a sender are listed when it has left.
        folder::prepare(folder, &[], false)?;
    }
    if let Some(video) = reference(arguments) {
        Footage::format_of(&video).with_context(|| video.source.clone())?;
    }
    let clock = Clock::new();
    let link = if arguments.link.wanted() { Some(arguments.link.link(Zero::Start)?) } else { None };
    let defaults = ReceiveConfig::new(arguments.udp.unwrap_or(SocketAddr::new(arguments.listen.ip(), 0)));
    let config = ReceiveConfig {
        advertise: arguments.advertise.clone(),
        link: link.as_ref().map(|link| link.config.clone()),
        link_text: link.as_ref().map(|_| arguments.link.words()),
        codecs: if arguments.codec.is_empty() { defaults.codecs.clone() } else { arguments.codec.clone() },
        feedback: arguments.feedback,
        audio: !arguments.no_audio,
        decode: !arguments.no_decode,
        max_senders: arguments.senders,
        late: arguments.late,
        observe: Observe {
            each_packet: arguments.out.is_some(),
            data: arguments.reference.is_some(),
            record: arguments.record.clone(),
        },
        ..defaults
    };
    let receiver = Receiver::start(config, clock, &mut finder(link.as_ref()))?;
    let tls = access::tls(arguments.tls_certificate.as_ref().zip(arguments.tls_key.as_ref()))?;
    let access = Access { token: arguments.token.as_ref(), open: arguments.open, tls };
    let web = access.serving(arguments.listen, clock, "send in your place")?;
    let server = Server::start_receiving(web, receiver.hub())?;
    for address in thalweg_live::publish::reached_at(server.address())? {
        let (page, endpoint) =
            (access::printed(server.link(address), arguments.token.as_ref()), server.endpoint(address, "whip"));
        let lines = format!("send a camera from {page}\nsend by WHIP to {endpoint}");
        // With figures in JSON on standard output, text goes to standard error.
        if arguments.json { eprintln!("{lines}") } else { outln!("{lines}") }
    }
    let (outcomes, runs) = Default::default();
    let mut results = Results { arguments, link: link.as_ref(), outcomes, runs, left: 0, failed: None };
    let waited = wait(&mut results, &receiver, clock);
    server.stop();
    let (rest, ended) = receiver.finish();
    rest.into_iter().for_each(|observed| results.add(observed));
    results.show()?;
    waited?;
    ended?;
    results.failed.map_or(Ok(()), Err)
}

/// Source that pictures are compared with.
fn reference(arguments: &Arguments) -> Option<Video> {
    let source = arguments.reference.clone()?;
    Some(Video::of(source, arguments.reference_size))
}

/// Waits for the end, and adds senders that leave until then.
fn wait(results: &mut Results<'_>, receiver: &Receiver, clock: Clock) -> anyhow::Result<()> {
    let arguments = results.arguments;
    let mut signals = Signals::to_end()?;
    let mut poller = Poller::new(clock, PollerConfig::default())?;
    let end = arguments.duration.map_or(Time::NEVER, |duration| clock.now() + duration);
    let (status, mut line) = (StatusLine::new(), Time::ZERO);
    while receiver.is_running() && !signals.take() && clock.now() < end {
        poller.wait(end.min(clock.now() + Span::from_millis(200)), &[&signals])?;
        while let Some(observed) = receiver.take_ended() {
            status.above(|| results.add(observed));
        }
        if arguments.once && results.left > 0 {
            break;
        }
        if !status.is_hidden() && clock.now() >= line {
            line = clock.now() + Span::from_secs(1);
            let all: Vec<String> = receiver.senders().iter().map(now).collect();
            status.show(if all.is_empty() { "no sender yet".to_owned() } else { all.join("  |  ") });
        }
    }
    Ok(())
}

/// The senders that have left.
struct Results<'a> {
    arguments: &'a Arguments,
    link: Option<&'a Link>,
    outcomes: Vec<Outcome>,
    /// Their folders, within that of the results.
    runs: Vec<PathBuf>,
    left: usize,
    /// The first reason why not all was written. Others may be sending, so that it is said again at the end.
    failed: Option<anyhow::Error>,
}

impl Results<'_> {
    /// Says what was measured of a sender, and writes it.
    fn add(&mut self, mut observed: Observed) {
        self.left += 1;
        let failure = observed.failure.take().map(Into::into);
        let written = self.write(&observed).with_context(|| format!("the results of {}", observed.report.name));
        if let Err(error) = &written {
            eprintln!("warning: {error:#}");
        }
        let failure = failure.or(written.err());
        self.failed = self.failed.take().or(failure);
    }

    fn write(&mut self, observed: &Observed) -> anyhow::Result<()> {
        let report = &observed.report;
        outln!("{}", if self.arguments.json { serde_json::to_string(report)? } else { summary(report) });
        let Some(out) = &self.arguments.out else { return Ok(()) };
        let name = self.arguments.link.words();
        let config = self.link.map(|link| &link.config);
        let link = (config, if name.is_empty() { "no emulated link" } else { &name });
        let run = received::run(observed, link, reference(self.arguments).as_ref(), &mut finder(self.link))?;
        let Some(Measured { scenario, program, run, details }) = run else {
            note!("{}: nothing of its video came, so there is no run of it", report.name);
            return Ok(());
        };
        let folder = out.join(&report.name);
        run_folder::write(&folder, &scenario, &inputs::of(&scenario)?, &program, &run)?;
        folder::write_whole(&folder.join("sender.json"), &serde_json::to_vec(&details)?)?;
        self.outcomes.push(run.outcome);
        self.runs.push(report.name.clone().into());
        folder::prepare(out, &self.runs, true)?;
        let about = About { title: play::title(&self.summaries()), ..About::default() };
        play::write_report(&self.outcomes, about, &out.join("report.html"))
    }

    fn summaries(&self) -> Vec<Summary> {
        self.outcomes.iter().map(|outcome| outcome.summary.clone()).collect()
    }

    /// Prints the table of all.
    fn show(&self) -> anyhow::Result<()> {
        if self.outcomes.is_empty() || self.arguments.json {
            return Ok(());
        }
        let summaries = self.summaries();
        for table in table::tables(&summaries, &table::chosen(&[], &summaries)?, None) {
            if !table.title.is_empty() {
                outln!("{}", table.title);
            }
            out!("{}", table.grid.text(progress::width_of_output(), progress::bold()));
        }
        note!("{LATENCIES}");
        Ok(())
    }
}

/// Why a sender's line and its row of the table have two latencies.
const LATENCIES: &str = "latency of the lines above: of decoded pictures, by the times of the sender's reports; of the table: of all \
                         pictures sent, one that was not shown until the next that was, by times that can be true \
                         (docs/receive.md#what-is-measured)";

/// A sender at present, in a few words.
fn now(report: &SenderReport) -> String {
    let of = report.capacity_bps.map_or(String::new(), |bps| format!(" of {:.2}", bps / 1e6));
    let (rate, fps) = (report.wire_bps / 1e6, report.shown_fps);
    format!("{}: {rate:.2}{of} Mbps  {fps:.0} fps  {} freezes", report.name, report.received.freezes)
}

/// The report as one line.
pub(super) fn summary(report: &SenderReport) -> String {
    let SenderReport { name, received, utilization, .. } = report;
    let share = utilization.map_or(String::new(), |share| format!(" ({:.0} % of the link)", share * 100.0));
    format!(
        "{name}: {:.0} s  {} {}  {:.1} fps  {:.2} Mbps{share}  latency p50 {} p95 {} ms{}  loss {:.2} %  repaired {}  freezes {}, \
         longest {:.0} ms  audio {:.0}/s",
        received.duration_s,
        received.codec.as_deref().unwrap_or("-"),
        received.resolution.as_deref().unwrap_or("-"),
        received.frame_rate_fps,
        received.wire_bitrate_bps / 1e6,
        milliseconds(received.latency_p50_ms),
        milliseconds(received.latency_p95_ms),
        if received.pictures_missing.is_some_and(|missing| missing > 0) { " (missing pictures count)" } else { "" },
        100.0 * received.packet_loss_ratio,
        received.packets_retransmitted + received.packets_recovered,
        received.freezes,
        received.longest_freeze_ms,
        received.audio_rate_pps,
    )
}

/// A codec to accept.
pub(super) fn codec(text: &str) -> Result<VideoCodec, String> {
    match text {
        "vp8" => Ok(VideoCodec::Vp8),
        "vp9" => Ok(VideoCodec::Vp9),
        "h264" => Ok(VideoCodec::H264),
        "av1" => Ok(VideoCodec::Av1),
        other => Err(format!("unknown codec '{other}': expected one of vp8, vp9, h264, av1")),
    }
}
