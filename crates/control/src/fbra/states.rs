//! STAY, PROBE, UP and DOWN: how each reacts to a report (specs/fbra.md 4, the paper's listing).

use super::Thresholds;
use super::observed::Signs;

/// The state of the rate control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The rate was too high.
    Down,
    /// The rate is not being changed or probed.
    Stay,
    /// FEC packets are sent in addition to the media.
    Probe,
    /// The rate of the FEC packets has been given to media.
    Up,
}

/// Change of the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// No change.
    Keep,
    /// The rate falls below the rate that arrived, and the next report is ignored if `pauses`.
    Undershoot { pauses: bool },
    /// FEC begins, with a newly chosen interval.
    Probe,
    /// The probe continues with fewer FEC packets.
    Widen,
    /// The FEC rate is given to media.
    Raise,
}

/// The result of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) next: State,
    pub(super) action: Action,
    pub(super) why: &'static str,
}

const fn to(next: State, action: Action, why: &'static str) -> Step {
    Step { next, action, why }
}

const DOWN: fn(&'static str) -> Step = |why| to(State::Down, Action::Undershoot { pauses: true }, why);
const STAY: fn(&'static str) -> Step = |why| to(State::Stay, Action::Keep, why);

/// One evaluation in `state`, which followed `before`; `near_top` says whether the rate is close to the recent max.
pub(super) fn step(state: State, before: State, signs: &Signs, near_top: bool, limits: &Thresholds) -> Step {
    if signs.early {
        return DOWN("an early report");
    }
    match state {
        State::Down => in_down(before, signs, limits),
        State::Stay => in_stay(before, signs, near_top, limits),
        State::Probe => in_probe(signs, limits),
        State::Up => in_up(signs, limits),
    }
}

/// The paper's text stays in DOWN while losses last; its listing leaves after two. The listing is followed, which
/// bounds the number of cuts.
fn in_down(before: State, signs: &Signs, limits: &Thresholds) -> Step {
    if signs.recent_losses || signs.discards {
        if before == State::Down {
            return STAY("two cuts are enough");
        }
        let pauses = signs.losses || !signs.discards;
        let why = if pauses { "losses go on" } else { "discards go on" };
        return to(State::Down, Action::Undershoot { pauses }, why);
    }
    if signs.high > limits.undershoot {
        return DOWN("delay above alpha_undershoot");
    }
    STAY("neither recent loss nor delay")
}

fn in_stay(before: State, signs: &Signs, near_top: bool, limits: &Thresholds) -> Step {
    if signs.losses {
        return if signs.recent_losses { DOWN("recent losses") } else { STAY("losses, but not recent ones") };
    }
    if signs.recent_discards {
        return DOWN("recent discards");
    }
    if signs.high > limits.stay {
        return if before == State::Stay {
            DOWN("delay above alpha_stay twice")
        } else {
            STAY("delay above alpha_stay")
        };
    }
    if near_top && before != State::Stay {
        return STAY("near the greatest rate: once more");
    }
    to(State::Probe, Action::Probe, "a quiet path")
}

fn in_probe(signs: &Signs, limits: &Thresholds) -> Step {
    if signs.recent_losses || signs.recent_discards {
        DOWN("recent losses or discards while probing")
    } else if signs.losses || signs.discards {
        STAY("losses or discards while probing")
    } else if signs.high > limits.down_in_probe {
        DOWN("delay above alpha_down while probing")
    } else if signs.high > limits.stay {
        STAY("delay above alpha_stay while probing")
    } else if signs.low > limits.probe {
        to(State::Probe, Action::Widen, "delay above beta: fewer FEC packets")
    } else {
        to(State::Up, Action::Raise, "the path bore media and FEC")
    }
}

fn in_up(signs: &Signs, limits: &Thresholds) -> Step {
    if signs.recent_losses || signs.discards {
        DOWN("recent losses, or discards, after a rise")
    } else if signs.high > limits.down_in_up {
        DOWN("delay above alpha_down after a rise")
    } else {
        STAY("the rise was borne")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Signs = Signs {
        losses: false,
        discards: false,
        recent_losses: false,
        recent_discards: false,
        high: 1.0,
        low: 1.0,
        early: false,
    };
    const LOSS: Signs = Signs { losses: true, ..QUIET };
    const RECENT_LOSS: Signs = Signs { recent_losses: true, ..LOSS };
    const DISCARD: Signs = Signs { discards: true, ..QUIET };
    const RECENT_DISCARD: Signs = Signs { recent_discards: true, ..DISCARD };
    const CUT: Action = Action::Undershoot { pauses: true };

    fn after(state: State, before: State, signs: Signs) -> (State, Action) {
        let step = step(state, before, &signs, false, &Thresholds::default());
        (step.next, step.action)
    }

    fn delayed(high: f64) -> Signs {
        Signs { high, low: high * 1.05, ..QUIET }
    }

    #[test]
    fn down_cuts_again_once_and_then_stays() {
        use State::{Down, Stay, Up};
        assert_eq!(after(Down, Up, RECENT_LOSS), (Down, CUT));
        assert_eq!(after(Down, Up, RECENT_DISCARD), (Down, Action::Undershoot { pauses: false }));
        assert_eq!(after(Down, Up, Signs { discards: true, ..LOSS }), (Down, CUT));
        assert_eq!(after(Down, Down, RECENT_LOSS), (Stay, Action::Keep));
        // A loss in the first half is no longer recent.
        assert_eq!(after(Down, Up, LOSS), (Stay, Action::Keep));
        assert_eq!(after(Down, Down, delayed(2.01)), (Down, CUT));
        assert_eq!(after(Down, Up, delayed(2.0)), (Stay, Action::Keep));
    }

    #[test]
    fn stay_goes_down_on_what_is_recent_and_probes_a_quiet_path() {
        use State::{Down, Probe, Stay, Up};
        assert_eq!(after(Stay, Up, RECENT_LOSS), (Down, CUT));
        assert_eq!(after(Stay, Stay, LOSS), (Stay, Action::Keep));
        // Losses are checked before discards.
        assert_eq!(after(Stay, Stay, Signs { losses: true, ..RECENT_DISCARD }), (Stay, Action::Keep));
        assert_eq!(after(Stay, Up, RECENT_DISCARD), (Down, CUT));
        assert_eq!(after(Stay, Up, delayed(1.11)), (Stay, Action::Keep));
        assert_eq!(after(Stay, Stay, delayed(1.11)), (Down, CUT));
        assert_eq!(after(Stay, Up, DISCARD), (Probe, Action::Probe));
        assert_eq!(after(Stay, Down, QUIET), (Probe, Action::Probe));
    }

    #[test]
    fn near_the_greatest_rate_it_stays_once_more() {
        let near = |before| step(State::Stay, before, &QUIET, true, &Thresholds::default()).next;
        assert_eq!((near(State::Up), near(State::Down), near(State::Stay)), (State::Stay, State::Stay, State::Probe));
    }

    #[test]
    fn a_probe_ends_down_in_stay_or_up() {
        use State::{Down, Probe, Stay, Up};
        for (signs, expected) in [
            (RECENT_LOSS, (Down, CUT)),
            (RECENT_DISCARD, (Down, CUT)),
            (LOSS, (Stay, Action::Keep)),
            (DISCARD, (Stay, Action::Keep)),
            (delayed(1.61), (Down, CUT)),
            (delayed(1.6), (Stay, Action::Keep)),
            (Signs { high: 1.1, low: 1.21, ..QUIET }, (Probe, Action::Widen)),
            (Signs { high: 1.1, low: 1.2, ..QUIET }, (Up, Action::Raise)),
        ] {
            assert_eq!(after(Probe, Stay, signs), expected, "{signs:?}");
        }
    }

    #[test]
    fn the_worked_delays_of_a_probe_lead_where_they_should() {
        // specs/fbra.md 8, example 1: P40 = 35.6 ms, P80 = 41.6 ms.
        for (owd, high, low, next, action) in [
            (42.0, 1.010, 1.180, State::Up, Action::Raise),
            (43.0, 1.034, 1.208, State::Probe, Action::Widen),
            (48.0, 1.154, 1.348, State::Stay, Action::Keep),
            (67.0, 1.611, 1.882, State::Down, CUT),
        ] {
            let signs = Signs { high: owd / 41.6, low: owd / 35.6, ..QUIET };
            assert!((signs.high - high).abs() < 5e-4 && (signs.low - low).abs() < 5e-4);
            assert_eq!(after(State::Probe, State::Stay, signs), (next, action), "{owd} ms");
        }
    }

    #[test]
    fn up_stays_unless_recent_losses_discards_or_delay_show() {
        use State::{Down, Probe, Stay, Up};
        assert_eq!(after(Up, Probe, LOSS), (Stay, Action::Keep));
        assert_eq!(after(Up, Probe, RECENT_LOSS), (Down, CUT));
        assert_eq!(after(Up, Probe, DISCARD), (Down, CUT));
        assert_eq!(after(Up, Probe, delayed(1.41)), (Down, CUT));
        assert_eq!(after(Up, Probe, delayed(1.4)), (Stay, Action::Keep));
    }

    #[test]
    fn an_early_report_goes_down_from_everywhere() {
        for state in [State::Down, State::Stay, State::Probe, State::Up] {
            assert_eq!(after(state, State::Down, Signs { early: true, ..QUIET }), (State::Down, CUT));
        }
    }
}
