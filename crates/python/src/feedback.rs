//! Feedback and packets, as values for a controller in Python.

use pyo3::prelude::*;
use thalweg_control::{self as control, Cause, Fate, Payload, Report};
use thalweg_units::{Bytes, Span};

use crate::array::Array;

/// Feedback on sent packets. Times are seconds, amounts bytes on the wire; the arrays have an entry for each packet whose
/// outcome became known, in order of sending, and are made when they are first used.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Feedback {
    values: Values,
    /// A copy, so that a controller may keep the feedback: 130 bytes a packet cost less than any call into Python.
    reports: Vec<Report>,
}

struct Values {
    now: f64,
    is_timeout: bool,
    rtt: Option<Span>,
    path_rtt: Option<Span>,
    srtt: Option<Span>,
    min_rtt: Option<Span>,
    in_flight: Bytes,
    delivered: Bytes,
    arrived: Bytes,
    lost: Bytes,
}

impl Feedback {
    pub(crate) fn of(feedback: &control::Feedback<'_>) -> Feedback {
        let control::Feedback { now, rtt, path_rtt, srtt, min_rtt, in_flight, delivered, .. } = *feedback;
        let (arrived, lost) = (feedback.arrived_bytes(), feedback.lost_bytes());
        let is_timeout = feedback.cause == Cause::FeedbackTimeout;
        let now = now.as_secs_f64();
        let values = Values { now, is_timeout, rtt, path_rtt, srtt, min_rtt, in_flight, delivered, arrived, lost };
        Feedback { values, reports: feedback.reports.to_vec() }
    }

    fn numbers<'py>(&self, py: Python<'py>, of: fn(&Report) -> i64) -> PyResult<Bound<'py, PyAny>> {
        Array::of(self.reports.iter().map(of).collect()).numpy(py)
    }

    fn flags<'py>(&self, py: Python<'py>, of: fn(&Report) -> bool) -> PyResult<Bound<'py, PyAny>> {
        Array::flags(self.reports.iter().map(of)).numpy(py)
    }
}

fn seconds(span: Option<Span>) -> Option<f64> {
    span.map(Span::as_secs_f64)
}

#[pymethods]
impl Feedback {
    #[getter]
    fn now(&self) -> f64 {
        self.values.now
    }

    #[getter]
    fn is_timeout(&self) -> bool {
        self.values.is_timeout
    }

    #[getter]
    fn rtt(&self) -> Option<f64> {
        seconds(self.values.rtt)
    }

    #[getter]
    fn path_rtt(&self) -> Option<f64> {
        seconds(self.values.path_rtt)
    }

    #[getter]
    fn srtt(&self) -> Option<f64> {
        seconds(self.values.srtt)
    }

    #[getter]
    fn min_rtt(&self) -> Option<f64> {
        seconds(self.values.min_rtt)
    }

    #[getter]
    fn in_flight(&self) -> u64 {
        self.values.in_flight.get()
    }

    #[getter]
    fn delivered(&self) -> u64 {
        self.values.delivered.get()
    }

    #[getter]
    fn arrived_bytes(&self) -> u64 {
        self.values.arrived.get()
    }

    #[getter]
    fn lost_bytes(&self) -> u64 {
        self.values.lost.get()
    }

    fn __len__(&self) -> usize {
        self.reports.len()
    }

    #[getter]
    fn id<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.numbers(py, |report| report.packet.id.0 as i64)
    }

    #[getter]
    fn sent_ns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.numbers(py, |report| report.packet.at.as_nanos() as i64)
    }

    #[getter]
    fn arrival_ns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.numbers(py, |report| report.arrival().map_or(-1, |at| at.as_nanos() as i64))
    }

    #[getter]
    fn size<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.numbers(py, |report| report.packet.size.get() as i64)
    }

    #[getter]
    fn ce<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.flags(py, |report| report.fate.is_marked())
    }

    #[getter]
    fn was_lost<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.flags(py, |report| matches!(report.fate, Fate::Arrived { was_lost: true, .. }))
    }

    #[getter]
    fn payload<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let number = |report: &Report| payload_number(report.packet.payload);
        Array::of(self.reports.iter().map(number).collect()).numpy(py)
    }
}

/// Its place in `thalweg.PAYLOADS`.
fn payload_number(payload: Payload) -> u8 {
    Payload::ALL.iter().position(|known| *known == payload).unwrap_or_default() as u8
}

/// A packet that left.
#[pyclass(frozen, get_all, module = "thalweg._native")]
pub(crate) struct SentPacket {
    id: u64,
    at: f64,
    size: u64,
    payload: &'static str,
    in_flight: u64,
    app_limited: bool,
}

impl SentPacket {
    pub(crate) fn of(packet: &control::SentPacket) -> SentPacket {
        SentPacket {
            id: packet.id.0,
            at: packet.at.as_secs_f64(),
            size: packet.size.get(),
            payload: packet.payload.name(),
            in_flight: packet.in_flight.get(),
            app_limited: packet.app_limited,
        }
    }
}
