//! A fork between two ids: parent, child and grandchild go on from one generator object, and no two may mint the same id.
//!
//! A generator whose ids are unique by tick, worker and sequence must refuse in the child, and so must one made there for the
//! parent's worker; one with a worker of its own must work.

use super::Summary;
use crate::count::Ids;
use crate::forked::{End, Forked};
use crate::minted::{Minted, Refused};
use crate::subject::{Source, Subject};
use crate::wire;
use anyhow::{Result, bail};
use mintage::{Clock, Error, Generator, RawId, SystemClock};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How to fork.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Ids that each process mints after each fork.
    pub ids: usize,
    /// Forks of the parent.
    pub runs: usize,
    /// Whether other threads of the parent mint and make generators all the time, so that the fork falls into their work.
    pub threads: bool,
}

/// The parent's worker; child and grandchild have the next two.
const WORKER: u64 = 1;

/// The worker of the generators that a thread makes meanwhile. Not the parent's: the tick in which a generator is made is used by
/// none of that worker.
const OTHER_WORKER: u64 = 9;

/// Ids minted before each fork.
const WARM_UP: usize = 10;

/// Ids that the second thread keeps: a fork copies the tables of all memory, so that more would slow down what is tested.
const MOST_KEPT: usize = 4_000_000;

/// How long a child may take before it counts as hung.
const LIMIT: Duration = Duration::from_secs(10);

/// What a child tells of itself and its own child.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ChildReport {
    /// Its own first.
    pids: Vec<u32>,
    order_breaks: u64,
    refused: Refused,
    failures: Vec<String>,
}

/// Forks, mints and compares.
///
/// # Errors
/// When there is no such generator, or the system gives no child.
///
/// # Panics
/// When a thread that mints meanwhile does.
pub fn run(subject: &Subject, options: &Options) -> Result<Summary> {
    let generator = subject.generator(&subject.settings(WORKER))?;
    // An iterator belongs to one thread: the second has one of its own.
    let of_second = match subject.source {
        Source::Held(_) => Some(subject.generator(&subject.settings(WORKER))?),
        _ => None,
    };
    let of_second = of_second.as_deref().unwrap_or(&*generator);
    let stop = AtomicBool::new(false);
    let mut parent = Minted::of(subject);
    let (children, second, made) = std::thread::scope(|scope| {
        let minting = options.threads.then(|| scope.spawn(|| mint_meanwhile(subject, of_second, &stop)));
        let is_made_meanwhile =
            options.threads && (subject.has_worker() || !subject.belongs_to_one_process());
        let making = is_made_meanwhile.then(|| scope.spawn(|| make_meanwhile(subject, &stop)));
        let children = fork_often(subject, &*generator, options, &mut parent);
        stop.store(true, Ordering::Relaxed);
        let second = minting.map(|t| t.join().expect("the thread that mints meanwhile does not panic"));
        let made = making.map(|t| t.join().expect("the thread that makes generators does not panic"));
        (children, second, made)
    });
    let (children, child_ids) = children?;
    let (parent_count, child_count) = (parent.ids.len(), child_ids.len());
    let second_count = second.as_ref().map(|thread| thread.ids.len());
    parent.ids.append(child_ids);
    let mut total = Minted::total([parent].into_iter().chain(second).collect());
    total.order_breaks += children.order_breaks;
    total.refused.add(children.refused);

    let mut summary = Summary::new("fork", subject, &total);
    let processes = children.pids.iter().chain([&std::process::id()]).collect::<BTreeSet<_>>().len();
    summary.show("forks", options.runs);
    summary.show("processes", processes);
    summary.show("ids_of_parent", parent_count);
    summary.show("ids_of_children", child_count);
    summary.show("ids_of_second_thread", second_count);
    summary.show("generators_made_meanwhile", made);
    summary.show("refused_as_forked", total.refused.forked);
    summary.failures.extend(children.failures);
    summary.expect(processes == 1 + 2 * options.runs, "not every fork made a child and a grandchild");
    let expected = (WARM_UP + options.ids) * options.runs;
    summary.expect(parent_count == expected, format!("the parent minted {parent_count} of {expected} ids"));
    let minting = if subject.belongs_to_one_process() && !subject.has_worker() { 0 } else { 2 };
    let expected = minting * options.ids * options.runs;
    summary.expect(child_count == expected, format!("the children minted {child_count} of {expected} ids"));
    summary.expect(
        subject.belongs_to_one_process() == (total.refused.forked > 0),
        "refused as forked where it need not be, or not where it must",
    );
    summary.expect(second_count != Some(0), "the second thread minted nothing");
    Ok(summary)
}

/// Forks as often as asked. A child that fails or hangs is a failure, and the last.
fn fork_often(
    subject: &Subject,
    generator: &dyn Generator,
    options: &Options,
    parent: &mut Minted,
) -> Result<(ChildReport, Ids)> {
    let (mut all, mut all_ids) = (ChildReport::default(), Ids::of(subject.scheme));
    for run in 0..options.runs {
        // State to inherit.
        parent.take(generator, WARM_UP);
        let child = Forked::run(LIMIT, |out| {
            let (report, ids) = be_child(subject, generator, options.ids, run);
            let _ = wire::write(out, &report, subject.scheme, &ids);
        })?;
        parent.take(generator, options.ids);
        match report_of(child, subject) {
            Ok((report, ids)) => {
                all.add(report);
                all_ids.append(ids);
            }
            Err(error) => {
                all.failures.push(format!("fork {run}: {error:#}"));
                break;
            }
        }
    }
    Ok((all, all_ids))
}

