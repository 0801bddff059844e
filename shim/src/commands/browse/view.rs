//! Draws what `loci browse` shows. Only the visible rows are laid out, so the time of a frame does not grow with the store.

use crate::commands::browse::keys::HELP;
use crate::commands::browse::picker::Picker;
use crate::commands::browse::state::{Focus, Popup, Row, State};
use crate::output::{Ink, MemoryRow, Terms, bar, escape_line, local_time, short_id};
use crate::tui::line::{InkLine, spans_of};
use crate::tui::theme::Theme;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Paragraph, Wrap};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// From this width on, the memory is beside the list.
const MIN_WIDTH_OF_TWO_PANES: u16 = 100;
/// The smallest terminal that is drawn.
const MIN_SIZE: (u16, u16) = (40, 8);
/// Width of a bar.
const BAR_WIDTH: usize = 4;

/// Draws everything.
pub fn render(frame: &mut Frame<'_>, state: &mut State, theme: Theme) {
    let area = frame.area();
    if area.width < MIN_SIZE.0 || area.height < MIN_SIZE.1 {
        frame.render_widget(Paragraph::new("The terminal is too small"), area);
        return;
    }
    let [top, filters, body, bottom] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(1),
    ])
    .areas(area);
    render_query(frame, state, theme, top);
    render_filters(frame, state, theme, filters);
    let terms = Terms::of_query(&state.filters.query);
    let border = if state.focus == Focus::Detail { Ink::Bold } else { Ink::Dim };
    if area.width >= MIN_WIDTH_OF_TWO_PANES {
        let [list, detail] =
            Layout::horizontal([Constraint::Percentage(48), Constraint::Fill(1)]).areas(body);
        render_list(frame, state, theme, (list, &terms));
        let block = Block::new().borders(Borders::LEFT).border_style(theme.style(border));
        let inner = block.inner(detail);
        frame.render_widget(block, detail);
        let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(1), ..inner };
        render_detail(frame, state, theme, (inner, &terms));
    } else if state.focus == Focus::Detail {
        render_detail(frame, state, theme, (body, &terms));
    } else {
        render_list(frame, state, theme, (body, &terms));
    }
    render_bottom(frame, state, theme, bottom);
    render_popup(frame, state, theme, body);
}

fn render_query(frame: &mut Frame<'_>, state: &State, theme: Theme, area: Rect) {
    let query = escape_line(&state.filters.query);
    let is_typing = state.focus == Focus::Search;
    let mut spans = vec![Span::styled(" / ", theme.style(Ink::Bold))];
    if query.is_empty() && !is_typing {
        spans.push(Span::styled("press / to search", theme.style(Ink::Dim)));
    } else {
        // The end of a long query is visible, where it is typed.
        let room = usize::from(area.width).saturating_sub(16);
        spans.push(Span::raw(end_of(&query, room).to_owned()));
    }
    let shown = spans.iter().map(Span::width).sum::<usize>();
    frame.render_widget(Line::from(spans), area);
    let count = count_text(state);
    let width = u16::try_from(count.width()).unwrap_or_default();
    if width + 2 < area.width {
        let right = Rect { x: area.right() - width - 1, width, ..area };
        frame.render_widget(Span::styled(count, theme.style(Ink::Dim)), right);
    }
    if is_typing && state.popup.is_none() {
        let x = area.x + u16::try_from(shown).unwrap_or_default();
        frame.set_cursor_position(Position { x: x.min(area.right() - 1), y: area.y });
    }
}

fn count_text(state: &State) -> String {
    let at = if state.rows.is_empty() { 0 } else { state.selected + 1 };
    match (state.loading, state.total) {
        (true, None) if state.rows.is_empty() => "loading…".to_owned(),
        (_, Some(total)) if state.filters.query.is_empty() => format!("{at} of {total}"),
        (true, _) => format!("{at} of …"),
        (false, _) if state.next.is_some() => format!("{at} of {}+", state.rows.len()),
        (false, _) => format!("{at} of {}", state.rows.len()),
    }
}

/// Returns the end of a text that fits `width`.
fn end_of(text: &str, width: usize) -> &str {
    let mut start = text.len();
    for (at, _) in text.grapheme_indices(true).rev() {
        if text[at..].width() > width {
            break;
        }
        start = at;
    }
    &text[start..]
}

/// Returns the beginning of a text that fits `width`.
fn start_of(text: &str, width: usize) -> &str {
    if text.width() <= width {
        return text;
    }
    let mut end = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        if text[..at + grapheme.len()].width() > width {
            break;
        }
        end = at + grapheme.len();
    }
    &text[..end]
}

