//! Metrics in Prometheus' text format, version 0.0.4: units are seconds and bytes, and counters end in `_total`.

use std::fmt::Write;

use thalweg_units::Rate;

/// A rate in Prometheus' units.
pub(crate) fn bytes_per_second(rate: Rate) -> f64 {
    rate.as_bps_f64() / 8.0
}

/// A sample without labels.
pub(crate) fn one(value: u64) -> (String, f64) {
    (String::new(), value as f64)
}

/// Escapes a label's value.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

/// Prometheus' text under construction: the header of each family once, then its samples. Unknown values (NaN) are left
/// out.
#[derive(Default)]
pub(crate) struct Text {
    families: Vec<(String, String)>,
}

impl Text {
    pub(crate) fn counter(&mut self, name: &str, help: &str, samples: impl IntoIterator<Item = (String, f64)>) {
        self.family("counter", name, help, samples);
    }

    pub(crate) fn gauge(&mut self, name: &str, help: &str, samples: impl IntoIterator<Item = (String, f64)>) {
        self.family("gauge", name, help, samples);
    }

    pub(crate) fn family(
        &mut self,
        kind: &str,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (String, f64)>,
    ) {
        let index = self.families.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.families.push((name.into(), format!("# HELP {name} {help}\n# TYPE {name} {kind}\n")));
            self.families.len() - 1
        });
        let text = &mut self.families[index].1;
        for (labels, value) in samples.into_iter().filter(|(_, value)| !value.is_nan()) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    }

    pub(crate) fn finish(self) -> String {
        self.families.into_iter().map(|(_, text)| text).collect()
    }
}
