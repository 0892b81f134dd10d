//! Figures of cross traffic.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What came of a competitor that is no sender of video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    /// What it is: `datagrams`, `tcp` or `web`, with a number where there are several.
    pub name: String,
    /// When it began, in seconds.
    pub from_s: f64,
    /// When it ended, in seconds.
    pub until_s: f64,
    /// For how long it had something to send, in seconds: all the time between these, or that of its pages.
    pub active_s: f64,
    /// What the path let through while it was active, from IP upwards, in bit/s.
    pub delivered_bps: f64,
    /// Packets dropped by the path over packets that reached either end of it, 0..1.
    pub loss_ratio: f64,
    /// How many pages came whole; null for what is no reader of pages.
    #[serde(default)]
    pub pages: Option<u64>,
    /// How long a page took on average, in seconds.
    #[serde(default)]
    pub page_mean_s: Option<f64>,
}

impl fmt::Display for Traffic {
    /// In words, for the lines under a table.
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
