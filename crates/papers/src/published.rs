//! Published results of a figure: numbers, and orders without numbers.

/// A number the paper prints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    /// The link of the figure; `None` for the mean over all.
    pub link: Option<&'static str>,
    /// The scheme.
    pub scheme: &'static str,
    /// The key of a [`Reading`](super::Reading), or of a comparison with the first scheme (see [`compare`](super::compare)).
    pub key: &'static str,
    /// The value, in the unit of the key.
    pub value: f64,
    /// Its claim about our number.
    pub claim: Claim,
    /// The printed standard deviation.
    pub sigma: Option<f64>,
    /// Where it is printed.
    pub source: &'static str,
}

/// Claim of a published number about ours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Claim {
    /// Ours is within this share of it, or within the standard deviation that the paper prints.
    Within(f64),
    /// Ours is at least it.
    AtLeast,
    /// Ours is at most it.
    AtMost,
    /// A number of a sender that is not available: shown beside ours, and in no verdict.
    Elsewhere,
}

impl Claim {
    /// Within a tenth: what another encoder, video and random number generator may change.
    pub const NEAR: Claim = Claim::Within(0.1);
}

impl Published {
    /// A number without a deviation, which ours should be near.
    pub(super) const fn new(
        link: Option<&'static str>,
        scheme: &'static str,
        key: &'static str,
        value: f64,
        source: &'static str,
    ) -> Published {
        Published { link, scheme, key, value, claim: Claim::NEAR, sigma: None, source }
    }

    /// Number of a scheme over all links that an order needs and the paper does not print.
    pub const fn asked(scheme: &'static str, key: &'static str) -> Published {
        Published::new(None, scheme, key, f64::NAN, "")
    }

    /// The paper says "within this share", or its precision does.
    pub const fn within(self, share: f64) -> Published {
        Published { claim: Claim::Within(share), ..self }
    }

    /// The paper says "more than".
    pub const fn at_least(self) -> Published {
        Published { claim: Claim::AtLeast, ..self }
    }

    /// A number of a sender that is not to be had.
    pub const fn elsewhere(self) -> Published {
        Published { claim: Claim::Elsewhere, ..self }
    }

    /// The paper says "less than".
    pub const fn at_most(self) -> Published {
        Published { claim: Claim::AtMost, ..self }
    }

    /// Returns true if `ours` is as the paper claims.
    pub fn holds(&self, ours: f64) -> bool {
        match self.claim {
            Claim::Within(share) => {
                (ours - self.value).abs() <= (self.value.abs() * share).max(self.sigma.unwrap_or(0.0))
            }
            Claim::AtLeast => ours >= self.value,
            Claim::AtMost => ours <= self.value,
            Claim::Elsewhere => false,
        }
    }
}

/// An order of schemes that a paper states or draws, without printing the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// The key of the number.
    pub key: &'static str,
    /// The schemes, from the highest value to the lowest.
    pub falling: &'static [&'static str],
}
