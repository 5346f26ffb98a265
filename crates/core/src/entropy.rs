//! Randomness: the only source of random bits, and how a forked child learns that it is one.
//!
//! Generators draw from [`PoolEntropy`], which stretches the system's bytes and forgets them in a forked child; what it promises
//! stands there. [`SystemEntropy`] asks the operating system each time and keeps nothing, so there is nothing that a restored
//! container or a cloned machine could replay. State that generators keep (counters, process-wide random parts) is renewed by
//! [`generation`], in a child and, where the kernel shows it, in a cloned machine.

use crate::error::Error;

#[cfg(feature = "std")]
#[cfg_attr(all(target_os = "linux", not(miri)), path = "entropy/fork_linux.rs")]
#[cfg_attr(not(all(target_os = "linux", not(miri))), path = "entropy/fork_other.rs")]
mod fork;
#[cfg(feature = "std")]
pub mod pool;
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
mod vm_linux;
#[cfg(feature = "std")]
#[cfg_attr(all(target_os = "linux", not(miri)), path = "entropy/wiped_linux.rs")]
#[cfg_attr(not(all(target_os = "linux", not(miri))), path = "entropy/wiped_other.rs")]
mod wiped;

/// A number that differs between a process and each of its forked children, and that changes in a cloned virtual machine whose kernel
/// shows that it is one: whoever keeps state compares it before each use.
#[cfg(feature = "std")]
#[must_use]
#[inline]
pub fn generation() -> u64 {
    fork::generation()
}

/// Without `std` there are no processes.
#[cfg(not(feature = "std"))]
#[must_use]
pub fn generation() -> u64 {
    1
}

/// Where random bytes come from.
pub trait Entropy: Send + Sync {
    /// Fills `out`.
    ///
    /// # Errors
    /// [`Error::Entropy`] when there are no random bytes to be had.
    fn fill(&self, out: &mut [u8]) -> Result<(), Error>;

    /// 128 random bits for one id.
    ///
    /// # Errors
    /// [`Error::Entropy`].
    #[inline]
    fn number(&self) -> Result<u128, Error>
    where
        Self: Sized,
    {
        self.with_draw(1, |draw| draw.bits(128))
    }

    /// Bits for one id, without a closure around what is made of them: how wide that is costs nothing then.
    #[inline]
    fn draw(&self) -> Draw<'_>
    where
        Self: Sized,
    {
        Draw::new(self)
    }

