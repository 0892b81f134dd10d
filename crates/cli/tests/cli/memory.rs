//! Memory of a run of a file, whatever its length.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::Folder;

/// The most memory that a process has had so far, in kB (proc(5)); `None` once it has ended.
fn most(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?.parse().ok()
}

// Takes over a minute: two encoders of 1080p. The pictures of the file are 1.9 GB.
#[test]
#[allow(clippy::disallowed_methods, reason = "the process is looked at until it has ended")]
fn two_runs_of_a_film_of_1080p_beside_each_other_keep_below_300_megabytes() {
    let folder = Folder::new("memory");
    let [part, film, out] = ["part.mp4", "film.mp4", "out"].map(|name| folder.0.join(name).display().to_string());
    let source = "testsrc2=size=1920x1080:rate=30:duration=2";
    let encode = ["-f", "lavfi", "-i", source, "-c:v", "mpeg4", "-q:v", "5", "-pix_fmt", "yuv420p", &part];
    for arguments in [&encode[..], &["-stream_loop", "9", "-i", &part, "-c", "copy", &film]] {
        let made = Command::new("ffmpeg").args(["-v", "error", "-y"]).args(arguments).status().unwrap();
        assert!(made.success(), "{arguments:?}");
    }
    let link = ["--rate", "3Mbps", "--scheme", "gcc,vidaptive", "--duration", "20s", "--jobs", "2", "--quiet"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_thalweg"))
        .args(["compare", "--video", &film, "--out", &out])
        .args(link)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut kilobytes = 0;
    let status = loop {
        kilobytes = most(child.id()).unwrap_or(kilobytes);
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    println!("{kilobytes} kB");
    assert!(status.success());
    // Less than a hundred would be no run of 1080p.
    assert!((100_000..300_000).contains(&kilobytes), "{kilobytes} kB");
}
