//! Viewers in figures: for the page, and for Prometheus.

use std::fmt::Write;

use thalweg_control::Payload;
use thalweg_units::{Bytes, Rate, Span, Time};

use super::network::Network;
use super::viewer::{State, Viewer};
use crate::web::Snapshot;

/// The figures of one viewer.
pub(super) fn snapshot(now: Time, viewer: &Viewer) -> Snapshot {
    let gauges = &viewer.gauges;
    let figures = viewer.outgoing.figures();
    let engine = viewer.outgoing.engine();
    let allowance = engine.map(|engine| *engine.allowance());
    let millis = |span: Span| span.as_millis_f64();
    let micros = |share: f64| viewer.lateness.percentile(share).map(|span| span.as_nanos() as f64 / 1000.0);
    let rate = |payload| Some(gauges.rate(now, payload).as_bps_f64());
    Snapshot {
        time_s: (now - viewer.joined).as_secs_f64(),
        scheme: viewer.outgoing.scheme().name.clone(),
        target_bps: gauges.target.map(Rate::as_bps_f64),
        encoder_bps: Some(gauges.encoded(now).as_bps_f64()),
        wire_bps: Some(gauges.wire(now).as_bps_f64()),
        filler_bps: rate(Payload::Filler),
        repair_bps: rate(Payload::Repair),
        audio_bps: rate(Payload::Audio),
        capacity_bps: allowance.map(|allowance| allowance.capacity.as_bps_f64()),
        window_bytes: allowance.and_then(|allowance| allowance.window).map(Bytes::get),
        in_flight_bytes: engine.map(|_| gauges.in_flight.get()),
        rtt_ms: gauges.rtt.map(millis),
        queue_ms: gauges.rtt.zip(gauges.least_rtt).map(|(rtt, least)| millis(rtt - least)),
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
    }
}

