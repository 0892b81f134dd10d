//! The tables of FBRA (Nagy, Singh, Ott, Eggert, MMSys 2014; specs/fbra.md 7).
//!
//! Drop-tail queues of 50 packets, bottlenecks of 50, 100 and 240 ms between access links of 1 ms, players that discard
//! media older than 400 ms. Frames have equal size and are split into packets of 1500 bytes on the wire; nothing is
//! retransmitted, because the paper's senders have no redundancy other than FBRA's. 30 runs per cell, 10 in tables 4
//! and 5.
//!
//! The paper does not print how capacity varies, nor how long a run is, and its tables contradict each other in places
//! (specs/fbra.md 7). Its losses, of packets as of frames, count what arrives too late as well: section 5.5 explains
//! table 5's 4 % by discards. The RRTCC of the numbers of tables 2 to 4 is the draft's, which losses control: two of
//! Chrome's calls share all of the link, at more than 400 ms (figure 10). That of table 5 yields to TCP, as the code of 2012
//! does.

use thalweg_netsim::WebConfig;
use thalweg_netsim::traffic::tcp::{Congestion, ConnectionConfig};
use thalweg_sender::pacing::PacingRate;
use thalweg_sender::repair::{self, fec};
use thalweg_sender::scheme::{ControllerConfig, FramesConfig};
use thalweg_sender::{PacketSizes, Scheme, frames};
use thalweg_units::{Bytes, Rate, Size, Span};

use super::figure::known;
use super::{Encoder, Figure, Link, Origin, Other, Reading, Setup};
use thalweg_lab::scenario::Competitor;

/// The compared schemes in the paper's order, variants of two of them according to readings of N and the drafts' own
/// text, RRTCC with FEC as probes (section 7), and FBRA with the reports that the paper uses, at equal and at random intervals.
fn all() -> Vec<Scheme> {
    let mut schemes = ["fbra", "rrtcc", "cnadu"].map(of_the_paper).to_vec();
    schemes.extend([8, 10, 14].map(n_up_to));
    schemes.push(trend_alone());
    schemes.push(of_the_paper("rrtcc:fec-probes"));
    schemes.extend(["fbra:xr", "fbra:xr-random"].map(of_the_paper));
    schemes
}

/// FBRA with one FEC packet after up to N media packets. 14 is the formula of specs/fbra.md 3.1. The paper's FEC rate of
/// "about 10 % of the media" (section 5.2) is 6 if it is an average over time, and about 10 if it is the rate during a
/// probe, as its figure 6c shows it; the averages of tables 4 and 5, 3 to 4 %, agree with 8 to 10.
fn n_up_to(n: u16) -> Scheme {
    let mut scheme = Scheme { name: format!("fbra:n{n}"), ..of_the_paper("fbra") };
    if let ControllerConfig::Fbra(config) = &mut scheme.controller {
        config.fec.at_greatest = n;
        if n == config.fec.max {
            config.fec.max_at_first = 4;
        }
    }
    scheme
}

/// RRTCC that compares the trend itself with the threshold, as in the drafts, and not a value accumulated over sixty
/// frames, as in the code: a queue of TCP's is then never detected as overuse, and only losses control it. The paper's
/// RRTCC uses most of 5 Mbps beside ten TCP flows, with 4 to 6 % of loss.
fn trend_alone() -> Scheme {
    let mut scheme = Scheme { name: "rrtcc:draft".into(), ..of_the_paper("rrtcc") };
    if let ControllerConfig::Rrtcc(config) = &mut scheme.controller {
        config.detector.weighing = 1;
    }
    scheme
}

/// Bottleneck delays, in ms one way.
const DELAYS: [i64; 3] = [50, 100, 240];
/// Total delay of the two access links.
const ACCESS: Span = Span::from_millis(2);
/// Queue length of a bottleneck, in packets.
const QUEUE: u64 = 50;
/// The paper's delay_max.
const DISCARD_AFTER: Span = Span::from_millis(400);
/// Duration of a run. The paper does not print it; its lost frames suggest about 900 s (specs/fbra.md 7).
const DURATION: Span = Span::from_secs(900);
/// A second sender begins within this time, drawn at random for each run: the phase between the two cameras decides
/// whose packets a full queue drops. Eleven milliseconds later it has two fifths of the first's goodput in table 3,
/// twenty-two later three times as much.
const SECOND_WITHIN: Span = Span::from_secs(1);

