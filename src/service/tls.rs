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
use zeroize::Zeroizing;

use crate::intake::pem;

/// The certificate of the service, as last read.
pub struct Tls {
    cert: PathBuf,
    key: PathBuf,
    config: RwLock<Arc<ServerConfig>>,
}

impl Tls {
    /// Reads both files. Blocks. The error says why they cannot be used, and never contains their contents.
    pub fn read(cert: &Path, key: &Path) -> Result<Self, String> {
        Ok(Self {
            cert: cert.to_owned(),
            key: key.to_owned(),
            config: RwLock::new(read(cert, key)?),
        })
    }

    /// Reads both files again for future connections; after an error these get the previous ones. Blocks.
    pub fn reload(&self) -> Result<(), String> {
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

fn read(cert: &Path, key: &Path) -> Result<Arc<ServerConfig>, String> {
    let (cert_file, key_file) = (cert.display(), key.display());
    let chain = fs::read(cert).map_err(|error| format!("{cert_file} cannot be read: {error}"))?;
    let chain = pem::plain(&chain);
    let sections = pem::certificates(&chain);
    let count = sections.len();
    if count == 0 {
        return Err(format!(
            "{cert_file} contains no PEM certificate; use the file with the whole chain, server certificate first"
        ));
    }
    let sections = sections.into_iter().enumerate().map(|(at, section)| {
        let read = CertificateDer::from_pem_slice(section);
        read.map_err(|_| format!("{cert_file}: {}", pem::broken(at + 1, count)))
    });
    let chain = sections.collect::<Result<Vec<_>, _>>()?;
    let unreadable = |error| format!("{key_file} cannot be read: {error}");
    // Read access for a group may be intended.
    if fs::metadata(key).map_err(unreadable)?.mode() & 0o007 != 0 {
        return Err(format!(
            "everybody may read {key_file}; run: chmod 600 {key_file}"
        ));
    }
    let secret = Zeroizing::new(fs::read(key).map_err(unreadable)?);
    let secret = PrivateKeyDer::from_pem_slice(&pem::plain(&secret)).map_err(|_| {
        format!("{key_file} contains no unencrypted PEM private key; use the key file")
    })?;
    let unusable = |error| match error {
        rustls::Error::InconsistentKeys(_) => format!(
            "the key in {key_file} does not match the first certificate in {cert_file}; use a matching pair"
        ),
        other => format!(
            "the certificate in {cert_file} cannot be used: {}",
            pem::unusable(other.to_string())
        ),
    };
    let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_safe_default_protocol_versions();
    let builder = builder.map_err(unusable)?.with_no_client_auth();
    let mut config = builder.with_single_cert(chain, secret).map_err(unusable)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
