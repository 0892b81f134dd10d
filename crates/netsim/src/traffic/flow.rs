//! Sender and receiver of a flow: TCP connections one after another.

use alloc::vec::Vec;

use thalweg_units::{Bytes, ConfigError, Seed, Span, Time, above, check};

use super::tcp::{Acknowledgement, ConnectionConfig, Receiver, Segment, Sender};
use super::times::check_flows;
use super::web::{Page, Reader, WebConfig};

/// TCP flows that always have something to send, or transfer one file.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct TcpConfig {
    /// The number of these flows, all alike.
    pub count: u16,
    /// When they begin, since the start of the run.
    pub from: Span,
    /// When they stop, since the start of the run; `None` never.
    pub until: Option<Span>,
    /// How much each transfers; `None` without end.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub size: Option<Bytes>,
    /// How their connections behave.
    pub connection: ConnectionConfig,
}

impl Default for TcpConfig {
    /// One flow during the whole run.
    fn default() -> TcpConfig {
        TcpConfig { count: 1, from: Span::ZERO, until: None, size: None, connection: ConnectionConfig::default() }
    }
}

/// Load that a flow transfers.
#[derive(Debug, Clone)]
enum Purpose {
    Endless,
    File(Bytes),
    Pages(Reader),
}

/// A flow: its sender, its receiver, and its purpose. Its owner carries segments one way and acknowledgements the
/// other, and polls the sender after every call until it returns `None`.
#[derive(Debug, Clone)]
pub struct TcpFlow {
    config: ConnectionConfig,
    sender: Sender,
    receiver: Receiver,
    purpose: Purpose,
    /// The number of the next connection.
    connections: u32,
    /// When the next connection begins; never while one is open.
    begin: Time,
    until: Time,
    /// The file or page that is being transferred: when it was requested, and its size.
    open: Option<(Time, Bytes)>,
    page: Option<Page>,
}

impl TcpFlow {
    /// Flows that always have data to send, or transfer one file, before their first segments.
    ///
    /// # Errors
    /// When a field is out of range.
    pub fn bulk(config: &TcpConfig) -> Result<Vec<TcpFlow>, ConfigError> {
        check_flows("tcp", config.count, (config.from, config.until))?;
        config.connection.check()?;
        if let Some(size) = config.size {
            check("tcp.size", size).within(above(Bytes::ZERO), "2MB")?;
        }
        let purpose = config.size.map_or(Purpose::Endless, Purpose::File);
        let flow = TcpFlow::new(config.connection, purpose, config.from, config.until);
        Ok((0..config.count).map(|_| flow.clone()).collect())
    }

    /// Flows that transfer pages. All but [`WebConfig::busy`] of them begin with an idle time, so that they do not all
    /// start together.
    ///
    /// # Errors
    /// When a field is out of range.
    pub fn reading(config: &WebConfig, seed: Seed) -> Result<Vec<TcpFlow>, ConfigError> {
        config.check()?;
        let flow = |index: u16| {
            let random = seed.child(&alloc::format!("reader {index}")).random();
            let mut reader = Reader::new(*config, random);
            let idle = if index < config.busy { Span::ZERO } else { reader.idle() };
            TcpFlow::new(config.connection, Purpose::Pages(reader), config.from + idle, config.until)
        };
        Ok((0..config.count).map(flow).collect())
    }

    fn new(config: ConnectionConfig, purpose: Purpose, begin: Span, until: Option<Span>) -> TcpFlow {
        TcpFlow {
            config,
            sender: Sender::new(config, 0),
            receiver: Receiver::new(config.acknowledging),
            purpose,
            connections: 0,
            begin: Time::ZERO + begin,
            until: until.map_or(Time::NEVER, |until| Time::ZERO + until),
            open: None,
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
            let size = match &mut self.purpose {
                Purpose::Endless => None,
                Purpose::File(size) => Some(*size),
                Purpose::Pages(reader) => Some(reader.size()),
            };
            self.open = size.map(|size| (now, size));
            self.sender = Sender::new(self.config, self.connections);
            self.connections += 1;
            self.sender.write(now, size.unwrap_or(Bytes::MAX));
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
        if self.sender.is_done()
            && let Some((asked, size)) = self.open.take()
        {
            self.page = Some(Page { size, asked, took: now - asked });
            if let Purpose::Pages(reader) = &mut self.purpose {
                self.begin = now + reader.idle();
            }
        }
    }

    /// The page or file that the last acknowledgement completed; returned once.
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

    /// Returns true if its transfers end: pages ([`WebConfig`](super::WebConfig)), or one file ([`TcpConfig::size`]).
    pub fn reads_pages(&self) -> bool {
        !matches!(self.purpose, Purpose::Endless)
    }

    /// The page or file that is being transferred: when it was requested, and its size.
    pub fn open_page(&self) -> Option<(Time, Bytes)> {
        self.open
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
        let mut flow = TcpFlow::bulk(&config).unwrap().remove(0);
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
    fn a_file_is_complete_once_and_then_the_flow_is_silent() {
        let config = TcpConfig { from: Span::from_secs(3), size: Some(Bytes::new(2_000)), ..Default::default() };
        let mut flow = TcpFlow::bulk(&config).unwrap().remove(0);
        assert!(flow.reads_pages() && flow.open_page().is_none());
        let opening = flow.poll(Time::from_millis(3_000)).unwrap();
        assert_eq!(flow.open_page(), Some((Time::from_millis(3_000), Bytes::new(2_000))));
        let answer = flow.on_segment(Time::from_millis(3_050), &opening).unwrap();
        flow.on_acknowledgement(Time::from_millis(3_100), &answer);
        let segments = [(); 2].map(|()| flow.poll(Time::from_millis(3_100)).unwrap());
        assert_eq!(segments.map(|segment| segment.size().get()), [1_500, 604]);
        for segment in segments {
            assert_eq!(flow.poll_page(), None);
            let answer = flow.on_segment(Time::from_millis(3_150), &segment).unwrap();
            flow.on_acknowledgement(Time::from_millis(3_200), &answer);
        }
        let page = Page { size: Bytes::new(2_000), asked: Time::from_millis(3_000), took: Span::from_millis(200) };
        assert_eq!((flow.poll_page(), flow.poll_page(), flow.open_page()), (Some(page), None, None));
        assert_eq!((flow.next_event(), flow.poll(Time::from_secs_f64(1e6))), (Time::NEVER, None));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let late = TcpConfig { from: Span::from_secs(9), until: Some(Span::from_secs(3)), ..Default::default() };
        let error = TcpFlow::bulk(&late).unwrap_err().to_string();
        assert!(error.contains("tcp.until is 3s") && error.contains("later than tcp.from"), "{error}");
        let error =
            TcpFlow::bulk(&TcpConfig { size: Some(Bytes::ZERO), ..Default::default() }).unwrap_err().to_string();
        assert!(error.contains("tcp.size is 0B") && error.contains("2MB"), "{error}");
        let error = TcpFlow::bulk(&TcpConfig { count: 0, ..Default::default() }).unwrap_err().to_string();
        assert!(error.contains("tcp.count is 0"), "{error}");
    }
}
