//! Statistics of a receiver, shared by its threads.

use std::collections::VecDeque;

use thalweg_receiver::rtp::{Statistics, VideoCounts, VideoFrame};
use thalweg_units::{Bytes, Rate, Size, Span, Time, percentile};

use super::captured_ms;
use super::recent::LastSecond;
use super::report::Report;

/// A gap between pictures longer than this is a freeze (specs/metrics.md 5).
const FREEZE: Span = Span::from_millis(200);
/// The number of latencies and skews kept for percentiles: nine hours at 30 per second.
const KEPT: usize = 1 << 20;
/// A number this far ahead of the last one is not a valid barcode: one minute at 240 fps.
const FAR: u64 = 60 * 240;

/// A frame that was received whole.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenFrame {
    /// Its number, in the order of frames.
    pub frame: u64,
    /// Its RTP timestamp (90 kHz), unwrapped.
    pub timestamp: u64,
    /// When its picture was taken, in milliseconds since 1970 by the sender's clock; `None` before the first sender
    /// report.
    pub captured_ms: Option<f64>,
    /// When its last packet arrived.
    pub received: Time,
    /// When it was decoded, or was whole if nothing is decoded; `None` if it was not.
    pub shown: Option<Time>,
    /// Its size in pixels, once decoded.
    pub size: Option<Size>,
    /// Its bytes.
    pub bytes: usize,
    /// True for a keyframe.
    pub keyframe: bool,
    /// The number drawn on its picture ([`thalweg_video::barcode`]), if any.
    pub number: Option<u64>,
    /// The frame itself, if that was to be kept and an ordinary decoder takes it; else empty.
    pub data: Vec<u8>,
}

/// All statistics of a receiver.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    late_ms: f64,
    connected: Option<Time>,
    sessions: u64,
    agreed: Option<(String, String)>,
    /// Totals of past sessions, and counts of the present one.
    before: Counts,
    current: Counts,
    jitter: Span,
    round_trip: Option<Span>,
    path: Option<Rate>,
    wire: Bytes,
    frame_bytes: Bytes,
    whole: u64,
    keyframes: u64,
    decoded: u64,
    undecodable: u64,
    skipped: u64,
    shown: Shown,
    resolution: Option<Size>,
    last_number: Option<u64>,
    /// The last number whose time sender reports say, and that in milliseconds since 1970.
    last_reported: Option<(u64, f64)>,
    missing: u64,
    late: u64,
    by_barcode: VecDeque<f32>,
    by_report: VecDeque<f32>,
    offset: Option<(f64, f64)>,
    audio: u64,
    first_audio: Option<Time>,
    skews: VecDeque<(f64, f64)>,
    recent_wire: LastSecond,
    recent_shown: LastSecond,
    /// Each frame, if they are kept.
    frames: Option<Vec<SeenFrame>>,
    keeps_data: bool,
}

/// The statistics of a reception that can be summed over sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Counts {
    received: u64,
    lost: i64,
    fec: u64,
    audio_lost: u64,
    rtcp_unsent: u64,
    by_ecn: [u64; 4],
    retransmissions_by_ecn: [u64; 4],
    video: VideoCounts,
}

impl Counts {
    fn of(statistics: &Statistics) -> Counts {
        Counts {
            received: statistics.video_stream.received,
            lost: statistics.video_stream.lost,
            fec: statistics.fec_stream.received,
            audio_lost: statistics.audio.lost,
            rtcp_unsent: statistics.rtcp_unsent,
            by_ecn: statistics.by_ecn,
            retransmissions_by_ecn: statistics.retransmissions_by_ecn,
            video: statistics.video,
        }
    }

    fn plus(self, other: Counts) -> Counts {
        Counts {
            received: self.received + other.received,
            lost: self.lost + other.lost,
            fec: self.fec + other.fec,
            audio_lost: self.audio_lost + other.audio_lost,
            rtcp_unsent: self.rtcp_unsent + other.rtcp_unsent,
            by_ecn: sum(self.by_ecn, other.by_ecn),
            retransmissions_by_ecn: sum(self.retransmissions_by_ecn, other.retransmissions_by_ecn),
            video: self.video.plus(other.video),
        }
    }
}

