//! Options and fields that are obeyed, refused or noted: what each option of `compare`, `run` and `sweep`, and each field of a scenario, does
//! with the schemes and encoders named beside it. Each row is proved by runs of two seconds with it and without.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Output;

use serde_json::{Map, Value};

use crate::{Folder, json, text, thalweg};

/// Effect of a setting.
#[derive(Debug, Clone, Copy)]
enum Does {
    /// Every run differs from that without it.
    Obeyed,
    /// Every run is as without it, and a note names it.
    Noted,
    /// Every run differs, and a note names what is not obeyed of it.
    Partly,
    /// It is refused with these words.
    Refused(&'static [&'static str]),
    /// Every run is as without it, which is what it means.
    Nothing,
    /// The runs are as without it, and what is printed differs.
    Shown,
}
use Does::{Noted, Nothing, Obeyed, Partly, Refused, Shown};

/// The settings without which nothing is played briefly; a row may have its own.
const USUAL: [&str; 5] = ["--scheme gcc", "--encoder model", "--rate 1Mbps", "--duration 2s", "--size 320x180"];

/// Schemes of each kind: a rate, a window, bursts, groups of frames, sizes of frames.
const EACH: &str = "--scheme gcc,nada,copa,vidaptive,camel,rebera,salsify,thalweg";
/// The functional codec, whose pictures take the longest, and which is to feel its rate.
const SMALL: &str = "--encoder functional --size 128x72 --rate 150kbps";
const LATE: &str = "--scheme gcc,nada";
const MODEL: &[&str] = &["has no effect", "the encoder model", "leave it out, or take a real encoder, such as vp8"];
const QUANTISER: &[&str] = &["--undershoot 0.6 has no effect", "quantiser", "leave it out"];

