//! What tells a process from its forked children, and a virtual machine from its clones, on Linux: one page that the kernel wipes in a
//! child, and the counter of `/dev/sysgenid` where there is such a device.
//!
//! A few loads tell whether all is as it was; no system call an id. Where the kernel can't wipe, the process id is compared instead.

use super::Zeroed;
use super::vm_linux::Machine;
use super::wiped::Wiped;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// Generations handed out so far by this process and its ancestors. A child inherits the count, so its next generation is one
/// that its parent had not given out when it forked, and no state older than the fork carries it.
static GENERATIONS: AtomicU64 = AtomicU64::new(0);

/// The wiped page; null before the first use, and where it could not be had. No `Once` finds it: a child that was forked meanwhile by
/// another thread would wait for that thread for ever.
static PAGE: AtomicPtr<Page> = AtomicPtr::new(ptr::null_mut());
/// Whether it was looked for.
static IS_FOUND: AtomicBool = AtomicBool::new(false);

/// What is compared before each use of state.
#[derive(Debug)]
struct Page {
    /// The generation, zero before the first use in a process.
    generation: AtomicU64,
    /// The machine's counter in this generation.
    machine: AtomicU32,
}

#[expect(unsafe_code, reason = "atomics of zero are zero bytes, which the compiler can't be told")]
// SAFETY: both atomics may hold zero, which is zero bytes.
unsafe impl Zeroed for Page {
    const ZERO: Self = Self { generation: AtomicU64::new(0), machine: AtomicU32::new(0) };
}

#[inline]
pub(crate) fn generation() -> u64 {
    if let Some(page) = page() {
        // Ordering: the numbers guard no other memory.
        let seen = page.generation.load(Ordering::Relaxed);
        if seen != 0 && Machine::counter() == page.machine.load(Ordering::Relaxed) {
            return seen;
        }
        return page.renew(seen);
    }
    find()
}

/// Whether memory of this generation, which is wiped in a child, may be another machine's. A few instructions less than
/// [`generation`], for what is wiped by itself.
#[inline]
pub(super) fn is_cloned(generation_of_memory: u64) -> bool {
    Machine::is_watched() && generation_of_memory != generation()
}

/// Whether [`is_cloned`] must be asked for each id: where a machine is watched. A child's memory is wiped by itself.
pub(super) fn must_be_looked_at() -> bool {
    Machine::is_watched()
}

#[inline]
#[expect(unsafe_code, reason = "a static can hold a reference that is found later only as a pointer")]
fn page() -> Option<&'static Page> {
    // SAFETY: null, or a page that was leaked before it was stored here; `Acquire` shows what was written before that.
    unsafe { PAGE.load(Ordering::Acquire).as_ref() }
}

#[cold]
fn find() -> u64 {
    if !IS_FOUND.load(Ordering::Acquire) {
        // Before there is a page, so that whoever sees one sees the machine's counter too.
        Machine::watch();
        keep_first(&PAGE, Wiped::new());
        IS_FOUND.store(true, Ordering::Release);
    }
    // Without such a page the process id must do.
    page().map_or_else(|| u64::from(std::process::id()), |page| page.renew(0))
}

/// Leaks `found` into `place`, unless another thread was faster: then its page stays, and this one is unmapped.
fn keep_first(place: &AtomicPtr<Page>, found: Option<Wiped<Page>>) {
    let Some(mut found) = found else { return };
    let page = ptr::from_mut(found.get());
    if place.compare_exchange(ptr::null_mut(), page, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
        found.leak();
    }
}

impl Page {
    /// This process has just begun, was forked, or woke in another machine. The first thread to get here decides the generation;
    /// one that comes late with an older counter only makes another generation begin.
    #[cold]
    fn renew(&self, seen: u64) -> u64 {
        let machine = Machine::counter();
        let new = GENERATIONS.fetch_add(1, Ordering::Relaxed) + 1;
        match self.generation.compare_exchange(seen, new, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => {
                self.machine.store(machine, Ordering::Relaxed);
                new
            }
            Err(others) => others,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_threads_that_look_for_the_page_together_none_waits_and_one_is_kept() {
        for _ in 0..100 {
            let place = AtomicPtr::new(ptr::null_mut());
            let seen: Vec<usize> = std::thread::scope(|scope| {
                let look = || {
                    keep_first(&place, Wiped::new());
                    place.load(Ordering::Acquire).addr()
                };
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(look)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(seen.iter().all(|page| *page == seen[0] && *page != 0));
        }
        let place = AtomicPtr::new(ptr::null_mut());
        keep_first(&place, None);
        assert!(place.load(Ordering::Acquire).is_null());
    }
}