/// Packets of 1500 bytes with IPv4, UDP and RTP headers only, as in ns-2.
const PACKETS: Bytes = Bytes::new(1500);
const HEADERS: Bytes = Bytes::new(20 + 8 + 12);

/// A scheme configured like the paper's senders: frames are sent unpaced, in large packets and at a single resolution,
/// at rates down to the controllers' 32 kbps, without retransmissions. A pacer at that min rate would hold back frames
/// of the previous rate for twelve seconds, which is not a network delay.
fn of_the_paper(name: &str) -> Scheme {
    let mut scheme = known(&[name]).remove(0);
    scheme.packets = PacketSizes { max_payload: PACKETS - HEADERS, overhead: HEADERS, ..PacketSizes::default() };
    scheme.pacing.rate = PacingRate::Unpaced;
    scheme.repair = scheme.repair.filter(|repair| repair.fec.is_some()).map(|_| fec_alone());
    if let FramesConfig::RateTargeted(policy) = &mut scheme.frames {
        policy.resolution = frames::resolution::Config::Fixed;
        policy.encoder.min = Rate::from_kbps(20);
    }
    scheme
}

/// FEC as requested by the controller, without retransmissions.
fn fec_alone() -> repair::Config {
    let fec = fec::Config {
        amount: fec::Amount::Asked,
        deadline: Some(DISCARD_AFTER),
        extensions: Bytes::ZERO,
        ..fec::Config::default()
    };
    let mut none = repair::BudgetConfig { min: 0.0, burst: Span::ZERO, max_delay: Span::ZERO, ..Default::default() };
    none.shares.max_retransmissions = 0.0;
    repair::Config { fec: Some(fec), budget: Some(none), ..repair::Config::default() }
}

fn setup(runs: u32, encoder: Encoder, frame_rate: u32) -> Setup {
    Setup {
        frame_rate: Some(frame_rate),
        duration: DURATION,
        size: Some(Size::new(640, 480)),
        encoder,
        call: true,
        discard_after: Some(DISCARD_AFTER),
        runs,
        ..Setup::USUAL
    }
}

fn figure((name, about): (&'static str, &'static str), setup: Setup, links: Vec<Link>, more: &[Reading]) -> Figure {
    Figure::of_runs(name, about, all(), links, &[Reading::Goodput, Reading::LostOrLate, Reading::LostOrLateFrames])
        .reading(more)
        .reading(&[Reading::FecBitrate, Reading::FecShare, Reading::Ffre, Reading::Frcc])
        .setup(setup)
}

/// A bottleneck with this delay in ms, with the access links on both sides.
fn link(origin: Origin, millis: i64) -> Link {
    Link::new(format!("{millis} ms"), origin).packets(QUEUE).apart(Span::from_millis(millis) + ACCESS)
}

fn mbps(mbps: u64, millis: i64) -> Link {
    let rates = thalweg_netsim::Rates::constant(Rate::from_kbps(1000 * mbps));
    link(Origin::Rates(rates.unwrap_or_else(|error| panic!("{error}"))), millis)
}

/// Web users who load pages of 100 kB to 1.5 MB, idle for 10 s on average, over ns-2's TCP: segments of 1000 bytes, at
/// most 20 of them in flight. That these are ns-2's defaults is our reading of TCP's throughput in tables 2 and 3 at
/// 240 ms, 299 kbps with any competitor: 20 segments per round trip of 484 ms are 331 kbps. Without that limit ten
/// users leave hardly anything of 5 Mbps.
fn readers(count: u16, connection: ConnectionConfig) -> Other {
    Other::Competitor(Competitor::Web(WebConfig { count, connection, ..WebConfig::default() }))
}

/// Linux's TCP in ns-2's packets and window.
fn cubic() -> ConnectionConfig {
    ConnectionConfig { congestion: Congestion::Cubic, tail_loss_probe: true, ..ConnectionConfig::new_reno() }
}

/// A link beside ten readers, and the same beside ten whose TCP is ns-2's own: the paper does not name its TCP.
fn beside_readers(over: impl Fn(i64) -> Link) -> Vec<Link> {
    let with_reno = |millis| {
        let link = over(millis).shared_with(readers(10, ConnectionConfig::new_reno()));
        Link { name: format!("{millis} ms, NewReno"), ..link }
    };
    let with_cubic = DELAYS.map(|millis| over(millis).shared_with(readers(10, cubic())));
    with_cubic.into_iter().chain(DELAYS.map(with_reno)).collect()
}

