//! The experiments of Salsify (Fouladi et al., NSDI 2018).
//!
//! The text of the paper was not available when this was written: the experiments follow this project's issue and
//! specifications, and the numbers beside ours are the authors' own results, read at run time if they are present. 60
//! fps at 720p, 20 ms one way, and a drop-tail queue of 256 packets, as in the specification of the emulated link
//! (specs/linkemu.md 5).
//!
//! Their senders used the downlink recordings: at a mean of 0.9 Mbps, the mean of both uplinks, their 15.4 dB on AT&T
//! would be far above their own 10.2 to 10.6 dB at a constant 500 kbps. At 5.5 Mbps it is as expected between that and
//! 16.6 dB at 12 Mbps.

use thalweg_link::LossModel;
use thalweg_units::Span;

use super::figure::known;
use super::{Figure, Folder, Link, Links, Origin, Place, Reading, Setup, Theirs};

/// Encoding time per picture of the authors' encoder: their Salsify-2 shows 15 to 18 fps on any link, two candidates at
/// a time, and Salsify-1 11 to 12 (per-run-summary.tsv). The effect of a sender's parts depends on it: grace periods
/// matter when pauses are long compared with the 100 ms of the transport.
const AUTHORS_ENCODE_TIME: Span = Span::from_millis(55);

const SETUP: Setup =
    Setup { frame_rate: Some(60), duration: Span::from_secs(120), delay: Span::from_millis(20), ..Setup::USUAL };

/// When the link returns in the experiment with one dropout, in seconds.
const BACK_S: f64 = 31.0;

/// The schemes compared in each experiment.
const COMPARED: [&str; 4] = ["gcc", "salsify-1c", "salsify-2c", "vidaptive"];

fn cellular(name: &str, forth: &str, back: &str) -> Link {
    Link::new(name, Origin::Recorded { forth: forth.into(), back: back.into() }).packets(256)
}

fn verizon(name: &str, packets: u64) -> Link {
    cellular(name, "Verizon-LTE-short.down", "Verizon-LTE-short.up").packets(packets)
}

fn authors(name: &str, file: &'static str, instead: &'static str) -> Link {
    Link::new(name, Origin::File { folder: Folder::Salsify, file, instead }).packets(256)
}

const READINGS: [Reading; 10] = {
    use Reading::*;
    [LatencyMean, LatencyMedian, LatencyP95, Ssim, SsimLow, QoeCall, QoeDriving, FrameRate, VideoBitrate, Keyframes]
};

/// The authors' results over one link: every product by its name, and those that correspond to a scheme here.
fn theirs(link: &'static str, place: fn(&'static str) -> Place, files: &[(&'static str, &'static str)]) -> Vec<Theirs> {
    let theirs = |&(scheme, file)| Theirs { link, scheme, ours: ours(scheme), place: place(file) };
    files.iter().map(theirs).collect()
}

/// Their points in one folder.
fn points(link: &'static str, files: &[(&'static str, &'static str)]) -> Vec<Theirs> {
    theirs(link, Place::Points, files)
}

/// The corresponding scheme here.
fn ours(theirs: &str) -> Option<&'static str> {
    Some(match theirs {
        "WebRTC" => "gcc",
        "Salsify-1" => "salsify-1c",
        "Salsify-2" => "salsify-2c",
        "Salsify-4-nograce" => "salsify:no-grace",
        "Salsify-target-size" => "salsify:conventional-codec",
        "Salsify-conventional-1s" => "salsify:conventional-transport-and-codec",
        _ => return None,
    })
}

/// The six or seven schemes that most of their folders have.
macro_rules! folder {
    ($folder:literal $(, $more:literal)*) => {
        [
            ("WebRTC", concat!("paper/", $folder, "/WebRTC.dat")),
            ("WebRTC-SVC", concat!("paper/", $folder, "/WebRTC-SVC.dat")),
            ("Hangouts", concat!("paper/", $folder, "/Hangouts.dat")),
            ("Salsify-1", concat!("paper/", $folder, "/Salsify-1.dat")),
            ("Salsify-2", concat!("paper/", $folder, "/Salsify-2.dat")),
            $(($more, concat!("paper/", $folder, "/", $more, ".dat")),)*
        ]
    };
}

/// A figure over links, with the authors' points.
fn figure(
    name: &'static str,
    about: &'static str,
    schemes: &[&str],
    links: impl Into<Links>,
    theirs: Vec<Theirs>,
) -> Figure {
    Figure::of_runs(name, about, known(schemes), links, &READINGS).setup(SETUP).scattered(theirs)
}

pub(super) fn figures() -> Vec<Figure> {
    let pareto =
        "Vidaptive with frames chosen to fit, over the recorded links, endless queues: P95 latency against SSIM";
    vec![
        cellular_links(),
        intermittent(),
        wifi(),
        ramp(),
        dropout(),
        queues(),
        components(),
        figure(
            "salsify-pareto",
            pareto,
            &["vidaptive", "vidaptive+functional", "salsify-2c"],
            Links::Recorded(""),
            vec![],
        ),
    ]
}

