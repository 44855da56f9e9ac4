//! The forms in which tokens turn up.

use super::OTHER;

/// Inserts something into the middle of a token.
pub(super) fn split(token: &str, between: &str) -> String {
    let (front, back) = token.split_at(token.len() / 2);
    format!("{front}{between}{back}")
}

/// The token in parts of this length.
pub(super) fn parts(token: &str, length: usize) -> Vec<&str> {
    let ends = token.as_bytes().chunks(length);
    ends.map(|part| std::str::from_utf8(part).expect("ASCII"))
        .collect()
}

fn each(token: &str, form: impl Fn(char) -> String) -> String {
    token.chars().map(form).collect()
}

/// A sign in another alphabet of letters, if there is one, and digits.
fn lettered(c: char, letters: Option<u32>, zero: u32) -> String {
    let code = match (c, letters) {
        ('0'..='9', _) => u32::from(c) - u32::from('0') + zero,
        ('A'..='Z', Some(letters)) => u32::from(c) - u32::from('A') + letters,
        ('a'..='z', Some(letters)) => u32::from(c) - u32::from('a') + letters + 26,
        _ => return c.into(),
    };
    char::from_u32(code).expect("a sign").into()
}

fn base64(text: impl AsRef<[u8]>) -> String {
    let alphabet: Vec<char> = ('A'..='Z')
        .chain('a'..='z')
        .chain('0'..='9')
        .chain(['+', '/'])
        .collect();
    let mut out = String::new();
    for three in text.as_ref().chunks(3) {
        let bits = three
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - three.len()));
        for sextet in 0..4 {
            out.push(if sextet <= three.len() {
                alphabet[(bits >> (18 - 6 * sextet)) as usize & 63]
            } else {
                '='
            });
        }
    }
    out
}