const SECOND: Other = Other::AlikeWithin { count: 1, within: SECOND_WITHIN };

pub(super) fn figures() -> Vec<Figure> {
    let mut figures = vec![varying_capacity(), beside_tcp(), two_beside_tcp(), two_calls(), beside_short_tcp()];
    figures.extend(over_time());
    figures.push(packet_delay());
    figures
}

/// The link of table 1, with steps of so many seconds.
fn varying(seconds: i64, millis: i64) -> Link {
    let rates = [100, 160, 256, 200, 128].map(Rate::from_kbps).to_vec();
    link(Origin::Drawn { rates, each: Span::from_secs(seconds) }, millis)
}

fn varying_capacity() -> Figure {
    let about = "table 1: one sender, the link at 100, 160, 256, 200 and 128 kbps in turn, 30 s each (or 100 s, \"slowly\"), from an instant that is drawn (the paper \
                 does not print how its capacity varies between 100 and 256 kbps; its goodput is above the mean of these)";
    // Over steps of 30 s RRTCC does not have the most goodput, as it has in the paper; over slower ones it does.
    let slowly = |millis| Link { name: format!("{millis} ms, slowly"), ..varying(100, millis) };
    let links = DELAYS.map(|millis| varying(30, millis)).into_iter().chain(DELAYS.map(slowly)).collect();
    let setup = setup(30, Encoder::EqualFrames, 30);
    figure(("fbra-table1", about), setup, links, &[Reading::Abu]).because(
        "the mean of our link, 169 kbps, is below the paper's goodput: its pattern is not printed; late packets count as \
         lost here, and no packet of a full queue is dropped that would not be late",
    )
}

fn beside_tcp() -> Figure {
    let about = "table 2: one sender beside ten readers of pages, 5 Mbps (a fair share is 5000 / 11 kbps; the paper's 142.27 % for C-NADU at \
                 50 ms would be 110.5)";
    let more = [Reading::TcpThroughput, Reading::Tfs];
    let setup = setup(30, Encoder::EqualFrames, 30);
    figure(("fbra-table2", about), setup, beside_readers(|millis| mbps(5, millis)), &more)
        .because("the paper names no TCP: its 240 ms leave half of the link empty, which no rule of the listing gives")
}

/// The same figures of the second of two senders.
const OTHER_GOODPUT: Reading = Reading::OfOther { key: "other_goodput_bps", of: &Reading::Goodput };
const OTHER_WIRE: Reading = Reading::OfOther { key: "other_wire_bitrate_bps", of: &Reading::WireBitrate };
const OTHER_LOSS: Reading = Reading::OfOther { key: "other_lost_or_late_ratio", of: &Reading::LostOrLate };
const OTHER_LOST_FRAMES: Reading =
    Reading::OfOther { key: "other_lost_or_late_frames", of: &Reading::LostOrLateFrames };
const OTHER_PROTECTED: Reading =
    Reading::OfOther { key: "other_protected_lost_frames", of: &Reading::ProtectedLostFrames };
const OTHER_FEC: Reading = Reading::OfOther { key: "other_fec_bitrate_bps", of: &Reading::FecBitrate };
const OTHER_FFRE: Reading = Reading::OfOther { key: "other_ffre", of: &Reading::Ffre };
const OTHER_FRCC: Reading = Reading::OfOther { key: "other_frcc", of: &Reading::Frcc };
const OTHER_PSNR: Reading = Reading::OfOther { key: "other_psnr_db", of: &Reading::Psnr };

fn two_beside_tcp() -> Figure {
    let about = "table 3: two senders beside ten readers of pages, 5 Mbps (the paper divides by 5000 / 10 kbps here, as if TCP were alone; by \
                 table 2's rule it would be 5000 / 12)";
    let links = beside_readers(|millis| mbps(5, millis).shared_with(SECOND));
    let more =
        [OTHER_GOODPUT, OTHER_LOSS, OTHER_LOST_FRAMES, Reading::TcpThroughput, Reading::TfsOfTcpAlone, Reading::Tfs];
    let setup = setup(30, Encoder::EqualFrames, 30);
    figure(("fbra-table3", about), setup, links, &more)
        .because("one of two equal senders is far ahead in every run, by the phase of their cameras")
}

