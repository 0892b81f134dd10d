//! Converts the measurements of both peers to the laboratory's records, in time since the run began.

use std::collections::BTreeMap;

use thalweg_control::Payload;
use thalweg_lab::outcome::FrameRecord;
use thalweg_lab::record::{Record, Recorder, What};
use thalweg_lab::simulate::Frames;
use thalweg_netsim::DropReason;
use thalweg_sender::{Event, Timed};
use thalweg_units::{Bytes, Size, Span, Time};
use thalweg_video::source::Format;

use crate::decoding::Quality;
use crate::receiving::{Arrival, ReceivedFrame};
use crate::route::PacketKey;
use crate::sending::Sent;

/// A run as records of the laboratory.
pub(crate) struct Converted {
    pub(crate) recorder: Recorder,
    pub(crate) frames: Vec<FrameRecord>,
    /// The sum of the packet sizes that the engine accounted for.
    pub(crate) accounted: Bytes,
    /// The sum of the sizes that were sent, from the IP header on.
    pub(crate) actual: Bytes,
}

/// A frame that was shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShownFrame {
    /// When it was shown, by the real clock.
    pub(crate) at: Time,
    pub(crate) picture: u64,
    pub(crate) quality: Option<Quality>,
}

/// The picture that each frame shows: the one that was taken at its timestamp. Frames that arrived before the first
/// sender report are mapped by those after it. `None` for all frames if no sender report arrived.
pub(crate) fn pictures(frames: &[ReceivedFrame], taken: &[Time]) -> Vec<Option<u64>> {
    let known = frames.iter().find_map(|frame| frame.captured.map(|captured| (captured, frame.timestamp)));
    let picture = |frame: &ReceivedFrame| {
        let (captured, timestamp) = known?;
        let ticks = i128::from(frame.timestamp) - i128::from(timestamp);
        let captured = captured + Span::from_nanos((ticks * 1_000_000_000 / 90_000) as i64);
        // An RTP tick is 11 us, and no camera has 1000 fps.
        let slack = Span::from_micros(500);
        let number = taken.partition_point(|taken| *taken <= captured + slack).checked_sub(1)?;
        (captured - taken[number] <= slack).then_some(number as u64)
    };
    frames.iter().map(picture).collect()
}

/// Converts a run of this length; every drop is recorded with the reason `why`.
pub(crate) fn convert(
    sent: &Sent,
    arrivals: &[Arrival],
    shown: &[ShownFrame],
    (format, measure_quality): (Format, bool),
    (duration, why): (Span, DropReason),
) -> Converted {
    let since = |at: Time| Time::ZERO + (at - sent.zero);
    let mut records: Vec<Record> = Vec::new();
    let mut note = |at: Time, what: What| records.push(Record { at, flow: 0, what });
    let mut frames = frames_of(sent, format);
    let mut packets: Vec<(Time, Payload, Bytes)> = Vec::new();
    let mut frame_of: BTreeMap<u64, u64> = BTreeMap::new();
    for timed in &sent.events {
        let at = since(timed.at);
        match timed.event {
            Event::PacketSent { payload, size, .. } => packets.push((timed.at, payload, size)),
            Event::FrameQueued { frame, picture, .. } => drop(frame_of.insert(picture, frame)),
            _ => {}
        }
        frames.on_event(&Timed { at, event: timed.event.clone() });
        note(at, What::Sender(timed.event.clone()));
    }
    let arrived = match_arrivals(sent, &packets, arrivals);
    let transit = |id: usize| arrived[id].map(|arrival: Arrival| arrival.at - packets[id].0);
    let min_transit = (0..arrived.len()).filter_map(transit).min().unwrap_or_default();
    let mut later: Option<Time> = None;
    for (id, (left, payload, size)) in packets.iter().enumerate().rev() {
        match arrived.get(id).copied().flatten() {
            Some(arrival) => {
                let queued = arrival.at - *left - min_transit;
                let what = What::Arrived { id: id as u64, payload: *payload, size: arrival.size, queued, marked: None };
                note(since(arrival.at), what);
                later = Some(later.map_or(arrival.at, |later| later.min(arrival.at)));
            }
            // A packet sent later arrived, so this one is lost. The last ones are still in flight.
            None => {
                if let Some(later) = later {
                    let what = What::Dropped { id: id as u64, payload: *payload, size: *size, why };
                    note(since(later), what);
                }
            }
        }
    }
    for ShownFrame { at, picture, quality } in shown {
        let (at, frame) = (since(*at), frame_of.get(picture).copied());
        let Some(frame) = frame.filter(|_| at < Time::ZERO + duration) else { continue };
        let modelled = frames.encoded(frame).and_then(|encoded| encoded.modelled).filter(|_| measure_quality);
        let modelled = modelled.map(|model| (model.psnr_db, thalweg_video::quality::ssim_of_db(model.ssim_db)));
        let quality = quality.or(modelled);
        let latency = at - (Time::ZERO + format.time_of(*picture));
        let psnr = quality.map_or(f64::NAN, |quality| quality.0);
        note(at, What::Displayed { frame, picture: *picture, latency, psnr });
        frames.on_shown(at, (frame, *picture), quality);
    }
    records.retain(|record| record.at < Time::ZERO + duration);
    records.sort_by_key(|record| record.at);
    let mut recorder = Recorder::default();
    records.into_iter().for_each(|record| recorder.push(record));
    let accounted = packets.iter().map(|packet| packet.2).sum();
    let actual = sent.departures.iter().map(|departure| departure.size).sum();
    Converted { recorder, frames: frames.into_records(), accounted, actual }
}

