//! The estimator on this side of the lines.

use thalweg_control::{Probe, Report, SentPacket};
use thalweg_sender::Scheme;
use thalweg_sender::scheme::UnknownScheme;
use thalweg_units::{Bytes, Rate, Time};

use super::messages::{Reply, Request, Welcome};
use crate::contestant::{Estimator, Limits};

/// Transport of a request there and its reply back.
pub trait Lines: Send {
    /// Sends a line and waits for the reply; both are without their line ends.
    ///
    /// # Errors
    /// When the line cannot be sent or no reply comes; the error is for a person.
    fn exchange(&mut self, request: &str) -> Result<String, String>;
}

/// An estimator that answers lines of the protocol. After a failure it is not asked again, and its last limits hold.
pub struct Remote<L> {
    lines: L,
    welcome: Welcome,
    limits: Reply,
    /// Requests so far, which is the number of the last line of the process.
    requests: u64,
    failure: Option<String>,
}

/// How much of a malformed line an error repeats, in characters.
const SHOWN: usize = 100;

impl<L: Lines> Remote<L> {
    /// Begins the conversation.
    ///
    /// # Errors
    /// When the first reply does not come or is not of this protocol.
    pub fn connect(mut lines: L, limits: Limits) -> Result<Remote<L>, String> {
        let line = lines.exchange(&Request::hello(limits).line())?;
        let welcome = Welcome::read(&line).map_err(|why| named(1, &line, &why))?;
        let limits = welcome.limits.clone();
        Ok(Remote { lines, welcome, limits, requests: 1, failure: None })
    }

    /// Name that the process gives itself.
    pub fn name(&self) -> &str {
        &self.welcome.name
    }

    /// The scheme to be around it: `gcc` unless it says otherwise.
    ///
    /// # Errors
    /// When there is none of the name that it gives.
    pub fn around(&self) -> Result<Scheme, UnknownScheme> {
        self.welcome.around.as_deref().unwrap_or("gcc").parse()
    }

    fn ask(&mut self, now: Time, request: &Request) {
        if self.failure.is_some() {
            return;
        }
        self.requests += 1;
        let replied = self.lines.exchange(&request.line());
        match replied.and_then(|line| Reply::read(&line).map_err(|why| named(self.requests, &line, &why))) {
            Ok(limits) => self.limits = limits,
            Err(why) => self.failure = Some(format!("at {now} of the run: {why}")),
        }
    }
}

/// The error of a line, with its number and the line.
fn named(number: u64, line: &str, why: &str) -> String {
    let shown: String = line.chars().take(SHOWN).collect();
    let rest = if shown.len() < line.len() { "..." } else { "" };
    format!("line {number} of its output: {why}: '{shown}{rest}'")
}

impl<L: Lines> Estimator for Remote<L> {
    fn on_reports(&mut self, now: Time, reports: &[Report]) {
        let packets = reports.iter().map(Into::into).collect();
        self.ask(now, &Request::Reports { now_ns: now.as_nanos(), packets });
    }

    fn target(&self) -> Rate {
        Rate::from_bps_f64(self.limits.target_bps)
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        if self.welcome.sent {
            self.ask(packet.at, &Request::Sent { now_ns: packet.at.as_nanos(), packet: packet.into() });
        }
    }

    fn on_timeout(&mut self, now: Time) {
        self.ask(now, &Request::Timeout { now_ns: now.as_nanos() });
    }

    fn next_timeout(&self) -> Time {
        let next = self.limits.timeout_ns.filter(|_| self.failure.is_none());
        next.map_or(Time::NEVER, Time::from_nanos)
    }

    fn pacing(&self) -> Rate {
        self.limits.pacing_bps.map_or(self.target().scale(1.1), Rate::from_bps_f64)
    }

    fn padding(&self) -> Rate {
        self.limits.padding_bps.map_or(Rate::ZERO, Rate::from_bps_f64)
    }

    fn probe(&self) -> Option<Probe> {
        self.limits.probe()
    }

