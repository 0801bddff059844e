//! `loci setup`: writes loci into the configuration of clients after showing what changes, or takes it out again.
//!
//! Not here: what a client wants and how files are edited (`setup`).

use crate::cli::setup::Setup;
use crate::client::admin::{self, RequestError};
use crate::client::unreachable::Unreachable;
use crate::commands::model::has_key;
use crate::output::{Consent, Problem, Style, confirm, print_line, print_note};
use crate::setup::apply::apply;
use crate::setup::client::{Client, Context, Scope, Wishes};
use crate::setup::environment::{self, Environment};
use crate::setup::lock::SetupLock;
use crate::setup::manifest::Manifest;
use crate::setup::plan::{self, Plan};
use crate::setup::switches::{self, Switches};
use crate::setup::unrecorded::{self, Search};
use crate::setup::{files, report, trust};
use loci_proto::error::Exit;
use loci_proto::locale;
use loci_proto::paths::{self, Paths};
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Plans, shows, asks and writes.
///
/// # Errors
/// No client is installed, the user does not confirm, or a file cannot be written.
pub async fn run(args: &Setup) -> Result<ExitCode, Problem> {
    let paths = Paths::of_process()?;
    paths::refuse_foreign_home(&paths.home, nix::unistd::geteuid().as_raw())?;
    let environment = Environment::of_process().ok_or_else(|| {
        Problem::new("The home folder is unknown").hint("Set HOME to your home folder")
    })?;
    let loci = environment::own_path(&environment)?;
    if !args.remove {
        environment::check_text(&loci)?;
    }
    if args.print {
        return print(args, &environment, &loci);
    }
    // Held while the plan is shown too: a second plan would be made without the first one.
    let _lock = if args.dry_run { None } else { Some(SetupLock::take(&environment.home)?) };
    let mut manifest = Manifest::read(&paths.home)?;
    if !args.dry_run {
        let folders = unrecorded::folders(&manifest, &environment, &loci);
        files::remove_leftovers(folders.iter().chain([&paths.home]));
    }
    let mut plan = if args.remove {
        let (client, scope, force) = (args.client, args.scope, args.force);
        let search = Search { environment: &environment, loci: &loci, client, scope, force };
        plan::take_down(&manifest, &search)
    } else {
        set_up(args, &environment, &loci, &manifest)?
    };
    if args.client.is_some() && !plan.problems.is_empty() {
        return Err(plan.problems.remove(0).1);
    }
    if args.dry_run {
        return dry_run(args, &plan, &environment);
    }
    show(args, &plan, &environment)?;
    let switches = switches_of(args, &paths)?;
    switches.show(args)?;
    let is_changed = plan.changes.iter().any(|change| change.action() != "record")
        || !switches.changed.is_empty();
    if is_changed {
        warn_about(&loci);
        confirm(question(args), Consent::from(args.yes))?;
    }
    let code = write(args, plan, &mut manifest, &paths.home, &environment)?;
    switches.write(&paths).await?;
    Ok(code)
}

fn set_up(
    args: &Setup,
    environment: &Environment,
    loci: &Path,
    manifest: &Manifest,
) -> Result<Plan, Problem> {
    let clients = match args.client {
        Some(client) => vec![client],
        None => plan::installed(environment),
    };
    if clients.is_empty() {
        let problem = Problem::new("No client that loci knows is installed for this user");
        return Err(problem.hint("Name one, for example loci setup claude; or loci setup --print"));
    }
    let wishes = wishes(args);
    let has_hooks = plan::vscode_has_hooks(&clients, args.no_hooks, environment, manifest);
    let context = context(args, environment, loci, &wishes, has_hooks);
    Ok(plan::set_up(&clients, &context, manifest))
}

/// What `--with` changes in the configuration: a hook that is off there would do nothing.
struct NewSwitches {
    before: Option<String>,
    text: String,
    changed: Vec<String>,
    file: String,
}

fn switches_of(args: &Setup, paths: &Paths) -> Result<NewSwitches, Problem> {
    let before = if args.with.is_empty() { None } else { files::read(&paths.config)? };
    let file = paths.config.display().to_string();
    let switched = switches::switched_on(before.as_deref().unwrap_or_default(), &args.with);
    let (text, changed) = switched.map_err(|reason| {
        Problem::new(format!("{file}: {reason}")).hint("Nothing was written. Correct the file")
    })?;
    Ok(NewSwitches { before, text, changed, file })
}

impl NewSwitches {
    fn show(&self, args: &Setup) -> Result<(), Problem> {
        if args.json {
            return Ok(());
        }
        let lines = self.changed.iter().map(|key| format!("  {}: {key} = true", self.file));
        lines.collect::<Vec<_>>().into_iter().try_for_each(print_line)
    }

    /// Writes the file, and has a running daemon read it.
    async fn write(&self, paths: &Paths) -> Result<(), Problem> {
        if self.changed.is_empty() {
            return Ok(());
        }
        files::replace(&paths.config, self.before.as_deref(), &self.text)?;
        match admin::post(paths, "/reload").await {
            Ok(_) | Err(RequestError::Unreachable(Unreachable::Absent)) => Ok(()),
            Err(reason) => Err(reason.into()),
        }
    }
}

fn wishes(args: &Setup) -> Wishes {
    let config =
        Paths::of_process().ok().and_then(|paths| files::read(&paths.config).ok().flatten());
    Wishes {
        switches: Switches::of(&config.unwrap_or_default()),
        no_hooks: args.no_hooks,
        no_permission: args.no_permission,
        with: args.with.clone(),
        force: args.force,
    }
}

