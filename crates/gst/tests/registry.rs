//! The library as GStreamer's registry finds it, by `gst-inspect-1.0`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A registry and a folder of plugins of their own.
struct Registry(PathBuf);

impl Registry {
    fn new(name: &str) -> Registry {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("plugins")).unwrap();
        // Where this test is, as what it depends on.
        let library = std::env::current_exe().unwrap().with_file_name("libgstthalweg.so");
        std::fs::copy(&library, folder.join("plugins/libgstthalweg.so")).unwrap();
        Registry(folder)
    }

    fn inspect(&self, name: &str, as_rtpgccbwe: Option<&str>) -> Output {
        let mut command = Command::new("gst-inspect-1.0");
        command
            .arg(name)
            .env("GST_PLUGIN_PATH", self.0.join("plugins"))
            .env("GST_REGISTRY", self.0.join("registry.bin"));
        command.env_remove("THALWEG_AS_RTPGCCBWE");
        command.envs(as_rtpgccbwe.map(|value| ("THALWEG_AS_RTPGCCBWE", value)));
        command.output().expect("gst-inspect-1.0 is Debian's gstreamer1.0-tools: make setup-gst")
    }

    fn text(&self, name: &str, as_rtpgccbwe: Option<&str>) -> String {
        let output = self.inspect(name, as_rtpgccbwe);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

#[test]
fn the_element_is_found_with_its_properties() {
    let text = Registry::new("element").text("thalwegbwe", None);
    for word in ["GstThalwegBwe", "Network/WebRTC/RTP/Filter", "estimated-bitrate", "scheme", "hold", "max-queue-time"]
    {
        assert!(text.contains(word), "no {word} in {text}");
    }
}

/// docs/gstreamer.md: a registry keeps what it knows of a plugin.
#[test]
fn it_takes_the_name_of_rtpgccbwe_when_the_environment_says_so_and_gives_it_back_although_there_is_a_cache() {
    let registry = Registry::new("name");
    for _ in 0..2 {
        assert!(!registry.inspect("rtpgccbwe", None).status.success());
        let text = registry.text("rtpgccbwe", Some("1"));
        assert!(text.contains("GstThalwegRtpGccBwe") && text.contains("primary"), "{text}");
        let scheme = registry.text("rtpgccbwe", Some("scream"));
        assert!(scheme.contains("\"scream\""), "{scheme}");
        assert!(!registry.inspect("rtpgccbwe", Some("0")).status.success());
    }
}
