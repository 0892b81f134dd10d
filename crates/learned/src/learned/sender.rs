//! A sender whose controller a policy leads.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use thalweg_control::gcc;
use thalweg_sender::{Parts, Scheme, SenderFactory};
use thalweg_units::{ConfigError, Rate, Size};

use super::{Deadline, Learned, Policy, Terms};

type Make = dyn Fn() -> Result<Box<dyn Policy>, ConfigError> + Send + Sync;

/// A sender that is like `gcc` in everything but the controller, which a policy leads ([`Learned`]).
#[derive(Clone)]
pub struct LearnedSender {
    name: String,
    about: String,
    around: Scheme,
    terms: Terms,
    deadline: Option<Deadline>,
    is_machine_dependent: bool,
    make: Arc<Make>,
}

impl LearnedSender {
    /// A sender of this name whose policies `make` creates, one for each run.
    pub fn new(
        name: &str,
        terms: Terms,
        make: impl Fn() -> Result<Box<dyn Policy>, ConfigError> + Send + Sync + 'static,
    ) -> LearnedSender {
        let Ok(around) = "gcc".parse::<Scheme>() else { unreachable!("gcc is a scheme") };
        LearnedSender {
            name: name.into(),
            about: String::new(),
            around,
            terms,
            deadline: None,
            is_machine_dependent: false,
            make: Arc::new(make),
        }
    }

    /// Lines of TOML that say what its policy is.
    #[must_use]
    pub fn about(self, about: String) -> LearnedSender {
        LearnedSender { about, ..self }
    }

    /// Its policies' answers may differ in their last digits between machines, and so may its runs.
    #[must_use]
    pub fn machine_dependent(self) -> LearnedSender {
        LearnedSender { is_machine_dependent: true, ..self }
    }

    /// Late answers are not followed: where time passes while a policy computes.
    #[must_use]
    pub fn with_deadline(self, deadline: Deadline) -> LearnedSender {
        LearnedSender { deadline: Some(deadline), ..self }
    }

    /// Requirements of its policies.
    pub fn terms(&self) -> Terms {
        self.terms
    }

    /// The rate at which `gcc` begins.
    pub fn start() -> Rate {
        gcc::Config::default().start
    }
}

impl fmt::Debug for LearnedSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LearnedSender").field(&self.name).field(&self.terms).finish()
    }
}

impl SenderFactory for LearnedSender {
    fn name(&self) -> &str {
        &self.name
    }

    fn parts(&self, source: Size) -> Result<Parts, ConfigError> {
        let mut parts = self.around.parts(source)?;
        parts.controller = Box::new(Learned::new((self.make)()?, self.terms, self.deadline.clone())?);
        Ok(parts)
    }

    fn based_on(&self) -> Option<&dyn SenderFactory> {
        Some(&self.around)
    }

    fn describe(&self) -> String {
        let Terms { observation, action, interval, start } = self.terms;
        format!(
            "{}observation = \"{observation}\"\naction = \"{action}\"\ninterval = \"{interval}\"\nstart = \"{start}\"\n\
             around = \"{}\"\nmachine_dependent = {}\n",
            self.about, self.around.name, self.is_machine_dependent
        )
    }

    fn is_machine_dependent(&self) -> bool {
        self.is_machine_dependent
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}