fn context<'a>(
    args: &Setup,
    environment: &'a Environment,
    loci: &'a Path,
    wishes: &'a Wishes,
    vscode_has_hooks: bool,
) -> Context<'a> {
    let scope = args.scope.unwrap_or(Scope::User);
    Context { environment, loci, scope, wishes, vscode_has_hooks }
}

/// Prints what would be put into the configuration.
fn print(args: &Setup, environment: &Environment, loci: &Path) -> Result<ExitCode, Problem> {
    let text = match args.client {
        None => report::generic(loci),
        Some(client) => {
            let wishes = wishes(args);
            report::configuration(client, &context(args, environment, loci, &wishes, false))?
        }
    };
    print_line(text.trim_end())?;
    if args.client.is_none() {
        let hint = "a client that speaks only HTTP needs another entry: run loci serve --http";
        print_note("Note:", hint);
    }
    Ok(Exit::Ok.into())
}

fn dry_run(args: &Setup, plan: &Plan, environment: &Environment) -> Result<ExitCode, Problem> {
    if args.json {
        print_line(report::json(plan, &environment.home, false).to_string())?;
    } else {
        let diff = report::diff(plan);
        print_line(if diff.is_empty() { "Nothing would change" } else { diff.trim_end() })?;
        plan.notes.iter().for_each(|(client, note)| print_note(&format!("{client}:"), note));
    }
    Ok(exit_code(plan))
}

fn show(args: &Setup, plan: &Plan, environment: &Environment) -> Result<(), Problem> {
    if args.json {
        return Ok(());
    }
    let text = report::text(plan, &environment.home, Style::of(&io::stdout()));
    if text.is_empty() {
        return print_line("loci setup has written nothing, so there is nothing to remove");
    }
    print_line(text.trim_end())
}

fn question(args: &Setup) -> &'static str {
    if args.remove { "Remove this?" } else { "Write this?" }
}

/// Warns about a program that will not stay where it is, and about a store that other programs do not find.
fn warn_about(loci: &Path) {
    if environment::is_build(loci) {
        let note = format!(
            "{} is in a folder in which cargo builds, and cargo clean removes it. Install loci, then run loci setup again",
            loci.display()
        );
        print_note("Warning:", &note);
    }
    for name in ["LOCI_HOME", "LOCI_DB"] {
        if std::env::var_os(name).is_some_and(|value| !value.is_empty()) {
            let note = format!(
                "{name} is set here. A client that is started elsewhere does not see it and uses ~/.loci"
            );
            print_note("Warning:", &note);
        }
    }
}

/// Makes the changes, then says what the user still has to do. After a change that fails, the other clients are still written.
fn write(
    args: &Setup,
    mut plan: Plan,
    manifest: &mut Manifest,
    home: &Path,
    environment: &Environment,
) -> Result<ExitCode, Problem> {
    let is_codex = plan.clients.contains(&Client::Codex) && !args.remove;
    let mut failed: Vec<(Client, Problem)> = Vec::new();
    plan.changes.retain(|change| {
        let has_failed = failed.iter().any(|(client, _)| *client == change.client);
        if has_failed && !args.remove {
            return false;
        }
        match apply(change, manifest, home) {
            Ok(()) => true,
            Err(problem) => {
                failed.push((change.client, problem));
                false
            }
        }
    });
    for (client, problem) in &failed {
        print_note(&format!("{client}:"), &problem.message());
        if let Some(hint) = problem.next_step() {
            print_note("Hint:", hint);
        }
    }
    plan.problems.extend(failed);
    let code = exit_code(&plan);
    let count = plan.changes.iter().filter(|change| change.action() != "record").count();
    if args.json {
        print_line(report::json(&plan, &environment.home, true).to_string())?;
        return Ok(code);
    }
    match count {
        0 => {}
        1 => print_line("1 file changed")?,
        count => print_line(format!("{count} files changed"))?,
    }
    if is_codex {
        tell_trust(environment)?;
    }
    if count > 0 && !args.remove {
        print_line("Restart the clients, then check with loci doctor")?;
        offer_model(home);
    }
    Ok(code)
}

/// Offers a model of many languages where the system speaks another language than English and no model is configured.
fn offer_model(home: &Path) {
    let is_default = Paths::of_process().is_ok_and(|paths| {
        let config = files::read(&paths.config).ok().flatten().unwrap_or_default();
        paths.home == home && !has_key(&config, "model")
    });
    if let Some(language) = locale::foreign_language().filter(|_| is_default) {
        let note = format!(
            "the default model reads English. If you write in another language ({language}), run loci model use multilingual"
        );
        print_note("Note:", &note);
    }
}

/// Asks Codex which hooks it runs.
fn tell_trust(environment: &Environment) -> Result<(), Problem> {
    let Some(hooks) = trust::hooks(environment) else { return Ok(()) };
    let waiting = hooks.iter().filter(|hook| !hook.runs).count();
    if waiting == 0 {
        return print_line(format!("Codex runs all {} hooks of loci", hooks.len()));
    }
    print_line(format!(
        "Codex does not run {waiting} of {} hooks of loci yet: type /hooks in Codex and approve them",
        hooks.len()
    ))
}

fn exit_code(plan: &Plan) -> ExitCode {
    if plan.problems.is_empty() { Exit::Ok.into() } else { Exit::Failed.into() }
}
