//! Memory that a forked child finds zeroed, on Linux (`MADV_WIPEONFORK`, since 4.14): what lies in it can't be used twice.
//!
//! It is left out of core dumps too.

use super::Zeroed;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::fmt;
use std::ptr::{self, NonNull};

/// A value in pages of its own. In a forked child all its bytes are zero, which must be a value that `T` can have.
pub(crate) struct Wiped<T> {
    at: NonNull<T>,
}

impl<T: Zeroed> Wiped<T> {
    /// A zeroed value; `None` where the kernel has no such memory.
    #[expect(unsafe_code, reason = "mapping pages has no safe interface")]
    pub(crate) fn new() -> Option<Self> {
        let length = size_of::<T>();
        // SAFETY: a fresh anonymous private mapping at an address of the kernel's choice touches no memory of ours.
        let pages = unsafe {
            mmap_anonymous(ptr::null_mut(), length, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        };
        let pages = pages.ok()?;
        // Aligned for every `T`: a mapping begins at a page.
        let mapped = Self { at: NonNull::new(pages.cast())? };
        // SAFETY: the mapping made above, of this length, and nobody else knows it yet. The advice changes nothing here.
        unsafe { madvise(pages, length, Advice::LinuxWipeOnFork) }.ok()?;
        // SAFETY: as above, and aligned for `T`.
        unsafe { mapped.at.write(T::ZERO) };
        // SAFETY: as above. Not fatal: a kernel that can't do it puts the pages into core dumps.
        let _ = unsafe { madvise(pages, length, Advice::LinuxDontDump) };
        Some(mapped)
    }

    /// The value.
    #[expect(unsafe_code, reason = "see `Wiped::new`")]
    pub(crate) const fn get(&mut self) -> &mut T {
        // SAFETY: the mapping is page-aligned, as long as `T`, readable and writable, and lives as long as `self`, which is
        // borrowed as a whole. Its bytes were zero and a `Zeroed` type takes that for a value; all later writes are of `T`. The kernel
        // zeroes it only in a child, before the child runs.
        unsafe { self.at.as_mut() }
    }

    /// The value, for the rest of the process.
    #[expect(unsafe_code, reason = "see `Wiped::new`")]
    pub(crate) const fn leak(self) -> &'static T {
        let at = self.at;
        core::mem::forget(self);
        // SAFETY: as in `get`; the mapping is never undone, and from here on only shared.
        unsafe { at.as_ref() }
    }
}

impl<T> Drop for Wiped<T> {
    #[expect(unsafe_code, reason = "see `Wiped::new`")]
    fn drop(&mut self) {
        // SAFETY: the mapping made by `new`, of this length; `self` ends here and nothing borrows from it. The kernel zeroes pages
        // before anyone else gets them.
        let _ = unsafe { munmap(self.at.as_ptr().cast(), size_of::<T>()) };
    }
}

impl<T> fmt::Debug for Wiped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wiped").finish_non_exhaustive()
    }
}
