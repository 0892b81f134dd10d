//! `thalweg codec`.

use super::{Folder, text, thalweg};

fn lines(arguments: &[&str]) -> Vec<String> {
    let done = thalweg(arguments);
    assert!(done.status.success(), "{arguments:?}: {}", text(&done.stderr));
    text(&done.stdout).lines().map(str::to_string).collect()
}

#[test]
fn what_is_encoded_is_decoded_and_looked_into() {
    let folder = Folder::new("codec");
    let ivf = folder.file("scene.ivf", "");
    let encode = ["codec", "encode", "scene", "--size", "100x60", "--pictures", "6", "--keyframe-every", "4"];
    lines(&[&encode[..], &["--rate", "300kbps", "--out", &ivf]].concat());

    let digests = lines(&["codec", "decode", &ivf, "--md5"]);
    assert_eq!(digests.len(), 6);
    assert!(digests[5].ends_with("  scene-100x60-0006.i420") && digests[4] != digests[5], "{digests:?}");

    let kinds: Vec<_> = lines(&["codec", "inspect", &ivf, "--json"])
        .iter()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|frame| (frame["kind"].clone(), frame["bytes"].as_u64(), frame["macroblocks"]["from_last"].as_u64()))
        .collect();
    assert_eq!(kinds[0].0, "key");
    assert_eq!(kinds[4].0, "key");
    assert!(kinds[1].0 == "inter" && kinds[1].2 > Some(0), "{kinds:?}");
    let rate = kinds.iter().map(|kind| kind.1.unwrap()).sum::<u64>() * 8 * 30 / 6;
    assert!((150_000..600_000).contains(&rate), "{rate} bit/s, two of six frames keyframes");

    let y4m = folder.file("scene.y4m", "");
    lines(&["codec", "decode", &ivf, "--out", &y4m]);
    let written = std::fs::read(&y4m).unwrap();
    let header = b"YUV4MPEG2 W100 H60 F30:1 Ip A1:1 C420jpeg
";
    assert!(written.starts_with(header));
    assert_eq!(written.len(), header.len() + 6 * (6 + 100 * 60 * 3 / 2));
}

#[test]
fn what_is_no_stream_or_has_no_aim_is_refused_with_what_to_do() {
    let folder = Folder::new("codec-refused");
    let file = folder.file("no.ivf", "this is no IVF file at all, whatever its name says");
    let truncated = folder.file("short.ivf", "DKIF");
    for (arguments, words) in [
        (&["codec", "decode", &file, "--md5"][..], &["no.ivf", "DKIF"][..]),
        (&["codec", "inspect", &truncated], &["short.ivf", "truncated by 28 bytes"]),
        (&["codec", "decode", &file], &["--out", "--md5"]),
        (&["codec", "encode", "scene", "--out", "x.ivf"], &["--rate", "--frame-size", "--quantizer"]),
        (&["codec", "encode", "scene", "--out", "x.mp4", "--rate", "1Mbps"], &["x.mp4", "name it .ivf"]),
        (&["codec", "encode", "scene", "--out", "x.ivf", "--quantizer", "128"], &["128", "0..=127"]),
        (
            &["codec", "encode", "scene", "--out", "x.ivf", "--rate", "1Mbps", "--preset", "best"],
            &["best", "fast, standard"],
        ),
    ] {
        let done = thalweg(arguments);
        let said = text(&done.stderr);
        assert!(!done.status.success() && words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
    }
}