fn sum(one: [u64; 4], other: [u64; 4]) -> [u64; 4] {
    std::array::from_fn(|field| one[field] + other[field])
}

/// Displayed pictures, and the gaps between them.
#[derive(Debug, Default)]
struct Shown {
    count: u64,
    first: Option<Time>,
    last: Option<Time>,
    frozen: Span,
    freezes: u64,
    longest: Span,
}

impl Shown {
    fn add(&mut self, at: Time) {
        self.count += 1;
        self.first.get_or_insert(at);
        if let Some(last) = self.last.replace(at) {
            self.gap(at - last);
        }
    }

    fn gap(&mut self, gap: Span) {
        self.longest = self.longest.max(gap);
        if gap > FREEZE {
            self.frozen += gap;
            self.freezes += 1;
        }
    }

    /// Includes the time since the last picture as a gap. Returns playing time, frozen share, number of freezes,
    /// longest gap.
    fn until(&self, now: Time) -> (Span, f64, u64, Span) {
        let (Some(first), Some(last)) = (self.first, self.last) else { return (Span::ZERO, 0.0, 0, Span::ZERO) };
        let mut all = Shown { count: 0, first: None, last: None, ..*self };
        all.gap(now - last);
        let playing = now - first;
        let ratio = if playing > Span::ZERO { all.frozen.ratio(playing) } else { 0.0 };
        (playing, ratio, all.freezes, all.longest)
    }
}

impl Measured {
    pub(crate) fn new(late: Span) -> Measured {
        Measured { late_ms: late.as_millis_f64(), ..Measured::default() }
    }

    /// Keeps each frame, with its data if wanted, for [`Measured::take_frames`].
    pub(crate) fn keep_frames(&mut self, with_data: bool) {
        (self.frames, self.keeps_data) = (Some(Vec::new()), with_data);
    }

    /// The frames that were kept.
    pub(crate) fn take_frames(&mut self) -> Vec<SeenFrame> {
        self.frames.take().unwrap_or_default()
    }

    /// A connection is established, with this codec and this kind of feedback.
    pub(crate) fn on_connected(&mut self, now: Time, codec: &str, feedback: String) {
        self.connected.get_or_insert(now);
        self.sessions += 1;
        self.agreed = Some((codec.to_owned(), feedback));
    }

    /// The present counts of the reception.
    pub(crate) fn on_statistics(&mut self, statistics: &Statistics) {
        self.current = Counts::of(statistics);
        self.jitter = statistics.video_stream.jitter;
        self.round_trip = statistics.round_trip;
        self.path = statistics.path.and_then(|path| path.capacity);
    }

    /// The session is over: the next one counts from zero.
    pub(crate) fn on_end(&mut self) {
        self.before = self.before.plus(std::mem::take(&mut self.current));
        // The publisher may have restarted its numbering.
        self.last_number = None;
    }

    /// A datagram of this size, counted from the IP header on, arrived.
    pub(crate) fn on_datagram(&mut self, now: Time, size: Bytes) {
        self.wire += size;
        self.recent_wire.add(now, size.get());
    }

    /// An audio packet arrived.
    pub(crate) fn on_audio(&mut self, now: Time) {
        self.first_audio.get_or_insert(now);
        self.audio += 1;
    }

    /// How much later video arrives than audio, measured once per second.
    pub(crate) fn on_skew(&mut self, now: Time, skew: Span) {
        push(&mut self.skews, (now.as_secs_f64(), skew.as_millis_f64()));
    }

