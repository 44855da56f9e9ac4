//! Certificates and keys in PEM: every section of a file counts, and one that is cut is found by its number.

use zeroize::Zeroizing;

use super::secret;

const BEGIN: &[u8] = b"-----BEGIN ";

/// The text of a PEM file: without a byte order mark, UTF-16 as UTF-8, every line end as LF.
pub fn plain(bytes: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut plain = secret::plain(bytes);
    for byte in plain.iter_mut().filter(|byte| **byte == b'\r') {
        *byte = b'\n';
    }
    plain
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
    let is_certificate = |section: &&[u8]| section.starts_with(b"-----BEGIN CERTIFICATE");
    sections.filter(is_certificate).collect()
}

/// The message about a certificate that cannot be read, by its number, counted from 1.
pub fn broken(number: usize, count: usize) -> String {
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