/// Everything in Prometheus' text format, version 0.0.4.
pub(super) fn metrics(now: Time, network: &Network) -> String {
    let mut text = Text::default();
    let viewers = || network.viewers.values();
    text.gauge("thalweg_viewers", "Viewers, connected or about to be.", [("".into(), network.viewers.len() as f64)]);
    text.counter(
        "thalweg_stranger_datagrams_total",
        "Datagrams that belong to no viewer.",
        [("".into(), network.strangers as f64)],
    );
    text.counter(
        "thalweg_pictures_missed_total",
        "Pictures that the camera had no time for: the machine is busy.",
        [("".into(), network.missed as f64)],
    );
    let each = |of: &dyn Fn(&Viewer) -> f64| -> Vec<(String, f64)> {
        viewers().map(|viewer| (labels(network, viewer, ""), of(viewer))).collect()
    };
    text.gauge(
        "thalweg_connected",
        "1 while media flows.",
        each(&|v| f64::from(u8::from(v.state == State::Connected))),
    );
    for (index, name) in ["media", "filler", "repair", "audio"].into_iter().enumerate() {
        let label = format!(",payload=\"{name}\"");
        let of = |of: &dyn Fn(&Viewer) -> f64| -> Vec<(String, f64)> {
            viewers().map(|viewer| (labels(network, viewer, &label), of(viewer))).collect()
        };
        text.counter(
            "thalweg_sent_bytes_total",
            "Bytes sent, from the IP header upwards.",
            of(&|v| v.gauges.sent[index].get() as f64),
        );
        text.counter("thalweg_sent_packets_total", "Packets sent.", of(&|v| v.gauges.packets[index] as f64));
    }
    text.counter(
        "thalweg_frames_sent_total",
        "Frames whose last packet has left.",
        each(&|v| v.gauges.frames_sent as f64),
    );
    text.counter(
        "thalweg_pictures_skipped_total",
        "Pictures that became no frame.",
        each(&|v| v.gauges.skipped as f64),
    );
    text.counter("thalweg_keyframes_total", "Keyframes.", each(&|v| v.gauges.keyframes as f64));
    text.counter("thalweg_packets_arrived_total", "Packets reported as arrived.", each(&|v| v.gauges.arrived as f64));
    text.counter("thalweg_packets_lost_total", "Packets taken as lost.", each(&|v| v.gauges.lost as f64));
    text.counter("thalweg_reports_total", "Reports of arrivals.", each(&|v| v.outgoing.figures().reports as f64));
    text.counter("thalweg_nacks_total", "Requests for repeats.", each(&|v| v.outgoing.figures().nacks as f64));
    text.counter(
        "thalweg_keyframe_requests_total",
        "Requests for a keyframe.",
        each(&|v| v.outgoing.figures().keyframe_requests as f64),
    );
    let allowance = |v: &Viewer| v.outgoing.engine().map(|engine| *engine.allowance());
    text.gauge(
        "thalweg_capacity_bits_per_second",
        "What the path is believed to bear.",
        each(&|v| allowance(v).map_or(f64::NAN, |a| a.capacity.as_bps_f64())),
    );
    text.gauge(
        "thalweg_window_bytes",
        "The congestion window.",
        each(&|v| allowance(v).and_then(|a| a.window).map_or(f64::NAN, |w| w.as_f64())),
    );
    text.gauge(
        "thalweg_wire_bits_per_second",
        "Sent over the last second.",
        each(&|v| v.gauges.wire(now).as_bps_f64()),
    );
    text.gauge(
        "thalweg_target_bits_per_second",
        "What the encoder is asked for.",
        each(&|v| v.gauges.target.map_or(f64::NAN, Rate::as_bps_f64)),
    );
    text.gauge(
        "thalweg_round_trip_seconds",
        "The newest round trip.",
        each(&|v| v.gauges.rtt.map_or(f64::NAN, Span::as_secs_f64)),
    );
    text.gauge(
        "thalweg_frame_delay_seconds",
        "How long the newest frame took to leave.",
        each(&|v| v.gauges.frame_delay.map_or(f64::NAN, Span::as_secs_f64)),
    );
    for share in ["0.5", "0.9", "0.99"] {
        let quantile = share.parse().unwrap_or(0.5);
        let label = format!(",quantile=\"{share}\"");
        let late = |viewer: &Viewer| viewer.lateness.percentile(quantile).map_or(f64::NAN, Span::as_secs_f64);
        let of = viewers().map(|viewer| (labels(network, viewer, &label), late(viewer)));
        text.gauge("thalweg_pacing_lateness_seconds", "How late packets leave.", of);
    }
    text.finish()
}

fn labels(network: &Network, viewer: &Viewer, more: &str) -> String {
    let channel = &network.channels[viewer.channel].config.name;
    format!("{{viewer=\"{}\",channel=\"{channel}\",scheme=\"{}\"{more}}}", viewer.key, viewer.outgoing.scheme().name)
}

/// Prometheus' text in the making: each family's head once, then its samples.
#[derive(Default)]
struct Text {
    families: Vec<(String, String)>,
}

impl Text {
    fn counter(&mut self, name: &str, help: &str, samples: impl IntoIterator<Item = (String, f64)>) {
        self.family("counter", name, help, samples);
    }

    fn gauge(&mut self, name: &str, help: &str, samples: impl IntoIterator<Item = (String, f64)>) {
        self.family("gauge", name, help, samples);
    }

    fn family(&mut self, kind: &str, name: &str, help: &str, samples: impl IntoIterator<Item = (String, f64)>) {
        let index = self.families.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.families.push((name.into(), format!("# HELP {name} {help}\n# TYPE {name} {kind}\n")));
            self.families.len() - 1
        });
        let text = &mut self.families[index].1;
        for (labels, value) in samples.into_iter().filter(|(_, value)| !value.is_nan()) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    }

    fn finish(self) -> String {
        self.families.into_iter().map(|(_, text)| text).collect()
    }
}
