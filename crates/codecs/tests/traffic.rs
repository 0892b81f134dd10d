//! The traffic models of RMCAT against the figures of specs/rmcat.md 5.

use thalweg_codecs::traffic::{Config, Fixfps, Hybrid, Recordings, Statistical, TrafficEncoder, TrafficModel};
use thalweg_codecs::{Candidate, Codec, Encoder, Image};
use thalweg_types::{Basis, EncodePlan, Layer, Target};
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
    let kept = plan(sizes.to_vec()).with(|plan| plan.keep = Some(7));
    let made = media.encoder.offer(Image::blank(Size::HD), &kept).unwrap();
    assert_eq!([0, 1].map(|index| made[index].frame.size.get()), [400, 9000]);
    assert!(made[0].frame.keyframe && made[0].frame.quantizer.is_none() && made[0].modelled.is_none());
    media.encoder.commit(Some(1)).unwrap();
    media.frame(500);
    let after = plan(vec![Target::Rate(Rate::from_kbps(500))]).with(|plan| plan.basis = Basis::After(7));
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
        let plan = EncodePlan::new(vec![Target::Rate(Rate::from_kbps(1200))], Size::HD, Span::from_millis(25))
            .with(|plan| plan.layer = layer);
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
    // A scheme that chooses among quantisers has none to choose from in sizes alone.
    assert!(codec.is_model() && matches!(codec.functional(), Codec::Model(config) if config.functional));
}

#[test]
fn a_transient_has_a_large_first_frame_and_pays_for_it() {
    // specs/rmcat.md 13, example 5.
    let first = |name: &str, kbps, count| Driven::of(named(name)).frames(kbps, count);
    assert_eq!(first("statistical", 1000, 8), [[13_500].as_slice(), &[2833; 7]].concat());
    assert_eq!(first("statistical", 500, 8), [[13_500].as_slice(), &[452; 7]].concat());
    assert_eq!(first("statistical", 150, 8), [[13_500].as_slice(), &[125; 7]].concat());
    assert_eq!(first("stats", 150, 10), [[4270].as_slice(), &[220; 9]].concat());
}

/// A model without noise.
fn quiet(config: Statistical) -> TrafficModel {
    TrafficModel::Statistical(Statistical { size_noise: 0.0, interval_noise: 0.0, ..config })
}

#[test]
fn the_statistical_source_ignores_targets_within_200_ms_of_the_last_and_starts_over_after_a_large_change() {
    let mut media = Driven::of(quiet(Statistical::default()));
    assert_eq!(media.frames(1000, 9)[8], 4167);
    // 30 % more is taken up at once, and then nothing else for six frames.
    assert_eq!(media.frames(1300, 1), [5417]);
    assert_eq!(media.frames(500, 6), [5417, 5417, 5417, 5417, 5417, 13_500]);
    assert_eq!(media.frames(500, 8), [[452].as_slice(), &[452; 6], &[2083]].concat());
}

#[test]
fn stats_takes_up_a_tenth_every_100_ms_unless_the_change_is_large() {
    let mut media = Driven::of(quiet(Statistical::syncodecs()));
    media.frames(500, 20);
    // 500, 550, 605, 665.5 and 700 kbps, three frames each.
    let frames = media.frames(700, 15);
    let steps = [[2292; 3], [2521; 3], [2773; 3], [2917; 3], [2917; 3]].concat();
    assert_eq!(frames, steps);
    assert_eq!(media.frames(1500, 2), [4270, 6470]);
}