fn cellular_links() -> Figure {
    let links = vec![
        cellular("ATT-LTE-driving", "ATT-LTE-driving.down", "ATT-LTE-driving.up"),
        cellular("TMobile-UMTS-driving", "TMobile-UMTS-driving.down", "TMobile-UMTS-driving.up"),
        verizon("Verizon-LTE-short", 256),
    ];
    let short =
        [("WebRTC", "benchmarks/Verizon-LTE-short/apprtc"), ("Salsify-2", "benchmarks/Verizon-LTE-short/salsify_2*")];
    let theirs = [
        points("ATT-LTE-driving", &folder!("att-lte", "Facetime", "Skype")),
        points("TMobile-UMTS-driving", &folder!("tmobile-umts", "Facetime", "Skype")),
        theirs("Verizon-LTE-short", Place::Runs, &short),
    ];
    let about = "recorded cellular links: delay against quality";
    figure("salsify-cellular", about, &COMPARED, links, theirs.concat())
}

fn intermittent() -> Figure {
    let loss = LossModel::OnOff { on: Span::from_secs(5), off: Span::from_millis(200) };
    let links = vec![authors("intermittent", "12mbps.up", "12Mbps").losing(loss)];
    let about =
        "12 Mbps that fails after 5 s and is restored after 200 ms, both exponential: what arrives meanwhile is lost";
    let theirs = points("intermittent", &folder!("on-off", "Facetime", "Skype"));
    figure("salsify-intermittent", about, &COMPARED, links, theirs)
}

fn wifi() -> Figure {
    let links = vec![authors("wifi", "0.57mbps-poisson.up", "poisson:rate=570kbps")];
    let theirs = points("wifi", &folder!("wifi", "FaceTime", "Skype"));
    figure("salsify-wifi", "emulated Wi-Fi: 570 kbps, opportunities at random", &COMPARED, links, theirs)
}

fn ramp() -> Figure {
    let links = vec![authors("ramp", "ramp.up", "ramp")];
    let of_the_authors = [
        ("WebRTC", "benchmarks/ramp/apprtc"),
        ("Hangouts", "benchmarks/ramp/hangouts"),
        ("Facetime", "benchmarks/ramp/facetime"),
        ("Skype", "benchmarks/ramp/skype"),
        // Before the paper distinguished one core from two.
        ("Salsify", "benchmarks/ramp/salsify"),
    ];
    let about = "24 Mbps that falls to zero from 70 to 90 s and comes back until 110 s (the report has the charts)";
    figure("salsify-ramp", about, &COMPARED, links, theirs("ramp", Place::Runs, &of_the_authors))
}

fn dropout() -> Figure {
    let lost = LossModel::Outage { from: Span::from_secs(30), until: Span::from_secs(31) };
    let links = vec![
        authors("dropout", "500kbps.up", "500kbps").losing(lost),
        Link::named("dropout, held", "dropout:rate=500kbps,at=30s,lasts=1s").packets(256),
    ];
    let of_the_authors =
        [("WebRTC", "benchmarks/500kbps/apprtc-single-loss"), ("Salsify-2", "benchmarks/500kbps/salsify2-single-loss")];
    let about =
        "500 kbps with an outage of 1 s, in which what arrives is lost, or waits: when the first fresh frame shows";
    let schemes = ["gcc", "salsify-1c", "salsify-2c", "salsify:standard-decoder", "vidaptive"];
    figure("salsify-dropout", about, &schemes, links, theirs("dropout", Place::Runs, &of_the_authors))
        .seconds(60)
        .reading(&[Reading::FreshFrame(BACK_S), Reading::WorstLatency(BACK_S - 1.0)])
}

fn queues() -> Figure {
    let links = vec![verizon("64 packets", 64), verizon("256 packets", 256), verizon("1024 packets", 1024)];
    let theirs = [
        points("64 packets", &folder!("buffer-64")),
        points("256 packets", &folder!("buffer-256")),
        points("1024 packets", &folder!("buffer-1024")),
    ];
    let about =
        "a drop-tail queue of 64, 256 and 1024 packets (ours on Verizon-LTE-short, theirs on Verizon-LTE-driving)";
    figure("salsify-queue", about, &COMPARED, links, theirs.concat())
}

fn components() -> Figure {
    let theirs = [
        ("WebRTC", "paper/verizon-lte/WebRTC.dat"),
        ("Salsify-1", "paper/verizon-lte/Salsify-1.dat"),
        ("Salsify-2", "paper/verizon-lte/Salsify-2.dat"),
        ("Salsify-4-nograce", "paper/verizon-lte/Salsify-nograce.dat"),
        ("Salsify-target-size", "paper/verizon-lte/Salsify-targetsize.dat"),
        // Named New there: its SSIM is that of the run salsify-conventional-1s in the summary.
        ("Salsify-conventional-1s", "paper/verizon-lte/New.dat"),
    ];
    let about = "Salsify with a part taken out at a time (ours on Verizon-LTE-short, theirs on Verizon-LTE-driving)";
    let schemes = [
        "salsify-2c",
        "salsify:no-grace",
        "salsify:conventional-codec",
        "salsify:conventional-transport-and-codec",
        "gcc",
    ];
    let links = vec![verizon("Verizon-LTE", 256)];
    figure("salsify-components", about, &schemes, links, points("Verizon-LTE", &theirs))
        .setup(Setup { encode_time: Some(AUTHORS_ENCODE_TIME), ..SETUP })
}
