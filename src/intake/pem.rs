//! Certificates and keys in PEM: every section of a file counts, and one that is cut is found by its number.

use zeroize::Zeroizing;

use super::secret;

const BEGIN: &[u8] = b"-----BEGIN ";

/// The text of a PEM file: without a byte order mark, UTF-16 as UTF-8, every line end as LF, not indented.
pub fn plain(bytes: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut plain = secret::plain(bytes);
    for byte in plain.iter_mut().filter(|byte| **byte == b'\r') {
        *byte = b'\n';
    }
    // As in a file that has it as a value, such as YAML.
    let mut is_begin = true;
    plain.retain(|byte| {
        let is_indent = is_begin && matches!(byte, b' ' | b'\t');
        is_begin = is_indent || *byte == b'\n';
        !is_indent
    });
    plain
}

/// The certificates of a file, in order, or the message about the first that cannot be read or is not whole.
pub fn read<T>(plain: &[u8], whole: impl Fn(&[u8]) -> Option<T>) -> Result<Vec<T>, String> {
    let sections = certificates(plain);
    let count = sections.len();
    let certificates = sections
        .into_iter()
        .zip(1..)
        .map(|(section, number)| whole(section).ok_or_else(|| broken(number, count)));
    certificates.collect()
}

/// The sections of certificates, in order, from their first line to their last. One that does not end, or that another
/// one begins in, comes to its end as far as it is there: it cannot be read.
pub fn certificates(plain: &[u8]) -> Vec<&[u8]> {
    let mut starts: Vec<usize> = plain
        .windows(BEGIN.len())
        .enumerate()
        .filter(|(_, window)| *window == BEGIN)
        .map(|(at, _)| at)
        .collect();
    starts.push(plain.len());
    let sections = starts.windows(2).map(|pair| &plain[pair[0]..pair[1]]);
    let is_certificate = |section: &&[u8]| {
        let rest = section.strip_prefix(b"-----BEGIN CERTIFICATE");
        rest.is_some_and(|rest| !rest.starts_with(b" REQUEST"))
    };
    sections.filter(is_certificate).collect()
}

/// What a file without a certificate in PEM has instead, and what to do.
pub fn instead(bytes: &[u8]) -> &'static str {
    /// Kinds in PEM, by the words in their first line.
    #[rustfmt::skip] // A table: one kind a line.
    const KINDS: [(&[u8], &str); 5] = [
        (b"PRIVATE KEY-----", "it contains a private key instead of a certificate; use the certificate of the CA"),
        (b"CERTIFICATE REQUEST-----", "it contains a request for a certificate (CSR); use the certificate of the CA"),
        (b"TRUSTED CERTIFICATE-----", "it contains a certificate in the form of OpenSSL; convert it: openssl x509 -in FILE"),
        (b"PKCS7-----", "it is a bundle (PKCS#7); convert it: openssl pkcs7 -print_certs -in FILE"),
        (b"PUBLIC KEY-----", "it contains a public key instead of a certificate; use the certificate of the CA"),
    ];
    const OF_PKCS7: &[u8] = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02";
    let has = |words: &[u8], within: &[u8]| within.windows(words.len()).any(|part| part == words);
    let text = plain(bytes);
    if text.trim_ascii().is_empty() {
        return "it is empty; copy the file again";
    }
    if let Some((_, what)) = KINDS.iter().find(|(words, _)| has(words, &text)) {
        return what;
    }
    // A sequence of DER, behind its length.
    let inner = match bytes {
        [0x30, length, rest @ ..] if *length >= 0x80 => rest.get(usize::from(length & 0x7f)..),
        [0x30, _, rest @ ..] => Some(rest),
        _ => None,
    };
    match inner {
        Some([0x02, 0x01, 0x03, ..]) => {
            "it is a PKCS#12 file, which also has a key; convert it: openssl pkcs12 -nokeys -in FILE"
        }
        Some(inner) if inner.starts_with(OF_PKCS7) => {
            "it is a bundle (PKCS#7); convert it: openssl pkcs7 -inform der -print_certs -in FILE"
        }
        Some(_) => "it is not in PEM but in DER; convert it: openssl x509 -inform der -in FILE",
        None => {
            "it contains no PEM certificate (-----BEGIN CERTIFICATE-----); to convert DER: openssl x509 -inform der -in FILE"
        }
    }
}

/// The message about a certificate that cannot be read, by its number, counted from 1.
fn broken(number: usize, count: usize) -> String {
    format!(
        "certificate {number} of {count} in it cannot be read: it is cut or damaged; none of them is used. Copy the whole \
         file again"
    )
}
/// Why a certificate of one's own cannot be used, from the error of the TLS library.
pub fn unusable(error: String) -> String {
    if error.contains("UnsupportedCertVersion") {
        return "it is of X.509 version 1; create one of version 3 (openssl x509 -req -extfile FILE)"
            .into();
    }
    error
}
