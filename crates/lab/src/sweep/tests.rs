//! From the text of a grid to its table.

use std::path::PathBuf;
use std::sync::Arc;

use thalweg_netsim::Trace;
use thalweg_sender::Registry;

use super::*;
use crate::bound::Curves;
use crate::inputs::{Kind, names};
use crate::metrics::FIGURES;
use crate::run_folder::Input;
use crate::scenario::Scenario;
use crate::{simulate, unattended};

pub(super) const GRID: &str = r#"
[scenario]
name = "step"
duration = "2s"
video = { source = "scene", size = "320x180", frame_rate = 30 }
codec = { model = {} }
[[scenario.forward.hops]]
bottleneck = { trace = "2Mbps", queue = { drop-tail = { bytes = "100kB" } } }
[[scenario.forward.hops]]
delay = { delay = "25ms" }
[[scenario.reverse.hops]]
delay = { delay = "25ms" }

[[axes]]
field = "scheme"
values = ["gcc", "copa"]

[[axes]]
name = "delay"
field = ["forward.hops.1.delay.delay", "reverse.hops.0.delay.delay"]
values = ["10ms", "50ms"]

[[axes]]
field = "seed"
values = "1..2"

[[skip]]
scheme = "copa"
delay = "50ms"
"#;

/// Links by name alone, and files that have the content of their names.
struct Named;

impl Files for Named {
    fn inputs(&self, scenario: &Scenario) -> Result<Vec<Input>, String> {
        let mut scenario = scenario.clone();
        let traces =
            names(&mut scenario).into_iter().filter(|(kind, name)| *kind == Kind::Trace && name.contains(".up"));
        let input = |(_, name): (Kind, &mut String)| {
            let content = name.rsplit('/').next().unwrap_or_default()[..1].to_string();
            Input { path: name.clone().into(), name: name.clone(), copy: None, sha256: content }
        };
        Ok(traces.map(input).collect())
    }

    fn trace(&self, name: &str, scenario: &Scenario) -> Result<Arc<Trace>, String> {
        let name = if name.contains(".up") { "1Mbps" } else { name };
        Trace::named(name, scenario.duration, scenario.seed).map(Arc::new).map_err(|error| error.to_string())
    }
}

fn sweep(text: &str) -> Result<Sweep, String> {
    let grid = Grid::read(text).map_err(|error| error.to_string())?;
    grid.expand(&Registry::new(), &Named).map_err(|error| error.to_string())
}

fn with(from: &str, to: &str) -> String {
    assert!(GRID.contains(from), "{from}");
    GRID.replace(from, to)
}