    /// A frame is complete. `now_ms` is our time of day in milliseconds since 1970: latency is from when sender reports
    /// say that its picture was taken.
    pub(crate) fn on_frame(&mut self, now_ms: f64, frame: &VideoFrame) {
        self.whole += 1;
        self.keyframes += u64::from(frame.keyframe);
        self.frame_bytes += Bytes::new(frame.data.len() as u64);
        let captured_ms = captured_ms(frame);
        if let Some(captured_ms) = captured_ms {
            let latency_ms = now_ms + self.offset_ms() - captured_ms;
            push(&mut self.by_report, latency_ms as f32);
        }
        if let Some(frames) = &mut self.frames {
            frames.push(SeenFrame {
                frame: frame.number,
                timestamp: frame.timestamp,
                captured_ms,
                received: frame.last_arrival,
                shown: None,
                size: None,
                bytes: frame.data.len(),
                keyframe: frame.keyframe,
                number: None,
                data: if self.keeps_data && frame.moves.is_none() { frame.data.clone() } else { Vec::new() },
            });
        }
    }

    /// A frame was skipped because the decoder is behind.
    pub(crate) fn on_skipped(&mut self) {
        self.skipped += 1;
    }

    /// The decoder rejected a frame.
    pub(crate) fn on_undecodable(&mut self) {
        self.undecodable += 1;
    }

    /// A frame was decoded.
    pub(crate) fn on_decoded(&mut self) {
        self.decoded += 1;
    }

    /// The picture of this frame is displayed, or would be.
    pub(crate) fn on_shown(&mut self, now: Time, frame: u64, size: Option<Size>) {
        self.shown.add(now);
        self.recent_shown.add(now, 1);
        self.resolution = size.or(self.resolution);
        if let Some(seen) = self.kept(frame) {
            (seen.shown, seen.size) = (Some(now), size);
        }
    }

    /// The kept frame with this number, one of the last.
    fn kept(&mut self, frame: u64) -> Option<&mut SeenFrame> {
        self.frames.as_mut()?.iter_mut().rev().find(|seen| seen.frame == frame)
    }

    /// The displayed picture has this number; `since` returns the time since a picture was taken, in milliseconds.
    pub(crate) fn on_number(&mut self, number: u64, since: impl Fn(u64) -> f64) {
        let first = match self.last_number {
            None => number,
            // A repeated picture, an older one, or an invalid number.
            Some(last) if number <= last || number - last > FAR => return,
            Some(last) => last + 1,
        };
        self.last_number = Some(number);
        self.missing += number - first;
        self.late += u64::from(since(number) > self.late_ms);
        for waited in first..=number {
            push(&mut self.by_barcode, since(waited) as f32);
        }
    }

    /// The same for a sender that says by reports alone when pictures were taken, at `captured_ms` this one. Of a
    /// missing picture that is between its neighbours. A camera that plays a file begins to count anew at its end.
    pub(crate) fn on_reported_number(&mut self, frame: u64, number: u64, now_ms: f64, captured_ms: Option<f64>) {
        if let Some(seen) = self.kept(frame) {
            seen.number = Some(number);
        }
        let Some(captured_ms) = captured_ms else { return };
        if self.last_number.is_some_and(|last| number < last) {
            (self.last_number, self.last_reported) = (None, None);
        }
        let before = self.last_reported.replace((number, captured_ms)).filter(|(last, _)| *last < number);
        self.on_number(number, |wanted| {
            let earlier_ms = before
                .map_or(0.0, |(last, at_ms)| (captured_ms - at_ms) * (number - wanted) as f64 / (number - last) as f64);
            now_ms - (captured_ms - earlier_ms)
        });
    }

    /// The rate of what arrived over the last second, from the IP header on, and the pictures shown in it.
    pub(crate) fn recent(&self, now: Time) -> (Rate, f64) {
        (self.recent_wire.rate(now), self.recent_shown.per_second(now))
    }

    /// The publisher's clock minus ours, and the uncertainty of that, both in milliseconds.
    pub(crate) fn on_offset(&mut self, offset: Option<(f64, f64)>) {
        self.offset = offset;
    }

    /// The offset alone.
    pub(crate) fn offset_ms(&self) -> f64 {
        self.offset.map_or(0.0, |(offset, _)| offset)
    }

