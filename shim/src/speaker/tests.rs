//! Tests of the decision who speaks.

use super::*;

fn process(arguments: &[&str]) -> Process {
    let name = arguments[0].rsplit('/').next().unwrap_or_default().chars().take(15).collect();
    Process { id: 7, name, arguments: arguments.iter().map(|one| (*one).to_owned()).collect() }
}

/// A person's shell in a terminal.
fn at_terminal() -> Evidence {
    let above = ["-zsh", "tmux: server", "/usr/lib/systemd/systemd"].map(|one| process(&[one]));
    Evidence { variables: Vec::new(), above: Some(above.to_vec()), has_terminal: true }
}

fn with(variables: &[(&str, &str)], evidence: Evidence) -> Evidence {
    let given = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Evidence { variables: given.collect(), ..evidence }
}

fn below(arguments: &[&str]) -> Evidence {
    let above = [process(&["sh", "-c", "loci add x"]), process(arguments), process(&["-bash"])];
    Evidence { above: Some(above.to_vec()), ..at_terminal() }
}

#[test]
fn every_variable_of_every_client_marks_its_agent_even_at_a_terminal() {
    for client in CLIENTS {
        for mark in client.variables {
            let (name, value) = mark.split_once('=').unwrap_or((mark, "1"));
            let caller = with(&[(name, value), (SWITCH, "1")], at_terminal()).decide();
            assert_eq!(caller.speaker, Speaker::Agent(client.name.to_owned()), "{mark}");
            assert_eq!(caller.because, format!("{name} is set"));
        }
        for program in client.programs {
            let caller = with(&[(SWITCH, "1")], below(&[program, "--yolo"])).decide();
            assert_eq!(caller.speaker, Speaker::Agent(client.name.to_owned()), "{program}");
        }
    }
}

#[test]
fn a_client_is_known_by_its_program_its_script_and_its_package() {
    for (arguments, expected) in [
        (&["/opt/homebrew/bin/codex", "exec"][..], "codex"),
        (&["node", "/usr/local/bin/gemini"], "gemini-cli"),
        (&["/usr/bin/node", "--no-warnings=DEP0040", "/usr/local/bin/gemini", "-y"], "gemini-cli"),
        (&["node", "/x/node_modules/@anthropic-ai/claude-code/cli.js"], "claude-code"),
        (&["node", "/x/node_modules/@openai/codex/bin/codex.js"], "codex"),
        (&["python3", "-m", "aider"], "aider"),
        (&["/home/u/venv/bin/python3", "/home/u/venv/bin/aider", "--yes"], "aider"),
        (&["/home/u/.local/share/cursor-agent/versions/1/node", "/x/index.js"], "cursor"),
        (&["/Applications/Claude.app/Contents/MacOS/Claude"], "claude-code"),
        (&["bash", "/usr/local/bin/opencode", "run"], "opencode"),
        (&["copilot.exe"], "copilot"),
    ] {
        let caller = below(arguments).decide();
        assert_eq!(caller.speaker, Speaker::Agent(expected.to_owned()), "{arguments:?}");
        assert_eq!(caller.because, format!("process 7 above it is {expected}"));
    }
}

#[test]
fn editors_terminals_and_files_of_such_names_are_a_persons() {
    for arguments in [
        &["/usr/share/code/code"][..],
        &["/opt/Cursor/cursor", "--type=zygote"],
        &["/usr/bin/zed"],
        &["vim", "/home/u/codex"],
        &["bash", "-c", "cat claude && loci add x"],
        &["node", "/home/u/codex/scripts/release.js"],
        &["sshd: u@pts/0"],
        &["claudette"],
    ] {
        assert_eq!(below(arguments).decide().speaker, Speaker::Person, "{arguments:?}");
    }
    for variables in [
        &[("TERM_PROGRAM", "vscode"), ("VSCODE_IPC_HOOK_CLI", "/x"), ("VSCODE_INJECTION", "1")][..],
        &[("CURSOR_TRACE_ID", "abc"), ("TERM_PROGRAM", "vscode")],
        &[("CURSOR_EXTENSION_HOST_ROLE", "user")],
        &[("TERMINAL_EMULATOR", "JetBrains-JediTerm")],
        &[("ZED_TERM", "true"), ("TERM_PROGRAM", "zed")],
        &[("CLAUDE_CODE_SSE_PORT", "4711"), ("ENABLE_IDE_INTEGRATION", "true")],
        &[("GEMINI_CLI_IDE_SERVER_PORT", "4711"), ("GEMINI_API_KEY", "x")],
        &[("CODEX_HOME", "/x"), ("COPILOT_MODEL", "x"), ("GOOSE_PROVIDER", "x")],
        &[("CLAUDECODE", ""), ("AGENT", "0"), ("CODEX_CI", "false")],
    ] {
        let caller = with(variables, at_terminal()).decide();
        assert_eq!(caller.speaker, Speaker::Person, "{variables:?}: {}", caller.because);
    }
}

#[test]
fn what_is_unknown_is_a_script_until_its_person_says_otherwise() {
    let blind = |has_terminal| Evidence { above: None, has_terminal, ..Evidence::default() };
    let without_terminal = || Evidence { has_terminal: false, ..at_terminal() };
    for evidence in [without_terminal(), blind(true), blind(false)] {
        assert_eq!(evidence.decide().speaker, Speaker::Script, "{evidence:?}");
        let own = with(&[(SWITCH, "1")], evidence.clone()).decide();
        assert_eq!((own.is_person(), own.because.as_str()), (true, "LOCI_PERSON is set"));
        let off = with(&[(SWITCH, "0")], evidence).decide();
        assert!(off.sentence().contains("LOCI_PERSON=1"), "{}", off.sentence());
    }
    assert_eq!(at_terminal().decide().stored_as(), None);
}
