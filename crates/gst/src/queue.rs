//! Queue of packets to be sent.

use std::collections::VecDeque;

use thalweg_control::{FramePlace, FrameQueued, Payload};
use thalweg_sender::frames::QueueView;
use thalweg_units::{Bytes, Span, Time};

/// The RTP clock of video, per second (RFC 7741 and the other payload formats).
const CLOCK: f64 = 90_000.0;
/// Until two frames have come: 30 a second.
const INTERVAL: Span = Span::from_nanos(33_333_333);
/// No interval between pictures is longer: what is longer is a pause.
const LONGEST_INTERVAL: Span = Span::from_secs(1);

/// Description of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packet {
    /// Its size on the wire, from the IP header up.
    pub(crate) size: Bytes,
    /// The bytes of its payload, by which a report on it is checked.
    pub(crate) payload: u32,
    /// Its purpose.
    pub(crate) kind: Payload,
    pub(crate) ssrc: u32,
    /// By which packets of one frame are known.
    pub(crate) timestamp: u32,
    /// True for the frame's last packet.
    pub(crate) marker: bool,
    /// True if it gets a transport-wide number.
    pub(crate) numbered: bool,
}

/// A packet in the queue.
#[derive(Debug)]
pub(crate) struct Waiting<T> {
    pub(crate) item: T,
    pub(crate) packet: Packet,
    pub(crate) since: Time,
    pub(crate) place: Option<FramePlace>,
    /// The share of the rate that the encoder was given when this frame came.
    pub(crate) alpha: f64,
}

#[derive(Debug)]
enum Entry<T> {
    Packet(Waiting<T>),
    Event(T),
}

/// The frame that is coming in.
#[derive(Debug, Clone, Copy)]
struct Frame {
    timestamp: u32,
    ssrc: u32,
    place: FramePlace,
    alpha: f64,
    /// Bytes that waited before it, and for how long.
    ahead: Bytes,
    age: Span,
}

/// Media in order with events between, and what goes before it: audio at once, then retransmissions. Nothing overtakes an
/// event.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    audio: VecDeque<Waiting<T>>,
    repair: VecDeque<Waiting<T>>,
    media: VecDeque<Entry<T>>,
    events: usize,
    bytes: Bytes,
    packets: u64,
    /// The sum of the times at which packets came, in nanoseconds.
    since: u128,
    frame: Option<Frame>,
    frames: u64,
    interval: Span,
}

impl<T> Default for Queue<T> {
    fn default() -> Queue<T> {
        Queue {
            audio: VecDeque::new(),
            repair: VecDeque::new(),
            media: VecDeque::new(),
            events: 0,
            bytes: Bytes::ZERO,
            packets: 0,
            since: 0,
            frame: None,
            frames: 0,
            interval: INTERVAL,
        }
    }
}

impl<T> Queue<T> {
    /// A packet comes. Returns the frame that it completes, if it does.
    pub(crate) fn push(&mut self, now: Time, item: T, packet: Packet, alpha: f64) -> Option<FrameQueued> {
        let place = (packet.kind == Payload::Media).then(|| self.place(now, &packet, alpha));
        let alpha = self.frame.map_or(alpha, |frame| frame.alpha);
        let waiting = Waiting { item, packet, since: now, place, alpha };
        (self.bytes, self.packets) = (self.bytes + packet.size, self.packets + 1);
        self.since += u128::from(now.as_nanos());
        match packet.kind {
            Payload::Audio if self.events == 0 => self.audio.push_back(waiting),
            Payload::Repair if self.events == 0 => self.repair.push_back(waiting),
            _ => self.media.push_back(Entry::Packet(waiting)),
        }
        let frame = self.frame.filter(|_| place.is_some_and(|place| place.last))?;
        let size = frame.place.offset + packet.size;
        Some(FrameQueued::new(size, self.interval, frame.ahead, frame.age))
    }

    pub(crate) fn push_event(&mut self, item: T) {
        self.events += 1;
        self.media.push_back(Entry::Event(item));
    }