    /// The report of everything until now.
    pub(crate) fn report(&self, now: Time) -> Report {
        let counts = self.before.plus(self.current);
        let duration = self.connected.map_or(Span::ZERO, |connected| now - connected);
        let per_second = |amount: f64, span: Span| if span > Span::ZERO { amount / span.as_secs_f64() } else { 0.0 };
        let (playing, stall_ratio, freezes, longest) = self.shown.until(now);
        let has_barcodes = !self.by_barcode.is_empty();
        let latencies = if has_barcodes { &self.by_barcode } else { &self.by_report };
        let latencies: Vec<f64> = latencies.iter().map(|latency| f64::from(*latency)).collect();
        let source = if has_barcodes { "barcodes" } else { "sender-reports" };
        let sent = counts.received as f64 + counts.lost as f64;
        let skews: Vec<f64> = self.skews.iter().map(|(_, skew)| *skew).collect();
        Report {
            duration_s: duration.as_secs_f64(),
            sessions: self.sessions,
            codec: self.agreed.as_ref().map(|(codec, _)| codec.clone()),
            feedback: self.agreed.as_ref().map(|(_, feedback)| feedback.clone()),
            resolution: self.resolution.map(|size| size.to_string()),
            frames_whole: self.whole,
            keyframes: self.keyframes,
            frames_decoded: self.decoded,
            frames_undecodable: self.undecodable,
            frames_skipped: self.skipped,
            frames_abandoned: counts.video.abandoned,
            pictures_missing: has_barcodes.then_some(self.missing),
            frames_late: self.late,
            frame_rate_fps: per_second(self.shown.count as f64, playing),
            stall_ratio,
            freezes,
            longest_freeze_ms: longest.as_millis_f64(),
            latency_p50_ms: percentile(&latencies, 0.5),
            latency_p95_ms: percentile(&latencies, 0.95),
            latency_mean_ms: (!latencies.is_empty()).then(|| latencies.iter().sum::<f64>() / latencies.len() as f64),
            latency_from: (!latencies.is_empty()).then_some(source),
            clock_offset_ms: self.offset.map(|(offset, _)| offset),
            clock_uncertainty_ms: self.offset.map(|(_, uncertainty)| uncertainty),
            video_bitrate_bps: per_second(self.frame_bytes.bits() as f64, duration),
            wire_bitrate_bps: per_second(self.wire.bits() as f64, duration),
            packets_received: counts.received,
            packets_by_ecn: counts.by_ecn.into(),
            retransmissions_by_ecn: counts.retransmissions_by_ecn.into(),
            packet_loss_ratio: if sent > 0.0 { (counts.lost as f64 / sent).max(0.0) } else { 0.0 },
            packets_retransmitted: counts.video.retransmitted,
            packets_recovered: counts.video.recovered,
            fec_packets: counts.fec,
            retransmissions_requested: counts.video.asked_for,
            keyframes_requested: counts.video.keyframes_requested,
            rtcp_unsent: counts.rtcp_unsent,
            jitter_ms: self.jitter.as_millis_f64(),
            round_trip_ms: self.round_trip.map(Span::as_millis_f64),
            path_capacity_bps: self.path.map(Rate::as_bps_f64),
            audio_packets: self.audio,
            audio_lost: counts.audio_lost,
            audio_rate_pps: per_second(self.audio as f64, self.first_audio.map_or(Span::ZERO, |first| now - first)),
            skew_ms: percentile(&skews, 0.5),
            skew_drift_ms_per_minute: slope(&self.skews).map(|slope| slope * 60.0),
        }
    }
}

fn push<T>(list: &mut VecDeque<T>, item: T) {
    if list.len() == KEPT {
        list.pop_front();
    }
    list.push_back(item);
}

