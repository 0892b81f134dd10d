//! Scenarios that are drawn, changed and made smaller, and a search over them whose runs are made up.

use proptest::prelude::*;
use thalweg_sender::{Registry, Scheme};
use thalweg_units::Seed;

use super::objective::tests::well;
use super::steps::digits;
use super::*;
use crate::{Scenario, Simulation};

/// Fails unless a genome is within its ranges and is over in time.
fn check(plan: &Plan, genome: &Genome) {
    assert!((1..=12).contains(&genome.steps.len()), "{genome:?}");
    let rates = genome.steps.iter().map(|step| step.rate_kbps);
    assert!(rates.clone().all(|rate| (100.0..=20_000.0).contains(&rate)), "{genome:?}");
    assert!(plan.settled_s(genome) <= plan.until_s() + 1e-9, "{genome:?}");
    for feature in FEATURES {
        let of_group = FEATURES.iter().filter(|other| other.group == feature.group && genome.has(other)).count();
        assert!(of_group <= 1 && (of_group == 1 || !feature.is_always()), "{}: {genome:?}", feature.group);
        for gene in feature.genes {
            assert_eq!(genome.has(feature), genome.value(gene.name).is_some(), "{}", gene.name);
            let (low, high) = plan.range(gene);
            assert!(genome.value(gene.name).is_none_or(|value| (low..=high).contains(&value)), "{genome:?}");
        }
    }
}

/// Fails unless a genome reads back, and is a scenario that reads back and can be played.
fn check_played(plan: &Plan, genome: &Genome) {
    check(plan, genome);
    let line = serde_json::to_string(genome).unwrap();
    assert_eq!(&serde_json::from_str::<Genome>(&line).unwrap(), genome);
    let scenario = plan.scenario(genome, Seed::new(1)).unwrap();
    let text = toml::to_string_pretty(&scenario).unwrap();
    assert_eq!(toml::from_str::<Scenario>(&text).unwrap(), scenario, "{text}");
    let gcc: Scheme = "gcc".parse().unwrap();
    Simulation::new(&scenario, &gcc, &Registry::new(), &mut scenario.find())
        .unwrap_or_else(|error| panic!("{error}: {text}"));
}

proptest! {
    #[test]
    fn what_is_drawn_changed_or_made_smaller_is_in_its_ranges_and_can_be_played(seed in any::<u64>()) {
        let plan = Plan::default();
        let mut random = Seed::new(seed).random();
        let (mut genome, mate) = (plan.draw(&mut random), plan.draw(&mut random));
        check_played(&plan, &genome);
        for _ in 0..4 {
            genome = plan.child(&genome, &mate, &mut random);
            check_played(&plan, &genome);
        }
        // Anything may be what a sender fails at.
        let accepted = |candidate: &Genome| {
            check(&plan, candidate);
            Ok::<bool, std::convert::Infallible>(random.chance(0.3))
        };
        let small = shrunk(&plan, &genome, accepted).unwrap();
        check_played(&plan, &small);
        prop_assert!(small.size() <= genome.size());
    }
}

/// A sender that is dead after less than 300 kbps, with each seed: its runs.
fn dead_after_a_dip(genome: &Genome) -> Vec<Played> {
    let (_, before) = genome.steps.split_last().unwrap();
    let is_dead = before.iter().any(|step| step.rate_kbps < 300.0);
    let dead = Figures { rate_mbps: 0.2, packets_a_picture: 0.7, ..well() };
    let run = |seed| Played { seed, tested: if is_dead { dead.clone() } else { well() }, references: vec![well()] };
    vec![run(1), run(2)]
}

fn evaluated(plan: &Plan, evaluation: usize, genes: Genome, play: fn(&Genome) -> Vec<Played>) -> Evaluation {
    let runs = play(&genes);
    let verdict = judge(&runs, &plan.weights);
    Evaluation { evaluation, shrunk: None, genes, runs, verdict }
}

fn searched(plan: &Plan, play: fn(&Genome) -> Vec<Played>) -> Search<'_> {
    let mut search = Search::new(plan);
    loop {
        let next = search.next();
        if next.is_empty() {
            return search;
        }
        for (number, genes) in next {
            search.add(evaluated(plan, number, genes, play));
        }
    }
}