/// Every form, by a name.
pub(super) fn forms(t: &str) -> Vec<(&'static str, String)> {
    let lines = |length: usize, begin: &str, end: &str| {
        let all = parts(t, length)
            .into_iter()
            .map(|part| format!("{begin}{part}{end}"));
        all.collect::<Vec<_>>().join("\n")
    };
    let numbers = |between: &str| {
        let all: Vec<_> = t.bytes().map(|byte| byte.to_string()).collect();
        all.join(between)
    };
    let little = |two: &[u8]| u16::from_le_bytes([two[0], two[1]]);
    // As programs print bytes: 16 a line, behind their address of some digits and a colon; also as text at its end.
    let dump = |size: usize, [digits, colon, text]: [usize; 3], form: &dyn Fn(&[u8]) -> String| {
        let bytes = format!("token={t}\n").into_bytes();
        let lines = bytes.chunks(16).zip(0..).map(|(line, at)| {
            let padded = [line, &[0; 3]].concat();
            let words = padded.chunks_exact(size).take(line.len().div_ceil(size));
            let words: String = words.map(form).collect();
            let shown = String::from_utf8_lossy(line).replace('\n', ".");
            let shown = format!("  |{shown}|").repeat(text);
            format!("{:0digits$x}{}{words}{shown}\n", at * 16, ":".repeat(colon))
        });
        lines.collect::<String>()
    };
    let percent = each(t, |c| format!("%{:02X}", u32::from(c)));
    vec![
        ("alone", t.into()),
        ("between blanks", format!("  \t{t} \r\n")),
        ("in a header", format!("Authorization: Token {t}")),
        (
            "in a command",
            format!("curl -H 'Authorization: Bearer {t}' https://bi.example.com/a?b=1"),
        ),
        (
            "in a URL",
            format!("https://bi.example.com/embed?x=1&token={t}&y=2#top"),
        ),
        ("as user of a URL", format!("https://{t}:x@bi.example.com/")),
        ("in JSON", format!("{{\"token\": \"{t}\", \"n\": 1}}")),
        ("in JSON in JSON", format!("{{\\\"token\\\": \\\"{t}\\\"}}")),
        (
            "in JSON with \\u0022",
            format!("{{\\u0022token\\u0022:\\u0022{t}\\u0022}}"),
        ),
        (
            "in JSON twice escaped",
            format!("token\\\\u0022:\\\\u0022{t}\\\\u0022"),
        ),
        ("after a literal \\n", format!("token:\\n{t}\\nend")),
        ("after a literal \\t", format!("acme\\t{t}\\tgold")),
        ("after a literal \\r\\n", format!("acme\\r\\n{t}\\r\\n")),
        ("after \\\\n", format!("acme\\\\n{t}\\\\n")),
        ("after \\x0a", format!("acme\\x0a{t}\\x0a")),
        ("after \\012", format!("acme\\012{t}\\012")),
        ("after a backslash", format!("acme\\{t}")),
        ("after %20", format!("token%20{t}%20x")),
        ("after %3D", format!("next=%2Fembed%3Ftoken%3D{t}%26x")),
        (
            "after %253D",
            format!("next=%252Fembed%253Ftoken%253D{t}%2526x"),
        ),
        ("after %0A", format!("a%0A{t}%0Ab")),
        ("percent-encoded", percent.clone()),
        ("percent-encoded twice", percent.replace('%', "%25")),
        (
            "as \\u escapes",
            each(t, |c| format!("\\u{:04x}", u32::from(c))),
        ),
        (
            "as \\u{} escapes",
            each(t, |c| format!("\\u{{{:x}}}", u32::from(c))),
        ),
        (
            "as \\x escapes",
            each(t, |c| format!("\\x{:02x}", u32::from(c))),
        ),
        (
            "as octal escapes",
            each(t, |c| format!("\\{:03o}", u32::from(c))),
        ),
        (
            "as &#x entities",
            each(t, |c| format!("&#x{:x};", u32::from(c))),
        ),
        (
            "as &# entities",
            each(t, |c| format!("&#{};", u32::from(c))),
        ),
        ("after &quot;", format!("token=&quot;{t}&quot;")),
        ("after &#34;", format!("token=&#34;{t}&#34;")),
        ("in HTML", format!("<p>Token: <code>{t}</code></p>")),
        (
            "in an attribute",
            format!("<a href=\"https://x/?token={t}\">x</a>"),
        ),
        ("with a tag inside", split(t, "<wbr>")),
        ("with a span inside", split(t, "</span><span class=\"hl\">")),
        ("with a comment inside", split(t, "<!-- x -->")),
        ("coloured", format!("\u{1b}[36m{t}\u{1b}[0m")),
        ("with a colour inside", split(t, "\u{1b}[1;31m")),
        (
            "each character coloured",
            each(t, |c| format!("\u{1b}[32m{c}\u{1b}[0m")),
        ),
        ("coloured, literal \\e", format!("\\e[36m{t}\\e[0m")),
        ("coloured, literal \\x1b", format!("\\x1b[36m{t}\\x1b[0m")),
        ("coloured, literal \\033", format!("\\033[36m{t}\\033[0m")),
        (
            "coloured, literal \\u001b",
            format!("\\u001b[36m{t}\\u001b[0m"),
        ),
        ("coloured, literal ^[", format!("^[[36m{t}^[[0m")),
        ("coloured, no escape left", format!("[36m{t}[0m")),
        ("with a colour of no escape inside", split(t, "[31m")),
        (
            "in a link of a terminal",
            format!("\u{1b}]8;;https://x/?token={t}\u{7}x\u{1b}]8;;\u{7}"),
        ),
        (
            "as text of a link",
            format!("\u{1b}]8;;https://x/\u{1b}\\{t}\u{1b}]8;;\u{1b}\\"),
        ),
        (
            "bold as in manual pages",
            each(t, |c| format!("{c}\u{8}{c}")),
        ),
        ("with U+200B inside", split(t, "\u{200b}")),
        ("with U+200D inside", split(t, "\u{200d}")),
        ("with U+00AD inside", split(t, "\u{ad}")),
        ("with U+FEFF in front", format!("\u{feff}{t}")),
        (
            "with U+2060 between all",
            each(t, |c| format!("{c}\u{2060}")),
        ),
        ("with selectors", each(t, |c| format!("{c}\u{fe0f}"))),
        ("struck through", each(t, |c| format!("{c}\u{336}"))),
        (
            "fullwidth",
            each(t, |c| {
                char::from_u32(u32::from(c) + 0xfee0).expect("one").into()
            }),
        ),
        ("with long dashes", t.replace('-', "\u{2011}")),
        ("over two lines", split(t, "\n")),
        (
            "over two indented lines",
            format!("    {}", split(t, "\n    ")),
        ),
        ("over lines with CR LF", split(t, "\r\n")),
        ("over many lines", lines(8, "", "")),
        ("in quoted mail", format!("> Hi,\n> {t}\n> Bye")),
        ("in quoted mail, wrapped", lines(t.len() / 2 + 1, "> ", "")),
        (
            "in mail quoted twice, wrapped",
            lines(t.len() / 3 + 1, ">> > ", ""),
        ),
        ("after =3D", format!("token=3D{t}")),
        ("with a soft line break", split(t, "=\n")),
        ("with soft line breaks and CR LF", split(t, "=\r\n")),
        (
            "in quoted mail with soft line breaks",
            format!("> {}", split(t, "=\n> ")),
        ),
        ("continued by a backslash", split(t, "\\\n")),
        ("continued and indented", split(t, " \\\n    ")),
        ("in strings that are added", split(t, "\" +\n  \"")),
        ("in strings side by side", split(t, "\"\n  \"")),
        ("in a comment", lines(t.len() / 2 + 1, "# ", "")),
        ("in a comment of //", lines(t.len() / 2 + 1, "// ", "")),
        ("in a comment of *", lines(t.len() / 2 + 1, " * ", "")),
        ("in a table", format!("| acme-eu | {t} | gold |")),
        (
            "in a table with borders",
            format!("┌──────┐\n│ {t} │\n└──────┘"),
        ),
        ("wrapped in a table", lines(t.len() / 2 + 1, "| ", " |")),
        (
            "wrapped in a table of lines",
            lines(t.len() / 2 + 1, "│ ", " │"),
        ),
        (
            "wrapped in a column",
            format!(
                "| acme | {} | gold |\n|      | {} |      |",
                &t[..t.len() / 2],
                &t[t.len() / 2..]
            ),
        ),
        (
            "wrapped after numbers",
            format!("10: {}\n11: {}\n", &t[..t.len() / 2], &t[t.len() / 2..]),
        ),
        (
            "wrapped after times",
            format!("12:30:01 app[7]: {}", split(t, "\n12:30:02 app[7]: ")),
        ),
        ("in tabs", format!("acme\t{t}\tgold")),
        ("in CSV", format!("id,token,tier\nacme-eu,{t},gold\n")),
        ("in quoted CSV", format!("\"acme-eu\",\"{t}\",\"gold\"")),
        ("in Markdown", format!("the token is **`{t}`**.")),
        ("in brackets", format!("(token: <{t}>)")),
        ("at the end of a sentence", format!("It is {t}.")),
        ("in YAML", format!("token: >-\n  {}", split(t, "\n  "))),
        ("in base64", format!("token: {}", base64(t))),
        (
            "as a password in base64",
            format!("Authorization: Basic {}", base64(format!("acme:{t}"))),
        ),
        (
            "in base64, wrapped",
            split(&base64(format!("The token of acme is {t}, keep it.")), "\n"),
        ),
        ("in hex", each(t, |c| format!("{:02x}", u32::from(c)))),
        ("numbers", format!("[{}]", numbers(", "))),
        ("numbers in lines", numbers(",\n  ")),
        ("numbers of Go", format!("token=[{}] id=acme", numbers(" "))),
        (
            "numbers of C",
            each(t, |c| format!("0x{:02x}, ", u32::from(c))),
        ),
        (
            "numbers of Node",
            format!("<Buffer {}>", each(t, |c| format!("{:02x} ", u32::from(c)))),
        ),
        (
            "numbers of od -c",
            dump(1, [7, 0, 0], &|byte| match byte[0] {
                b'\n' => "  \\n".into(),
                byte => format!("   {}", char::from(byte)),
            }),
        ),
        (
            "numbers of od -tx1",
            dump(1, [7, 0, 0], &|byte| format!(" {:02x}", byte[0])),
        ),
        (
            "numbers of od -tx4",
            dump(4, [7, 0, 0], &|four| {
                format!(
                    " {:02x}{:02x}{:02x}{:02x}",
                    four[3], four[2], four[1], four[0]
                )
            }),
        ),
        (
            "numbers of od -b",
            dump(1, [7, 0, 0], &|byte| format!(" {:03o}", byte[0])),
        ),
        (
            "numbers of od",
            dump(2, [7, 0, 0], &|two| format!(" {:06o}", little(two))),
        ),
        (
            "numbers of hexdump",
            dump(2, [7, 0, 0], &|two| format!(" {:04x}", little(two))),
        ),
        (
            "numbers of hexdump -C",
            dump(1, [8, 0, 1], &|byte| format!(" {:02x}", byte[0])),
        ),
        (
            "numbers of xxd",
            dump(2, [8, 1, 0], &|two| {
                format!(" {:02x}{:02x}", two[0], two[1])
            }),
        ),
        (
            "as escapes of a style sheet",
            each(t, |c| format!("\\{:x} ", u32::from(c))),
        ),
        (
            "as long escapes of a style sheet",
            each(t, |c| format!("\\{:06x}", u32::from(c))),
        ),
        (
            "in mathematical letters",
            each(t, |c| lettered(c, Some(0x1d670), 0x1d7f6)),
        ),
        (
            "in mathematical digits",
            each(t, |c| lettered(c, None, 0x1d7d8)),
        ),
        ("in Arabic digits", each(t, |c| lettered(c, None, 0x660))),
        (
            "in fullwidth digits",
            each(t, |c| lettered(c, None, 0xff10)),
        ),
        (
            "in superscript digits",
            each(t, |c| {
                c.to_digit(10).map_or(c.into(), |digit| {
                    ["⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"][digit as usize].to_owned()
                })
            }),
        ),
        (
            "in mathematical digits, escaped",
            each(t, |c| {
                c.to_digit(10)
                    .map_or(c.into(), |digit| format!("\\ud835\\u{:x}", 0xdfd8 + digit))
            }),
        ),
        ("with ligatures", t.replace("ff", "ﬀ").replace("fl", "ﬂ")),
        (
            "numbers of bits",
            each(t, |c| format!("{:08b} ", u32::from(c))),
        ),
        (
            "numbers in octal",
            each(t, |c| format!("{:o} ", u32::from(c))),
        ),
        (
            "as \\uuu escapes",
            each(t, |c| format!("\\uuu{:04x}", u32::from(c))),
        ),
        (
            "numbers of rich text",
            each(t, |c| format!("\\'{:02x}", u32::from(c))),
        ),
        (
            "numbers of a mail",
            each(t, |c| format!("={:02X}", u32::from(c))),
        ),
        (
            "in hex with colons",
            each(t, |c| format!("{:02x}:", u32::from(c))),
        ),
        (
            "in hex with 0x",
            format!("0x{}", each(t, |c| format!("{:02x}", u32::from(c)))),
        ),
        (
            "in hex of PostgreSQL",
            format!("\\x{}", each(t, |c| format!("{:02x}", u32::from(c)))),
        ),
        ("with enclosing signs", each(t, |c| format!("{c}\u{489}"))),
        ("in a difference", lines(t.len() / 2 + 1, "+", "")),
        ("with ends of lines shown", split(t, "$\n")),
        ("with carriage returns shown", split(t, "^M\n")),
        ("hyphenated", split(t, "-\n")),
        ("in strings that are added in a line", split(t, "' + '")),
        ("in a list of characters", each(t, |c| format!("'{c}', "))),
        ("in base64 of base64", base64(base64(format!("acme:{t}")))),
        (
            "in base64 of UTF-16",
            base64(
                format!("token={t}")
                    .encode_utf16()
                    .flat_map(u16::to_le_bytes)
                    .collect::<Vec<_>>(),
            ),
        ),
        ("beside another", format!("{OTHER} {t}")),
        (
            "in a log beside another",
            format!("GET /?token={OTHER} 200\nGET /?token={t} 404\n"),
        ),
    ]
}
