//! Text in any encoding: decoded alike however the bytes arrive, never cut, and refused without repeating it.

use groupdesk::intake::{
    decoder::Decoder, duration, ids, listen, pairs, pem, proxy::Proxy, secret, signs, text,
};

use super::is_safe;

/// The first byte says how many bytes arrive at a time.
pub fn run(data: &[u8]) {
    let Some((step, file)) = data.split_first() else {
        return;
    };
    let whole = decoded(file, file.len().max(1));
    let pieces = decoded(file, usize::from(*step).max(1));
    assert_eq!(whole, pieces, "in pieces of {step}");
    match &whole {
        Ok(text) => small(text),
        Err(why) => is_safe(why),
    }
    let line = secret::first_line(file);
    assert!(!line.contains(&b'\n') && !line.contains(&b'\r'));
    let plain = pem::plain(file);
    for section in pem::certificates(&plain) {
        assert!(section.starts_with(b"-----BEGIN CERTIFICATE"));
    }
}

fn decoded(file: &[u8], step: usize) -> Result<String, String> {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    for piece in file.chunks(step) {
        decoder
            .push(piece, &mut out)
            .map_err(|fault| fault.to_string())?;
    }
    decoder.end(&mut out).map_err(|fault| fault.to_string())?;
    Ok(String::from_utf8(out).expect("the decoder writes UTF-8"))
}

/// The parsers of small texts: whatever they are given, they end, and repeat no secret.
fn small(whole: &str) {
    let lines: Vec<_> = text::lines(whole).collect();
    assert!(lines.iter().all(|line| !line.contains(['\n', '\r'])));
    let converted = text::with_line_ends(whole.to_owned());
    assert!(text::lines(&converted).eq(lines.iter().copied()));
    for line in ids::lines(whole) {
        assert!(line.raw.contains(line.plain) && !line.plain.is_empty());
    }
    for line in lines {
        if let Ok((key, value)) = pairs::pair(line) {
            assert!(!key.is_empty() && !value.is_empty() && key == key.trim());
        }
        if let Ok(age) = duration::age(line) {
            assert!(age.as_secs().is_multiple_of(60 * 60) || age.as_secs() == u64::MAX);
        }
        drop(listen::address(line, Some(8474)));
        drop(signs::first(line));
        if let Err(wrong) = Proxy::of("https", "example.com", 443, |_| Some(line.to_owned())) {
            is_safe(wrong.why);
        }
    }
}
