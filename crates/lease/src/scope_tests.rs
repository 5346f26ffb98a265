use super::*;
use crate::identity::Identity;
use crate::request::Request;
use crate::rules::{Decision, SERIAL_JUMP, created as create_space, decide};
use crate::space::{BlockTerms, Kind, Space, SpaceId};
use crate::state::{Expected, Witness};
use mintage::UnixNanos;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A space of scopes, as a store would keep it.
#[derive(Clone)]
struct Counters {
    terms: ScopeTerms,
    state: SpaceState,
    rows: BTreeMap<ScopeName, ScopeRow>,
    live: Identity,
    witness: Witness,
    events: Vec<Event>,
    nonces: u128,
}

fn space(terms: ScopeTerms) -> Space {
    Space { id: SpaceId(1), name: "issues".to_owned(), kind: Kind::Scopes(terms) }
}

fn name(scope: &str) -> ScopeName {
    scope.parse().unwrap()
}

const GAP: u64 = 1_000;
const PLAIN: ScopeTerms = ScopeTerms { first: 1, last: 1_000_000, failover_gap: 0 };
const WITH_GAP: ScopeTerms = ScopeTerms { failover_gap: GAP, ..PLAIN };

impl Counters {
    fn new(terms: ScopeTerms) -> Self {
        let live = Identity { origin: [1, 1, 0], started: Some(UnixNanos(0)), ..Identity::default() };
        let (witness, events) = (Witness::default(), Vec::new());
        let (state, _) = create_space(&space(terms), &seen(live, witness), &[], true).unwrap();
        Self { terms, state, rows: BTreeMap::new(), live, witness, events, nonces: 1 }
    }

    fn run(&mut self, request: &Request) -> Result<Answer, Refusal> {
        let seen = seen(self.live, self.witness);
        let scopes = match (request.scope(), request.page()) {
            (Some(scope), _) => self.rows.get(scope).cloned().into_iter().collect(),
            (None, Some(_)) => self.rows.values().cloned().collect(),
            (None, None) => Vec::new(),
        };
        let rows = Rows { scopes, ..Rows::default() };
        let decision = decide(&Kind::Scopes(self.terms), &self.state, &seen, request, &rows);
        let Decision { state, rows, scope, answer, serial, events } = decision;
        self.events.extend(events);
        assert!(rows.is_empty() && (state.is_some() || scope.is_none()));
        if let Some(write) = scope {
            assert!(answer.is_ok());
            assert_eq!((write.row.serial, write.expect.as_ref()), (serial, self.rows.get(&write.row.scope)));
            self.rows.insert(write.row.scope.clone(), write.row);
        }
        if let Some(state) = state {
            assert!(state.serial > self.state.serial && state.serial == serial);
            assert!(state.floor == 0 && state.block.nonce == Nonce::NOBODY);
            self.state = state;
        }
        assert!(self.rows.values().all(|row| standing(&self.state, row).next <= self.state.high_mark));
        answer
    }

    fn take(&mut self, scope: &str, size: u64) -> Result<(u64, u64), Refusal> {
        self.nonces += 1;
        let ask = Take { nonce: Nonce(self.nonces), scope: name(scope), size };
        match self.run(&Request::Take(ask))? {
            Answer::Block(block) => Ok((block.start, block.end)),
            other => panic!("{other:?}"),
        }
    }

    fn bump(&mut self, scope: &str, bump: Bump) -> Result<Answer, Refusal> {
        self.run(&Request::BumpScope(name(scope), bump))
    }

    /// Of a scope as it is shown, the next value.
    fn next(&mut self, scope: &str) -> Option<u64> {
        match self.run(&Request::LookScope(name(scope))) {
            Ok(Answer::Scopes(rows)) => rows.first().map(|row| row.next),
            other => panic!("{other:?}"),
        }
    }
}

fn seen(live: Identity, witness: Witness) -> Seen {
    Seen { now: UnixNanos(1), live, expected: Expected::Wall(UnixNanos(0)), witness }
}

