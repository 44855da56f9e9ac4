//! Waits for text on a program's standard error.

use std::time::Duration;

use tokio::{io::AsyncReadExt, process::Child};

const DEADLINE: Duration = Duration::from_mins(1);

/// Reads until the text appears, and returns what was read; the rest is left for later readers.
pub(crate) async fn says(child: &mut Child, text: &str) -> String {
    let stderr = child.stderr.as_mut().expect("piped");
    let mut said = Vec::new();
    let reading = async {
        while !String::from_utf8_lossy(&said).contains(text) {
            let byte = stderr.read_u8().await;
            said.push(byte.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&said))));
        }
    };
    let ended = tokio::time::timeout(DEADLINE, reading);
    ended.await.expect("it says so in time");
    String::from_utf8_lossy(&said).into_owned()
}