/// Slope of the least-squares line through the points; `None` for fewer than ten.
fn slope(points: &VecDeque<(f64, f64)>) -> Option<f64> {
    let count = points.len() as f64;
    if points.len() < 10 {
        return None;
    }
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let (covariance, variance) = points.iter().fold((0.0, 0.0), |(covariance, variance), point| {
        (covariance + (point.0 - x) * (point.1 - y), variance + (point.0 - x).powi(2))
    });
    (variance > 0.0).then(|| covariance / variance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::EcnCounts;

    #[test]
    fn a_missing_picture_waits_until_the_next_one_is_shown() {
        let mut measured = Measured::new(Span::from_millis(150));
        let at = |now_ms: f64| move |number: u64| now_ms - 100.0 * number as f64;
        measured.on_number(1, at(150.0));
        measured.on_number(4, at(450.0));
        // Neither repeated, older nor invalid numbers count.
        for number in [4, 2, 1 << 40] {
            measured.on_number(number, at(9e9));
        }
        let report = measured.report(Time::from_millis(500));
        assert_eq!(measured.by_barcode, [50.0, 250.0, 150.0, 50.0]);
        assert_eq!((report.pictures_missing, report.frames_late, report.latency_p50_ms), (Some(2), 0, Some(100.0)));
        assert_eq!(report.latency_from, Some("barcodes"));
    }

    #[test]
    fn a_missing_picture_was_taken_between_its_neighbours_and_a_file_may_begin_again() {
        let mut measured = Measured::new(Span::from_millis(400));
        // Before the first sender report nothing is known.
        measured.on_reported_number(0, 9, 100.0, None);
        measured.on_reported_number(1, 10, 150.0, Some(100.0));
        measured.on_reported_number(2, 12, 250.0, Some(180.0));
        measured.on_reported_number(3, 0, 300.0, Some(220.0));
        measured.on_reported_number(4, 1, 330.0, Some(260.0));
        assert_eq!(measured.by_barcode, [50.0, 110.0, 70.0, 80.0, 70.0]);
        assert_eq!(measured.missing, 1);
    }

    #[test]
    fn a_gap_of_more_than_200_ms_is_a_freeze() {
        let times = [0.0, 0.033, 0.066, 0.316, 0.349, 0.749];
        let mut shown = Shown::default();
        times.iter().for_each(|time| shown.add(Time::from_secs_f64(*time)));
        let (playing, ratio, freezes, longest) = shown.until(Time::from_secs_f64(1.2));
        // 250 ms, 400 ms and the 451 ms until the end.
        assert!((ratio - 1.101 / 1.2).abs() < 1e-9, "{ratio}");
        assert_eq!((freezes, longest, playing), (3, Span::from_millis(451), Span::from_millis(1200)));
    }

    #[test]
    fn counts_of_sessions_add_up() {
        let mut measured = Measured::new(Span::from_millis(400));
        let mut statistics = Statistics { by_ecn: [1, 80, 0, 10], ..Statistics::default() };
        (statistics.video_stream.received, statistics.video_stream.lost, statistics.rtcp_unsent) = (90, 10, 3);
        measured.on_statistics(&statistics);
        measured.on_statistics(&statistics);
        measured.on_end();
        (statistics.video_stream.received, statistics.video_stream.lost) = (100, 0);
        measured.on_statistics(&statistics);
        let report = measured.report(Time::from_millis(1));
        assert_eq!((report.packets_received, report.packet_loss_ratio, report.rtcp_unsent), (190, 0.05, 6));
        assert_eq!(report.packets_by_ecn, EcnCounts { not_ect: 2, ect1: 160, ect0: 0, ce: 20 });
    }

    #[test]
    fn drift_is_the_slope_of_skews() {
        let mut measured = Measured::new(Span::from_millis(400));
        for second in 0..20 {
            measured.on_skew(Time::from_millis(1000 * second), Span::from_millis(5 + 2 * second as i64));
        }
        let report = measured.report(Time::from_millis(20_000));
        assert!((report.skew_drift_ms_per_minute.unwrap() - 120.0).abs() < 1e-6);
        assert_eq!(report.skew_ms, Some(24.0));
    }
}
