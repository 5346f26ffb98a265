//! `Text`: the text of an id, on the stack.
//!
//! Forms write digits, hyphens, prefix and suffix, all of which are ASCII or whole `str`s, so their bytes are always UTF-8; checking it
//! anew would take three times as long as printing a UUID does. Only the printers of [`super`] make a `Text`.

#![expect(unsafe_code, reason = "a `str` of bytes that are known to be UTF-8, without reading them again")]

use super::MAX_TEXT;
use core::fmt;

/// Text of an id, on the stack.
#[derive(Clone, Copy)]
pub struct Text {
    pub(super) bytes: [u8; MAX_TEXT],
    pub(super) len: usize,
}

impl Text {
    /// No characters yet.
    pub(crate) const EMPTY: Self = Self { bytes: [0; MAX_TEXT], len: 0 };

    /// The text.
    #[must_use]
    #[inline]
    pub const fn as_str(&self) -> &str {
        written(self.as_bytes())
    }

    /// The text's ASCII bytes.
    #[must_use]
    #[inline]
    pub const fn as_bytes(&self) -> &[u8] {
        match self.bytes.split_at_checked(self.len) {
            Some((text, _)) => text,
            None => &self.bytes, // not reached: no text is longer
        }
    }
}

/// What a form has written, as a `str`. For the printers of this module only: `bytes` must be whole texts of forms, or ASCII.
#[inline]
pub(super) const fn written(bytes: &[u8]) -> &str {
    debug_assert!(core::str::from_utf8(bytes).is_ok(), "forms write UTF-8");
    // SAFETY: forms write digits of bases, which `Base::new` has checked to be ASCII; `-` and line ends; and prefixes and suffixes,
    // which are `str`s and are copied whole. `as_bytes` cuts where they end.
    unsafe { core::str::from_utf8_unchecked(bytes) }
}

impl core::ops::Deref for Text {
    type Target = str;
    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
