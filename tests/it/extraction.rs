//! Documents are read in processes of their own: what a document does to its reader costs that document, or that page, and
//! never the job, the worker or the batch. The misbehaviour is put into the real reader by a failpoint.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use crate::cli_run::{PROGRAM, TestDir};
use crate::support::white_png;
use overnight_core::job::spec::{DocumentEntry, JobSpec};
use serde_json::{Value, json};
use std::{
    fs,
    io::{ErrorKind, Write},
    net::TcpListener,
    os::unix::{fs::PermissionsExt, process::ExitStatusExt},
    path::Path,
    process::Output,
};

/// So many pages, each with one sentence that the rules find, and one byte that is no UTF-8: what is UTF-8 needs no reader.
fn pages(count: usize) -> Vec<u8> {
    const ACTS: [&str; 12] = [
        "open the gate",
        "count the crates",
        "weigh each load",
        "sign the list",
        "lock the vault",
        "ring the bell",
        "feed the dog",
        "read the meter",
        "sweep the yard",
        "close the hatch",
        "log the hour",
        "call the guard",
    ];
    let pages = ACTS[..count].iter().map(|act| format!("The keeper MUST {act}.")).collect::<Vec<_>>().join("\n\u{c}");
    [b"# Caf\xe9\n\n", pages.as_bytes()].concat()
}

/// Runs a job on `docs/keeper.txt`, with a reader that misbehaves as `how` says; what its record says of the document.
fn read_with(dir: &TestDir, how: &str) -> Result<(DocumentEntry, Vec<u64>), String> {
    let failpoints = format!("extraction.page={how}");
    let ran = dir.run_with(
        &[("FAILPOINTS", &failpoints)],
        &["run", "extract-requirements", "--documents", "docs/keeper.txt", "--json", "--quiet"],
    );
    if ran.code != 0 {
        return Err(format!("{} {}", ran.code, ran.stderr.trim()));
    }
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    let workspace = Path::new(result["workspace"].as_str().unwrap());
    let spec: JobSpec = serde_yaml::from_str(&fs::read_to_string(workspace.join("job.yaml")).unwrap()).unwrap();
    let found: Value =
        serde_json::from_str(&fs::read_to_string(workspace.join("output/requirements.json")).unwrap()).unwrap();
    let pages = found["requirements"].as_array().unwrap().iter().map(|one| one["page"].as_u64().unwrap()).collect();
    Ok((spec.documents[0].clone(), pages))
}

fn dir(count: usize) -> TestDir {
    let dir = TestDir::new();
    dir.put("docs/keeper.txt", pages(count));
    dir
}

#[test]
fn a_page_that_its_reader_falls_on_is_a_gap_and_the_others_are_read() {
    for (how, why) in [
        ("loop", "reading it took more than 2 s of processor time"),
        ("memory", "its reader needed more than 1 GiB of memory"),
        ("stack", "it is nested too deeply"),
        ("exit", "its reader ended without a word"),
        ("abort", "its reader was ended by signal 6"),
    ] {
        let (document, pages) = read_with(&dir(5), &format!("2*off->1*return({how})")).unwrap();
        let gaps: Vec<String> = document.gaps.iter().map(ToString::to_string).collect();
        assert_eq!(gaps, [format!("page 3: {why}")], "{how}");
        assert_eq!((document.units, document.paged, pages), (5, true, vec![1, 2, 4, 5]), "{how}");
    }
}

#[test]
fn a_reader_that_falls_again_and_again_is_given_up() {
    let (document, pages) = read_with(&dir(12), "1*off->return(abort)").unwrap();
    let gaps: Vec<String> = document.gaps.iter().map(ToString::to_string).collect();
    let why = "its reader was ended by signal 6";
    let fell = [2, 4, 6, 8, 10].map(|page| format!("page {page}: {why}"));
    let rest = format!("pages 11-12: given up after 5 pages on which {why}");
    assert_eq!((gaps, pages), ([&fell[..], &[rest]].concat(), vec![1, 3, 5, 7, 9]));
    // Nothing was read: there is no job.
    let none = format!(
        "2 error: there is no document with text that can be read: keeper.txt (pages 1-5: {why}): save it again in its own program, give its text, or for scans use a model that takes images, or install tesseract"
    );
    assert_eq!(read_with(&dir(5), "return(abort)"), Err(none));
}

