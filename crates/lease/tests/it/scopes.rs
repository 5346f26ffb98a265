//! What every store does with scopes: cases of the suite in [`crate::conformance`].

use crate::site::{Client, Site, nonce, refused, soon};
use mintage_lease::request::{Bump, Page, Take};
use mintage_lease::space::{BlockTerms, ScopeTerms};
use mintage_lease::{Error, Refusal, Request};

/// First use is a race of all handles, in each scope.
pub(crate) async fn scopes_count_from_the_first_value_whoever_takes_first(site: &Site) {
    site.scopes("issues", ScopeTerms::default()).await;
    let mut tasks = Vec::new();
    for handle in 0..6 {
        let mut client = site.client("issues").await;
        tasks.push(tokio::spawn(async move {
            let mut taken = Vec::new();
            for round in 0..12 {
                let scope = (round + handle) % 3;
                taken.push((scope, client.take(&scope.to_string(), 1).await.unwrap().0));
            }
            taken
        }));
    }
    let mut taken = Vec::new();
    for task in tasks {
        taken.extend(task.await.unwrap());
    }
    taken.sort_unstable();
    let dense: Vec<_> = (0..3).flat_map(|scope| (1..=24).map(move |value| (scope, value))).collect();
    assert_eq!(taken, dense);
}

pub(crate) async fn values_that_are_taken_together_follow_each_other(site: &Site) {
    let mut client = site.scopes("issues", ScopeTerms { first: 10, last: 40, failover_gap: 0 }).await;
    let mut other = site.client("issues").await;
    assert_eq!(client.take("a", 7).await.unwrap(), (10, 17));
    assert_eq!(other.take("a", 3).await.unwrap(), (17, 20));
    assert_eq!(client.take("b", 1).await.unwrap(), (10, 11));
    let ends = refused(client.take("a", 22).await);
    assert_eq!(ends, Refusal::ScopeEnds { size: 22, left: 21, last: 40 });
    assert_eq!(client.take("a", 21).await.unwrap(), (20, 41));
    assert_eq!(refused(client.take("a", 1).await), Refusal::CounterEnded { last: 40 });
    let take = Take { nonce: nonce(5), scope: "c".parse().unwrap(), size: 1 };
    client.desk.take(&client.caller, take.clone(), soon()).await.unwrap();
    assert_eq!(refused(client.desk.take(&client.caller, take, soon()).await), Refusal::Doubled);
    assert!(matches!(refused(client.claim(1).await), Refusal::WrongKind { kind: "scopes", .. }));
    let mut blocks = site.blocks("invoices", BlockTerms::default()).await;
    assert!(matches!(refused(blocks.take("a", 1).await), Refusal::WrongKind { kind: "blocks", .. }));
    let mut orders = site.windows("orders", |_| {}).await;
    assert!(matches!(refused(orders.take("a", 1).await), Refusal::WrongKind { kind: "windows", .. }));
}

pub(crate) async fn names_of_scopes_are_bytes_and_nothing_else(site: &Site) {
    let mut client = site.scopes("issues", ScopeTerms::default()).await;
    let longest = "é".repeat(127) + "x";
    let names = [
        "a",
        "A",
        "a ",
        " a",
        "á",
        "a\u{301}",
        "ß",
        "ss",
        "%",
        "_",
        "'",
        "''",
        "\"",
        "\\",
        "\\'",
        "$1",
        "?",
        "0x41",
        "NULL",
        "'; DROP TABLE mintage_scope; --",
        "X'61'",
        "😀",
        "日本",
        &longest,
        "\u{200b}",
        "-1",
    ];
    for (i, name) in (1..).zip(names) {
        assert_eq!(client.take(name, i).await.unwrap(), (1, 1 + i), "{name}");
        assert_eq!(client.next_of(name).await, Some(1 + i), "{name}");
    }
    assert_eq!(client.next_of("b").await, None);
    let page = Page { after: None, most: 1_000 };
    let all = client.desk.scopes(&client.caller, page, soon()).await.unwrap().answer;
    let mut sorted = names.to_vec();
    sorted.sort_unstable();
    assert_eq!(all.iter().map(|row| row.scope.as_str()).collect::<Vec<_>>(), sorted);
}

pub(crate) async fn scopes_are_listed_by_pages(site: &Site) {
    let mut client = site.scopes("issues", ScopeTerms::default()).await;
    site.scopes("tasks", ScopeTerms::default()).await.take("3", 1).await.unwrap();
    for scope in ["5", "1", "4", "2"] {
        client.take(scope, 1).await.unwrap();
    }
    let (mut after, mut seen) = (None, Vec::new());
    loop {
        let page = Page { after, most: 3 };
        let rows = client.desk.scopes(&client.caller, page, soon()).await.unwrap().answer;
        let Some(last) = rows.last() else { break };
        after = Some(last.scope.clone());
        seen.push(rows.iter().map(|row| (row.scope.to_string(), row.next)).collect::<Vec<_>>());
    }
    let row = |scope: &str| (scope.to_owned(), 2);
    assert_eq!(seen, [vec![row("1"), row("2"), row("4")], vec![row("5")]]);
}

pub(crate) async fn an_import_moves_one_scope_up(site: &Site) {
    let mut client = site.scopes("issues", ScopeTerms::default()).await;
    let bump = async |client: &Client, scope: &str, bump| {
        client.desk.bump_scope(&client.caller, scope.parse().unwrap(), bump, soon()).await
    };
    bump(&client, "old", Bump::To(500)).await.unwrap();
    assert_eq!(client.take("old", 1).await.unwrap(), (500, 501));
    bump(&client, "old", Bump::By(9)).await.unwrap();
    assert_eq!(client.next_of("old").await, Some(510));
    let back = refused(bump(&client, "old", Bump::To(3)).await);
    assert_eq!(back, Refusal::BumpBack { next: 510, to: 3 });
    assert_eq!(client.take("new", 1).await.unwrap(), (1, 2));
}

pub(crate) async fn scopes_that_someone_saw_further_stop_until_all_are_moved_on(site: &Site) {
    let mut client = site.scopes("issues", ScopeTerms::default()).await;
    client.take("a", 10).await.unwrap();
    let mut far = client.clone();
    far.caller.witness.mark = 100;
    assert_eq!(refused(far.take("a", 1).await), Refusal::ScopesStopped);
    for scope in ["a", "new"] {
        assert_eq!(refused(client.take(scope, 1).await), Refusal::ScopesStopped);
    }
    client.done(Request::Bump(Bump::By(89))).await.unwrap();
    assert_eq!(far.take("a", 1).await.unwrap(), (100, 101));
    assert_eq!(client.take("new", 1).await.unwrap(), (90, 91));
    // Dropped and made again: above all that there was.
    site.store().drop_space("issues", soon()).await.unwrap();
    let mut again = site.scopes("issues", ScopeTerms::default()).await;
    assert_eq!(again.take("a", 1).await.unwrap(), (101, 102));
    let gone = client.take("a", 1).await;
    assert!(matches!(gone, Err(Error::SpaceGone { .. })), "{gone:?}");
}
