//! Actions and knowledge of the sender under test, by time: read from its events.

use std::collections::BTreeMap;

use crate::record::Row;

/// Values with their times in seconds, in order.
pub(super) type Timed<T> = Vec<(f64, T)>;

/// Limits set by a controller.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) capacity_bps: f64,
    pub(super) window_bytes: Option<f64>,
}

/// A change of a controller's rate.
#[derive(Debug, Clone)]
pub(super) struct Decision {
    pub(super) what: String,
    pub(super) why: String,
    pub(super) from_bps: f64,
    pub(super) to_bps: f64,
}

/// Feedback.
#[derive(Debug, Clone, Copy)]
pub(super) struct Report {
    pub(super) arrived: f64,
    pub(super) lost: f64,
    pub(super) rtt_ms: Option<f64>,
    pub(super) in_flight: f64,
}

/// A packet that left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    pub(super) bytes: f64,
    pub(super) is_media: bool,
    pub(super) in_flight: f64,
}

/// When a frame was where.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Frame {
    pub(super) queued: f64,
    pub(super) sent: Option<f64>,
    pub(super) shown: Option<f64>,
    pub(super) latency_ms: f64,
}

/// Anything that a log prints as a line.
#[derive(Debug, Clone, Default)]
pub(super) struct Entry {
    pub(super) event: String,
    pub(super) picture: Option<u64>,
    pub(super) bytes: Option<u64>,
    pub(super) count: Option<u64>,
    pub(super) rate_bps: Option<u64>,
    pub(super) span_ns: Option<i64>,
    pub(super) value: Option<f64>,
    pub(super) what: String,
    pub(super) why: String,
}

/// The events of a run's first flow, the sender under test.
#[derive(Debug, Clone, Default)]
pub struct Timeline {
    pub(super) limits: Timed<Limits>,
    pub(super) decisions: Timed<Decision>,
    pub(super) variables: BTreeMap<String, Timed<f64>>,
    pub(super) reports: Timed<Report>,
    pub(super) sent: Timed<Sent>,
    /// Waiting time in the path's queues of each packet that arrived, in ms.
    pub(super) waited: Timed<f64>,
    /// Why each packet was dropped.
    pub(super) dropped: Timed<String>,
    pub(super) frames: BTreeMap<u64, Frame>,
    /// Capture times of pictures.
    pub(super) pictures: Timed<u64>,
    pub(super) entries: Timed<Entry>,
}

/// Entries not later than `at`.
pub(super) fn until<T>(list: &[(f64, T)], at: f64) -> &[(f64, T)] {
    &list[..list.partition_point(|(time, _)| *time <= at)]
}

/// Entries after `from` and not later than `to`.
pub(super) fn between<T>(list: &[(f64, T)], from: f64, to: f64) -> &[(f64, T)] {
    let list = until(list, to);
    &list[list.partition_point(|(time, _)| *time <= from)..]
}

impl Timeline {
    /// Adds an event; those of other flows are ignored.
    pub fn add(&mut self, row: &Row<'_>) {
        if row.flow != 0 {
            return;
        }
        let at = row.time_ns as f64 / 1e9;
        let number = |value: Option<u64>| value.unwrap_or_default() as f64;
        let ms = row.span_ns.map(|span| span as f64 / 1e6);
        match row.event {
            "picture-read" => self.pictures.push((at, row.picture.unwrap_or_default())),
            "variable" => {
                let value = row.value.unwrap_or_default();
                if let Some(known) = self.variables.get_mut(row.what) {
                    known.push((at, value));
                } else {
                    self.variables.insert(row.what.into(), vec![(at, value)]);
                }
            }
            "packet-sent" => {
                let sent =
                    Sent { bytes: number(row.bytes), is_media: row.what == "media", in_flight: number(row.count) };
                self.sent.push((at, sent));
            }
            "packet-arrived" => self.waited.push((at, ms.unwrap_or_default())),
            "packet-dropped" => self.dropped.push((at, row.why.into())),
            "feedback" => {
                let (arrived, in_flight) = (number(row.count), number(row.bytes));
                let lost = row.value.unwrap_or_default();
                self.reports.push((at, Report { arrived, lost, rtt_ms: ms, in_flight }));
            }
            "report-sent" => {}
            _ => self.add_entry(at, row),
        }
    }

    fn add_entry(&mut self, at: f64, row: &Row<'_>) {
        let number = |value: Option<u64>| value.unwrap_or_default() as f64;
        let frame = row.frame.and_then(|frame| self.frames.get_mut(&frame));
        match (row.event, frame) {
            ("send-limits", _) => {
                let window_bytes = row.bytes.map(|bytes| bytes as f64);
                self.limits.push((at, Limits { capacity_bps: number(row.rate_bps), window_bytes }));
            }
            ("decision", _) => {
                let (from_bps, to_bps) = (row.value.unwrap_or_default(), number(row.rate_bps));
                let (what, why) = (row.what.into(), row.why.into());
                self.decisions.push((at, Decision { what, why, from_bps, to_bps }));
            }
            ("frame-queued", _) => {
                self.frames.insert(row.frame.unwrap_or_default(), Frame { queued: at, ..Frame::default() });
            }
            ("frame-sent", Some(frame)) => frame.sent = Some(at),
            ("frame-displayed", Some(frame)) => {
                frame.shown = Some(at);
                frame.latency_ms = row.span_ns.unwrap_or_default() as f64 / 1e6;
            }
            _ => {}
        }
        if ["frame-sent", "frame-displayed"].contains(&row.event) {
            return;
        }
        let entry = Entry {
            event: row.event.into(),
            picture: row.picture,
            bytes: row.bytes,
            count: row.count,
            rate_bps: row.rate_bps,
            span_ns: row.span_ns,
            value: row.value,
            what: row.what.into(),
            why: row.why.into(),
        };
        self.entries.push((at, entry));
    }

    /// A variable at a moment.
    pub(super) fn variable(&self, name: &str, at: f64) -> Option<f64> {
        until(self.variables.get(name)?, at).last().map(|(_, value)| *value)
    }
}
