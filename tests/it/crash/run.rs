//! One run: a rotation with one fault, killed at one point; two recoveries killed at one point; a last one that is not
//! killed. Then everything that must hold is checked.

use super::*;

/// The settle horizon with the timeouts used here, in seconds.
const HORIZON: u64 = 60;
/// The timeout of a request, where the test does not wait for it.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The rotation happens this long ago, so that the shipped program, whose clock cannot be set, settles it.
const AGO: i64 = 3 * HORIZON as i64;

/// The result of a run.
#[derive(Debug, Default)]
pub(super) struct RunResult {
    /// Everything that did not hold.
    pub(super) wrong: Vec<String>,
    /// Rotate requests that were sent.
    pub(super) requests: usize,
    /// The rotation was killed where it should be.
    pub(super) died: bool,
    /// How many recoveries were killed.
    pub(super) died_again: usize,
    /// Failures that the processes reported.
    pub(super) failures: Vec<String>,
}

pub(super) async fn play(stage: &Stage, case: Case, variant: Variant) -> RunResult {
    let scene = stage.scene().await;
    let mut run = Run {
        held: Gate::new(),
        applied: Gate::new(),
        has_left: false,
        scene: &scene,
        sink: scene.sink(),
        noon: match case.way {
            RecoveryKind::Settle => Timestamp::now().as_second() - AGO,
            RecoveryKind::LookUp | RecoveryKind::Recover => noon().as_second(),
        },
        case,
        variant,
        played: RunResult::default(),
    };
    let mut at_proxy = case
        .fault
        .proxy_fault(&scene.group, &scene.old)
        .held(&run.held);
    if case.fault.is_applied() {
        at_proxy = at_proxy.behind(&run.applied);
    }
    scene.proxy.next("POST", at_proxy);
    run.rotation().await;
    // The clock of the shipped program cannot be within the horizon.
    run.recovery(vec![1, 2], case.again).await;
    if case.fault == Fault::ArrivesLate && run.has_left {
        run.let_through().await;
    }
    match case.way {
        RecoveryKind::LookUp => {
            run.recovery(vec![HORIZON], case.again).await;
            let times = vec![HORIZON + 10, HORIZON + 20, 2 * HORIZON];
            run.recovery(times, None).await;
        }
        // One recovery that is not killed is enough.
        RecoveryKind::Recover => {
            run.recovery(vec![HORIZON], case.again).await;
            run.recovery(vec![HORIZON + 10], None).await;
        }
        RecoveryKind::Settle => {
            run.settle(case.again).await;
            run.settle(None).await;
        }
    }
    run.look().await;
    run.played
}

pub(super) struct Run<'a> {
    pub(super) scene: &'a Scene<'a>,
    /// Takes the new token.
    pub(super) sink: Sink,
    /// When it all happens, in seconds since 1970.
    noon: i64,
    pub(super) case: Case,
    pub(super) variant: Variant,
    /// Holds the rotate request before the service gets it.
    held: Gate,
    /// Holds its answer.
    applied: Gate,
    pub(super) has_left: bool,
    pub(super) played: RunResult,
}