#[test]
fn each_scope_counts_from_the_first_value_without_a_gap() {
    let mut counters = Counters::new(PLAIN);
    assert_eq!(counters.take("42", 1), Ok((1, 2)));
    assert_eq!(counters.take("7", 1), Ok((1, 2)));
    assert_eq!(counters.take("42", 5), Ok((2, 7)));
    assert_eq!(counters.take("42", 1), Ok((7, 8)));
    assert_eq!((counters.next("42"), counters.next("8")), (Some(8), None));
    for size in [0, MAX_TAKE + 1] {
        assert_eq!(counters.take("42", size), Err(Refusal::BlockSize { size, max: MAX_TAKE }));
    }
}

#[test]
fn a_scope_ends_with_its_last_value_and_gives_all_that_was_asked_for_or_nothing() {
    let mut counters = Counters::new(ScopeTerms { last: 5, ..PLAIN });
    assert_eq!(counters.take("a", 3), Ok((1, 4)));
    assert_eq!(counters.take("a", 3), Err(Refusal::ScopeEnds { size: 3, left: 2, last: 5 }));
    assert_eq!(counters.take("a", 2), Ok((4, 6)));
    assert_eq!(counters.take("a", 1), Err(Refusal::CounterEnded { last: 5 }));
    assert_eq!(counters.take("b", 1), Ok((1, 2)));
    let mut widest = Counters::new(ScopeTerms { first: MAX_SERIAL - 1, last: MAX_SERIAL - 1, ..PLAIN });
    assert_eq!(widest.take("a", 1), Ok((MAX_SERIAL - 1, MAX_SERIAL)));
    assert_eq!(widest.take("a", 1), Err(Refusal::CounterEnded { last: MAX_SERIAL - 1 }));
}

#[test]
fn rule_11_a_doubled_taking_is_refused() {
    let mut counters = Counters::new(PLAIN);
    let ask = Request::Take(Take { nonce: Nonce(9), scope: name("a"), size: 2 });
    assert!(counters.run(&ask).is_ok());
    assert_eq!(counters.run(&ask), Err(Refusal::Doubled));
    assert_eq!(counters.next("a"), Some(3));
}

#[test]
fn an_import_moves_one_scope_up_and_makes_it() {
    let mut counters = Counters::new(PLAIN);
    counters.bump("old", Bump::To(500)).unwrap();
    assert_eq!(counters.take("old", 1), Ok((500, 501)));
    counters.bump("old", Bump::By(10)).unwrap();
    assert_eq!(counters.take("old", 1), Ok((511, 512)));
    assert_eq!(counters.take("new", 1), Ok((1, 2)));
    assert_eq!(counters.bump("old", Bump::To(5)), Err(Refusal::BumpBack { next: 512, to: 5 }));
    let past = Refusal::BumpPast { last: PLAIN.last, to: u64::MAX };
    assert_eq!(counters.bump("x", Bump::By(u64::MAX)), Err(past));
    assert_eq!(counters.next("x"), None);
}

#[test]
fn rule_18_a_mere_restart_changes_nothing() {
    let mut counters = Counters::new(PLAIN);
    counters.take("a", 3).unwrap();
    counters.live.started = Some(UnixNanos(9));
    assert_eq!(counters.take("a", 1), Ok((4, 5)));
}

#[test]
fn rule_18_a_promotion_lets_all_scopes_jump_those_too_whose_row_was_lost() {
    let mut counters = Counters::new(WITH_GAP);
    counters.take("a", 3).unwrap();
    counters.take("b", 1).unwrap();
    counters.live.timeline = 1;
    assert_eq!(counters.take("a", 1), Ok((4 + GAP, 5 + GAP)));
    assert_eq!(counters.take("a", 1), Ok((5 + GAP, 6 + GAP)));
    assert_eq!(counters.take("never seen", 1), Ok((1 + GAP, 2 + GAP)));
    counters.live.timeline = 2;
    // This one has slept through both.
    assert_eq!(counters.take("b", 1), Ok((2 + 2 * GAP, 3 + 2 * GAP)));
    assert_eq!(counters.next("a"), Some(6 + 2 * GAP));
    assert_eq!((counters.state.block.jumps, counters.state.block.jumped), (2, 2 * GAP));
    assert_eq!(counters.events, [Event::ScopesJumped { by: GAP }, Event::ScopesJumped { by: GAP }]);
    // On an operator's word that every scope is there, one that is new begins with the first value again.
    counters.run(&Request::BeginAnew).unwrap();
    assert_eq!((counters.take("new", 1), counters.next("a")), (Ok((1, 2)), Some(6 + 2 * GAP)));
}

