//! Factories of senders: a scheme of this crate, or one that a program defines.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::any::Any;
use core::fmt;

use thalweg_control::Controller;
use thalweg_units::{ConfigError, Size};

use super::{FeedbackStyle, ReceiverKind, Scheme};
use crate::parts::Parts;

/// Makes the parts of a sender, as often as needed: for each run, each viewer, each change of scheme.
///
/// The laboratory simulates any factory, and `publish` sends with it. A new controller alone takes one line:
///
/// ```
/// # use thalweg_control::fixed::{Config, Fixed as Mine};
/// # use thalweg_sender::{Camera, Engine, Scheme, SenderFactory};
/// # use thalweg_units::{Size, Span, Time};
/// let scheme = "gcc".parse::<Scheme>()?.with_controller("mine", || Mine::new(Config::default()));
/// let camera = Camera { size: Size::HD, interval: Span::from_millis(33) };
/// let engine = Engine::new(&scheme, camera, Time::ZERO)?;
/// assert_eq!((scheme.name(), engine.limits().capacity), ("mine", Config::default().rate));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait SenderFactory: Send + Sync {
    /// The name of the sender.
    fn name(&self) -> &str;

    /// The parts of a sender for a camera of this size.
    ///
    /// # Errors
    /// When a parameter is out of range.
    fn parts(&self, source: Size) -> Result<Parts, ConfigError>;

    /// The sender whose controller or other parts this one replaces, if there is one. Reports, receiver and dependence on
    /// the machine are that sender's unless said otherwise.
    fn based_on(&self) -> Option<&dyn SenderFactory> {
        None
    }

    /// The reports that the receiver is asked for.
    fn feedback(&self) -> FeedbackStyle {
        self.based_on().map_or(FeedbackStyle::Twcc, SenderFactory::feedback)
    }

    /// Returns true if it works on receiver reports alone ([`ControllerConfig::works_on_receiver_reports`]). `publish`
    /// replaces one that does not by [`Scheme::by_loss`] for a viewer that sends nothing else. A controller of another
    /// program does not, unless its factory says so.
    ///
    /// [`ControllerConfig::works_on_receiver_reports`]: super::ControllerConfig::works_on_receiver_reports
    fn works_on_receiver_reports(&self) -> bool {
        false
    }

    /// How the receiver handles frames.
    fn receiver(&self) -> ReceiverKind {
        self.based_on().map_or(ReceiverKind::Standard, SenderFactory::receiver)
    }

    /// Returns true if its decisions depend on the machine's arithmetic, so that the same run may differ on another
    /// machine: results say so.
    fn is_machine_dependent(&self) -> bool {
        self.based_on().is_some_and(SenderFactory::is_machine_dependent)
    }

    /// Its parameters as TOML, which `run.toml` keeps under `[scheme.custom]`.
    fn describe(&self) -> String {
        String::new()
    }

    /// The scheme that this is, if it is one: `run.toml` then has every parameter, and can be run without this program.
    fn as_scheme(&self) -> Option<&Scheme> {
        None
    }

    /// Itself, for a program that must know more of its own senders than their parts: the laboratory gives its bounds
    /// the path of a run.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }
}

impl fmt::Debug for dyn SenderFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SenderFactory").field(&self.name()).finish()
    }
}

impl SenderFactory for Scheme {
    fn name(&self) -> &str {
        &self.name
    }

    fn parts(&self, source: Size) -> Result<Parts, ConfigError> {
        Ok(Parts {
            controller: self.controller.build()?,
            frames: self.frames.build(source)?,
            pacing: self.pacing,
            padding: self.padding,
            padding_content: self.padding_content,
            repair: self.repair,
            packets: self.packets,
            loss_detection: self.loss_detection,
            ecn: self.ecn,
        })
    }

    fn feedback(&self) -> FeedbackStyle {
        self.feedback
    }

    fn works_on_receiver_reports(&self) -> bool {
        self.controller.works_on_receiver_reports()
    }

    fn receiver(&self) -> ReceiverKind {
        self.receiver
    }

    fn as_scheme(&self) -> Option<&Scheme> {
        Some(self)
    }
}

/// A scheme whose controller is replaced by one of another program: see [`Scheme::with_controller`].
#[derive(Debug, Clone)]
pub struct WithController<F> {
    name: String,
    scheme: Scheme,
    make: F,
}

impl Scheme {
    /// The scheme under this name, with the controllers that `make` returns.
    pub fn with_controller<F, C>(self, name: &str, make: F) -> WithController<F>
    where
        F: Fn() -> Result<C, ConfigError> + Send + Sync,
        C: Controller + 'static,
    {
        WithController { name: name.into(), scheme: self, make }
    }
}

impl<F, C> SenderFactory for WithController<F>
where
    F: Fn() -> Result<C, ConfigError> + Send + Sync,
    C: Controller + 'static,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn parts(&self, source: Size) -> Result<Parts, ConfigError> {
        let controller: Box<dyn Controller> = Box::new((self.make)()?);
        let mut parts = Parts { controller, ..self.scheme.parts(source)? };
        if let Some(ecn) = &mut parts.ecn {
            // Whether the new controller answers marks is not known.
            ecn.cap.get_or_insert_default();
        }
        Ok(parts)
    }

    fn based_on(&self) -> Option<&dyn SenderFactory> {
        Some(&self.scheme)
    }

    fn describe(&self) -> String {
        format!("controller_in = {:?}\n", self.scheme.name)
    }
}
