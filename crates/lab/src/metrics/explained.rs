//! Meaning of each column of a table of results, and which way is better.

use std::cmp::Ordering;

use super::Column;

/// Which of two values of a column is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// The higher one.
    Higher,
    /// The lower one.
    Lower,
}

impl Column {
    /// The figure's meaning, in one sentence.
    pub fn about(&self) -> &'static str {
        self.explained().0
    }

    /// Which way is better; `None` where that depends on the rest, as for padding.
    pub fn better(&self) -> Option<Better> {
        self.explained().1
    }

    /// Which of two values comes first when the best does: where neither way is better the higher one, and no value last.
    pub fn order(&self, one: Option<f64>, other: Option<f64>) -> Ordering {
        let (Some(one), Some(other)) = (one, other) else { return other.is_some().cmp(&one.is_some()) };
        match self.better() {
            Some(Better::Lower) => one.total_cmp(&other),
            _ => other.total_cmp(&one),
        }
    }

    /// The best of several values, if one way is better and not all are printed alike.
    pub fn best(&self, values: impl Iterator<Item = f64> + Clone) -> Option<f64> {
        self.better()?;
        let best = values.clone().min_by(|one, other| self.order(Some(*one), Some(*other)))?;
        let text = self.text(best);
        values.into_iter().any(|value| self.text(value) != text).then_some(best)
    }

    fn explained(&self) -> (&'static str, Option<Better>) {
        use Better::{Higher, Lower};
        match self.key {
            "video_bitrate_bps" => ("Payload of the frames that were shown, over the run's duration.", Some(Higher)),
            "wire_bitrate_bps" => ("Everything sent, with headers from IP upwards: video, padding and repair.", None),
            "padding_bitrate_bps" => ("Padding sent: packets that only keep the path busy or probe it.", None),
            "utilization" => ("Bytes through the bottleneck, divided by its capacity.", Some(Higher)),
            "psnr_db" => ("Mean luma PSNR of the shown frames against the source at the source's size.", Some(Higher)),
            "ssim_db" => (
                "Mean luma SSIM of the shown frames, in dB: -10 log10(1 - SSIM), so 10 dB is 0.9 and 20 dB is 0.99.",
                Some(Higher),
            ),
            "ms_ssim" => ("Mean luma MS-SSIM of the shown frames, five scales: 1 is identical.", Some(Higher)),
            "vmaf" => ("Mean VMAF of the shown frames, 0 to 100, by libvmaf.", Some(Higher)),
            "screen_psnr_db" => (
                "PSNR of what stands on the screen at each of the camera's times: a frozen frame counts as long as it is seen.",
                Some(Higher),
            ),
            "screen_ssim_db" => (
                "SSIM of what stands on the screen at each of the camera's times: a frozen frame counts as long as it is seen.",
                Some(Higher),
            ),
            "screen_ms_ssim" => ("MS-SSIM of the same.", Some(Higher)),
            "screen_vmaf" => (
                "VMAF of what stands on the screen at each of the camera's times: a frozen frame counts as long as it is seen.",
                Some(Higher),
            ),
            "shown_fps" => {
                ("Frames per second that are at least 8 ms apart, as a display can show them.", Some(Higher))
            }
            "in_time_ratio" => {
                ("Share of the camera's frames that were shown within 400 ms of their capture.", Some(Higher))
            }
            "latency_p50_ms" => (
                "Latency from camera to display, median over all captured frames; one that was not shown counts until the \
                 next that was.",
                Some(Lower),
            ),
            "latency_p95_ms" => ("The same latency, 95th percentile.", Some(Lower)),
            "latency_mean_ms" => ("The same latency, mean.", Some(Lower)),
            "estimate_accuracy" => (
                "How close the controller's estimate E was to the rate C it could have had: the mean of 1 - |E - C| / C.",
                Some(Higher),
            ),
            "frame_rate_fps" => ("Frames shown per second.", Some(Higher)),
            "stall_ratio" => ("Share of the time in gaps of more than 200 ms between shown frames.", Some(Lower)),
            "packet_loss_ratio" => ("Packets that the path dropped over packets sent.", Some(Lower)),
            "qoe_call" => (
                "Rating of a video call, 1 to 5, by the model of Salsify's user study from mean latency and SSIM.",
                Some(Higher),
            ),
            "qoe_driving" => (
                "Rating of driving a car by video, 1 to 5, by the same study's model, which weighs latency more.",
                Some(Higher),
            ),
            "delivery.goodput_bps" => {
                ("Media that arrived within the deadline of its frame, as it was sent or repaired.", Some(Higher))
            }
            "delivery.discard_ratio" => {
                ("Media packets that arrived only after the deadline over those sent.", Some(Lower))
            }
            "delivery.lost_frames" => ("Frames with a packet that was lost and never repaired.", Some(Lower)),
            "redundancy.fec_share" => ("FEC sent over media sent.", None),
            "redundancy.ffre" => ("Share of the protected packets lost that FEC recovered.", Some(Higher)),
            "redundancy.useful_padding_ratio" => {
                ("Bytes recovered by FEC and padding over bytes of FEC and padding sent.", Some(Higher))
            }
            "redundancy.frcc" => ("Share of the probes with FEC after which the rate rose or stayed.", Some(Higher)),
            "bound_share" => (
                "The video's bitrate over the upper bound, which a sender that knows the future has over this link at the same P95 latency.",
                Some(Higher),
            ),
            _ => ("", None),
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_column_is_explained() {
        let silent = crate::metrics::every_column().find(|column| column.about().is_empty());
        assert!(silent.is_none(), "{silent:?}");
    }
}
