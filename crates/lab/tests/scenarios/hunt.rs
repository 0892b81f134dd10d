//! A hunt with whole runs, for a controller with a fault of its own.

use thalweg_control::{Controller, Demand, Feedback, SendLimits, SentPacket, Signal, gcc};
use thalweg_lab::hunt::{Evaluation, Genome, KEPT, Plan, Played, Search, judge, measure, shrunk, why};
use thalweg_lab::{Scenario, simulate, unattended};
use thalweg_sender::{Scheme, SenderFactory};
use thalweg_units::{ConfigError, Rate, Seed, Span, Time};

/// GCC, but below a rate it stays there for ever.
#[derive(Debug, Clone)]
struct Sinking(gcc::Gcc, Option<Rate>);

/// The rate from which it does not rise.
const SUNK: Rate = Rate::from_kbps(250);

impl Controller for Sinking {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.0.on_feedback(feedback);
        if self.0.limits().capacity < SUNK {
            self.1 = Some(SUNK);
        }
    }

    fn limits(&self) -> SendLimits {
        self.1.map_or_else(|| self.0.limits(), SendLimits::of_rate)
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.0.on_sent(packet);
    }

    fn on_demand(&mut self, now: Time, demand: Demand) {
        self.0.on_demand(now, demand);
    }

    fn on_signal(&mut self, now: Time, signal: Signal) {
        self.0.on_signal(now, signal);
    }

    fn on_timeout(&mut self, now: Time) {
        self.0.on_timeout(now);
    }

    fn next_timeout(&self) -> Time {
        self.0.next_timeout()
    }
}

fn sinking() -> impl SenderFactory {
    let gcc = || gcc::Gcc::new(gcc::Config::default());
    let scheme: Scheme = "gcc".parse().unwrap();
    scheme.with_controller("sinking", move || Ok::<_, ConfigError>(Sinking(gcc()?, None)))
}

struct Hunt<'a> {
    plan: &'a Plan,
    tested: &'a dyn SenderFactory,
    reference: &'a dyn SenderFactory,
}

impl Hunt<'_> {
    fn evaluated(&self, number: usize, genes: Genome) -> Evaluation {
        let run = |seed: &Seed| {
            let scenario = self.plan.scenario(&genes, *seed).unwrap();
            let figures = |sender: &dyn SenderFactory| {
                let run = simulate(&scenario, sender, &mut scenario.find(), &mut unattended).unwrap();
                measure(&scenario, &run, self.plan.settled_s(&genes))
            };
            Played { seed: seed.get(), tested: figures(self.tested), references: vec![figures(self.reference)] }
        };
        let runs: Vec<Played> = self.plan.seeds.iter().map(run).collect();
        let verdict = judge(&runs, &self.plan.weights);
        Evaluation { evaluation: number, shrunk: None, genes, runs, verdict }
    }

    fn search(&self) -> Search<'_> {
        let mut search = Search::new(self.plan);
        loop {
            let next = search.next();
            if next.is_empty() {
                return search;
            }
            for (number, genes) in next {
                search.add(self.evaluated(number, genes));
            }
        }
    }
}

/// Links that only vary in their rate.
fn rates_only(evaluations: usize) -> Plan {
    let none = thalweg_lab::hunt::FEATURES.iter().filter(|feature| feature.plain.is_empty());
    Plan {
        evaluations,
        seeds: vec![Seed::new(1)],
        shares: none.map(|feature| (feature.name.to_string(), 0.0)).collect(),
        ranges: [("size.lines".to_string(), (360.0, 360.0))].into(),
        ..Plan::default()
    }
}

// Takes 20 s: 32 scenarios of 40 s, and those that make one of them smaller.
#[test]
fn a_controller_that_never_leaves_a_low_rate_is_found_made_small_and_explained() {
    let (plan, tested, gcc) = (rates_only(32), sinking(), "gcc".parse::<Scheme>().unwrap());
    let hunt = Hunt { plan: &plan, tested: &tested, reference: &gcc };
    let search = hunt.search();
    let (kind, found) = search.kinds().iter().find(|(kind, _)| kind.contains("-dead-")).unwrap();
    let first = search.at(found.shortest).unwrap();
    let is_same = |one: &Evaluation| one.kind(KEPT, 1) == first.kind(KEPT, 1);
    let mut asked = 0;
    let small = shrunk(&plan, &first.genes, |genes| {
        asked += 1;
        Ok::<bool, ()>(asked <= 40 && is_same(&hunt.evaluated(1, genes.clone())))
    });
    let small = small.unwrap();
    assert!(small.steps.len() <= 2 && is_same(&hunt.evaluated(1, small.clone())), "{kind}: {small:?}");
    // What is written is what was played.
    let scenario = plan.scenario(&small, Seed::new(1)).unwrap();
    let read: Scenario = toml::from_str(&toml::to_string_pretty(&scenario).unwrap()).unwrap();
    let [ours, theirs] = [&tested as &dyn SenderFactory, &gcc].map(|sender| read.play(sender).unwrap());
    let again = measure(&read, &ours, plan.settled_s(&small));
    assert_eq!(again, hunt.evaluated(1, small).runs[0].tested);
    let why = why(first.verdict.as_ref().unwrap().term(), &ours, &theirs);
    assert!(why.moment.starts_with("At ") && why.tested.contains("over a link of"), "{why:?}");
}

#[test]
fn a_sender_that_is_its_reference_fails_nowhere() {
    let (plan, gcc) = (Plan { duration: Span::from_secs(12), ..Plan::default() }, "gcc".parse::<Scheme>().unwrap());
    let plan = Plan { evaluations: 16, ..plan };
    let hunt = Hunt { plan: &plan, tested: &gcc, reference: &gcc };
    let search = hunt.search();
    assert!(search.kinds().is_empty() && search.played().iter().all(|one| one.worse() == 0.0));
}