impl Run<'_> {
    fn order(&self, task: Task, kill: Option<u8>) -> Order {
        Order {
            kill,
            variant: self.variant,
            noon: self.noon,
            handoff: self.sink.command(),
            ..self.scene.order(task)
        }
    }

    async fn rotation(&mut self) {
        let mut order = self.order(Task::Rotate, self.case.kill);
        let in_command = self.case.kill == Some(HANDING_OFF);
        if in_command {
            self.sink.keep_waiting();
        }
        if self.case.fault.hangs() {
            order.timeout = Duration::from_secs(3);
        }
        let mut installation = Process::start(&order);
        let (held, sink) = (self.held.clone(), self.sink.clone());
        let mut is_over = false;
        loop {
            let said = tokio::select! {
                said = installation.next_report() => said,
                () = sink.has_begun(), if in_command && !is_over => {
                    is_over = true;
                    installation.kill();
                    continue;
                }
                () = held.reached(), if !self.has_left => {
                    self.has_left = true;
                    if self.case.kill == Some(BYTES_OUT) {
                        installation.kill();
                    }
                    if self.case.fault != Fault::ArrivesLate {
                        self.let_through().await;
                    }
                    continue;
                }
            };
            match said {
                Some((what, words)) if what == "shown" => {
                    self.check_durable(&words);
                    installation.resume().await;
                }
                Some((what, words)) => self.note(&what, words),
                None => break,
            }
        }
        self.played.died = installation.is_killed().await;
        if in_command {
            // The command left running by the crash may end now.
            self.sink.resume();
        }
    }

    async fn let_through(&self) {
        self.held.open();
        if self.case.fault.is_applied() {
            self.applied.reached().await;
            self.applied.open();
        }
    }

    async fn recovery(&mut self, seconds: Vec<u64>, kill: Option<u8>) {
        let task = match self.case.way {
            RecoveryKind::LookUp => Task::LookUp(seconds),
            RecoveryKind::Recover | RecoveryKind::Settle => Task::Recover(seconds),
        };
        let order = self.order(task, kill);
        let held = Gate::new();
        if kill == Some(BYTES_OUT) {
            let at_proxy = ProxyFault::swallowed(Then::Drop).held(&held);
            self.scene.proxy.next("GET", at_proxy);
        }
        let mut installation = Process::start(&order);
        loop {
            tokio::select! {
                said = installation.next_report() => match said {
                    Some((what, words)) => self.note(&what, words),
                    None => break,
                },
                () = held.reached(), if kill == Some(BYTES_OUT) => {
                    installation.kill();
                    held.open();
                    while installation.next_report().await.is_some() {}
                    break;
                }
            }
        }
        self.played.died_again += usize::from(installation.is_killed().await);
        // Faults for reads that were not made are removed.
        self.scene.proxy.calm("GET");
    }

    /// Runs the shipped program; it is killed from outside while its get or the answer is on its way.
    async fn settle(&mut self, kill: Option<u8>) {
        self.scene.restart_machine();
        let gate = Gate::new();
        let at_proxy = match kill {
            None => None,
            Some(9 | BYTES_OUT) => Some(ProxyFault::swallowed(Then::Drop).held(&gate)),
            Some(_) => Some(ProxyFault::passed().behind(&gate)),
        };
        if let Some(at_proxy) = at_proxy {
            self.scene.proxy.next("GET", at_proxy);
        }
        let arguments = ["rotations", "check"];
        let mut program = groupdesk(self.scene, &arguments, TIMEOUT, &self.sink.command());
        let program = program.stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = program.spawn().expect("it starts");
        let pid = Pid::from_raw(program.id().expect("it runs") as i32).expect("a process id");
        let mut ended = pin!(program.wait_with_output());
        let output = tokio::select! {
            ended = &mut ended => ended,
            () = gate.reached(), if kill.is_some() => {
                kill_process(pid, Signal::KILL).expect("it runs");
                gate.open();
                ended.await
            }
        };
        let output = output.expect("it ran");
        for said in [&output.stdout, &output.stderr] {
            self.check_clean(&String::from_utf8_lossy(said));
        }
        self.scene.proxy.calm("GET");
        match output.status.code() {
            None => self.played.died_again += 1,
            Some(0 | 7) => {}
            Some(_) => self.wrong(format!("the program: {output:?}")),
        }
    }

    pub(super) fn wrong(&mut self, what: impl Into<String>) {
        self.played.wrong.push(what.into());
    }

    /// When a token is shown, another connection must find its fingerprint.
    fn check_durable(&mut self, shown: &str) {
        if !self.scene.is_durable(shown) {
            self.wrong("a token was shown before its fingerprint was durable");
        }
    }

    fn note(&mut self, what: &str, words: String) {
        self.check_clean(&words);
        if what == "failed" {
            self.played.failures.push(words);
        }
    }

    fn check_clean(&mut self, words: &str) {
        let secrets = self.scene.secrets();
        if secrets.iter().any(|secret| words.contains(secret)) {
            self.wrong("a secret was said");
        }
    }
}
