//! docs/service-reference.md: paths, settings, problems and metrics of the service, from their tables.

use mintage_service::config::SETTINGS;
use mintage_service::fault::KINDS;
use mintage_service::http::routes::ROUTES;
use mintage_service::metrics::METRICS;
use std::fmt::Write as _;

const HEAD: &str = "\
# Reference of the service

This page is generated from the tables of `crates/service`. [service.md](service.md) is where to begin.

";

pub(crate) fn text() -> String {
    let mut page = HEAD.to_owned();
    let mut line = |text: String| writeln!(page, "{text}").expect("a String takes all text");
    line("## Paths\n\nA server has them as a document of OpenAPI 3.1 at `/openapi.json`.\n".to_owned());
    line("| path | what it does | the token must allow |\n|---|---|---|".to_owned());
    for route in ROUTES {
        let (method, path) = (route.method.name().to_ascii_uppercase(), route.path);
        line(format!("| `{method} {path}` | {} | {} |", route.about, route.needs.unwrap_or("needs none")));
    }
    line("\n## Settings\n\nAs a flag (`--NAME`), in the environment (`MINTAGE_NAME`), or in the file of `--config`; flags win, then the environment.\n".to_owned());
    line("| setting | what it is for | default |\n|---|---|---|".to_owned());
    for setting in SETTINGS {
        let default =
            if setting.default.is_empty() { String::new() } else { format!("`{}`", setting.default) };
        line(format!("| `{}` | {} | {default} |", setting.name, setting.about));
    }
    line("\n## Problems\n\nThe word ends the `type` of a problem in HTTP; the prefix begins an error of the Redis protocol.".to_owned());
    for facts in KINDS {
        line(format!("\n### {}\n", facts.slug));
        line(format!(
            "{} (HTTP {}, Redis `{}`). What to do: {}.",
            capital(facts.title),
            facts.status,
            facts.prefix,
            facts.advice
        ));
    }
    line(
        "\n## Metrics\n\nSee [metrics.md](metrics.md).\n\n| metric | labels | what it tells |\n|---|---|---|"
            .to_owned(),
    );
    for metric in METRICS {
        line(format!("| `{}` | {} | {} |", metric.name, metric.labels.join(", "), metric.about));
    }
    page
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
