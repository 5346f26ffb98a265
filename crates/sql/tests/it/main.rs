//! The text that is printed, on real servers: numbers without gaps under writers that meet, roll back and come first.

#![expect(clippy::unwrap_used, reason = "a test says what it expects by stopping")]

mod mysql;
mod postgres;

use mintage_lease::space::{Kind, ScopeTerms};
use mintage_lease::store::{CreateOptions, draw_nonce};
use mintage_lease::{Session, SessionOptions, Space, SpaceId};
use mintage_sql::{Engine, FUNCTIONS, Script, Table};

/// Writers at once.
const WRITERS: u32 = 8;

/// Numbers that each takes.
const EACH: u32 = 30;

/// The scope of a writer's turn.
fn scope(turn: u32) -> String {
    format!("project '{}\"", turn % 3)
}

fn script(engine: Engine, table: &str) -> Script {
    (FUNCTIONS[0].script)(engine, &Table::of(table, engine).unwrap())
}

/// What was taken, of scopes by their number: dense from 1 on.
fn assert_dense(mut taken: Vec<(String, u64)>) {
    taken.sort_unstable();
    let each = u64::from(WRITERS * EACH / 3);
    let dense: Vec<(String, u64)> = (0..3).flat_map(|of| (1..=each).map(move |n| (scope(of), n))).collect();
    assert_eq!(taken, dense);
}

/// The same work by a space of scopes in the same database: it hands out the same numbers.
async fn by_a_space_of_scopes(url: &str) -> Vec<(String, u64)> {
    let kind = Kind::Scopes(ScopeTerms::default());
    let space = Space { id: SpaceId(draw_nonce().unwrap().0), name: "issues".to_owned(), kind };
    let session = Session::open(url, SessionOptions::default()).unwrap();
    session.create(&space, CreateOptions::default()).await.unwrap();
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        // A process of its own, as far as the store can tell.
        let session = Session::open(url, SessionOptions::default()).unwrap();
        writers.push(tokio::spawn(async move {
            let counters = session.space("issues").await.unwrap().scope_counters().unwrap();
            let mut taken = Vec::new();
            for turn in 0..EACH {
                let scope = scope(writer + turn);
                taken.push((
                    scope.clone(),
                    counters.take_async(&scope.parse().unwrap(), 1).await.unwrap().start,
                ));
            }
            taken
        }));
    }
    let mut all = Vec::new();
    for writer in writers {
        all.extend(writer.await.unwrap());
    }
    all
}
