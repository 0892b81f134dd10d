//! Every command of README.md and of the book's pages for readers, run as printed, or as `documented.toml` shortens it.

#![allow(clippy::disallowed_methods, reason = "people want to know how long each took")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde::Deserialize;

use crate::input::clip;
use crate::{Folder, text, thalweg};

const PAGES: [&str; 20] = [
    "README.md",
    "docs/bench/README.md",
    "docs/bounds.md",
    "docs/citing.md",
    "docs/commands.md",
    "docs/faq.md",
    "docs/hunt.md",
    "docs/learning.md",
    "docs/python.md",
    "docs/receive.md",
    "docs/relay.md",
    "docs/sweeps.md",
    "docs/traces.md",
    "docs/tutorials/controller.md",
    "docs/tutorials/embed.md",
    "docs/tutorials/estimator.md",
    "docs/tutorials/link.md",
    "docs/tutorials/papers.md",
    "docs/tutorials/product.md",
    "docs/tuning/README.md",
];

#[derive(Deserialize)]
struct Table {
    short: Vec<Short>,
}

/// How to run a command that would take too long, or that needs what a test does not have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Short {
    /// The command as printed, without its comment.
    line: String,
    /// Options added at its end.
    #[serde(default)]
    append: String,
    /// Parts of the command, each with its replacement.
    #[serde(default)]
    replace: Vec<(String, String)>,
    /// A command that runs at the same time.
    #[serde(default)]
    beside: String,
    /// The file that tests the command instead of this one.
    elsewhere: Option<PathBuf>,
    why: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn table() -> BTreeMap<String, Short> {
    let table: Table = toml::from_str(include_str!("documented.toml")).unwrap();
    table.short.into_iter().map(|short| (short.line.clone(), short)).collect()
}

/// The commands of all pages, without duplicates.
fn commands() -> Vec<String> {
    let mut commands = Vec::new();
    for page in PAGES {
        let page = fs::read_to_string(root().join(page)).unwrap();
        for block in page.split("```sh\n").skip(1) {
            let block = block.split("```").next().unwrap_or_default();
            let printed = block.lines().map(|line| line.split("  #").next().unwrap_or_default().trim().to_string());
            commands.extend(printed.filter(|line| !line.is_empty()));
        }
    }
    commands.sort();
    commands.dedup();
    commands
}

