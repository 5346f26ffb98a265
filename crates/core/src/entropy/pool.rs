//! The pool: random bytes at memory speed, one pool a thread.
//!
//! The system's bytes are the key of a counter-mode stream (AES-128, RustCrypto), a piece of which lies ready. The first block of each
//! piece is the key of the next and the key in use is forgotten, so that what is in memory tells nothing of bytes given out before
//! (Bernstein, "Fast-key-erasure random-number generators", 2017); bytes are erased as they are handed out. A new key comes from the
//! system after [`KEY_BYTES`] or [`KEY_NANOS`], whichever is first.

use super::wiped::Wiped;
use super::{Draw, SystemEntropy, Zeroed, fork};
use crate::error::Error;
use crate::time::coarse_nanos;
use aes::Aes128;
use aes::cipher::{Array, KeyIvInit, StreamCipherCore};
use std::cell::RefCell;
use std::num::NonZeroU128;

/// Bytes that are made with one key of the system's: 1 MiB.
pub const KEY_BYTES: usize = 1 << 20;
/// How old such a key may be: 100 ms, on a clock that moves in steps of 1 to 10 ms.
pub const KEY_NANOS: u64 = 100_000_000;
/// Of single ids, the age of the key is looked at for one in so many; for each batch it always is.
pub const LOOK_EVERY: u32 = 16;

/// What a coarse clock may lag behind: a key is dropped this much before its time, so that it never lives longer.
const COARSE_NANOS: u64 = 10_000_000;
/// Bytes of a block of the cipher.
const BLOCK: usize = 16;
/// Blocks of the largest piece; with the rest of [`Memory`] four pages. A multiple of 64, as many as the widest processors encrypt at
/// once.
const MOST_BLOCKS: usize = 960;
/// Blocks of the first piece with a new key: who takes few ids pays for few.
const FEWEST_BLOCKS: usize = 64;

/// The stream: counter mode with its first 64 bits counting.
type Ctr = ctr::CtrCore<Aes128, ctr::flavors::Ctr64LE>;

/// The system gave no bytes. A type of no size, since an [`Error`] is moved about even where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unavailable;

impl From<Unavailable> for Error {
    fn from(_: Unavailable) -> Self {
        Self::Entropy
    }
}

/// What a pool holds. All zero means: nothing yet.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    /// The process that filled it.
    generation: u64,
    /// When, on the coarse clock, its key came from the system.
    born_nanos: u64,
    /// Bytes that may still be made before the next key from the system.
    left: usize,
    /// Ids until the age is looked at, without those of `singles`.
    looks: u32,
    /// Single draws of up to a block that may be made before anything is looked at: age, machine, and whether the piece has so much.
    singles: u32,
    /// Blocks of the next piece.
    blocks: usize,
    /// Bytes of the piece that are gone, and where it ends.
    at: usize,
    end: usize,
    /// The key of the next piece.
    key: [u8; BLOCK],
    piece: [[u8; BLOCK]; MOST_BLOCKS],
}

#[expect(unsafe_code, reason = "numbers of zero are zero bytes, which the compiler can't be told")]
// SAFETY: integers and arrays of them.
unsafe impl Zeroed for Memory {
    const ZERO: Self = Self {
        generation: 0,
        born_nanos: 0,
        left: 0,
        looks: 0,
        singles: 0,
        blocks: 0,
        at: 0,
        end: 0,
        key: [0; BLOCK],
        piece: [[0; BLOCK]; MOST_BLOCKS],
    };
}

thread_local! {
    static POOL: RefCell<Option<Wiped<Memory>>> = const { RefCell::new(None) };
}

