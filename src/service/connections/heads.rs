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
