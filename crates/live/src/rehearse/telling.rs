//! From what each end noted by the clock to the laboratory's records, in time since the run began.

use std::collections::BTreeMap;

use thalweg_control::Payload;
use thalweg_lab::outcome::FrameRecord;
use thalweg_lab::record::{Record, Recorder, What};
use thalweg_lab::simulate::Frames;
use thalweg_link::DropReason;
use thalweg_sender::{Event, Timed};
use thalweg_units::{Bytes, Size, Span, Time};
use thalweg_video::source::Format;

use super::decoding::Quality;
use super::receiving::{Arrival, Whole};
use super::route::Label;
use super::sending::Sent;

/// What happened, told in the laboratory's words.
pub(super) struct Told {
    pub(super) recorder: Recorder,
    pub(super) frames: Vec<FrameRecord>,
    /// What the engine charged for its packets, and what they weighed.
    pub(super) charged: Bytes,
    pub(super) weighed: Bytes,
}

/// A frame that was shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown {
    /// When, by the clock.
    pub(super) at: Time,
    pub(super) picture: u64,
    pub(super) quality: Option<Quality>,
}

/// Which picture each frame shows: the one that was taken when its timestamp says. Frames that came before the first sender report are known
/// by those after it. `None` for all if none came.
pub(super) fn pictures(frames: &[Whole], taken: &[Time]) -> Vec<Option<u64>> {
    let known = frames.iter().find_map(|frame| frame.captured.map(|captured| (captured, frame.timestamp)));
    let picture = |frame: &Whole| {
        let (captured, timestamp) = known?;
        let ticks = i128::from(frame.timestamp) - i128::from(timestamp);
        let captured = captured + Span::from_nanos((ticks * 1_000_000_000 / 90_000) as i64);
        // A tick is 11 us, and there is no camera of 1000 pictures a second.
        let slack = Span::from_micros(500);
        let number = taken.partition_point(|taken| *taken <= captured + slack).checked_sub(1)?;
        (captured - taken[number] <= slack).then_some(number as u64)
    };
    frames.iter().map(picture).collect()
}

/// What is told of a run of this length; drops are put down to `why`.
pub(super) fn tell(
    sent: &Sent,
    arrivals: &[Arrival],
    shown: &[Shown],
    (format, measure_quality): (Format, bool),
    (duration, why): (Span, DropReason),
) -> Told {
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
    let came = came(sent, &packets, arrivals);
    let transit = |id: usize| came[id].map(|arrival: Arrival| arrival.at - packets[id].0);
    let least = (0..came.len()).filter_map(transit).min().unwrap_or_default();
    let mut later: Option<Time> = None;
    for (id, (left, payload, size)) in packets.iter().enumerate().rev() {
        match came.get(id).copied().flatten() {
            Some(arrival) => {
                let queued = arrival.at - *left - least;
                let what = What::Arrived { id: id as u64, payload: *payload, size: arrival.size, queued };
                note(since(arrival.at), what);
                later = Some(later.map_or(arrival.at, |later| later.min(arrival.at)));
            }
            // One behind it came, so it will not. The last ones are on their way.
            None => {
                if let Some(later) = later {
                    let what = What::Dropped { id: id as u64, payload: *payload, size: *size, why };
                    note(since(later), what);
                }
            }
        }
    }
    for Shown { at, picture, quality } in shown {
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
    let charged = packets.iter().map(|packet| packet.2).sum();
    let weighed = sent.departures.iter().map(|departure| departure.size).sum();
    Told { recorder, frames: frames.into_records(), charged, weighed }
}

/// Everything that was read and encoded.
fn frames_of(sent: &Sent, format: Format) -> Frames {
    let mut frames = Frames::default();
    let size: Size = format.size;
    (0..sent.pictures.len()).for_each(|number| frames.on_picture(Time::ZERO + format.time_of(number as u64), size));
    sent.frames.iter().for_each(|(frame, candidate)| frames.on_commit(*frame, candidate));
    frames
}

/// The arrival of each packet that came: of several that had its label, the first after it left.
fn came(sent: &Sent, packets: &[(Time, Payload, Bytes)], arrivals: &[Arrival]) -> Vec<Option<Arrival>> {
    let mut came = vec![None; packets.len()];
    let mut under_way: BTreeMap<Label, usize> = BTreeMap::new();
    let mut departures = sent.departures.iter().zip(packets).enumerate().peekable();
    for arrival in arrivals {
        while let Some((id, (departure, _))) = departures.next_if(|(_, (_, packet))| packet.0 <= arrival.at) {
            under_way.insert(departure.label, id);
        }
        if let Some(id) = under_way.remove(&arrival.label) {
            came[id] = Some(*arrival);
        }
    }
    came
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rehearse::sending::Departure;

    fn whole(timestamp: u64, captured: Option<Time>) -> Whole {
        Whole { at: Time::ZERO, timestamp, captured, data: [].into() }
    }

    #[test]
    fn frames_before_the_first_sender_report_are_known_by_those_after_it() {
        let taken = [1_000, 1_033, 1_067].map(Time::from_millis);
        let second = Time::from_nanos(1_032_999_990);
        let frames = [whole(90_000, None), whole(92_970, Some(second)), whole(96_030, None), whole(99_000, None)];
        assert_eq!(pictures(&frames, &taken), [Some(0), Some(1), Some(2), None]);
        assert_eq!(pictures(&frames[..1], &taken), [None]);
    }

    #[test]
    fn a_label_that_comes_round_again_is_the_newest_packet_that_had_it() {
        let (label, size) = (Label { ssrc: 7, sequence: 9 }, Bytes::new(100));
        let other = Label { ssrc: 7, sequence: 10 };
        let departures = vec![Departure { label, size }, Departure { label: other, size }, Departure { label, size }];
        let packets: Vec<_> =
            [10, 20, 30].map(|millis| (Time::from_millis(millis), Payload::Media, size)).into_iter().collect();
        let sent = Sent { departures, ..Sent::default() };
        let arrival = |millis, label| Arrival { at: Time::from_millis(millis), label, size };
        // The first is lost; what comes twice is counted once; a stranger is nobody's.
        let arrivals =
            [arrival(25, other), arrival(26, other), arrival(40, label), arrival(41, Label { ssrc: 8, sequence: 1 })];
        let came = came(&sent, &packets, &arrivals);
        let at = came.iter().map(|arrival| arrival.map(|arrival| arrival.at.as_millis())).collect::<Vec<_>>();
        assert_eq!(at, [None, Some(25), Some(40)]);
    }
}
