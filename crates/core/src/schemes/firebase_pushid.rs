//! Push ids of Firebase: milliseconds and 72 random bits in 20 characters that sort.

use crate::generators::Method;
use crate::generators::locked;
#[cfg(feature = "std")]
use crate::generators::locked::Locked;
use crate::generators::monotonic::MonotonicRule;
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
#[cfg(feature = "std")]
use crate::scheme::Mint;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::{BASE64_PUSH, TextForm};

/// A push id, 120 bits.
pub type FirebasePushid = Id<FirebasePushidScheme>;

/// The description of [`FirebasePushid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FirebasePushidScheme;

/// 20 digits in ASCII order.
static PUSH_20: TextForm = TextForm::fixed("base64-push", &BASE64_PUSH, 20);

impl StaticScheme for FirebasePushidScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "firebase-pushid",
        aliases: &["pushid", "push-id"],
        summary: "unix milliseconds, then 72 random bits that rise within a millisecond",
        source: "Firebase, The 2^120 Ways to Ensure Unique Identifiers; mikelehen, push-id",
        layout: Layout::new(
            120,
            &[
                Field::new("timestamp", Role::Timestamp(TimeBase::millis_since(0)), 48),
                Field::new("random", Role::Random, 72),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&PUSH_20],
        vectors: &[("-JhLeOlGIEjaIOFHR0xd", &[1_423_088_131_153, 0x4cfbe64d9412701f69])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Nothing,
            collisions: "72 random bits a millisecond: 50 % at 8 * 10^10 ids in one",
            leaks: "when it was made, to the millisecond; ids of one generator and millisecond can be guessed from each other",
            sql: ("char(20) collate \"C\"", "char(20) collate ascii_bin"),
            surprise: Some(0),
        },
        methods: &[Method::Monotonic, Method::Strict, Method::Random],
        settings: &[],
        generator: Some(|settings| {
            let method = Self::SCHEME.method(settings.method)?.unwrap_or(Method::Monotonic);
            locked::boxed(MonotonicRule::<Self>::new(method), settings)
        }),
    };
}

const_id!(FirebasePushidScheme, u128);

#[cfg(feature = "std")]
static SHARED: Locked<MonotonicRule<FirebasePushidScheme>> =
    Locked::new(MonotonicRule::new(Method::Monotonic));

#[cfg(feature = "std")]
impl Mint for FirebasePushidScheme {
    type Shared = Locked<MonotonicRule<Self>>;

    fn shared() -> &'static Self::Shared {
        &SHARED
    }
}
