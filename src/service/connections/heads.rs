//! If the head of a request cannot be parsed, the HTTP library answers by itself, with an empty body. Here that answer
//! gets the JSON body that every refusal has.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::service::{exchange::refusal_text, observe::Observer, refusal::Refusal};

/// A connection as the HTTP library sees it.
pub(super) struct Heads<'a, S> {
    stream: &'a mut S,
    observer: Option<&'a Observer>,
    /// Written instead of the library's own last answer; empty until then.
    instead: Vec<u8>,
    written: usize,
}

impl<'a, S: AsyncRead + AsyncWrite + Unpin> Heads<'a, S> {
    pub(super) fn of(stream: &'a mut S, observer: Option<&'a Observer>) -> Self {
        Self {
            stream,
            observer,
            instead: Vec::new(),
            written: 0,
        }
    }

    fn poll_instead(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let rest @ [_, ..] = &self.instead[self.written..] {
            match ready!(Pin::new(&mut *self.stream).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => self.written += written,
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Heads<'_, S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.get_mut().stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Heads<'_, S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if let Some((instead, refusal)) = with_json(buffer) {
            if let Some(observer) = this.observer {
                observer.unreadable(&refusal);
            }
            this.instead = instead;
            return Poll::Ready(Ok(buffer.len()));
        }
        Pin::new(&mut *this.stream).poll_write(cx, buffer)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_instead(cx))?;
        Pin::new(&mut *this.stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_instead(cx))?;
        Pin::new(&mut *this.stream).poll_shutdown(cx)
    }
}

/// Adds a JSON body if the output ends with an answer of the library. Our own answers have a type and a body.
fn with_json(written: &[u8]) -> Option<(Vec<u8>, Refusal)> {
    const EMPTY: &str = "\r\ncontent-length: 0\r\n";
    if !written.ends_with(b"\r\n\r\n") {
        return None;
    }
    let start = b"HTTP/1.";
    let at = written.windows(start.len()).rposition(|at| at == start)?;
    let (before, head) = written.split_at(at);
    let head = std::str::from_utf8(head).ok()?;
    let refusal = match head.get(9..12)? {
        "400" => Refusal::Head,
        "431" => Refusal::LargeHead,
        _ => return None,
    };
    if head.contains("\r\ncontent-type: ") {
        return None;
    }
    let (first, last) = head.split_once(EMPTY)?;
    let text = refusal_text(&refusal);
    let length = text.len();
    let head = format!(
        "{first}\r\ncontent-type: application/json\r\ncache-control: no-store\r\ncontent-length: {length}\r\n{last}"
    );
    Some(([before, head.as_bytes(), &text].concat(), refusal))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBRARY: &str =
        "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\ndate: today\r\n\r\n";

    fn replaced(written: &str) -> Option<String> {
        with_json(written.as_bytes()).map(|(text, _)| String::from_utf8(text).expect("UTF-8"))
    }

    #[test]
    fn the_answer_of_the_library_gets_a_body_also_behind_one_of_ours() {
        let ours =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
        let alone = replaced(LIBRARY).expect("it is one");
        let (head, body) = alone.split_once("\r\n\r\n").expect("a head");
        assert!(
            head.starts_with("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n"),
            "{head}"
        );
        assert!(
            head.contains(&format!("\r\ncontent-length: {}\r\n", body.len())),
            "{head}"
        );
        assert!(head.ends_with("date: today"), "{head}");
        assert!(body.contains(r#""code":"malformed_request""#), "{body}");
        assert_eq!(
            replaced(&format!("{ours}{LIBRARY}")),
            Some(format!("{ours}{alone}"))
        );
        let large = replaced(&LIBRARY.replace("400 Bad Request", "431 Too Large"));
        assert!(large.expect("it is one").contains("head_too_large"));
    }

    #[test]
    fn our_own_answers_are_left_alone() {
        for ours in [
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n\r\n{}",
            "",
        ] {
            assert_eq!(replaced(ours), None, "{ours}");
        }
    }
}
