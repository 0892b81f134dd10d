//! A controller as an interceptor of its own, which sees each departure.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use rtc_interceptor::{Attribute, AttributedPacket, Packet, StreamInfo, TaggedPacket};
use rtcp::transport_feedbacks::{cc_feedback_report::CcFeedbackReport, transport_layer_cc::TransportLayerCc};
use sansio::Protocol;
use shared::TransportContext;
use shared::error::Error;
use shared::marshal::MarshalSize;
use thalweg_control::Payload;
use thalweg_driver::{Departure, Driver};
use thalweg_units::{Bytes, Time};

use crate::clock::Clock;
use crate::handle::Handle;
use crate::padder::{Asked, Filled};

/// The header extension with the transport-wide sequence number (transport-wide-cc-extensions-01).
const TRANSPORT_CC: &str = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";

/// Between reports a target is announced when it has changed by this share: the mean size of packets, which it depends
/// on, changes with each one.
const ANNOUNCED: f64 = 0.01;

/// Form of the remote's reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feedback {
    /// Transport-wide feedback: browsers.
    Twcc,
    /// RFC 8888, which also has ECN and when the report left.
    Rfc8888,
}

/// A controller at webrtc-rs's slot of congestion control, in place of its `CongestionControlInterceptor`.
///
/// It sees each packet as the pacer releases it, numbers it (retransmissions on a stream of their own too, which
/// `TwccSender` leaves out) and reads the reports itself; so it knows what is in flight, notices silence, and announces a
/// target that changes without a report. [`register`](crate::register) puts it into a registry, with the padding.
pub struct Interceptor {
    driver: Driver,
    clock: Clock,
    handle: Handle,
    feedback: Feedback,
    asked: Asked,
    streams: BTreeMap<u32, Stream>,
    /// The key of the next packet, whose low 16 bits are its transport-wide sequence number.
    next: u64,
    /// Bit/s.
    announced: Option<f64>,
    read_queue: VecDeque<TaggedPacket>,
    write_queue: VecDeque<TaggedPacket>,
}

/// A stream that is sent.
#[derive(Debug, Clone, Copy)]
struct Stream {
    /// The header extension of the transport-wide sequence number; `None` if it was not negotiated.
    extension: Option<u8>,
    payload: Payload,
}

impl Interceptor {
    pub(crate) fn new(driver: Driver, feedback: Feedback, asked: Asked) -> Interceptor {
        let handle = Handle::new(&driver);
        Interceptor {
            driver,
            clock: Clock::default(),
            handle,
            feedback,
            asked,
            streams: BTreeMap::new(),
            next: 0,
            announced: None,
            read_queue: VecDeque::new(),
            write_queue: VecDeque::new(),
        }
    }

    /// Handle for the application's threads.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Numbers a packet that leaves and shows it to the controller. One that no report will name is not shown.
    fn depart(&mut self, now: Instant, message: &mut AttributedPacket) {
        let retransmission = message.has(&Attribute::Retransmission);
        let filled = message.custom::<Filled>().copied();
        let Packet::Rtp(packet) = &mut message.packet else { return };
        let Some(stream) = self.streams.get(&packet.header.ssrc).copied() else { return };
        if self.feedback == Feedback::Twcc {
            let Some(id) = stream.extension else { return };
            let number = (self.next as u16).to_be_bytes();
            if packet.header.set_extension(id, number.to_vec().into()).is_err() {
                return;
            }
        }
        let mut departure = Departure::new(self.next, Bytes::new(packet.marshal_size() as u64));
        departure.stream = Some((packet.header.ssrc, packet.header.sequence_number));
        departure.probe = filled.and_then(|filled| filled.probe);
        departure.payload = match (filled, retransmission) {
            (Some(Filled { padding: true, .. }), _) => Payload::Padding,
            (_, true) => Payload::Repair,
            _ => stream.payload,
        };
        self.next += 1;
        let now = self.clock.time(now);
        // Keys are numbers that are used once.
        let _ = self.driver.on_sent(now, departure);
    }

