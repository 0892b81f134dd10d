//! The RTP header extensions of a packet.

use thalweg_sender::Packet;
use thalweg_transport::sdp::ExtensionIds;
use thalweg_types::Fragment;
use thalweg_units::{Bytes, Span, Time};
use thalweg_wire::WriteError;
use thalweg_wire::rtp::{
    Extension, ExtensionBuffer, FeedbackRequest, FragmentGrace, FrameFragment, FrameStates, PlayoutDelay,
    TransportSequence,
};

use super::counted::Counted;

/// Feedback is requested at least this often, besides where the engine does ([`Packet::requests_feedback`]); also for a
/// scheme that wants every packet reported. The value is a choice: the length of GCC's packet groups (specs/gcc.md 1), so
/// that no two groups wait for the same report. Chromium answers a request within 0.7 ms (specs/measured.md 1). A report
/// of some 80 bytes, headers included, every 5 ms is 130 kbps on the reverse path.
pub const FEEDBACK_REQUEST_INTERVAL: Span = Span::from_millis(5);

/// Max packets covered by one request: libwebrtc writes one message, which must fit in a packet.
const MAX_ASKED: u64 = 400;

/// Which packets request a report, and how far back (`transport-wide-cc-02`).
///
/// Each request also covers what the previous one covered, so that after a lost report or request the next one makes up
/// for it.
#[derive(Debug, Clone, Default)]
pub(super) struct Requests {
    last_at: Option<Time>,
    /// The first packet not covered by the request before the last ...
    newly: u64,
    /// ... and the first one not covered by the last.
    next: u64,
}

impl Requests {
    /// The request that the packet with this transport-wide number carries, if any.
    fn of(&mut self, packet: &Packet, id: u64) -> Option<FeedbackRequest> {
        let now = packet.sent.at;
        let overdue = self.last_at.is_none_or(|last| now - last >= FEEDBACK_REQUEST_INTERVAL);
        if packet.report_may_wait || !packet.requests_feedback && !overdue {
            return None;
        }
        let count = (id + 1 - self.newly.min(id)).clamp(1, MAX_ASKED);
        self.last_at = Some(now);
        (self.newly, self.next) = (self.next, id + 1);
        Some(FeedbackRequest { timestamps: true, count: count as u16 })
    }
}

/// Writes extensions under the negotiated ids.
#[derive(Debug, Clone, Default)]
pub(super) struct Elements {
    requests: Requests,
    /// The counts for receivers that measure the path.
    pub(super) counted: Counted,
    /// True if the last block carries the count of bytes sent before its packet.
    says_before: bool,
}

impl Elements {
    /// The extension block of one of the engine's packets with this transport-wide number, for the media section `mid`,
    /// with its frame's dependency descriptor if there is one.
    pub(super) fn block(
        &mut self,
        ids: &ExtensionIds,
        mid: &str,
        (packet, number): (&Packet, u64),
        fragment: Option<&Fragment>,
        dependency: Option<&[u8]>,
    ) -> Result<ExtensionBuffer, WriteError> {
        let mut block = Block::default();
        if let Some(id) = ids.transport_sequence {
            let request = ids.transport_on_request.then(|| self.requests.of(packet, number));
            let sequence = TransportSequence { sequence: number as u16, request };
            block.push(id, &sequence.to_bytes()?[..sequence.size()]);
        }
        if let Some(id) = ids.grace {
            let part = fragment.map(|fragment| FrameFragment {
                frame: fragment.frame as u32,
                fragment: fragment.index,
                fragments: fragment.count,
            });
            let grace = FragmentGrace { grace: packet.grace, fragment: part };
            block.push(id, &grace.to_bytes()?[..grace.size()]);
        }
        if let Some(fragment) = fragment.filter(|fragment| fragment.index == 0) {
            if let Some(id) = ids.playout_delay {
                // Show frames as soon as they arrive: the sender is responsible for even spacing.
                block.push(id, &PlayoutDelay { min: Span::ZERO, max: Span::ZERO }.to_bytes()?);
            }
            if let (Some(id), Some(states)) = (ids.states, fragment.transition) {
                block.push(id, &FrameStates { source: states.source.0, target: states.target.0 }.to_bytes());
            }
        }
        let before = ids.bytes_before.zip(self.counted.before());
        self.says_before = before.is_some();
        if let Some((id, before)) = before {
            block.push(id, &before.to_bytes());
        }
        if let Some((id, dependency)) = ids.dependencies.zip(dependency) {
            block.push(id, dependency);
        }
        block.push_mid(ids, mid);
        block.finish()
    }

    /// The packet with the last block leaves, and takes `size` bytes on the wire.
    pub(super) fn on_packet(&mut self, packet: &Packet, size: Bytes) {
        self.counted.on_packet(size, packet.sent.size, self.says_before);
    }
}

/// The block of a packet that is not the engine's, and so has no transport-wide number.
pub(super) fn of_section(ids: &ExtensionIds, mid: &str) -> Result<ExtensionBuffer, WriteError> {
    let mut block = Block::default();
    block.push_mid(ids, mid);
    block.finish()
}

/// Elements being collected: the id and the length of each, and their data one after the other.
#[derive(Default)]
struct Block {
    elements: Vec<(u8, usize)>,
    data: Vec<u8>,
}

impl Block {
    fn push(&mut self, id: u8, data: &[u8]) {
        self.elements.push((id, data.len()));
        self.data.extend_from_slice(data);
    }

    /// The MID: the media section that the packet belongs to.
    fn push_mid(&mut self, ids: &ExtensionIds, mid: &str) {
        if let Some(id) = ids.mid {
            self.push(id, mid.as_bytes());
        }
    }

    fn finish(&self) -> Result<ExtensionBuffer, WriteError> {
        let mut rest = &self.data[..];
        let element = |(id, length): &(u8, usize)| {
            let data;
            (data, rest) = rest.split_at(*length);
            Extension { id: *id, data }
        };
        let elements: Vec<Extension<'_>> = self.elements.iter().map(element).collect();
        ExtensionBuffer::of(&elements)
    }
}
