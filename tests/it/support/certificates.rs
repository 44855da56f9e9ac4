//! Certificate authorities, certificates, and a TLS front end that passes on what it receives.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair,
    KeyUsagePurpose,
};
use tokio::{
    io::{copy, copy_bidirectional, sink},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        RootCertStore, ServerConfig,
        crypto::ring::default_provider,
        pki_types::{CertificateDer, PrivateKeyDer},
        server::{WebPkiClientVerifier, danger::ClientCertVerifier},
    },
};

/// A certificate chain with its key, as a server presents it.
pub(crate) struct Served {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    pub(crate) pem: String,
    pub(crate) key_pem: String,
}

impl Served {
    fn of(signed: &Certificate, key: &KeyPair) -> Self {
        Self {
            chain: vec![signed.der().clone()],
            key: PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            pem: signed.pem(),
            key_pem: key.serialize_pem(),
        }
    }
}

/// A certificate authority.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    name: String,
    pub(crate) pem: String,
    pub(crate) der: Vec<u8>,
    pub(crate) key_pem: String,
}

fn params(names: &[&str]) -> CertificateParams {
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    CertificateParams::new(names).expect("good names")
}

fn of_an_authority(name: &str) -> CertificateParams {
    let mut params = params(&[]);
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params
}

fn key() -> KeyPair {
    KeyPair::generate().expect("a key")
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let key = key();
        let key_pem = key.serialize_pem();
        let issuer = CertifiedIssuer::self_signed(of_an_authority(name), key);
        Self::of(name, issuer.expect("signed"), key_pem)
    }

    fn of(name: &str, issuer: CertifiedIssuer<'static, KeyPair>, key_pem: String) -> Self {
        Self {
            name: name.replace(' ', "-"),
            pem: issuer.pem(),
            der: issuer.der().to_vec(),
            key_pem,
            issuer,
        }
    }

    /// An intermediate authority signed by this one.
    pub(crate) fn authority_below(&self, name: &str) -> Self {
        let key = key();
        let key_pem = key.serialize_pem();
        let issuer = CertifiedIssuer::signed_by(of_an_authority(name), key, &*self.issuer);
        Self::of(name, issuer.expect("signed"), key_pem)
    }

    /// A certificate for these names, without intermediate certificates.
    pub(crate) fn certify(
        &self,
        names: &[&str],
        change: impl FnOnce(&mut CertificateParams),
    ) -> Served {
        let mut params = params(names);
        change(&mut params);
        let key = key();
        let signed = params.signed_by(&key, &*self.issuer).expect("signed");
        Served::of(&signed, &key)
    }

    /// Writes its certificate to a file.
    pub(crate) fn write(&self, folder: &Path) -> PathBuf {
        let file = folder.join(format!("{}.pem", self.name));
        std::fs::write(&file, &self.pem).expect("written");
        file
    }
}

/// A self-signed certificate.
pub(crate) fn self_signed(names: &[&str]) -> Served {
    sign_itself(&params(names))
}

/// A self-signed certificate that is also marked as an authority, as `openssl req -x509` makes it.
pub(crate) fn self_signed_authority(names: &[&str]) -> Served {
    let mut params = params(names);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    sign_itself(&params)
}

fn sign_itself(params: &CertificateParams) -> Served {
    let key = key();
    Served::of(&params.self_signed(&key).expect("signed"), &key)
}

#[derive(Default)]
struct Seen {
    connections: AtomicUsize,
    handshakes: AtomicUsize,
}

/// A certificate of X.509 version 1 with its key, as `openssl x509 -req` makes it without extensions; valid for 100 years.
pub(crate) const VERSION_1: (&str, &str) = (
    "-----BEGIN CERTIFICATE-----\n\
    MIIBGzCBwwIULyKLOKfmzGX4xiJhHfkvadC+F00wCgYIKoZIzj0EAwIwEDEOMAwG\n\
    A1UEAwwFY2FybGEwIBcNMjYxMTI4MDkzMjM2WhgPMjEyNjExMDQwOTMyMzZaMBAx\n\
    DjAMBgNVBAMMBWNhcmxhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEdRZBUevm\n\
    z5EFnOmUTOtBK7rdvvIP2qLmm+NFFWotGPBpVVRbXgY/L+P+A/IlddAN54NT0foc\n\
    ys2+DfXOikWvFDAKBggqhkjOPQQDAgNHADBEAiA1B3vjKP0rDw+9QkQD3CWtmXdN\n\
    Dx/1Sy/8g0s7j+w5NQIgIizHVnFW+hhRbMb6NNorwEcae9Je1uPsW56dOuXLD3E=\n\
    -----END CERTIFICATE-----\n",
    "-----BEGIN PRIVATE KEY-----\n\
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgeB5fKLTSP2Si8iHx\n\
    RsHz1eUX/g6f3/kvCL+r8XwIwX2hRANCAAR1FkFR6+bPkQWc6ZRM60Erut2+8g/a\n\
    ouab40UVai0Y8GlVVFteBj8v4/4D8iV10A3ng1PR+hzKzb4N9c6KRa8U\n\
    -----END PRIVATE KEY-----\n",
);

/// Accepts TLS and passes everything on to a service behind it; stops when dropped.
pub(crate) struct Front {
    pub(crate) address: SocketAddr,
    seen: Arc<Seen>,
    accepting: JoinHandle<()>,
}

impl Front {
    pub(crate) async fn before(backend: SocketAddr, served: Served) -> Self {
        Self::asking(backend, served, None).await
    }

    /// As [`Self::before`], and requires a client certificate that this authority has signed.
    pub(crate) async fn demanding(backend: SocketAddr, served: Served, of: &Authority) -> Self {
        let mut roots = RootCertStore::empty();
        let root = CertificateDer::from(of.der.clone());
        roots.add(root).expect("an authority");
        let provider = Arc::new(default_provider());
        let asked = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        let asked = asked.build().expect("a verifier");
        Self::asking(backend, served, Some(asked)).await
    }

    async fn asking(
        backend: SocketAddr,
        served: Served,
        asked: Option<Arc<dyn ClientCertVerifier>>,
    ) -> Self {
        let asked = asked.unwrap_or_else(WebPkiClientVerifier::no_client_auth);
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_client_cert_verifier(asked)
            .with_single_cert(served.chain, served.key)
            .expect("a certificate and its key");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let seen = Arc::<Seen>::default();
        let accepting = tokio::spawn({
            let seen = seen.clone();
            async move {
                while let Ok((stream, _)) = listener.accept().await {
                    seen.connections.fetch_add(1, Ordering::SeqCst);
                    let (acceptor, seen) = (acceptor.clone(), seen.clone());
                    tokio::spawn(async move {
                        let mut secure = match acceptor.accept(stream).into_fallible().await {
                            Ok(secure) => secure,
                            Err((_, mut stream)) => {
                                // A reset would overtake the alert.
                                let _ = copy(&mut stream, &mut sink()).await;
                                return;
                            }
                        };
                        seen.handshakes.fetch_add(1, Ordering::SeqCst);
                        let mut behind = TcpStream::connect(backend).await.expect("it runs");
                        let _ = copy_bidirectional(&mut secure, &mut behind).await;
                    });
                }
            }
        });
        Self {
            address,
            seen,
            accepting,
        }
    }

    pub(crate) fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    /// Completed handshakes.
    pub(crate) fn handshakes(&self) -> usize {
        self.seen.handshakes.load(Ordering::SeqCst)
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}
