//! Statistics of one viewer, for the page.

use thalweg_control::Payload;
use thalweg_emulate::LinkState;
use thalweg_units::{Bytes, Rate, Span, Time};

use super::keeping_up::too_slow;
use crate::publish::sources::pictures::Pictures;
use crate::publish::viewers::viewer::Viewer;
use crate::web::{LinkFigures, Snapshot};

/// The statistics of one viewer, behind this link if one is emulated.
pub(crate) fn snapshot(now: Time, viewer: &Viewer, link: Option<LinkState>, pictures: &Pictures) -> Snapshot {
    let of_link = |link: LinkState| LinkFigures {
        capacity_bps: link.capacity(now).map(Rate::as_bps_f64),
        rate_bps: link.rate.map(Rate::as_bps_f64),
        delay_ms: link.delay.as_millis_f64(),
        loss: link.loss,
    };
    Snapshot {
        epoch_timestamp: viewer.outgoing.video_timestamp(pictures.begin),
        link: link.map(of_link),
        waiting: pictures.awaited(now).map(str::to_owned),
        too_slow: too_slow(now, pictures, viewer),
        ..figures(now, viewer)
    }
}

/// The part of a viewer's statistics that is its own.
fn figures(now: Time, viewer: &Viewer) -> Snapshot {
    let gauges = &viewer.gauges;
    let figures = viewer.outgoing.figures();
    let engine = viewer.outgoing.engine();
    let limits = engine.map(|engine| *engine.limits());
    let millis = |span: Span| span.as_millis_f64();
    let micros = |share: f64| viewer.lateness.percentile(share).map(|span| span.as_nanos() as f64 / 1000.0);
    let rate = |payload| Some(gauges.rate(now, payload).as_bps_f64());
    Snapshot {
        time_s: (now - viewer.joined).as_secs_f64(),
        scheme: viewer.outgoing.scheme().name().to_string(),
        asked_scheme: viewer.asked.clone(),
        target_bps: gauges.target.map(Rate::as_bps_f64),
        encoder_bps: Some(gauges.encoded(now).as_bps_f64()),
        wire_bps: Some(gauges.wire(now).as_bps_f64()),
        padding_bps: rate(Payload::Padding),
        repair_bps: rate(Payload::Repair),
        audio_bps: rate(Payload::Audio),
        capacity_bps: limits.map(|limits| limits.capacity.as_bps_f64()),
        window_bytes: limits.and_then(|limits| limits.window).map(Bytes::get),
        in_flight_bytes: engine.map(|_| gauges.in_flight.get()),
        rtt_ms: gauges.rtt.map(millis),
        queue_ms: gauges.rtt.zip(gauges.min_rtt).map(|(rtt, min)| millis(rtt - min)),
        frame_delay_ms: gauges.frame_delay.map(millis),
        alpha: gauges.alpha,
        paused: gauges.paused,
        frames_sent: gauges.frames_sent,
        frames_skipped: gauges.skipped,
        keyframes: gauges.keyframes,
        resolution: gauges.size.map(|size| size.to_string()),
        quantizer: gauges.quantizer.map(f64::from),
        loss_ratio: gauges.loss_ratio(),
        nacks: figures.nacks,
        plis: figures.keyframe_requests,
        feedback_kind: Some(viewer.feedback_kind().into()),
        connection_state: viewer.state.name().into(),
        pacing_lateness_us_p50: micros(0.5),
        pacing_lateness_us_p99: micros(0.99),
        sent_bytes: gauges.sent.iter().copied().sum::<Bytes>().get(),
        sent_by_ecn: figures.sent_by_ecn.into(),
        arrived_by_ecn: figures.arrived_by_ecn.into(),
        ..Snapshot::default()
    }
}
