//! Figures of cross traffic.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Figures of a competitor that is not a video sender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    /// Its kind: `datagrams`, `tcp` or `web`, with a number if there are several.
    pub name: String,
    /// When it began, in seconds.
    pub from_s: f64,
    /// When it ended, in seconds.
    pub until_s: f64,
    /// How long it had something to send, in seconds: the whole time in between, or the time of its pages.
    pub active_s: f64,
    /// Data delivered while it was active, from IP upwards, in bit/s.
    pub delivered_bps: f64,
    /// Packets dropped by the path over packets delivered or dropped, 0..1.
    pub loss_ratio: f64,
    /// Number of pages completed; null for traffic other than pages.
    #[serde(default)]
    pub pages: Option<u64>,
    /// Mean time per page, in seconds.
    #[serde(default)]
    pub page_mean_s: Option<f64>,
}

impl fmt::Display for Traffic {
    /// A text for the lines under a table.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Traffic { from_s, until_s, active_s, .. } = self;
        write!(f, "{:.2} Mbps delivered", self.delivered_bps / 1e6)?;
        match self.pages {
            Some(pages) => {
                write!(f, " while active, {active_s:.1} s between {from_s:.1} and {until_s:.1} s: {pages} pages")?
            }
            None => write!(f, " from {from_s:.1} to {until_s:.1} s")?,
        }
        if let Some(mean) = self.page_mean_s {
            write!(f, ", {mean:.2} s each on average")?;
        }
        write!(f, ", {:.1}% lost", self.loss_ratio * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_it_had_and_when() {
        let bulk = Traffic {
            name: "tcp".into(),
            from_s: 20.0,
            until_s: 60.0,
            active_s: 40.0,
            delivered_bps: 1_234_000.0,
            loss_ratio: 0.0123,
            pages: None,
            page_mean_s: None,
        };
        assert_eq!(bulk.to_string(), "1.23 Mbps delivered from 20.0 to 60.0 s, 1.2% lost");
        let web = Traffic { active_s: 12.5, pages: Some(9), page_mean_s: Some(1.385), ..bulk };
        let said = web.to_string();
        assert!(said.contains("active, 12.5 s between 20.0 and 60.0 s: 9 pages, 1.39 s each on average"), "{said}");
    }
}
