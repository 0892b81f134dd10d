//! An engine, and what it takes to call it in C: a clock, the numbers of packets, what is allowed when.

use std::collections::VecDeque;

use thalweg_control::{Acknowledgement, PacketId};
use thalweg_sender::{Engine, Output, SenderFactory, Timed};
use thalweg_types::EncodedFrame;
use thalweg_types::feedback::{Reader, RtcpFeedback};
use thalweg_units::{Span, Time};

use super::bounds::Bounds;
use super::numbers::Numbers;
use crate::clock::Clock;
use crate::error::{Error, THALWEG_E_ORDER};

/// State behind an engine's handle.
pub(crate) struct State {
    pub(super) engine: Engine,
    pub(super) clock: Clock,
    /// True if receiver reports are all that the receiver sends.
    plain: bool,
    reader: Reader,
    pub(super) numbers: Numbers,
    bounds: Bounds,
    /// The last picture read.
    picture: Option<u64>,
    /// True if the caller was asked for a frame and has not answered.
    asked: bool,
    /// Events that wait to be drained, if they are kept.
    events: Option<VecDeque<Timed>>,
}

impl State {
    pub(super) fn new(engine: Engine, clock: Clock, bounds: Bounds, plain: bool, keeps_events: bool) -> State {
        State {
            engine,
            clock,
            plain,
            reader: reader(plain),
            numbers: Numbers::default(),
            bounds,
            picture: None,
            asked: false,
            events: keeps_events.then(VecDeque::new),
        }
    }

    /// Time goes on; events are kept or forgotten.
    pub(super) fn advance(&mut self, now: u64) -> Result<Time, Error> {
        self.collect();
        self.clock.advance(now)
    }

    fn collect(&mut self) {
        let drained = self.engine.drain_events();
        match &mut self.events {
            Some(events) => events.extend(drained),
            None => drained.for_each(drop),
        }
    }

    pub(super) fn on_picture(&mut self, now: u64, picture: u64) -> Result<(), Error> {
        if let Some(last) = self.picture.filter(|last| picture <= *last) {
            return Err(Error::new(THALWEG_E_ORDER, format_args!("picture is {picture}, must be higher than {last}")));
        }
        let now = self.advance(now)?;
        self.picture = Some(picture);
        self.engine.on_picture(now, picture);
        Ok(())
    }

    pub(super) fn on_encoded(&mut self, now: u64, candidates: &[EncodedFrame]) -> Result<(), Error> {
        if !self.asked {
            let why = "no frame was asked for: each THALWEG_ENCODE is answered once";
            return Err(Error::new(THALWEG_E_ORDER, why));
        }
        let now = self.advance(now)?;
        self.asked = false;
        self.engine.on_encoded(now, candidates);
        Ok(())
    }

    pub(super) fn on_rtcp(&mut self, now: u64, datagram: &[u8]) -> Result<(), Error> {
        let now = self.advance(now)?;
        for heard in self.reader.read_at(now, datagram, &self.numbers)? {
            match heard {
                RtcpFeedback::Arrivals { acknowledgements, hold } => {
                    self.engine.on_feedback(now, &acknowledgements, hold);
                }
                RtcpFeedback::Missing(sequences) => self.engine.on_missing(now, &self.numbers.media(&sequences)),
                RtcpFeedback::KeyframeNeeded => self.engine.on_keyframe_request(now),
                RtcpFeedback::Path(report) => self.engine.on_path_report(now, &report),
                RtcpFeedback::Decoder(report) => self.engine.on_decoder(now, &report),
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn on_acks(
        &mut self,
        now: u64,
        mut acknowledgements: Vec<Acknowledgement>,
        hold: Option<Span>,
    ) -> Result<(), Error> {
        let now = self.advance(now)?;
        let newest = self.numbers.newest_sent();
        acknowledgements.retain(|one| newest.is_some_and(|newest| one.id <= newest));
        self.engine.on_feedback(now, &acknowledgements, hold);
        Ok(())
    }

    pub(super) fn on_written(&mut self, packet: u64, ssrc: u32, sequence: u16) -> Result<(), Error> {
        self.numbers.on_written(PacketId(packet), ssrc, sequence)
    }

    pub(super) fn change_scheme(&mut self, now: u64, name: &str, toml: Option<&str>) -> Result<(), Error> {
        let scheme = self.bounds.scheme(name, toml)?;
        let parts = scheme.parts(self.engine.view().source)?;
        let now = self.advance(now)?;
        self.engine.change_parts(now, parts)?;
        if scheme.works_on_receiver_reports() != self.plain {
            self.plain = !self.plain;
            self.reader = reader(self.plain);
        }
        Ok(())
    }

    pub(super) fn poll(&mut self) -> Output {
        let output = self.engine.poll();
        match &output {
            Output::Encode { .. } => self.asked = true,
            Output::Transmit(packet) => self.numbers.on_transmit(packet),
            _ => {}
        }
        output
    }

    /// The oldest event not yet drained.
    pub(super) fn next_event(&mut self) -> Option<Timed> {
        self.collect();
        self.events.as_mut()?.pop_front()
    }
}

fn reader(plain: bool) -> Reader {
    if plain { Reader::of_plain_reports() } else { Reader::new() }
}
