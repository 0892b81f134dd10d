//! The reference frames.

use std::sync::Arc;

use crate::image::{Image, Size};
use crate::syntax::Reference;
use crate::syntax::header::Scaling;

/// The three references. Often several are the same picture, which is then stored once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct References {
    /// The size of all of them.
    pub size: Size,
    /// How a player is to enlarge them.
    pub scaling: Scaling,
    /// Usually the previous frame.
    pub last: Arc<Image>,
    /// Usually an older frame.
    pub golden: Arc<Image>,
    /// Usually a frame that was never shown.
    pub altref: Arc<Image>,
}

impl References {
    /// The picture of a reference.
    #[must_use]
    pub const fn get(&self, reference: Reference) -> &Arc<Image> {
        match reference {
            Reference::Last => &self.last,
            Reference::Golden => &self.golden,
            Reference::Altref => &self.altref,
        }
    }

    /// All three, the last first.
    pub(super) const fn all(&self) -> [&Arc<Image>; 3] {
        [&self.last, &self.golden, &self.altref]
    }
}
