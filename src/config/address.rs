//! Validates the addresses that requests go to: base URLs and paths. Messages never quote the address, which may
//! contain a password.

use url::{Host, Url};

use crate::{
    domain::{
        dash::is_quote,
        text::{has_variable, is_hidden, visible},
    },
    intake::signs,
};

/// The path of the interface if a profile names none (docs/design/service.md, "The interface").
pub const DEFAULT_PATH: &str = "/api/user";

/// Why a text cannot be a `base_url` or a `path`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAddress {
    #[error("is not a URL; write for example \"https://api.example.com\"")]
    NotAUrl,
    #[error("contains {}", sign(*.0))]
    Sign(char),
    #[error("has a port that is not a number up to 65535; correct it")]
    Port,
    #[error("has a variable that only a shell or a template replaces; write the URL itself")]
    Variable,
    #[error("must begin with https:// (or http:// for this machine)")]
    Scheme,
    #[error("contains a user name or password; remove it, and set api_key instead")]
    Credentials,
    #[error("contains a query (from \"?\"); remove it")]
    Query,
    #[error("contains a fragment (from \"#\"); remove it")]
    Fragment,
    #[error(
        "would send the API key unprotected over http:// to another machine; use https://, or set allow_plain_http = true in the profile"
    )]
    PlainHttp,
    #[error("must begin with \"/\"")]
    PathWithoutSlash,
    #[error("contains a character that is not valid in a path; use letters, digits and -._~/%")]
    PathCharacter,
}

/// Normalises a base URL: lower-case host, no slash at the end. Plain http is only allowed for loopback, unless
/// `allow_plain_http` is set.
pub fn base_url(text: &str, allow_plain_http: bool) -> Result<String, InvalidAddress> {
    // The URL standard drops tabs and line breaks silently; refuse them so that the person sees them.
    let is_wrong =
        |c: &char| is_hidden(*c) || c.is_whitespace() || is_quote(*c) || signs::named(*c).is_some();
    if let Some(sign) = text.chars().find(is_wrong) {
        return Err(InvalidAddress::Sign(sign));
    }
    if has_variable(text) {
        return Err(InvalidAddress::Variable);
    }
    if !text.contains("://") {
        return Err(InvalidAddress::Scheme);
    }
    let url = Url::parse(text).map_err(|error| match error {
        url::ParseError::InvalidPort => InvalidAddress::Port,
        _ => InvalidAddress::NotAUrl,
    })?;
    if !matches!(url.scheme(), "https" | "http") {
        return Err(InvalidAddress::Scheme);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(InvalidAddress::Credentials);
    }
    if url.query().is_some() {
        return Err(InvalidAddress::Query);
    }
    if url.fragment().is_some() {
        return Err(InvalidAddress::Fragment);
    }
    if url.scheme() == "http" && !allow_plain_http && !is_loopback(&url) {
        return Err(InvalidAddress::PlainHttp);
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// Checks a path below the base URL. A slash at its end is kept, because some services insist on one.
pub fn path(text: &str) -> Result<String, InvalidAddress> {
    if !text.starts_with('/') {
        return Err(InvalidAddress::PathWithoutSlash);
    }
    match text.bytes().find(|b| !is_of_a_path(*b)) {
        None => Ok(text.to_owned()),
        Some(b'?') => Err(InvalidAddress::Query),
        Some(b'#') => Err(InvalidAddress::Fragment),
        Some(_) => Err(InvalidAddress::PathCharacter),
    }
}

/// The sign in words; a single one repeats no password.
fn sign(sign: char) -> String {
    match signs::named(sign) {
        Some(named) => format!("an invalid character: {named}"),
        None if sign.is_whitespace() => "a blank, a tab or a line break; remove it".into(),
        None => format!("the character {}; remove it", visible(&sign.to_string())),
    }
}

fn is_of_a_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~/%!$&'()*+,;=:@".contains(&byte)
}

/// Whether it is an address of this machine. A name of it is used without DNS.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_gets_its_normal_form_or_is_refused_without_quoting_it() {
        use InvalidAddress::{
            Credentials, Fragment, NotAUrl, PlainHttp, Port, Query, Scheme, Sign, Variable,
        };
        #[rustfmt::skip] // A table: one address per line.
        let table = [
            ("https://API.example.com/", Ok("https://api.example.com")),
            ("https://api.example.com:443/v2//", Ok("https://api.example.com/v2")),
            ("http://127.9.9.9:8474", Ok("http://127.9.9.9:8474")),
            ("http://[::1]:1/", Ok("http://[::1]:1")),
            ("http://localhost", Ok("http://localhost")),
            ("http://api.localhost", Ok("http://api.localhost")),
            ("http://[::ffff:127.0.0.1]", Ok("http://[::ffff:7f00:1]")),
            ("api.example.com", Err(Scheme)),
            ("localhost:8474", Err(Scheme)),
            ("ftp://api.example.com", Err(Scheme)),
            ("https://", Err(NotAUrl)),
            ("https://api.\texample.com", Err(Sign('\t'))),
            ("https://api.example.com ", Err(Sign(' '))),
            ("https://api\u{200b}.example.com", Err(Sign('\u{200b}'))),
            ("“https://api.example.com”", Err(Sign('“'))),
            ("https://api.example.com:99999", Err(Port)),
            ("https://api.example.com:４４３", Err(Port)),
            ("https://${HOST}", Err(Variable)),
            ("https://ana:canary@api.example.com", Err(Credentials)),
            ("https://api.example.com?key=canary", Err(Query)),
            ("https://api.example.com#canary", Err(Fragment)),
            ("http://api.example.com", Err(PlainHttp)),
            ("http://127.0.0.1.example.com", Err(PlainHttp)),
            ("http://localhost.example.com", Err(PlainHttp)),
            ("http://0.0.0.0", Err(PlainHttp)),
        ];
        for (written, normal) in table {
            let found = base_url(written, false);
            assert_eq!(
                found.as_deref(),
                normal.as_ref().map(|url| *url),
                "{written}"
            );
            assert!(!format!("{:?}", found.err()).contains("canary"));
        }
        assert!(base_url("http://api.example.com", true).is_ok());
    }

    #[test]
    fn a_path_begins_with_a_slash_and_keeps_the_one_at_its_end() {
        use InvalidAddress::{Fragment, PathCharacter, PathWithoutSlash, Query};
        assert_eq!(path("/api/user/").as_deref(), Ok("/api/user/"));
        for (written, why) in [
            ("api/user", PathWithoutSlash),
            ("/a?b", Query),
            ("/a#b", Fragment),
            ("/a b", PathCharacter),
            ("/é", PathCharacter),
        ] {
            assert_eq!(path(written), Err(why), "{written}");
        }
    }
}
