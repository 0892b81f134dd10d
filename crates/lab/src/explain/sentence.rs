//! Why the rate is what it is at a moment, in one sentence. What binds is looked for in this order: reports that stay
//! away, the sender's own pauses, then what the kind of controller says of itself, known by its variables: so a
//! controller with another name, or a program's own, is explained as far as its variables and decisions go.

use std::collections::BTreeMap;

use super::timeline::{Decision, Limits, Timeline, between, until};
use super::words::{bytes, moment, percent, plain, rate, span};

/// Interval over which a rate is averaged, in seconds.
const MEAN: f64 = 1.0;
/// A decision is a reason for this long, in seconds.
const RECENT: f64 = 5.0;
/// A decision that changes the rate by less than this share explains nothing.
const NOTABLE: f64 = 0.02;
/// Reports that stay away for so long are the reason, in seconds: three times libwebrtc's longest interval between reports,
/// 250 ms (`remote_estimator_proxy.cc`).
const SILENCE: f64 = 0.75;

/// A timeline at a moment.
struct State<'a> {
    timeline: &'a Timeline,
    at: f64,
}

impl Timeline {
    /// Why the sender's rate is what it is at `at` seconds; `capacity_bps` is what the link could carry, if known.
    pub fn why(&self, at: f64, capacity_bps: Option<f64>) -> String {
        let state = State { timeline: self, at };
        let sent = match (state.video_bps(), capacity_bps) {
            (None, _) => return format!("nothing was sent before {}", moment(at)),
            (Some(video), None) => rate(video),
            (Some(video), Some(capacity)) => format!("{} over a link of {}", rate(video), rate(capacity)),
        };
        let parts: Vec<String> = [Some(state.reason()), state.frames()].into_iter().flatten().collect();
        format!("{sent}: {}", parts.join("; "))
    }

    /// The cause of the rate at `at` seconds, in a word: `silent` (no reports), `paused`, `skipped` (pictures left
    /// out), the name of the last decision, or `steady`.
    pub fn cause(&self, at: f64) -> String {
        let state = State { timeline: self, at };
        let skipped = || {
            let entries = between(&self.entries, state.from(), at);
            entries.iter().filter(|(_, entry)| entry.event == "picture-skipped").count() > 2
        };
        match state.decision() {
            _ if state.silence().is_some() => "silent".into(),
            _ if state.pause().is_some() => "paused".into(),
            _ if skipped() => "skipped".into(),
            Some((_, decision)) => decision.what,
            None => "steady".into(),
        }
    }
}

