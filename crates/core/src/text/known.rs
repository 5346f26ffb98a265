//! Forms that are known when compiling.

use super::ascii::written;
use super::{MAX_TEXT, TextForm, Way};
use crate::error::Error;
use crate::raw::RawId;
use core::marker::PhantomData;

/// A form that is known when compiling, with the bits of its numbers. How it is spelled fastest is the compiler's business then; a
/// [`TextForm`] that is a value has to be asked at each text.
///
/// ```
/// use mintage::RawId;
/// use mintage::text::{BASE62, MAX_TEXT, StaticForm, TextForm};
///
/// struct OrderNumber;
/// impl StaticForm for OrderNumber {
///     const FORM: TextForm = TextForm::for_bits("base62", &BASE62, 64);
///     const BITS: u32 = 64;
/// }
///
/// let number = RawId::from(u64::MAX);
/// assert_eq!(OrderNumber::encode(number, &mut [0; MAX_TEXT]), Ok("LygHa16AHYF"));
/// assert_eq!(OrderNumber::parse("LygHa16AHYF"), Ok(number));
/// assert!(OrderNumber::parse("LygHa16AHYG").is_err());
/// ```
pub trait StaticForm {
    /// The form.
    const FORM: TextForm;
    /// Bits of the largest number, 1 to 160.
    const BITS: u32;

    /// Spells `raw` at the beginning of `buffer`; what stands behind it is overwritten with anything.
    ///
    /// # Errors
    /// [`Error::TooLarge`] above the bits, or where the form has too few digits.
    #[inline]
    fn encode(raw: RawId, buffer: &mut [u8; MAX_TEXT]) -> Result<&str, Error> {
        if !raw.fits(Self::BITS) {
            return Err(Error::TooLarge { scheme: Self::FORM.name, bits: Self::BITS });
        }
        let mut len = Self::FORM.write(Ways::<Self>::WAY, raw, buffer);
        if len == 0 {
            len = print(&Self::FORM, raw, buffer)?;
        }
        Ok(written(&buffer[..len]))
    }

    /// Reads `text`; the form's name stands for a scheme's in errors.
    ///
    /// # Errors
    /// See [`TextForm::parse`].
    #[inline]
    fn parse(text: &str) -> Result<RawId, Error> {
        match Self::FORM.read(Ways::<Self>::WAY, text.as_bytes(), Self::BITS) {
            Some(raw) => Ok(raw),
            None => parse(&Self::FORM, text, Self::BITS),
        }
    }
}

struct Ways<F: ?Sized>(PhantomData<F>);

impl<F: StaticForm + ?Sized> Ways<F> {
    const WAY: Way = F::FORM.way();
}

#[cold]
#[inline(never)]
fn print(form: &TextForm, raw: RawId, buffer: &mut [u8; MAX_TEXT]) -> Result<usize, Error> {
    let text = form.print(raw)?;
    *buffer = text.bytes;
    Ok(text.len)
}

#[cold]
#[inline(never)]
fn parse(form: &TextForm, text: &str, bits: u32) -> Result<RawId, Error> {
    form.parse_plainly(text, bits, form.name)
}

#[cfg(test)]
mod tests {
    use super::super::{BASE36, BASE58, BASE62, CROCKFORD32, DECIMAL_DIGITS, HYPHENATED, URN};
    use super::*;
    use proptest::prelude::*;

    macro_rules! forms {
        ($($name:ident: $form:expr, $bits:expr;)+) => {
            $(
                struct $name;
                impl StaticForm for $name {
                    const FORM: TextForm = $form;
                    const BITS: u32 = $bits;
                }
            )+
            /// What each form makes of a number and of a text, beside what the same form makes of it as a value.
            fn check_all(raw: RawId, text: &str) -> Result<(), TestCaseError> {
                $(check::<$name>(raw, text)?;)+
                Ok(())
            }
        };
    }

    forms! {
        Base62: TextForm::for_bits("base62", &BASE62, 64), 64;
        Base62Number: TextForm { is_fixed: false, ..Base62::FORM }, 64;
        Base62Of63: TextForm::for_bits("base62", &BASE62, 63), 63;
        Base62Of160: TextForm::for_bits("base62", &BASE62, 160), 160;
        TooShort: TextForm::fixed("base62", &BASE62, 7), 64;
        Base58: TextForm::for_bits("base58", &BASE58, 64), 64;
        Base36: TextForm::for_bits("base36", &BASE36, 64), 64;
        Decimal: super::super::DECIMAL, 64;
        DecimalOf160: TextForm::for_bits("decimal", &DECIMAL_DIGITS, 160), 160;
        Crockford: TextForm::for_bits("crockford32", &CROCKFORD32, 128), 128;
        CrockfordOf130: TextForm::fixed("crockford32", &CROCKFORD32, 26), 130;
        CrockfordOf60: TextForm::for_bits("crockford32", &CROCKFORD32, 60), 60;
        Uuid: HYPHENATED, 128;
        Urn: URN, 128;
    }

    fn check<F: StaticForm>(raw: RawId, text: &str) -> Result<(), TestCaseError> {
        let (mut known, mut value) = ([1; MAX_TEXT], [2; MAX_TEXT]);
        let printed = F::encode(raw, &mut known);
        if raw.fits(F::BITS) {
            prop_assert_eq!(printed, F::FORM.encode(raw, &mut value));
        } else {
            prop_assert_eq!(printed, Err(Error::TooLarge { scheme: F::FORM.name, bits: F::BITS }));
        }
        for text in [text, printed.unwrap_or(text)] {
            prop_assert_eq!(F::parse(text), F::FORM.parse_plainly(text, F::BITS, F::FORM.name));
        }
        if let Ok(text) = printed {
            prop_assert_eq!(F::parse(text), Ok(raw));
        }
        Ok(())
    }

    #[test]
    fn the_ends_of_words_are_told_apart() {
        for (number, text) in [(0, "00000000000"), (61, "0000000000z"), (u64::MAX, "LygHa16AHYF")] {
            assert_eq!(Base62::encode(number.into(), &mut [0; MAX_TEXT]), Ok(text));
            assert_eq!(Base62::parse(text), Ok(number.into()));
        }
        let above = Err(Error::TooLarge { scheme: "base62", bits: 64 });
        assert_eq!(Base62::parse("LygHa16AHYG"), above);
        assert_eq!(Base62::parse("zzzzzzzzzzz"), above);
        assert_eq!(Base62::encode(RawId::new(1 << 64), &mut [0; MAX_TEXT]).map(str::len), above.map(|_| 0));
        assert!(Base62::parse("LygHa16AHY").is_err() && Base62::parse("LygHa16AHY-").is_err());
        assert_eq!(Base62Number::encode(RawId::ZERO, &mut [0; MAX_TEXT]), Ok("0"));
    }

    proptest! {
        #[test]
        fn a_form_known_when_compiling_is_the_form(
            raw in (any::<u32>(), any::<u128>(), 0..=160_u32)
                .prop_map(|(high, low, cut)| RawId::from_parts(high, low).shifted_down(cut)),
            text in "[0-9A-Za-z-]{0,45}|[0-9A-Za-z]{11}|[0-9]{1,21}|.{11}",
        ) {
            check_all(raw, &text)?;
        }
    }
}
