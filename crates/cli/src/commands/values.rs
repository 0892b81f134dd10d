//! Values with bounds that several commands share.

use thalweg_lab::hunt::EVALUATIONS;
use thalweg_sender::FeedbackStyle;
use thalweg_units::{Rate, Seed, Span};

/// The longest run: a week of virtual time.
pub(crate) const MAX_DURATION: Span = Span::from_secs(7 * 86_400);
/// The longest one-way delay: by way of the Moon and back it is 2.6 s.
const MAX_DELAY: Span = Span::from_secs(60);

fn span(text: &str) -> Result<Span, String> {
    text.parse().map_err(|error: thalweg_units::ParseQuantityError| error.to_string())
}

/// The duration of a run.
pub(crate) fn duration(text: &str) -> Result<Span, String> {
    let span = span(text)?;
    let fits = span > Span::ZERO && span <= MAX_DURATION;
    fits.then_some(span).ok_or(format!("invalid duration {span}: above 0 and at most a week, as in 60s, 5m or 1h"))
}

/// A time of any other kind, which may be 0.
pub(crate) fn time(text: &str) -> Result<Span, String> {
    let span = span(text)?;
    let fits = span >= Span::ZERO && span <= MAX_DURATION;
    fits.then_some(span).ok_or(format!("{span} is out of range: from 0 to a week, as in 500ms, 12.3s or 1m"))
}

/// A delay of a path, or its jitter.
pub(crate) fn delay(text: &str) -> Result<Span, String> {
    let span = span(text)?;
    let fits = span >= Span::ZERO && span <= MAX_DELAY;
    fits.then_some(span).ok_or(format!("{span} is out of range: from 0 to {MAX_DELAY}, as in 25ms"))
}

/// A rate above 0.
pub(crate) fn rate(text: &str) -> Result<Rate, String> {
    let rate: Rate = text.parse().map_err(|error: thalweg_units::ParseQuantityError| error.to_string())?;
    (rate > Rate::ZERO).then_some(rate).ok_or(format!("{rate} is out of range: above 0, as in 500kbps or 1Mbps"))
}

/// A share of packets: 0.02 or 2%.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let (number, scale) = text.strip_suffix('%').map_or((text, 1.0), |percent| (percent, 0.01));
    let share = number.trim().parse::<f64>().ok().map(|number| number * scale);
    let fits = share.filter(|share| (0.0..=1.0).contains(share));
    fits.ok_or(format!("invalid share of packets '{text}': from 0 to 1, as in 0.02 or 2%"))
}

/// A seed.
pub(crate) fn seed(text: &str) -> Result<Seed, String> {
    text.parse().map_err(|_| format!("invalid seed '{text}': a whole number from 0 to {}", u64::MAX))
}

/// How many scenarios a search tries.
pub(crate) fn evaluations(text: &str) -> Result<usize, String> {
    let (least, most) = EVALUATIONS.into_inner();
    let number = text.parse().ok().filter(|number| EVALUATIONS.contains(number));
    number.ok_or_else(|| format!("invalid number '{text}': a whole number from {least} to {most}, such as 400"))
}

/// The reports of every sender; `None` for each scheme's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Feedback(pub(crate) Option<FeedbackStyle>);

/// A feedback style by its name, or `own`.
pub(crate) fn feedback(text: &str) -> Result<Feedback, String> {
    if text == "own" {
        return Ok(Feedback(None));
    }
    let found = FeedbackStyle::ALL.into_iter().find(|style| style.name() == text);
    let known = || FeedbackStyle::ALL.map(FeedbackStyle::name).join(", ");
    found
        .map(|style| Feedback(Some(style)))
        .ok_or_else(|| format!("unknown feedback '{text}': expected one of own, {}", known()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feedback_style_has_the_name_that_scenarios_give_it() {
        for style in FeedbackStyle::ALL {
            assert_eq!(feedback(style.name()), Ok(Feedback(Some(style))));
            assert_eq!(serde_json::to_value(style).unwrap(), style.name());
        }
        assert_eq!(feedback("own"), Ok(Feedback(None)));
        assert!(
            feedback("acks")
                .unwrap_err()
                .contains("own, twcc, twcc-on-request, ccfb, ccfb-on-request, ccfb-by-frame, ccfb-100ms, per-packet")
        );
    }

    #[test]
    fn durations_and_delays_have_bounds_that_the_error_names() {
        assert_eq!(duration("5m"), Ok(Span::from_secs(300)));
        assert_eq!(delay("0"), Ok(Span::ZERO));
        for wrong in ["-5s", "0s", "1000h"] {
            assert!(duration(wrong).unwrap_err().contains("as in 60s"), "{wrong}");
        }
        for wrong in ["-1ms", "1000000s"] {
            assert!(delay(wrong).unwrap_err().contains("from 0 to"), "{wrong}");
            assert!(time(wrong).unwrap_err().contains("from 0 to"), "{wrong}");
        }
        assert_eq!(rate("500kbps"), Ok(Rate::from_kbps(500)));
        assert!(rate("0").unwrap_err().contains("above 0"));
        assert_eq!((share("0.02"), share("2%"), share("1")), (Ok(0.02), Ok(0.02), Ok(1.0)));
        for wrong in ["-1", "2", "101%", "NaN", "much"] {
            assert!(share(wrong).unwrap_err().contains("from 0 to 1"), "{wrong}");
        }
        assert!(seed("-1").unwrap_err().contains("invalid seed '-1'"));
    }
}
