//! The frames that are kept to be predicted from.

use std::sync::Arc;

use crate::image::{Image, Size};
use crate::syntax::Reference;
use crate::syntax::header::Scaling;

/// The three references. Often several are the same picture, which is then held once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct References {
    /// How large all of them are.
    pub size: Size,
    /// How a player is to enlarge them.
    pub scaling: Scaling,
    /// By habit the frame before.
    pub last: Arc<Image>,
    /// By habit one from longer ago.
    pub golden: Arc<Image>,
    /// By habit one that was never shown.
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