/// Lends the thread's pool for `ids` ids; the system's generator where there is none: in the destructors of a thread that ends, in a
/// signal handler that came upon the pool in use, or without memory.
#[inline]
pub(super) fn with_draw<T>(ids: usize, work: impl FnOnce(&mut Draw<'_>) -> T) -> T {
    if POOL.try_with(|_| ()).is_err() {
        return work(&mut Draw::new(&SystemEntropy));
    }
    POOL.with(|pool| match pool.try_borrow_mut() {
        Ok(mut pool) => match ready(&mut pool) {
            Some(memory) => {
                memory.look(ids);
                work(&mut Draw::pool(memory))
            }
            None => work(&mut Draw::new(&SystemEntropy)),
        },
        Err(_) => work(&mut Draw::new(&SystemEntropy)),
    })
}

/// 128 bits for one id, without a draw around them; `None` where the thread has no pool at hand, and for 0, which is as good as any number
/// but not worth a tag: out of line, as it must be for callers to stay small, a number without one comes back in registers. Through memory
/// it would have to be waited for.
#[inline(never)]
pub(super) fn number() -> Option<NonZeroU128> {
    POOL.try_with(|pool| single(pool).and_then(|bytes| NonZeroU128::new(u128::from_le_bytes(bytes))))
        .ok()
        .flatten()
}

/// The same of 64 bits, which leave room for the tag.
#[inline(never)]
pub(super) fn word() -> Option<u64> {
    POOL.try_with(|pool| single(pool).map(u64::from_le_bytes)).ok().flatten()
}

/// `N` bytes for one id.
#[cfg_attr(not(debug_assertions), inline(always))]
fn single<const N: usize>(pool: &RefCell<Option<Wiped<Memory>>>) -> Option<[u8; N]> {
    ready(&mut *pool.try_borrow_mut().ok()?)?.single()
}

/// The thread's memory, mapped at its first use.
#[cfg_attr(not(debug_assertions), inline(always))]
fn ready(pool: &mut Option<Wiped<Memory>>) -> Option<&mut Memory> {
    if pool.is_none() {
        map(pool);
    }
    pool.as_mut().map(Wiped::get)
}

#[cold]
#[inline(never)]
fn map(pool: &mut Option<Wiped<Memory>>) {
    *pool = Wiped::new();
}

impl Memory {
    /// Drops the key when it is another machine's or too old.
    #[inline]
    fn look(&mut self, ids: usize) {
        self.looks += core::mem::take(&mut self.singles);
        // In a forked child all is zero, so that nothing is left to take.
        if fork::is_cloned(self.generation) {
            self.forget();
        } else if self.looks <= 1 || ids >= LOOK_EVERY as usize {
            self.look_at_age();
        } else {
            self.looks -= 1;
        }
    }

    /// As if nothing had been there.
    #[cold]
    fn forget(&mut self) {
        self.piece.as_flattened_mut().fill(0);
        self.key = [0; BLOCK];
        (self.generation, self.born_nanos, self.left) = (0, 0, 0);
        (self.looks, self.singles) = (0, 0);
        (self.blocks, self.at, self.end) = (0, 0, 0);
    }

    #[inline(never)]
    fn look_at_age(&mut self) {
        self.looks = LOOK_EVERY;
        if self.is_old(coarse_nanos()) {
            self.forget();
        }
    }

    /// The next `N` bytes, at most a block, for one id: [`Memory::look`] and [`Memory::take`] for several ids at once.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn single<const N: usize>(&mut self) -> Option<[u8; N]> {
        const { assert!(N <= BLOCK) };
        if self.singles == 0 && !self.grant() {
            return None;
        }
        self.singles -= 1;
        let next = self.at + N;
        let piece: &mut [u8; N] = self.piece.as_flattened_mut().get_mut(self.at..next)?.as_mut_array()?;
        self.at = next;
        Some(core::mem::replace(piece, [0; N]))
    }

    /// Sees to it that at least one single draw may be made; false when the system gave no bytes.
    #[cold]
    #[inline(never)]
    fn grant(&mut self) -> bool {
        self.look(1);
        if self.end - self.at < BLOCK && self.refill().is_err() {
            return false;
        }
        let ready = u32::try_from((self.end - self.at) / BLOCK).unwrap_or(u32::MAX);
        // This id is counted already.
        self.singles = if fork::must_be_looked_at() { 1 } else { self.looks.clamp(1, ready) };
        self.looks -= self.singles - 1;
        true
    }

    /// The next `N` bytes.
    #[inline]
    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N], Unavailable> {
        if self.end - self.at < N {
            self.refill()?;
        }
        let next = self.at + N;
        let Some((piece, _)) = self.piece.as_flattened_mut()[self.at..].split_first_chunk_mut::<N>() else {
            return Err(Unavailable); // not reached: a piece has 496 bytes at least
        };
        self.at = next;
        Ok(core::mem::replace(piece, [0; N]))
    }

    /// Puts into each of `out` what `make` makes of the next `N` bytes; `N` divides the length of a block.
    #[inline]
    pub(super) fn fill_each<const N: usize, T>(
        &mut self,
        out: &mut [T],
        make: impl Fn([u8; N]) -> T,
    ) -> Result<(), Unavailable> {
        const { assert!(BLOCK.is_multiple_of(N)) };
        let mut done = 0;
        while done < out.len() {
            // Odd bytes that single draws left are passed over.
            let odd = self.at.next_multiple_of(N);
            self.piece.as_flattened_mut()[self.at..odd].fill(0);
            self.at = odd;
            if self.at >= self.end {
                self.refill()?;
            }
            let (pieces, _) = self.piece.as_flattened_mut()[self.at..self.end].as_chunks_mut::<N>();
            let count = pieces.len().min(out.len() - done);
            for (slot, bytes) in out[done..].iter_mut().zip(&mut pieces[..count]) {
                *slot = make(core::mem::replace(bytes, [0; N]));
            }
            self.at += count * N;
            done += count;
        }
        Ok(())
    }

    /// Fills `out`.
    pub(super) fn fill(&mut self, out: &mut [u8]) -> Result<(), Unavailable> {
        let mut done = 0;
        while done < out.len() {
            if self.at == self.end {
                self.refill()?;
            }
            let count = (self.end - self.at).min(out.len() - done);
            let piece = &mut self.piece.as_flattened_mut()[self.at..self.at + count];
            out[done..done + count].copy_from_slice(piece);
            piece.fill(0);
            self.at += count;
            done += count;
        }
        Ok(())
    }

    /// Makes the next piece; what was left of the last is erased.
    #[cold]
    #[inline(never)]
    fn refill(&mut self) -> Result<(), Unavailable> {
        // What was handed out is erased already.
        self.piece.as_flattened_mut()[self.at..self.end].fill(0);
        self.at = self.end;
        let now = coarse_nanos();
        if self.is_old(now) {
            self.forget();
        }
        if self.left == 0 {
            getrandom::fill(&mut self.key).map_err(|_| Unavailable)?;
            (self.generation, self.born_nanos) = (fork::generation(), now);
            (self.left, self.looks) = (KEY_BYTES, LOOK_EVERY);
        }
        // Twice as much each time within one key's life: many ids want large pieces, few want little work.
        self.blocks = (2 * self.blocks).clamp(FEWEST_BLOCKS, MOST_BLOCKS);
        // Each key makes one stream, so its first block may always be number 0.
        let mut stream = Ctr::new((&self.key).into(), &Array::default());
        stream.write_keystream_blocks(Array::cast_slice_from_core_mut(&mut self.piece[..self.blocks]));
        self.key = core::mem::take(&mut self.piece[0]);
        (self.at, self.end) = (BLOCK, self.blocks * BLOCK);
        self.left = self.left.saturating_sub(self.end);
        Ok(())
    }

    const fn is_old(&self, now_nanos: u64) -> bool {
        now_nanos.wrapping_sub(self.born_nanos) > KEY_NANOS - COARSE_NANOS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn drawn(memory: &mut Memory) -> u128 {
        u128::from_be_bytes(memory.take().unwrap())
    }

    #[test]
    fn bytes_are_erased_as_they_are_handed_out() {
        let mut memory = Memory::ZERO;
        let bytes: [u8; 16] = memory.take().unwrap();
        let mut more = [0; 100];
        memory.fill(&mut more).unwrap();
        let piece = memory.piece.as_flattened();
        assert!(piece[..memory.at].iter().all(|byte| *byte == 0));
        assert!(piece[memory.at..memory.end].iter().any(|byte| *byte != 0));
        assert!(bytes != [0; 16] && more != [0; 100]);
    }

    #[test]
    fn the_key_in_use_is_forgotten() {
        let mut memory = Memory::ZERO;
        let mut keys = HashSet::new();
        for _ in 0..3 * KEY_BYTES / BLOCK {
            drawn(&mut memory);
            keys.insert(memory.key);
            assert!(!memory.piece.contains(&memory.key));
        }
        // Pieces grow to the largest, and each had its own key.
        assert!(keys.len() > 3 * KEY_BYTES / BLOCK / MOST_BLOCKS);
    }

    #[test]
    fn a_key_ends_after_its_bytes_and_its_time() {
        let mut memory = Memory::ZERO;
        drawn(&mut memory);
        assert!(memory.left < KEY_BYTES);
        memory.left = 0;
        memory.at = memory.end;
        drawn(&mut memory);
        assert!(memory.left > 0 && memory.blocks > FEWEST_BLOCKS);

        memory.born_nanos -= KEY_NANOS;
        memory.look(LOOK_EVERY as usize);
        assert_eq!((memory.generation, memory.end, memory.key), (0, 0, [0; BLOCK]));
        assert!(memory.piece.iter().all(|block| *block == [0; BLOCK]));
    }

    #[test]
    fn the_age_is_looked_at_for_one_id_in_sixteen() {
        let mut memory = Memory::ZERO;
        drawn(&mut memory);
        memory.born_nanos -= KEY_NANOS;
        for _ in 1..LOOK_EVERY {
            memory.look(1);
            assert_ne!(memory.end, 0);
        }
        memory.look(1);
        assert_eq!(memory.end, 0);
    }

    #[test]
    fn single_draws_stay_within_the_piece_and_the_next_look() {
        let (mut memory, mut seen) = (Memory::ZERO, HashSet::new());
        for id in 0..5_000 {
            let number = match id % 3 {
                0 => u64::from_le_bytes(memory.single().unwrap()).into(),
                _ => u128::from_le_bytes(memory.single().unwrap()),
            };
            assert!(number != 0 && seen.insert(number));
            assert!(memory.at + memory.singles as usize * BLOCK <= memory.end);
            assert!(memory.looks + memory.singles <= LOOK_EVERY);
            assert!(memory.piece.as_flattened()[..memory.at].iter().all(|byte| *byte == 0));
            if id % 100 == 99 {
                // A draw for several ids takes over what was granted.
                let before = memory.looks + memory.singles;
                memory.look(1);
                assert_eq!(memory.singles, 0);
                assert!(memory.looks + 1 == before || memory.looks == LOOK_EVERY);
                memory.fill_each(&mut [0; 3], u64::from_le_bytes).unwrap();
            }
        }
        memory.born_nanos -= KEY_NANOS;
        let old = memory.born_nanos;
        let left =
            (0..100).take_while(|_| memory.single::<16>().is_some() && memory.born_nanos == old).count();
        assert!(left < LOOK_EVERY as usize, "{left}");
        // As in a forked child.
        let next: [u8; 16] = memory.single().unwrap();
        memory = Memory::ZERO;
        assert_ne!(memory.single(), Some(next));
    }

    #[test]
    fn wiped_memory_begins_with_a_key_of_its_own() {
        let mut memory = Memory::ZERO;
        let (key, before) = (memory.key, drawn(&mut memory));
        memory = Memory::ZERO;
        memory.look(1);
        assert_ne!(drawn(&mut memory), before);
        assert_ne!(memory.key, key);
    }

    #[test]
    fn a_pool_in_use_and_a_thread_at_its_end_get_bytes_of_the_system() {
        struct AtEnd(std::sync::mpsc::Sender<u128>);
        impl Drop for AtEnd {
            fn drop(&mut self) {
                self.0.send(with_draw(1, |draw| draw.bits(128)).unwrap()).unwrap();
            }
        }
        thread_local!(static LAST: RefCell<Option<AtEnd>> = const { RefCell::new(None) });
        let (send, receive) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            LAST.set(Some(AtEnd(send)));
            with_draw(1, |draw| draw.bits(128)).unwrap()
        })
        .join()
        .unwrap();
        assert_ne!(receive.recv().unwrap(), 0);
        let nested = with_draw(1, |outer| (outer.bits(128), with_draw(1, |inner| inner.bits(128))));
        assert_ne!(nested.0, nested.1);
    }

    #[test]
    fn each_bit_is_set_half_of_the_time_and_neighbours_differ() {
        const IDS: u32 = 100_000;
        let mut memory = Memory::ZERO;
        let (mut ones, mut same, mut last) = ([0u32; 128], [0u32; 128], drawn(&mut memory));
        for _ in 0..IDS {
            let next = drawn(&mut memory);
            for bit in 0..128 {
                ones[bit] += u32::from(next >> bit & 1 == 1);
                same[bit] += u32::from((next ^ last) >> bit & 1 == 0);
            }
            last = next;
        }
        // Six standard deviations of 158: one run in four million fails by chance.
        for count in ones.into_iter().chain(same) {
            assert!(count.abs_diff(IDS / 2) < 6 * 158, "{count} of {IDS}");
        }
    }
}
