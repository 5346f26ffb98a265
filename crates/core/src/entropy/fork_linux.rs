//! Fork detection on Linux: a page that the kernel wipes in a forked child (`MADV_WIPEONFORK`, since Linux 4.14).
//!
//! One load tells whether this process is the one that wrote the page; no system call an id. Where the kernel can't wipe, the
//! process id is compared instead.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Generations handed out so far by this process and its ancestors. A child inherits the count, so its next generation is one
/// that its parent had not given out when it forked, and no state older than the fork carries it.
static GENERATIONS: AtomicU64 = AtomicU64::new(0);

/// The page's first word, or `None` where it could not be had.
static PAGE: OnceLock<Option<&'static AtomicU64>> = OnceLock::new();

pub(crate) fn generation() -> u64 {
    let Some(word) = PAGE.get_or_init(wiped_page) else {
        return process_generation();
    };
    let seen = word.load(Ordering::Relaxed);
    if seen != 0 { seen } else { renew(word) }
}

/// The word is zero: this process has just begun, or was forked. The first thread to get here decides the generation.
#[cold]
fn renew(word: &AtomicU64) -> u64 {
    let new = GENERATIONS.fetch_add(1, Ordering::Relaxed) + 1;
    match word.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => new,
        Err(others) => others,
    }
}

#[cold]
fn process_generation() -> u64 {
    u64::from(std::process::id())
}

#[expect(
    unsafe_code,
    reason = "mapping a page and asking the kernel to wipe it in children has no safe interface in std"
)]
fn wiped_page() -> Option<&'static AtomicU64> {
    // One page is what the kernel maps and wipes at least, whatever its size.
    const LENGTH: usize = 4096;
    // SAFETY: a fresh anonymous private mapping at an address of the kernel's choice touches no memory of ours.
    let page = unsafe {
        libc::mmap(
            core::ptr::null_mut(),
            LENGTH,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if page == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: `page` is the mapping made above, of this length, and nobody else knows it yet.
    if unsafe { libc::madvise(page, LENGTH, libc::MADV_WIPEONFORK) } != 0 {
        // SAFETY: as above; the mapping isn't used any more.
        unsafe { libc::munmap(page, LENGTH) };
        return None;
    }
    // SAFETY: the mapping is page-aligned, zeroed, readable and writable, and is never unmapped; an atomic may be all zeros, and
    // the kernel's wiping happens only in a child before it runs.
    Some(unsafe { &*page.cast::<AtomicU64>() })
}
