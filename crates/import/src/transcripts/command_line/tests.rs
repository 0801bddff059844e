//! Which commands are worth knowing, and which are tries of the same.

use super::{CommandLine, Use};

fn line(text: &str) -> CommandLine {
    CommandLine::of(text).expect("it is one command")
}

#[test]
fn a_change_of_folder_and_a_filter_are_left_out() {
    let line = line("cd /shop && CI=1 pnpm test --run 2>&1 | tail -5");
    assert_eq!((line.text.as_str(), line.program.as_str()), ("CI=1 pnpm test --run", "pnpm"));
    assert!(line.usefulness() == Some(Use::Builder) && !line.only_looks());
}

#[test]
fn scripts_and_looks_are_recognised() {
    assert_eq!(CommandLine::of("for f in *; do\n cat $f\ndone"), None);
    assert_eq!(CommandLine::of("cat <<EOF"), None);
    for look in [
        "git status --short",
        "ls -la",
        "sudo cat /etc/hosts",
        "docker ps -a",
        "docker compose logs web",
        "kubectl get pods",
        "npm ls",
        "cargo --version",
        "FOO=1 sudo docker images",
        "pytest --help",
    ] {
        assert!(line(look).only_looks(), "{look}");
    }
    for change in
        ["git commit -m x", "docker compose up -d", "npm install", "make list", "go env -w X=1"]
    {
        assert!(!line(change).only_looks(), "{change}");
    }
    assert!(line("git commit -m x").only_records() && !line("git pull --rebase").only_records());
}

#[test]
fn scripts_of_the_project_and_tasks_of_any_tool_are_worth_knowing() {
    for text in [
        "./scripts/ship.sh staging",
        "./deploy.sh prod",
        "scripts/ship staging",
        "bin/test",
        "bash scripts/seed.sh",
        "fly deploy",
        "vercel --prod",
        "wrangler deploy",
        "kamal deploy",
        "git push heroku main",
        "buf generate",
        "alembic upgrade head",
        "gcloud run deploy",
        "nx test",
        "turbo build",
        "hatch test",
        "xcodebuild test",
        "flask run",
        "ansible-playbook site.yml",
        "sudo ./install.sh",
    ] {
        assert_eq!(line(text).usefulness(), Some(Use::Task), "{text}");
    }
    for text in [
        "tox",
        "tox -e py312",
        "ctest",
        "make",
        "pytest",
        "cargo test",
        "node server.js",
        "./gradlew test",
    ] {
        assert_eq!(line(text).usefulness(), Some(Use::Builder), "{text}");
    }
}

#[test]
fn navigation_looks_probes_and_care_of_versions_are_not() {
    for text in [
        "ls build",
        "cd scripts",
        "cat scripts/ship.sh",
        "grep test src/a.rs",
        "git status",
        "git diff",
        "git log",
        "git add .",
        "git commit -m build",
        "git push",
        "git push origin main",
        "git push -u origin test",
        "git checkout test",
        "echo deploy",
        "rm -rf build",
        "mkdir build",
        "cp -r build dist",
        "find . -name test",
        "docker ps",
        "kubectl get pods",
        "npm ls",
        "apt upgrade",
        "sudo apt-get upgrade",
        "brew upgrade",
        "pip install tox",
        "gh run list",
        "ssh prod ./deploy.sh",
        "curl http://localhost/test",
        "systemctl status build",
        "cargo",
        "fly logs",
        "wrangler --version",
        "python -c 'print(1)'",
        "node -e 1",
        "fly deploy | cat",
        "./a.out",
        "../deploy.sh",
        "/tmp/deploy.sh",
        "~/deploy.sh",
        "./node_modules/.bin/jest",
        "psql -c migrate",
        "sleep 5",
        "kill test",
        "test -f build",
    ] {
        if let Some(line) = CommandLine::of(text) {
            let taken = line.usefulness();
            assert_eq!(taken, None, "{text}");
        }
    }
}

#[test]
fn the_same_try_has_other_options_variables_or_programs_around_it() {
    for (failed, worked) in [
        ("go test ./...", "sg docker -c 'go test ./...'"),
        ("go test ./...", "sudo go test ./..."),
        ("go test ./...", "sudo -u postgres go test ./..."),
        ("bun run dev", "bun run dev --port 5180"),
        ("bun run dev", "PORT=5180 bun run dev"),
        ("npm test", "env CI=1 npm test"),
        ("pytest", "uv run pytest"),
        ("pytest -q", "timeout 60 poetry run pytest -x"),
        ("make build", "bash -lc \"make build\""),
        ("docker run -p 8080:80 web", "docker run -p 8081:80 web"),
        ("cargo build", "nice -n 10 cargo build --offline"),
    ] {
        assert!(line(failed).is_varied_by(&line(worked)), "{failed} / {worked}");
    }
    for (failed, worked) in [
        ("go test ./...", "go test ./internal/store"),
        ("go test ./...", "go test -run TestInsert ./..."),
        ("pytest", "pytest tests/unit/test_a.py"),
        ("pytest", "pytest -k insert"),
        ("pytest", "pytest --lf"),
        ("pytest", "pytest --help"),
        ("cargo build", "cargo test"),
        ("cargo test", "cargo test --no-run"),
        ("npm run dev", "npm run build"),
        ("make deploy", "make"),
        ("go test ./...", "sg docker -c 'go vet ./...'"),
        ("npm test", "npm install"),
        ("docker run web", "docker run db"),
        ("cat nofile", "cat file"),
    ] {
        assert!(!line(failed).is_varied_by(&line(worked)), "{failed} / {worked}");
    }
}

#[test]
fn an_option_of_help_is_one_only_without_a_value() {
    for text in ["cargo -h", "psql -V", "pg_dump --help"] {
        assert!(line(text).only_looks(), "{text}");
    }
    for text in ["pg_dump -h db.example.org -U tide telemetry", "redis-cli -h cache FLUSHALL"] {
        assert!(!line(text).only_looks(), "{text}");
    }
}
