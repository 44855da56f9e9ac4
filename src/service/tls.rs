//! HTTPS without a proxy: certificate and key from PEM files, read again after they were renewed. Existing connections
//! keep what they began with.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use rustls::{
    CertificateError, Error, RootCertStore, ServerConfig,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier as _},
    crypto::ring::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
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

fn read(cert: &Path, key: &Path) -> Result<Arc<ServerConfig>, String> {
    let (cert_file, key_file) = (cert.display(), key.display());
    let chain = fs::read(cert).map_err(|error| format!("{cert_file} cannot be read: {error}"))?;
    let chain = pem::read(&pem::plain(&chain), |section| {
        CertificateDer::from_pem_slice(section).ok()
    });
    let chain = chain.map_err(|why| format!("{cert_file}: {why}"))?;
    if chain.is_empty() {
        return Err(format!(
            "{cert_file} contains no PEM certificate; use the file with the whole chain, server certificate first"
        ));
    }
    if let Some(why) = useless(&chain[0], UnixTime::now()) {
        return Err(format!("the first certificate in {cert_file} {why}"));
    }
    let unreadable = |error| format!("{key_file} cannot be read: {error}");
    // Read access for a group may be intended.
    if fs::metadata(key).map_err(unreadable)?.mode() & 0o007 != 0 {
        return Err(format!(
            "all users can read {key_file}; run: chmod 600 {key_file}"
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

/// Why no client would accept the certificate of a server, whoever signed it.
fn useless(leaf: &CertificateDer<'static>, now: UnixTime) -> Option<&'static str> {
    // As its own authority: who signed it is another question, and so is its name.
    let mut itself = RootCertStore::empty();
    itself.add(leaf.clone()).ok()?;
    let provider = Arc::new(default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(itself), provider);
    let verifier = verifier.build().ok()?;
    let name = ServerName::try_from("localhost").expect("a name");
    let refused = verifier.verify_server_cert(leaf, &[], &name, &[], now);
    let Error::InvalidCertificate(why) = refused.err()? else {
        return None;
    };
    match why {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            Some("has expired; renew it, and check the clock of this machine")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            Some("is not valid yet; use a valid one, and check the clock of this machine")
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            Some("is not for servers; use one with the extended key usage serverAuth")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcgen::{
        BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, KeyPair, date_time_ymd,
    };

    use super::*;

    #[test]
    fn a_certificate_that_no_client_accepts_is_refused_in_words() {
        type Change = fn(&mut CertificateParams);
        let table: [(Change, Option<&str>); 6] = [
            (|_| {}, None),
            (
                |params| params.not_after = date_time_ymd(2019, 1, 1),
                Some("expired"),
            ),
            (
                |params| params.not_before = date_time_ymd(2021, 1, 1),
                Some("not valid yet"),
            ),
            (
                |params| params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth],
                Some("not for servers"),
            ),
            (
                // As `openssl req -x509` makes it; groupdesk itself refuses it, other clients do not.
                |params| params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained),
                None,
            ),
            (
                |params| {
                    params.extended_key_usages = vec![
                        ExtendedKeyUsagePurpose::ClientAuth,
                        ExtendedKeyUsagePurpose::ServerAuth,
                    ];
                },
                None,
            ),
        ];
        // In September 2020.
        let now = UnixTime::since_unix_epoch(Duration::from_secs(1_600_000_000));
        for (change, why) in table {
            let mut params = CertificateParams::new(["api.example.com".to_owned()]).expect("good");
            change(&mut params);
            let key = KeyPair::generate().expect("a key");
            let signed = params.self_signed(&key).expect("signed");
            let found = useless(signed.der(), now);
            assert_eq!(found.is_some(), why.is_some(), "{found:?}");
            assert!(why.is_none_or(|why| found.is_some_and(|found| found.contains(why))));
        }
    }
}