#[test]
fn rule_18_a_jump_is_an_hour_at_the_highest_rate_of_all_scopes_or_a_hundred_takings() {
    let mut counters = Counters::new(PLAIN);
    for scope in ["a", "b", "c"] {
        counters.take(scope, 10).unwrap();
    }
    counters.live.timeline = 1;
    // 30 values in this minute make 1,800 in an hour.
    assert_eq!(counters.take("a", 1), Ok((11 + 1_800, 12 + 1_800)));
    let mut slow = Counters::new(PLAIN);
    slow.live.timeline = 1;
    assert_eq!(slow.take("a", 1), Ok((101, 102)));
}

#[test]
fn rule_18_an_older_copy_stops_all_scopes_until_they_are_moved_on() {
    let mut counters = Counters::new(PLAIN);
    counters.take("a", 3).unwrap();
    counters.live.origin = [2, 2, 2];
    for scope in ["a", "a", "new"] {
        assert_eq!(counters.take(scope, 1), Err(Refusal::ScopesStopped));
    }
    assert_eq!(counters.state.holds, 1);
    assert_eq!(counters.run(&Request::BeginAnew), Err(Refusal::ScopesStopped));
    // One scope that is moved doesn't vouch for the others.
    counters.bump("a", Bump::To(100)).unwrap();
    assert_eq!(counters.take("a", 1), Err(Refusal::ScopesStopped));
    let one = Refusal::Request {
        what: "a value for all scopes",
        expected: "a number of values to move them by, or the name of one scope",
    };
    assert_eq!(counters.run(&Request::Bump(Bump::To(5_000))), Err(one));
    let past = Refusal::BumpPast { last: PLAIN.last, to: 100 + PLAIN.last };
    assert_eq!(counters.run(&Request::Bump(Bump::By(PLAIN.last))), Err(past));
    counters.run(&Request::Bump(Bump::By(50))).unwrap();
    assert_eq!(counters.take("a", 1), Ok((150, 151)));
    assert_eq!(counters.take("new", 1), Ok((51, 52)));
}

#[test]
fn rule_18_ending_a_stop_that_a_bump_has_ended_brings_no_value_back() {
    let mut counters = Counters::new(PLAIN);
    counters.take("a", 1).unwrap();
    let old = counters.clone();
    counters.take("b", 3).unwrap();
    // The row of b is lost with the store; the bump ends the stop, and what the operator says then lowers nothing.
    let mut restored = Counters { nonces: counters.nonces, ..old };
    restored.live.origin = [2, 2, 2];
    assert_eq!(restored.take("b", 1), Err(Refusal::ScopesStopped));
    restored.run(&Request::Bump(Bump::By(100))).unwrap();
    for _ in 0..2 {
        restored.run(&Request::ReleaseHold).unwrap();
    }
    assert_eq!(restored.take("b", 3), Ok((101, 104)));
}

#[test]
fn rule_18_a_client_that_saw_more_stops_all_scopes_until_the_bump_is_enough() {
    let mut counters = Counters::new(PLAIN);
    counters.take("a", 9).unwrap();
    counters.witness.mark = 100;
    assert_eq!(counters.take("a", 1), Err(Refusal::ScopesStopped));
    counters.witness.mark = 0;
    assert_eq!(counters.take("b", 1), Err(Refusal::ScopesStopped));
    counters.run(&Request::Bump(Bump::By(20))).unwrap();
    counters.witness.mark = 100;
    assert_eq!(counters.take("a", 1), Err(Refusal::ScopesStopped));
    counters.bump("a", Bump::To(100)).unwrap();
    counters.run(&Request::ReleaseHold).unwrap();
    assert_eq!(counters.take("a", 1), Ok((100, 101)));
    counters.witness = Witness { serial: counters.state.serial + 5, mark: 0 };
    assert_eq!(counters.take("b", 1), Err(Refusal::ScopesStopped));
    assert!(counters.state.serial > counters.witness.serial + SERIAL_JUMP);
}