/// A setting, what stands beside it, and what it does.
#[rustfmt::skip]
const TABLE: &[(&str, &str, Does)] = &[
    ("--scheme copa", "", Obeyed),
    ("--duration 1500ms", "", Obeyed),
    ("--feedback ccfb", "--scheme gcc,salsify,thalweg", Obeyed),
    ("--feedback twcc", "--scheme fbra:xr", Obeyed),
    ("--feedback twcc", "--scheme fbra:xr-random", Refused(&["feedback is twcc for fbra:xr-random", "extended"])),
    ("--feedback twcc", "--scheme gcc+l4s", Refused(&["feedback is twcc for gcc+l4s", "ccfb"])),
    ("--trace 2Mbps", "", Obeyed),
    ("--rate 200kbps", "", Obeyed),
    ("--then 200kbps", "", Obeyed),
    ("--reverse 20kbps", "", Obeyed),
    ("--delay 80ms", EACH, Obeyed),
    ("--delay 80ms", "--scheme bound:omniscient", Obeyed),
    ("--loss 5%", EACH, Obeyed),
    ("--loss 5%", "--scheme bound:omniscient", Refused(&["bound:omniscient", "leave out loss"])),
    ("--jitter 20ms", EACH, Obeyed),
    ("--queue 3kB", "--rate 200kbps", Obeyed),
    ("--queue 3kB", "--scheme bound:omniscient", Refused(&["--queue 3kB has no effect", "leave it out"])),
    ("--aqm codel", "--rate 100kbps", Obeyed),
    ("--aqm drop-head", "", Refused(&["--queue"])),
    ("--video scene:easy", "", Refused(MODEL)),
    ("--video CLIP", "", Refused(MODEL)),
    ("--video scene:easy", "--encoder vp8", Obeyed),
    ("--video scene:easy", "--encoder h264", Obeyed),
    ("--video CLIP", "--encoder functional --scheme salsify", Obeyed),
    ("--size 160x90", EACH, Obeyed),
    ("--size 160x90", "--encoder vp8 --video CLIP", Obeyed),
    ("--frame-rate 15", EACH, Obeyed),
    ("--frame-rate 15", "--encoder functional --video CLIP", Obeyed),
    ("--encoder functional", "", Obeyed),
    ("--encoder vp8", "--scheme salsify", Refused(&["--encoder vp8 has no effect", "plays functional", "leave it out"])),
    ("--encoder vp8", "--scheme gcc,salsify", Obeyed),
    ("--undershoot 0.6", "--scheme gcc,copa,rebera,thalweg,vidaptive+functional,salsify:conventional-codec", Obeyed),
    ("--undershoot 0.6", "--scheme gcc --encoder vp8", Obeyed),
    ("--undershoot 0.6", "--scheme gcc --encoder h264", Obeyed),
    ("--undershoot 0.6", "--scheme thalweg SMALL", Obeyed),
    ("--undershoot 0.6", "--scheme salsify", Refused(QUANTISER)),
    ("--undershoot 0.6", "--scheme salsify,salsify:conventional-transport-and-codec SMALL", Refused(QUANTISER)),
    ("--undershoot 0.6", "--scheme bound:omniscient", Refused(&["--undershoot 0.6 has no effect", "leave it out"])),
    ("--encode-time 50ms", EACH, Obeyed),
    ("--ssim daala", "", Refused(&["--ssim daala has no effect", "compares pixels", "such as vp8"])),
    ("--ssim daala", "--encoder vp8", Obeyed),
    ("--vmaf", "", Refused(&["vmaf compares pixels", "--encoder vp8"])),
    ("--ms-ssim", "", Refused(&["ms_ssim compares pixels", "--encoder vp8"])),
    ("--ms-ssim", "--encoder vp8", Obeyed),
    ("--seed 2", EACH, Obeyed),
    ("--runs 2", "", Obeyed),
    ("--contestant a=false", "", Refused(&["contestant a"])),
    ("--jobs 1", "", Nothing),
    ("--quiet", "", Nothing),
    ("--resume", "", Nothing),
    ("--out OUT", "", Nothing),
    ("--json", "", Shown),
    ("--csv", "", Shown),
    ("--markdown", "", Shown),
    ("--columns video", "", Shown),
    ("--columns video", "--csv", Shown),
    ("--columns video", "--json", Refused(&["--columns", "cannot be used with", "--json"])),
    ("--sort p95", "--scheme salsify,gcc", Shown),
    ("--sort video", "--csv", Refused(&["--sort", "cannot be used with", "--csv"])),
    ("--fail-if stall_ratio>=2", "", Refused(&["--fail-if"])),
    ("--fail-if video_bitrate_bps>1", "", Refused(&["--fail-if holds"])),
    ("--junit OUT/junit.xml", "", Refused(&["--fail-if"])),
    ("--live", "--scheme salsify:paper", Refused(&["salsify", "stateful receiver", "salsify:standard-decoder"])),
    ("--live", "--scheme bound:omniscient", Refused(&["bound:omniscient", "without --live"])),
    ("--live", "--jobs 1", Refused(&["--live", "cannot be used with", "--jobs"])),
    ("--against-simulator", "", Refused(&["--live"])),
    // Of a grid of two runs, which were played before, and one of which failed.
    ("--shard 1/2", "", Obeyed),
    ("--shard 2/2", "", Refused(&["'2/2'", "0/2 to 1/2"])),
    ("--retry-failed", "", Obeyed),
    ("--set scheme.controller.copa.delta=0.1", "--scheme copa", Obeyed),
    ("--set scheme.controller.copa.delta=0.1", "", Refused(&["unknown parameter", "copa.delta"])),
    // Fields of a scenario that no option sets. The receiver, and what it says:
    ("--set scenario.playout={}", EACH, Obeyed),
    ("--set scenario.playout.min=100ms", "", Obeyed),
    ("--set scenario.playout=none", "", Nothing),
    ("--set scenario.playout.mni=100ms", "", Refused(&["scenario.playout.mni"])),
    ("--set scenario.playuot=none", "", Refused(&["unknown parameter", "scenario.playuot"])),
    ("--set scenario.discard_after=20ms", EACH, Obeyed),
    ("--set scenario.call=true", "--loss 5%", Obeyed),
    ("--set scenario.in_order=true", "--scheme thalweg:standard-decoder --loss 5%", Obeyed),
    ("--set scenario.in_order=true", "", Noted),
    ("--set scenario.clock_offset=0ms", EACH, Nothing),
    ("--set scenario.clock_drift_ppm=20000", "--scheme gcc,nada,camel,thalweg", Obeyed),
    ("--set scenario.clock_drift_ppm=60000", "", Refused(&["60000", "-50000 to 50000"])),
    ("--set scenario.request_feedback_every=10ms", "--scheme camel", Obeyed),
    ("--set scenario.request_feedback_every=10ms", "", Noted),
    // Limits: of a receiver, of an application.
    ("--set scenario.changes=[{at='1s',what={receiver-limit={rate='100kbps'}}}]", EACH, Obeyed),
    ("--set scenario.changes=[{at='1s',what={receiver-limit={rate='0bps'}}}]", "", Refused(&["limit at 1s is 0", "pauses"])),
    ("--set scenario.changes=[{at='1s',what={bounds={min='0bps',max='100kbps'}}}]", EACH, Obeyed),
    ("--set scenario.changes=[{at='1s',what={bounds={min='900kbps',max='100Mbps'}}}]", "--rate 300kbps", Obeyed),
    ("--set scenario.changes=[{at='1s',what={bounds={min='50kbps',max='100kbps'}}}]", "--scheme nada,copa,salsify", Partly),
    ("--set scenario.changes=[{at='2s',what={receiver-limit={rate='100kbps'}}}]", LATE, Noted),
    // Times.
    ("--set scenario.from=500ms", EACH, Obeyed),
    ("--set scenario.until=1s", EACH, Obeyed),
    ("--set scenario.from=2s", "", Refused(&["2s", "must begin before"])),
    ("--set scenario.pauses=[{from='500ms',until='1s'}]", EACH, Obeyed),
    ("--set scenario.pauses=[{from='2s',until='3s'}]", LATE, Noted),
    ("--set scenario.pauses=[{from='500ms',until='1s',what='camera'}]", EACH, Obeyed),
    ("--set scenario.pauses=[{from='500ms',until='1s',what='microphone'}]", LATE, Noted),
    ("--set scenario.pauses=[{from='500ms',until='1s',what='microphone'}]", "--set scenario.audio={}", Obeyed),
    // Others, and other ways.
    ("--set scenario.audio={}", EACH, Obeyed),
    ("--set scenario.audio.interval=10ms", "", Obeyed),
    ("--set scenario.competitors=[{datagrams={rate='800kbps'}}]", EACH, Obeyed),
    ("--set scenario.competitors=[{datagrams={rate='800kbps',from='2s'}}]", LATE, Noted),
    ("--set scenario.links=[{name='w',hops=[]}]", LATE, Noted),
    ("--set scenario.media=[{name='air',medium={wifi={}}}]", LATE, Noted),
    ("--set scenario.routes=[{flow=0,forward=['reverse'],reverse=['reverse']}]", EACH, Obeyed),
    // Codecs.
    ("--set scenario.codec_time.encode_ns_per_pixel=500.0", "", Obeyed),
    ("--set scenario.codec.vp8.max_quantizer=20", "--encoder vp8", Obeyed),
    ("--set scenario.codec.vp8.cpu_used=-12", "--encoder vp8", Obeyed),
    ("--set scenario.codec.vp9.max_quantizer=20", "--encoder vp9", Obeyed),
    ("--set scenario.codec.h264.min_quantizer=40", "--encoder h264", Obeyed),
    ("--set scenario.codec.functional.preset=fast", "SMALL --scheme gcc,salsify,thalweg", Obeyed),
    ("--set scenario.codec.functional.rate_window=1s", "SMALL", Obeyed),
    ("--set scenario.codec.functional.rate_window=1s", "SMALL --scheme salsify,thalweg", Noted),
    ("--set scenario.codec.functional.keyframe_percent=200", "SMALL", Obeyed),
    ("--set scenario.codec.functional.keyframe_percent=200", "SMALL --scheme salsify,thalweg", Noted),
    ("--set scenario.codec.functional.min_quantizer=60", "SMALL --scheme gcc,thalweg", Obeyed),
    ("--set scenario.codec.functional.min_quantizer=60", "SMALL --scheme salsify", Noted),
    ("--set scenario.codec.model.content=talking-head", EACH, Obeyed),
    ("--set scenario.codec.model.lag=paper", "", Obeyed),
    ("--set scenario.codec.model.lag=paper", "--scheme salsify,thalweg", Noted),
    // The same as by an option, but one of a file: noted, not refused.
    ("--set scenario.video.source=scene:easy", EACH, Noted),
    ("--set scenario.undershoot='0.6'", "--scheme salsify", Noted),
    ("--set scenario.ssim=daala", "", Noted),
    ("--set scenario.measure_quality=false", EACH, Obeyed),
    ("--set scenario.ms_ssim=true", "", Refused(&["ms_ssim compares pixels"])),
    ("--set scenario.vmaf=true", "", Refused(&["vmaf compares pixels"])),
];