#[test]
fn steady_sizes_scatter_by_a_fifth_and_one_second_in_five_is_off_by_a_twentieth() {
    let mut media = Driven::of(named("statistical"));
    media.frames(1000, 8);
    let frames = media.frames(1000, 30 * 4000);
    let count = frames.len() as f64;
    let mean = frames.iter().sum::<u64>() as f64 / count;
    let square = frames.iter().map(|size| (*size as f64 - mean).powi(2)).sum::<f64>() / count;
    assert!((4140.0..4190.0).contains(&mean), "{mean}");
    assert!((0.209..0.215).contains(&(square.sqrt() / mean)), "{}", square.sqrt() / mean);
    let seconds = frames.chunks(30).map(|second| second.iter().sum::<u64>() as f64 / 125e3 - 1.0);
    let (mut outside, mut spread) = (0, 0.0);
    for off in seconds {
        outside += usize::from(off.abs() > 0.05);
        spread += off * off;
    }
    assert!((0.037..0.041).contains(&(spread / 4000.0).sqrt()), "{}", (spread / 4000.0).sqrt());
    assert!((720..880).contains(&outside), "{outside} of 4000 s");
}

#[test]
fn a_shared_screen_has_258_kbps_at_any_target_and_pages_of_20_to_200_kb() {
    for kbps in [150, 1500] {
        let mut media = Driven::of(named("sharing"));
        let frames = media.frames(kbps, 5 * 20_000);
        let mean = frames.iter().sum::<u64>() as f64 * 8.0 / 20_000.0 / 1e3;
        assert!((252.0..264.0).contains(&mean), "{mean} kbps at {kbps}");
        let pages: Vec<u64> = frames.iter().copied().filter(|size| *size != 1000).collect();
        assert!(frames[0] >= 20_000 && pages.iter().all(|size| (20_000..=200_000).contains(size)));
        assert!((4800..5200).contains(&pages.len()), "{} of 100000 frames", pages.len());
    }
}

#[test]
fn cbr_sends_whole_packets_at_the_targets_pace() {
    let mut media = Driven::of(named("cbr"));
    let frames = media.frames(1000, 240 * 8);
    assert!(frames[0] == 1000 && frames.iter().all(|size| [0, 1000].contains(size)));
    assert_eq!(frames.iter().sum::<u64>(), 1_001_000, "8 s of 125 packets, and the first");
    media.interval = Span::of_frame(30.0);
    let frames = media.frames(1000, 240);
    assert!(frames.iter().all(|size| [4000, 5000].contains(size)));
    assert_eq!(frames.iter().sum::<u64>(), 1_000_000);
}

/// A folder that is removed at the end.
struct Folder(std::path::PathBuf);