fn report_of(child: Forked, subject: &Subject) -> Result<(ChildReport, Ids)> {
    match child.finish()? {
        (bytes, End::Code(0)) => wire::read(&bytes, subject.scheme),
        (_, End::Signal(libc::SIGALRM)) => bail!("the child hung, and was ended"),
        (_, end) => bail!("the child ended by {end:?}"),
    }
}

impl ChildReport {
    fn of_this_process() -> Self {
        Self { pids: vec![std::process::id()], ..Self::default() }
    }

    fn add(&mut self, other: Self) {
        self.pids.extend(other.pids);
        self.order_breaks += other.order_breaks;
        self.refused.add(other.refused);
        self.failures.extend(other.failures);
    }
}

/// The child: on even runs it forks before it has used the generator, on odd ones after.
fn be_child(subject: &Subject, inherited: &dyn Generator, ids: usize, run: usize) -> (ChildReport, Ids) {
    let early = run.is_multiple_of(2).then(|| fork_again(subject, &[inherited], ids));
    let mut report = ChildReport::of_this_process();
    let (mut own_ids, own) = go_on(subject, &[inherited], WORKER + 1, ids, &mut report);
    let grandchild = early.unwrap_or_else(|| {
        let both: Vec<&dyn Generator> = [inherited].into_iter().chain(own.as_deref()).collect();
        fork_again(subject, &both, ids)
    });
    match grandchild.and_then(|child| report_of(child, subject)) {
        Ok((grandchild, ids)) => {
            report.add(grandchild);
            own_ids.append(ids);
        }
        Err(error) => report.failures.push(format!("the child's own fork: {error:#}")),
    }
    (report, own_ids)
}

/// The grandchild.
fn fork_again(subject: &Subject, inherited: &[&dyn Generator], ids: usize) -> Result<Forked> {
    // Its limit is shorter, so that the child lives to tell that it hung.
    let child = Forked::run(LIMIT / 2, |out| {
        let mut report = ChildReport::of_this_process();
        let (ids, _) = go_on(subject, inherited, WORKER + 2, ids, &mut report);
        let _ = wire::write(out, &report, subject.scheme, &ids);
    })?;
    Ok(child)
}

/// Mints in a forked process: from the first inherited generator where it may, else from one with a worker of its own, which is
/// returned.
fn go_on(
    subject: &Subject,
    inherited: &[&dyn Generator],
    worker: u64,
    ids: usize,
    report: &mut ChildReport,
) -> (Ids, Option<Box<dyn Generator>>) {
    let mut minted = Minted::of(subject);
    let mut own = None;
    if !subject.belongs_to_one_process() {
        minted.take(inherited[0], ids);
    } else {
        refuse_all(subject, inherited, report);
        if subject.has_worker() {
            match subject.generator(&subject.settings(worker)) {
                Ok(generator) => {
                    minted.take(&*generator, ids);
                    own = Some(generator);
                }
                Err(error) => report.failures.push(format!("a generator made for worker {worker}: {error}")),
            }
        }
    }
    report.order_breaks += if subject.promises_order() { minted.order_breaks } else { 0 };
    report.refused.add(minted.refused);
    (minted.ids, own)
}

/// Asks inherited generators in every way there is, and for one made here for the parent's worker.
fn refuse_all(subject: &Subject, inherited: &[&dyn Generator], report: &mut ChildReport) {
    let mut must_refuse = |answer: Option<Error>, what: &str| match answer {
        Some(error @ Error::Forked { .. }) => report.refused.note(&error),
        other => report.failures.push(format!("{what}: {other:?} where it must be refused as forked")),
    };
    for generator in inherited {
        let mut batch = [RawId::ZERO; 4];
        must_refuse(generator.try_next().err(), "try_next of an inherited generator");
        must_refuse(generator.next().err(), "next of an inherited generator");
        must_refuse(generator.try_fill(&mut batch).err(), "try_fill of an inherited generator");
        must_refuse(generator.fill(&mut batch).err(), "fill of an inherited generator");
    }
    // A mere counter starts where it is told to, in any process.
    if subject.has_policies() {
        let again = subject.generator(&subject.settings(WORKER));
        must_refuse(again.err(), "a generator made in a child for the parent's worker");
    }
}

/// Mints in batches, so that a lock is held most of the time. What comes after [`MOST_KEPT`] is minted and forgotten.
fn mint_meanwhile(subject: &Subject, generator: &dyn Generator, stop: &AtomicBool) -> Minted {
    let mut minted = Minted::of(subject);
    let mut batch = [RawId::ZERO; 64];
    while !stop.load(Ordering::Relaxed) {
        let answer = generator.fill(&mut batch).map(|()| batch.len());
        if minted.ids.len() < MOST_KEPT || answer.is_err() {
            minted.note_batch(&batch, answer, SystemClock.monotonic_nanos());
        }
    }
    minted
}

/// Makes generators, as many as it can, so that the fork falls into the making of one.
fn make_meanwhile(subject: &Subject, stop: &AtomicBool) -> u64 {
    let mut made = 0;
    while !stop.load(Ordering::Relaxed) {
        made += u64::from(subject.generator(&subject.settings(OTHER_WORKER)).is_ok());
    }
    made
}
