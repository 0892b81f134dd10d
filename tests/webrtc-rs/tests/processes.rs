//! The same in two processes on sockets, with `thalweg emulate` between them.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde::de::DeserializeOwned;
use serde_json::Value;
use webrtc_rs::{Error, Seen};

const SECONDS: f64 = 30.0;
const RUNS: usize = 5;
/// `gcc` on the steady path of webrtc-rs's own bench, whose queue is that of `thalweg emulate`: the mean target of the last 30 % of the
/// run in Mbps, and the share of the path that was delivered in it (docs/webrtc-rs.md, "with a queue that drains").
const BENCH: [f64; 2] = [2.83, 0.955];

/// A link that lets packets leave later than this, in ms, has no processor when it needs one, nor have sender and receiver.
const BUSY: f64 = 2.0;

/// One end, with what it says line by line.
struct Peer(Child, BufReader<ChildStdout>);

impl Peer {
    fn start(arguments: &[&str]) -> Result<Peer, Error> {
        let mut program = Command::new(env!("CARGO_BIN_EXE_peer"));
        let mut child = program.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let said = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(Peer(child, said))
    }

    fn hear<T: DeserializeOwned>(&mut self) -> Result<T, Error> {
        let mut line = String::new();
        self.1.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }

    fn say(&mut self, what: &Value) -> Result<(), Error> {
        writeln!(self.0.stdin.as_mut().ok_or("no input")?, "{what}")?;
        Ok(())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Takes the candidates out of a description, and puts one of this address in their place. Returns the address there was.
fn readdressed(description: &mut Value, address: Option<SocketAddr>) -> Result<SocketAddr, Error> {
    let text = description["sdp"].as_str().ok_or("a description has its text")?;
    let mut found = None;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with("a=end-of-candidates") {
            continue;
        }
        let Some(candidate) = line.strip_prefix("a=candidate:") else {
            lines.push(line.to_owned());
            continue;
        };
        // foundation, component, protocol, priority, address, port, and what follows.
        let mut parts: Vec<String> = candidate.split(' ').map(str::to_owned).collect();
        found.get_or_insert(format!("{}:{}", parts[4], parts[5]).parse()?);
        if let Some(address) = address {
            (parts[4], parts[5]) = (address.ip().to_string(), address.port().to_string());
            lines.push(format!("a=candidate:{}", parts.join(" ")));
        }
    }
    description["sdp"] = (lines.join("\r\n") + "\r\n").into();
    Ok(found.ok_or("a description has a candidate")?)
}

/// Figures known of a call.
struct Call {
    /// As the bench has them: the mean target of the last 30 % in Mbps, and the share of the path delivered in it.
    figures: [f64; 2],
    /// The 99th percentile of how late packets left the link, ms: what else the machine did.
    late: f64,
}

/// A call of 30 s over 3 Mbps with 20 ms each way and a second of queue.
fn called(control: &str) -> Result<Call, Error> {
    let program =
        std::env::var("THALWEG").map_err(|_| "THALWEG has to name the program: `make test-webrtc-rs` does")?;
    let seconds = SECONDS.to_string();
    let (mut sender, mut receiver) = (Peer::start(&["send", control, &seconds])?, Peer::start(&["receive", &seconds])?);
    // The receiver knows no address, and answers where packets come from: the link.
    let mut offer: Value = sender.hear()?;
    readdressed(&mut offer, None)?;
    receiver.say(&offer)?;
    let mut answer: Value = receiver.hear()?;
    let to = readdressed(&mut answer.clone(), None)?.to_string();
    let link = ["--up", "3Mbps", "--delay", "20ms", "--queue", "375kB"];
    let mut emulate = Command::new(program)
        .args(["emulate", "--json", "--listen", "127.0.0.1:0", "--to", &to])
        .args(link)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(emulate.stderr.as_mut().ok_or("no errors")?).read_line(&mut line)?;
    let address = line.split_whitespace().nth(1).and_then(|address| address.parse().ok());
    readdressed(&mut answer, Some(address.ok_or(line)?))?;
    sender.say(&answer)?;
    let [sent, received] = [sender.hear::<Seen>(), receiver.hear::<Seen>()];
    Command::new("sh").args(["-c", &format!("kill -INT {}", emulate.id())]).status()?;
    let link: Value = serde_json::from_slice(&emulate.wait_with_output()?.stdout)?;
    let seen = Seen { targets: sent?.targets, arrived: received?.arrived };
    let [delivered, queued, late] =
        ["delivered", "queueing_p95_ms", "lateness_p99_us"].map(|key| link["up"][key].as_f64());
    let missing = delivered.ok_or("nothing left the link")? - seen.arrived.len() as f64;
    assert!(missing >= 0.0, "{} datagrams went past the link: {link}", -missing);
    let (from, late) = (0.7 * SECONDS, late.ok_or("nothing left the link")? / 1e3);
    let figures = [seen.settled(from, SECONDS) / 1e6, seen.delivered(from, SECONDS) / 3e6];
    let reached = seen.reached(2.7e6).map_or("never".into(), |at| format!("after {at:.1} s"));
    println!(
        "{control}: 2.7 Mbps {reached}, {:.2} Mbps from 3 s on, settled at {:.2} Mbps, used {:.1} %, P95 of queueing {:.0} ms; \
         packets left the link late by {late:.1} ms (P99), {missing} were lost in full buffers",
        seen.delivered(3.0, SECONDS) / 1e6,
        figures[0],
        100.0 * figures[1],
        queued.ok_or("nothing left the link")?,
    );
    Ok(Call { figures, late })
}

#[test]
#[ignore = "by the clock, four minutes, with a release build of the program: make test-webrtc-rs"]
fn the_median_of_five_calls_between_processes_is_within_15_percent_of_the_bench() -> Result<(), Error> {
    called("theirs")?;
    called("register:gcc")?;
    let calls = (0..RUNS).map(|_| called("estimator:gcc")).collect::<Result<Vec<_>, Error>>()?;
    let late = calls.iter().map(|call| call.late).fold(0.0, f64::max);
    for (index, bench) in BENCH.into_iter().enumerate() {
        let mut values: Vec<f64> = calls.iter().map(|call| call.figures[index]).collect();
        values.sort_by(f64::total_cmp);
        let median = values[RUNS / 2];
        let within = (0.85 * bench..=1.15 * bench).contains(&median);
        assert!(
            within || late <= BUSY,
            "not to be judged beside so much other work: {median} of {bench}, {late} ms late"
        );
        assert!(within, "{median} of {bench}: {values:?}");
    }
    Ok(())
}
