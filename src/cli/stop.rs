//! Ctrl-C, SIGTERM, and the terminal's end (SIGHUP): the first one asks the work to stop, the second one ends the program at once.

use super::{CliError, exit, out};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};

/// Listens from now on. The value turns true when the work is to stop. A thread of its own, so that a signal is heard
/// while the work does something that doesn't wait.
pub(super) fn listen() -> Result<watch::Receiver<bool>, CliError> {
    let (sender, receiver) = watch::channel(false);
    let failed = |error: std::io::Error| CliError::failed(format!("signals can't be listened to ({error})"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    let listen = |kind| {
        let _inside = runtime.enter();
        signal(kind).map_err(failed)
    };
    let mut interrupts = listen(SignalKind::interrupt())?;
    let mut terminations = listen(SignalKind::terminate())?;
    let mut hangups = listen(SignalKind::hangup())?;
    std::thread::spawn(move || {
        runtime.block_on(async move {
            for _ in 0..2 {
                tokio::select! {
                    _ = interrupts.recv() => {}
                    _ = terminations.recv() => {}
                    _ = hangups.recv() => {}
                }
                if *sender.borrow() {
                    std::process::exit(exit::INTERRUPTED.into());
                }
                // Said first: who hears of it may end the program at once.
                out::talk("stopping; once more to end at once");
                sender.send_replace(true);
            }
        });
    });
    Ok(receiver)
}
