//! What tells a process from its forked children, and a virtual machine from its clones, on Linux: one page that the kernel wipes in a
//! child, and the counter of `/dev/sysgenid` where there is such a device.
//!
//! A few loads tell whether all is as it was; no system call an id. Where the kernel can't wipe, the process id is compared instead.

use super::Zeroed;
use super::vm_linux::Machine;
use super::wiped::Wiped;
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// Generations handed out so far by this process and its ancestors. A child inherits the count, so its next generation is one
/// that its parent had not given out when it forked, and no state older than the fork carries it.
static GENERATIONS: AtomicU64 = AtomicU64::new(0);

/// The wiped page; null before the first use, and where it could not be had.
static PAGE: AtomicPtr<Page> = AtomicPtr::new(ptr::null_mut());
static FIND: Once = Once::new();

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

#[inline]
#[expect(unsafe_code, reason = "a static can hold a reference that is found later only as a pointer")]
fn page() -> Option<&'static Page> {
    // SAFETY: null, or a page that was leaked before it was stored here; `Acquire` shows what was written before that.
    unsafe { PAGE.load(Ordering::Acquire).as_ref() }
}

#[cold]
fn find() -> u64 {
    FIND.call_once(|| {
        Machine::watch();
        if let Some(page) = Wiped::<Page>::new() {
            PAGE.store(ptr::from_ref(page.leak()).cast_mut(), Ordering::Release);
        }
    });
    // Without such a page the process id must do.
    page().map_or_else(|| u64::from(std::process::id()), |page| page.renew(0))
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
