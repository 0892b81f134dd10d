//! The columns of a table of runs, for all outputs.

use super::Summary;
use crate::statistics::{Against, Estimate};

/// One column of a table of results.
#[derive(Debug)]
pub struct Column {
    /// The key of the number in `--json` and `summary.json`.
    pub key: &'static str,
    /// The figure's name.
    pub name: &'static str,
    /// Its unit; empty if it has none.
    pub unit: &'static str,
    /// The value for a run, in the unit of the key; `None` when the figure does not apply.
    pub value: fn(&Summary) -> Option<f64>,
    form: Form,
}

/// How a value is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// bit/s as Mbps.
    Mbps,
    /// A share as a percentage with so many digits.
    Percent(usize),
    /// As it is, with so many digits.
    Digits(usize),
}

impl Column {
    /// The text for a run; `None` when the figure does not apply.
    pub fn cell(&self, run: &Summary) -> Option<String> {
        (self.value)(run).map(|value| self.text(value))
    }

    /// A value as text.
    pub fn text(&self, value: f64) -> String {
        match self.form {
            Form::Mbps => format!("{:.2}", value / 1e6),
            Form::Percent(digits) => format!("{:.digits$}%", value * 100.0),
            Form::Digits(digits) => format!("{value:.digits$}"),
        }
    }

    /// The two lines of the column's head: figure and unit.
    pub fn head(&self) -> [String; 2] {
        let Column { key, name, unit, .. } = self;
        match key {
            _ if key.starts_with("latency_") => ["latency".into(), format!("{name} {unit}")],
            // The papers' scale of opinions.
            _ if key.starts_with("qoe_") => [(*name).into(), format!("{unit} 1-5")],
            _ => [(*name).into(), (*unit).into()],
        }
    }

    /// How this number is compared with another scheme's: rates and durations by their ratio, dB, shares and ratings by
    /// their difference (specs/metrics.md 10). Padding is none or next to none in many schemes: a factor of it says nothing.
    pub fn against(&self) -> Against {
        let is_ratio = self.form == Form::Mbps && self.name != "padding"
            || ["ms", "fps"].contains(&self.unit)
            || self.name == "fps";
        if is_ratio { Against::Ratio } else { Against::Difference }
    }

    /// A comparison with other runs as text: a factor, or a signed difference (of shares in points), with a star where
    /// chance does not explain it.
    pub fn compared(&self, against: Against, found: Estimate) -> String {
        let value = found.mean;
        let text = match (against, self.form) {
            (Against::Ratio, _) => format!("x{value:.2}"),
            (Against::Difference, Form::Percent(_)) => format!("{:+.1}", value * 100.0),
            (Against::Difference, Form::Digits(digits)) => format!("{value:+.digits$}"),
            (Against::Difference, Form::Mbps) => format!("{:+.2}", value / 1e6),
        };
        if found.excludes(against.unchanged()) { text + "*" } else { text }
    }
}

/// The columns after the scheme's name, in order: columns on redundancy only if one of the runs has any, and none that
/// applies to no run.
pub fn columns<'a>(runs: impl IntoIterator<Item = &'a Summary> + Clone) -> Vec<&'static Column> {
    let all = || runs.clone().into_iter().flat_map(|run| std::iter::once(run).chain(&run.competitors));
    let redundant = all().any(|run| run.redundancy.is_some());
    let applies = |column: &&Column| all().any(|run| (column.value)(run).is_some());
    ALWAYS.iter().chain(REDUNDANCY.iter().filter(|_| redundant)).filter(applies).collect()
}

/// Every column, by key.
pub fn every_column() -> impl Iterator<Item = &'static Column> {
    ALWAYS.iter().chain(&REDUNDANCY).chain(&ON_REQUEST)
}

