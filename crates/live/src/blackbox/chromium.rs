//! Stock Chromium: one process sends to another, both steered by pages of the mailbox.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::json;
use thalweg_units::{Rate, Span, Time};

use super::mailbox::{Letter, Mailbox};
use super::report::Report;
use super::{BlackBoxError, CameraFile, Driver, Part, Route, Scratch, Seen, sdp};
use thalweg_emulate::clock::{Clock, pause};

/// How a browser encodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coding {
    name: &'static str,
    codec: &'static str,
    /// Text that the codec's format parameters contain.
    format: &'static str,
    /// The layers (WebRTC Scalable Video Coding, "Scalability modes").
    scalability: Option<&'static str>,
}

/// Codings by name: for H.264 the constrained baseline profile in several NAL units a frame, which every browser
/// decodes (RFC 7742 section 6.2).
const CODINGS: [Coding; 5] = [
    Coding { name: "vp8", codec: "video/VP8", format: "", scalability: None },
    Coding { name: "vp9", codec: "video/VP9", format: "profile-id=0", scalability: None },
    Coding { name: "vp9-svc", codec: "video/VP9", format: "profile-id=0", scalability: Some("L3T3") },
    Coding { name: "vp9-temporal", codec: "video/VP9", format: "profile-id=0", scalability: Some("L1T3") },
    Coding {
        name: "h264",
        codec: "video/H264",
        format: "packetization-mode=1;profile-level-id=42e01f",
        scalability: None,
    },
];

impl Coding {
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl FromStr for Coding {
    type Err = String;

    fn from_str(text: &str) -> Result<Coding, String> {
        CODINGS.into_iter().find(|coding| coding.name == text).ok_or_else(|| {
            let names: Vec<&str> = CODINGS.iter().map(|coding| coding.name).collect();
            format!("unknown coding '{text}': expected one of {}", names.join(", "))
        })
    }
}

/// Options of both processes: no window, nothing of their own on the network, pages that are never slowed down, and candidates with
/// addresses, of loopback too, in the place of names that only multicast could resolve.
const OPTIONS: [&str; 16] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-field-trial-config",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    "--autoplay-policy=no-user-gesture-required",
    "--mute-audio",
    "--allow-loopback-in-peer-connection",
    "--force-webrtc-ip-handling-policy=default",
    "--disable-features=WebRtcHideLocalIpsWithMdns",
];

/// How long the pages may take to report what they saw last.
const LAST_WORDS: Span = Span::from_secs(5);
/// How long a process may take to end by itself.
const GRACE: Span = Span::from_secs(3);

/// Chromium or a browser made of it.
#[derive(Debug, Clone)]
pub struct Chromium {
    /// The program.
    pub program: PathBuf,
    /// How it encodes.
    pub coding: Coding,
    /// The encoder's greatest rate. By itself Chromium stays at or below some 2 Mbps (specs/measured.md 6).
    pub max_rate: Rate,
}

impl Driver for Chromium {
    fn name(&self) -> String {
        match self.coding.name {
            "vp8" => "chromium".into(),
            other => format!("chromium:{other}"),
        }
    }

    fn version(&self) -> Result<String, BlackBoxError> {
        let failed = |source| BlackBoxError::Program { program: self.program.clone(), source };
        let output = Command::new(&self.program).arg("--version").stderr(Stdio::null()).output().map_err(failed)?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_string();
        if !output.status.success() || version.is_empty() {
            return Err(failed(io::Error::other(format!("--version: {}", output.status))));
        }
        Ok(version)
    }