/// Two runs, of which the second fails: H.264 has no temporal layers here.
const GRID: &str = r#"
[scenario]
name = "grid"
duration = "2s"
video = { source = "scene", size = "320x180", frame_rate = 30 }
codec = { h264 = {} }
[[scenario.forward.hops]]
rate = { rate = "1Mbps", queue = "infinite" }
[[scenario.reverse.hops]]
delay = { delay = "25ms" }

[[axes]]
field = "scheme"
values = ["gcc", "rebera"]
"#;

/// Fields of a scenario that options set.
const BY_OPTION: [&str; 9] =
    ["name", "duration", "seed", "video", "codec", "undershoot", "forward", "reverse", "feedback"];

/// The options of a command, without those of every command.
fn options(command: &str) -> BTreeSet<String> {
    let help = text(&thalweg(&[command, "-h"]).stdout);
    let words = help.lines().filter(|line| line.trim_start().starts_with('-'));
    let long = words.filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")));
    long.map(|word| word.trim_end_matches(',').to_string())
        .filter(|word| word != "--help" && !word.ends_with(']'))
        .collect()
}

/// A command line of the usual settings, of those that replace them and of others.
fn line(command: &[&str], known: &BTreeSet<String>, settings: &[&str], form: &str, out: &str) -> Vec<String> {
    let option = |setting: &str| setting.split(' ').next().unwrap_or_default().to_string();
    let mut all: Vec<String> = settings.iter().flat_map(|setting| split(setting)).collect();
    let given: BTreeSet<String> = all.iter().map(|setting| option(setting)).collect();
    let replaced =
        |usual: &str| given.contains(&option(usual)) || usual.contains("--rate") && given.contains("--trace");
    let usual = USUAL.iter().filter(|usual| !replaced(usual) && known.contains(&option(usual)));
    all.splice(0..0, usual.map(ToString::to_string));
    if !given.contains("--out") {
        all.push(format!("--out {out}"));
    }
    if !["--json", "--csv", "--markdown"].iter().any(|form| given.contains(*form)) {
        all.push(form.into());
    }
    let words = all.iter().flat_map(|setting| setting.splitn(2, ' ')).filter(|word| !word.is_empty());
    command.iter().copied().chain(words).map(ToString::to_string).collect()
}

