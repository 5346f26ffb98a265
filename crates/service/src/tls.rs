//! TLS of both listeners: certificates from files, read again when they change.

use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;
use tokio_rustls::TlsAcceptor;

/// Where certificates are.
#[derive(Clone, Debug)]
pub struct Files {
    /// The server's own, and those between it and a root.
    pub certificate: PathBuf,
    /// The key of the first.
    pub key: PathBuf,
    /// Who signs those that clients must show, if they must.
    pub client_ca: Option<PathBuf>,
}

/// Why there is no TLS.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {fault}")]
pub struct Error {
    path: String,
    fault: String,
}

impl Error {
    fn of(path: &Path, what: &str) -> impl FnOnce(&dyn std::error::Error) -> Self {
        let (path, what) = (path.display().to_string(), what.to_owned());
        move |error| Self { path, fault: format!("{what}: {error}") }
    }
}

/// What connections are begun with.
pub struct Tls {
    files: Files,
    acceptor: RwLock<TlsAcceptor>,
    seen: RwLock<Vec<Option<(SystemTime, u64)>>>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// [`Error`], with the file that is wrong.
    pub fn read(files: Files) -> Result<Self, Error> {
        let seen = seen(&files);
        let acceptor = acceptor(&files)?;
        Ok(Self { files, acceptor: RwLock::new(acceptor), seen: RwLock::new(seen) })
    }

    /// For the next connection.
    #[must_use]
    pub fn acceptor(&self) -> TlsAcceptor {
        self.acceptor.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the files again if they are others; says whether they were. Files that are wrong change nothing: certificate and key are seldom
    /// replaced at once, and those in use go on until both fit.
    ///
    /// # Errors
    /// [`Error`], once for each change.
    pub fn read_again(&self) -> Result<bool, Error> {
        let now = seen(&self.files);
        if now == *self.seen.read().unwrap_or_else(PoisonError::into_inner) {
            return Ok(false);
        }
        let fresh = acceptor(&self.files);
        *self.seen.write().unwrap_or_else(PoisonError::into_inner) = now;
        *self.acceptor.write().unwrap_or_else(PoisonError::into_inner) = fresh?;
        Ok(true)
    }
}

fn seen(files: &Files) -> Vec<Option<(SystemTime, u64)>> {
    let all = [Some(&files.certificate), Some(&files.key), files.client_ca.as_ref()];
    let look = |path: &PathBuf| {
        let about = fs::metadata(path).ok()?;
        Some((about.modified().ok()?, about.len()))
    };
    all.into_iter().map(|path| path.and_then(look)).collect()
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let wrong = |error: &dyn std::error::Error| Error::of(path, "no certificates in PEM")(error);
    let read = CertificateDer::pem_file_iter(path).map_err(|error| wrong(&error))?;
    let all: Vec<_> = read.collect::<Result<_, _>>().map_err(|error| wrong(&error))?;
    if all.is_empty() {
        let fault =
            "there is no certificate in it, one in PEM expected (-----BEGIN CERTIFICATE-----)".to_owned();
        return Err(Error { path: path.display().to_string(), fault });
    }
    Ok(all)
}

fn acceptor(files: &Files) -> Result<TlsAcceptor, Error> {
    let chain = certificates(&files.certificate)?;
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| Error::of(&files.key, "no private key in PEM")(&error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::of(&files.certificate, "no TLS")(&error))?;
    let builder = match &files.client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let mut roots = RootCertStore::empty();
            for root in certificates(path)? {
                roots.add(root).map_err(|error| Error::of(path, "a certificate that signs none")(&error))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                .build()
                .map_err(|error| Error::of(path, "certificates that sign none")(&error))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut config = builder.with_single_cert(chain, key).map_err(|error| {
        Error::of(&files.certificate, &format!("not with the key in {}", files.key.display()))(&error)
    })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
