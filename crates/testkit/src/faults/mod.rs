//! The runs, one file a fault. Each takes its options, does its fault, and returns one [`Summary`].
//!
//! | fault | what is done | what shows that it was |
//! |---|---|---|
//! | [`fork`] | the process is forked between two ids, and its child too | process ids, and the ids that each process sent |
//! | [`clock`] | the wall clock steps back under load | the program saw its clock step |
//! | [`threads`] | all threads begin at once on one generator | what each thread minted |
//! | [`wrap`] | counters are driven past their end | counters at their end, and at their beginning in the next tick |
//! | [`pause`] | the process is stopped and goes on | the system says that it stands, and the program saw time pass |

pub mod clock;
pub mod fork;
pub mod pause;
pub mod threads;
pub mod wrap;

pub use crate::summary::Summary;