    fn call(&self, camera: &CameraFile, route: &mut Route<'_>) -> Result<Seen, BlackBoxError> {
        let (size, (pictures, seconds)) = (camera.format.size, camera.format.frame_rate);
        let Coding { codec, format, scalability, .. } = self.coding;
        let task = json!({
            "width": size.width, "height": size.height, "frame_rate": f64::from(pictures) / f64::from(seconds),
            "codec": codec, "format": format, "scalability": scalability, "max_rate": self.max_rate.as_bps_f64(),
        });
        let mailbox = Mailbox::start(&task.to_string(), route.clock())?;
        let scratch = Scratch::new("chromium")?;
        let start = |part| Process::start(&self.program, part, &mailbox.page(part), &camera.path, scratch.path());
        let mut processes = Part::BOTH.map(start).into_iter().collect::<Result<Vec<Process>, _>>()?;
        let mut seen = Seen::default();
        let is_late = |clock: Clock, end: Option<Time>| end.is_some_and(|end| clock.now() > end + LAST_WORDS);
        loop {
            let goes_on = route.follow()?;
            let has_said_all = |reports: &[Report]| reports.last().map(|report| report.at) >= route.end();
            if !goes_on {
                // A page that died leaves its browser running.
                let of_part = [(Part::Sender, &seen.sender), (Part::Receiver, &seen.receiver)];
                let silent = of_part.iter().find(|(_, reports)| !has_said_all(reports)).map(|(part, _)| *part);
                match silent {
                    None => return Ok(seen),
                    Some(part) if is_late(route.clock(), route.end()) => {
                        let words = format!("its page did not report the end of the call within {LAST_WORDS}");
                        return Err(BlackBoxError::Failed { part, words });
                    }
                    Some(_) => {}
                }
            }
            for process in &mut processes {
                process.check()?;
            }
            match mailbox.take() {
                None => {}
                Some((part, Letter::Failure(words))) => return Err(BlackBoxError::Failed { part, words }),
                Some((Part::Sender, Letter::Description(offer))) => {
                    seen.retransmissions = sdp::retransmissions(&offer);
                    mailbox.offer(sdp::without_candidates(&offer));
                }
                Some((part, Letter::Description(answer))) => {
                    let receiver = sdp::address(&answer).ok_or(BlackBoxError::Unreachable(part))?;
                    mailbox.answer(sdp::leading_to(&answer, route.lead_to(receiver)?));
                }
                Some((Part::Sender, Letter::Report(report))) => seen.sender.push(*report),
                Some((Part::Receiver, Letter::Report(report))) => seen.receiver.push(*report),
            }
        }
    }
}

/// A running browser. Dropping it ends it and every process that it started.
struct Process {
    part: Part,
    child: Child,
    words: PathBuf,
}

impl Process {
    fn start(program: &Path, part: Part, page: &str, camera: &Path, folder: &Path) -> Result<Process, BlackBoxError> {
        let failed = |source| BlackBoxError::Program { program: program.into(), source };
        let words = folder.join(format!("{part}.log"));
        let mut command = Command::new(program);
        command.args(OPTIONS).arg(option("--user-data-dir", &folder.join(part.to_string())));
        if part == Part::Sender {
            command.args(["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"]);
            command.arg(option("--use-file-for-fake-video-capture", camera));
        }
        command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&words)?);
        // It leaves folders of its own among the temporary files.
        command.env("TMPDIR", folder);
        // Its own group, so that all of its processes can be ended together.
        let child = command.process_group(0).spawn().map_err(failed)?;
        Ok(Process { part, child, words })
    }

    /// Checks that it still runs.
    fn check(&mut self) -> Result<(), BlackBoxError> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(_) => Err(BlackBoxError::Ended { part: self.part, words: end_of(&self.words) }),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let leader = Pid::from_child(&self.child);
        // Whatever is gone needs no signal.
        let _ = kill_process(leader, Signal::TERM);
        let clock = Clock::new();
        while clock.now() - Time::ZERO < GRACE && matches!(self.child.try_wait(), Ok(None)) {
            pause(Span::from_millis(20));
        }
        let _ = kill_process_group(leader, Signal::KILL);
        let _ = self.child.wait();
    }
}

fn option(name: &str, path: &Path) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(name);
    option.push("=");
    option.push(path);
    option
}

/// The end of a file.
fn end_of(path: &Path) -> String {
    const LENGTH: u64 = 500;
    let read = || -> io::Result<String> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LENGTH)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_string())
    };
    read().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codings_are_known_by_their_names() {
        for coding in CODINGS {
            assert_eq!(coding.name.parse(), Ok(coding));
        }
        assert!("av2".parse::<Coding>().unwrap_err().contains("vp9-svc"));
    }

    #[test]
    fn a_program_that_is_not_there_or_ends_at_once_says_so() {
        let driver = |program: &str| Chromium {
            program: program.into(),
            coding: "vp8".parse().unwrap(),
            max_rate: Rate::from_kbps(1_000),
        };
        let missing = driver("/nowhere/chromium").version().unwrap_err().to_string();
        assert!(missing.contains("/nowhere/chromium") && missing.contains("--program"), "{missing}");
        assert!(driver("/bin/false").version().is_err());
        let scratch = Scratch::new("process-test").unwrap();
        let mut process =
            Process::start("/bin/ls".as_ref(), Part::Receiver, "page", scratch.path(), scratch.path()).unwrap();
        let ended = loop {
            if let Err(error) = process.check() {
                break error.to_string();
            }
            pause(Span::from_millis(5));
        };
        assert!(ended.starts_with("the receiver ended: ") && ended.contains("--headless"), "{ended}");
    }
}
