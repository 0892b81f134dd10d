//! How long a row's rate holds: on which side of the row, and over a gap.

use std::fmt;
use std::str::FromStr;

/// The side of a row on which its rate holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// Up to the row: of logs, which write what has passed.
    Before,
    /// From the row on: of schedules.
    After,
}

impl Hold {
    pub(crate) fn other(self) -> Hold {
        if self == Hold::Before { Hold::After } else { Hold::Before }
    }
}

impl FromStr for Hold {
    type Err = String;

    fn from_str(text: &str) -> Result<Hold, String> {
        match text {
            "before" => Ok(Hold::Before),
            "after" => Ok(Hold::After),
            _ => Err(format!("unknown hold '{text}': expected one of before (up to its row), after (from it on)")),
        }
    }
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Hold::Before { "before" } else { "after" })
    }
}

/// The treatment of rows that are farther apart than a recording goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gaps {
    /// They are taken out.
    Cut,
    /// The rate beside them holds.
    Hold,
    /// Nothing passes.
    Zero,
}

impl FromStr for Gaps {
    type Err = String;

    fn from_str(text: &str) -> Result<Gaps, String> {
        match text {
            "cut" => Ok(Gaps::Cut),
            "hold" => Ok(Gaps::Hold),
            "zero" => Ok(Gaps::Zero),
            _ => Err(format!("unknown gaps '{text}': expected one of cut, hold, zero")),
        }
    }
}

impl fmt::Display for Gaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Gaps::Cut => "cut",
            Gaps::Hold => "hold",
            Gaps::Zero => "zero",
        })
    }
}