impl Folder {
    /// With recordings of 60 frames: at each resolution and rate, frame i has `bytes + i`.
    fn new(name: &str, recordings: &[(&str, u64, u64)]) -> Folder {
        let path = std::env::temp_dir().join(format!("thalweg-traffic-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        for (resolution, kbps, bytes) in recordings {
            let mut text = String::from("% Nframe | type | X | timestamp | size (Bytes)\n");
            (0..60).for_each(|frame| text += &format!("{frame} U 0. {:.6} {}\n", frame as f64 / 30.0, bytes + frame));
            std::fs::write(path.join(format!("chat_{resolution}_{kbps}.txt")), text).unwrap();
        }
        Folder(path)
    }

    fn recordings(&self) -> Recordings {
        Recordings { folder: self.0.display().to_string(), from_first: true }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn recorded_frames_are_interpolated_between_rates_and_repeated_without_their_beginning() {
    let folder = Folder::new("rates", &[("720p", 400, 1600), ("720p", 1000, 4000)]);
    let mut media = Driven::of(TrafficModel::Trace(folder.recordings()));
    assert_eq!([400, 1000, 700, 200, 1500].map(|kbps| media.frame(kbps)), [1600, 4001, 2802, 802, 6006]);
    media.frames(400, 54);
    assert_eq!(media.frames(400, 2), [1659, 1620], "after the last the 21st");
    let start = |seed| {
        let recordings = Recordings { from_first: false, ..folder.recordings() };
        Driven::new(&Config::of(TrafficModel::Trace(recordings)), seed).frame(400)
    };
    let starts: Vec<u64> = (0..20).map(start).collect();
    assert!(starts.iter().all(|size| (1620..1660).contains(size)) && starts.iter().any(|size| *size != starts[0]));
    assert_eq!(start(3), start(3));
}

#[test]
fn the_resolution_follows_the_bits_per_pixel() {
    let folder = Folder::new("sizes", &[("180p", 200, 1000), ("360p", 200, 2000), ("540p", 200, 5000)]);
    let mut media = Driven::of(TrafficModel::Trace(folder.recordings()));
    // 180p to 302 kbps; 360p from 629 kbps; 540p from 1415 kbps, left below that.
    let of = |size: u64, kbps: u64| (size as f64 * 200.0 / kbps as f64).round() as u64 / 1000 * 1000;
    let mut resolution = |kbps| of(media.frame(kbps), kbps);
    assert_eq!(
        [200, 300, 620, 640, 640, 1400, 1450, 1450].map(&mut resolution),
        [1000, 1000, 1000, 2000, 2000, 2000, 5000, 5000]
    );
    assert_eq!([1300, 640, 600, 200].map(&mut resolution), [2000, 2000, 1000, 1000]);
}

#[test]
fn hybrid_has_the_transients_of_one_and_the_frames_of_the_other() {
    let folder = Folder::new("hybrid", &[("720p", 400, 1600), ("720p", 1600, 6400)]);
    let transients = Statistical { interval_noise: 0.0, ..Statistical::hybrid() };
    let mut media = Driven::of(TrafficModel::Hybrid(Hybrid { recordings: folder.recordings(), transients }));
    let frames = media.frames(400, 12);
    assert_eq!(frames, [[4270].as_slice(), &[1377; 9], &[1610, 1611]].concat());
    // A twentieth at a time, every two frames: 420 kbps is a sixtieth of the way from one recording to the other.
    assert_eq!(media.frames(430, 4), [1692, 1693, 1734, 1735]);
    assert_eq!(media.frames(800, 1), [4270]);
}

#[test]
fn recordings_that_do_not_fit_are_refused() {
    let refused = |folder: &Folder| {
        let config = Config::of(TrafficModel::Trace(folder.recordings()));
        TrafficEncoder::new(&config, Seed::new(1)).err().unwrap().to_string()
    };
    let folder = Folder::new("empty", &[]);
    assert!(refused(&folder).contains("chat_720p_1000.txt"));
    let folder = Folder::new("broken", &[("720p", 400, 1600), ("720p", 800, 3200)]);
    std::fs::write(folder.0.join("chat_720p_800.txt"), "0 U 0. 0.0 12\n1 U 0. 0.03\n").unwrap();
    assert!(refused(&folder).contains("line 2 has no size"), "{}", refused(&folder));
    std::fs::write(folder.0.join("chat_720p_800.txt"), "0 U 0. 0.0 12\n".repeat(30)).unwrap();
    assert!(refused(&folder).contains("equally long"), "{}", refused(&folder));
    std::fs::write(folder.0.join("talk_720p_400.txt"), "0 U 0. 0.0 12\n".repeat(30)).unwrap();
    assert!(refused(&folder).contains("two of 720p at 400 kbps"), "{}", refused(&folder));
}

#[test]
fn every_model_is_read_by_the_name_it_is_written_with_and_the_seed_decides() {
    for name in ["fixfps", "stats", "statistical", "sharing", "cbr", "trace:/recorded", "hybrid:/recorded"] {
        let model = named(name);
        assert_eq!(model.to_string(), name);
        let codec = Codec::Traffic(Config::of(model));
        let written = serde_json::to_string(&codec).unwrap();
        assert_eq!(serde_json::from_str::<Codec>(&written).unwrap(), codec, "{written}");
    }
    for name in ["trace", "hybrid:", "fixfps:/recorded"] {
        assert!(name.parse::<TrafficModel>().is_err(), "{name}");
    }
    let frames = |seed| Driven::new(&Config::of(named("stats")), seed).frames(700, 100);
    assert_eq!(frames(1), frames(1));
    assert_ne!(frames(1), frames(2));
}
