//! The tables of FBRA (Nagy, Singh, Ott, Eggert, MMSys 2014; specs/fbra.md 7).
//!
//! Drop-tail queues of 50 packets, bottlenecks of 50, 100 and 240 ms between access links of 1 ms, players that discard
//! media older than 400 ms. Frames have equal size and are split into packets of 1500 bytes on the wire; nothing is
//! retransmitted, because the paper's senders have no redundancy other than FBRA's. 30 runs per cell, 10 in tables 4
//! and 5.
//!
//! The paper does not print how capacity varies, nor how long a run is, and its tables contradict each other in places
//! (specs/fbra.md 7). Its loss counts packets that arrive too late as well: section 5.5 explains table 5's 4 % by
//! discards.

use thalweg_link::WebConfig;
use thalweg_link::traffic::tcp::{ConnectionConfig, CubicConfig};
use thalweg_sender::pacing::PacingRate;
use thalweg_sender::repair::{self, fec};
use thalweg_sender::scheme::{ControllerConfig, FramesConfig};
use thalweg_sender::{PacketSizes, Scheme, frames};
use thalweg_units::{Bytes, Rate, Size, Span};

use super::figure::known;
use super::{Encoder, Figure, Link, Origin, Other, Published, Reading, Setup};
use crate::scenario::Competitor;

