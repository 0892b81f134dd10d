//! The traffic models of RMCAT against the figures of specs/rmcat.md 5.

use thalweg_codecs::traffic::{Config, Fixfps, TrafficEncoder, TrafficModel};
use thalweg_codecs::{Candidate, Codec, Encoder, Image};
use thalweg_media::{Basis, EncodePlan, Layer, Target};
use thalweg_units::{Bytes, Rate, Seed, Size, Span};

/// An encoder and the interval of its camera.
struct Driven {
    encoder: TrafficEncoder,
    interval: Span,
}

impl Driven {
    fn new(config: &Config, seed: u64) -> Driven {
        let interval = Span::of_frame(config.frame_rate().as_f64());
        Driven { encoder: TrafficEncoder::new(config, Seed::new(seed)).unwrap(), interval }
    }

    fn of(model: TrafficModel) -> Driven {
        Driven::new(&Config::of(model), 1)
    }

    fn offer(&mut self, target: Target) -> Vec<Candidate> {
        let plan = EncodePlan::new(vec![target], Size::HD, self.interval);
        self.encoder.offer(Image::blank(Size::HD), &plan).unwrap()
    }

    /// The size of the next frame, 0 for none.
    fn frame(&mut self, kbps: u64) -> u64 {
        let made = self.offer(Target::Rate(Rate::from_kbps(kbps)));
        if !made.is_empty() {
            self.encoder.commit(Some(0)).unwrap();
        }
        made.first().map_or(0, |made| made.frame.size.get())
    }

    fn frames(&mut self, kbps: u64, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.frame(kbps)).collect()
    }
}

fn named(name: &str) -> TrafficModel {
    name.parse().unwrap()
}

#[test]
fn fixfps_takes_up_a_target_after_100_ms_and_meets_it_exactly() {
    let mut media = Driven::of(named("fixfps"));
    // The first target at once; later ones three frames late. 1 Mbps at 30 fps is 4166.7 B a frame.
    assert_eq!(media.frames(150, 2), [625, 625]);
    assert_eq!(media.frames(1000, 5), [625, 625, 625, 4167, 4167]);
    // Targets that change with every frame each count after the same time.
    assert_eq!([300, 600, 900, 1200, 1500].map(|kbps| media.frame(kbps)), [4167, 4167, 4167, 1250, 2500]);
    assert_eq!(media.encoder.delay(), Span::ZERO);
    let at_once = Fixfps { delay: Span::ZERO, ..Fixfps::default() };
    let mut media = Driven::of(TrafficModel::Fixfps(at_once));
    assert_eq!([150, 1000, 300].map(|kbps| media.frame(kbps)), [625, 4167, 1250]);
}

#[test]
fn targets_count_only_within_the_bounds() {
    let mut media = Driven::of(named("fixfps"));
    assert_eq!(media.frame(20), 625);
    media.frames(12_000, 3);
    assert_eq!(media.frame(12_000), 6250);
}

#[test]
fn noise_of_the_interval_makes_frames_late_and_leaves_their_sizes() {
    let mut media = Driven::of(TrafficModel::Fixfps(Fixfps { interval_noise: 0.15, ..Fixfps::default() }));
    let mut late = 0.0;
    for _ in 0..20_000 {
        assert_eq!(media.frame(1000), 4167);
        late += media.encoder.delay().as_millis_f64();
    }
    // 0.15 of 33.3 ms.
    assert!((4.85..5.15).contains(&(late / 2e4)), "{}", late / 2e4);
}

#[test]
fn sizes_are_met_quantizers_refused_and_states_kept() {
    let mut media = Driven::of(named("fixfps"));
    let plan = |targets| EncodePlan::new(targets, Size::HD, Span::from_millis(33));
    let sizes = [400, 9000].map(|bytes| Target::Size(Bytes::new(bytes)));
    let kept = EncodePlan { keep: Some(7), ..plan(sizes.to_vec()) };
    let made = media.encoder.offer(Image::blank(Size::HD), &kept).unwrap();
    assert_eq!([0, 1].map(|index| made[index].frame.size.get()), [400, 9000]);
    assert!(made[0].frame.keyframe && made[0].frame.quantizer.is_none() && made[0].modelled.is_none());
    media.encoder.commit(Some(1)).unwrap();
    media.frame(500);
    let after = EncodePlan { basis: Basis::After(7), ..plan(vec![Target::Rate(Rate::from_kbps(500))]) };
    let next = media.encoder.offer(Image::blank(Size::HD), &after).unwrap().remove(0).frame;
    assert_eq!(next.transition.unwrap().source, made[1].frame.transition.unwrap().target);
    media.encoder.forget(7);
    assert!(media.encoder.offer(Image::blank(Size::HD), &after).is_err());
    let refused = media.encoder.offer(Image::blank(Size::HD), &plan(vec![Target::Quantizer(40)])).unwrap_err();
    assert!(refused.to_string().contains("a rate, or a size in bytes"), "{refused}");
}

#[test]
fn layers_share_the_rate_and_an_offer_that_is_repeated_gives_the_same() {
    let mut media = Driven::of(named("fixfps"));
    let mut of_layer = |number| {
        let layer = Layer { number, count: 3 };
        let plan = EncodePlan {
            layer,
            ..EncodePlan::new(vec![Target::Rate(Rate::from_kbps(1200))], Size::HD, Span::from_millis(25))
        };
        let once = media.encoder.offer(Image::blank(Size::HD), &plan).unwrap().remove(0).frame;
        let again = media.encoder.offer(Image::blank(Size::HD), &plan).unwrap().remove(0).frame;
        assert_eq!(once, again);
        media.encoder.commit(Some(0)).unwrap();
        once.size.get()
    };
    // 3750 B a frame: 1.6, 0.8 and 0.8 times that.
    assert_eq!([0, 2, 1, 2].map(&mut of_layer), [6000, 3000, 3000, 3000]);
}

#[test]
fn what_is_out_of_range_or_unknown_is_refused_with_the_range() {
    let message = |config: Config| TrafficEncoder::new(&config, Seed::new(1)).err().unwrap().to_string();
    let rates = Config { min_rate: Rate::from_kbps(2000), ..Config::default() };
    assert!(message(rates).contains("min <= max"));
    let delay = TrafficModel::Fixfps(Fixfps { delay: Span::from_secs(-1), ..Fixfps::default() });
    assert!(message(Config::of(delay)).contains("fixfps.delay is -1s"));
    let unknown = "fixfsp".parse::<TrafficModel>().unwrap_err().to_string();
    assert!(unknown.contains("'fixfsp'") && unknown.contains("fixfps"), "{unknown}");
}

#[test]
fn a_scenario_can_name_a_model_and_change_it() {
    let codec: Codec = serde_json::from_str(r#"{"traffic": {"model": {"fixfps": {"delay": "50ms"}}}}"#).unwrap();
    let Codec::Traffic(config) = &codec else { panic!("{codec}") };
    assert_eq!(config.model, TrafficModel::Fixfps(Fixfps { delay: Span::from_millis(50), ..Fixfps::default() }));
    assert_eq!((config.min_rate, config.max_rate), (Rate::from_kbps(150), Rate::from_kbps(1500)));
    assert!(codec.is_model() && codec.functional() == codec);
}