#[test]
fn a_document_that_takes_too_much_is_to_be_split() {
    let said = "2 error: keeper.txt can't be read, because its reader needed more than 1 GiB of memory: split it, or leave it \
                out";
    assert_eq!(read_with(&dir(1), "return(memory)"), Err(said.to_owned()));
}

#[test]
fn what_was_read_once_is_not_read_again() {
    let dir = dir(5);
    let first = read_with(&dir, "off").unwrap();
    // Any reader that was begun now would fall.
    assert_eq!(read_with(&dir, "return(abort)").unwrap(), first);
    dir.put("docs/keeper.txt", pages(6));
    assert!(read_with(&dir, "return(abort)").is_err());
}

#[test]
fn a_document_that_cannot_be_read_is_left_out_of_a_batch_with_its_reason() {
    let dir = dir(1);
    let ran = dir.run_with(
        &[("FAILPOINTS", "extraction.page=return(abort)")],
        &["submit", "extract-requirements", "--documents", "docs/keeper.txt", "--each", "--batch", "none"],
    );
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (
            2,
            "",
            "error: there is no document that can be read: docs/keeper.txt (can't be read, because its reader was ended by \
             signal 6: open it in its own program and save it again, or leave it out)\n"
        )
    );
}

#[test]
fn a_document_without_pages_has_one_limit() {
    let request = json!({"read": {"name": "document.txt", "after": 0, "left_ms": 1000}});
    let ended = reader(&[("FAILPOINTS", "extraction.page=return(loop)")], "auto", &request, "One caf\u{e9}.");
    let told = String::from_utf8(ended.stdout).unwrap();
    let lines: Vec<&str> =
        told.lines().map(|line| line.split_once(",\"used_ms\"").map_or(line, |(head, _)| head)).collect();
    assert_eq!(
        (ended.status.signal(), lines),
        (
            // Its processor time is over.
            Some(24),
            vec![r#"{"format":{"format":"text","reader":"plain"}}"#, r#"{"begin":{"page":1"#]
        )
    );
}

/// What the reader process says to `request` about `document`.
fn reader(variables: &[(&str, &str)], sandbox: &str, request: &Value, document: &str) -> Output {
    let order = json!({"sandbox": sandbox, "request": request}).to_string();
    let mut reader = assert_cmd::Command::new(PROGRAM);
    reader.arg("extract-document").env_clear().env("PATH", "/usr/bin:/bin").envs(variables.iter().copied());
    reader.write_stdin(format!("{}\n{order}{document}", order.len())).output().unwrap()
}

/// A shell in the place of an OCR program that a document took hold of. It is told what it could do to others.
#[test]
fn a_program_that_helps_reaches_no_file_and_no_network() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let script = format!(
        "try() {{ name=$1; shift; (\"$@\") 2> /dev/null && echo $name; }}
        connect() {{ exec 3<> /dev/tcp/127.0.0.1/{port}; }}
        empty() {{ : > {new}; }}
        append() {{ echo more >> {secret}; }}
        try input read line
        try program head -c 1 /usr/bin/env
        try read cat {secret}
        try list ls {folder}
        try environment head -c 1 /proc/$PPID/environ
        try create empty; try append append; try folder mkdir {folder}/made; try link ln -s x {folder}/link
        try mode chmod 600 {secret}; try times touch -d 2001-01-01 {secret}; try remove rm {gone}
        try connect connect",
        port = listener.local_addr().unwrap().port(),
        new = path("new"),
        secret = path("secret"),
        gone = path("gone"),
        folder = dir.path().display(),
    );
    let can = |sandbox: &str| {
        fs::write(path("secret"), "planted").unwrap();
        fs::write(path("gone"), "").unwrap();
        let request = json!({"run": {"program": "bash", "arguments": ["-c", script], "left_ms": 10_000}});
        let ended = reader(&[], sandbox, &request, "a line\n");
        let said = String::from_utf8_lossy(&ended.stdout)
            .replace(|letter: char| !letter.is_ascii_graphic() && letter != '\n', "");
        let done = "input program read list environment create append folder link mode times remove connect";
        let done: Vec<&str> = done.split(' ').filter(|name| said.lines().any(|line| line.ends_with(name))).collect();
        let mut left: Vec<String> =
            fs::read_dir(dir.path()).unwrap().map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        let is_changed = fs::read_to_string(path("secret")).unwrap() != "planted";
        let is_heard = listener.accept().map_err(|error| error.kind());
        (done.join(" "), left.join(" "), is_changed, is_heard.map(|_| ()))
    };
    let kept = ("input program".to_owned(), "gone secret".to_owned(), false, Err(ErrorKind::WouldBlock));
    assert_eq!(can("auto"), kept);
    assert_eq!(can("required"), kept);
    // The same without confinement; no byte is written to a file even so.
    let (done, left, is_changed, is_heard) = can("off");
    assert_eq!(done, "input program read list environment create folder link mode times remove connect");
    assert_eq!((left.as_str(), is_changed, is_heard), ("link made new secret", false, Ok(())));
}

