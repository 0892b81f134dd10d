//! Policies from ONNX files.

mod build;

use std::path::{Path, PathBuf};

use build::Builder;
use thalweg_control::{Acknowledgement, Controller, History, PacketId, SendLimits, SentPacket};
use thalweg_learned::{Action, Learned, LearnedSender, Observation, Terms, onnx};
use thalweg_sender::SenderFactory;
use thalweg_units::{Bytes, Size, Span, Time};

const KEYS: [(&str, &str); 3] =
    [("thalweg.observation", "mowgli"), ("thalweg.action", "delta"), ("thalweg.interval", "50ms")];

/// The limits that `-1 <= w x <= 1` sets for the features of `mowgli`, with these factors by index.
fn linear(factors: &[(usize, f32)], offset: f32) -> Builder {
    let mut weights = vec![0.0; 180];
    factors.iter().for_each(|(index, factor)| weights[*index] = *factor);
    // The first size is open, as exporters leave it.
    Builder::new(&KEYS)
        .input("observation", &[0, 180])
        .floats("weights", &[180, 1], &weights)
        .floats("offset", &[1], &[offset])
        .floats("low", &[], &[-1.0])
        .floats("high", &[], &[1.0])
        .node("Gemm", &["observation", "weights", "offset"], "sum")
        .node("Clip", &["sum", "low", "high"], "action")
        .output("action", &[0, 1])
}

/// The model of `tests/models/follow.onnx`: the rate grows by 4 % in 50 ms, less the more packets queue and are lost.
fn follow() -> Builder {
    // The one-way delay less half of the least round trip, in s; the loss ratio.
    linear(&[(3 * 20, -4.0), (6 * 20, 2.0), (7 * 20, -2.0)], 0.06)
}

/// Writes a file for a test, and returns its path.
fn written(name: &str, bytes: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("thalweg-policy-{}-{name}.onnx", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    path
}

fn open(path: &Path) -> Result<LearnedSender, String> {
    onnx::open(&format!("onnx:{}", path.display())).map_err(|error| error.to_string())
}

fn opened(name: &str, builder: &Builder) -> Result<LearnedSender, String> {
    let path = written(name, &builder.bytes());
    let sender = open(&path);
    std::fs::remove_file(path).unwrap();
    sender
}

/// The limits at every millisecond of a call whose one-way delay swings between 20 and 60 ms.
fn play(mut controller: Box<dyn Controller>, seconds: u64) -> Vec<SendLimits> {
    let mut history = History::default();
    let delay = |ms: u64| 20 + (ms % 800).abs_diff(400) / 10;
    (0..seconds * 1000)
        .map(|ms| {
            let now = Time::from_millis(ms);
            if controller.next_timeout() <= now {
                controller.on_timeout(now);
            }
            if ms % 10 == 0 {
                controller.on_sent(&history.on_sent(SentPacket::new(PacketId(ms / 10), now, Bytes::new(1200))));
            }
            if ms % 50 == 5 && ms > 100 {
                let last = (ms - 65) / 10;
                let arrived =
                    |id: u64| Acknowledgement::new(PacketId(id), Some(Time::from_millis(10 * id + delay(10 * id))));
                let reported: Vec<_> = (last.saturating_sub(4)..=last).map(arrived).collect();
                controller.on_feedback(&history.on_report(now, &reported, None));
            }
            controller.limits()
        })
        .collect()
}

fn controller(sender: &LearnedSender) -> Box<dyn Controller> {
    sender.parts(Size::HD).unwrap().controller
}

#[test]
fn a_model_plays_as_the_same_rule_in_rust_does() {
    // One product by a power of two, so that no order of summing matters: the rate is halved where the delay grows by
    // 1/64 s in an interval.
    let sender = opened("exact", &linear(&[(4 * 20, -64.0)], 0.0)).unwrap();
    assert_eq!((sender.terms().observation, sender.terms().action), (Observation::Mowgli, Action::Delta));
    assert_eq!(sender.terms().interval, Span::from_millis(50));
    let rule = |observation: &[f32], answer: &mut [f32]| answer[0] = (observation[80] * -64.0).clamp(-1.0, 1.0);
    let ours = Learned::new(Box::new(rule), sender.terms(), None).unwrap();
    let theirs = play(controller(&sender), 5);
    assert!(theirs == play(Box::new(ours), 5));
    let mut rates: Vec<u64> = theirs.iter().map(|limits| limits.capacity.as_bps()).collect();
    rates.dedup();
    assert!(rates.len() > 50, "{rates:?}");
}

#[test]
fn the_committed_model_is_the_rule_that_is_written_here() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/follow.onnx");
    let bytes = follow().bytes();
    if std::env::var_os("THALWEG_WRITE_MODELS").is_some() {
        std::fs::write(&path, &bytes).unwrap();
    }
    assert!(std::fs::read(&path).unwrap() == bytes, "THALWEG_WRITE_MODELS=1 writes {}", path.display());
    let sender = open(&path).unwrap();
    assert!(sender.is_machine_dependent());
    let described = sender.describe();
    assert!(described.contains("observation = \"mowgli\"\naction = \"delta\"\ninterval = \"50ms\""), "{described}");
    let hash = described.lines().next().and_then(|line| line.strip_prefix("onnx_sha256 = \"")).unwrap();
    assert!(hash.len() == 65 && described.contains("machine_dependent = true"), "{described}");
}