fn render_filters(frame: &mut Frame<'_>, state: &State, theme: Theme, area: Rect) {
    let filters = &state.filters;
    let mut spans = vec![Span::raw(" ")];
    let mut add = |name: &'static str, value: String, ink: Option<Ink>| {
        spans.push(Span::styled(format!("{name} "), theme.style(Ink::Dim)));
        spans.push(Span::styled(value, ink.map_or(Style::new(), |ink| theme.style(ink))));
        spans.push(Span::raw("   "));
    };
    let kind = filters.kind.map_or_else(|| "all".to_owned(), |kind| kind.to_string());
    add("project", escape_line(&filters.project.to_string()), None);
    add("type", kind, filters.kind.map(Ink::Type));
    let client = filters.client.as_deref().map_or_else(|| "all".to_owned(), escape_line);
    add("client", client, None);
    add("status", filters.status.to_owned(), None);
    let order =
        if filters.query.trim().is_empty() { filters.order_name() } else { "best, then newest" };
    add("order", order.to_owned(), None);
    frame.render_widget(Line::from(spans), area);
}

fn render_list(
    frame: &mut Frame<'_>,
    state: &mut State,
    theme: Theme,
    (area, terms): (Rect, &Terms),
) {
    if state.rows.is_empty() {
        let text = match (&state.lost, state.loading) {
            (Some(_), _) => "",
            (None, true) => "  loading…",
            (None, false) => "  No memory matches. 0 removes the filters; / changes the query.",
        };
        let text = Paragraph::new(Span::styled(text, theme.style(Ink::Dim)));
        frame.render_widget(text.wrap(Wrap { trim: false }), area);
        return;
    }
    // A row is a line of details and a line of text.
    let visible = usize::from(area.height / 2).max(1);
    state.scroll_to_selected(visible);
    let has_bars =
        state.rows.iter().skip(state.offset).take(visible).any(|row| row.share.is_some());
    for (place, row) in state.rows.iter().enumerate().skip(state.offset).take(visible) {
        let y = area.y + 2 * u16::try_from(place - state.offset).unwrap_or_default();
        let is_selected = place == state.selected;
        let lines = row_lines(row, has_bars, theme, (usize::from(area.width), terms));
        for (at, line) in lines.into_iter().enumerate() {
            let y = y + u16::try_from(at).unwrap_or_default();
            if y >= area.bottom() {
                break;
            }
            let line_area = Rect { y, height: 1, ..area };
            if is_selected && at == 0 {
                frame.buffer_mut().set_style(line_area, theme.selected());
            }
            frame.render_widget(line, line_area);
        }
    }
}

fn row_lines(
    row: &Row,
    has_bars: bool,
    theme: Theme,
    (width, terms): (usize, &Terms),
) -> [Line<'static>; 2] {
    let shown = MemoryRow::from(&row.memory);
    let day = shown.at.as_deref().map(local_time::date).unwrap_or_default();
    let mut details = vec![
        Span::raw(" "),
        Span::styled(format!("{}  ", short_id(&shown.id)), theme.style(Ink::Dim)),
        Span::styled(
            format!("{:<10}  ", row.memory.kind.as_str()),
            theme.style(Ink::Type(row.memory.kind)),
        ),
        Span::styled(format!("{day}  "), theme.style(Ink::Dim)),
    ];
    if has_bars {
        let bar = row.share.map_or(String::new(), |share| bar(share, BAR_WIDTH));
        let padding = " ".repeat(BAR_WIDTH.saturating_sub(bar.width()));
        details.push(Span::styled(format!("{bar}{padding}  "), theme.style(Ink::Green)));
    }
    let used: usize = details.iter().map(Span::width).sum();
    let project = shown.project.as_deref().map_or_else(|| "-".to_owned(), escape_line);
    let project = start_of(&project, width.saturating_sub(used + 1)).to_owned();
    let marks = shown.marks.join(", ");
    let left = width.saturating_sub(used + project.width() + 4);
    details.push(Span::raw(project));
    if !marks.is_empty() && left > 4 {
        let marks = escape_line(&marks);
        details
            .push(Span::styled(format!("  {}", start_of(&marks, left)), theme.style(Ink::Yellow)));
    }
    let text = crate::output::row_passage(&shown.text, terms, width.saturating_sub(4));
    let marks = terms.ranges(&text).into_iter().map(|range| (range, Ink::Bold)).collect();
    let mut spans = vec![Span::raw("   ")];
    spans.extend(spans_of(&InkLine { text, marks }, theme));
    [Line::from(details), Line::from(spans)]
}

