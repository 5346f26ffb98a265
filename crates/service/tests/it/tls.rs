//! TLS: both transports, certificates of clients, and files that change.

use crate::site::Site;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

type Issuer = CertifiedIssuer<'static, KeyPair>;

fn issuer() -> Issuer {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate and its key, for this name.
fn signed(by: &Issuer, name: &str) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, by).unwrap();
    (certificate.pem(), key.serialize_pem())
}

fn write(folder: &Path, (certificate, key): &(String, String)) {
    // The key first: until both fit, the old ones are in use.
    fs::write(folder.join("key.pem"), key).unwrap();
    fs::write(folder.join("certificate.pem"), certificate).unwrap();
}

async fn site(issuer: &Issuer, clients: Option<&Issuer>) -> Site {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &signed(issuer, "localhost"));
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (certificate, key, ca) = (path("certificate.pem"), path("key.pem"), path("ca.pem"));
    let mut settings = vec![("tls-certificate", certificate.as_str()), ("tls-key", &key)];
    if let Some(clients) = clients {
        fs::write(&ca, clients.pem()).unwrap();
        settings.push(("tls-client-ca", &ca));
    }
    Site::with(folder, &settings).await
}

/// What is answered over TLS, by a client that trusts this issuer and shows this certificate.
async fn asked(
    address: std::net::SocketAddr,
    trusted: &Issuer,
    own: Option<&(String, String)>,
    request: &str,
) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.der().clone()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match own {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
            builder.with_client_auth_cert(vec![certificate], key).unwrap()
        }
    };
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8(answer).unwrap())
}

const WEB: &str = "POST /v1/spaces/counter/ids HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_transports_speak_it() {
    let (issuer, other) = (issuer(), issuer());
    let site = site(&issuer, None).await;
    assert!(asked(site.http, &issuer, None, WEB).await.unwrap().contains("[\"1\"]"));
    assert_eq!(asked(site.redis, &issuer, None, "INCR counter\r\nQUIT\r\n").await.unwrap(), ":2\r\n+OK\r\n");
    // Without it, nothing is handed out.
    let mut stream = TcpStream::connect(site.redis).await.unwrap();
    stream.write_all(b"INCR counter\r\n").await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b":"), "{}", answer.escape_ascii());
    assert!(asked(site.http, &other, None, WEB).await.is_err(), "an issuer that isn't trusted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_show_certificates_where_they_must() {
    let (issuer, clients) = (issuer(), issuer());
    let site = site(&issuer, Some(&clients)).await;
    let (own, other) = (signed(&clients, "client"), signed(&issuer, "client"));
    assert!(asked(site.http, &issuer, Some(&own), WEB).await.unwrap().contains("[\"1\"]"));
    for wrong in [None, Some(&other)] {
        for address in [site.http, site.redis] {
            assert!(asked(address, &issuer, wrong, WEB).await.is_err());
        }
    }
    assert_eq!(
        asked(site.redis, &issuer, Some(&own), "INCR counter\r\nQUIT\r\n").await.unwrap(),
        ":2\r\n+OK\r\n"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificates_are_read_again_when_both_files_fit() {
    let (first, second) = (issuer(), issuer());
    let site = site(&first, None).await;
    let fresh = signed(&second, "localhost");
    fs::write(site.folder.path().join("key.pem"), &fresh.1).unwrap();
    site.tells("the certificates that were read before hold on").await;
    assert!(asked(site.http, &first, None, WEB).await.is_ok());
    write(site.folder.path(), &fresh);
    site.tells("certificates were read again").await;
    assert!(asked(site.http, &second, None, WEB).await.is_ok());
    assert!(asked(site.http, &first, None, WEB).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_are_none_are_told_at_the_start() {
    use mintage_service::tls::{Files, Tls};
    let folder: TempDir = tempfile::tempdir().unwrap();
    let issuer = issuer();
    write(folder.path(), &signed(&issuer, "localhost"));
    let other = signed(&issuer, "localhost").1;
    fs::write(folder.path().join("other.pem"), other).unwrap();
    fs::write(folder.path().join("empty.pem"), "").unwrap();
    let told = |certificate: &str, key: &str, client_ca: Option<&str>| {
        let path = |name: &str| folder.path().join(name);
        let files = Files { certificate: path(certificate), key: path(key), client_ca: client_ca.map(path) };
        Tls::read(files).unwrap_err().to_string()
    };
    for (certificate, key, client_ca, named) in [
        ("none.pem", "key.pem", None, "none.pem"),
        ("empty.pem", "key.pem", None, "empty.pem: there is no certificate"),
        ("certificate.pem", "empty.pem", None, "empty.pem: no private key"),
        ("certificate.pem", "other.pem", None, "other.pem"),
        ("key.pem", "key.pem", None, "key.pem: there is no certificate"),
        ("certificate.pem", "key.pem", Some("empty.pem"), "empty.pem: there is no certificate"),
    ] {
        let told = told(certificate, key, client_ca);
        assert!(told.contains(named), "{told}");
    }
}
