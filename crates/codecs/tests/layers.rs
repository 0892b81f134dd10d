//! Temporal layers: a decoder that receives any legal subset of the frames shows each of them exactly as one that
//! receives all.

use std::collections::BTreeMap;

use thalweg_codecs::functional::{FunctionalDecoder, FunctionalEncoder};
use thalweg_codecs::model::{self, ContentPreset};
use thalweg_codecs::{Candidate, Decoder, EncodeError, Encoder, Image};
use thalweg_types::layers::{Config, Pattern};
use thalweg_types::{EncodePlan, Target};
use thalweg_units::{Random, Rate, Seed, Size, Span};
use thalweg_video::Picture;
use thalweg_video::source::{Format, Scene, SceneConfig};

const SIZE: Size = Size::new(96, 64);
const INTERVAL: Span = Span::from_nanos(33_333_333);
const PICTURES: u64 = 240;

fn pattern() -> Pattern {
    Config::default().build().unwrap()
}

/// A moving scene of eight seconds, played forwards and backwards without end.
struct Film(Vec<Picture>);

impl Film {
    fn new() -> Film {
        let format = Format { size: SIZE, frame_rate: (30, 1) };
        let scene = Scene::new(SceneConfig { format, ..SceneConfig::default() });
        Film((0..PICTURES).map(|number| scene.picture(number)).collect())
    }

    fn picture(&self, number: u32) -> &Picture {
        let (count, number) = (self.0.len(), number as usize);
        let at = number % (2 * count - 2);
        &self.0[at.min(2 * count - 2 - at)]
    }
}

/// Random losses in a pattern; a frame whose reference is lost is lost too.
struct Losses {
    random: Random,
    /// Arrivals of the frames of the last two groups, by place.
    came: BTreeMap<u32, bool>,
}

impl Losses {
    fn new(seed: &str) -> Losses {
        Losses { random: Seed::new(8).child(seed).random(), came: BTreeMap::new() }
    }

    /// Decodability on arrival of the frame at `place`, and its arrival.
    fn next(&mut self, pattern: &Pattern, place: u32) -> (bool, bool) {
        let decodable = pattern.refers_to(place).is_none_or(|reference| self.came[&reference]);
        let chance = [0.02, 0.25, 0.3][usize::from(pattern.layer(place).number)];
        let comes = decodable && !self.random.chance(chance);
        self.came.insert(place, comes);
        self.came.retain(|other, _| other + 8 > place);
        (decodable, comes)
    }
}

fn plan(place: u32, reference: Option<u64>) -> EncodePlan {
    // Vary the target, so that frame sizes and quantisers vary.
    let kbps = [60, 150, 40, 300][(place / 300 % 4) as usize];
    let mut plan = EncodePlan::new(vec![Target::Rate(Rate::from_kbps(kbps))], SIZE, INTERVAL);
    pattern().plan(place, reference, &mut plan);
    plan
}

fn made(encoder: &mut dyn Encoder, film: &Film, place: u32, reference: Option<u64>) -> Candidate {
    let plan = plan(place, reference);
    let mut candidates = encoder.candidates(film.picture(place), &plan).unwrap();
    let candidate = candidates.remove(0);
    let frame = &candidate.frame;
    assert_eq!((frame.keyframe, frame.layer), (plan.keyframe, plan.layer.number), "{place}");
    candidate
}

fn shown(decoder: &mut dyn Decoder, candidate: &Candidate) -> Picture {
    decoder.decode(&candidate.data).unwrap().unwrap()
}

/// A relay drops random legal subsets of `frames` frames; returns the smallest and the largest share of the bytes of
/// the three layers.
fn relay_drops(encoder: &mut dyn Encoder, mut decoders: [Box<dyn Decoder>; 2], frames: u32) {
    let (film, pattern, mut losses) = (Film::new(), pattern(), Losses::new("relay"));
    let (mut dropped, mut bytes) = (0, [0u64; 3]);
    for place in 0..frames {
        let frame = made(encoder, &film, place, Some(0));
        encoder.commit(Some(0)).unwrap();
        bytes[usize::from(frame.frame.layer)] += frame.frame.size.get();
        let all = shown(&mut *decoders[0], &frame);
        if losses.next(&pattern, place).1 {
            let some = shown(&mut *decoders[1], &frame);
            assert!(all.data() == some.data(), "frame {place} is not what one shows who got all");
        } else {
            dropped += 1;
        }
    }
    println!("{dropped} of {frames} dropped; bytes by layer {bytes:?}");
    assert!(dropped > frames / 5 && dropped < frames * 4 / 5, "{dropped} of {frames}");
}

