//! `mintage serve`: ids over HTTP and the Redis protocol.

use crate::exit::{Failure, Outcome, usage};
use crate::output;
use crate::reach::Trust;
use clap::Args;
use mintage_lease::SessionOptions;
use mintage_lease::store::redacted;
use mintage_service::api::FIRST_SPACES;
use mintage_service::config::{Config, Layer};
use mintage_service::server::Server;
use std::io::Write;
use std::path::PathBuf;

/// Hand out ids over HTTP and the Redis protocol, from a store that any number of servers may share.
///
/// Without any flag: from a file in the folder mintage-data, to this host alone. SIGTERM and SIGINT end it once requests have ended, and give back
/// what it holds.
#[derive(Debug, Args)]
#[command(
    after_help = "Each setting may stand in the environment (MINTAGE_LISTEN) or in the file of --config too; --print-config shows all.\n\nExamples:\n  \
                  mintage serve\n  mintage serve --store postgres://app@localhost/shop --listen 127.0.0.1:9000\n  mintage serve --print-config > \
                  mintage.toml"
)]
pub(crate) struct Serve {
    /// Settings, as --print-config writes them
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The store's URL [default: a file in the data folder]
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Address and port of HTTP [default: 127.0.0.1:8090]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Address and port of the Redis protocol, or nothing [default: 127.0.0.1:6390]
    #[arg(long, value_name = "ADDRESS")]
    redis: Option<String>,
    /// The folder of the embedded store [default: mintage-data]
    #[arg(long, value_name = "FOLDER")]
    data: Option<String>,
    /// Listeners that others can reach may go without TLS
    #[arg(long)]
    insecure: bool,
    /// Listeners that others can reach may go without credentials
    #[arg(long)]
    no_auth: bool,
    /// How long requests may take to end [default: 10]
    #[arg(long, value_name = "SECONDS")]
    drain_seconds: Option<String>,
    /// Print all settings as a file, with what they are here, and end
    #[arg(long)]
    print_config: bool,
    #[command(flatten)]
    trust: Trust,
}

impl Serve {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let config = self.configured()?;
        let mut out = output::stdout();
        if self.print_config {
            out.write_all(config.text().as_bytes())?;
            out.flush()?;
            return Ok(Outcome::Done);
        }
        drop(out);
        let options = SessionOptions {
            open: self.trust.options(),
            trusts_clock: self.trust.trust_store_clock,
            ..SessionOptions::default()
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let served = runtime.block_on(serve(&config, options));
        // A client that hangs must not keep the command from ending.
        runtime.shutdown_background();
        served.map(|()| Outcome::Done)
    }

    fn configured(&self) -> Result<Config, Failure> {
        let mut layers = Vec::new();
        if let Some(path) = &self.config {
            layers.push(Layer::of_file(path).map_err(usage)?);
        }
        layers.push(Layer::of_environment(|name| std::env::var(name).ok()));
        layers.push(Layer::of_flags([
            ("data", self.data.clone()),
            ("store", self.store.clone()),
            ("listen", self.listen.clone()),
            ("redis", self.redis.clone()),
            ("insecure", self.insecure.then(|| true.to_string())),
            ("no-auth", self.no_auth.then(|| true.to_string())),
            ("drain-seconds", self.drain_seconds.clone()),
        ]));
        Config::of(&layers).map_err(usage)
    }
}

async fn serve(config: &Config, options: SessionOptions) -> Result<(), Failure> {
    let stop = stopped()?;
    tokio::pin!(stop);
    let server = Server::bind(config, options).await.map_err(|error| match error {
        mintage_service::server::Error::Store(error) => error.into(),
        error => Failure::Cannot(error.into()),
    })?;
    let waiting = server.ready(|fault| eprintln!("mintage: waiting for the store: {fault}"));
    tokio::select! {
        ready = waiting => ready.map_err(|fault| Failure::Cannot(anyhow::anyhow!("{fault}")))?,
        () = &mut stop => return Ok(()),
    }
    tell(config, &server)?;
    let (end, ended) = tokio::sync::oneshot::channel();
    let running = server.run(async move {
        let _ = ended.await;
    });
    tokio::pin!(running);
    tokio::select! {
        run = &mut running => return run.map_err(|error| Failure::Cannot(error.into())),
        () = &mut stop => {}
    }
    eprintln!("mintage: ending; a second signal ends it at once");
    let _ = end.send(());
    let again = stopped()?;
    tokio::select! {
        run = &mut running => run.map_err(|error| Failure::Cannot(error.into())),
        () = again => Ok(()),
    }
}

/// Where it listens, and what to try.
fn tell(config: &Config, server: &Server) -> Result<(), Failure> {
    let mut out = output::stdout();
    let http = server.http_address()?;
    writeln!(out, "http   http://{http}/v1")?;
    let redis = server.redis_address()?;
    if let Some(redis) = redis {
        writeln!(out, "redis  {redis}")?;
    }
    writeln!(out, "store  {}", redacted(&config.store_url()))?;
    let [ids, counter] = FIRST_SPACES;
    writeln!(
        out,
        "\ntry\n  curl -X POST 'http://{http}/v1/spaces/{ids}/ids?count=3'\n  curl http://{http}/v1/ids/uuid-v7"
    )?;
    match redis {
        Some(redis) => writeln!(out, "  redis-cli -h {} -p {} incr {counter}", redis.ip(), redis.port())?,
        None => writeln!(out, "  curl -X POST http://{http}/v1/spaces/{counter}/ids")?,
    }
    out.flush()?;
    Ok(())
}

/// Ends at the first signal that asks for the end.
fn stopped() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
