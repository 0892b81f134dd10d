//! Links by name.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use thalweg_link::queue::Limits;
use thalweg_link::{HopConfig, Jitter, LossModel, PathConfig, QueueConfig, Trace};
use thalweg_units::{Bytes, Seed, Span};

use crate::recorded;

/// A trace by name: a file (Mahimahi's format, or one throughput value a second), a recording of the data manifest such as
/// `TMobile-LTE-short.down`, a rate such as `2Mbps`, rates in turn such as
/// `2Mbps/500kbps@40s`, or a synthetic link such as `lte-driving` or `poisson:rate=2Mbps`.
pub(crate) fn find(name: &str, duration: Span, seed: Seed) -> anyhow::Result<Arc<Trace>> {
    let recorded = recorded::find(name)?.unwrap_or_else(|| name.into());
    if recorded.is_file() {
        let shown = || recorded.display().to_string();
        let text = std::fs::read_to_string(&recorded).with_context(shown)?;
        return read(&text).map(Arc::new).with_context(shown);
    }
    let named = Trace::named(name, duration, seed).map(Arc::new);
    named.map_err(|error| anyhow!("{error}; or a trace file (there is no file '{name}')"))
}

/// A short name for tables: the file's own, or the name as given.
pub(crate) fn label(name: &str) -> String {
    if Path::new(name).is_file() {
        return Path::new(name).file_name().map_or(name.into(), |file| file.to_string_lossy().into_owned());
    }
    name.into()
}

/// Reads either format: two fields or a decimal point on the first line mean one value per second.
pub(crate) fn read(text: &str) -> anyhow::Result<Trace> {
    let first = text.lines().next().unwrap_or_default();
    let per_second = first.split_whitespace().count() == 2 || first.contains('.');
    Ok(if per_second { Trace::parse_per_second(text)? } else { Trace::parse(text)? })
}

/// A drop-tail queue of so many bytes; unlimited when absent.
pub(crate) fn queue(bytes: Option<Bytes>) -> QueueConfig {
    bytes.map_or(QueueConfig::Infinite, |bytes| QueueConfig::DropTail(Limits::bytes(bytes)))
}

/// The delivery opportunities of a trace, repeated without end, behind a queue.
pub(crate) fn bottleneck(trace: &str, queue: QueueConfig) -> HopConfig {
    HopConfig::Bottleneck { trace: trace.into(), queue, once: false }
}

/// A path: bottlenecks in series, then random loss, then the delay.
pub(crate) fn path(bottlenecks: impl IntoIterator<Item = HopConfig>, loss: Option<f64>, delay: Span) -> PathConfig {
    let loss = loss.map(|probability| HopConfig::Loss(LossModel::Random { probability }));
    let delay = HopConfig::Delay { delay, jitter: Jitter::None, reorders: false };
    PathConfig { hops: bottlenecks.into_iter().chain(loss).chain([delay]).collect() }
}
