//! Whether standard output was closed when the program began. Nobody could tell later: before `main` the standard library opens
//! `/dev/null` in its place, and what is written there is gone without an error. Ids that were minted would be too.

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod look {
    use std::sync::atomic::{AtomicBool, Ordering};

    pub(super) static IS_CLOSED: AtomicBool = AtomicBool::new(false);

    extern "C" fn look() {
        if rustix::io::fcntl_getfd(rustix::stdio::stdout()) == Err(rustix::io::Errno::BADF) {
            IS_CLOSED.store(true, Ordering::Relaxed);
        }
    }

    // SAFETY: the section holds pointers to functions that the loader calls before `main`; any of C's calling convention will do
    // that neither needs the standard library's runtime nor unwinds. `look` makes one system call and sets a flag.
    #[expect(unsafe_code, reason = "nothing that runs in `main` can know")]
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[used]
    static LOOK: extern "C" fn() = look;
}

/// Whether what is printed reaches nobody: the standard output was closed, or can only be read.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) fn is_closed() -> bool {
    use rustix::fs::OFlags;
    let is_read_only = rustix::fs::fcntl_getfl(rustix::stdio::stdout())
        .is_ok_and(|flags| flags & OFlags::ACCMODE == OFlags::RDONLY);
    look::IS_CLOSED.load(std::sync::atomic::Ordering::Relaxed) || is_read_only
}

/// Elsewhere it isn't known.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) fn is_closed() -> bool {
    false
}
