//! A scheme adapted to a conversation.

use std::sync::Arc;

use thalweg_control::ecn;
use thalweg_sender::padding::redundant;
use thalweg_sender::repair;
use thalweg_sender::{PacketSizes, Parts, Scheme, SenderFactory};
use thalweg_units::{ConfigError, Size};

/// A scheme with some parts replaced to match what was negotiated.
pub(super) struct Fitted {
    scheme: Arc<dyn SenderFactory>,
    padding_content: Option<redundant::Config>,
    repair: Option<repair::Config>,
    packets: PacketSizes,
    ecn: Option<ecn::Config>,
}

impl Fitted {
    /// `scheme` with its parts adapted like `parts`; a [`Scheme`] stays one.
    pub(super) fn of(scheme: &Arc<dyn SenderFactory>, parts: Parts) -> Arc<dyn SenderFactory> {
        let Parts { padding_content, repair, packets, ecn, .. } = parts;
        match scheme.as_scheme() {
            Some(known) => Arc::new(Scheme { padding_content, repair, packets, ecn, ..known.clone() }),
            None => Arc::new(Fitted { scheme: scheme.clone(), padding_content, repair, packets, ecn }),
        }
    }
}

impl SenderFactory for Fitted {
    fn name(&self) -> &str {
        self.scheme.name()
    }

    fn parts(&self, source: Size) -> Result<Parts, ConfigError> {
        let mut parts = self.scheme.parts(source)?;
        (parts.padding_content, parts.repair, parts.packets) = (self.padding_content, self.repair, self.packets);
        parts.ecn = self.ecn;
        Ok(parts)
    }

    fn based_on(&self) -> Option<&dyn SenderFactory> {
        Some(&*self.scheme)
    }

    fn describe(&self) -> String {
        self.scheme.describe()
    }
}
