//! Secrets never go on a command line, where every user of the machine can read them. What looks like an option for
//! one is refused before the arguments are parsed, so that no message repeats it.

use std::ffi::OsString;

use super::stop::Stop;

const SECRETS: [&str; 8] = [
    "--token",
    "--current-token",
    "--user-group-token",
    "--api-key",
    "--apikey",
    "--api_key",
    "--key",
    "--password",
];

/// Refuses arguments that would carry a secret.
pub(super) fn refuse(arguments: impl Iterator<Item = OsString>) -> Result<(), Stop> {
    for argument in arguments {
        let argument = argument.to_string_lossy();
        if argument == "--" {
            break;
        }
        let option = argument.split('=').next().unwrap_or_default();
        if SECRETS.contains(&option.to_ascii_lowercase().as_str()) {
            return Err(Stop::Usage(format!(
                "secrets never go on a command line ({option}): every user of this machine can read it, and the shell \
                 keeps it. Name the API key's source as api_key of the profile, or set GROUPDESK_BASE_URL and \
                 GROUPDESK_API_KEY. A token is never needed: it is read from the service. If the secret is real, \
                 replace it"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(arguments: &[&str]) -> Option<String> {
        refuse(arguments.iter().map(OsString::from))
            .err()
            .map(|stop| stop.to_string())
    }

    #[test]
    fn a_secret_is_refused_and_not_repeated() {
        for arguments in [
            &["get", "--token", "canary"][..],
            &["--api-key=canary", "list"],
            &["list", "--API-KEY", "canary"],
        ] {
            let text = refused(arguments).expect("refused");
            assert!(!text.contains("canary"), "{text}");
        }
        assert_eq!(refused(&["rotate", "a", "--token-out", "f"]), None);
        assert_eq!(refused(&["get", "--", "--token"]), None);
    }
}