/// Settings, each an option with its value.
fn split(settings: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for word in settings.split(' ').filter(|word| !word.is_empty()) {
        match all.last_mut() {
            Some(last) if !word.starts_with("--") => *last += &format!(" {word}"),
            _ => all.push(word.into()),
        }
    }
    all
}

/// The runs that were printed, without what is no result, and the notes on each; of a sweep its counts, as one run.
fn runs(printed: &Value) -> (Vec<Map<String, Value>>, Vec<String>) {
    let all = printed["runs"].as_array().map_or(std::slice::from_ref(printed), Vec::as_slice);
    let mut runs: Vec<_> = all.iter().map(|run| run.as_object().unwrap().clone()).collect();
    let notes =
        runs.iter_mut().map(|run| run.remove("notes").map_or(String::new(), |notes| notes.to_string())).collect();
    for run in &mut runs {
        // A bound is not defined for every scenario.
        for key in ["speed_x", "codec", "video", "ssim_variant", "bound_share"] {
            run.remove(key);
        }
    }
    (runs, notes)
}

/// A command with its options, and what it printed without the settings of rows, by what stands beside them.
struct Played<'a> {
    command: &'a [&'a str],
    known: BTreeSet<String>,
    folder: &'a Folder,
    without: BTreeMap<(String, bool), Output>,
}

