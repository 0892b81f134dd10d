//! Sender and receiver of a flow: TCP connections one after another.

use alloc::vec::Vec;

use thalweg_units::{Bytes, ConfigError, Seed, Span, Time};

use super::tcp::{Acknowledgement, ConnectionConfig, Receiver, Segment, Sender};
use super::times::check_flows;
use super::web::{Page, Reader, WebConfig};

/// TCP flows that always have something to send.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct TcpConfig {
    /// The number of these flows, all alike.
    pub count: u16,
    /// When they begin, since the start of the run.
    pub from: Span,
    /// When they stop, since the start of the run; `None` never.
    pub until: Option<Span>,
    /// How their connections behave.
    pub connection: ConnectionConfig,
}

impl Default for TcpConfig {
    /// One flow during the whole run.
    fn default() -> TcpConfig {
        TcpConfig { count: 1, from: Span::ZERO, until: None, connection: ConnectionConfig::default() }
    }
}

/// A flow: its sender, its receiver, and its purpose. Its owner carries segments one way and acknowledgements the
/// other, and polls the sender after every call until it returns `None`.
#[derive(Debug, Clone)]
pub struct TcpFlow {
    config: ConnectionConfig,
    sender: Sender,
    receiver: Receiver,
    /// The reader of pages; `None` for an endless transfer.
    reader: Option<Reader>,
    /// The number of the next connection.
    connections: u32,
    /// When the next connection begins; never while one is open.
    begin: Time,
    until: Time,
    page: Option<Page>,
}

impl TcpFlow {
    /// Flows that always have data to send, before their first segments.
    ///
    /// # Errors
    /// When a field is out of range.
    pub fn endless(config: &TcpConfig) -> Result<Vec<TcpFlow>, ConfigError> {
        check_flows("tcp", config.count, (config.from, config.until))?;
        config.connection.check()?;
        let flow = TcpFlow::new(config.connection, None, (config.from, config.until));
        Ok((0..config.count).map(|_| flow.clone()).collect())
    }

    /// Flows that transfer pages. Each begins with an idle time, so that they do not all start together.
    ///
    /// # Errors
    /// When a field is out of range.
    pub fn reading(config: &WebConfig, seed: Seed) -> Result<Vec<TcpFlow>, ConfigError> {
        config.check()?;
        let flow = |index: u16| {
            let random = seed.child(&alloc::format!("reader {index}")).random();
            TcpFlow::new(config.connection, Some(Reader::new(*config, random)), (config.from, config.until))
        };
        Ok((0..config.count).map(flow).collect())
    }

    fn new(config: ConnectionConfig, mut reader: Option<Reader>, (from, until): (Span, Option<Span>)) -> TcpFlow {
        let idle = reader.as_mut().map_or(Span::ZERO, Reader::idle);
        TcpFlow {
            config,
            sender: Sender::new(config, 0),
            receiver: Receiver::new(config.acknowledging),
            reader,
            connections: 0,
            begin: Time::ZERO + from + idle,
            until: until.map_or(Time::NEVER, |until| Time::ZERO + until),
            page: None,
        }
    }

    /// The next segment that leaves the sender at `now`.
    pub fn poll(&mut self, now: Time) -> Option<Segment> {
        if now >= self.until {
            return None;
        }
        if self.begin <= now {
            self.begin = Time::NEVER;
            let size = self.reader.as_mut().map_or(Bytes::MAX, |reader| reader.open(now));
            self.sender = Sender::new(self.config, self.connections);
            self.connections += 1;
            self.sender.write(now, size);
        }
        self.sender.poll(now)
    }

    /// A segment arrived at the receiver. Returns the acknowledgement if it is sent at once.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) -> Option<Acknowledgement> {
        self.receiver.on_segment(now, segment)
    }

    /// The delayed acknowledgement that is due at `now`, if any.
    pub fn poll_acknowledgement(&mut self, now: Time) -> Option<Acknowledgement> {
        self.receiver.poll(now)
    }

    /// An acknowledgement arrived at the sender.
    pub fn on_acknowledgement(&mut self, now: Time, said: &Acknowledgement) {
        if now >= self.until {
            return;
        }
        self.sender.on_acknowledgement(now, said);
        if let Some(reader) = &mut self.reader
            && self.sender.is_done()
            && let Some(page) = reader.close(now)
        {
            self.page = Some(page);
            self.begin = now + reader.idle();
        }
    }

    /// The page that the last acknowledgement completed; returned once.
    pub fn poll_page(&mut self) -> Option<Page> {
        self.page.take()
    }

    /// When the flow has something to do if nothing arrives; [`Time::NEVER`] if nothing.
    pub fn next_event(&self) -> Time {
        let sends = self.begin.min(self.sender.next_event());
        let sends = if sends < self.until { sends } else { Time::NEVER };
        sends.min(self.receiver.next_event())
    }

    /// The sender of the present or last connection.
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// The receiver.
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// Whether the flow transfers pages ([`WebConfig`](super::WebConfig)).
    pub fn reads_pages(&self) -> bool {
        self.reader.is_some()
    }

    /// The page that is being transferred: when it was requested, and its size.
    pub fn open_page(&self) -> Option<(Time, Bytes)> {
        self.reader.as_ref()?.open_page()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_flow_opens_its_connection_when_it_begins_and_falls_silent_when_it_ends() {
        let config =
            TcpConfig { from: Span::from_secs(2), until: Some(Span::from_millis(2_500)), ..Default::default() };
        let mut flow = TcpFlow::endless(&config).unwrap().remove(0);
        assert_eq!(flow.next_event(), Time::from_secs_f64(2.0));
        assert!(flow.poll(Time::from_millis(1_999)).is_none());
        let opening = flow.poll(Time::from_millis(2_000)).unwrap();
        assert!(opening.opens() && flow.poll(Time::from_millis(2_000)).is_none());
        let answer = flow.on_segment(Time::from_millis(2_050), &opening).unwrap();
        flow.on_acknowledgement(Time::from_millis(2_100), &answer);
        let window = core::iter::from_fn(|| flow.poll(Time::from_millis(2_100))).count();
        assert_eq!(window, 10);
        assert_eq!(flow.sender().round_trip(), Some(Span::from_millis(100)));
        assert_eq!(flow.next_event(), Time::from_millis(2_300));
        assert!(flow.poll(Time::from_millis(2_500)).is_none());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let late = TcpConfig { from: Span::from_secs(9), until: Some(Span::from_secs(3)), ..Default::default() };
        let error = TcpFlow::endless(&late).unwrap_err().to_string();
        assert!(error.contains("tcp.until is 3s") && error.contains("later than tcp.from"), "{error}");
        let error = TcpFlow::endless(&TcpConfig { count: 0, ..Default::default() }).unwrap_err().to_string();
        assert!(error.contains("tcp.count is 0"), "{error}");
    }
}