/// A capture of 4 s of 3 Mbps, raw IP: 1500 bytes of UDP each 4 ms, of which the headers were kept.
fn capture() -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut file = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 101]);
    for number in 0..1000 {
        file.extend(words(&[number / 250, number % 250 * 4000, 28, 1500]));
        file.extend([0x45, 0, 0x05, 0xdc, 0, 0, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
        file.extend([0x13, 0x88, 0x17, 0x70, 0x05, 0xc8, 0, 0]);
    }
    file
}

/// Prepares the folder that commands run in: files with the names that the pages use, and stand-ins for programs that
/// may be missing.
fn stand_ins(folder: &Path) {
    let write = |name: &str, content: &[u8]| fs::write(folder.join(name), content).unwrap();
    write("clip.y4m", &clip());
    write("in.mp4", b"what the stand-in of ffmpeg reads");
    // 3 and 2 Mbps.
    let trace = |gap: u32| (1..=500).map(|line| format!("{}\n", line * gap)).collect::<String>();
    for (name, gap) in [("up.trace", 4), ("down.trace", 6), ("back.trace", 6)] {
        write(name, trace(gap).as_bytes());
    }
    let page = fs::read_to_string(root().join("docs/tutorials/estimator.md")).unwrap();
    let script = page.split("```python\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    write("mine.py", script.as_bytes());
    write("rates.txt", b"2000\n3000\n1000\n");
    let drive = |row: u32| format!("{}.5 {}\n", row, 2 + row % 3);
    write("drive.txt", (0..200).map(drive).collect::<String>().as_bytes());
    let log = |row: u32| format!("{}.5 {}\n", row, 2000 + row % 3);
    write("log.txt", (0..200).map(log).collect::<String>().as_bytes());
    write("verdicts.txt", b"5.1 gcc = any\n");
    let row = |second: u32| format!("2019.12.16_13.40.{second:02},5G,{},{}\n", 3000 + second * 100, 900 - second * 10);
    write(
        "5g.csv",
        ("Timestamp,NetworkMode,DL_bitrate,UL_bitrate\n".to_string() + &(0..20).map(row).collect::<String>())
            .as_bytes(),
    );
    write("call.pcap", &capture());
    fs::create_dir_all(folder.join("traces")).unwrap();
    for name in ["traces/car.up", "traces/car.down"] {
        write(name, trace(5).as_bytes());
    }
    // The recorded links of a figure that names them.
    fs::create_dir_all(folder.join("recordings")).unwrap();
    for link in ["ATT-LTE-driving", "TMobile-LTE-short", "Verizon-LTE-short", "ATT-LTE-driving-2016"] {
        for way in ["up", "down"] {
            write(&format!("recordings/{link}.{way}"), trace(5).as_bytes());
        }
    }
    symlink(root().join("examples").canonicalize().unwrap(), folder.join("examples")).unwrap();
    fs::create_dir_all(folder.join("bin")).unwrap();
    symlink(env!("CARGO_BIN_EXE_thalweg"), folder.join("bin/thalweg")).unwrap();
    let clip = folder.join("clip.y4m").display().to_string();
    for (name, script) in [
        // No camera, and ffmpeg need not be installed.
        ("ffmpeg", format!("exec cat {clip}")),
        // Root needs no sudo to make a network namespace; without root the command reports the failure.
        ("sudo", "exec \"$@\"".into()),
        // No network.
        ("curl", "echo \"what is at $1\"".into()),
    ] {
        let path = folder.join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let at = |name: &str| folder.join(name).display().to_string();
    for made in [
        &["codec", "encode", &at("clip.y4m"), "--rate", "300kbps", "-o", &at("clip.ivf")][..],
        &["compare", "--scheme", "gcc,vidaptive", "--encoder", "model", "--duration", "15s", "--out", &at("out")],
    ] {
        let done = thalweg(made);
        assert!(done.status.success(), "{made:?}: {}", text(&done.stderr));
    }
}

/// Runs a command in this folder; the error says what is wrong.
fn run(folder: &Path, printed: &str, short: Option<&Short>) -> Result<(), String> {
    let mut command = printed.to_string();
    if let Some(Short { append, replace, beside, .. }) = short {
        for (part, by) in replace {
            if !command.contains(part) {
                return Err(format!("'{printed}' has no '{part}' to replace"));
            }
            command = command.replace(part, by);
        }
        command = format!("{command} {append}");
        if !beside.is_empty() {
            command = format!("{beside} & sleep 1; {command}; status=$?; wait; exit $status");
        }
    }
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let done = Command::new("sh").arg("-c").arg(&command).current_dir(folder).env("PATH", path).output().unwrap();
    let errors = text(&done.stderr);
    let cannot = ["needs root", "/dev/net/tun", "network namespace"].iter().any(|what| errors.contains(what));
    if printed.starts_with("sudo ") && cannot {
        println!("skipped: {printed}: {errors}");
        return Ok(());
    }
    if done.status.success() { Ok(()) } else { Err(format!("{command}\n{} {errors}", done.status)) }
}

#[test]
fn every_command_of_the_readme_and_of_the_book_works() {
    let folder = Folder::new("documented");
    let things = folder.0.join("things");
    fs::create_dir_all(&things).unwrap();
    stand_ins(&things);
    let table = table();
    let waiting = Mutex::new(commands().into_iter().enumerate().collect::<Vec<_>>());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((number, printed)) = { waiting.lock().unwrap().pop() } {
                    let short = table.get(&printed);
                    if short.is_some_and(|short| short.elsewhere.is_some()) {
                        continue;
                    }
                    let begun = std::time::Instant::now();
                    // Each command has its own folder, so that its files do not affect the others.
                    let own = folder.0.join(number.to_string());
                    assert!(Command::new("cp").arg("-a").args([&things, &own]).status().unwrap().success());
                    if let Err(error) = run(&own, &printed, short) {
                        wrong.lock().unwrap().push(error);
                    }
                    println!("{:5.1} s  {printed}", begun.elapsed().as_secs_f64());
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A tutorial that is not in the list would not be run.
#[test]
fn every_tutorial_is_run() {
    for tutorial in fs::read_dir(root().join("docs/tutorials")).unwrap() {
        let name = format!("docs/tutorials/{}", tutorial.unwrap().file_name().display());
        assert!(PAGES.contains(&name.as_str()), "{name}");
    }
}

#[test]
fn every_short_form_is_of_a_command_that_is_printed_and_says_why() {
    let commands = commands();
    for (line, short) in table() {
        assert!(commands.contains(&line), "documented.toml has '{line}', which no page has");
        assert!(short.why.len() > 10, "{line}: why?");
        if let Some(file) = short.elsewhere {
            assert!(root().join(&file).exists(), "{line}: there is no {}", file.display());
        }
    }
}
