//! What the process needs of the system, asked for before anything depends on it: later a refusal would be a panic in
//! the midst of something, or no answer at all.

use std::{io, num::NonZero, os::fd::AsFd, thread};

use tokio::{
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
};

use crate::{cli::error::CliError, operations::break_at};

/// Open files that a console with a connection needs, and some more.
const FILES: usize = 32;
/// Standard input, output and error.
const STANDARD: usize = 3;
/// Bytes for what is not a thread's stack.
const MEMORY: usize = 24 << 20;
/// What tokio and the standard library give a thread.
const STACK: usize = 2 << 20;
/// Threads beside the workers: directory, output, keyboard, files, names of hosts; more of them where the machine is busy.
const THREADS: usize = 10;

/// The runtime, on a system that has room for it.
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
    // Reserved and given back; not touched, so it costs nothing.
    let mut reserved = Vec::<u8>::new();
    let there = reserved.try_reserve_exact(memory);
    // Otherwise the compiler may leave out what nobody uses.
    drop(std::hint::black_box(reserved));
    there.map_err(|_| {
        CliError::Usage(format!(
            "cannot start: there is too little memory; {} MiB more are needed: raise the limit (`ulimit -v`), or close \
             other programs",
            memory >> 20
        ))
    })?;
    let start = || -> io::Result<Runtime> {
        break_at("start")?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(workers)
            .enable_all()
            .build()?;
        outlive_a_full_file(&runtime)?;
        Ok(runtime)
    };
    start().map_err(CliError::unexpected("cannot start"))
}

/// A file at its size limit (`ulimit -f`) is an error of the write, as a full disk is, and no signal that ends the process.
/// Heard, not ignored: a program that is started would inherit the latter.
fn outlive_a_full_file(runtime: &Runtime) -> io::Result<()> {
    let _here = runtime.enter();
    let number = rustix::process::Signal::XFSZ.as_raw();
    // The handler stays when the listener goes.
    signal(SignalKind::from_raw(number)).map(drop)
}
