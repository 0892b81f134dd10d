//! `thalweg codec inspect`.

use std::path::PathBuf;

use anyhow::Context;
use serde::Serialize;
use thalweg_vp8::syntax::header::ReferenceUpdate;
use thalweg_vp8::syntax::{Frame, FrameKind, LumaMode, Motion, OpenFrame, Prediction, Reference};
use thalweg_vp8::{State, decode, ivf};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The IVF file, or `-` for standard input
    input: PathBuf,
    /// Print one JSON object per frame, with more fields, instead of a table
    #[arg(long)]
    json: bool,
}

/// Contents of a frame.
#[derive(Serialize)]
struct Contents {
    frame: usize,
    kind: &'static str,
    shown: bool,
    width: usize,
    height: usize,
    bytes: usize,
    /// Bytes of headers, modes and motion vectors: the first partition, with the part outside of the arithmetic code.
    mode_bytes: usize,
    /// Bytes of coefficients: the other partitions.
    coefficient_bytes: usize,
    partitions: usize,
    /// 0 to 127.
    quantizer: u8,
    filter_level: u8,
    filter: &'static str,
    segments: bool,
    keeps_probabilities: bool,
    /// The references that the frame replaces, and those that are copied.
    becomes: String,
    macroblocks: Macroblocks,
    /// The decoder state after the frame.
    state: String,
}

/// The number of macroblocks of each kind.
#[derive(Default, Serialize)]
struct Macroblocks {
    intra_16x16: usize,
    intra_4x4: usize,
    zero: usize,
    nearest: usize,
    near: usize,
    new: usize,
    split: usize,
    from_last: usize,
    from_golden: usize,
    from_altref: usize,
    /// Without coefficients.
    skipped: usize,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let reader = ivf::Reader::new(super::open(&arguments.input)?, &[ivf::VP8])
        .with_context(|| arguments.input.display().to_string())?;
    let mut state = State::new();
    if !arguments.json {
        outln!("{HEADS}");
    }
    for (index, frame) in reader.enumerate() {
        let frame = frame.with_context(|| format!("frame {index}"))?;
        let about = || format!("frame {index} of {} bytes", frame.bytes.len());
        let decoded = decode(&state, &frame.bytes).with_context(about)?;
        if frame.bytes.is_empty() {
            eprintln!("frame {index} is empty: the encoder dropped it");
            continue;
        }
        let syntax = Frame::read(&state, &frame.bytes).with_context(about)?;
        let size = decoded.image.size();
        let lengths = OpenFrame::new(&frame.bytes).with_context(about)?.lengths;
        let header = &syntax.header;
        let contents = Contents {
            frame: index,
            kind: if header.kind.is_key() { "key" } else { "inter" },
            shown: decoded.is_shown,
            width: size.width(),
            height: size.height(),
            bytes: frame.bytes.len(),
            mode_bytes: lengths.plain + lengths.first,
            coefficient_bytes: lengths.coefficients.iter().sum(),
            partitions: header.partitions.count(),
            quantizer: header.quantizer.luma,
            filter_level: header.filter.level,
            filter: if header.filter.is_simple { "simple" } else { "normal" },
            segments: header.segmentation.is_some(),
            keeps_probabilities: header.keeps_probabilities,
            becomes: becomes(&header.kind),
            macroblocks: Macroblocks::of(&syntax),
            state: decoded.state.hash().to_string(),
        };
        if arguments.json {
            outln!("{}", serde_json::to_string(&contents)?);
        } else {
            contents.print();
        }
        state = decoded.state;
    }
    Ok(())
}

const HEADS: &str = "frame kind       size   bytes   modes  coeffs   q filter  intra   4x4   zero   near    new  split   last golden altref   skip becomes";

impl Contents {
    fn print(&self) {
        let m = &self.macroblocks;
        outln!(
            "{:5} {:5}{} {:>9} {:7} {:7} {:7} {:3} {:6} {:6} {:5} {:6} {:6} {:6} {:6} {:6} {:6} {:6} {:6} {}",
            self.frame,
            self.kind,
            if self.shown { " " } else { "h" },
            format!("{}x{}", self.width, self.height),
            self.bytes,
            self.mode_bytes,
            self.coefficient_bytes,
            self.quantizer,
            self.filter_level,
            m.intra_16x16,
            m.intra_4x4,
            m.zero,
            m.nearest + m.near,
            m.new,
            m.split,
            m.from_last,
            m.from_golden,
            m.from_altref,
            m.skipped,
            self.becomes,
        );
    }
}

impl Macroblocks {
    fn of(frame: &Frame) -> Macroblocks {
        let mut count = Macroblocks::default();
        for macroblock in &frame.macroblocks {
            count.skipped += usize::from(macroblock.modes.is_skipped);
            let kind = match &macroblock.modes.prediction {
                Prediction::Intra(modes) => match modes.luma {
                    LumaMode::Whole(_) => &mut count.intra_16x16,
                    LumaMode::Subblocks(_) => &mut count.intra_4x4,
                },
                Prediction::Inter { reference, motion } => {
                    *match reference {
                        Reference::Last => &mut count.from_last,
                        Reference::Golden => &mut count.from_golden,
                        Reference::Altref => &mut count.from_altref,
                    } += 1;
                    match motion {
                        Motion::Zero => &mut count.zero,
                        Motion::Nearest(_) => &mut count.nearest,
                        Motion::Near(_) => &mut count.near,
                        Motion::New(_) => &mut count.new,
                        Motion::Split(_) => &mut count.split,
                    }
                }
            };
            *kind += 1;
        }
        count
    }
}

/// Which references a frame replaces, and with what.
fn becomes(kind: &FrameKind) -> String {
    let FrameKind::Inter(inter) = kind else { return "last, golden, altref".into() };
    let mut words = Vec::new();
    if inter.refreshes_last {
        words.push("last".to_string());
    }
    for (name, update) in [("golden", inter.golden), ("altref", inter.altref)] {
        match update {
            ReferenceUpdate::Keep => {}
            ReferenceUpdate::ThisFrame => words.push(name.into()),
            ReferenceUpdate::Last => words.push(format!("last to {name}")),
            ReferenceUpdate::Other => {
                let other = if name == "golden" { "altref" } else { "golden" };
                words.push(format!("{other} to {name}"));
            }
        }
    }
    if words.is_empty() { "nothing".into() } else { words.join(", ") }
}
