//! Secrets never go on the command line, where every user of the machine can read them. Arguments that look like an
//! option for a secret are refused before parsing, so that no error message repeats them.

use std::ffi::OsString;

use crate::cli::error::CliError;

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

/// An option without a value. If it is given one, the parser's error message would repeat it.
const BARE: &str = "--token-stdin";

/// Refuses arguments that would contain a secret.
pub(crate) fn refuse(arguments: impl Iterator<Item = OsString>) -> Result<(), CliError> {
    for argument in arguments {
        let argument = argument.to_string_lossy();
        if argument == "--" {
            break;
        }
        let (option, has_value) = match argument.split_once('=') {
            Some((option, _)) => (option, true),
            None => (argument.as_ref(), false),
        };
        let lower = option.to_ascii_lowercase();
        if SECRETS.contains(&lower.as_str()) || (has_value && lower == BARE) {
            let instead = if lower.contains("token") {
                "Pass a token on standard input or at the prompt: `groupdesk whose` finds its group, `groupdesk rotate \
                 --token-stdin` rotates it. To read or rotate by ID you need no token"
            } else {
                "Set the source of the API key as api_key in the profile, or set GROUPDESK_BASE_URL and GROUPDESK_API_KEY"
            };
            return Err(CliError::Usage(format!(
                "do not pass secrets as arguments ({option}): other users of this machine can read them, and your shell saves \
                 them in its history. {instead}. If the secret is real, replace it"
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
            &["rotate", "--token-stdin=canary"],
        ] {
            let text = refused(arguments).expect("refused");
            assert!(!text.contains("canary"), "{text}");
        }
        assert_eq!(refused(&["rotate", "a", "--token-out", "f"]), None);
        assert_eq!(refused(&["rotate", "--token-stdin"]), None);
        assert_eq!(refused(&["get", "--", "--token"]), None);
    }
}
