//! `loci top`: the running daemon, live: sessions, calls, latencies, queues, injections, growth. `--once` prints one frame.

mod frame;
mod sample;

use crate::cli::daemon::Top;
use crate::commands::ctl::status;
use crate::output::local_time::clock;
use crate::output::{Problem, Screen, print_line};
use crate::tui::input::{EndSignals, Input};
use crate::tui::line::to_screen;
use crate::tui::terminal::FullScreen;
use crate::tui::theme::Theme;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use loci_proto::error::Exit;
use loci_proto::paths::Paths;
use ratatui::text::Text;
use ratatui::widgets::Paragraph;
use sample::Samples;
use std::process::ExitCode;
use std::time::Duration;

/// Shows the daemon until the person quits. Never starts one.
///
/// # Errors
/// There is no terminal; with `--once` also when no daemon answers.
pub async fn run(args: Top) -> Result<ExitCode, Problem> {
    let paths = Paths::of_process()?;
    let interval = Duration::from_millis(u64::from(args.interval_ms));
    if args.once {
        let mut samples = Samples::default();
        samples.add(status::fetch(&paths).await?);
        let screen = Screen::of_stdout();
        let lines = frame::lines(&samples, screen.width);
        let text: Vec<String> = lines.iter().map(|line| line.painted(screen)).collect();
        print_line(text.join("\n").trim_end())?;
        return Ok(Exit::Ok.into());
    }
    let mut screen = FullScreen::enter("top", "`loci top --once` prints one frame")?;
    let mut signals = EndSignals::catch()?;
    let (mut input, theme) = (Input::start(), Theme::of_terminal());
    let mut samples = Samples::default();
    let mut scroll = 0u16;
    loop {
        match status::fetch(&paths).await {
            Ok(status) => samples.add(status),
            Err(reason) => samples.lose(&Problem::from(reason).message()),
        }
        let next = tokio::time::sleep(interval);
        tokio::pin!(next);
        loop {
            screen.draw(|frame| {
                let area = frame.area();
                let mut lines = frame::lines(&samples, usize::from(area.width));
                if let Some(title) = lines.first_mut() {
                    title.text += "   ";
                    title.text += &clock();
                    title.text += "   q quits";
                    title.cut(usize::from(area.width));
                }
                let last =
                    u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_sub(area.height);
                scroll = scroll.min(last);
                let lines: Vec<_> = lines.iter().map(|line| to_screen(line, theme)).collect();
                frame.render_widget(Paragraph::new(Text::from(lines)).scroll((scroll, 0)), area);
            })?;
            tokio::select! {
                event = input.next() => match event {
                    None => return Ok(Exit::Ok.into()),
                    Some(Event::Key(key)) if quits(key) => return Ok(Exit::Ok.into()),
                    Some(Event::Key(key)) => match key.code {
                        KeyCode::Down | KeyCode::Char('j') => scroll = scroll.saturating_add(1),
                        KeyCode::Up | KeyCode::Char('k') => scroll = scroll.saturating_sub(1),
                        _ => {}
                    },
                    Some(_) => {}
                },
                code = signals.next() => return Ok(ExitCode::from(code)),
                () = &mut next => break,
            }
        }
    }
}

fn quits(key: KeyEvent) -> bool {
    let with_control = key.modifiers.contains(KeyModifiers::CONTROL);
    matches!(key.code, KeyCode::Char('q') | KeyCode::Esc)
        || with_control && key.code == KeyCode::Char('c')
}