    /// Reads a report. Returns whether it was one.
    fn hear(&mut self, now: Time, packet: &dyn rtcp::Packet) -> bool {
        let any = packet.as_any();
        let (twcc, ccfb) = (any.is::<TransportLayerCc>(), any.is::<CcFeedbackReport>());
        if !twcc && !ccfb {
            return false;
        }
        let mut bytes = vec![0; packet.marshal_size()];
        let written = packet.marshal_to(&mut bytes).unwrap_or(0);
        // A report that cannot be written again says nothing.
        self.driver.on_rtcp(now, &bytes[..written]).is_ok()
    }

    /// Shows what the controller says; returns the target if it differs from the one announced by more than a share.
    fn show(&mut self, now: Time, share: f64) -> Option<Attribute> {
        self.handle.show(now, &mut self.driver);
        self.asked.set(&self.driver);
        let bits_per_second = self.driver.target().as_bps_f64();
        let differs = |announced: f64| (bits_per_second - announced).abs() > share * announced;
        if !self.announced.is_none_or(differs) {
            return None;
        }
        self.announced = Some(bits_per_second);
        Some(Attribute::TargetBitrateChanged { bits_per_second })
    }
}

impl Protocol<TaggedPacket, TaggedPacket, ()> for Interceptor {
    type Rout = TaggedPacket;
    type Wout = TaggedPacket;
    type Eout = ();
    type Error = Error;
    type Time = Instant;

    fn handle_read(&mut self, mut msg: TaggedPacket) -> Result<(), Error> {
        if let Packet::Rtcp(packets) = &msg.message.packet {
            let now = self.clock.time(msg.now);
            self.handle.tell(now, &mut self.driver);
            let heard = packets.iter().filter(|packet| self.hear(now, packet.as_ref())).count();
            if heard > 0
                && let Some(target) = self.show(now, 0.0)
            {
                msg.message.add(target);
            }
        }
        self.read_queue.push_back(msg);
        Ok(())
    }

    fn poll_read(&mut self) -> Option<TaggedPacket> {
        self.read_queue.pop_front()
    }

    fn handle_write(&mut self, mut msg: TaggedPacket) -> Result<(), Error> {
        self.depart(msg.now, &mut msg.message);
        self.write_queue.push_back(msg);
        Ok(())
    }

    fn poll_write(&mut self) -> Option<TaggedPacket> {
        self.write_queue.pop_front()
    }

    fn handle_timeout(&mut self, instant: Instant) -> Result<(), Error> {
        let now = self.clock.time(instant);
        self.handle.tell(now, &mut self.driver);
        if self.driver.next_timeout() <= now {
            self.driver.on_timeout(now);
        }
        if let Some(target) = self.show(now, ANNOUNCED) {
            // An empty compound packet is webrtc-rs's carrier of attributes. It goes the way of reports, past the pacer.
            let message = AttributedPacket::new(Packet::Rtcp(Vec::new())).with(target);
            self.read_queue.push_back(TaggedPacket { now: instant, transport: TransportContext::default(), message });
        }
        Ok(())
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.clock.instant(self.driver.next_timeout())
    }
}

impl rtc_interceptor::Interceptor for Interceptor {
    fn bind_local_stream(&mut self, info: &StreamInfo) {
        let extension = info.rtp_header_extensions.iter().find(|extension| extension.uri == TRANSPORT_CC);
        let extension = extension.and_then(|extension| u8::try_from(extension.id).ok()).filter(|id| *id != 0);
        let payload = if info.mime_type.starts_with("audio/") { Payload::Audio } else { Payload::Media };
        let stream = Stream { extension, payload };
        self.streams.insert(info.ssrc, stream);
        let repair = Stream { payload: Payload::Repair, ..stream };
        self.streams.extend([info.ssrc_rtx, info.ssrc_fec].into_iter().flatten().map(|ssrc| (ssrc, repair)));
    }

    fn unbind_local_stream(&mut self, info: &StreamInfo) {
        for ssrc in [Some(info.ssrc), info.ssrc_rtx, info.ssrc_fec].into_iter().flatten() {
            self.streams.remove(&ssrc);
        }
    }

    fn bind_remote_stream(&mut self, _info: &StreamInfo) {}

    fn unbind_remote_stream(&mut self, _info: &StreamInfo) {}
}
