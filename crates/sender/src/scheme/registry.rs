//! Senders by name: this crate's schemes, and those that a program adds.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::{Scheme, SenderFactory, UnknownScheme, known};

/// After the name of a scheme whose receiver keeps states, the form of it that any VP8 receiver follows.
const STANDARD_DECODER: &str = ":standard-decoder";

/// Where the laboratory, `run`, `compare` and `publish` look up names. It begins with every scheme of this crate, with
/// every applicable suffix; a program adds its own.
#[derive(Clone, Default)]
pub struct Registry {
    added: Vec<Arc<dyn SenderFactory>>,
}

impl Registry {
    /// This crate's schemes.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Adds a sender.
    ///
    /// # Errors
    /// If the name is taken; [`Registry::replace`] replaces the existing sender.
    pub fn add(&mut self, factory: impl SenderFactory + 'static) -> Result<(), NameTaken> {
        if self.find(factory.name()).is_ok() {
            return Err(NameTaken(factory.name().into()));
        }
        self.replace(factory);
        Ok(())
    }

    /// Adds a sender and replaces any of the same name.
    pub fn replace(&mut self, factory: impl SenderFactory + 'static) {
        self.added.retain(|other| other.name() != factory.name());
        self.added.push(Arc::new(factory));
    }

    /// Finds the sender of this name, which may be written in capitals.
    ///
    /// # Errors
    /// If there is none; the error lists the existing names.
    pub fn find(&self, name: &str) -> Result<Arc<dyn SenderFactory>, UnknownScheme> {
        let added = |name: &str| self.added.iter().find(|added| added.name() == name);
        if let Some(added) = added(name).or_else(|| added(&name.to_ascii_lowercase())) {
            return Ok(added.clone());
        }
        match name.parse::<Scheme>() {
            Ok(scheme) => Ok(Arc::new(scheme)),
            Err(unknown) => Err(unknown.beside(self.added_names())),
        }
    }

    /// The form of a sender that a receiver with a standard decoder follows: itself, unless its receiver is stateful; then
    /// the one named after it, as `thalweg:standard-decoder+fec` after `thalweg+fec`. `None` if there is none.
    pub fn for_standard_decoder(&self, factory: &Arc<dyn SenderFactory>) -> Option<Arc<dyn SenderFactory>> {
        if !factory.receiver().is_stateful() {
            return Some(factory.clone());
        }
        let name = factory.name();
        let (scheme, suffixes) = name.split_at(name.find('+').unwrap_or(name.len()));
        let form = self.find(&format!("{scheme}{STANDARD_DECODER}{suffixes}")).ok()?;
        (!form.receiver().is_stateful()).then_some(form)
    }

    /// Every name without suffixes, the added ones last.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let replaced = |name: &&str| !self.added_names().any(|added| added == *name);
        known().iter().map(|known| known.name).filter(replaced).chain(self.added_names())
    }

    fn added_names(&self) -> impl Iterator<Item = &str> {
        self.added.iter().map(|added| added.name())
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registry").field(&self.added_names().collect::<Vec<_>>()).finish()
    }
}

/// A sender of this name exists already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameTaken(String);

impl fmt::Display for NameTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is a scheme '{}' already: choose another name, or replace it", self.0)
    }
}

impl core::error::Error for NameTaken {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use thalweg_control::fixed;

    fn mine(name: &str) -> impl SenderFactory + use<> {
        "gcc".parse::<Scheme>().unwrap().with_controller(name, || fixed::Fixed::new(fixed::Config::default()))
    }

    #[test]
    fn a_name_of_this_crates_is_taken_until_it_is_replaced() {
        let mut registry = Registry::new();
        assert_eq!(registry.add(mine("gcc")), Err(NameTaken("gcc".into())));
        assert_eq!(registry.add(mine("gcc+fec")), Err(NameTaken("gcc+fec".into())));
        assert!(registry.find("gcc").unwrap().as_scheme().is_some());
        registry.replace(mine("gcc"));
        assert!(registry.find("gcc").unwrap().as_scheme().is_none());
        assert_eq!(registry.names().filter(|name| *name == "gcc").count(), 1);
    }

    #[test]
    fn what_a_standard_decoder_follows_is_the_scheme_itself_or_its_form_for_it() {
        let registry = Registry::new();
        let form = |name: &str| {
            let form = registry.for_standard_decoder(&registry.find(name).unwrap());
            form.map(|form| form.name().to_string())
        };
        let followed = |name: &str| Some(name.to_string());
        assert_eq!(form("gcc+fec"), followed("gcc+fec"));
        assert_eq!(form("thalweg"), followed("thalweg:standard-decoder"));
        assert_eq!(form("salsify"), followed("salsify:standard-decoder"));
        assert_eq!(form("thalweg+fec"), followed("thalweg:standard-decoder+fec"));
        assert_eq!(form("thalweg:standard-decoder"), followed("thalweg:standard-decoder"));
        assert_eq!((form("salsify:paper"), form("vidaptive+functional")), (None, None), "they need kept states");
    }

    #[test]
    fn a_name_that_is_not_there_is_answered_with_those_that_are() {
        let mut registry = Registry::new();
        registry.add(mine("mine")).unwrap();
        assert_eq!(registry.find("mine").unwrap().name(), "mine");
        let written = ["Mine", "GCC", "Gcc+FEC"].map(|name| registry.find(name).unwrap().name().to_string());
        assert_eq!(written, ["mine", "gcc", "gcc+fec"]);
        let near = registry.find("vidaptve").unwrap_err().to_string();
        assert!(
            near == "unknown scheme 'vidaptve': did you mean vidaptive or vidaptive+fec or vidaptive:gcc?",
            "{near}"
        );
        let message = registry.find("yours").unwrap_err().to_string();
        assert!(
            message.starts_with("unknown scheme 'yours': expected one of mine, gcc, ") && message.contains("+fec"),
            "{message}"
        );
    }
}
