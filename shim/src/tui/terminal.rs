//! The terminal while a full-screen command has it: entered once, drawn to without flicker, and left clean on return, panic and signals.

use crate::output::Problem;
use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use loci_proto::error::Exit;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Rect, Size};
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use std::io::{self, IsTerminal, Stdout, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// The columns and rows that are drawn at most: a terminal may claim any size, and each cell takes memory.
const MAX_SIZE: Size = Size { width: 2000, height: 1000 };

/// Whether the terminal is in the alternate screen.
static ENTERED: AtomicBool = AtomicBool::new(false);
static PANIC_HOOK: Once = Once::new();

/// The terminal in the alternate screen and in raw mode, until dropped.
#[derive(Debug)]
pub struct FullScreen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl FullScreen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// When standard input or output is not a terminal, or it refuses.
    pub fn enter(command: &str, instead: &str) -> Result<Self, Problem> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            let message = format!("loci {command} needs a terminal");
            return Err(Problem::new(message).hint(instead).exit(Exit::Usage));
        }
        PANIC_HOOK.call_once(|| {
            let earlier = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                // The message must be readable, so it comes after the alternate screen is left.
                let _ = leave();
                earlier(panic);
            }));
        });
        enter()?;
        match drawn_area().and_then(blank) {
            Ok(terminal) => Ok(Self { terminal }),
            Err(error) => {
                leave()?;
                Err(error.into())
            }
        }
    }

    /// Draws one frame. The terminal shows it at once where it knows synchronised updates.
    ///
    /// # Errors
    /// The terminal cannot be written.
    pub fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        let area = drawn_area()?;
        queue!(io::stdout(), BeginSynchronizedUpdate)?;
        if self.terminal.get_frame().area() != area {
            self.clear()?;
        }
        let drawn = self.terminal.draw(render).map(|_| ());
        execute!(io::stdout(), EndSynchronizedUpdate)?;
        drawn
    }

    /// Returns whether the terminal has another size than the last frame. A signal of a new size can be lost: one that comes before it is
    /// waited for, for example.
    ///
    /// # Errors
    /// The terminal has no size.
    pub fn is_resized(&mut self) -> io::Result<bool> {
        Ok(self.terminal.get_frame().area() != drawn_area()?)
    }

    /// Draws everything again with the next frame.
    ///
    /// # Errors
    /// The terminal cannot be written.
    pub fn clear(&mut self) -> io::Result<()> {
        execute!(io::stdout(), Clear(ClearType::All))?;
        // A new terminal has an empty buffer. Its own `clear` would ask for the position of the cursor, and the thread that reads keys
        // could take the answer.
        self.terminal = blank(drawn_area()?)?;
        Ok(())
    }

    /// Gives the terminal back while `run` uses it, an editor for example.
    ///
    /// # Errors
    /// The terminal refuses.
    pub fn suspended<T>(&mut self, run: impl FnOnce() -> T) -> io::Result<T> {
        leave()?;
        let result = run();
        enter()?;
        self.clear()?;
        Ok(result)
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        let _ = leave();
    }
}

/// Returns the part of the terminal that is drawn.
fn drawn_area() -> io::Result<Rect> {
    let (width, height) = crossterm::terminal::size()?;
    Ok(Rect::new(0, 0, width.min(MAX_SIZE.width), height.min(MAX_SIZE.height)))
}

fn blank(area: Rect) -> io::Result<Terminal<CrosstermBackend<Stdout>>> {
    let options = TerminalOptions { viewport: Viewport::Fixed(area) };
    Terminal::with_options(CrosstermBackend::new(io::stdout()), options)
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    ENTERED.store(true, Ordering::SeqCst);
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, Hide)
}

fn leave() -> io::Result<()> {
    if !ENTERED.swap(false, Ordering::SeqCst) {
        return Ok(());
    }
    let written = execute!(
        io::stdout(),
        EndSynchronizedUpdate,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        Show
    );
    disable_raw_mode()?;
    io::stdout().flush()?;
    written
}