    /// Does `work` with bits for `ids` ids.
    fn with_draw<T>(&self, ids: usize, work: impl FnOnce(&mut Draw<'_>) -> T) -> T
    where
        Self: Sized,
    {
        let _ = ids;
        work(&mut Draw::new(self))
    }
}

/// A type for which zeroed memory is a value.
///
/// # Safety
/// `ZERO` consists of zero bytes.
#[cfg(feature = "std")]
#[expect(unsafe_code, reason = "whether a value is all zeros is beyond what the compiler can see")]
unsafe trait Zeroed {
    const ZERO: Self;
}

impl<E: Entropy + ?Sized> Entropy for &E {
    fn fill(&self, out: &mut [u8]) -> Result<(), Error> {
        (**self).fill(out)
    }
}

impl<E: Entropy + ?Sized> Entropy for alloc::sync::Arc<E> {
    fn fill(&self, out: &mut [u8]) -> Result<(), Error> {
        (**self).fill(out)
    }
}

/// The operating system's generator, asked for each id, also in batches: the strict choice, at the price of a system call an id.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

#[cfg(feature = "std")]
impl Entropy for SystemEntropy {
    fn fill(&self, out: &mut [u8]) -> Result<(), Error> {
        getrandom::fill(out).map_err(|_| Error::Entropy)
    }
}

/// The thread's pool of random bytes; what generators use unless told otherwise.
///
/// **Promised.** The bytes are a stream of AES-128 in counter mode under a key of the system's, a new one after 1 MiB and after 100 ms.
/// In a forked child nothing is left of them: the kernel wipes the memory (Linux 4.14 and later; elsewhere the process id is compared).
/// The same where the kernel shows that its virtual machine was cloned (`/dev/sysgenid`). What was handed out is erased, and can't
/// be computed from what is in memory later. The memory is left out of core dumps.
///
/// **Not promised.** A machine or a process that is copied with its memory, unseen by the kernel, draws the same bytes in both copies
/// until its key is renewed: after 100 ms, where the age is looked at for each batch and for one in sixteen single ids, so up to fifteen
/// single ids a thread may come from an older key. Whoever copies running machines uses [`SystemEntropy`] or [`be_strict`]. Someone who
/// reads the process's memory can foretell its next ids for as long.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, Default)]
pub struct PoolEntropy;

#[cfg(feature = "std")]
impl Entropy for PoolEntropy {
    fn fill(&self, out: &mut [u8]) -> Result<(), Error> {
        // As for a batch: the caller may be after a secret.
        self.with_draw(usize::MAX, |draw| draw.fill(out))
    }

    // Always: out of line, the number would come back through memory in two halves, and reading it as a whole would have to wait.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn number(&self) -> Result<u128, Error> {
        if !is_strict()
            && let Some(number) = pool::number()
        {
            return Ok(number.get());
        }
        asked(&SystemEntropy, 128)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn draw(&self) -> Draw<'_> {
        if is_strict() { Draw::new(&SystemEntropy) } else { Draw(Source::Thread) }
    }

    #[inline]
    fn with_draw<T>(&self, ids: usize, work: impl FnOnce(&mut Draw<'_>) -> T) -> T {
        if is_strict() { work(&mut Draw::new(&SystemEntropy)) } else { pool::with_draw(ids, work) }
    }
}

#[cfg(feature = "std")]
static STRICT: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// From now on [`PoolEntropy`] asks the operating system for each id, in all threads of the process.
#[cfg(feature = "std")]
pub fn be_strict() {
    // Ordering: nothing else is read through it.
    STRICT.store(true, std::sync::atomic::Ordering::Relaxed);
}

/// Whether [`be_strict`] was called.
#[cfg(feature = "std")]
#[must_use]
#[inline]
pub fn is_strict() -> bool {
    STRICT.load(std::sync::atomic::Ordering::Relaxed)
}

/// Random bits for ids.
pub struct Draw<'a>(Source<'a>);

enum Source<'a> {
    #[cfg(feature = "std")]
    Pool(&'a mut pool::Memory),
    /// The thread's pool, found anew for each number.
    #[cfg(feature = "std")]
    Thread,
    Other(&'a dyn Entropy),
}

impl<'a> Draw<'a> {
    /// Bits from `entropy`, which is asked for each number of bits by itself.
    #[must_use]
    pub const fn new(entropy: &'a dyn Entropy) -> Self {
        Self(Source::Other(entropy))
    }

    #[cfg(feature = "std")]
    #[inline]
    const fn pool(memory: &'a mut pool::Memory) -> Self {
        Self(Source::Pool(memory))
    }

    /// `bits` random bits (0 to 128).
    ///
    /// # Errors
    /// [`Error::Entropy`].
    #[inline]
    pub fn bits(&mut self, bits: u32) -> Result<u128, Error> {
        let value = match &mut self.0 {
            #[cfg(feature = "std")]
            Source::Pool(_) | Source::Thread if bits == 0 => 0,
            #[cfg(feature = "std")]
            Source::Pool(memory) if bits <= 64 => u64::from_le_bytes(memory.take()?).into(),
            #[cfg(feature = "std")]
            Source::Pool(memory) => u128::from_le_bytes(memory.take()?),
            #[cfg(feature = "std")]
            Source::Thread if bits <= 64 => thread_word()?.into(),
            #[cfg(feature = "std")]
            Source::Thread => PoolEntropy.number()?,
            Source::Other(entropy) => asked(*entropy, bits)?,
        };
        Ok(value & crate::raw::mask(bits))
    }

    /// A random number of 64 bits.
    ///
    /// # Errors
    /// [`Error::Entropy`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn word(&mut self) -> Result<u64, Error> {
        match &mut self.0 {
            #[cfg(feature = "std")]
            Source::Pool(memory) => Ok(u64::from_le_bytes(memory.take()?)),
            #[cfg(feature = "std")]
            Source::Thread => thread_word(),
            Source::Other(entropy) => Ok(crate::raw::low_u64(asked(*entropy, 64)?)),
        }
    }

    /// Puts into each of `out` what `make` makes of 128 random bits.
    ///
    /// # Errors
    /// [`Error::Entropy`].
    #[inline]
    pub fn fill_each<T>(&mut self, out: &mut [T], make: impl Fn(u128) -> T) -> Result<(), Error> {
        match &mut self.0 {
            #[cfg(feature = "std")]
            Source::Pool(memory) => Ok(memory.fill_each(out, |bytes| make(u128::from_le_bytes(bytes)))?),
            #[cfg(feature = "std")]
            Source::Thread => pool::with_draw(out.len(), |draw| draw.fill_each(out, make)),
            Source::Other(entropy) => {
                out.iter_mut().try_for_each(|slot| asked(*entropy, 128).map(|bits| *slot = make(bits)))
            }
        }
    }

    /// Puts into each of `out` what `make` makes of 64 random bits.
    ///
    /// # Errors
    /// [`Error::Entropy`].
    #[inline]
    pub fn fill_each_word<T>(&mut self, out: &mut [T], make: impl Fn(u64) -> T) -> Result<(), Error> {
        match &mut self.0 {
            #[cfg(feature = "std")]
            Source::Pool(memory) => Ok(memory.fill_each(out, |bytes| make(u64::from_le_bytes(bytes)))?),
            #[cfg(feature = "std")]
            Source::Thread => pool::with_draw(out.len(), |draw| draw.fill_each_word(out, make)),
            Source::Other(entropy) => {
                let word = || asked(*entropy, 64).map(crate::raw::low_u64);
                out.iter_mut().try_for_each(|slot| word().map(|word| *slot = make(word)))
            }
        }
    }

    /// Fills `out`.
    ///
    /// # Errors
    /// [`Error::Entropy`].
    pub fn fill(&mut self, out: &mut [u8]) -> Result<(), Error> {
        match &mut self.0 {
            #[cfg(feature = "std")]
            Source::Pool(memory) => Ok(memory.fill(out)?),
            #[cfg(feature = "std")]
            Source::Thread => PoolEntropy.fill(out),
            Source::Other(entropy) => entropy.fill(out),
        }
    }
}

/// 64 bits of the thread's pool, or of the system where there is none.
#[cfg(feature = "std")]
#[cfg_attr(not(debug_assertions), inline(always))]
fn thread_word() -> Result<u64, Error> {
    match pool::word() {
        Some(word) => Ok(word),
        None => asked(&SystemEntropy, 64).map(crate::raw::low_u64),
    }
}

/// As many whole bytes as `bits` bits need, as a big-endian number.
#[cold]
#[inline(never)]
fn asked(entropy: &dyn Entropy, bits: u32) -> Result<u128, Error> {
    let mut bytes = [0; 16];
    let unused = 16 - bits.div_ceil(8) as usize;
    entropy.fill(&mut bytes[unused..])?;
    Ok(u128::from_be_bytes(bytes))
}

impl core::fmt::Debug for Draw<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        // The bytes are secrets until they are part of an id.
        f.debug_struct("Draw").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicUsize, Ordering};

    struct Counting(AtomicUsize);
    impl Entropy for Counting {
        fn fill(&self, out: &mut [u8]) -> Result<(), Error> {
            self.0.fetch_add(out.len(), Ordering::Relaxed);
            out.fill(0xa5);
            Ok(())
        }
    }

    #[test]
    fn a_draw_takes_what_each_id_needs() {
        let entropy = Counting(AtomicUsize::new(0));
        let mut draw = Draw::new(&entropy);
        for _ in 0..3 {
            assert_eq!(draw.bits(122), Ok(0xa5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5 & crate::raw::mask(122)));
        }
        assert_eq!(entropy.0.load(Ordering::Relaxed), 48);
        assert_eq!(draw.bits(0), Ok(0));
    }

    #[test]
    fn the_generation_stays_while_nobody_forks() {
        assert_eq!(generation(), generation());
        assert_ne!(generation(), 0);
    }
}