    /// Where a packet lies in its frame.
    fn place(&mut self, now: Time, packet: &Packet, alpha: f64) -> FramePlace {
        let same = |frame: &&mut Frame| frame.timestamp == packet.timestamp && frame.ssrc == packet.ssrc;
        let (size, last) = (packet.size, packet.marker);
        if let Some(frame) = self.frame.as_mut().filter(same) {
            frame.place = FramePlace { first: false, last, offset: frame.place.offset, ..frame.place };
            let place = frame.place;
            frame.place.offset += if last { Bytes::ZERO } else { size };
            return place;
        }
        if let Some(before) = self.frame.filter(|before| before.ssrc == packet.ssrc) {
            let passed = f64::from(packet.timestamp.wrapping_sub(before.timestamp)) / CLOCK;
            let passed = Span::from_secs_f64(passed);
            if passed <= LONGEST_INTERVAL {
                self.interval = passed;
            }
        }
        let place =
            FramePlace { frame: self.frames, first: true, last, offset: Bytes::ZERO, captured: now, keyframe: false };
        self.frames += 1;
        let begun = FramePlace { offset: if last { Bytes::ZERO } else { size }, ..place };
        let (ahead, age) = (self.bytes, self.view().age(now));
        let (timestamp, ssrc) = (packet.timestamp, packet.ssrc);
        self.frame = Some(Frame { timestamp, ssrc, place: begun, alpha, ahead, age });
        place
    }

    /// The event that nothing precedes.
    pub(crate) fn pop_event(&mut self) -> Option<T> {
        if !self.audio.is_empty() || !self.repair.is_empty() {
            return None;
        }
        match self.media.pop_front() {
            Some(Entry::Event(item)) => {
                self.events -= 1;
                Some(item)
            }
            Some(packet) => {
                self.media.push_front(packet);
                None
            }
            None => None,
        }
    }

    /// The packet that goes next.
    pub(crate) fn head(&self) -> Option<&Packet> {
        let waiting = self.audio.front().or(self.repair.front()).or_else(|| match self.media.front() {
            Some(Entry::Packet(waiting)) => Some(waiting),
            Some(Entry::Event(_)) | None => None,
        });
        waiting.map(|waiting| &waiting.packet)
    }

    /// Takes the packet that goes next.
    pub(crate) fn pop(&mut self) -> Option<Waiting<T>> {
        let waiting = match self.audio.pop_front().or_else(|| self.repair.pop_front()) {
            Some(waiting) => waiting,
            None => match self.media.pop_front()? {
                Entry::Packet(waiting) => waiting,
                event @ Entry::Event(_) => {
                    self.media.push_front(event);
                    return None;
                }
            },
        };
        self.leave(&waiting);
        Some(waiting)
    }

    /// Takes all packets but audio, in order; events stay.
    pub(crate) fn flush(&mut self) -> Vec<Waiting<T>> {
        let mut flushed: Vec<Waiting<T>> = self.repair.drain(..).collect();
        let mut kept = VecDeque::new();
        for entry in self.media.drain(..) {
            match entry {
                Entry::Packet(waiting) if waiting.packet.kind != Payload::Audio => flushed.push(waiting),
                other => kept.push_back(other),
            }
        }
        self.media = kept;
        for waiting in &flushed {
            self.leave(waiting);
        }
        flushed
    }

    /// The events, in order.
    pub(crate) fn into_events(self) -> Vec<T> {
        let events = self.media.into_iter().filter_map(|entry| match entry {
            Entry::Event(item) => Some(item),
            Entry::Packet(_) => None,
        });
        events.collect()
    }

    fn leave(&mut self, waiting: &Waiting<T>) {
        self.bytes -= waiting.packet.size;
        self.packets -= 1;
        self.since -= u128::from(waiting.since.as_nanos());
    }

    /// How long packets have waited on average.
    pub(crate) fn mean_wait(&self, now: Time) -> Span {
        let mean = self.since.checked_div(u128::from(self.packets)).and_then(|mean| u64::try_from(mean).ok());
        mean.map_or(Span::ZERO, |mean| now - Time::from_nanos(mean))
    }