#[test]
fn the_policy_that_was_trained_here_is_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/training/policy.onnx");
    let terms = open(&path).unwrap().terms();
    let wanted = (Observation::Mowgli, Action::Rate, Span::from_millis(60));
    assert_eq!((terms.observation, terms.action, terms.interval), wanted);
}

/// A model in the form of the challenge: h goes up by 1 with each answer, c by h; the answer is 100 kbit/s times h, and
/// 1. The observation is not looked at.
fn counting() -> Builder {
    Builder::new(&[])
        .input("obs", &[1, 1, 150])
        .input("hidden_states", &[1, 1])
        .input("cell_states", &[1, 1])
        .floats("one", &[1, 1], &[1.0])
        .floats("rate", &[1, 1], &[100_000.0])
        .floats("deviation", &[1, 1, 1], &[1.0])
        .integers("shape", &[1, 1, 1])
        .node("Add", &["hidden_states", "one"], "hidden_out")
        .node("Add", &["cell_states", "hidden_out"], "cell_out")
        .node("Mul", &["hidden_out", "rate"], "bandwidth")
        .node("Reshape", &["bandwidth", "shape"], "reshaped")
        .node("Concat", &["reshaped", "deviation"], "output")
        .with("axis", 2)
        .output("output", &[1, 1, 2])
        .output("hidden_out", &[1, 1])
        .output("cell_out", &[1, 1])
}

#[test]
fn a_model_of_the_challenges_form_is_given_its_states_back() {
    let sender = opened("counting", &counting()).unwrap();
    let Terms { observation, action, interval, .. } = sender.terms();
    assert_eq!((observation, action, interval), (Observation::Mmsys150, Action::Bps, Span::from_millis(60)));
    let limits = play(controller(&sender), 3);
    let kbps: Vec<u64> = limits.iter().step_by(60).map(|limits| limits.capacity.as_bps() / 1000).collect();
    assert_eq!(kbps, (1..=50).map(|answer| 100 * answer).collect::<Vec<u64>>());
    // Another run begins at the beginning.
    assert!(limits == play(controller(&sender), 3));
}

#[test]
fn metadata_chooses_other_terms_for_the_challenges_form() {
    let mut builder = counting();
    let other = Builder::new(&[("thalweg.action", "rate"), ("thalweg.interval", "100ms")]);
    builder.0.metadata_props = other.0.metadata_props;
    let sender = opened("terms", &builder).unwrap();
    assert_eq!((sender.terms().action, sender.terms().interval), (Action::Rate, Span::from_millis(100)));
}

#[test]
fn a_model_whose_answers_are_no_numbers_is_led_by_gcc() {
    // The logarithm of a number below 0.
    let builder = Builder::new(&KEYS)
        .input("observation", &[1, 180])
        .floats("weights", &[180, 1], &[0.0; 180])
        .floats("offset", &[1], &[-1.0])
        .node("Gemm", &["observation", "weights", "offset"], "sum")
        .node("Log", &["sum"], "action")
        .output("action", &[1, 1]);
    let mut controller = controller(&opened("nan", &builder).unwrap());
    controller.on_timeout(Time::ZERO);
    let change = controller.poll_decision().unwrap();
    assert_eq!((change.what, change.why), ("gcc leads", "the policy's answer is not finite"));
}

