//! Between the pads.

use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gst::glib;
use gst::prelude::*;
use gst::subclass::prelude::*;
use thalweg_units::{Span, Time};

use super::properties;
use crate::flow::{Figures, Flow, Mode, News, Step, off_the_wire};
use crate::queue::Waiting;
use crate::report;
use crate::settings::Settings;
use crate::streams::Streams;

static CAT: LazyLock<gst::DebugCategory> = LazyLock::new(|| {
    gst::DebugCategory::new("thalwegbwe", gst::DebugColorFlags::empty(), Some("Thalweg's congestion controllers"))
});

/// Item that waits between the pads.
#[derive(Debug)]
enum Item {
    Buffer(gst::Buffer),
    Event(gst::Event),
}

impl Item {
    /// The event, if it stays with the stream after a flush.
    fn sticky(&self) -> Option<&gst::Event> {
        let Item::Event(event) = self else { return None };
        let lost = matches!(event.type_(), gst::EventType::Segment | gst::EventType::Eos);
        (event.is_sticky() && !lost).then_some(event)
    }
}

#[derive(Debug)]
struct State {
    settings: Settings,
    estimator: String,
    /// While the source pad is active.
    flow: Option<Flow<Item>>,
    streams: Streams,
    flushing: bool,
    /// Result of the last push.
    result: Result<gst::FlowSuccess, gst::FlowError>,
    /// Nanoseconds of the system's clock when the flow began.
    epoch: u64,
    /// The last decision.
    decision: String,
}

impl Default for State {
    fn default() -> State {
        State {
            settings: Settings::default(),
            estimator: "kalman".to_owned(),
            flow: None,
            streams: Streams::default(),
            flushing: true,
            result: Err(gst::FlowError::Flushing),
            epoch: 0,
            decision: String::new(),
        }
    }
}

impl State {
    /// Time by the clock from which a session takes its `local-ts`.
    fn now(&self) -> Time {
        Time::from_nanos(nanos().saturating_sub(self.epoch))
    }
}

fn nanos() -> u64 {
    gst::SystemClock::obtain().time().nseconds()
}

/// The element.
pub struct ThalwegBwe {
    sink: gst::Pad,
    source: gst::Pad,
    state: Mutex<State>,
    /// Something came for the task.
    wake: Condvar,
}