#[test]
fn rule_18_jumps_that_can_not_be_counted_stop_the_space() {
    let mut counters =
        Counters::new(ScopeTerms { failover_gap: MAX_SERIAL / 2 + 1, last: MAX_SERIAL - 1, first: 1 });
    counters.live.timeline = 1;
    counters.run(&Request::Look).unwrap();
    counters.live.timeline = 2;
    assert_eq!(counters.take("a", 1), Err(Refusal::ScopesStopped));
}

#[test]
fn rule_19_scopes_of_a_space_that_is_created_again_begin_above_all_that_the_old_one_issued() {
    let mut counters = Counters::new(WITH_GAP);
    counters.take("a", 3).unwrap();
    counters.take("b", 40).unwrap();
    let again = |live, name: &Space| {
        create_space(name, &seen(live, Witness::default()), &[(&space(WITH_GAP), &counters.state)], true)
    };
    let (state, _) = again(counters.live, &space(PLAIN)).unwrap();
    let mut new = Counters { state, rows: BTreeMap::new(), ..counters.clone() };
    assert_eq!(new.take("a", 1), Ok((41, 42)));
    // Not even an operator's word brings back what another space may have issued.
    new.run(&Request::ReleaseHold).unwrap();
    new.run(&Request::BeginAnew).unwrap();
    assert_eq!(new.take("c", 1), Ok((41, 42)));
    let promoted = Identity { timeline: 1, ..counters.live };
    assert_eq!(again(promoted, &space(PLAIN)).unwrap().0.block.next, 41 + GAP);
    let copied = Identity { origin: [7, 7, 7], ..counters.live };
    assert!(again(copied, &space(PLAIN)).unwrap().0.block.is_stale);
    let blocks = Space { kind: Kind::Blocks(BlockTerms::default()), ..space(PLAIN) };
    assert_eq!(again(counters.live, &blocks).unwrap_err().fact, "kind");
}

#[test]
fn blocks_and_windows_are_not_asked_of_a_space_of_scopes() {
    let mut counters = Counters::new(PLAIN);
    let refused = Refusal::WrongKind { request: "burn-worker", kind: "scopes" };
    assert_eq!(counters.run(&Request::Burn(1)), Err(refused));
    let page = |most| Request::Scopes(Page { after: None, most });
    for most in [0, MAX_PAGE + 1] {
        assert!(matches!(counters.run(&page(most)), Err(Refusal::Request { .. })));
    }
    assert_eq!(counters.run(&page(MAX_PAGE)), Ok(Answer::Scopes(Vec::new())));
}

/// What happens to a space, with scopes and clients by number.
#[derive(Clone, Debug)]
enum Happens {
    Take {
        client: usize,
        scope: usize,
        size: u64,
        is_answer_lost: bool,
    },
    Import {
        scope: usize,
        by: u64,
    },
    Backup,
    /// A copy is put back, and an operator moves all scopes on.
    RestoreAndLift,
    /// A copy is put back, and an operator moves those on that are behind.
    RestoreAndMend,
    /// A replica that is as far as the copy takes over.
    Promote,
    Restart,
    DropAndCreate,
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        8 => (0..2_usize, 0..3_usize, 1..5_u64, any::<bool>())
            .prop_map(|(client, scope, size, is_answer_lost)| Happens::Take { client, scope, size, is_answer_lost }),
        1 => (0..3_usize, 0..9_u64).prop_map(|(scope, by)| Happens::Import { scope, by }),
        2 => Just(Happens::Backup),
        1 => Just(Happens::RestoreAndLift),
        1 => Just(Happens::RestoreAndMend),
        1 => Just(Happens::Promote),
        1 => Just(Happens::Restart),
        1 => Just(Happens::DropAndCreate),
    ]
}

