//! Plays a schedule of targets through an encoder and computes statistics of its frame sizes.

use std::sync::Arc;

use thalweg_codecs::{Decoder, Encoder, Image};
use thalweg_types::{EncodePlan, Target};
use thalweg_units::{Rate, Size, Span};
use thalweg_video::quality::{psnr, ssim, ssim_db};
use thalweg_video::source::Source;
use thalweg_video::{Picture, scale};

/// Frame interval: 30 fps.
pub const INTERVAL: Span = Span::from_nanos(33_333_333);
/// Averaging window for rates, in frames: a third of a second.
const WINDOW: usize = 10;

/// The source of pictures.
pub enum Video {
    /// A video source, scaled to a size.
    Real(Box<dyn Source>, Size),
    /// No samples: only a size.
    Blank(Size),
}

impl Video {
    /// The next picture; `None` without samples.
    pub fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, Box<dyn std::error::Error>> {
        let Video::Real(source, size) = self else { return Ok(None) };
        let picture = source.next_picture()?.ok_or("the video is too short")?;
        Ok(Some(if picture.size() == *size { picture } else { Arc::new(scale(&picture, *size)) }))
    }

    /// The size before scaling.
    pub fn source_size(&self) -> Size {
        match self {
            Video::Real(source, _) => source.format().size,
            Video::Blank(size) => *size,
        }
    }
}

/// The result of encoding one picture.
#[derive(Debug, Clone, Copy, Default)]
pub struct Frame {
    /// Its size in bytes; 0 when the encoder dropped it.
    pub bytes: u64,
    /// True for a keyframe.
    pub keyframe: bool,
    /// The quantiser.
    pub quantizer: u8,
    /// PSNR and SSIM in dB, measured or modelled, if either was requested.
    pub quality: Option<(f64, f64)>,
}

/// A schedule of targets for the encoder.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// Targets in kbit/s, each with its number of pictures.
    pub targets: Vec<(u64, usize)>,
    /// The encoded size.
    pub size: Size,
    /// Forces a keyframe after every this many pictures.
    pub keyframe_every: Option<usize>,
    /// True if the encoder may drop pictures.
    pub may_drop: bool,
}

impl Schedule {
    /// One target at one size, no keyframe except the first, no drops.
    pub fn constant(kbps: u64, pictures: usize, size: Size) -> Schedule {
        Schedule { targets: vec![(kbps, pictures)], size, keyframe_every: None, may_drop: false }
    }
}

/// Plays `schedule`; measures quality if a decoder is given.
pub fn play(
    schedule: &Schedule,
    video: &mut Video,
    encoder: &mut dyn Encoder,
    decoder: Option<&mut dyn Decoder>,
) -> Result<Vec<Frame>, Box<dyn std::error::Error>> {
    let each = |(kbps, pictures): &(u64, usize)| std::iter::repeat_n(Target::Rate(Rate::from_kbps(*kbps)), *pictures);
    let targets: Vec<Target> = schedule.targets.iter().flat_map(each).collect();
    play_targets(&targets, schedule, video, encoder, decoder)
}

/// The same with a target of any kind for each picture, instead of the schedule's rates.
pub fn play_targets(
    targets: &[Target],
    schedule: &Schedule,
    video: &mut Video,
    encoder: &mut dyn Encoder,
    mut decoder: Option<&mut dyn Decoder>,
) -> Result<Vec<Frame>, Box<dyn std::error::Error>> {
    let mut frames = Vec::new();
    for target in targets {
        let picture = video.next_picture()?;
        let image = match (&picture, &video) {
            (Some(picture), _) => Image::from(&**picture),
            (None, Video::Blank(size) | Video::Real(_, size)) => Image::blank(*size),
        };
        let keyframe = schedule.keyframe_every.is_some_and(|every| !frames.is_empty() && frames.len() % every == 0);
        let plan = EncodePlan::new(vec![*target], schedule.size, INTERVAL);
        let plan = plan.with(|plan| {
            plan.keyframe = keyframe;
            plan.may_drop = schedule.may_drop;
        });
        let made = encoder.offer(image, &plan)?;
        let Some(candidate) = made.first() else {
            frames.push(Frame::default());
            continue;
        };
        encoder.commit(Some(0))?;
        let mut quality = candidate.modelled.map(|quality| (quality.psnr_db, quality.ssim_db));
        if let (Some(decoder), Some(picture)) = (&mut decoder, &picture) {
            quality = decoder.decode(&candidate.data)?.map(|decoded| compare(picture, &decoded));
        }
        let frame = candidate.frame;
        let quantizer = frame.quantizer.unwrap_or(0);
        frames.push(Frame { bytes: frame.size.get(), keyframe: frame.keyframe, quantizer, quality });
    }
    Ok(frames)
}