impl ThalwegBwe {
    /// Nothing here panics while it holds the lock, so what a poisoned one guards is whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn chain(&self, buffer: gst::Buffer) -> Result<gst::FlowSuccess, gst::FlowError> {
        let mut state = self.lock();
        state.result?;
        let now = state.now();
        let State { flow: Some(flow), streams, .. } = &mut *state else { return Err(gst::FlowError::Flushing) };
        let packet = match buffer.map_readable() {
            Ok(map) => streams.describe(&map),
            Err(_) => return Err(gst::FlowError::Error),
        };
        match packet {
            Some(packet) => flow.push(now, Item::Buffer(buffer), packet),
            None => gst::log!(CAT, imp = self, "not sent: no RTP, or the retransmission of a packet dropped here"),
        }
        self.wake.notify_one();
        Ok(gst::FlowSuccess::Ok)
    }

    fn sink_event(&self, event: gst::Event) -> bool {
        match event.view() {
            gst::EventView::FlushStart(_) => {
                let mut state = self.lock();
                (state.flushing, state.result) = (true, Err(gst::FlowError::Flushing));
                drop(state);
                self.wake.notify_one();
                let pushed = self.source.push_event(event);
                // Waits until the task has stopped.
                pushed & self.source.pause_task().is_ok()
            }
            gst::EventView::FlushStop(_) => {
                let pushed = self.source.push_event(event);
                let mut state = self.lock();
                let events = state.flow.as_mut().map_or(Vec::new(), Flow::clear);
                (state.flushing, state.result) = (false, Ok(gst::FlowSuccess::Ok));
                drop(state);
                // What belongs to the stream outlives a flush, as in GStreamer's queue.
                for event in events.iter().filter_map(Item::sticky) {
                    let _ = self.source.store_sticky_event(event);
                }
                pushed & self.start().is_ok()
            }
            view => {
                if let gst::EventView::Caps(caps) = view {
                    self.lock().streams.on_caps(caps.caps());
                }
                if !event.is_serialized() {
                    return self.source.push_event(event);
                }
                let mut state = self.lock();
                let Some(flow) = &mut state.flow else { return false };
                flow.push_event(Item::Event(event));
                drop(state);
                self.wake.notify_one();
                true
            }
        }
    }

    fn source_event(&self, event: gst::Event) -> bool {
        if let Some(structure) = event.structure().filter(|structure| structure.name() == report::NAME) {
            self.report(structure);
        }
        self.sink.push_event(event)
    }

    fn report(&self, structure: &gst::StructureRef) {
        let mut reported = report::read(structure);
        let mut state = self.lock();
        let (now, epoch) = (state.now(), state.epoch);
        for one in &mut reported {
            one.departed = one.departed.saturating_sub(epoch);
        }
        let Some(flow) = &mut state.flow else { return };
        if flow.on_report(now, &reported) {
            gst::warning!(
                CAT,
                imp = self,
                "reports name other packets than those pushed here: something behind this element sends too. Going on by \
                 reports alone: no probes, and bytes in flight are presumed"
            );
        }
        let news = flow.news(now);
        drop(state);
        self.wake.notify_one();
        self.notify(news);
    }

    /// With no lock held: handlers read properties and take locks of their own (webrtcsink's).
    fn notify(&self, news: News) {
        for (name, is_new) in
            [("estimated-bitrate", news.target), ("hold", news.hold), ("keep-frames", news.keep_frames)]
        {
            if is_new {
                self.obj().notify(name);
            }
        }
    }

    fn start(&self) -> Result<(), glib::BoolError> {
        let weak = self.obj().downgrade();
        self.source.start_task(move || {
            if let Some(element) = weak.upgrade() {
                element.imp().turn();
            }
        })
    }

    /// One turn of the task: a packet, an event or a wait.
    fn turn(&self) {
        let mut guard = self.lock();
        let state = &mut *guard;
        let now = state.now();
        let Some(flow) = state.flow.as_mut().filter(|_| !state.flushing) else {
            drop(guard);
            let _ = self.source.pause_task();
            return;
        };
        let step = flow.step(now);
        let news = flow.news(now);
        for decision in flow.decisions() {
            state.decision = format!("{}: {}, {} to {}", decision.what, decision.why, decision.from, decision.to);
            gst::debug!(CAT, imp = self, "{} {}", decision.at, state.decision);
        }
        match step {
            Step::Send(Waiting { item: Item::Buffer(buffer), packet, .. }) => {
                let buffer = state.streams.on_sending(buffer, &packet);
                drop(guard);
                self.push(buffer);
            }
            Step::Pad(most) => {
                let padding = state.streams.padding(off_the_wire(most));
                flow.on_padded(now, padding.as_ref().map(|(_, packet)| packet));
                drop(guard);
                if let Some((buffer, _)) = padding {
                    self.push(buffer);
                }
            }
            Step::Send(Waiting { item: Item::Event(event), .. }) | Step::Event(Item::Event(event)) => {
                drop(guard);
                self.source.push_event(event);
            }
            Step::Event(Item::Buffer(buffer)) => {
                drop(guard);
                self.push(buffer);
            }
            Step::Drop(dropped) => {
                let mut streams: Vec<u32> = dropped.iter().map(|waiting| waiting.packet.ssrc).collect();
                for waiting in &dropped {
                    if let Item::Buffer(buffer) = &waiting.item {
                        state.streams.on_dropped(buffer);
                    }
                }
                drop(guard);
                streams.sort_unstable();
                streams.dedup();
                gst::warning!(CAT, imp = self, "{} packets waited too long and are dropped", dropped.len());
                for ssrc in streams {
                    self.ask_for_keyframe(ssrc);
                }
            }
            Step::Wait(until) => {
                if news == News::default() {
                    let wait = Duration::from_nanos((until - now).as_nanos().unsigned_abs());
                    drop(self.wake.wait_timeout(guard, wait));
                } else {
                    drop(guard);
                }
            }
        }
        self.notify(news);
    }

    fn push(&self, buffer: gst::Buffer) {
        let result = self.source.push(buffer);
        let Err(error) = result else { return };
        let mut state = self.lock();
        if !state.flushing {
            (state.result, state.flushing) = (Err(error), true);
            let _ = state.flow.as_mut().map(Flow::clear);
        }
        drop(state);
        if !matches!(error, gst::FlowError::Flushing | gst::FlowError::Eos) {
            gst::error!(CAT, imp = self, "pausing: {error}");
        }
        let _ = self.source.pause_task();
    }

    /// GStreamer's event for a keyframe request (gstvideo's GstForceKeyUnit), which an rtpfunnel passes on by stream.
    fn ask_for_keyframe(&self, ssrc: u32) {
        let structure = gst::Structure::builder("GstForceKeyUnit")
            .field("all-headers", true)
            .field("count", 0u32)
            .field("ssrc", ssrc)
            .build();
        self.sink.push_event(gst::event::CustomUpstream::new(structure));
    }

    fn activate(&self, mode: gst::PadMode, active: bool) -> Result<(), gst::LoggableError> {
        if mode != gst::PadMode::Push {
            return Err(gst::loggable_error!(CAT, "only in push mode, not in {mode:?}"));
        }
        if !active {
            let mut state = self.lock();
            (state.flushing, state.result) = (true, Err(gst::FlowError::Flushing));
            drop(state);
            self.wake.notify_one();
            self.source.stop_task()?;
            let mut state = self.lock();
            (state.flow, state.streams) = (None, Streams::default());
            return Ok(());
        }
        let mut state = self.lock();
        match Flow::new(state.settings.clone()) {
            Ok(flow) => {
                (state.flow, state.epoch) = (Some(flow), nanos());
                (state.flushing, state.result) = (false, Ok(gst::FlowSuccess::Ok));
            }
            Err(refused) => {
                drop(state);
                gst::element_imp_error!(self, gst::LibraryError::Settings, ("{refused}"));
                return Err(gst::loggable_error!(CAT, "{refused}"));
            }
        }
        drop(state);
        Ok(self.start()?)
    }

    /// Goes on with settings that make another controller.
    fn change(&self, set: impl FnOnce(&mut Settings)) {
        let mut state = self.lock();
        let State { settings, flow, .. } = &mut *state;
        let mut changed = settings.clone();
        if let Some(flow) = flow {
            changed.start = flow.target();
        }
        set(&mut changed);
        if *settings == changed {
            return;
        }
        if let Some(Err(refused)) = flow.as_mut().map(|flow| flow.change(changed.clone())) {
            drop(state);
            gst::element_imp_warning!(self, gst::LibraryError::Settings, ("{refused}"));
            return;
        }
        *settings = changed;
        drop(state);
        self.wake.notify_one();
    }

    fn stats(&self) -> gst::Structure {
        let state = self.lock();
        let mut stats = gst::Structure::builder("thalwegbwe-stats").field("scheme", state.settings.scheme.as_str());
        let Some(flow) = &state.flow else { return stats.build() };
        let Figures { limits, pacing, driver, alpha, queued, queue_age, mode, padding_packets, dropped_packets } =
            flow.figures(state.now());
        let milliseconds = |span: Span| span.as_millis_f64();
        stats = stats
            .field("target-bitrate", flow.target())
            .field("capacity-bitrate", limits.capacity.as_bps())
            .field("pacing-bitrate", pacing.as_bps())
            .field("in-flight-bytes", driver.in_flight.get())
            .field("queue-bytes", queued.get())
            .field("queue-ms", milliseconds(queue_age))
            .field("sees-departures", mode == Mode::Seen)
            .field("alpha", alpha)
            .field("padding-packets", padding_packets)
            .field("dropped-packets", dropped_packets)
            .field("last-decision", state.decision.as_str());
        if let Some(window) = limits.window {
            stats = stats.field("window-bytes", window.get());
        }
        if let Some(srtt) = driver.srtt {
            stats = stats.field("srtt-ms", milliseconds(srtt));
        }
        if let Some(loss) = driver.loss {
            stats = stats.field("lost", loss);
        }
        stats.build()
    }
}