/// Tables 4 and 5 use a real encoder: VGA, 15 fps in groups of 14.
const RECORDED: Encoder = Encoder::Groups { frame_rate: 15 };

fn two_calls() -> Figure {
    let about = "table 4: two calls of VGA video with 15 fps, 1 Mbps (its video is \"News\", \
                 ours what an encoder's model makes of a talking head)";
    let over = |millis| mbps(1, millis).shared_with(SECOND);
    let more = [
        OTHER_GOODPUT,
        Reading::WireBitrate,
        OTHER_WIRE,
        OTHER_LOSS,
        OTHER_LOST_FRAMES,
        OTHER_FEC,
        Reading::ProtectedLostFrames,
        OTHER_PROTECTED,
        OTHER_FFRE,
        OTHER_FRCC,
        Reading::Psnr,
        OTHER_PSNR,
    ];
    figure(("fbra-table4", about), setup(10, RECORDED, 15), [50, 100].map(over).to_vec(), &more)
        .because("our video and path are steadier: no noise of an operating system, a model of the encoder")
}

fn beside_short_tcp() -> Figure {
    let about = "table 5: a call of VGA video with 15 fps beside one reader of pages, 1 Mbps (the paper does not say how many \
                 short TCP flows there were)";
    let over = |millis| mbps(1, millis).shared_with(readers(1, cubic()));
    let more = [Reading::TcpThroughput, Reading::Tfs, Reading::ProtectedLostFrames, Reading::Psnr];
    figure(("fbra-table5", about), setup(10, RECORDED, 15), [50, 100].map(over).to_vec(), &more)
        .because("as table 4; and the paper does not say how many TCP flows there were")
}

/// Figures 6 to 9: single runs over time, which the report of `--out` draws.
fn over_time() -> [Figure; 4] {
    let beside_ten = |millis| mbps(5, millis).shared_with(readers(10, cubic()));
    let of = |(name, about), encoder, frame_rate, links: Vec<Link>| {
        let (schemes, setup) = (vec![of_the_paper("fbra"), n_up_to(10)], setup(1, encoder, frame_rate));
        let readings = [Reading::Goodput, Reading::FecBitrate, Reading::FecShare, Reading::Frcc, Reading::Utilization];
        Figure::of_runs(name, about, schemes, links, &readings).setup(setup).seconds(300)
    };
    let equal = Encoder::EqualFrames;
    [
        of(
            ("fbra-fig6", "the runs of table 1 over time: rate, FEC and capacity are in the report of --out"),
            equal,
            30,
            DELAYS.map(|millis| varying(30, millis)).to_vec(),
        ),
        of(("fbra-fig7", "the runs of table 2 over time"), equal, 30, DELAYS.map(beside_ten).to_vec()),
        of(
            ("fbra-fig8", "the runs of table 3 over time"),
            equal,
            30,
            DELAYS.map(|millis| beside_ten(millis).shared_with(SECOND)).to_vec(),
        )
        .reading(&[OTHER_GOODPUT]),
        of(
            ("fbra-fig9", "the calls of table 4 over time, with their quality"),
            RECORDED,
            15,
            [50, 100].map(|millis| mbps(1, millis).shared_with(SECOND)).to_vec(),
        )
        .reading(&[OTHER_GOODPUT, Reading::Psnr, OTHER_PSNR]),
    ]
}

fn packet_delay() -> Figure {
    let about = "packet delay of two calls, and of a call beside a reader of pages, on 1 Mbps and 100 ms";
    let named = |name: &str, other| Link { name: name.into(), ..mbps(1, 100).shared_with(other) };
    let links = vec![named("two calls", SECOND), named("beside TCP", readers(1, cubic()))];
    let delays = [Reading::OneWayDelayPercentile(0.05), Reading::OneWayDelayPercentile(1.0), Reading::OneWayDelay];
    let schemes = vec![trend_alone(), of_the_paper("rrtcc"), of_the_paper("fbra")];
    Figure::of_runs("fbra-fig10", about, schemes, links, &delays)
        .reading(&[Reading::Goodput])
        .setup(setup(10, RECORDED, 15))
        .because(
            "50 packets of 1 Mbps are 600 ms, so 3 s were not in this queue; FBRA discards what is later than 400 ms, \
             and the paper shows what is left",
        )
}
