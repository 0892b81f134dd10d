//! A part of a link, named behind its name: `@60s-180s`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use thalweg_units::Span;

use super::{Trace, TraceError};

/// A part of a link, from one time after its beginning to another or to its end. Written `60s-180s` or `10s-`, and
/// behind the name of a link after an `@`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    from: Span,
    to: Option<Span>,
}

impl Cut {
    /// When it begins.
    pub fn from(self) -> Span {
        self.from
    }

    /// When it ends; `None` at the end of the link.
    pub fn to(self) -> Option<Span> {
        self.to
    }

    /// Splits `NAME@FROM-TO` into the name and `FROM-TO`, which is `None` where what follows the last `@` has not that
    /// form.
    pub fn split(name: &str) -> (&str, Option<&str>) {
        let is_time = |text: &str| {
            text.starts_with(|first: char| first.is_ascii_digit())
                && text.chars().all(|letter| letter.is_alphanumeric() || letter == '.')
        };
        match name.rsplit_once('@').map(|(name, cut)| (name, cut, cut.split_once('-'))) {
            Some((name, cut, Some((from, to)))) if is_time(from) && (to.is_empty() || is_time(to)) => (name, Some(cut)),
            _ => (name, None),
        }
    }

    /// Its beginning and its end in a link of this length, in whole milliseconds.
    ///
    /// # Errors
    /// When the link ends before it does.
    pub fn within(self, period: Span) -> Result<(u64, u64), TraceError> {
        let millis = |span: Span| span.as_millis().unsigned_abs();
        let (from, to) = (millis(self.from), millis(self.to.unwrap_or(period)));
        if from >= millis(period) {
            return Err(TraceError::Cut(format!("@{self}: it lasts {period}, must begin before that")));
        }
        if to > millis(period) {
            let rule = format!("must end by then; @{}- goes to its end", self.from);
            return Err(TraceError::Cut(format!("@{self}: it lasts {period}, {rule}")));
        }
        Ok((from, to))
    }
}

impl FromStr for Cut {
    type Err = String;

    fn from_str(text: &str) -> Result<Cut, String> {
        let wrong = |why: &str| format!("cut '@{text}': {why}, as in @60s-180s, or @10s- to the end");
        let (from, to) = text.split_once('-').ok_or_else(|| wrong("a hyphen separates two times"))?;
        let time = |text: &str| text.parse::<Span>().map_err(|error| wrong(&error.to_string()));
        let (from, to) = (time(from)?, (!to.is_empty()).then(|| time(to)).transpose()?);
        if to.is_some_and(|to| to.as_millis() <= from.as_millis()) || from < Span::ZERO {
            return Err(wrong("must end at least 1ms after it begins"));
        }
        Ok(Cut { from, to })
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-", self.from)?;
        self.to.map_or(Ok(()), |to| to.fmt(f))
    }
}

impl Trace {
    /// This part of the link: the opportunities after its beginning up to its end. Where nothing passes at its end, one
    /// opportunity is added there to mark it, as [`Trace::from_rates`] does.
    ///
    /// # Errors
    /// When the link ends before it does, or nothing passes in it.
    pub fn cut(&self, cut: Cut) -> Result<Trace, TraceError> {
        let (from, to) = cut.within(self.period())?;
        // Those at 0 are the first of all.
        let inside = |millis: &&u64| (**millis > from || from == 0) && **millis <= to;
        let mut millis: Vec<u64> = self.millis.iter().filter(inside).map(|millis| millis - from).collect();
        match millis.last() {
            None => return Err(TraceError::Cut(format!("@{cut}: nothing passes in it, must have an opportunity"))),
            Some(last) if *last < to - from => millis.push(to - from),
            Some(_) => {}
        }
        Trace::new(millis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(millis: &[u64], text: &str) -> Result<Vec<u64>, String> {
        let trace = Trace::new(millis.to_vec()).unwrap().cut(text.parse()?);
        trace.map(|trace| trace.millis().to_vec()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_cut_is_what_passes_after_its_beginning_up_to_its_end_and_lasts_as_long_as_it_says() {
        let millis = [0, 0, 5, 10, 10, 11, 20, 30];
        assert_eq!(cut(&millis, "0s-").unwrap(), millis);
        assert_eq!(cut(&millis, "10ms-20ms").unwrap(), [1, 10]);
        assert_eq!(cut(&millis, "0ms-10ms").unwrap(), [0, 0, 5, 10, 10]);
        assert_eq!(cut(&millis, "5ms-19ms").unwrap(), [5, 5, 6, 14], "the end is marked");
        assert_eq!(cut(&millis, "0.02s-").unwrap(), [10]);
    }

    #[test]
    fn a_cut_that_a_link_does_not_have_is_refused_with_the_links_length() {
        for (text, words) in [
            ("30ms-40ms", "@30ms-40ms: it lasts 30ms, must begin"),
            ("1h-", "@3600s-: it lasts 30ms"),
            ("10ms-31ms", "@10ms- goes to its end"),
            ("21ms-29ms", "nothing passes"),
            ("20ms-10ms", "must end at least 1ms after"),
            ("10-20", "'10'"),
            ("10s", "a hyphen"),
        ] {
            let error = cut(&[5, 10, 20, 30], text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn a_cut_is_the_last_part_of_a_name_and_rates_in_turn_have_none() {
        for (name, parts) in [
            ("log.csv@10s-70s", ("log.csv", Some("10s-70s"))),
            ("a@b/log.csv:unit=kbps@10s-", ("a@b/log.csv:unit=kbps", Some("10s-"))),
            ("log.csv@10-20", ("log.csv", Some("10-20"))),
            ("2Mbps/500kbps@40s", ("2Mbps/500kbps@40s", None)),
            ("me@my-host/log.csv", ("me@my-host/log.csv", None)),
            ("log@-5s", ("log@-5s", None)),
        ] {
            assert_eq!(Cut::split(name), parts, "{name}");
        }
        for text in ["10s-70s", "1.5s-"] {
            assert_eq!(text.parse::<Cut>().unwrap().to_string(), text);
        }
    }
}
