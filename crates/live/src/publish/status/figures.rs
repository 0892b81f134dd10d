//! Statistics of viewers: for the page, and for Prometheus.

use thalweg_control::Payload;
use thalweg_session::outgoing::Figures;
use thalweg_units::{Bytes, Rate, Span, Time};

use crate::publish::messages::{RungId, State};
use crate::publish::network::Network;
use crate::publish::overload::Tally;
use crate::publish::encoders::rung::Rung;
use crate::publish::viewers::viewer::Viewer;
use crate::measure::EcnCounts;
use crate::observe::prometheus::{Text, bytes_per_second, escaped, one};
use crate::web::{LinkFigures, Snapshot};
use thalweg_emulate::{LinkHandle, LinkState};

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

impl Network {
    /// All metrics in Prometheus' text format, version 0.0.4: units are seconds and bytes, and counters end in
    /// `_total`.
    pub(crate) fn metrics(&self, now: Time) -> String {
        let mut text = Text::default();
        let version = env!("CARGO_PKG_VERSION");
        text.gauge(
            "thalweg_build_info",
            "Which program this is; always 1.",
            [(format!("{{version=\"{version}\"}}"), 1.0)],
        );
        text.gauge("thalweg_viewers", "Viewers, connected or about to be.", [one(self.viewers.len() as u64)]);
        text.counter(
            "thalweg_unknown_source_datagrams_total",
            "Datagrams that belong to no viewer.",
            [one(self.from_unknown_sources)],
        );
        text.counter(
            "thalweg_viewers_ended_total",
            "Viewers ended for what they did, by why: they acknowledged packets that were never sent.",
            [("{why=\"false_acknowledgements\"}".into(), self.false_acknowledgements as f64)],
        );
        let missed = "Pictures that were not taken at their time: the machine was busy, or a live source late.";
        text.counter("thalweg_pictures_missed_total", missed, [one(self.missed)]);
        if let Some(requests) = self.upstream.requests() {
            let help = "Keyframes that the sender of passed frames was asked for, for viewers.";
            text.counter("thalweg_upstream_keyframe_requests_total", help, [one(requests)]);
        }
        let slow = |tally: fn(&Viewer) -> &Tally| {
            self.viewers.values().filter(|viewer| tally(viewer).verdict(now).is_some()).count()
        };
        let parts = [
            ("camera", usize::from(self.camera.verdict(now).is_some())),
            ("encoder", slow(|viewer| &viewer.encode_times)),
            ("pacer", slow(|viewer| &viewer.pacer)),
        ];
        text.gauge(
            "thalweg_too_slow",
            "Part for which this machine is too slow: the camera (1), or the encoders and pacers of so many viewers.",
            parts.map(|(part, count)| (format!("{{part=\"{part}\"}}"), count as f64)),
        );
        for channel in &self.channels {
            let (name, counts) = (escaped(&channel.config.name), channel.socket.counts());
            let lost =
                [("receive_buffer", counts.missed), ("send_buffer", counts.overflowed), ("refused", counts.failed)];
            let of = lost.map(|(why, count)| (format!("{{channel=\"{name}\",why=\"{why}\"}}"), count as f64));
            text.counter(
                "thalweg_udp_lost_datagrams_total",
                "Datagrams this machine had no room for, or did not send.",
                of,
            );
            let of = |direction: &str, count: u64| {
                (format!("{{channel=\"{name}\",direction=\"{direction}\"}}"), count as f64)
            };
            let datagrams = [of("sent", counts.sent), of("received", counts.received)];
            text.counter("thalweg_udp_datagrams_total", "Datagrams that left and came.", datagrams);
            let calls = [of("sent", counts.send_calls), of("received", counts.receive_calls)];
            text.counter("thalweg_udp_system_calls_total", "System calls that sent and read them.", calls);
            let by_ecn = EcnCounts::from(counts.received_by_ecn).labelled();
            let of = by_ecn.map(|(ecn, count)| (format!("{{channel=\"{name}\",ecn=\"{ecn}\"}}"), count as f64));
            text.counter(
                "thalweg_udp_received_ecn_total",
                "Datagrams that came, by the ECN field of their packets.",
                of,
            );
        }
        let viewers = || self.viewers.values();
        let shared = |of: &dyn Fn(RungId, &Rung) -> f64| -> Vec<(String, f64)> {
            self.shared.iter().map(|(id, rung)| (format!("{{encoder=\"{id}\"}}"), of(id, rung))).collect()
        };
        let on = |id| viewers().filter(|viewer| viewer.rung() == Some(id)).count() as f64;
        text.gauge(
            "thalweg_shared_encoder_viewers",
            "Viewers of an encoder that several share.",
            shared(&|id, _| on(id)),
        );
        let help = "Target rate of a shared encoder.";
        text.gauge("thalweg_shared_encoder_bytes_per_second", help, shared(&|_, rung| bytes_per_second(rung.rate)));
        let help = "Frames that a shared encoder made.";
        text.counter("thalweg_shared_encoder_frames_total", help, shared(&|_, rung| rung.made() as f64));
        let each = |of: &dyn Fn(&Viewer) -> f64| -> Vec<(String, f64)> {
            viewers().map(|viewer| (self.labels(viewer, ""), of(viewer))).collect()
        };
        let connected = |v: &Viewer| f64::from(u8::from(v.state == State::Connected));
        text.gauge("thalweg_connected", "1 while media flows.", each(&connected));
        let replaced = viewers().filter_map(|viewer| {
            let asked = escaped(viewer.asked.as_deref()?);
            Some((self.labels(viewer, &format!(",asked=\"{asked}\"")), 1.0))
        });
        let help = "1 where another scheme is played than was asked for: the viewer's reports do not suffice for it.";
        text.gauge("thalweg_scheme_replaced", help, replaced);
        for payload in Payload::ALL {
            let (index, label) = (payload as usize, format!(",payload=\"{}\"", payload.name()));
            let of = |of: &dyn Fn(&Viewer) -> f64| -> Vec<(String, f64)> {
                viewers().map(|viewer| (self.labels(viewer, &label), of(viewer))).collect()
            };
            let (bytes, packets) = ("Bytes sent, from the IP header upwards.", "Packets sent.");
            text.counter("thalweg_sent_bytes_total", bytes, of(&|v| v.gauges.sent[index].as_f64()));
            text.counter("thalweg_sent_packets_total", packets, of(&|v| v.gauges.packets[index] as f64));
        }
        let by_ecn = |of: fn(&Figures) -> [u64; 4]| -> Vec<(String, f64)> {
            let of = |viewer: &Viewer| {
                let labelled = EcnCounts::from(of(&viewer.outgoing.figures())).labelled();
                labelled.map(|(ecn, count)| (self.labels(viewer, &format!(",ecn=\"{ecn}\"")), count as f64))
            };
            viewers().flat_map(of).collect()
        };
        let (sent, arrived) = (by_ecn(|figures| figures.sent_by_ecn), by_ecn(|figures| figures.arrived_by_ecn));
        text.counter("thalweg_sent_ecn_total", "Packets sent, by the ECN field they left with.", sent);
        let help = "Packets reported as arrived, by the ECN field they came with; RFC 8888 alone says it.";
        text.counter("thalweg_arrived_ecn_total", help, arrived);
        type Of<T> = fn(&Viewer) -> T;
        let counters: [(&str, &str, Of<u64>); 10] = [
            ("thalweg_frames_sent_total", "Frames whose last packet has left.", |v| v.gauges.frames_sent),
            ("thalweg_pictures_skipped_total", "Pictures that became no frame.", |v| v.gauges.skipped),
            ("thalweg_keyframes_total", "Keyframes.", |v| v.gauges.keyframes),
            ("thalweg_packets_arrived_total", "Packets reported as arrived.", |v| v.gauges.arrived),
            ("thalweg_packets_lost_total", "Packets taken as lost.", |v| v.gauges.lost),
            ("thalweg_reports_total", "Reports of arrivals.", |v| v.outgoing.figures().reports),
            ("thalweg_path_reports_total", "Reports of what the path bears.", |v| v.outgoing.figures().path_reports),
            ("thalweg_unsent_packets_total", "Packets that could not be sent.", |v| v.outgoing.figures().unsent),
            ("thalweg_nacks_total", "Requests for retransmissions.", |v| v.outgoing.figures().nacks),
            ("thalweg_keyframe_requests_total", "Requests for a keyframe.", |v| v.outgoing.figures().keyframe_requests),
        ];
        for (name, help, of) in counters {
            text.counter(name, help, each(&|v| of(v) as f64));
        }
        let wire = "Sent over the last second, from the IP header upwards.";
        text.gauge("thalweg_wire_bytes_per_second", wire, each(&|v| bytes_per_second(v.gauges.wire(now))));
        let gauges: [(&str, &str, Of<Option<f64>>); 7] = [
            ("thalweg_capacity_bytes_per_second", "Estimated capacity of the path.", |v| {
                Some(bytes_per_second(v.outgoing.engine()?.limits().capacity))
            }),
            ("thalweg_ceiling_bytes_per_second", "The most that may be sent, where it is limited.", |v| {
                v.outgoing.ceiling().map(bytes_per_second)
            }),
            ("thalweg_target_bytes_per_second", "Target rate of the encoder.", |v| {
                v.gauges.target.map(bytes_per_second)
            }),
            ("thalweg_window_bytes", "The congestion window.", |v| {
                Some(v.outgoing.engine()?.limits().window?.as_f64())
            }),
            ("thalweg_in_flight_bytes", "Sent, and neither acknowledged nor given up.", |v| {
                v.outgoing.engine().map(|_| v.gauges.in_flight.as_f64())
            }),
            ("thalweg_round_trip_seconds", "The newest round trip.", |v| v.gauges.rtt.map(Span::as_secs_f64)),
            ("thalweg_frame_delay_seconds", "From the newest frame's encoding to its last packet's departure.", |v| {
                v.gauges.frame_delay.map(Span::as_secs_f64)
            }),
        ];
        for (name, help, of) in gauges {
            text.gauge(name, help, each(&|v| of(v).unwrap_or(f64::NAN)));
        }
        let late = viewers().flat_map(|viewer| {
            let quantiles = [0.5, 0.9, 0.99].map(|share| {
                let late = viewer.lateness.percentile(share).map_or(f64::NAN, Span::as_secs_f64);
                (self.labels(viewer, &format!(",quantile=\"{share}\"")), late)
            });
            let of = |suffix: &str| format!("{suffix}{}", self.labels(viewer, ""));
            let (sum, count) = (viewer.lateness.sum().as_secs_f64(), viewer.lateness.count() as f64);
            quantiles.into_iter().chain([(of("_sum"), sum), (of("_count"), count)])
        });
        let help = "How much later than the pacer wanted packets left.";
        text.family("summary", "thalweg_pacing_lateness_seconds", help, late);
        text.finish()
    }

    fn labels(&self, viewer: &Viewer, more: &str) -> String {
        let channel = escaped(&self.channels[viewer.channel].config.name);
        let scheme = escaped(viewer.outgoing.scheme().name());
        format!("{{viewer=\"{}\",channel=\"{channel}\",scheme=\"{scheme}\"{more}}}", viewer.key)
    }
}
