//! Acquires what the process needs from the system before anything depends on it. Later, a refusal would cause a panic
//! halfway through something, or no answer at all. Protects the memory of this process, which holds API keys and tokens: no core
//! dump is written, and no other process of the same user may read it, unless somebody wants to debug.

use std::{io, num::NonZero, os::fd::AsFd, sync::RwLock, thread};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
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
/// Address space that the C library reserves for the heap of a thread if there is any left (glibc, `HEAP_MAX_SIZE`). It
/// counts where address space is limited, and may leave too little for a stack.
const HEAP: usize = 64 << 20;
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
    let is_limited = getrlimit(Resource::As).current.is_some();
    let heap = if is_limited { HEAP } else { 0 };
    let memory = MEMORY + (workers + THREADS) * (STACK + heap);
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
    can_start(workers + THREADS).map_err(|error| {
        CliError::Usage(format!(
            "cannot start: the system refuses some of {} threads ({error}): raise the limit (`ulimit -u`), or close other \
             programs",
            workers + THREADS
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

/// Starts as many threads at once as are needed later: the runtime panics or waits for ever when it cannot start one.
fn can_start(threads: usize) -> io::Result<()> {
    let all_started = RwLock::new(());
    thread::scope(|scope| {
        let _not_yet = all_started.write();
        (0..threads).try_for_each(|_| {
            let builder = thread::Builder::new().stack_size(STACK);
            let waiting = || drop(all_started.read());
            builder.spawn_scoped(scope, waiting).map(drop)
        })
    })
}

/// Turns reaching the file size limit (`ulimit -f`) into an error of the write, like a full disk, instead of a fatal
/// signal. The signal is handled rather than ignored, because child processes would inherit an ignored one.
fn outlive_a_full_file(runtime: &Runtime) -> io::Result<()> {
    let _here = runtime.enter();
    let number = rustix::process::Signal::XFSZ.as_raw();
    // The handler stays installed when the listener is dropped.
    signal(SignalKind::from_raw(number)).map(drop)
}

/// Set to `1` to leave the system defaults, so that a debugger can attach and a crash can be analysed.
const DEBUGGABLE: &str = "GROUPDESK_DEBUGGABLE";

/// Must be called before any secret is read. Child processes inherit the core dump limit and nothing else.
pub(crate) fn protect() {
    if std::env::var_os(DEBUGGABLE).is_some_and(|value| value == "1") {
        return;
    }
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    // Giving up rights is always allowed. If it fails anyway, everything else is as safe as before.
    let _ = setrlimit(Resource::Core, none);
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}
