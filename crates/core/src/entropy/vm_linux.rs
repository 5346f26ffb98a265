//! The counter by which a kernel shows that its virtual machine was cloned or restored: `/dev/sysgenid`, where there is one.
//!
//! Source: the SysGenID driver (Amazon Linux, Firecracker), which lets a process map one page whose first 32 bits rise with each
//! clone. Kernels without it use the machine's generation for their own randomness but show it to nobody.

use rustix::mm::{MapFlags, ProtFlags, mmap};
use std::fs::File;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

const DEVICE: &str = "/dev/sysgenid";
/// The driver maps exactly one page.
const LENGTH: usize = 4096;

/// The mapped counter; null where there is none.
static COUNTER: AtomicPtr<AtomicU32> = AtomicPtr::new(ptr::null_mut());

/// The machine that the process runs in.
#[derive(Debug)]
pub(super) struct Machine;

impl Machine {
    /// Looks for the device.
    pub(super) fn watch() {
        if let Some(counter) = mapped(Path::new(DEVICE)) {
            // All threads that come here at once map the same page of the device; whose mapping is used makes no difference.
            COUNTER.store(ptr::from_ref(counter).cast_mut(), Ordering::Release);
        }
    }

    /// Whether the kernel shows a counter.
    #[inline]
    pub(super) fn is_watched() -> bool {
        !COUNTER.load(Ordering::Relaxed).is_null()
    }

    /// Its value now; 0 where there is none.
    #[inline]
    #[expect(unsafe_code, reason = "a static can hold a reference that is found later only as a pointer")]
    pub(super) fn counter() -> u32 {
        // SAFETY: null, or a counter that is mapped for the rest of the process.
        let counter = unsafe { COUNTER.load(Ordering::Acquire).as_ref() };
        // Ordering: nothing else is read through it.
        counter.map_or(0, |counter| counter.load(Ordering::Relaxed))
    }
}

/// The first 32 bits of the page that `path` maps.
#[expect(unsafe_code, reason = "mapping a file has no safe interface")]
fn mapped(path: &Path) -> Option<&'static AtomicU32> {
    let file = File::open(path).ok()?;
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours; it is only ever read.
    let page = unsafe { mmap(ptr::null_mut(), LENGTH, ProtFlags::READ, MapFlags::SHARED, &file, 0) };
    let counter = page.ok()?.cast::<AtomicU32>();
    // SAFETY: page-aligned, never unmapped, and whoever else writes it (the kernel) writes whole words.
    unsafe { counter.as_ref() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, Write};

    #[test]
    fn a_counter_is_seen_to_rise() {
        let path = std::env::temp_dir().join(format!("mintage-sysgenid-{}", std::process::id()));
        let mut file = File::create(&path).unwrap();
        file.write_all(&[7; LENGTH]).unwrap();
        let counter = mapped(&path).unwrap();
        assert_eq!(counter.load(Ordering::Relaxed), 0x0707_0707);
        file.rewind().unwrap();
        file.write_all(&[8; 4]).unwrap();
        assert_eq!(counter.load(Ordering::Relaxed), 0x0808_0808);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_machine_without_the_device_shows_nothing() {
        assert!(mapped(Path::new("/nowhere/sysgenid")).is_none());
    }
}