/// The compared schemes in the paper's order, variants of two of them according to readings of N and the drafts' own
/// text, and FBRA with the reports that the paper uses, at equal and at random intervals.
fn all() -> Vec<Scheme> {
    let mut schemes = ["fbra", "rrtcc", "cnadu"].map(of_the_paper).to_vec();
    schemes.extend([8, 10, 14].map(n_up_to));
    schemes.push(trend_alone());
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
    scheme.repair = name.starts_with("fbra").then(fec_alone);
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

fn figure(
    (name, about): (&'static str, &'static str),
    setup: Setup,
    links: Vec<Link>,
    more: &[Reading],
    published: Vec<Published>,
) -> Figure {
    Figure::of_runs(name, about, all(), links, &[Reading::Goodput, Reading::LostOrLate, Reading::PacketLoss])
        .reading(more)
        .reading(&[Reading::FecBitrate, Reading::FecShare, Reading::Ffre, Reading::Frcc])
        .setup(setup)
        .published(published)
}

/// A bottleneck with this delay in ms, with the access links on both sides.
fn link(origin: Origin, millis: i64) -> Link {
    Link::new(format!("{millis} ms"), origin).packets(QUEUE).apart(Span::from_millis(millis) + ACCESS)
}

fn mbps(mbps: u64, millis: i64) -> Link {
    let rates = thalweg_link::Rates::constant(Rate::from_kbps(1000 * mbps));
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
    ConnectionConfig {
        cubic: CubicConfig { initial_window: 2, ..CubicConfig::default() },
        tail_loss_probe: true,
        ..ConnectionConfig::new_reno()
    }
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
    vec![varying_capacity(), beside_tcp(), two_beside_tcp(), two_calls(), beside_short_tcp()]
}

/// A printed value with its deviation, which may be unknown.
type Printed = (f64, Option<f64>);

const fn of(value: f64, sigma: f64) -> Printed {
    (value, Some(sigma))
}

const fn only(value: f64) -> Printed {
    (value, None)
}

/// The rows of a table: link, scheme, and its printed values by key, scaled to the keys' units.
fn printed<const N: usize>(
    keys: [(&'static str, f64); N],
    rows: &[(&'static str, &'static str, [Printed; N])],
) -> Vec<Published> {
    let source = "MMSys 2014";
    let row = |(link, scheme, cells): &(&'static str, &'static str, [Printed; N])| {
        let (link, scheme, cells) = (Some(*link), *scheme, *cells);
        keys.into_iter().zip(cells).map(move |((key, unit), (value, sigma))| {
            let (value, sigma) = (value * unit, sigma.map(|sigma| sigma * unit));
            Published { sigma, ..Published::new(link, scheme, key, value, source) }
        })
    };
    rows.iter().flat_map(row).collect()
}

const KBPS: f64 = 1e3;
const PERCENT: f64 = 0.01;

fn varying_capacity() -> Figure {
    let about = "table 1: one sender, the link at 100, 160, 256, 200 and 128 kbps in turn, 30 s each (or 100 s, \"slowly\"), from an instant that is drawn (the paper \
                 does not print how its capacity varies between 100 and 256 kbps; its goodput is above the mean of these)";
    let rates = [100, 160, 256, 200, 128].map(Rate::from_kbps).to_vec();
    let over = |millis| link(Origin::Drawn { rates: rates.clone(), each: Span::from_secs(30) }, millis);
    // Over steps of 30 s RRTCC does not have the most goodput, as it has in the paper; over slower ones it does.
    let slowly = |millis| {
        let link = link(Origin::Drawn { rates: rates.clone(), each: Span::from_secs(100) }, millis);
        Link { name: format!("{millis} ms, slowly"), ..link }
    };
    let links = DELAYS.into_iter().map(over).chain(DELAYS.map(slowly)).collect();
    let keys = [("goodput_bps", KBPS), ("lost_or_late_ratio", PERCENT), ("lost_frames", 1.0)];
    let mut published = printed(
        keys,
        &[
            ("50 ms", "fbra", [of(179.13, 2.26), of(1.23, 0.28), of(441.43, 82.37)]),
            ("50 ms", "rrtcc", [of(181.8, 3.11), of(4.27, 0.78), of(1842.0, 25.0)]),
            ("50 ms", "cnadu", [of(165.42, 3.87), of(0.34, 0.11), of(94.0, 30.0)]),
            ("100 ms", "fbra", [of(172.83, 2.74), of(1.72, 0.37), of(562.83, 103.44)]),
            ("100 ms", "rrtcc", [of(172.48, 6.6), of(3.09, 0.85), of(740.0, 43.0)]),
            ("100 ms", "cnadu", [of(163.84, 3.11), of(0.17, 0.09), of(46.0, 23.0)]),
            ("240 ms", "fbra", [of(144.89, 8.35), of(2.82, 0.89), of(789.93, 223.55)]),
            ("240 ms", "rrtcc", [of(169.22, 5.68), of(2.98, 0.55), of(706.0, 41.0)]),
            ("240 ms", "cnadu", [of(153.52, 6.81), of(0.19, 0.07), of(53.0, 21.0)]),
        ],
    );
    let frcc = [("50 ms", "fbra", [only(92.6)]), ("100 ms", "fbra", [only(95.9)]), ("240 ms", "fbra", [only(90.1)])];
    published.extend(printed([("frcc", PERCENT)], &frcc));
    let setup = setup(30, Encoder::EqualFrames, 30);
    let more = [Reading::LostFrames, Reading::Abu];
    figure(("fbra-table1", about), setup, links, &more, published)
}

fn beside_tcp() -> Figure {
    let about = "table 2: one sender beside ten readers of pages, 5 Mbps (a fair share is 5000 / 11 kbps; the paper's 142.27 % for C-NADU at \
                 50 ms would be 110.5)";
    let keys = [("goodput_bps", KBPS), ("lost_or_late_ratio", PERCENT), ("tcp_throughput_bps", KBPS), ("tfs", PERCENT)];
    let published = printed(
        keys,
        &[
            ("50 ms", "fbra", [of(1044.24, 122.9), of(1.95, 0.26), of(669.76, 5.41), of(147.35, 1.19)]),
            ("50 ms", "rrtcc", [of(3592.9, 279.0), only(3.68), only(688.5), only(151.2)]),
            ("50 ms", "cnadu", [of(2657.1, 164.0), only(0.67), only(502.28), only(142.27)]),
            ("100 ms", "fbra", [of(1219.83, 210.11), of(1.54, 0.17), of(491.34, 4.17), of(108.1, 0.92)]),
            ("100 ms", "rrtcc", [of(3699.43, 420.0), only(4.05), only(323.13), only(71.09)]),
            ("100 ms", "cnadu", [of(2968.84, 59.0), only(0.64), only(515.29), only(113.37)]),
            ("240 ms", "fbra", [of(504.82, 82.18), of(0.4, 0.05), of(299.12, 2.56), of(65.81, 0.56)]),
            ("240 ms", "rrtcc", [of(3827.42, 424.0), only(4.82), only(262.4), only(57.73)]),
            ("240 ms", "cnadu", [of(3028.22, 79.0), only(0.36), only(291.22), only(64.07)]),
        ],
    );
    let more = [Reading::TcpThroughput, Reading::Tfs];
    let setup = setup(30, Encoder::EqualFrames, 30);
    figure(("fbra-table2", about), setup, beside_readers(|millis| mbps(5, millis)), &more, published)
}

/// The same figures of the second of two senders.
const OTHER_GOODPUT: Reading = Reading::OfOther { key: "other_goodput_bps", of: &Reading::Goodput };
const OTHER_LOSS: Reading = Reading::OfOther { key: "other_lost_or_late_ratio", of: &Reading::LostOrLate };
const OTHER_FEC: Reading = Reading::OfOther { key: "other_fec_bitrate_bps", of: &Reading::FecBitrate };
const OTHER_FFRE: Reading = Reading::OfOther { key: "other_ffre", of: &Reading::Ffre };
const OTHER_FRCC: Reading = Reading::OfOther { key: "other_frcc", of: &Reading::Frcc };
const OTHER_PSNR: Reading = Reading::OfOther { key: "other_psnr_db", of: &Reading::Psnr };

fn two_beside_tcp() -> Figure {
    let about = "table 3: two senders beside ten readers of pages, 5 Mbps (the paper divides by 5000 / 10 kbps here, as if TCP were alone; by \
                 table 2's rule it would be 5000 / 12)";
    let links = beside_readers(|millis| mbps(5, millis).shared_with(SECOND));
    let keys = [
        ("goodput_bps", KBPS),
        ("other_goodput_bps", KBPS),
        ("lost_or_late_ratio", PERCENT),
        ("other_lost_or_late_ratio", PERCENT),
        ("tcp_throughput_bps", KBPS),
        ("tfs_of_tcp_alone", PERCENT),
    ];
    let row = |link, scheme, cells: [f64; 6]| (link, scheme, cells.map(only));
    let published = printed(
        keys,
        &[
            row("50 ms", "fbra", [571.21, 520.08, 2.1, 2.4, 674.28, 134.86]),
            row("50 ms", "rrtcc", [1640.0, 1750.0, 5.65, 5.48, 389.53, 77.9]),
            row("50 ms", "cnadu", [743.0, 749.0, 1.2, 1.17, 786.13, 152.7]),
            row("100 ms", "fbra", [745.42, 691.8, 1.43, 1.67, 466.21, 93.24]),
            row("100 ms", "rrtcc", [1783.0, 1904.0, 5.42, 5.3, 281.7, 56.2]),
            row("100 ms", "cnadu", [812.0, 880.0, 0.69, 0.77, 547.63, 109.4]),
            row("240 ms", "fbra", [260.26, 287.41, 0.59, 0.71, 299.91, 59.98]),
            row("240 ms", "rrtcc", [2145.0, 2232.0, 6.26, 6.02, 101.6, 20.32]),
            row("240 ms", "cnadu", [1300.0, 1039.0, 0.47, 0.54, 291.22, 58.24]),
        ],
    );
    let more = [OTHER_GOODPUT, OTHER_LOSS, Reading::TcpThroughput, Reading::TfsOfTcpAlone, Reading::Tfs];
    let setup = setup(30, Encoder::EqualFrames, 30);
    figure(("fbra-table3", about), setup, links, &more, published)
}

/// Tables 4 and 5 use a real encoder: VGA, 15 fps in groups of 14.
const RECORDED: Encoder = Encoder::Groups { frame_rate: 15 };

fn two_calls() -> Figure {
    let about = "table 4: two calls of VGA video with 15 fps, 1 Mbps (the paper's RRTCC had 392 and 545 kbps; its video is \"News\", \
                 ours what an encoder's model makes of a talking head)";
    let over = |millis| mbps(1, millis).shared_with(SECOND);
    let keys = [
        ("goodput_bps", KBPS),
        ("other_goodput_bps", KBPS),
        ("lost_or_late_ratio", PERCENT),
        ("other_lost_or_late_ratio", PERCENT),
        ("fec_bitrate_bps", KBPS),
        ("other_fec_bitrate_bps", KBPS),
        ("ffre", PERCENT),
        ("other_ffre", PERCENT),
        ("frcc", PERCENT),
        ("other_frcc", PERCENT),
        ("psnr_db", 1.0),
        ("other_psnr_db", 1.0),
    ];
    let (first, second) = ([of(375.39, 88.25), of(348.77, 83.64)], [1.21, 1.39, 12.24, 11.78, 7.41, 2.2, 83.19, 83.39]);
    let (third, fourth) = ([of(295.33, 48.27), of(351.1, 63.4)], [3.15, 2.33, 10.7, 11.69, 0.0, 1.54, 82.99, 84.69]);
    let row = |goodput: [Printed; 2], others: [f64; 8], psnr: [f64; 2]| {
        let cells = goodput.into_iter().chain(others.into_iter().chain(psnr).map(only));
        let mut row = [only(0.0); 12];
        row.iter_mut().zip(cells).for_each(|(place, cell)| *place = cell);
        row
    };
    let published = printed(
        keys,
        &[("50 ms", "fbra", row(first, second, [38.08, 37.7])), ("100 ms", "fbra", row(third, fourth, [35.64, 37.32]))],
    );
    let more = [OTHER_GOODPUT, OTHER_LOSS, OTHER_FEC, OTHER_FFRE, OTHER_FRCC, Reading::Psnr, OTHER_PSNR];
    figure(("fbra-table4", about), setup(10, RECORDED, 15), [50, 100].map(over).to_vec(), &more, published)
}

fn beside_short_tcp() -> Figure {
    let about = "table 5: a call of VGA video with 15 fps beside one reader of pages, 1 Mbps (the paper does not say how many \
                 short TCP flows there were)";
    let over = |millis| mbps(1, millis).shared_with(readers(1, cubic()));
    let mut published = printed(
        [("goodput_bps", KBPS), ("tcp_throughput_bps", KBPS)],
        &[
            ("50 ms", "fbra", [of(302.24, 87.0), only(612.0)]),
            ("50 ms", "rrtcc", [of(203.0, 26.0), only(761.0)]),
            ("100 ms", "fbra", [of(280.97, 92.0), only(575.0)]),
            ("100 ms", "rrtcc", [of(189.0, 23.0), only(867.0)]),
        ],
    );
    let keys = [
        ("lost_or_late_ratio", PERCENT),
        ("fec_bitrate_bps", KBPS),
        ("ffre", PERCENT),
        ("frcc", PERCENT),
        ("psnr_db", 1.0),
    ];
    published.extend(printed(
        keys,
        &[
            ("50 ms", "fbra", [4.24, 13.6, 6.62, 83.32, 35.62].map(only)),
            ("100 ms", "fbra", [4.1, 12.58, 6.77, 84.06, 34.7].map(only)),
        ],
    ));
    let more = [Reading::TcpThroughput, Reading::Tfs, Reading::Psnr];
    figure(("fbra-table5", about), setup(10, RECORDED, 15), [50, 100].map(over).to_vec(), &more, published)
}
