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

pub(super) fn base64(text: impl AsRef<[u8]>) -> String {
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

/// Forms in which a token stands, as `NAME = TEXT`: in place of `TOKEN`, or of its halves `FRONT` and `BACK`. `‹a›` is the
/// sign of this number.
const WRITTEN: &str = r#"
alone = TOKEN
between blanks = ‹20›‹20›‹9›TOKEN ‹d›‹a›
in a header = Authorization: Token TOKEN
in a command = curl -H 'Authorization: Bearer TOKEN' https://bi.example.com/a?b=1
in a URL = https://bi.example.com/embed?x=1&token=TOKEN&y=2#top
as user of a URL = https://TOKEN:x@bi.example.com/
in JSON = {"token": "TOKEN", "n": 1}
in JSON in JSON = {\"token\": \"TOKEN\"}
in JSON with \u0022 = {\u0022token\u0022:\u0022TOKEN\u0022}
in JSON twice escaped = token\\u0022:\\u0022TOKEN\\u0022
after a literal \n = token:\nTOKEN\nend
after a literal \t = acme\tTOKEN\tgold
after a literal \r\n = acme\r\nTOKEN\r\n
after \\n = acme\\nTOKEN\\n
after \x0a = acme\x0aTOKEN\x0a
after \012 = acme\012TOKEN\012
after a backslash = acme\TOKEN
after %20 = token%20TOKEN%20x
after %3D = next=%2Fembed%3Ftoken%3DTOKEN%26x
after %253D = next=%252Fembed%253Ftoken%253DTOKEN%2526x
after %0A = a%0ATOKEN%0Ab
after &quot; = token=&quot;TOKEN&quot;
after &#34; = token=&#34;TOKEN&#34;
in HTML = <p>Token: <code>TOKEN</code></p>
in an attribute = <a href="https://x/?token=TOKEN">x</a>
with a tag inside = FRONT<wbr>BACK
with a span inside = FRONT</span><span class="hl">BACK
with a comment inside = FRONT<!-- x -->BACK
coloured = ‹1b›[36mTOKEN‹1b›[0m
with a colour inside = FRONT‹1b›[1;31mBACK
coloured, literal \e = \e[36mTOKEN\e[0m
coloured, literal \x1b = \x1b[36mTOKEN\x1b[0m
coloured, literal \033 = \033[36mTOKEN\033[0m
coloured, literal \u001b = \u001b[36mTOKEN\u001b[0m
coloured, literal ^[ = ^[[36mTOKEN^[[0m
coloured, no escape left = [36mTOKEN[0m
with a colour of no escape inside = FRONT[31mBACK
in a link of a terminal = ‹1b›]8;;https://x/?token=TOKEN‹7›x‹1b›]8;;‹7›
as text of a link = ‹1b›]8;;https://x/‹1b›\TOKEN‹1b›]8;;‹1b›\
with a link inside = FRONT‹1b›]8;;http://x/‹1b›\BACK
with a title inside = FRONT‹1b›]0;x‹9c›BACK
with a link of single signs inside = FRONT‹9d›8;;http://x/‹9c›BACK
with a sequence of tmux inside = FRONT‹1b›Ptmux;x‹1b›\BACK
with a link inside, literal \e = FRONT\e]8;;http://x/\e\BACK
with a link inside, literal \e and \\ = FRONT\e]8;;http://x/\e\\BACK
with a link inside, literal ^[ = FRONT^[]8;;http://x/^[\BACK
with U+200B inside = FRONT‹200b›BACK
with U+200D inside = FRONT‹200d›BACK
with U+00AD inside = FRONT‹ad›BACK
with U+FEFF in front = ‹feff›TOKEN
over two lines = FRONT‹a›BACK
over two indented lines = ‹20›‹20›‹20›‹20›FRONT‹a›    BACK
over lines with CR LF = FRONT‹d›‹a›BACK
in quoted mail = > Hi,‹a›> TOKEN‹a›> Bye
after =3D = token=3DTOKEN
with a soft line break = FRONT=‹a›BACK
with soft line breaks and CR LF = FRONT=‹d›‹a›BACK
in quoted mail with soft line breaks = > FRONT=‹a›> BACK
continued by a backslash = FRONT\‹a›BACK
continued and indented = FRONT \‹a›    BACK
in strings that are added = FRONT" +‹a›  "BACK
in strings side by side = FRONT"‹a›  "BACK
in a table = | acme-eu | TOKEN | gold |
in a table with borders = ┌──────┐‹a›│ TOKEN │‹a›└──────┘
wrapped in a column = | acme | FRONT | gold |‹a›|      | BACK |      |
wrapped after numbers = 10: FRONT‹a›11: BACK‹a›
wrapped after times = 12:30:01 app[7]: FRONT‹a›12:30:02 app[7]: BACK
in tabs = acme‹9›TOKEN‹9›gold
in CSV = id,token,tier‹a›acme-eu,TOKEN,gold‹a›
in quoted CSV = "acme-eu","TOKEN","gold"
in Markdown = the token is **`TOKEN`**.
in brackets = (token: <TOKEN>)
at the end of a sentence = It is TOKEN.
in YAML = token: >-‹a›  FRONT‹a›  BACK
with ends of lines shown = FRONT$‹a›BACK
with carriage returns shown = FRONT^M‹a›BACK
in strings that SQL joins = VALUES (1, 'FRONT' || 'BACK')
in strings that Lua joins = t = "FRONT" .. "BACK"
hyphenated = FRONT-‹a›BACK
in strings that are added in a line = FRONT' + 'BACK
beside another = OTHER TOKEN
after #011 of rsyslog = user#011TOKEN‹a›
between #012 of rsyslog = dump:#012TOKEN#012end
in a URL at the end of a line = https://x/?token=TOKEN‹a›bye
in a log beside another = GET /?token=OTHER 200‹a›GET /?token=TOKEN 404‹a›
"#;

/// The forms of [`WRITTEN`].
fn written(t: &str) -> impl Iterator<Item = (&'static str, String)> {
    let (front, back) = t.split_at(t.len() / 2);
    let forms = WRITTEN.lines().filter_map(|line| line.split_once(" = "));
    forms.map(move |(name, text)| {
        let mut parts = text.split(['‹', '›']);
        let mut signs = parts.next().unwrap_or_default().to_owned();
        while let Some((code, after)) = parts.next().zip(parts.next()) {
            let code = u32::from_str_radix(code, 16).expect("a number");
            signs.push(char::from_u32(code).expect("a sign"));
            signs.push_str(after);
        }
        let signs = signs.replace("OTHER", OTHER).replace("TOKEN", t);
        (name, signs.replace("FRONT", front).replace("BACK", back))
    })
}

/// As a form of a browser encodes it.
fn encoded(t: &str) -> String {
    each(t, |c| match c {
        c if c.is_ascii_alphanumeric() || "-_.~".contains(c) => c.to_string(),
        c => format!("%{:02X}", u32::from(c)),
    })
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
    let code = |form: fn(u32) -> String| each(t, |c| form(u32::from(c)));
    let half = t.len() / 2 + 1;
    let behind = |escape: char, signs: &str| {
        each(t, |c| match c {
            c if signs.contains(c) => format!("{escape}{c}"),
            c => c.to_string(),
        })
    };
    let bare = || base64(t).trim_end_matches('=').to_owned();
    let percent = code(|c| format!("%{c:02X}"));
    let mut all = vec![
        ("percent-encoded", percent.clone()),
        (
            "percent-encoded at the end of a line",
            format!("https://x/?token={}\nbye", encoded(t)),
        ),
        (
            "with its quotes doubled in CSV",
            format!("id,\"{}\",x", t.replace('"', "\"\"")),
        ),
        (
            "with its quotes doubled in SQL",
            format!("VALUES (1, '{}')", t.replace('\'', "''")),
        ),
        (
            "with its quotes as a shell has them",
            format!("TOKEN='{}' run", t.replace('\'', "'\\''")),
        ),
        (
            "with its signs as make has them",
            format!("TOKEN={}", t.replace('$', "$$")),
        ),
        (
            "with its signs as PowerShell has them",
            format!("$t = \"{}\"", behind('`', "$`\"")),
        ),
        (
            "with its signs as cmd has them",
            format!("set T={}", behind('^', "^!&|<>")),
        ),
        (
            "decoded as a form",
            format!("GET /e?t={} HTTP/1.1", t.replace('+', " ")),
        ),
        (
            "in quoted mail before a line",
            lines(half, "> ", "") + "\n> bye",
        ),
        (
            "in a recording, a character an event",
            each(t, |c| format!("[0.1, \"o\", \"{c}\"]\n")),
        ),
        (
            "in a recording, nine characters an event",
            lines(9, "[0.12, \"o\", \"", "\"]"),
        ),
        (
            "in a recording of keys",
            each(t, |c| format!("[1.5, \"i\", \"{c}\"]\n")),
        ),
        ("percent-encoded twice", percent.replace('%', "%25")),
        ("as \\u escapes", code(|c| format!("\\u{c:04x}"))),
        ("as \\u{} escapes", code(|c| format!("\\u{{{c:x}}}"))),
        ("as \\x escapes", code(|c| format!("\\x{c:02x}"))),
        ("as octal escapes", code(|c| format!("\\{c:03o}"))),
        ("as &#x entities", code(|c| format!("&#x{c:x};"))),
        ("as &# entities", code(|c| format!("&#{c};"))),
        (
            "each character coloured",
            each(t, |c| format!("\u{1b}[32m{c}\u{1b}[0m")),
        ),
        (
            "bold as in manual pages",
            each(t, |c| format!("{c}\u{8}{c}")),
        ),
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
        ("over many lines", lines(8, "", "")),
        ("in quoted mail, wrapped", lines(half, "> ", "")),
        (
            "in mail quoted twice, wrapped",
            lines(t.len() / 3 + 1, ">> > ", ""),
        ),
        ("in a comment", lines(half, "# ", "")),
        ("in a comment of //", lines(half, "// ", "")),
        ("in a comment of *", lines(half, " * ", "")),
        ("wrapped in a table", lines(half, "| ", " |")),
        ("wrapped in a table of lines", lines(half, "│ ", " │")),
        ("in base64", format!("token: {}", base64(t))),
        (
            "in base64 in a path",
            format!("GET /embed/{} HTTP/1.1", bare()),
        ),
        (
            "in base64 within a path",
            format!("https://h/e/{}/view", bare()),
        ),
        ("in base64 behind a dash", format!("session-{}", bare())),
        ("in base64 behind a low line", format!("TOKEN_{}", bare())),
        (
            "as a password in base64",
            format!("Authorization: Basic {}", base64(format!("acme:{t}"))),
        ),
        (
            "in base64, wrapped",
            split(&base64(format!("The token of acme is {t}, keep it.")), "\n"),
        ),
        ("in hex", code(|c| format!("{c:02x}"))),
        ("numbers", format!("[{}]", numbers(", "))),
        ("numbers in lines", numbers(",\n  ")),
        ("numbers of Go", format!("token=[{}] id=acme", numbers(" "))),
        ("numbers of Basic", code(|c| format!("Chr$({c}) & "))),
        ("numbers of SQL", code(|c| format!("CHAR({c})+"))),
        ("numbers of Oracle", code(|c| format!("CHR({c})||"))),
        (
            "numbers of a Lua function",
            code(|c| format!("string.char({c})..")),
        ),
        (
            "numbers of Lua",
            format!("t = \"{}\"", code(|c| format!("\\{c}"))),
        ),
        ("numbers of C", code(|c| format!("0x{c:02x}, "))),
        (
            "numbers of Node",
            format!("<Buffer {}>", code(|c| format!("{c:02x} "))),
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
        ("as escapes of a style sheet", code(|c| format!("\\{c:x} "))),
        (
            "as long escapes of a style sheet",
            code(|c| format!("\\{c:06x}")),
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
        ("numbers of bits", code(|c| format!("{c:08b} "))),
        ("numbers in octal", code(|c| format!("{c:o} "))),
        ("as \\uuu escapes", code(|c| format!("\\uuu{c:04x}"))),
        ("numbers of rich text", code(|c| format!("\\'{c:02x}"))),
        ("numbers of a mail", code(|c| format!("={c:02X}"))),
        ("in hex with colons", code(|c| format!("{c:02x}:"))),
        (
            "in hex with 0x",
            format!("0x{}", code(|c| format!("{c:02x}"))),
        ),
        (
            "in hex of PostgreSQL",
            format!("\\x{}", code(|c| format!("{c:02x}"))),
        ),
        ("with enclosing signs", each(t, |c| format!("{c}\u{489}"))),
        ("in a difference", lines(half, "+", "")),
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
    ];
    all.extend(written(t));
    all
}