/// The sender drops frames after encoding them, and a relay drops some of those that were sent.
fn sender_drops(encoder: &mut dyn Encoder, mut decoders: [Box<dyn Decoder>; 2], frames: u32) {
    let (film, pattern) = (Film::new(), pattern());
    let (mut sender, mut relay) = (Losses::new("sender"), Losses::new("relay"));
    let (mut sent, mut unsendable) = (0u64, 0);
    let mut keyframes = 0;
    // The number of the frame sent at each place.
    let mut numbers: BTreeMap<u32, u64> = BTreeMap::new();
    for place in 0..frames {
        let reference = pattern.refers_to(place).map(|place| numbers.get(&place).copied());
        let frame = made(encoder, &film, place, reference.unwrap_or(Some(0)));
        keyframes += u32::from(frame.frame.keyframe);
        let (decodable, sends) = sender.next(&pattern, place);
        relay.next(&pattern, place);
        if !decodable {
            unsendable += 1;
            if place % 7 == 0 {
                assert!(matches!(encoder.commit(Some(0)), Err(EncodeError::Unsendable { choice: 0 })), "{place}");
                relay.came.insert(place, false);
                continue;
            }
        }
        encoder.commit(sends.then_some(0)).unwrap();
        if !sends {
            relay.came.insert(place, false);
            continue;
        }
        numbers.insert(place, sent);
        sent += 1;
        let all = shown(&mut *decoders[0], &frame);
        if relay.came[&place] {
            assert!(all.data() == shown(&mut *decoders[1], &frame).data(), "frame {place}");
        }
    }
    assert_eq!(keyframes, frames.div_ceil(pattern.period()), "only those of the pattern");
    assert!(unsendable > frames / 20, "{unsendable} of {frames}");
}

/// A frame whose reference is missing decodes wrongly: this proves that the tests above could fail.
fn illegal_subsets_show(encoder: &mut dyn Encoder, mut decoders: [Box<dyn Decoder>; 2], missing: u32, wrong: &[u32]) {
    let film = Film::new();
    let mut differs = Vec::new();
    for place in 0..40 {
        let frame = made(encoder, &film, place, Some(0));
        encoder.commit(Some(0)).unwrap();
        let all = shown(&mut *decoders[0], &frame);
        if place != missing {
            let some = decoders[1].decode(&frame.data);
            if !some.is_ok_and(|some| some.is_some_and(|some| some.data() == all.data())) {
                differs.push(place);
            }
        }
    }
    assert_eq!(differs, wrong, "without {missing}");
}

fn functional() -> FunctionalEncoder {
    FunctionalEncoder::new(Default::default()).unwrap()
}

fn functional_decoders() -> [Box<dyn Decoder>; 2] {
    [Box::new(FunctionalDecoder::default()), Box::new(FunctionalDecoder::default())]
}

#[test]
fn of_functional_vp8_every_legal_subset_of_ten_thousand_frames_decodes_exactly() {
    relay_drops(&mut functional(), functional_decoders(), 10_000);
}

#[test]
fn and_after_frames_that_were_made_and_not_sent() {
    sender_drops(&mut functional(), functional_decoders(), 2_000);
}

#[test]
fn what_is_missing_is_missed_by_its_closure_alone() {
    let pattern = pattern();
    for missing in [4, 6, 7] {
        let closure: Vec<u32> = pattern.closure(missing).collect();
        illegal_subsets_show(&mut functional(), functional_decoders(), missing, &closure);
    }
}

/// The model's frame sizes by layer for a pattern at 1 Mbps and 720p, relative to the mean of all but keyframes; frames
/// of layers not in `sent` are not sent.
fn modelled(content: ContentPreset, sent: &[u8]) -> ([f64; 3], u32) {
    let mut encoder =
        model::ModelEncoder::new(&model::Config { content, ..Default::default() }, Size::HD, Seed::new(1)).unwrap();
    let (pattern, mut sums, mut keyframes) = (pattern(), [(0.0, 0u32); 3], 0);
    for place in 0..3_200 {
        let mut plan = EncodePlan::new(vec![Target::Rate(Rate::from_kbps(1000))], Size::HD, INTERVAL);
        let reference = pattern.refers_to(place).filter(|place| sent.contains(&pattern.layer(*place).number));
        pattern.plan(place, reference.map(u64::from), &mut plan);
        let frame = encoder.offer(Image::blank(Size::HD), &plan).unwrap()[0].frame;
        encoder.commit(sent.contains(&frame.layer).then_some(0)).unwrap();
        keyframes += u32::from(frame.keyframe);
        if !frame.keyframe {
            let sum = &mut sums[usize::from(frame.layer)];
            *sum = (sum.0 + frame.size.as_f64(), sum.1 + 1);
        }
    }
    let mean = sums.iter().map(|sum| sum.0).sum::<f64>() / f64::from(sums.iter().map(|sum| sum.1).sum::<u32>());
    (sums.map(|(sum, count)| sum / f64::from(count) / mean), keyframes)
}

