//! `--contestant`: an estimator of another project as a process that answers lines on its standard input.

use std::fmt;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::str::FromStr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use anyhow::Context;
use thalweg_lab::contestant::protocol::{Lines, Remote};
use thalweg_lab::contestant::{Contestant as Factory, Limits};
use thalweg_sender::Registry;
use thalweg_units::ConfigError;

/// How long a reply may take in real time. It takes microseconds; this is for an interpreter or a compiler to start.
const PATIENCE: Duration = Duration::from_secs(30);
/// A longer line is no reply: the longest of the protocol is a few hundred bytes.
const MAX_LINE: u64 = 1 << 16;

/// A name and the command of its process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contestant {
    pub(crate) name: String,
    program: String,
    arguments: Vec<String>,
}

impl FromStr for Contestant {
    type Err = String;

    fn from_str(text: &str) -> Result<Contestant, String> {
        let wrong = |why| format!("{why}: write a name and a command, as in mine=./my-estimator --fast");
        let (name, command) = text.split_once('=').ok_or_else(|| wrong("it has no '='"))?;
        let name = name.trim();
        if name.is_empty() || name.starts_with('.') || name.contains([',', '/']) || name.contains(char::is_whitespace) {
            return Err(wrong("its name is empty, begins with a full stop, or has a comma, a slash or a space"));
        }
        let mut words = words(command).ok_or_else(|| wrong("a quotation mark is not closed"))?.into_iter();
        let program = words.next().ok_or_else(|| wrong("it has no command"))?;
        Ok(Contestant { name: name.into(), program, arguments: words.collect() })
    }
}

impl fmt::Display for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.program)?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {argument}"))
    }
}