fn render_detail(
    frame: &mut Frame<'_>,
    state: &mut State,
    theme: Theme,
    (area, terms): (Rect, &Terms),
) {
    let has_focus = state.focus == Focus::Detail;
    let Some(detail) = &mut state.detail else { return };
    let width = usize::from(area.width.saturating_sub(1));
    let lines = detail.lines(width, terms);
    let height = usize::from(area.height);
    if let Some(selected) = detail.selected.filter(|_| has_focus)
        && let Some(at) = lines.iter().position(|line| line.lead == Some(selected))
    {
        if at < detail.scroll {
            detail.scroll = at;
        }
        if at >= detail.scroll + height {
            detail.scroll = at + 1 - height;
        }
    }
    detail.scroll = detail.scroll.min(lines.len().saturating_sub(height));
    let selected = detail.selected.filter(|_| has_focus);
    let shown = lines.iter().skip(detail.scroll).take(height);
    let shown: Vec<Line<'_>> = shown
        .map(|line| {
            let spans = Line::from(spans_of(&line.line, theme));
            let is_selected = selected.is_some() && line.lead == selected;
            if is_selected { spans.style(theme.selected()) } else { spans }
        })
        .collect();
    frame.render_widget(Paragraph::new(shown), area);
}

fn render_bottom(frame: &mut Frame<'_>, state: &State, theme: Theme, area: Rect) {
    let line = if let Some(lost) = &state.lost {
        let text = format!(" The daemon does not answer; reconnecting… ({lost})");
        Line::styled(text, theme.style(Ink::Red))
    } else if let Some(message) = &state.message {
        Line::styled(format!(" {}", escape_line(&message.text)), theme.style(message.ink))
    } else if let Some(note) = state.note.as_ref().filter(|_| state.focus == Focus::Search) {
        Line::styled(format!(" {}", escape_line(note)), theme.style(Ink::Yellow))
    } else {
        let keys = match state.focus {
            Focus::Search => {
                "type to search   Enter list and keys   ↑↓ move   Ctrl-U clear   Ctrl-C quit"
            }
            Focus::List => {
                "? help  q quit  / search  ↵ read  t type  p project  c client  e edit  i pin  d forget  u undo"
            }
            Focus::Detail => {
                "? help  q quit  ← back  ↑↓ relations  ↵ follow  e edit  i pin  d forget  u undo"
            }
        };
        let keys = start_of(keys, usize::from(area.width.saturating_sub(1)));
        Line::styled(format!(" {keys}"), theme.style(Ink::Dim))
    };
    frame.render_widget(line, area);
}

fn render_popup(frame: &mut Frame<'_>, state: &State, theme: Theme, body: Rect) {
    let Some(popup) = &state.popup else { return };
    let (title, lines) = match popup {
        Popup::Help => (" Keys ", help_lines(theme)),
        Popup::Picker(picker) => ("", picker_lines(picker, theme, body)),
        Popup::Confirm(question, _) => {
            let yes = Line::styled("y yes   n no", theme.style(Ink::Bold));
            (" Confirm ", vec![Line::raw(question.clone()), Line::raw(""), yes])
        }
    };
    let title = match popup {
        Popup::Picker(picker) => format!(" {} ", picker.title),
        _ => title.to_owned(),
    };
    let width = lines.iter().map(Line::width).max().unwrap_or_default().max(title.len() + 2) + 4;
    let width = u16::try_from(width).unwrap_or(u16::MAX).min(body.width);
    let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX).min(body.height);
    let area = Rect {
        x: body.x + (body.width - width) / 2,
        y: body.y + (body.height - height) / 3,
        width,
        height,
    };
    let block = Block::bordered().title(title).border_style(theme.style(Ink::Bold));
    frame.render_widget(Clear, area);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    frame.render_widget(Paragraph::new(lines), inner);
}

fn help_lines(theme: Theme) -> Vec<Line<'static>> {
    let line = |(keys, what): &(&'static str, &'static str)| {
        let padding = " ".repeat(24usize.saturating_sub(keys.width()));
        Line::from(vec![
            Span::styled(*keys, theme.style(Ink::Bold)),
            Span::raw(padding),
            Span::raw(*what),
        ])
    };
    HELP.iter().map(line).collect()
}

fn picker_lines(picker: &Picker, theme: Theme, body: Rect) -> Vec<Line<'static>> {
    let room = usize::from(body.height).saturating_sub(4).clamp(1, 16);
    let first = picker.selected.saturating_sub(room - 1);
    let typed = Line::from(vec![
        Span::styled("/ ", theme.style(Ink::Bold)),
        Span::raw(escape_line(&picker.typed)),
        Span::styled("▏", theme.style(Ink::Dim)),
        Span::raw(" ".repeat(24)),
    ]);
    let matching = picker.matching();
    let options = matching.iter().enumerate().skip(first).take(room).map(|(at, (name, _))| {
        let line = Line::raw(escape_line(name));
        if at == picker.selected { line.style(theme.selected()) } else { line }
    });
    std::iter::once(typed).chain(options).collect()
}