#[test]
fn the_model_makes_layers_as_libvpx_does() {
    // libvpx at 1 Mbps: 1.50, 0.83 and 0.87 for the scene, 1.52, 0.79 and 0.88 for the talking head (tools/calibrate,
    // layer_sizes).
    for content in [ContentPreset::Scene, ContentPreset::TalkingHead] {
        let (layers, keyframes) = modelled(content.clone(), &[0, 1, 2]);
        println!("{content}: {layers:.2?}");
        assert_eq!(keyframes, 100);
        for (made, libvpx) in layers.into_iter().zip([1.51, 0.81, 0.87]) {
            assert!((made / libvpx - 1.0f64).abs() < 0.05, "{layers:.2?}");
        }
    }
}

#[test]
fn frames_of_the_model_that_are_not_sent_cost_no_keyframe() {
    for sent in [&[0][..], &[0, 1]] {
        assert_eq!(modelled(ContentPreset::Scene, sent).1, 100);
    }
}

#[cfg(feature = "libvpx")]
mod libvpx {
    use super::*;
    use thalweg_codecs::libvpx::{Vp8Decoder, Vp8Encoder, Vp9Decoder, Vp9Encoder};

    fn vp8() -> (Vp8Encoder, [Box<dyn Decoder>; 2]) {
        let decoder = || Box::new(Vp8Decoder::new().unwrap());
        (Vp8Encoder::new(Default::default(), SIZE).unwrap(), [decoder(), decoder()])
    }

    fn vp9() -> (Vp9Encoder, [Box<dyn Decoder>; 2]) {
        let decoder = || Box::new(Vp9Decoder::new().unwrap());
        (Vp9Encoder::new(Default::default(), SIZE).unwrap(), [decoder(), decoder()])
    }

    #[test]
    fn of_functional_vp8_every_legal_subset_decodes_exactly_in_libvpx() {
        relay_drops(&mut functional(), vp8().1, 10_000);
    }

    #[test]
    fn of_vp8_every_legal_subset_of_ten_thousand_frames_decodes_exactly() {
        let (mut encoder, decoders) = vp8();
        relay_drops(&mut encoder, decoders, 10_000);
    }

    #[test]
    fn of_vp9_every_legal_subset_of_ten_thousand_frames_decodes_exactly() {
        let (mut encoder, decoders) = vp9();
        relay_drops(&mut encoder, decoders, 10_000);
    }

    #[test]
    fn a_quantiser_that_is_asked_for_holds_in_every_layer() {
        let film = Film::new();
        let (mut vp8, mut vp9) = (vp8().0, vp9().0);
        for encoder in [&mut vp8 as &mut dyn Encoder, &mut vp9] {
            let made = (0..64).map(|place| {
                let asked = if place < 40 { 120 } else { 60 };
                let plan = plan(place, Some(0)).with(|plan| plan.targets = vec![Target::Quantizer(asked)]);
                let made = encoder.candidates(film.picture(place), &plan).unwrap().remove(0).frame;
                encoder.commit(Some(0)).unwrap();
                made.quantizer.unwrap()
            });
            let quantizers: Vec<u8> = made.collect();
            let (coarse, fine) = quantizers.split_at(40);
            assert!(coarse.iter().all(|quantizer| *quantizer == coarse[0]), "{quantizers:?}");
            assert!(fine.iter().all(|quantizer| *quantizer == fine[0] && *quantizer < coarse[0]), "{quantizers:?}");
        }
    }

    #[test]
    fn and_after_frames_that_were_made_and_not_sent() {
        let (mut encoder, decoders) = vp8();
        sender_drops(&mut encoder, decoders, 2_000);
        let (mut encoder, decoders) = vp9();
        sender_drops(&mut encoder, decoders, 2_000);
    }

    #[test]
    fn what_is_missing_is_missed_by_its_closure_alone() {
        let pattern = pattern();
        for missing in [4, 6, 7] {
            let closure: Vec<u32> = pattern.closure(missing).collect();
            let (mut encoder, decoders) = vp8();
            illegal_subsets_show(&mut encoder, decoders, missing, &closure);
            let (mut encoder, decoders) = vp9();
            illegal_subsets_show(&mut encoder, decoders, missing, &closure);
        }
    }
}