#[glib::object_subclass]
impl ObjectSubclass for ThalwegBwe {
    const NAME: &'static str = "GstThalwegBwe";
    type Type = super::ThalwegBwe;
    type ParentType = gst::Element;

    fn with_class(class: &Self::Class) -> ThalwegBwe {
        let template = |name| class.pad_template(name).expect("the class has it");
        let flags = gst::PadFlags::PROXY_CAPS | gst::PadFlags::PROXY_ALLOCATION;
        let sink = gst::Pad::builder_from_template(&template("sink"))
            .chain_function(|_, parent, buffer| {
                let failed = || Err(gst::FlowError::Error);
                ThalwegBwe::catch_panic_pad_function(parent, failed, |this| this.chain(buffer))
            })
            .event_function(|_, parent, event| {
                ThalwegBwe::catch_panic_pad_function(parent, || false, |this| this.sink_event(event))
            })
            .flags(flags)
            .build();
        let source = gst::Pad::builder_from_template(&template("src"))
            .event_function(|_, parent, event| {
                ThalwegBwe::catch_panic_pad_function(parent, || false, |this| this.source_event(event))
            })
            .activatemode_function(|_, parent, mode, active| {
                let failed = || Err(gst::loggable_error!(CAT, "a panic while the pad was activated"));
                ThalwegBwe::catch_panic_pad_function(parent, failed, |this| this.activate(mode, active))
            })
            .flags(flags)
            .build();
        ThalwegBwe { sink, source, state: Mutex::default(), wake: Condvar::new() }
    }
}