fn play(sweep: &Sweep, job: u32) -> Row {
    let job = sweep.job(job, &Registry::new(), &Named).unwrap();
    // As on another machine.
    let job: Job = serde_json::from_str(&serde_json::to_string(&job).unwrap()).unwrap();
    job.play(&Registry::new(), &Named, &Curves::new(), &mut unattended).unwrap()
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        Folder(std::env::temp_dir().join(format!("thalweg-sweep-{name}-{}", std::process::id())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn jobs_are_the_combinations_in_the_order_of_the_axes_without_what_is_skipped() {
    let sweep = sweep(GRID).unwrap();
    let rows = (0..sweep.len()).map(|job| {
        let (scenario, sender) = sweep.job(job, &Registry::new(), &Named).unwrap().read(&Registry::new()).unwrap();
        let delays = [&scenario.forward.hops[1], &scenario.reverse.hops[0]];
        assert_eq!(format!("{:?}", delays[0]), format!("{:?}", delays[1]));
        (sender.name().to_string(), sweep.cells(job)[0].1.to_string(), scenario.seed.get())
    });
    let wanted = [
        ("gcc", "10ms", 1),
        ("gcc", "10ms", 2),
        ("gcc", "50ms", 1),
        ("gcc", "50ms", 2),
        ("copa", "10ms", 1),
        ("copa", "10ms", 2),
    ];
    assert_eq!(rows.collect::<Vec<_>>(), wanted.map(|(scheme, delay, seed)| (scheme.into(), delay.into(), seed)));
}

#[test]
fn a_grid_in_json_is_the_same_sweep() {
    let text = serde_json::to_string(&Grid::read(GRID).unwrap()).unwrap();
    let read: Grid = serde_json::from_str(&text).unwrap();
    assert_eq!(read.expand(&Registry::new(), &Named).unwrap().key(), sweep(GRID).unwrap().key());
    let refused = serde_json::from_str::<Grid>(&text.replace("\"axes\"", "\"axis\"")).unwrap_err().to_string();
    assert!(refused.contains("unknown field `axis`"), "{refused}");
}

#[test]
fn a_row_has_the_figures_of_the_run_that_the_laboratory_plays_otherwise() {
    let sweep = sweep(GRID).unwrap();
    let job = sweep.job(2, &Registry::new(), &Named).unwrap();
    let (scenario, sender) = job.read(&Registry::new()).unwrap();
    let mut find = |name: &str| Named.trace(name, &scenario);
    let mut run = simulate(&scenario, &*sender, &mut find, &mut unattended).unwrap();
    crate::bound::Curve::of(&scenario, &mut find).unwrap().judge(&mut run.outcome);
    let row = play(&sweep, 2);
    assert_eq!((row.fingerprint.as_str(), row.seed), (run.outcome.summary.events_fingerprint.as_str(), 1));
    assert_eq!(row.figures, Figures::of(&run.outcome.summary));
    assert!(row.figures.get("video_bitrate_bps").unwrap() > 1e5 && row.figures.get("bound_share").is_some());
    let text = serde_json::to_string(&row).unwrap();
    assert_eq!(serde_json::from_str::<Row>(&text).unwrap(), row, "{text}");
}

#[test]
fn a_key_is_of_what_is_played_and_of_the_content_of_files_but_not_of_where_they_are() {
    let keys = |text: &str| {
        let sweep = sweep(text).unwrap();
        (0..sweep.len()).map(|job| sweep.key_of(job).unwrap()).collect::<Vec<_>>()
    };
    let known = keys(GRID);
    // What is added or said in other words changes no key.
    let more = keys(&with("\"1..2\"", "[2, 1, 3]"));
    assert!(known.iter().all(|key| more.contains(key)) && more.len() == 9);
    assert_eq!(keys(&with("duration = \"2s\"", "duration = \"2000ms\"")), known);
    let other = keys(&with("\"100kB\"", "\"101kB\""));
    assert!(known.iter().all(|key| !other.contains(key)));
    let at = |place: &str| keys(&with("\"2Mbps\"", &format!("\"{place}\"")));
    assert_eq!(at("here/a.up"), at("/there/a.up"));
    assert_ne!(at("here/a.up"), at("here/b.up"));
    assert_ne!(at("here/a.up"), at("here/a.up:format=mahimahi"));
}

#[test]
fn the_table_has_the_same_bytes_in_whichever_order_and_by_however_many_shards_it_was_made() {
    let (sweep, folder) = (sweep(GRID).unwrap(), Folder::new("bytes"));
    let mut rows: Vec<Row> = (0..sweep.len()).map(|job| play(&sweep, job)).collect();
    let bytes = |name: &str, rows: Vec<Row>| std::fs::read(write_results(&folder.0.join(name), rows).unwrap()).unwrap();
    let whole = bytes("whole", rows.clone());
    assert_eq!(read_results(&folder.0.join("whole")).unwrap(), rows);
    rows.reverse();
    assert_eq!(bytes("reversed", rows.clone()), whole);
    let folders = [0, 1, 2, 3].map(|index| folder.0.join(index.to_string()));
    for (index, out) in (0..).zip(&folders) {
        let shard = Shard::new(index, 4).unwrap();
        std::fs::create_dir_all(out).unwrap();
        let own = rows.iter().filter(|row| shard.has(row.job)).cloned().collect();
        Part::new(&sweep, shard, own).write(out).unwrap();
    }
    assert_eq!(bytes("merged", merge(&folders).unwrap()), whole);

    let refused = |folders: &[PathBuf]| merge(folders).unwrap_err().to_string();
    assert!(refused(&folders[..2]).contains("2 of 4 shards missing (2/4, 3/4)"), "{}", refused(&folders[..2]));
    assert!(refused(&[folders[0].clone(), folders[0].clone()]).contains("are the same shard"));
    assert!(refused(&[folder.0.join("whole")]).contains("no shard-*.json"));
    let third = Shard::new(2, 3).unwrap();
    Part::new(&sweep, third, Vec::new()).write(&folders[1]).unwrap();
    assert!(refused(&folders).contains("one of 3 shards"), "{}", refused(&folders));
    std::fs::remove_file(folders[1].join("shard-2-of-3.json")).unwrap();
    let other = self::sweep(&with("\"50ms\"]", "\"60ms\"]").replace("delay = \"50ms\"", "delay = \"60ms\"")).unwrap();
    let first = Shard::new(0, 4).unwrap();
    Part::new(&other, first, Vec::new()).write(&folders[0]).unwrap();
    assert!(refused(&folders).contains("of different sweeps"), "{}", refused(&folders));
    Part::new(&sweep, first, Vec::new()).write(&folders[0]).unwrap();
    assert!(refused(&folders).contains("has not the rows of its shard"), "{}", refused(&folders));
    rows.push(rows[0].clone());
    let twice = write_results(&folder.0, rows).unwrap_err().to_string();
    assert!(twice.contains("has two rows"), "{twice}");
}

#[test]
fn rows_are_known_again_also_by_a_sweep_with_more_values_and_a_broken_line_is_none() {
    let (small, folder) = (sweep(GRID).unwrap(), Folder::new("parts"));
    let mut parts = Parts::open(&folder.0, Shard::WHOLE).unwrap();
    let rows: Vec<Row> = [0, 3].map(|job| play(&small, job)).to_vec();
    rows.iter().for_each(|row| parts.append(row).unwrap());
    parts.sync().unwrap();
    assert!(Parts::open(&folder.0, Shard::WHOLE).is_err(), "two processes would write one journal");
    drop(parts);
    let path = folder.0.join("parts/0-of-1.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text + "{\"job\":4,\"ke").unwrap();
    let large = sweep(&with("\"1..2\"", "\"1..3\"")).unwrap();
    let parts = Parts::open(&folder.0, Shard::new(1, 2).unwrap()).unwrap();
    let known = (0..large.len()).filter_map(|job| parts.row(large.key_of(job).unwrap(), job, large.cells(job)));
    let known: Vec<Row> = known.collect();
    assert_eq!(known.iter().map(|row| row.job).collect::<Vec<_>>(), [0, 4]);
    assert_eq!((known[1].fingerprint.clone(), known[1].seed), (rows[1].fingerprint.clone(), 2));
    std::fs::write(&path, "{}\n").unwrap();
    let broken = Parts::open(&folder.0, Shard::WHOLE).unwrap_err().to_string();
    assert!(broken.contains("line 1") && broken.contains("remove the file"), "{broken}");
}

#[test]
fn a_run_that_cannot_be_played_is_a_row_that_says_why() {
    let sweep =
        sweep(&with("[\"gcc\", \"copa\"]", "[\"gcc\", \"copa\", \"rebera\"]").replace("model = {}", "h264 = {}"));
    let row = play(&sweep.unwrap(), 6);
    assert_eq!((row.scheme.as_str(), row.status, row.fingerprint.as_str()), ("rebera", Status::Failed, ""));
    assert!(row.error.contains("temporal layers"), "{}", row.error);
    assert!((0..FIGURES.len()).all(|place| row.figures.at(place).is_none()));
}

#[test]
fn a_job_of_another_behaviour_is_refused_with_both() {
    let mut job = sweep(GRID).unwrap().job(0, &Registry::new(), &Named).unwrap();
    job.behaviour = "0123456789abcdef".into();
    let refused = job.play(&Registry::new(), &Named, &Curves::new(), &mut unattended).unwrap_err().to_string();
    let own = format!("{:016x}", crate::behaviour::BEHAVIOUR);
    assert!(refused.contains("0123456789abcdef") && refused.contains(&own), "{refused}");
}

#[test]
fn a_grid_that_cannot_be_played_is_refused_with_its_line_what_is_wrong_and_the_fix() {
    for (from, to, words) in [
        ("field = \"seed\"", "feild = \"seed\"", &["line 24", "unknown field `feild`"][..]),
        ("duration = \"2s\"", "durration = \"2s\"", &["line 4", "unknown field `durration`"]),
        ("field = \"seed\"", "field = 3", &["line 24", "a list of fields"]),
        ("\"1..2\"", "[]", &["line 23", "axis seed has no values"]),
        ("\"1..2\"", "\"2..1\"", &["line 23", "invalid seed '2..1'"]),
        ("\"1..2\"", "[1, -1]", &["line 23", "-1 is none of its values", "from 0 on"]),
        ("\"1..2\"", "[1, 1]", &["line 23", "1 is there twice"]),
        ("[\"gcc\", \"copa\"]", "\"gcc\"", &["line 14", "write a list"]),
        ("[\"gcc\", \"copa\"]", "[\"gcc\", \"copa\", \"quic\"]", &["line 14", "quic"]),
        ("field = \"scheme\"", "field = \"name\"", &["no axis of schemes", "field = \"scheme\""]),
        ("field = \"seed\"", "field = \"scheme\"", &["line 23", "scheme is varied twice"]),
        (
            "field = \"seed\"\nvalues = \"1..2\"",
            "field = \"video.sise\"\nvalues = [1]",
            &["line 23", "unknown scenario.video.sise", "scenario.video has", "size"],
        ),
        (
            "field = \"seed\"\nvalues = \"1..2\"",
            "field = \"video.size\"\nvalues = [\"big\"]",
            &["line 23", "video.size", "big"],
        ),
        (
            "field = \"seed\"\nvalues = \"1..2\"",
            "field = \"scheme.controller.copa.delta\"\nvalues = [0.5]",
            &["line 23", "gcc: unknown scheme.controller.copa.delta", "[[skip]]"],
        ),
        (
            "field = \"seed\"\nvalues = \"1..2\"",
            "field = \"vmaf\"\nvalues = [true]",
            &["column of that name", "name = "],
        ),
        ("name = \"delay\"\n", "", &["line 26", "unknown axis 'delay'"]),
        ("delay = \"50ms\"\n", "delay = \"40ms\"\n", &["line 27", "unknown value 40ms of axis 'delay'", "10ms, 50ms"]),
        ("\"10ms\", \"50ms\"", "\"50ms\", \"0.05s\"", &["are the same run", "delay = 50ms", "delay = 0.05s"]),
        ("\"2Mbps\"", "\"2Mbsp\"", &["2Mbsp"]),
        ("source = \"scene\"", "source = \"-\"", &["standard input"]),
        (
            "\"seed\"\nvalues = \"1..2\"",
            "\"trace\"\nvalues = [\"/nowhere/*.up\"]",
            &["line 23", "no file matches /nowhere/*.up"],
        ),
    ] {
        let refused = sweep(&with(from, to)).unwrap_err();
        assert!(words.iter().all(|word| refused.contains(word)), "{to}: {refused}");
    }
}

#[test]
fn a_shard_out_of_range_is_refused_with_those_that_there_are() {
    let refused = |text: &str| text.parse::<Shard>().unwrap_err();
    assert!(refused("4/4").contains("0/4 to 3/4"), "{}", refused("4/4"));
    assert!(refused("0/0").contains("0/1 is all jobs"));
    for text in ["", "1", "a/b", "-1/4", "1/4/2"] {
        assert!(refused(text).contains("0/4 to 3/4"), "{text}");
    }
    let shards = (0..3).map(|index| Shard::new(index, 3).unwrap());
    for job in 0..10 {
        assert_eq!(shards.clone().filter(|shard| shard.has(job)).count(), 1);
    }
}
