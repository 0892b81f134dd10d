//! Parameters of the cell model.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use thalweg_units::{Bytes, ConfigError, Span, above, check};

use crate::Direction;

/// One cell in one direction. The defaults are those of specs/rmcat.md 6, with one user.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct CellConfig {
    /// Where users are.
    pub deployment: Deployment,
    /// How fast they move, in km/h, 0 to 500; 3 and 30 in RFC 8869.
    pub speed_kmh: f64,
    /// The direction that is modelled; packets of the other one pass at once.
    pub direction: Direction,
    /// The users, present or to come; [`Port::station`](crate::Port::station) counts them from 0.
    pub users: Vec<UserConfig>,
    /// Manages each user's queue by CoDel with a target of 15 ms and an interval of 100 ms.
    pub aqm: bool,
    /// Max bytes in a user's queue, above 0; further packets are dropped.
    pub queue: Bytes,
    /// Combines the transmissions of a block in the receiver, so that their ratios add up (R): so it comes near the
    /// check values of specs/rmcat.md 6, and radios do so. Without it each is judged alone, 4 % of the blocks of
    /// walking users fail four times, and the cell gives 14 % less.
    pub combining: bool,
    /// Standard deviation of the shadowing while a user moves, in dB, 0 to 20.
    pub shadowing_db: f64,
}

/// A user.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct UserConfig {
    /// When the user arrives, since the start.
    pub from: Span,
    /// When the user leaves; `None` for never. Packets offered outside the stay, and those queued at its end, are
    /// dropped.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub until: Option<Span>,
    /// A recording of this user's spectral efficiency in place of modelled fading, by a name that the builder of the
    /// cell resolves ([`read_eta`](super::read_eta)).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub eta: Option<String>,
}

/// 3GPP's deployments (TR 36.814), by the distribution of users' mean signal-to-interference ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum Deployment {
    /// Case 1: sites 500 m apart.
    #[default]
    Case1,
    /// Case 3: sites 1732 m apart.
    Case3,
}

impl Deployment {
    /// Geometry in dB at the quantiles [`QUANTILES`] (specs/rmcat.md 6, table of geometry).
    const fn geometry_db(self) -> [f64; 7] {
        match self {
            Deployment::Case1 => [-2.6, -1.7, 0.2, 3.9, 9.2, 14.5, 17.7],
            Deployment::Case3 => [-3.9, -2.8, -0.5, 3.2, 8.6, 14.4, 17.7],
        }
    }

    /// The geometry of the user at this place of the distribution, 0 to 1: linear between the quantiles, flat outside.
    pub(super) fn geometry_at(self, place: f64) -> f64 {
        let values = self.geometry_db();
        let above = QUANTILES.iter().position(|quantile| place < *quantile).unwrap_or(QUANTILES.len());
        match above {
            0 => values[0],
            7 => values[6],
            _ => {
                let (low, high) = (QUANTILES[above - 1], QUANTILES[above]);
                values[above - 1] + (values[above] - values[above - 1]) * (place - low) / (high - low)
            }
        }
    }
}

const QUANTILES: [f64; 7] = [0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95];

impl Default for CellConfig {
    fn default() -> CellConfig {
        CellConfig {
            deployment: Deployment::default(),
            speed_kmh: 3.0,
            direction: Direction::Down,
            users: vec![UserConfig::default()],
            aqm: false,
            queue: Bytes::new(1_000_000),
            combining: true,
            shadowing_db: 8.0,
        }
    }
}

impl CellConfig {
    /// This many users who are there from the start to the end.
    pub fn of(users: u16) -> CellConfig {
        CellConfig { users: vec![UserConfig::default(); usize::from(users)], ..CellConfig::default() }
    }

    /// Checks that the parameters are in range.
    ///
    /// # Errors
    /// When one is not.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check("cell.speed_kmh", self.speed_kmh).within(0.0..=500.0, "3")?;
        check("cell.users", self.users.len()).within(1..=10_000, "8")?;
        check("cell.queue", self.queue).within(above(Bytes::ZERO), "1MB")?;
        check("cell.shadowing_db", self.shadowing_db).within(0.0..=20.0, "8")?;
        for (number, UserConfig { from, until, .. }) in self.users.iter().enumerate() {
            check(&format!("cell.users[{number}].from"), *from).within(Span::ZERO.., "10s")?;
            check(&format!("cell.users[{number}].until"), until.unwrap_or(Span::MAX))
                .is(until.is_none_or(|until| until > *from), "later than from, or absent")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometry_is_linear_between_the_quantiles_and_flat_outside() {
        let at = |place| Deployment::Case1.geometry_at(place);
        assert_eq!([0.0, 0.05, 0.25, 0.5, 0.95, 0.999].map(at), [-2.6, -2.6, 0.2, 3.9, 17.7, 17.7]);
        assert!((at(0.375) - 2.05).abs() < 1e-9 && (Deployment::Case3.geometry_at(0.075) + 3.35).abs() < 1e-9);
    }
}
