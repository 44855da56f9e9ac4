//! Acquires what the process needs from the system before anything depends on it. Later, a refusal would cause a panic
//! halfway through something, or no answer at all.

use std::{io, num::NonZero, os::fd::AsFd, thread};

use tokio::{
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
};

use crate::{cli::error::CliError, operations::fail_at};

/// Open files that a console with a connection needs, plus a margin.
const FILES: usize = 32;
/// Standard input, output and error.
const STANDARD: usize = 3;
/// Bytes needed besides the stacks of the threads.
const MEMORY: usize = 24 << 20;
/// The default stack size of tokio and of the standard library.
const STACK: usize = 2 << 20;
/// Threads besides the workers: directory, output, keyboard, files, host names; a busy machine needs more of them.
const THREADS: usize = 10;

/// Creates the runtime. Fails if the system has not enough room for it.
pub(crate) fn runtime() -> Result<Runtime, CliError> {
    let input = io::stdin();
    let files: Result<Vec<_>, _> = (STANDARD..FILES)
        .map(|_| input.as_fd().try_clone_to_owned())
        .collect();
    drop(files.map_err(|error| {
        CliError::Usage(format!(
            "cannot start: too few open files are allowed here ({error}); at least {FILES} are needed: raise the limit \
             (`ulimit -n`)"
        ))
    })?);
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let memory = MEMORY + (workers + THREADS) * STACK;
    // Reserve the memory and give it back. It is never touched, so this costs nothing.
    let mut reserved = Vec::<u8>::new();
    let there = reserved.try_reserve_exact(memory);
    // Keeps the compiler from removing the unused allocation.
    drop(std::hint::black_box(reserved));
    there.map_err(|_| {
        CliError::Usage(format!(
            "cannot start: there is too little memory; {} MiB more are needed: raise the limit (`ulimit -v`), or close \
             other programs",
            memory >> 20
        ))
    })?;
    let start = || -> io::Result<Runtime> {
        fail_at("start")?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(workers)
            .enable_all()
            .build()?;
        outlive_a_full_file(&runtime)?;
        Ok(runtime)
    };
    start().map_err(CliError::unexpected("cannot start"))
}

/// Turns reaching the file size limit (`ulimit -f`) into an error of the write, like a full disk, instead of a fatal
/// signal. The signal is handled rather than ignored, because child processes would inherit an ignored one.
fn outlive_a_full_file(runtime: &Runtime) -> io::Result<()> {
    let _here = runtime.enter();
    let number = rustix::process::Signal::XFSZ.as_raw();
    // The handler stays installed when the listener is dropped.
    signal(SignalKind::from_raw(number)).map(drop)
}