fn compare(source: &Picture, decoded: &Picture) -> (f64, f64) {
    if source.size() == decoded.size() {
        return (psnr(source, decoded), ssim_db(ssim(source, decoded)));
    }
    let shown = scale(decoded, source.size());
    (psnr(source, &shown), ssim_db(ssim(source, &shown)))
}

/// Statistics of delta frame sizes.
#[derive(Debug, Clone, Copy)]
pub struct Statistics {
    /// Mean rate of all frames in kbit/s.
    pub kbps: f64,
    /// Standard deviation over mean.
    pub variation: f64,
    /// 95th percentile over mean.
    pub p95: f64,
    /// Correlation of each size with the next.
    pub correlation: f64,
    /// Mean size of keyframes after the first over the mean delta frame, if there are any.
    pub keyframe_ratio: Option<f64>,
    /// Mean quantiser, PSNR and SSIM in dB.
    pub quality: (f64, f64, f64),
}

/// Statistics of frames after the first two seconds.
pub fn statistics(frames: &[Frame]) -> Statistics {
    let late = &frames[frames.len().min(60)..];
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let sizes = |keyframe: bool| -> Vec<f64> {
        late.iter().filter(|f| f.bytes > 0 && f.keyframe == keyframe).map(|f| f.bytes as f64).collect()
    };
    let (deltas, keyframes) = (sizes(false), sizes(true));
    let average = mean(&deltas);
    let variance = mean(&deltas.iter().map(|size| (size - average).powi(2)).collect::<Vec<_>>());
    let pairs: Vec<f64> = deltas.windows(2).map(|pair| (pair[0] - average) * (pair[1] - average)).collect();
    let mut sorted = deltas.clone();
    sorted.sort_by(f64::total_cmp);
    let all = late.iter().map(|frame| frame.bytes as f64).collect::<Vec<_>>();
    let made = || late.iter().filter(|frame| frame.bytes > 0);
    let of_quality = |pick: fn(&(f64, f64)) -> f64| {
        mean(&made().filter_map(|frame| frame.quality.as_ref().map(pick)).collect::<Vec<_>>())
    };
    let quantizer = mean(&made().map(|frame| f64::from(frame.quantizer)).collect::<Vec<_>>());
    Statistics {
        kbps: mean(&all) * 8.0 / INTERVAL.as_secs_f64() / 1e3,
        variation: variance.sqrt() / average,
        p95: sorted.get(sorted.len() * 95 / 100).copied().unwrap_or(0.0) / average,
        correlation: mean(&pairs) / variance,
        keyframe_ratio: (!keyframes.is_empty()).then(|| mean(&keyframes) / average),
        quality: (quantizer, of_quality(|quality| quality.0), of_quality(|quality| quality.1)),
    }
}

/// Seconds from picture `step` until the rate over a third of a second is within a tenth of `kbps`, approached from the
/// other side; and the excess during two seconds, in seconds at `kbps` (negative going up).
pub fn lag(frames: &[Frame], step: usize, kbps: u64, up: bool) -> (f64, f64) {
    let rate = |frames: &[Frame]| {
        let bits: u64 = frames.iter().map(|frame| frame.bytes * 8).sum();
        bits as f64 / 1e3 / (frames.len() as f64 * INTERVAL.as_secs_f64())
    };
    let target = kbps as f64;
    let near = |rate: f64| if up { rate >= 0.9 * target } else { rate <= 1.1 * target };
    let first = (step..frames.len() - WINDOW).find(|at| near(rate(&frames[*at..at + WINDOW])));
    let seconds = first.map_or(f64::INFINITY, |at| {
        (at - step) as f64 * INTERVAL.as_secs_f64() + WINDOW as f64 / 2.0 * INTERVAL.as_secs_f64()
    });
    (seconds, (rate(&frames[step..step + 60]) / target - 1.0) * 2.0)
}
