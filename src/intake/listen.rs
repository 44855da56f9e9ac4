//! Addresses to listen on: an address of this machine and a port. What is clear is taken; for the rest the message says
//! what to write.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Reads an address to listen on. `default_port` is used if only an address is given.
pub fn address(text: &str, default_port: Option<u16>) -> Result<SocketAddr, String> {
    let text = super::text::trimmed(text);
    let example = default_port.unwrap_or(9474);
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    if let Some((scheme, rest)) = text.split_once("://") {
        let rest = rest.trim_end_matches('/');
        return Err(format!("write it without {scheme}://, as {rest}"));
    }
    // A port alone replaces that of the default address.
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port(text)?)));
    }
    if let Some(given) = text.strip_prefix(':').filter(|rest| !rest.contains(':')) {
        let given = port(given)?;
        return Err(format!(
            "no address before the port: write 127.0.0.1:{given} for this machine only, or 0.0.0.0:{given} for every interface"
        ));
    }
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    // In `::1:8474` the last part was meant as the port.
    if bare.is_none()
        && let Some((host, given)) = text.rsplit_once(':')
        && given.len() > 3
        && let (Ok(IpAddr::V6(host)), Ok(given)) = (host.parse(), given.parse())
    {
        let meant = SocketAddr::new(IpAddr::V6(host), given);
        return Err(format!(
            "is {text} with or without a port? Write {meant} or [{text}]"
        ));
    }
    if let Ok(host) = bare.unwrap_or(text).parse::<IpAddr>() {
        return match default_port {
            Some(port) => Ok(SocketAddr::new(host, port)),
            None => Err(format!("no port: write {}", SocketAddr::new(host, example))),
        };
    }
    let (host, given) = match text.rsplit_once(':') {
        Some((host, given)) => (host, Some(port(given)?)),
        None => (text, None),
    };
    if host.eq_ignore_ascii_case("localhost") {
        return match given.or(default_port) {
            Some(port) => Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
            None => Err(format!("no port: write localhost:{example}")),
        };
    }
    let given = given.unwrap_or(example);
    if host == "*" {
        return Err(format!(
            "write 0.0.0.0:{given} for every interface, or 127.0.0.1:{given} for this machine only"
        ));
    }
    Err(format!(
        "expected an address of this machine and a port, such as 127.0.0.1:{given} or [::1]:{given}; other names than \
         localhost are not looked up"
    ))
}

fn port(text: &str) -> Result<u16, String> {
    let port = text.trim().parse();
    port.map_err(|_| "the port must be a number from 0 to 65535, as in 127.0.0.1:8474".to_owned())
}