/// All captured pictures and encoded frames.
fn frames_of(sent: &Sent, format: Format) -> Frames {
    let mut frames = Frames::default();
    let size: Size = format.size;
    (0..sent.pictures.len()).for_each(|number| frames.on_picture(Time::ZERO + format.time_of(number as u64), size));
    sent.frames.iter().for_each(|(frame, candidate)| frames.on_commit(*frame, candidate));
    frames
}

/// The arrival of each packet: of several arrivals with its key, the first one after it was sent.
fn match_arrivals(sent: &Sent, packets: &[(Time, Payload, Bytes)], arrivals: &[Arrival]) -> Vec<Option<Arrival>> {
    let mut arrived = vec![None; packets.len()];
    let mut in_flight: BTreeMap<PacketKey, usize> = BTreeMap::new();
    let mut departures = sent.departures.iter().zip(packets).enumerate().peekable();
    for arrival in arrivals {
        while let Some((id, (departure, _))) = departures.next_if(|(_, (_, packet))| packet.0 <= arrival.at) {
            in_flight.insert(departure.key, id);
        }
        if let Some(id) = in_flight.remove(&arrival.key) {
            arrived[id] = Some(*arrival);
        }
    }
    arrived
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sending::Departure;

    fn frame(timestamp: u64, captured: Option<Time>) -> ReceivedFrame {
        ReceivedFrame { at: Time::ZERO, timestamp, captured, data: [].into() }
    }

    #[test]
    fn frames_before_the_first_sender_report_are_known_by_those_after_it() {
        let taken = [1_000, 1_033, 1_067].map(Time::from_millis);
        let second = Time::from_nanos(1_032_999_990);
        let frames = [frame(90_000, None), frame(92_970, Some(second)), frame(96_030, None), frame(99_000, None)];
        assert_eq!(pictures(&frames, &taken), [Some(0), Some(1), Some(2), None]);
        assert_eq!(pictures(&frames[..1], &taken), [None]);
    }

    #[test]
    fn a_key_that_is_used_again_is_the_newest_packet_that_has_it() {
        let (key, size) = (PacketKey { ssrc: 7, sequence: 9 }, Bytes::new(100));
        let other = PacketKey { ssrc: 7, sequence: 10 };
        let departures = vec![Departure { key, size }, Departure { key: other, size }, Departure { key, size }];
        let packets: Vec<_> =
            [10, 20, 30].map(|millis| (Time::from_millis(millis), Payload::Media, size)).into_iter().collect();
        let sent = Sent { departures, ..Sent::default() };
        let arrival = |millis, key| Arrival { at: Time::from_millis(millis), key, size };
        // The first is lost; a duplicate is counted once; an unknown SSRC is ignored.
        let arrivals =
            [arrival(25, other), arrival(26, other), arrival(40, key), arrival(41, PacketKey { ssrc: 8, sequence: 1 })];
        let arrived = match_arrivals(&sent, &packets, &arrivals);
        let at = arrived.iter().map(|arrival| arrival.map(|arrival| arrival.at.as_millis())).collect::<Vec<_>>();
        assert_eq!(at, [None, Some(25), Some(40)]);
    }
}
