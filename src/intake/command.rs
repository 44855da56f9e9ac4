//! A command on one line, run without a shell.

/// Its words: between blanks, or as the configuration has them. Quotes are not read, which would leave them in the words.
///
/// # Errors
///
/// It has quotes, and is no list of words; what to write.
pub fn words(line: &str) -> Result<Vec<String>, &'static str> {
    let line = line.trim();
    if !line.starts_with('[') && !line.contains(['"', '\'', '\\']) {
        return Ok(line.split_whitespace().map(str::to_owned).collect());
    }
    serde_json::from_str(line).map_err(|_| {
        "a command with quotes is expected as in the configuration file: [\"pass\", \"show\", \"eu live\"]"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_command_with_quotes_is_read_as_the_configuration_has_it() {
        let read = |line: &str| words(line).ok();
        let expected = ["pass", "show", "eu live"].map(str::to_owned).to_vec();
        assert_eq!(read(r#"["pass", "show", "eu live"]"#), Some(expected));
        assert_eq!(read(" echo  a-key "), read(r#"["echo", "a-key"]"#));
        for line in [
            r#"pass show "eu live""#,
            "pass show 'eu'",
            r"pass eu\ live",
            "[pass]",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
