//! Metrics beside PSNR and SSIM. The ffmpeg with libvmaf comes from `.ci/tools vmaf`; where it cannot be had the test says
//! so, and fails if it is required (`THALWEG_REQUIRE_PYTHON=1`).

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::queries::modules;
use crate::{Folder, text};

/// `thalweg compare` into `out` of this folder, with this ffmpeg.
fn compare(folder: &Folder, ffmpeg: &str, options: &[&str]) -> Output {
    let out = folder.0.join("out").display().to_string();
    let fixed = ["compare", "--size", "320x180", "--json", "-o", &out];
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(fixed).args(options).env("THALWEG_FFMPEG", ffmpeg).output().unwrap()
}

fn runs(done: &Output) -> Vec<serde_json::Value> {
    assert!(done.status.success(), "{}", text(&done.stderr));
    let printed: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    printed["runs"].as_array().unwrap().clone()
}

#[test]
fn what_cannot_be_measured_is_refused_with_the_fix_before_anything_is_played() {
    let folder = Folder::new("no-vmaf");
    for (ffmpeg, options, words) in [
        ("echo", &["--vmaf"][..], ["has no libvmaf", "pip install imageio-ffmpeg"]),
        ("/nowhere/ffmpeg", &["--vmaf"], ["/nowhere/ffmpeg cannot be started", "THALWEG_FFMPEG"]),
        ("echo", &["--vmaf", "--encoder", "model"], ["an encoder model has none", "--encoder vp8"]),
        ("echo", &["--ms-ssim", "--encoder", "model"], ["ms_ssim compares pixels", "--encoder vp8"]),
    ] {
        let done = compare(&folder, ffmpeg, options);
        let said = text(&done.stderr);
        assert!(!done.status.success() && words.iter().all(|word| said.contains(word)), "{options:?}: {said}");
        assert!(!folder.0.join("out").exists());
    }
}

#[test]
fn vmaf_and_ms_ssim_see_a_better_link_and_leave_the_events_as_they_are() {
    let Some(modules) = modules("vmaf") else { return };
    let binaries = fs::read_dir(modules.join("imageio_ffmpeg/binaries")).unwrap();
    let names = binaries.map(|entry| entry.unwrap().path());
    let ffmpeg: Vec<PathBuf> = names.filter(|path| path.display().to_string().contains("ffmpeg-")).collect();
    let ffmpeg = ffmpeg[0].display().to_string();
    let folder = Folder::new("vmaf");
    // The second link stops for most of each second: its pictures freeze.
    let options = ["--scheme", "gcc", "--duration", "4s", "--trace", "2Mbps", "--trace", "300kbps/10kbps@1s"];
    let both = runs(&compare(&folder, &ffmpeg, &[&options[..], &["--vmaf", "--ms-ssim"]].concat()));
    let number = |run: &serde_json::Value, key: &str| run[key].as_f64().unwrap_or_else(|| panic!("{key}: {run}"));
    let [good, bad] = [&both[0], &both[1]];
    for key in ["vmaf", "screen_vmaf", "ms_ssim", "screen_ms_ssim", "screen_psnr_db", "screen_ssim_db"] {
        assert!(number(good, key) > number(bad, key), "{key}: {} and {}", good[key], bad[key]);
    }
    assert!((60.0..=100.0).contains(&number(good, "vmaf")) && (0.9..1.0).contains(&number(good, "ms_ssim")), "{good}");
    for metric in ["vmaf", "psnr_db", "ssim_db"] {
        let frozen = number(bad, metric) - number(bad, &format!("screen_{metric}"));
        assert!(frozen > 0.0, "{metric}: what is frozen is {frozen} worse than what is shown");
    }
    assert!(number(bad, "shown_fps") <= number(bad, "frame_rate_fps"));
    let tool = good["vmaf_tool"].as_str().unwrap();
    assert!(tool.contains("libvmaf") && tool.contains("model vmaf_v0.6.1, in ffmpeg "), "{tool}");
    let page = fs::read_to_string(folder.0.join("out/report.html")).unwrap();
    assert!(page.contains(tool) && page.contains("VMAF of what stands on the screen"));
    assert!(fs::read_to_string(folder.0.join("out/2Mbps/gcc/run.toml")).unwrap().contains("vmaf = true"));

    let without = runs(&compare(&folder, "echo", &options));
    for (with, without) in both.iter().zip(&without) {
        assert_eq!(with["events_fingerprint"], without["events_fingerprint"]);
        assert!(without["vmaf"].is_null() && without["ms_ssim"].is_null() && without["vmaf_tool"].is_null());
        assert_eq!(with["screen_ssim_db"], without["screen_ssim_db"]);
    }
}