    fn window(&self) -> Option<Bytes> {
        self.limits.window_bytes.map(Bytes::new)
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_control::{Fate, PacketId};

    /// Replies in turn; then the process is gone.
    struct Scripted(Vec<&'static str>, Vec<String>);

    impl Lines for Scripted {
        fn exchange(&mut self, request: &str) -> Result<String, String> {
            self.1.push(request.into());
            if self.0.is_empty() { Err("it has ended".into()) } else { Ok(self.0.remove(0).into()) }
        }
    }

    const HELLO: &str =
        r#"{"protocol":"thalweg-estimator","version":1,"name":"scripted","limits":{"target_bps":300000}}"#;
    const LIMITS: Limits = Limits { start: Rate::from_kbps(300), min: Rate::from_kbps(30), max: Rate::from_kbps(9000) };

    fn connect(replies: &[&'static str]) -> Result<Remote<Scripted>, String> {
        Remote::connect(Scripted(replies.to_vec(), Vec::new()), LIMITS)
    }

    fn arrived(id: u64) -> Report {
        let packet = SentPacket::new(PacketId(id), Time::from_millis(5), Bytes::new(1200));
        Report::new(packet, Fate::arrived(Time::from_millis(30)))
    }

    #[test]
    fn the_lines_are_those_of_the_page_about_them() {
        let reply = r#"{"target_bps":450000,"pacing_bps":900000,"timeout_ns":100000000,"window_bytes":30000}"#;
        let mut remote = connect(&[HELLO, reply]).unwrap();
        assert_eq!((remote.name(), remote.target(), remote.pacing()), ("scripted", LIMITS.start, Rate::from_kbps(330)));
        let lost = Report::new(arrived(8).packet, Fate::Lost);
        remote.on_reports(Time::from_millis(55), &[arrived(7), lost]);
        assert_eq!((remote.target(), remote.pacing()), (Rate::from_kbps(450), Rate::from_kbps(900)));
        assert_eq!((remote.next_timeout(), remote.window()), (Time::from_millis(100), Some(Bytes::new(30_000))));
        // It did not ask for this.
        remote.on_sent(&arrived(9).packet);
        let page = include_str!("../../../../../docs/tutorials/estimator.md");
        for line in remote.lines.1.iter().map(String::as_str).chain([HELLO, reply]) {
            assert!(page.contains(line), "the page has not: {line}");
        }
    }

    #[test]
    fn what_is_no_reply_is_named_by_its_line_and_ends_the_conversation() {
        for (reply, problem) in [
            ("hello", "line 2 of its output: expected value at line 1 column 1: 'hello'"),
            ("{}", "missing field `target_bps`"),
            (r#"{"target_bps":1e6,"pase":2}"#, "unknown field `pase`"),
            (r#"{"target_bps":-5}"#, "target_bps is -5, must be 1 to 1e12"),
            (r#"{"target_bps":1e400}"#, "number out of range"),
            (r#"{"target_bps":5,"probe":{"cluster":1,"rate_bps":0}}"#, "probe.rate_bps is 0"),
            (r#"{"error":"no such model"}"#, "no such model"),
        ] {
            let mut remote = connect(&[HELLO, reply]).unwrap();
            remote.on_timeout(Time::from_millis(10));
            let failure = remote.failure().unwrap();
            assert!(failure.starts_with("at 0.010000s of the run: ") && failure.contains(problem), "{failure}");
            remote.on_timeout(Time::from_millis(20));
            assert_eq!((remote.lines.1.len(), remote.target(), remote.next_timeout()), (2, LIMITS.start, Time::NEVER));
        }
        let long = "x".repeat(1000).leak();
        let mut remote = connect(&[HELLO, long]).unwrap();
        remote.on_timeout(Time::from_millis(10));
        assert!(remote.failure().unwrap().len() < 300);
    }

    #[test]
    fn a_process_of_another_protocol_or_version_is_refused_at_once() {
        let refused = |line: &'static str| connect(&[line]).err().unwrap();
        let other = refused(r#"{"protocol":"thalweg-estimator","version":2,"name":"x","limits":{"target_bps":1}}"#);
        assert!(other.contains("version 2, must be thalweg-estimator version 1"), "{other}");
        assert!(refused("ready").starts_with("line 1 of its output"));
        assert_eq!(connect(&[]).err().unwrap(), "it has ended");
    }
}
