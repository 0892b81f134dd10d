//! Statistics of a publisher and its viewers, for Prometheus.

use thalweg_control::Payload;
use thalweg_session::outgoing::Figures;
use thalweg_units::{Span, Time};

use crate::measure::EcnCounts;
use crate::observe::prometheus::{Text, bytes_per_second, escaped, one};
use crate::publish::channels::Channels;
use crate::publish::encoders::placement::Encoders;
use crate::publish::encoders::rung::Rung;
use crate::publish::messages::{RungId, State};
use crate::publish::overload::Tally;
use crate::publish::sources::pictures::Pictures;
use crate::publish::viewers::audience::Audience;
use crate::publish::viewers::viewer::Viewer;

/// A figure of a viewer.
type Of<T> = fn(&Viewer) -> T;

/// The parts of a publisher that have metrics.
pub(crate) struct Metrics<'a> {
    pub(crate) now: Time,
    pub(crate) audience: &'a Audience,
    pub(crate) channels: &'a Channels,
    pub(crate) encoders: &'a Encoders,
    pub(crate) pictures: &'a Pictures,
}

impl Metrics<'_> {
    /// All metrics in Prometheus' text format, version 0.0.4: units are seconds and bytes, and counters end in
    /// `_total`.
    pub(crate) fn text(&self) -> String {
        let mut text = Text::default();
        self.publisher(&mut text);
        self.sockets(&mut text);
        self.shared_encoders(&mut text);
        self.sent(&mut text);
        self.counters(&mut text);
        self.gauges(&mut text);
        self.lateness(&mut text);
        text.finish()
    }

    fn publisher(&self, text: &mut Text) {
        let version = env!("CARGO_PKG_VERSION");
        text.gauge(
            "thalweg_build_info",
            "Which program this is; always 1.",
            [(format!("{{version=\"{version}\"}}"), 1.0)],
        );
        text.gauge("thalweg_viewers", "Viewers, connected or about to be.", [one(self.audience.viewers.len() as u64)]);
        text.counter(
            "thalweg_unknown_source_datagrams_total",
            "Datagrams that belong to no viewer.",
            [one(self.audience.from_unknown_sources)],
        );
        text.counter(
            "thalweg_viewers_ended_total",
            "Viewers ended for what they did, by why: they acknowledged packets that were never sent.",
            [("{why=\"false_acknowledgements\"}".into(), self.audience.false_acknowledgements as f64)],
        );
        let missed = "Pictures that were not taken at their time: the machine was busy, or a live source late.";
        text.counter("thalweg_pictures_missed_total", missed, [one(self.pictures.missed)]);
        let silent = u64::from(self.pictures.awaited(self.now).is_some());
        text.gauge(
            "thalweg_source_silent",
            "1 while no pictures come: the sender or the source is gone.",
            [one(silent)],
        );
        if let Some(requests) = self.encoders.upstream.requests() {
            let help = "Keyframes that the sender of passed frames was asked for, for viewers.";
            text.counter("thalweg_upstream_keyframe_requests_total", help, [one(requests)]);
        }
        let slow = |tally: fn(&Viewer) -> &Tally| {
            self.audience.viewers.values().filter(|viewer| tally(viewer).verdict(self.now).is_some()).count()
        };
        let parts = [
            ("camera", usize::from(self.pictures.camera.verdict(self.now).is_some())),
            ("encoder", slow(|viewer| &viewer.encode_times)),
            ("pacer", slow(|viewer| &viewer.pacer)),
        ];
        text.gauge(
            "thalweg_too_slow",
            "Part for which this machine is too slow: the camera (1), or the encoders and pacers of so many viewers.",
            parts.map(|(part, count)| (format!("{{part=\"{part}\"}}"), count as f64)),
        );
    }

    fn sockets(&self, text: &mut Text) {
        for channel in self.channels.iter() {
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
    }

    fn shared_encoders(&self, text: &mut Text) {
        let shared = |of: &dyn Fn(RungId, &Rung) -> f64| -> Vec<(String, f64)> {
            self.encoders.pool.iter().map(|(id, rung)| (format!("{{encoder=\"{id}\"}}"), of(id, rung))).collect()
        };
        let on = |id| self.viewers().filter(|viewer| viewer.rung() == Some(id)).count() as f64;
        text.gauge(
            "thalweg_shared_encoder_viewers",
            "Viewers of an encoder that several share.",
            shared(&|id, _| on(id)),
        );
        let help = "Target rate of a shared encoder.";
        text.gauge("thalweg_shared_encoder_bytes_per_second", help, shared(&|_, rung| bytes_per_second(rung.rate)));
        let help = "Frames that a shared encoder made.";
        text.counter("thalweg_shared_encoder_frames_total", help, shared(&|_, rung| rung.made() as f64));
    }

    fn sent(&self, text: &mut Text) {
        let connected = |v: &Viewer| f64::from(u8::from(v.state == State::Connected));
        text.gauge("thalweg_connected", "1 while media flows.", self.each("", &connected));
        let replaced = self.viewers().filter_map(|viewer| {
            let asked = escaped(viewer.asked.as_deref()?);
            Some((self.labels(viewer, &format!(",asked=\"{asked}\"")), 1.0))
        });
        let help = "1 where another scheme is played than was asked for: the viewer's reports do not suffice for it.";
        text.gauge("thalweg_scheme_replaced", help, replaced);
        for payload in Payload::ALL {
            let (index, label) = (payload as usize, format!(",payload=\"{}\"", payload.name()));
            let (bytes, packets) = ("Bytes sent, from the IP header upwards.", "Packets sent.");
            text.counter("thalweg_sent_bytes_total", bytes, self.each(&label, &|v| v.gauges.sent[index].as_f64()));
            text.counter("thalweg_sent_packets_total", packets, self.each(&label, &|v| v.gauges.packets[index] as f64));
        }
        let by_ecn = |of: fn(&Figures) -> [u64; 4]| -> Vec<(String, f64)> {
            let of = |viewer: &Viewer| {
                let labelled = EcnCounts::from(of(&viewer.outgoing.figures())).labelled();
                labelled.map(|(ecn, count)| (self.labels(viewer, &format!(",ecn=\"{ecn}\"")), count as f64))
            };
            self.viewers().flat_map(of).collect()
        };
        let (sent, arrived) = (by_ecn(|figures| figures.sent_by_ecn), by_ecn(|figures| figures.arrived_by_ecn));
        text.counter("thalweg_sent_ecn_total", "Packets sent, by the ECN field they left with.", sent);
        let help = "Packets reported as arrived, by the ECN field they came with; RFC 8888 alone says it.";
        text.counter("thalweg_arrived_ecn_total", help, arrived);
    }

    fn counters(&self, text: &mut Text) {
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
            text.counter(name, help, self.each("", &|v| of(v) as f64));
        }
    }

    fn gauges(&self, text: &mut Text) {
        let wire = "Sent over the last second, from the IP header upwards.";
        text.gauge(
            "thalweg_wire_bytes_per_second",
            wire,
            self.each("", &|v| bytes_per_second(v.gauges.wire(self.now))),
        );
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
            text.gauge(name, help, self.each("", &|v| of(v).unwrap_or(f64::NAN)));
        }
    }

    fn lateness(&self, text: &mut Text) {
        let late = self.viewers().flat_map(|viewer| {
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
    }

    fn viewers(&self) -> impl Iterator<Item = &Viewer> {
        self.audience.viewers.values()
    }

    /// A figure of each viewer, with these labels besides its own.
    fn each(&self, labels: &str, of: &dyn Fn(&Viewer) -> f64) -> Vec<(String, f64)> {
        self.viewers().map(|viewer| (self.labels(viewer, labels), of(viewer))).collect()
    }

    fn labels(&self, viewer: &Viewer, more: &str) -> String {
        let channel = escaped(&self.channels[viewer.channel].config.name);
        let scheme = escaped(viewer.outgoing.scheme().name());
        format!("{{viewer=\"{}\",channel=\"{channel}\",scheme=\"{scheme}\"{more}}}", viewer.key)
    }
}