/// The words of a command, which single or double quotation marks keep together; `None` if one is not closed.
fn words(command: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in command.chars() {
        match (letter, quote) {
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, Some(mark)) if letter == mark => quote = None,
            (letter, None) if letter.is_whitespace() => words.extend(word.take()),
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

impl Contestant {
    /// The words of its command.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.program).chain(&self.arguments).map(String::as_str)
    }

    /// A sender with this estimator, which was started once to see that it answers.
    pub(crate) fn factory(&self) -> anyhow::Result<Factory> {
        let command = self.clone();
        let make = move |limits| {
            let process = Process::start(&command, PATIENCE);
            let remote = process.and_then(|process| Remote::connect(process, limits));
            remote.map_err(|why| ConfigError::because(format!("contestant {}: {why}", command.name)))
        };
        let answered = make(Limits::default())?;
        let around = answered.around().with_context(|| format!("contestant {}", self.name))?;
        let from = format!("{} ({self})", answered.name());
        Ok(Factory::new(&self.name, move |limits| Ok(Box::new(make(limits)?))).from(&from).around(around))
    }
}

/// Every scheme of this program, and the contestants.
///
/// # Errors
/// When one's name is taken, or it does not answer.
pub(crate) fn registry(contestants: &[Contestant]) -> anyhow::Result<Registry> {
    let mut registry = Registry::new();
    for contestant in contestants {
        let added = registry.add(contestant.factory()?);
        added.with_context(|| format!("--contestant {}={contestant}", contestant.name))?;
    }
    Ok(registry)
}

/// A process that answers. Its standard error is ours.
struct Process {
    child: Child,
    requests: Sender<String>,
    replies: Receiver<std::io::Result<String>>,
    patience: Duration,
}

impl Process {
    fn start(command: &Contestant, patience: Duration) -> Result<Process, String> {
        let mut to_start = Command::new(&command.program);
        to_start.args(&command.arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        // Ctrl-C is for this program to answer.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut to_start, 0);
        let started = to_start.spawn();
        let mut child = started.map_err(|error| format!("{} cannot be started: {error}", command.program))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both are pipes")
        };
        let (requests, to_write) = channel();
        let (read, replies) = channel();
        // Writing and reading may block for as long as the process likes; only this thread waits for that.
        std::thread::spawn(move || exchange(input, output, &to_write, &read));
        Ok(Process { child, requests, replies, patience })
    }

    /// Ends it and everything that it started.
    fn kill(&mut self) {
        #[cfg(unix)]
        let _ = rustix::process::kill_process_group(
            rustix::process::Pid::from_child(&self.child),
            rustix::process::Signal::KILL,
        );
        let _ = self.child.kill();
    }

    /// Why it does not answer, as far as the system knows.
    fn ended(&mut self) -> String {
        match self.child.try_wait() {
            Ok(Some(status)) => format!("its process has ended ({status})"),
            _ => "it has closed its standard output".into(),
        }
    }
}

/// Writes each request and reads a line, until the process or the run has ended.
fn exchange(
    mut input: ChildStdin,
    output: ChildStdout,
    requests: &Receiver<String>,
    replies: &Sender<std::io::Result<String>>,
) {
    let mut output = BufReader::new(output);
    for mut request in requests {
        // What else it wrote would be taken for the reply to this one.
        if !output.buffer().is_empty() {
            let _ = replies.send(Err(std::io::Error::other("it has written more than one line for a request")));
            return;
        }
        request.push('\n');
        let mut line = Vec::new();
        // A process that no longer reads may have said why.
        let _ = input.write_all(request.as_bytes()).and_then(|()| input.flush());
        let replied = output.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        if replies.send(replied.map(|_| String::from_utf8_lossy(&line).into_owned())).is_err() {
            return;
        }
    }
}

impl Lines for Process {
    fn exchange(&mut self, request: &str) -> Result<String, String> {
        let replied = self.requests.send(request.into()).map_err(|_| RecvTimeoutError::Disconnected);
        match replied.and_then(|()| self.replies.recv_timeout(self.patience)) {
            Ok(Ok(line)) => match line.strip_suffix('\n') {
                Some(line) => Ok(line.into()),
                None if line.len() as u64 >= MAX_LINE => Err(format!("a line of its output exceeds {MAX_LINE} bytes")),
                None => Err(self.ended()),
            },
            Ok(Err(error)) if error.kind() == ErrorKind::Other => Err(error.to_string()),
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
            Err(RecvTimeoutError::Timeout) => {
                self.kill();
                Err(format!("it has not answered for {} s", self.patience.as_secs_f64()))
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use thalweg_lab::contestant::Estimator;
    use thalweg_units::{Rate, Time};

    const LIMITS: Limits = Limits { start: Rate::from_kbps(300), min: Rate::from_kbps(30), max: Rate::from_kbps(9000) };
    const HELLO: &str =
        r#"{"protocol":"thalweg-estimator","version":1,"name":"sh","limits":{"target_bps":300000,"timeout_ns":1}}"#;

    /// Error of this shell script at its second request.
    fn failure(script: &str, patience: Duration) -> Result<String, String> {
        let script = format!("read line; echo '{HELLO}'; read line; {script}");
        let command = Contestant { name: "sh".into(), program: "sh".into(), arguments: vec!["-c".into(), script] };
        let mut remote = Remote::connect(Process::start(&command, patience)?, LIMITS)?;
        remote.on_timeout(Time::from_millis(1));
        Ok(remote.failure().unwrap_or_default().into())
    }

    #[test]
    fn a_command_is_a_name_and_words() {
        let contestant: Contestant = "mine=./a 'b c' \"d'\" e''f".parse().unwrap();
        assert_eq!((contestant.name.as_str(), contestant.program.as_str()), ("mine", "./a"));
        assert_eq!(contestant.arguments, ["b c", "d'", "ef"]);
        for wrong in ["mine", "=x", "mine=", "a,b=x", "mine='x", "a b=x"] {
            let refused = wrong.parse::<Contestant>().unwrap_err();
            assert!(refused.contains("as in mine=./my-estimator"), "{refused}");
        }
    }

    #[test]
    fn a_process_that_ends_is_silent_or_says_something_else_gives_an_error_and_no_hang() {
        let patient = Duration::from_secs(30);
        assert_eq!(failure("echo '{\"target_bps\":5}'", patient).unwrap(), "");
        let dead = failure("exit 3", patient).unwrap();
        assert!(dead.contains("its process has ended") || dead.contains("closed its standard output"), "{dead}");
        let unfinished = failure("printf '{\"target_bps\"'", patient).unwrap();
        assert!(unfinished.starts_with("at 0.001000s of the run: it"), "{unfinished}");
        let other = failure("echo pardon", patient).unwrap();
        assert!(other.contains("line 2 of its output") && other.contains("'pardon'"), "{other}");
        let endless = failure("cat /dev/zero", patient).unwrap();
        assert!(endless.contains("exceeds 65536 bytes"), "{endless}");
        let silent = failure("sleep 60", Duration::from_secs(2)).unwrap();
        assert!(silent.contains("it has not answered for 2 s"), "{silent}");
        let missing = Contestant { name: "x".into(), program: "./no-such-program".into(), arguments: Vec::new() };
        let missing = Process::start(&missing, patient).err().unwrap();
        assert!(missing.starts_with("./no-such-program cannot be started: "), "{missing}");
    }

    #[test]
    fn a_process_that_does_not_read_is_not_waited_for_in_writing() {
        let command: Contestant = "sh=sleep 60".parse().unwrap();
        let mut process = Process::start(&command, Duration::from_millis(200)).unwrap();
        let refused = process.exchange(&"x".repeat(1 << 20)).unwrap_err();
        assert!(refused.contains("has not answered"), "{refused}");
    }
}
