//! Useful padding compared with dummy packets, on lossy links: not a paper's figure, but a suggestion of Vidaptive's
//! footnote 1 and FBRA's conclusion (specs/fec.md 4; docs/papers/padding.md).

use thalweg_netsim::LossModel;
use thalweg_units::{Bytes, Span};

use super::figure::known;
use super::{Encoder, Figure, Link, Origin, Reading, Setup};

/// The recorded links; each is the forward path of one and the reverse path of another.
const LINKS: [&str; 4] = ["ATT-LTE-driving", "TMobile-LTE-short", "TMobile-UMTS-driving", "Verizon-LTE-short"];
/// Their queue: as large as known for cellular uplinks, seconds long.
const QUEUE: Bytes = Bytes::new(500_000);
/// Loss bursts of 30 ms, 3 % of the time: a Markov chain that steps with each packet would give shorter bursts to
/// senders of smaller packets.
const BURSTS: LossModel = LossModel::OnOff { on: Span::from_millis(970), off: Span::from_millis(30) };
/// Dummy packets first, with which the others are compared.
const SCHEMES: [&str; 5] = ["vidaptive", "vidaptive+fec", "vidaptive+rtx", "vidaptive+keyframe", "vidaptive+best"];

fn losses() -> [(&'static str, Option<LossModel>); 5] {
    let random = |probability| Some(LossModel::Random { probability });
    [("0 %", None), ("1 %", random(0.01)), ("3 %", random(0.03)), ("10 %", random(0.1)), ("bursts", Some(BURSTS))]
}

fn links((loss, model): (&str, Option<LossModel>)) -> Vec<Link> {
    let ways =
        |name: &&str| [(format!("{name}.down"), format!("{name}.up")), (format!("{name}.up"), format!("{name}.down"))];
    let link = |(forth, back): (String, String)| {
        let link = Link::new(format!("{forth}, {loss}"), Origin::Recorded { forth, back }).queue(QUEUE);
        match model {
            Some(model) => link.losing(model),
            None => link,
        }
    };
    LINKS.iter().flat_map(ways).map(link).collect()
}

/// One figure for each kind of loss, so that each has its own means over the links.
pub(super) fn figures() -> Vec<Figure> {
    let names = ["padding-loss0", "padding-loss1", "padding-loss3", "padding-loss10", "padding-bursts"];
    names.into_iter().zip(losses()).map(|(name, of)| figure(name, of)).collect()
}

fn figure(name: &'static str, loss: (&'static str, Option<LossModel>)) -> Figure {
    use Reading::*;
    let about = "what dummies are made of, on the recorded links with losses before the queue: nothing, XOR of packets, retransmissions, a keyframe, \
                 the best of them (wanted: the same wire rate, stalls and late frames down with every loss and no worse without)";
    let readings =
        [WireBitrate, PaddingBitrate, VideoBitrate, Psnr, LatencyMedian, LatencyP95, LateFrames, Stalls, FrameRate];
    Figure::of_runs(name, about, known(&SCHEMES), links(loss), &readings).setup(Setup {
        encoder: Encoder::Model,
        runs: 3,
        ..Setup::USUAL
    })
}