static ALWAYS: [Column; 19] = [
    column("video_bitrate_bps", "video", "Mbps", Form::Mbps, |run| Some(run.video_bitrate_bps)),
    column("wire_bitrate_bps", "wire", "Mbps", Form::Mbps, |run| Some(run.wire_bitrate_bps)),
    column("padding_bitrate_bps", "padding", "Mbps", Form::Mbps, |run| Some(run.padding_bitrate_bps)),
    column("utilization", "utilisation", "", Form::Percent(0), |run| run.utilization),
    column("psnr_db", "PSNR", "dB", Form::Digits(2), |run| run.psnr_db),
    column("ssim_db", "SSIM", "dB", Form::Digits(2), |run| run.ssim_db),
    column("ms_ssim", "MS-SSIM", "", Form::Digits(4), |run| run.ms_ssim),
    column("vmaf", "VMAF", "", Form::Digits(1), |run| run.vmaf),
    column("screen_ssim_db", "screen SSIM", "dB", Form::Digits(2), |run| run.screen_ssim_db),
    column("screen_vmaf", "screen VMAF", "", Form::Digits(1), |run| run.screen_vmaf),
    column("latency_p50_ms", "p50", "ms", Form::Digits(0), |run| run.latency_p50_ms),
    column("latency_p95_ms", "p95", "ms", Form::Digits(0), |run| run.latency_p95_ms),
    column("latency_mean_ms", "mean", "ms", Form::Digits(0), |run| run.latency_mean_ms),
    column("estimate_accuracy", "estimate", "accuracy", Form::Percent(1), |run| run.estimate_accuracy),
    column("frame_rate_fps", "fps", "", Form::Digits(1), |run| Some(run.frame_rate_fps)),
    column("stall_ratio", "stalls", "", Form::Percent(1), |run| Some(run.stall_ratio)),
    column("packet_loss_ratio", "loss", "", Form::Percent(1), |run| Some(run.packet_loss_ratio)),
    column("qoe_call", "call", "QoE", Form::Digits(2), |run| run.qoe_call),
    column("qoe_driving", "driving", "QoE", Form::Digits(2), |run| run.qoe_driving),
];

static REDUNDANCY: [Column; 7] = [
    column("delivery.goodput_bps", "goodput", "Mbps", Form::Mbps, |run| Some(run.delivery?.goodput_bps)),
    column("delivery.discard_ratio", "late", "", Form::Percent(1), |run| Some(run.delivery?.discard_ratio)),
    column("delivery.lost_frames", "lost", "frames", Form::Digits(0), |run| Some(run.delivery?.lost_frames as f64)),
    column("redundancy.fec_share", "FEC", "media", Form::Percent(1), |run| Some(run.redundancy?.fec_share)),
    column("redundancy.ffre", "FFRE", "", Form::Percent(1), |run| run.redundancy?.ffre),
    column("redundancy.useful_padding_ratio", "useful", "padding", Form::Percent(1), |run| {
        Some(run.redundancy?.useful_padding_ratio)
    }),
    column("redundancy.frcc", "FRCC", "", Form::Percent(1), |run| run.redundancy?.frcc),
];

/// Columns that are shown only if they are named.
static ON_REQUEST: [Column; 5] = [
    column("screen_psnr_db", "screen PSNR", "dB", Form::Digits(2), |run| run.screen_psnr_db),
    column("screen_ms_ssim", "screen MS-SSIM", "", Form::Digits(4), |run| run.screen_ms_ssim),
    column("shown_fps", "shown fps", "fps", Form::Digits(1), |run| run.shown_fps),
    column("in_time_ratio", "in time", "", Form::Percent(1), |run| run.in_time_ratio),
    column("bound_share", "share", "of bound", Form::Percent(0), |run| run.bound_share),
];

const fn column(
    key: &'static str,
    name: &'static str,
    unit: &'static str,
    form: Form,
    value: fn(&Summary) -> Option<f64>,
) -> Column {
    Column { key, name, unit, value, form }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_is_a_factor_or_a_difference_with_a_star_where_chance_does_not_explain_it() {
        let column = |name: &str| every_column().find(|column| column.name == name).unwrap();
        let found = |mean, interval| Estimate { mean, interval, runs: 3 };
        let said = |name: &str, against, found| column(name).compared(against, found);
        assert_eq!(said("video", Against::Ratio, found(1.5, Some((1.2, 1.8)))), "x1.50*");
        assert_eq!(said("video", Against::Ratio, found(1.5, Some((0.9, 2.1)))), "x1.50");
        assert_eq!(said("video", Against::Ratio, found(1.5, None)), "x1.50");
        // From nothing there is no factor.
        assert_eq!(said("padding", Against::Difference, found(5e5, Some((4e5, 6e5)))), "+0.50*");
        assert_eq!(said("loss", Against::Difference, found(-0.01, Some((-0.02, 0.01)))), "-1.0");
        assert_eq!(said("PSNR", Against::Difference, found(0.25, Some((0.1, 0.4)))), "+0.25*");
    }
}
