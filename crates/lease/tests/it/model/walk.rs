//! Breadth-first over everything that can happen, to the end or to the first thing that must not.

use super::rules::{Out, Rule, Without};
use super::scenes::Scene;
use super::steps::{Protocol, Step, Word};
use super::story;
use super::world::World;
use stateright::{Checker, HasDiscoveries, Model, Property};
use std::sync::atomic::Ordering;

pub(super) const NO_DUPLICATE: &str = "no cell for two holders";
pub(super) const NO_FALSE_ALARM: &str = "no hold without a loss";

/// What a walk came to.
#[derive(Debug)]
pub(super) struct Walked {
    pub(super) states: usize,
    pub(super) depth: usize,
    /// What broke, with the kinds of the steps that led to it, and as people read it.
    pub(super) broken: Option<(&'static str, Vec<Word>, String)>,
    /// What of the scene wasn't met.
    pub(super) missed: Vec<&'static str>,
}

/// Walks through a scene without some rules and without some kinds of steps.
pub(super) fn walk(scene: &'static Scene, outs: &'static [Out], barred: &'static [Word]) -> Walked {
    let protocol = Protocol::new(scene, outs, barred);
    // One thread: the path to what breaks is then the shortest, and always the same.
    let checker = protocol.checker().finish_when(HasDiscoveries::AnyFailures).threads(1).spawn_bfs().join();
    let protocol = checker.model();
    let mut found = checker.discoveries();
    let broken = [NO_DUPLICATE, NO_FALSE_ALARM].into_iter().find_map(|property| {
        let path = found.remove(property)?.into_vec();
        let words = path.iter().filter_map(|(_, step)| Some(step.as_ref()?.word())).collect();
        Some((property, words, story::tell(protocol, &path)))
    });
    let missed = scene.meets.iter().zip(&protocol.met).filter(|(_, met)| !met.load(Ordering::Relaxed));
    let missed = missed.map(|((name, _), _)| *name).collect();
    Walked { states: checker.unique_state_count(), depth: checker.max_depth(), broken, missed }
}

/// Whether a scene holds with all rules in, and has met what it should.
pub(super) fn hold(scene: &'static Scene) -> Result<Walked, String> {
    let walked = walk(scene, &[], &[]);
    if let Some((property, _, story)) = &walked.broken {
        return Err(format!("{}: {property} is broken:\n{story}", scene.name));
    }
    if !walked.missed.is_empty() {
        return Err(format!("{}: the walk never met {:?}", scene.name, walked.missed));
    }
    Ok(walked)
}

/// Whether it is without a rule as the list says.
pub(super) fn miss(rule: &Rule) -> Result<Walked, String> {
    let walked = walk(Scene::by_name(rule.scene), rule.out, rule.barred);
    let wanted = match rule.without {
        Without::Duplicate(words) => Some((NO_DUPLICATE, words)),
        Without::FalseAlarm(words) => Some((NO_FALSE_ALARM, words)),
        Without::Nothing(_) => None,
    };
    match (wanted, &walked.broken) {
        (None, None) => Ok(walked),
        (Some((property, words)), Some((broken, path, _))) if property == *broken && follow(path, words) => {
            Ok(walked)
        }
        (_, None) => Err(format!("without {}: nothing broke in {} states", rule.name, walked.states)),
        (_, Some((broken, _, story))) => Err(format!(
            "without {}: {broken} is broken, by another way than the list says:\n{story}",
            rule.name
        )),
    }
}

/// Whether the words come in this order, others between them.
fn follow(path: &[Word], words: &[Word]) -> bool {
    let mut path = path.iter();
    words.iter().all(|word| path.any(|step| step == word))
}

impl Model for Protocol {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        vec![self.beginning()]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        self.steps(world, steps);
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        self.next(world, step)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![Property::always(NO_DUPLICATE, |protocol: &Self, world: &World| {
            for ((_, is_met), met) in protocol.scene.meets.iter().zip(&protocol.met) {
                // Ordering: read after the walk has ended.
                if !met.load(Ordering::Relaxed) && is_met(world) {
                    met.store(true, Ordering::Relaxed);
                }
            }
            world.twice.is_none()
        })];
        // Without other rules, alarms aren't what is asked.
        if self.outs.iter().all(|out| matches!(out, Out::SettledBeforeEnd | Out::ChildSawNothing)) {
            properties.push(Property::always(NO_FALSE_ALARM, |_, world: &World| !world.false_alarm));
        }
        properties
    }
}