impl Played<'_> {
    fn play(&self, settings: &[&str], form: &str) -> Output {
        let out = self.folder.0.join("out").display().to_string();
        let line = line(self.command, &self.known, settings, form, &out);
        thalweg(&line.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Plays a row, and says what is wrong with it.
    fn check(&mut self, (setting, beside, does): (&str, &str, Does)) -> Result<(), String> {
        if setting == "--live" && !cfg!(all(feature = "live", target_os = "linux")) {
            return Ok(());
        }
        let [clip, out] = ["clip.y4m", "out"].map(|name| self.folder.0.join(name).display().to_string());
        let [setting, beside] =
            [setting, beside].map(|text| text.replace("CLIP", &clip).replace("SMALL", SMALL).replace("OUT", &out));
        let shown = matches!(does, Shown);
        let form = if shown { "" } else { "--json" };
        let with = self.play(&[&beside, &setting], form);
        let said = text(&with.stderr);
        if let Refused(words) = does {
            let missing: Vec<_> = words.iter().filter(|word| !said.contains(*word)).collect();
            let refused = !with.status.success() && missing.is_empty();
            return if refused { Ok(()) } else { Err(format!("not refused with {missing:?}: {said}")) };
        }
        let key = (beside.clone(), shown);
        if !self.without.contains_key(&key) {
            self.without.insert(key.clone(), self.play(&[&beside], form));
        }
        let without = &self.without[&key];
        if let Some(failed) = [&with, without].into_iter().find(|done| !done.status.success()) {
            return Err(text(&failed.stderr));
        }
        if shown {
            return if with.stdout == without.stdout { Err("nothing else is printed".into()) } else { Ok(()) };
        }
        let ((with, notes), (without, _)) = (runs(&json(&with)), runs(&json(without)));
        // What is about nothing that happened is not compared where nothing should have happened.
        let results = ["events_fingerprint", "psnr_db", "ssim_db", "latency_p95_ms", "jobs", "played", "failed"];
        let alike = |with: &Map<String, Value>, without: &Map<String, Value>| match does {
            Noted | Nothing => results.iter().all(|key| with.get(*key) == without.get(*key)),
            _ => with == without,
        };
        let same: Vec<bool> = with.iter().zip(&without).map(|(with, without)| alike(with, without)).collect();
        let schemes: Vec<_> = with.iter().map(|run| run.get("scheme")).collect();
        let path = setting.split(['=', ' ']).nth(1).unwrap_or_default().trim_start_matches("scenario.");
        let is_named = |note: &String| note.contains(path) && note.contains("has no effect");
        match does {
            // A seed more is a run more.
            Obeyed | Partly if with.len() == without.len() && same.contains(&true) => {
                Err(format!("as without it: {same:?} of {schemes:?}"))
            }
            Noted | Nothing if same.contains(&false) => Err(format!("not as without it: {same:?} of {schemes:?}")),
            Noted | Partly if !notes.iter().all(is_named) => Err(format!("not noted as {path}: {notes:?}")),
            _ => Ok(()),
        }
    }
}

/// The options of settings.
fn named(settings: &str) -> Vec<String> {
    split(settings).iter().filter_map(|setting| setting.split(' ').next().map(String::from)).collect()
}

// Takes 20 s: two hundred commands, one after another, which move each other's results away.
#[test]
fn every_option_and_every_field_is_obeyed_refused_or_noted() {
    let folder = Folder::new("options");
    std::fs::write(folder.0.join("clip.y4m"), crate::input::clip()).unwrap();
    let step = include_str!("../../../../examples/step.toml");
    let scenario = folder.file("scenario.toml", &step.replace("2Mbps/500kbps@40s", "1Mbps"));
    let grid = folder.file("grid.toml", GRID);
    let commands: [&[&str]; 3] = [&["compare"], &["run", &scenario], &["sweep", &grid]];
    let (mut wrong, mut done) = (Vec::new(), BTreeSet::new());
    for command in commands {
        let known = options(command[0]);
        let mut played = Played { command, known: known.clone(), folder: &folder, without: BTreeMap::new() };
        if command[0] == "sweep" {
            played.play(&[], "--json");
        }
        let mut missing = known.clone();
        for row @ (setting, beside, does) in TABLE {
            let options: Vec<String> =
                named(setting).into_iter().chain(named(&beside.replace("SMALL", SMALL))).collect();
            // A row that one command has done, another does once for each option.
            let is_new = missing.contains(&options[0]) || !done.contains(setting);
            if !is_new || !options.iter().all(|option| known.contains(option)) {
                continue;
            }
            missing.remove(&options[0]);
            if let Err(problem) = played.check(*row) {
                wrong.push(format!("{} {setting} [{beside}] is not {does:?}: {problem}", command[0]));
            }
        }
        wrong.extend(missing.iter().map(|option| format!("{} {option}: no row says what it does", command[0])));
        let has = |setting: &&str| named(setting).iter().all(|option| known.contains(option));
        done.extend(TABLE.iter().map(|(setting, ..)| *setting).filter(has));
    }
    wrong.extend(TABLE.iter().filter(|row| !done.contains(row.0)).map(|row| format!("{}: no command has it", row.0)));
    let schema: Value = serde_json::from_slice(&thalweg(&["scenario", "schema"]).stdout).unwrap();
    for field in schema["$defs"]["Scenario"]["properties"].as_object().unwrap().keys() {
        let is_there = TABLE.iter().any(|(setting, ..)| {
            setting.strip_prefix(&format!("--set scenario.{field}")).is_some_and(|rest| rest.starts_with(['.', '=']))
        });
        if !is_there && !BY_OPTION.contains(&field.as_str()) {
            wrong.push(format!("scenario.{field}: no row says what it does"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
