//! A program in a pseudo-terminal whose screen a test reads as a person would: the output goes through an emulator.

use crate::in_time::ExitInTime;
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::termios::{LocalFlags, tcgetattr};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long a screen may take to come.
const PATIENCE: Duration = Duration::from_secs(30);

/// Keeps the signal of a new size from a program: it inherits the mask.
pub fn without_signals_of_size(command: &mut Command) {
    let masked = || {
        let mut mask = SigSet::empty();
        mask.add(Signal::SIGWINCH);
        mask.thread_block().map_err(std::io::Error::from)
    };
    // SAFETY: the call is safe between fork and exec.
    unsafe { command.pre_exec(masked) };
}

/// The program and its screen.
pub struct Terminal {
    child: Child,
    master: File,
    // Open, so that the modes of the terminal can be read after the program has ended.
    slave: File,
    output: Receiver<Vec<u8>>,
    parser: vt100::Parser,
    /// Everything that was written.
    pub raw: Vec<u8>,
}

impl Terminal {
    /// Starts a program in a terminal of this size.
    pub fn start(command: Command, columns: u16, rows: u16) -> Self {
        Self::start_claiming(command, (columns, rows), (columns, rows))
    }

    /// The same, where the terminal tells the program another size than that of the screen.
    pub fn start_claiming(
        mut command: Command,
        (columns, rows): (u16, u16),
        screen: (u16, u16),
    ) -> Self {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(Some(&size), None).expect("the terminal opens");
        let slave = File::from(pty.slave);
        let end = || slave.try_clone().expect("the descriptor is cloned");
        command.stdin(end()).stdout(end()).stderr(end());
        // SAFETY: only calls that are safe between fork and exec.
        unsafe {
            command.pre_exec(|| {
                nix::unistd::setsid()?;
                // The terminal sends signals, of its size for example, to the program alone.
                if libc::ioctl(0, libc::TIOCSCTTY, 0) == -1 {
                    return Err(std::io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let child = command.spawn().expect("the program starts");
        let master = File::from(pty.master);
        let mut reading = master.try_clone().expect("the descriptor is cloned");
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 65_536];
            while let Ok(length) = reading.read(&mut buffer) {
                if length == 0 || sender.send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        let parser = vt100::Parser::new(screen.1, screen.0, 0);
        Self { child, master, slave, output, parser, raw: Vec::new() }
    }

    /// Types keys.
    pub fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).expect("the terminal accepts input");
    }

    /// Gives the terminal another size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: the descriptor is open, and the structure is that of the request.
        let set =
            unsafe { libc::ioctl(self.master.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) };
        assert_eq!(set, 0, "the size is set");
        self.parser.screen_mut().set_size(rows, columns);
    }

    /// Returns the screen as text.
    pub fn screen(&self) -> String {
        let rows = self.parser.screen().rows(0, self.parser.screen().size().1);
        rows.map(|row| row.trim_end().to_owned() + "\n").collect::<String>().trim_end().to_owned()
    }

    /// Returns whether the program has the alternate screen.
    pub fn is_full_screen(&self) -> bool {
        self.parser.screen().alternate_screen()
    }

    /// Reads until the screen contains a text; returns the screen.
    pub fn wait_for(&mut self, text: &str) -> String {
        self.wait_until(text, |screen| screen.contains(text))
    }

    /// Reads until the screen no longer contains a text; returns the screen.
    pub fn wait_without(&mut self, text: &str) -> String {
        self.wait_until(&format!("no {text}"), |screen| !screen.contains(text))
    }

    fn wait_until(&mut self, what: &str, is_met: impl Fn(&str) -> bool) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if is_met(&screen) {
                return screen;
            }
            match self.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.take(&bytes),
                Err(error) => panic!("{what:?} did not come ({error}):\n{screen}"),
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
        self.raw.extend(bytes);
    }

    /// Sends a signal to the program.
    pub fn signal(&self, signal: Signal) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).expect("a pid"));
        nix::sys::signal::kill(pid, signal).expect("the signal is sent");
    }

    /// Waits for the end of the program; returns its status after checking that the terminal is as it was: no alternate screen, a
    /// visible cursor, lines and echo.
    pub fn end(&mut self) -> (ExitStatus, String) {
        let status = self.child.exit_in_time().expect("the program ends");
        // The reading thread ends with the terminal, which this holds open: what was written has arrived after a while without more.
        while let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(300)) {
            self.take(&bytes);
        }
        let screen = self.parser.screen();
        assert!(!screen.alternate_screen(), "the alternate screen is left");
        assert!(!screen.hide_cursor(), "the cursor is visible");
        assert!(!screen.bracketed_paste(), "pasting is as usual");
        let modes = tcgetattr(&self.slave).expect("the modes are read").local_flags;
        assert!(modes.contains(LocalFlags::ICANON | LocalFlags::ECHO), "{modes:?}");
        (status, self.screen())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.exit_in_time();
    }
}
