//! Events around a moment, line by line, with repetitions merged.

use super::timeline::{Entry, Timeline, between, until};
use super::words::{bytes, moment, plain, rate, span};

/// Entries of one kind, with nothing of importance between them.
struct Merged<'a> {
    from: f64,
    until: f64,
    entries: Vec<&'a Entry>,
}

impl Timeline {
    /// The values of all variables at a moment, by name.
    pub fn variables(&self, at: f64) -> Vec<(String, String)> {
        let of = |(name, values): (&String, &Vec<(f64, f64)>)| {
            let value = until(values, at).last()?.1;
            Some((name.clone(), super::words::variable(name, value)))
        };
        self.variables.iter().filter_map(of).collect()
    }

    /// Events from one moment to another, in seconds. Frames and limits are merged until something else happens for the
    /// first time.
    pub fn log(&self, from: f64, to: f64) -> Vec<String> {
        let mut lines = Vec::new();
        let mut open: Vec<Merged<'_>> = Vec::new();
        for (at, entry) in between(&self.entries, from, to) {
            let same = open.iter_mut().find(|merged| is_same(merged.entries[0], entry));
            if let Some(merged) = same {
                merged.until = *at;
                merged.entries.push(entry);
                continue;
            }
            if !is_flow(entry) {
                lines.extend(open.drain(..).map(|merged| merged.line()));
            }
            open.push(Merged { from: *at, until: *at, entries: vec![entry] });
        }
        lines.extend(open.iter().map(Merged::line));
        lines
    }
}

/// Returns true for an event of the steady flow.
fn is_flow(entry: &Entry) -> bool {
    ["encode-started", "frame-queued", "send-limits", "picture-held"].contains(&entry.event.as_str())
}

/// Returns true if two entries are one line.
fn is_same(one: &Entry, other: &Entry) -> bool {
    let height = one.event != "encode-started" || one.count == other.count;
    one.event == other.event && one.why == other.why && one.what == other.what && height
}

impl Merged<'_> {
    fn line(&self) -> String {
        let time = match moment(self.from) == moment(self.until) {
            true => moment(self.from),
            false => format!("{} to {}", plain(self.from), moment(self.until)),
        };
        format!("{time}: {}", self.text())
    }

    fn text(&self) -> String {
        let (first, count) = (self.entries[0], self.entries.len());
        let last = self.entries[count - 1];
        let why = if first.why.is_empty() { String::new() } else { format!(": {}", first.why) };
        let times = if count > 1 { format!(" {count} times") } else { String::new() };
        let number = |value: Option<u64>| value.unwrap_or_default() as f64;
        let age = span(first.span_ns.unwrap_or_default() as f64 / 1e6);
        match first.event.as_str() {
            "encode-started" => {
                let target = self.range(|entry| entry.rate_bps, rate);
                let target = if first.rate_bps == Some(0) { String::new() } else { format!(", target {target}") };
                format!("{} encoded at {}p{target}", plural(count, "picture"), first.count.unwrap_or_default())
            }
            "frame-queued" => {
                let kind = if first.what == "keyframe" { "keyframe" } else { "frame" };
                format!("{} queued, {}", plural(count, kind), self.range(|entry| entry.bytes, bytes))
            }
            "send-limits" => {
                let window = first
                    .bytes
                    .map_or(String::new(), |_| format!(", window {}", self.course(|entry| number(entry.bytes), bytes)));
                let steps = if count > 1 { format!(", in {count} steps") } else { String::new() };
                format!("allowed {}{window}{steps}", self.course(|entry| number(entry.rate_bps), rate))
            }
            "decision" => format!(
                "{}{times} from {} to {}{why}",
                first.what,
                rate(first.value.unwrap_or_default()),
                rate(number(last.rate_bps))
            ),
            "picture-skipped" | "picture-held" => {
                let which = match (first.picture, last.picture) {
                    (Some(first), Some(last)) if first != last => format!("{count} pictures from {first} to {last}"),
                    (number, _) => format!("picture {}", number.unwrap_or_default()),
                };
                format!("{which} {}{why}", first.event.replace("picture-", ""))
            }
            "paused" | "reset" => {
                let thrown = first.count.map_or(String::new(), |count| format!(", {count} packets thrown away"));
                format!("{}{times}: the oldest packet had waited {age}{thrown}", first.event)
            }
            "size-changed" => format!("resolution {}p to {}p", first.value.unwrap_or_default(), number(last.count)),
            "frame-discarded" | "frame-abandoned" | "frame-flushed" => {
                format!("{} {}{why}", plural(count, "frame"), first.event.replace("frame-", ""))
            }
            event => {
                let about = first.count.map_or(String::new(), |_| {
                    let all: f64 = self.entries.iter().map(|entry| number(entry.count)).sum();
                    format!(", {}", plural(all as usize, "packet"))
                });
                format!("{}{times}{about}{why}", event.replace('-', " "))
            }
        }
    }

    /// The first value and the last, or the one.
    fn course(&self, value: impl Fn(&Entry) -> f64, text: fn(f64) -> String) -> String {
        let (first, last) =
            (self.entries.first().map(|entry| value(entry)), self.entries.last().map(|entry| value(entry)));
        match (first.map(text), last.map(text)) {
            (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
            (first, _) => first.unwrap_or_default(),
        }
    }

    /// The least and the greatest value, or the one.
    fn range(&self, value: fn(&Entry) -> Option<u64>, text: fn(f64) -> String) -> String {
        let values = || self.entries.iter().filter_map(|entry| value(entry));
        let (least, greatest) =
            (values().min().map(|value| text(value as f64)), values().max().map(|value| text(value as f64)));
        match (least, greatest) {
            (Some(least), Some(greatest)) if least != greatest => format!("{least} to {greatest}"),
            (least, _) => least.unwrap_or_default(),
        }
    }
}

fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