    pub(crate) fn view(&self) -> QueueView {
        let media = self.media.iter().find_map(|entry| match entry {
            Entry::Packet(waiting) => Some(waiting),
            Entry::Event(_) => None,
        });
        let heads = [self.audio.front(), self.repair.front(), media];
        let oldest = heads.into_iter().flatten().map(|waiting| waiting.since).min();
        QueueView::new(self.bytes, self.packets, oldest)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// The time between two pictures.
    pub(crate) fn interval(&self) -> Span {
        self.interval
    }

    /// When the newest frame came.
    pub(crate) fn newest_frame(&self) -> Option<Time> {
        self.frame.map(|frame| frame.place.captured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    fn packet(kind: Payload, timestamp: u32, marker: bool) -> Packet {
        Packet { size: Bytes::new(1000), payload: 942, kind, ssrc: 1, timestamp, marker, numbered: true }
    }

    fn media(timestamp: u32, marker: bool) -> Packet {
        packet(Payload::Media, timestamp, marker)
    }

    #[test]
    fn audio_goes_first_then_retransmissions_then_media_but_nothing_overtakes_an_event() {
        let mut queue = Queue::default();
        queue.push(MS(0), "media", media(0, true), 1.0);
        queue.push(MS(0), "repair", packet(Payload::Repair, 0, false), 1.0);
        queue.push(MS(0), "audio", packet(Payload::Audio, 0, true), 1.0);
        queue.push_event("caps");
        queue.push(MS(0), "later audio", packet(Payload::Audio, 0, true), 1.0);
        queue.push(MS(0), "later repair", packet(Payload::Repair, 0, false), 1.0);
        let mut order = Vec::new();
        while let Some(item) = queue.pop_event().or_else(|| queue.pop().map(|waiting| waiting.item)) {
            order.push(item);
        }
        assert_eq!(order, ["audio", "repair", "media", "caps", "later audio", "later repair"]);
        assert!(queue.is_empty() && queue.view().bytes == Bytes::ZERO);
    }

    #[test]
    fn packets_of_one_time_are_a_frame_and_its_last_completes_it() {
        let mut queue = Queue::default();
        assert_eq!(queue.push(MS(0), (), media(0, false), 1.0), None);
        let first = queue.push(MS(0), (), media(0, true), 1.0).unwrap();
        assert_eq!((first.size, first.ahead), (Bytes::new(2000), Bytes::ZERO));
        // 3600 at 90 kHz are 40 ms; the first frame still waits.
        let second = queue.push(MS(40), (), media(3600, true), 1.0).unwrap();
        assert_eq!((second.size, second.ahead), (Bytes::new(1000), Bytes::new(2000)));
        assert_eq!((second.interval, second.age), (Span::from_millis(40), Span::from_millis(40)));
        let places: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|waiting| waiting.place.unwrap()).collect();
        let seen: Vec<_> =
            places.iter().map(|place| (place.frame, place.first, place.last, place.offset.get())).collect();
        assert_eq!(seen, [(0, true, false, 0), (0, false, true, 1000), (1, true, true, 0)]);
    }

    #[test]
    fn a_flush_takes_media_and_retransmissions_and_leaves_events_and_audio() {
        let mut queue = Queue::default();
        queue.push(MS(0), "media", media(0, false), 1.0);
        queue.push_event("caps");
        queue.push(MS(10), "audio", packet(Payload::Audio, 0, true), 1.0);
        queue.push(MS(20), "more", media(0, true), 1.0);
        assert_eq!(queue.mean_wait(MS(40)), Span::from_millis(30));
        let flushed: Vec<_> = queue.flush().into_iter().map(|waiting| waiting.item).collect();
        assert_eq!(flushed, ["media", "more"]);
        assert_eq!((queue.view().packets, queue.view().oldest), (1, Some(MS(10))));
        assert_eq!(queue.pop_event(), Some("caps"));
        assert_eq!(queue.pop().map(|waiting| waiting.item), Some("audio"));
    }
}
