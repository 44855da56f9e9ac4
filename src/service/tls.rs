//! HTTPS without a proxy: certificate and key from PEM files, read again after they were renewed. Existing connections
//! keep what they began with.

use std::{
    fmt, fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use rustls::{
    ServerConfig,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::intake::pem;

/// Why a certificate or its key cannot be used; never contains their contents.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("{} cannot be read: {source}", file.display())]
    Unreadable { file: PathBuf, source: io::Error },
    #[error("everybody may read {}; run: chmod 600 {}", .0.display(), .0.display())]
    Open(PathBuf),
    #[error("{} contains no PEM certificate; use the file with the whole chain, server certificate first", .0.display())]
    NoCertificate(PathBuf),
    #[error("{} contains no unencrypted PEM private key; use the key file", .0.display())]
    NoKey(PathBuf),
    #[error("the key in {} does not match the first certificate in {}; use a matching pair", key.display(), cert.display())]
    Strangers { cert: PathBuf, key: PathBuf },
    #[error("{}: {why}", cert.display())]
    Broken { cert: PathBuf, why: String },
    #[error("the certificate in {} cannot be used: {why}", cert.display())]
    Unusable { cert: PathBuf, why: String },
}

/// The certificate of the service, as last read.
pub struct Tls {
    cert: PathBuf,
    key: PathBuf,
    config: RwLock<Arc<ServerConfig>>,
}

impl Tls {
    /// Reads both files. Blocks.
    pub fn read(cert: &Path, key: &Path) -> Result<Self, TlsError> {
        Ok(Self {
            cert: cert.to_owned(),
            key: key.to_owned(),
            config: RwLock::new(read(cert, key)?),
        })
    }

    /// Reads both files again for future connections; after an error these get the previous ones. Blocks.
    pub fn reload(&self) -> Result<(), TlsError> {
        let config = read(&self.cert, &self.key)?;
        // Nothing panics while it holds the lock.
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = config;
        Ok(())
    }

    pub(super) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        TlsAcceptor::from(self.config()).accept(stream).await
    }

    fn config(&self) -> Arc<ServerConfig> {
        let config = self.config.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&config)
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("cert", &self.cert)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

fn read(cert: &Path, key: &Path) -> Result<Arc<ServerConfig>, TlsError> {
    let unreadable = |file: &Path, source| TlsError::Unreadable {
        file: file.to_owned(),
        source,
    };
    let chain = fs::read(cert).map_err(|error| unreadable(cert, error))?;
    let chain = pem::plain(&chain);
    let sections = pem::certificates(&chain);
    let count = sections.len();
    if count == 0 {
        return Err(TlsError::NoCertificate(cert.to_owned()));
    }
    let sections = sections.into_iter().enumerate().map(|(at, section)| {
        CertificateDer::from_pem_slice(section).map_err(|_| TlsError::Broken {
            cert: cert.to_owned(),
            why: pem::broken(at + 1, count),
        })
    });
    let chain = sections.collect::<Result<Vec<_>, _>>()?;
    // Read access for a group may be intended.
    let metadata = fs::metadata(key).map_err(|error| unreadable(key, error))?;
    if metadata.mode() & 0o007 != 0 {
        return Err(TlsError::Open(key.to_owned()));
    }
    let secret = fs::read(key).map(zeroize::Zeroizing::new);
    let secret = secret.map_err(|error| unreadable(key, error))?;
    let secret = PrivateKeyDer::from_pem_slice(&pem::plain(&secret))
        .map_err(|_| TlsError::NoKey(key.to_owned()))?;
    let unusable = |why: String| TlsError::Unusable {
        cert: cert.to_owned(),
        why,
    };
    let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(error.to_string()))?;
    let config = builder
        .with_no_client_auth()
        .with_single_cert(chain, secret);
    let mut config = config.map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => TlsError::Strangers {
            cert: cert.to_owned(),
            key: key.to_owned(),
        },
        other => unusable(other.to_string()),
    })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