impl ObjectImpl for ThalwegBwe {
    fn constructed(&self) {
        self.parent_constructed();
        let element = self.obj();
        for pad in [&self.sink, &self.source] {
            element.add_pad(pad).expect("a new element has no pads of these names");
        }
    }

    fn properties() -> &'static [glib::ParamSpec] {
        properties::all()
    }

    fn set_property(&self, _: usize, value: &glib::Value, spec: &glib::ParamSpec) {
        let number = || value.get::<u32>().unwrap_or(0);
        let text = || value.get::<Option<String>>().ok().flatten().unwrap_or_default();
        match spec.name() {
            "estimated-bitrate" => self.change(|settings| settings.start = number()),
            // Not notified from here: webrtcsink sets these while it holds what its handler takes.
            name @ ("min-bitrate" | "max-bitrate") => {
                let mut state = self.lock();
                let now = state.now();
                let State { settings, flow, .. } = &mut *state;
                *if name == "min-bitrate" { &mut settings.min } else { &mut settings.max } = number();
                if let Some(flow) = flow {
                    flow.on_demand(now, settings.min, settings.max);
                }
                drop(state);
                self.wake.notify_one();
            }
            "estimator" => self.lock().estimator = text(),
            "scheme" => self.change(|settings| settings.scheme = text()),
            "padding" => self.change(|settings| settings.padding = value.get().unwrap_or(settings.padding)),
            name @ ("pacing" | "max-queue-time") => {
                let mut state = self.lock();
                let State { settings, flow, .. } = &mut *state;
                match (name, text().as_str()) {
                    ("pacing", "scheme") => settings.unpaced = false,
                    ("pacing", "unpaced") => settings.unpaced = true,
                    ("pacing", other) => gst::error!(CAT, imp = self, "pacing is '{other}', must be scheme or unpaced"),
                    _ => {
                        let nanos = value.get::<u64>().ok().and_then(|nanos| i64::try_from(nanos).ok());
                        settings.max_queue = nanos.filter(|nanos| *nanos > 0).map(Span::from_nanos);
                    }
                }
                if let Some(flow) = flow {
                    flow.set_queue(settings.unpaced, settings.max_queue);
                }
                drop(state);
                self.wake.notify_one();
            }
            _ => {}
        }
    }

    fn property(&self, _: usize, spec: &glib::ParamSpec) -> glib::Value {
        let state = self.lock();
        let State { settings, flow, .. } = &*state;
        match spec.name() {
            "estimated-bitrate" => flow.as_ref().map_or(settings.start, Flow::target).to_value(),
            "min-bitrate" => settings.min.to_value(),
            "max-bitrate" => settings.max.to_value(),
            "estimator" => state.estimator.to_value(),
            "scheme" => settings.scheme.to_value(),
            "pacing" => if settings.unpaced { "unpaced" } else { "scheme" }.to_value(),
            "max-queue-time" => settings.max_queue.map_or(0, |limit| limit.as_nanos().unsigned_abs()).to_value(),
            "padding" => settings.padding.to_value(),
            "hold" => flow.as_ref().is_some_and(Flow::hold).to_value(),
            "keep-frames" => flow.as_ref().map_or(1.0, Flow::keep_frames).to_value(),
            "stats" => {
                drop(state);
                self.stats().to_value()
            }
            _ => spec.default_value().clone(),
        }
    }
}

impl GstObjectImpl for ThalwegBwe {}

impl ElementImpl for ThalwegBwe {
    fn metadata() -> Option<&'static gst::subclass::ElementMetadata> {
        static METADATA: LazyLock<gst::subclass::ElementMetadata> = LazyLock::new(|| {
            gst::subclass::ElementMetadata::new(
                "Thalweg's bandwidth estimator and pacer",
                "Network/WebRTC/RTP/Filter",
                "Says what encoders may make, and sends it at the pace that the path takes; stands before an rtpsession",
                "Thalweg",
            )
        });
        Some(&METADATA)
    }

    fn pad_templates() -> &'static [gst::PadTemplate] {
        static TEMPLATES: LazyLock<Vec<gst::PadTemplate>> = LazyLock::new(|| {
            let caps = gst::Caps::new_empty_simple("application/x-rtp");
            let template = |name, direction| {
                gst::PadTemplate::new(name, direction, gst::PadPresence::Always, &caps)
                    .expect("these caps are a template")
            };
            vec![template("sink", gst::PadDirection::Sink), template("src", gst::PadDirection::Src)]
        });
        &TEMPLATES
    }
}