const SCOPES: [&str; 3] = ["a", "b", "c"];

proptest! {
    /// No history of takings, lost answers, restores, failovers and creations issues a value of a scope twice.
    #[test]
    fn no_value_of_a_scope_is_issued_twice_whatever_happens(history in prop::collection::vec(happens(), 1..60)) {
        let mut now = Counters::new(WITH_GAP);
        let mut copy = now.clone();
        let mut issued: BTreeSet<(usize, u64)> = BTreeSet::new();
        let mut clients = [(0, [0; 3]), (0, [0; 3])];
        let mut dropped = Vec::new();
        for what in history {
            let origin = now.live.origin[0];
            match what {
                Happens::Take { client, scope, size, is_answer_lost } => {
                    let (serial, marks) = &mut clients[client];
                    now.witness = Witness { serial: *serial, mark: marks[scope] };
                    let (start, end) = now.take(SCOPES[scope], size).unwrap();
                    prop_assert_eq!(end - start, size);
                    for value in start..end {
                        prop_assert!(issued.insert((scope, value)), "{} of {}", value, SCOPES[scope]);
                    }
                    if !is_answer_lost {
                        (*serial, marks[scope]) = (now.state.serial, end);
                    }
                }
                Happens::Import { scope, by } => {
                    now.bump(SCOPES[scope], Bump::By(by)).unwrap();
                }
                Happens::Backup => copy = now.clone(),
                Happens::RestoreAndLift | Happens::RestoreAndMend | Happens::Promote => {
                    let (live, nonces) = (now.live, now.nonces);
                    now = Counters { live, nonces, witness: Witness::default(), ..copy.clone() };
                    if matches!(what, Happens::Promote) {
                        now.live.timeline += 1;
                    } else {
                        now.live.origin[0] = origin + 1;
                        prop_assert_eq!(now.take("a", 1), Err(Refusal::ScopesStopped));
                        if matches!(what, Happens::RestoreAndLift) {
                            now.run(&Request::Bump(Bump::By(GAP))).unwrap();
                            // It has ended the stop already: whoever says so once more brings nothing back.
                            now.run(&Request::ReleaseHold).unwrap();
                        } else {
                            for (scope, name) in SCOPES.iter().enumerate() {
                                let used = issued.range((scope, 0)..=(scope, u64::MAX)).next_back();
                                let Some((_, used)) = used else { continue };
                                let next = now.next(name).unwrap_or(now.state.block.next);
                                now.bump(name, Bump::To(next.max(used + 1))).unwrap();
                            }
                            now.run(&Request::ReleaseHold).unwrap();
                            // Every scope that was used is there, and so the others may begin anew.
                            now.run(&Request::BeginAnew).unwrap();
                        }
                    }
                    now.run(&Request::Look).unwrap();
                    // Who restores tells the clients; what they saw of serials that were lost would stop the space.
                    clients.iter_mut().for_each(|client| client.0 = 0);
                    copy = now.clone();
                }
                Happens::Restart => now.live.started = Some(UnixNanos(i128::from(now.state.serial))),
                Happens::DropAndCreate => {
                    dropped.push(now.state.clone());
                    let old = space(WITH_GAP);
                    let before: Vec<_> = dropped.iter().map(|state| (&old, state)).collect();
                    let (state, _) =
                        create_space(&space(WITH_GAP), &seen(now.live, Witness::default()), &before, true).unwrap();
                    now.state = state;
                    now.rows.clear();
                    now.witness = Witness::default();
                    // Where an old one of the name was dropped before a restore.
                    if now.state.block.is_stale {
                        now.run(&Request::Bump(Bump::By(GAP))).unwrap();
                    }
                    clients = [(0, [0; 3]), (0, [0; 3])];
                    copy = now.clone();
                }
            }
        }
    }
}
