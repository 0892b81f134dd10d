//! Controllers alone: the packets and the feedback of a run, replayed to a scheme's controller and packet history.

use std::ops::Range;

use thalweg_control::{Acknowledgement, Demand, History, LossDetectionConfig, PacketId, Payload, SentPacket};
use thalweg_lab::record::{Recorder, What};
use thalweg_sender::{Event, Scheme};
use thalweg_units::{Bytes, Rate, Span, Time};

use crate::cpu_seconds;

/// Delay of the reverse path.
const RETURN: Span = Span::from_millis(25);

enum Step {
    Sent { at: Time, size: Bytes, payload: Payload },
    Report { at: Time, arrivals: Range<usize> },
}

/// The feedback of a run for a controller.
pub(crate) struct Script {
    steps: Vec<Step>,
    arrivals: Vec<Acknowledgement>,
    pub(crate) packets: usize,
    pub(crate) reports: usize,
}

impl Script {
    /// The packets of a run and their arrivals, reported every `interval`, or each at once.
    pub(crate) fn new(recorder: &Recorder, interval: Option<Span>) -> Script {
        let mut script = Script { steps: Vec::new(), arrivals: Vec::new(), packets: 0, reports: 0 };
        let (mut reported, mut due) = (0, Time::NEVER);
        for record in recorder.records() {
            // No event between two steps is later than the next record.
            if due <= record.at {
                reported = script.report(due, reported);
                due = Time::NEVER;
            }
            match record.what {
                What::Sender(Event::PacketSent { size, payload, .. }) => {
                    script.packets += 1;
                    script.steps.push(Step::Sent { at: record.at, size, payload });
                }
                What::Arrived { id, .. } => {
                    let arrival = Some(record.at);
                    script.arrivals.push(Acknowledgement::new(PacketId(id), arrival));
                    due = due.min(record.at + interval.unwrap_or(Span::ZERO));
                }
                _ => {}
            }
        }
        script.steps.sort_by_key(|step| match step {
            Step::Sent { at, .. } | Step::Report { at, .. } => *at,
        });
        script
    }

    /// Sends a report of everything since `reported` at `due`.
    fn report(&mut self, due: Time, reported: usize) -> usize {
        self.reports += 1;
        self.steps.push(Step::Report { at: due + RETURN, arrivals: reported..self.arrivals.len() });
        self.arrivals.len()
    }
}

/// CPU seconds to replay `script` to the scheme's controller.
pub(crate) fn replay(scheme: &Scheme, script: &Script) -> anyhow::Result<f64> {
    let mut controller = scheme.controller.build()?;
    let mut history = History::new(LossDetectionConfig::default());
    let mut packets = 0;
    let before = cpu_seconds();
    controller.on_demand(Time::ZERO, Demand { min: Rate::from_kbps(30), max: Rate::from_kbps(12_000) });
    for step in &script.steps {
        let (Step::Sent { at, .. } | Step::Report { at, .. }) = *step;
        if controller.next_timeout() <= at {
            controller.on_timeout(at);
        }
        match step {
            Step::Sent { size, payload, .. } => {
                let mut packet = SentPacket::new(PacketId(packets), at, *size);
                packet.payload = *payload;
                packets += 1;
                controller.on_sent(&history.on_sent(packet));
            }
            Step::Report { arrivals, .. } => {
                controller.on_feedback(&history.on_report(at, &script.arrivals[arrivals.clone()], None));
            }
        }
        std::hint::black_box(controller.limits());
    }
    Ok(cpu_seconds() - before)
}