#[test]
fn what_is_no_policy_is_refused_with_a_sentence_that_names_the_cause() {
    let missing = open(Path::new("/nowhere/policy.onnx")).unwrap_err();
    assert!(missing.starts_with("onnx:/nowhere/policy.onnx: cannot be read: "), "{missing}");

    let garbage = written("garbage", b"no model at all, but a text");
    let refused = open(&garbage).unwrap_err();
    std::fs::remove_file(garbage).unwrap();
    assert!(refused.contains("expected an ONNX model"), "{refused}");

    let plain = |keys: &[(&str, &str)]| {
        let linear = linear(&[], 0.0);
        Builder(tract_onnx::pb::ModelProto { metadata_props: Builder::new(keys).0.metadata_props, ..linear.0 })
    };
    let of_size = |inputs: &[i64]| {
        let mut builder = linear(&[], 0.0);
        let graph = builder.0.graph.as_mut().unwrap();
        graph.input = Builder::new(&[]).input("observation", inputs).0.graph.unwrap().input;
        builder
    };
    let mut three = linear(&[], 0.0).floats("three", &[180, 3], &[0.0; 540]);
    three.0.graph.as_mut().unwrap().node[0].input[1] = "three".into();
    let mut states = counting();
    states.0.graph.as_mut().unwrap().input[1] =
        Builder::new(&[]).input("hidden_states", &[1, 1]).0.graph.unwrap().input.remove(0);
    let states = states.floats("two", &[1, 2], &[1.0, 1.0]);
    let mut wide = states;
    wide.0.graph.as_mut().unwrap().node[1].input[1] = "two".into();
    let mut lost = linear(&[], 0.0);
    lost.0.graph.as_mut().unwrap().output[0].name = "elsewhere".into();

    let cases: [(&str, Builder, &str); 14] = [
        ("empty", Builder::new(&KEYS), "expected an ONNX model: it has no graph"),
        (
            "operation",
            linear(&[], 0.0).node("Levitate", &["sum"], "altitude"),
            "node 'the altitude' needs the operation Levitate, which the evaluator does not have",
        ),
        (
            "observation",
            plain(&[("thalweg.observation", "mmsys"), KEYS[1]]),
            "metadata 'thalweg.observation': unknown observation 'mmsys'",
        ),
        ("action", plain(&[KEYS[0], ("thalweg.action", "fly")]), "metadata 'thalweg.action': unknown action 'fly'"),
        ("interval", plain(&[KEYS[0], KEYS[1], ("thalweg.interval", "soon")]), "metadata 'thalweg.interval': "),
        ("never", plain(&[KEYS[0], KEYS[1], ("thalweg.interval", "0ms")]), "must be above 0, such as 60ms"),
        ("unsaid", plain(&[]), "metadata has no 'thalweg.observation'"),
        ("half", plain(&KEYS[..1]), "metadata has no 'thalweg.action'"),
        ("short", of_size(&[1, 150]), "input 'observation' has the shape [1, 150], must be [1, 180] for mowgli"),
        ("deep", of_size(&[1, 1, 180]), "input 'observation' has the shape [1, 1, 180], must be [1, 180] for mowgli"),
        ("inputs", linear(&[], 0.0).input("more", &[1, 1]), "inputs are observation, more; a policy has one"),
        ("three", three, "must have 1 number"),
        ("wide", wide, "state 1 comes out with the shape [1, 2], must be [1, 1]"),
        ("lost", lost, "output 'elsewhere' comes from no node"),
    ];
    for (name, builder, why) in cases {
        let refused = opened(name, &builder).unwrap_err();
        assert!(refused.contains(why), "{name}: {refused}");
    }
}

#[test]
fn damaged_files_are_refused_or_played_and_never_panic() {
    let bytes = follow().bytes();
    let path = written("damaged", &bytes);
    for place in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x55;
        std::fs::write(&path, &damaged).unwrap();
        if let Ok(sender) = open(&path) {
            controller(&sender).on_timeout(Time::ZERO);
        }
        std::fs::write(&path, &bytes[..place]).unwrap();
        assert!(open(&path).is_err(), "{place} bytes of {}", bytes.len());
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_model_of_the_size_of_the_challenges_baseline_answers_alike_twice() {
    // 150-256-256-1.
    let layer = |builder: Builder, from: (&str, i64), to: (&str, i64)| {
        let numbers: Vec<f32> = (0..from.1 * to.1).map(|place| ((place * 37 % 101) as f32 - 50.0) / 500.0).collect();
        let (weights, sum) = (format!("{} weights", to.0), format!("{} sum", to.0));
        builder.floats(&weights, &[from.1, to.1], &numbers).node("MatMul", &[from.0, &weights], &sum).node(
            "Tanh",
            &[&sum],
            to.0,
        )
    };
    let builder = Builder::new(&[("thalweg.observation", "mmsys150"), KEYS[1]]).input("observation", &[1, 150]);
    let builder = layer(builder, ("observation", 150), ("first", 256));
    let builder = layer(builder, ("first", 256), ("second", 256));
    let builder = layer(builder, ("second", 256), ("action", 1)).output("action", &[1, 1]);
    let sender = opened("large", &builder).unwrap();
    assert!(play(controller(&sender), 3) == play(controller(&sender), 3));
}