impl State<'_> {
    fn from(&self) -> f64 {
        self.at - MEAN
    }

    fn variable(&self, name: &str) -> Option<f64> {
        self.timeline.variable(name, self.at)
    }

    /// Video packets sent in the last second; `None` before the first packet.
    fn video_bps(&self) -> Option<f64> {
        let begun = self.timeline.sent.first().filter(|(begun, _)| *begun <= self.at)?.0;
        let sent = between(&self.timeline.sent, self.from(), self.at);
        let video: f64 = sent.iter().filter(|(_, sent)| sent.is_media).map(|(_, sent)| sent.bytes).sum();
        Some(video * 8.0 / (self.at - begun).clamp(0.1, MEAN))
    }

    fn limits(&self) -> Option<Limits> {
        until(&self.timeline.limits, self.at).last().map(|(_, limits)| *limits)
    }

    /// Bytes in flight after the last packet or report.
    fn in_flight(&self) -> f64 {
        let sent = until(&self.timeline.sent, self.at).last().map(|(at, sent)| (*at, sent.in_flight));
        let report = until(&self.timeline.reports, self.at).last().map(|(at, report)| (*at, report.in_flight));
        let latest = [sent, report].into_iter().flatten().max_by(|a, b| a.0.total_cmp(&b.0));
        latest.map_or(0.0, |(_, in_flight)| in_flight)
    }

    fn rtt_ms(&self) -> Option<f64> {
        until(&self.timeline.reports, self.at).iter().rev().find_map(|(_, report)| report.rtt_ms)
    }

    /// The share of lost packets in the reports of the last second.
    fn loss(&self) -> f64 {
        let reports = between(&self.timeline.reports, self.from(), self.at);
        let lost: f64 = reports.iter().map(|(_, report)| report.lost).sum();
        let all = lost + reports.iter().map(|(_, report)| report.arrived).sum::<f64>();
        if all > 0.0 { lost / all } else { 0.0 }
    }

    /// The latest change of the rate by decisions, if it is recent: several for one reason count as one.
    fn decision(&self) -> Option<(f64, Decision)> {
        let mut changes: Vec<(f64, Decision)> = Vec::new();
        for (at, next) in between(&self.timeline.decisions, self.at - RECENT, self.at) {
            match changes.last_mut() {
                Some((last, known)) if known.what == next.what && known.why == next.why && at - *last <= MEAN => {
                    (*last, known.to_bps) = (*at, next.to_bps);
                }
                _ => changes.push((*at, next.clone())),
            }
        }
        changes.into_iter().rfind(|(_, change)| (change.to_bps - change.from_bps).abs() >= NOTABLE * change.from_bps)
    }

    /// A decision in words: "decrease" from 4.6 Mbps to 3.1 Mbps 0.4 s ago, and its reason.
    fn in_words(&self, (at, decision): &(f64, Decision)) -> String {
        let Decision { what, why, from_bps, to_bps } = decision;
        format!("\"{what}\" from {} to {} {} ago: {why}", rate(*from_bps), rate(*to_bps), span((self.at - at) * 1e3))
    }

    /// The latest decision as the end of a sentence.
    fn decided(&self) -> String {
        self.decision().map_or(String::new(), |decision| format!("; {}", self.in_words(&decision)))
    }

    fn reason(&self) -> String {
        if let Some(reason) = self.silence().or_else(|| self.pause()) {
            return reason;
        }
        let has = |name: &str| self.timeline.variables.contains_key(name);
        match self.limits() {
            None => "the controller has allowed nothing yet".into(),
            Some(limits) if has("pushback_ratio") => self.gcc(limits),
            Some(limits) if has("avg_B_bps") => self.camel(limits),
            Some(_) if has("N packets") => self.salsify(),
            Some(limits) if has("allowed kB") => self.thalweg(limits),
            Some(limits) => match limits.window_bytes {
                Some(window) => self.window(limits, window),
                None => self.other(limits),
            },
        }
    }

    /// No report although something is under way.
    fn silence(&self) -> Option<String> {
        let begun = self.timeline.sent.first()?.0;
        let heard = until(&self.timeline.reports, self.at).last().map(|(at, _)| *at);
        let silent = self.at - heard.unwrap_or(begun);
        if silent < SILENCE || self.in_flight() <= 0.0 {
            return heard.is_none().then(|| "no report has come yet, so this is what it starts with".into());
        }
        let decision = self.decision().filter(|(at, _)| *at >= self.at - silent);
        let decided = decision.map_or(String::new(), |decision| format!(" ({})", self.in_words(&decision)));
        let (what, silent) = (bytes(self.in_flight()), span(silent * 1e3));
        Some(format!("no report has come for {silent}, and {what} are in flight unanswered{decided}"))
    }

    /// The sender's own safeguards: encoding paused, its queue thrown away.
    fn pause(&self) -> Option<String> {
        let entries = until(&self.timeline.entries, self.at);
        let last = |events: &[&str]| entries.iter().rev().find(|(_, entry)| events.contains(&entry.event.as_str()));
        let age = |span: Option<i64>| self::span(span.unwrap_or_default() as f64 / 1e6);
        if let Some((at, entry)) = last(&["reset"]).filter(|(at, _)| *at > self.from()) {
            return Some(format!(
                "the sender's queue of {} packets was thrown away {} ago, because the oldest had waited {}",
                entry.count.unwrap_or_default(),
                self::span((self.at - at) * 1e3),
                age(entry.span_ns)
            ));
        }
        let (at, entry) = last(&["paused", "resumed"]).filter(|(_, entry)| entry.event == "paused")?;
        let limits =
            self.limits().map_or(String::new(), |limits| format!("; the controller allows {}", self.allowed(limits)));
        Some(format!(
            "encoding is paused since {}, because a packet had waited {} in the sender's queue{limits}",
            moment(*at),
            age(entry.span_ns)
        ))
    }

    /// The rate that limits allow, with the window if there is one.
    fn allowed(&self, limits: Limits) -> String {
        let window = limits.window_bytes.map_or(String::new(), |window| {
            format!(", a window of {} with {} in flight", bytes(window), bytes(self.in_flight()))
        });
        format!("{}{window}", rate(limits.capacity_bps))
    }

    /// GCC: the estimate, limited by delay or by losses, and push-back.
    fn gcc(&self, limits: Limits) -> String {
        let estimate = limits.capacity_bps;
        let begin = format!("the estimate is {}", rate(estimate));
        let ratio = self.variable("pushback_ratio").unwrap_or(1.0);
        if ratio < 0.95 {
            let effect = match ratio {
                0.45..0.55 => "halves it".into(),
                _ => format!("cuts it to {}", percent(ratio)),
            };
            let stands = span(self.in_flight() * 8e3 / estimate.max(1.0));
            return format!("{begin}, and push-back {effect} because {stands} of it stand in flight");
        }
        let by_delay = self.variable("delay_based_bps").unwrap_or(estimate);
        let by_loss = self.variable("loss_based_bps").unwrap_or(estimate);
        if by_loss < 0.98 * by_delay {
            let (delay, lost) = (rate(by_delay), percent(self.loss()));
            return format!("{begin}, held by losses ({lost} in the last second) below the {delay} of the delay");
        }
        match self.decision() {
            Some(decision) => format!("{begin} after {}{}", self.in_words(&decision), self.trend(&decision)),
            None if self.variable("in_alr") == Some(1.0) => {
                format!("{begin}, which the encoder does not use up, so it is not tested")
            }
            None => format!("{begin}, which {}: delay does not grow and nothing is lost", self.course("estimate_bps")),
        }
    }

    /// GCC's delay trend and its threshold when it decided, if the samples before and after show it.
    fn trend(&self, (at, decision): &(f64, Decision)) -> String {
        let sampled = |name| self.timeline.variable(name, *at).filter(|_| decision.why.contains("trend"));
        match sampled("trend_ms").zip(sampled("threshold_ms")) {
            // The threshold follows the trend, so that soon after they look alike.
            Some((trend, threshold)) if trend > threshold && span(trend) != span(threshold) => {
                format!(" ({} over {})", span(trend), span(threshold))
            }
            _ => String::new(),
        }
    }

    /// How a variable moved in the last second.
    fn course(&self, name: &str) -> &'static str {
        match (self.timeline.variable(name, self.from()), self.variable(name)) {
            (Some(before), Some(now)) if now > 1.01 * before => "grows",
            (Some(before), Some(now)) if now < 0.99 * before => "falls",
            _ => "stands",
        }
    }

    /// Camel: gamma times the bandwidth measured by bursts, and a window.
    fn camel(&self, limits: Limits) -> String {
        let decided = self.decided();
        if self.variable("in_gcc") == Some(1.0) {
            return format!("Camel runs GCC, whose estimate is {}{decided}", rate(limits.capacity_bps));
        }
        let bandwidth = rate(self.variable("avg_B_bps").unwrap_or_default());
        let gamma = self.variable("gamma").unwrap_or(1.0);
        let cause = match self.variable("gradient") {
            Some(slope) if gamma < 1.0 => {
                format!(", because delay grew with the bytes in flight (gradient now {})", plain(slope))
            }
            _ => String::new(),
        };
        let (in_flight, window) = (self.in_flight(), limits.window_bytes.unwrap_or(f64::INFINITY));
        let full = match in_flight > 0.9 * window {
            true => format!("; its window of {} is full", bytes(window)),
            false => String::new(),
        };
        format!("Camel sends gamma = {} of the {bandwidth} that bursts measured{cause}{full}{decided}", plain(gamma))
    }

    /// Salsify: no rate, but a size for each frame.
    fn salsify(&self) -> String {
        let under_way = plain(self.variable("N packets").unwrap_or_default());
        match (self.variable("tau ms"), self.variable("max frame kB")) {
            (Some(tau), Some(size)) => format!(
                "a frame may have {}: one packet arrives each {}, and {under_way} are under way",
                bytes(size * 1e3),
                span(tau)
            ),
            _ => format!("{under_way} packets are under way, and too few have arrived to know how fast they do"),
        }
    }

    /// Thalweg: what may be under way, and the budget that hindsight chose.
    fn thalweg(&self, limits: Limits) -> String {
        let kilobytes = |name: &str| bytes(self.variable(name).unwrap_or_default() * 1e3);
        let (under_way, allowed) = (kilobytes("under way kB"), kilobytes("allowed kB"));
        let decided = self.decided();
        if self.variable("silent").unwrap_or_default() > 0.0 {
            return format!("nothing arrives although {under_way} are under way{decided}");
        }
        let budget = self
            .variable("budget ms")
            .map_or(String::new(), |budget| format!(", {} beyond the round trip included", span(budget)));
        let limited = self.variable("queue limit kB").map_or(String::new(), |limit| {
            format!(" (no more than {} queued, as a longer queue loses packets)", bytes(limit * 1e3))
        });
        let contended =
            self.variable("contended s").filter(|seconds| *seconds > 0.0).map_or(String::new(), |seconds| {
                format!(", beside a flow that has filled the queue for {}", span(seconds * 1e3))
            });
        format!(
            "{allowed} may be under way at {}{budget}{limited}{contended}, and {under_way} are{decided}",
            rate(limits.capacity_bps)
        )
    }

    /// A window over the round trip; what follows from it for the encoder.
    fn window(&self, limits: Limits, window: f64) -> String {
        let rtt = self.variable("srtt_ms").or(self.variable("s_rtt_ms")).or(self.rtt_ms());
        let by_window = rtt.map(|rtt| window * 8e3 / rtt.max(1.0));
        let over = rtt.zip(by_window).map_or(String::new(), |(rtt, by_window)| {
            let least = ["rtt_min_ms", "rt_prop_ms"].iter().find_map(|name| self.variable(name));
            let queueing = least.filter(|least| rtt - least > 0.1 * least);
            let queueing = queueing.map_or(String::new(), |least| format!(" ({} above its least)", span(rtt - least)));
            format!(" over a round trip of {}{queueing} is {}", span(rtt), rate(by_window))
        });
        let share = self.in_flight() / window.max(1.0);
        let fill = if share > 0.9 { "is full".into() } else { format!("{} of it is in use", percent(share)) };
        let by_window = by_window.unwrap_or(limits.capacity_bps);
        let differs = (limits.capacity_bps / by_window.max(1.0) - 1.0).abs() > 0.1;
        let capacity = if differs { format!("; the rate is {}", rate(limits.capacity_bps)) } else { String::new() };
        let alpha = self.variable("alpha").filter(|alpha| *alpha < 0.97);
        let alpha = alpha.map_or(String::new(), |alpha| format!("; of it the encoder gets {} (alpha)", percent(alpha)));
        let decided = self.decided();
        format!("the window of {}{over}, and {fill}{capacity}{alpha}{decided}", bytes(window))
    }

    /// Any other controller: its rate and its last decision.
    fn other(&self, limits: Limits) -> String {
        let allowed = rate(limits.capacity_bps);
        match until(&self.timeline.decisions, self.at).last() {
            Some(decision) => format!("the controller allows {allowed} after {}", self.in_words(decision)),
            None => format!("the controller allows {allowed}, and has not changed that by a decision"),
        }
    }

    /// The pictures of the last second, where they make the rate: skipped, or smaller than their target.
    fn frames(&self) -> Option<String> {
        let entries = between(&self.timeline.entries, self.from(), self.at);
        let pictures = between(&self.timeline.pictures, self.from(), self.at).len();
        let mut skipped: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, entry) in entries.iter().filter(|(_, entry)| entry.event == "picture-skipped") {
            *skipped.entry(&entry.why).or_default() += 1;
        }
        let count: usize = skipped.values().sum();
        if count * 10 >= pictures.max(1) {
            let most = skipped.iter().max_by_key(|(_, count)| **count)?.0;
            let all = if skipped.len() > 1 { ", mostly" } else { "" };
            return Some(format!("{count} of the last second's {pictures} pictures were skipped{all}: {most}"));
        }
        let of = |event: &str, value: fn(&super::timeline::Entry) -> Option<u64>| {
            let all: Vec<f64> = entries
                .iter()
                .filter(|(_, entry)| entry.event == event)
                .filter_map(|(_, entry)| value(entry).map(|value| value as f64))
                .collect();
            (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
        };
        let target = of("encode-started", |entry| entry.rate_bps).filter(|target| *target > 0.0)?;
        let made = of("frame-queued", |entry| entry.bytes)? * 8.0 * pictures as f64 / MEAN.min(self.at.max(0.1));
        (made < 0.8 * target).then(|| format!("the encoder made {} of its target of {}", rate(made), rate(target)))
    }
}