/// Puts a program into the folder `bin`, in the place of one that may not be installed here.
fn program(dir: &TestDir, name: &str, body: &str) {
    dir.put(&format!("bin/{name}"), format!("#!/bin/sh\n{body}\n"));
    fs::set_permissions(dir.path().join("bin").join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn no_program_is_told_a_secret() {
    let dir = TestDir::new();
    fs::remove_file(dir.path().join("docs/a.md")).unwrap();
    // A picture, a scan, and a PDF that only another program reads.
    dir.put("docs/picture.png", white_png(8, 8));
    dir.put("docs/scan.pdf", crate::intake::scan());
    dir.put("docs/cut.pdf", "%PDF-1.7");
    program(&dir, "tesseract", "test \"$1\" = --version && echo tesseract 1 && exit; echo T; env; sed -n '/^P$/,$p'");
    program(&dir, "pdftoppm", "test \"$1\" = -v && echo pdftoppm 1 && exit; echo P; env");
    program(
        &dir,
        "pdftotext",
        "test \"$1\" = -v && echo pdftotext 1 && exit; test \"$4\" = 1 && exit 1; echo X; env; printf '\\f'",
    );
    program(&dir, "ssh-keygen", "env > said; echo '-----BEGIN SSH SIGNATURE-----'");
    let path = format!("{}:/usr/bin:/bin", dir.path().join("bin").display());
    let home = dir.path().display().to_string();
    let variables = [
        ("PATH", path.as_str()),
        ("HOME", &home),
        ("LANG", "C.UTF-8"),
        ("TESSDATA_PREFIX", "/usr/share"),
        ("SSH_AUTH_SOCK", "/nowhere"),
        ("OPENAI_API_KEY", "planted"),
        ("DATABASE_URL", "postgres://me:planted@nowhere.example/x"),
        ("OVERNIGHT_DATABASE_URL", "sqlite://planted.db"),
        ("AWS_SECRET_ACCESS_KEY", "planted"),
        ("HOOK_SECRET", "planted"),
    ];
    // Of a text that says its environment, the names.
    let names = |text: &str| {
        let mut names: Vec<&str> =
            text.lines().map(|line| line.split_once('=').map_or(line, |(name, _)| name)).collect();
        // What a shell adds by itself.
        names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
        names.sort_unstable();
        names.join(" ")
    };
    let hook = "env > hook";
    let ran =
        dir.run_with(&variables, &["submit", "extract-requirements", "--documents", "docs", "--model", "offline"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let ran = dir.run_with(&variables, &["work", "--until-empty", "--on-batch-end", hook]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let shown: Value = serde_json::from_str(&dir.run_with(&variables, &["show", "last", "--json"]).stdout).unwrap();
    let workspace = Path::new(shown["workspace"].as_str().unwrap()).join("documents/.text");
    let mut texts: Vec<(String, String)> = fs::read_dir(workspace)
        .unwrap()
        .map(|file| file.unwrap().path())
        .map(|file| {
            (file.file_name().unwrap().to_string_lossy().into_owned(), names(&fs::read_to_string(&file).unwrap()))
        })
        .filter(|(name, _)| !name.starts_with("b.md"))
        .collect();
    texts.sort();
    let fixed = "LANG MALLOC_ARENA_MAX OMP_THREAD_LIMIT";
    let more = "PATH RAYON_NUM_THREADS RUST_BACKTRACE TESSDATA_PREFIX";
    let twice = |names: &str| names.split(' ').flat_map(|name| [name, name]).collect::<Vec<_>>().join(" ");
    let expected = [
        ("cut.pdf.txt", format!("{fixed} {more} X")),
        ("picture.png.txt", format!("{fixed} {more} T")),
        ("scan.pdf.txt", format!("{} P {} T", twice(fixed), twice(more))),
    ];
    let expected: Vec<(String, String)> =
        expected.into_iter().map(|(name, said)| (name.to_owned(), names(&said.replace(' ', "\n")))).collect();
    assert_eq!(texts, expected);
    let said = |file: &str| names(&fs::read_to_string(dir.path().join(file)).unwrap());
    assert_eq!(said("hook"), "HOME LANG PATH");
    dir.put("key.pub", "ssh-ed25519 AAAA x");
    dir.run_with(&variables, &["audit", "export", "last", "-o", "x.zip", "--sign", "key.pub"]);
    assert_eq!(said("said"), "HOME LANG PATH SSH_AUTH_SOCK");
}

#[test]
fn an_archive_of_thousands_of_files_gives_all_of_them() {
    let dir = TestDir::new();
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for number in 0..3000 {
        let name = format!("{number:04}-as-long-as-the-names-of-a-document-system-are.txt");
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(format!("Pump {number} must stop.\n").as_bytes()).unwrap();
    }
    dir.put("docs/all.zip", archive.finish().unwrap().into_inner());
    let ran = dir.run_with(&[], &["submit", "extract-requirements", "--documents", "docs/all.zip", "--each", "--json"]);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &told["jobs"], &told["left_out"]), (0, &json!(3000), &json!([])), "{}", ran.stderr);
}

/// Runs the program where the kernel has no Landlock: the thread, and what it starts, is refused its calls.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn without_landlock<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
    const CREATE_RULESET: i64 = 444;
    const NO_SUCH_CALL: u32 = 38;
    let rules = [(CREATE_RULESET, Vec::new())].into();
    let refused = SeccompAction::Errno(NO_SUCH_CALL);
    let architecture = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, architecture).unwrap();
    let filter = BpfProgram::try_from(filter).unwrap();
    std::thread::scope(|scope| {
        let confined = scope.spawn(|| {
            seccompiler::apply_filter(&filter).unwrap();
            run()
        });
        confined.join().unwrap()
    })
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[test]
fn a_kernel_without_landlock_is_told_once_and_is_no_failure() {
    let dir = dir(5);
    dir.put("docs/second.txt", pages(6));
    let run =
        |variables: &[(&str, &str)]| dir.run_with(variables, &["run", "extract-requirements", "--documents", "docs"]);
    let doctor = |variables: &[(&str, &str)]| {
        let ran = dir.run_with(variables, &["doctor", "--json"]);
        let found: Value = serde_json::from_str(&ran.stdout).unwrap();
        let check =
            found["checks"].as_array().unwrap().iter().find(|check| check["name"] == "sandbox").unwrap().clone();
        (check["passed"].clone(), check["detail"].as_str().unwrap().to_owned())
    };
    let required = [("OVERNIGHT_DOCUMENTS_SANDBOX", "required")];
    let missing = "files are open to them (this kernel has no Landlock)";
    let summary = format!("of readers and OCR programs: seccomp keeps them from the network, and {missing}");
    let told = |stderr: &str| stderr.matches(&format!("not fully confined here: {missing}")).count();
    without_landlock(|| {
        assert_eq!(doctor(&[]), (json!(true), summary.clone()));
        assert_eq!(doctor(&required), (json!(false), summary.clone()));
        let ran = run(&[]);
        assert_eq!((ran.code, told(&ran.stderr)), (0, 1), "{}", ran.stderr);
        let ran = run(&required);
        let sentence = format!(
            "error: `documents.sandbox` is `required`, and readers and OCR programs can't be confined: {missing}; set `auto` to read as \
             well as this system can\n"
        );
        assert_eq!((ran.code, ran.stderr), (2, sentence));
        let ran = run(&[("OVERNIGHT_DOCUMENTS_SANDBOX", "off")]);
        assert_eq!((ran.code, told(&ran.stderr)), (0, 0), "{}", ran.stderr);
        let request = json!({"run": {"program": "true", "arguments": [], "left_ms": 1000}});
        assert_eq!(reader(&[], "required", &request, "").status.code(), Some(103));
    });
    let off = "readers and OCR programs are not confined (`documents.sandbox` is `off`)";
    assert_eq!(doctor(&[("OVERNIGHT_DOCUMENTS_SANDBOX", "off")]), (json!(true), off.to_owned()));
}