#[test]
fn a_fault_is_one_kind_however_often_it_is_met_and_evolution_finds_it_shorter_and_goes_elsewhere() {
    let plan = Plan { evaluations: 100, ..Plan::default() };
    let search = searched(&plan, dead_after_a_dip);
    assert_eq!(search.played().len(), 100);
    let (kind, found) = search.kinds().first_key_value().unwrap();
    assert_eq!((kind.as_str(), search.kinds().len()), ("rate-dead-steady", 1));
    let size = |number: usize| search.at(number).unwrap().genes.size();
    assert!(found.first <= 40 && size(found.shortest) <= size(found.first), "{found:?}");
    // Every number's scenario is one of its own.
    let mut genes: Vec<String> = search.played().iter().map(|one| format!("{:?}", one.genes)).collect();
    genes.sort();
    genes.dedup();
    assert!(genes.len() >= 98, "{}", genes.len());
    // Children of what is known already are a fifth; the others are new.
    let again = search.played()[40..].iter().filter(|one| one.worse() >= 1.0).count();
    assert!((1..=40).contains(&again), "{again}");
}

#[test]
fn the_same_seed_proposes_the_same_and_another_seed_something_else() {
    let genes = |seed| {
        let plan = Plan { evaluations: 48, seed: Seed::new(seed), ..Plan::default() };
        searched(&plan, dead_after_a_dip).played().iter().map(|one| one.genes.clone()).collect::<Vec<_>>()
    };
    assert_eq!(genes(1), genes(1));
    assert_ne!(genes(1), genes(2));
}

#[test]
fn a_failure_that_one_seed_has_not_or_whose_reference_fails_too_is_none() {
    let fails = |references: Vec<Figures>| {
        let dead = Figures { rate_mbps: 0.2, packets_a_picture: 0.7, ..well() };
        Played { seed: 1, tested: dead, references }
    };
    let plan = Plan { evaluations: 16, ..Plan::default() };
    let genes = plan.draw(&mut Seed::new(1).random());
    let kind = |runs: Vec<Played>| {
        let verdict = judge(&runs, &plan.weights);
        Evaluation { evaluation: 1, shrunk: None, genes: genes.clone(), runs, verdict }.kind(1.0, 2)
    };
    assert!(kind(vec![fails(vec![well()]); 2]).is_some());
    assert_eq!(kind(vec![fails(vec![well()])]), None);
    assert_eq!(kind(vec![fails(vec![Figures { rate_mbps: 0.9, ..well() }]); 2]), None);
    assert_eq!(kind(vec![fails(Vec::new()); 2]), None);
}

#[test]
fn shrinking_ends_at_the_least_that_fails_with_round_numbers_and_nothing_beside_it() {
    let plan = Plan::default();
    for seed in 1..=20 {
        let mut random = Seed::new(seed).random();
        let is_dead = |genome: &Genome| dead_after_a_dip(genome)[0].tested != well();
        let genome = std::iter::repeat_with(|| plan.draw(&mut random)).find(is_dead).unwrap();
        let mut asked = 0;
        let small = shrunk(&plan, &genome, |genome| {
            asked += 1;
            Ok::<bool, std::convert::Infallible>(is_dead(genome))
        });
        let small = small.unwrap();
        assert_eq!((small.size(), small.steps[0].lasts_s), (2, small.steps[0].lasts_s.min(1.0)), "{small:?}");
        // Twice the rates would be too much for some.
        assert!(digits(small.base_kbps(), 1) == small.base_kbps() && asked < 60, "{asked}: {small:?}");
        assert_eq!(plan.words(&small).split_once(", ").unwrap().1, "360p30, 25 ms");
    }
}

#[test]
fn a_case_has_what_was_found_and_what_must_be_and_its_scenario_reads_back() {
    let plan = Plan::default();
    let genome = plan.draw(&mut Seed::new(1).random());
    let scenario = plan.scenario(&genome, Seed::new(1)).unwrap();
    let dead = Figures { rate_mbps: 0.2, packets_a_picture: 0.7, ..well() };
    let runs = [1, 2].map(|seed| Played { seed, tested: dead.clone(), references: vec![well()] });
    let verdict = judge(&runs, &plan.weights).unwrap();
    let text = case(
        "hunt-mine-003",
        "contestant = \"mine\", seed = 1, evaluation = 3",
        &scenario,
        plan.settled_s(&genome),
        &runs,
        &verdict,
    );
    let case: toml::Table = text.unwrap().parse().unwrap();
    assert_eq!(case["scenario"].clone().try_into::<Scenario>().unwrap(), scenario);
    assert_eq!((case["id"].as_str(), case["source"]["evaluation"].as_integer()), (Some("hunt-mine-003"), Some(3)));
    // 0.1 of what it could have, a quarter more and less; at least 0.7 of the reference's 0.9.
    let bar = &case["bars"][0];
    assert_eq!(bar["figure"].as_str(), Some("rate_share"));
    let numbers =
        |key: &str| bar[key].as_array().unwrap().iter().map(|one| one.as_float().unwrap()).collect::<Vec<_>>();
    assert_eq!((numbers("reported"), numbers("must")), (vec![0.075, 0.125], vec![0.63, 1.02]));
    assert_eq!(bar["window"][0].as_str(), Some("26.666s"));
}
