use super::*;
use proptest::prelude::*;
use std::{fs, os::unix::fs::symlink};
use tempfile::TempDir;

fn workspace() -> (TempDir, Workspace) {
    let folder = TempDir::new().unwrap();
    let workspace = Workspace::create_temporary(folder.path()).unwrap().install("job").unwrap();
    for file in KnownPath::FILES.iter().filter_map(|known| known.file()) {
        workspace.write(file, b"x").unwrap();
    }
    for file in ["documents/a.pdf", "documents/.text/a.pdf.txt", "assets/s.json", "archive/phase-00-bootstrap/todos.md"]
    {
        workspace.write(file, b"x").unwrap();
    }
    for file in ["tool_results/1.txt", "output/r.json", "notes/n.md"] {
        workspace.write(file, b"x").unwrap();
    }
    (folder, workspace)
}

fn write(workspace: &Workspace, path: &str) -> Result<(String, KnownPath), String> {
    let path = ModelPath::parse(path).map_err(|error| error.to_string())?;
    workspace.resolve_for_write(&path).map(|found| (found.path, found.known)).map_err(|error| error.to_string())
}

fn read(workspace: &Workspace, path: &str) -> Result<(String, KnownPath), String> {
    let path = ModelPath::parse(path).map_err(|error| error.to_string())?;
    workspace.resolve_for_read(&path).map(|found| (found.path, found.known)).map_err(|error| error.to_string())
}

#[test]
fn the_model_writes_plan_memory_output_and_its_own() {
    let (_folder, workspace) = workspace();
    for (path, known) in [
        ("main_plan.md", KnownPath::Plan),
        ("workspace.md", KnownPath::Memory),
        ("output/r.json", KnownPath::Under(Folder::Output)),
        ("output/new/deep.json", KnownPath::Under(Folder::Output)),
        ("notes/n.md", KnownPath::Other),
        ("new.md", KnownPath::Other),
        ("output/todos.md", KnownPath::Under(Folder::Output)),
        ("notes/job.yaml", KnownPath::Other),
    ] {
        assert_eq!(write(&workspace, path), Ok((path.to_owned(), known)));
        assert_eq!(read(&workspace, "main_plan.md"), Ok(("main_plan.md".into(), KnownPath::Plan)));
    }
}

#[test]
fn the_rest_is_read_only_whether_it_is_there_or_not_and_however_it_is_spelled() {
    let (_folder, workspace) = workspace();
    let empty = TempDir::new().unwrap();
    let bare = Workspace::create_temporary(empty.path()).unwrap();
    for path in [
        "instructions.md",
        "workspace_summary.md",
        "progress.md",
        "todos.md",
        "journal.jsonl",
        "job.yaml",
        ".lock",
        "documents/a.pdf",
        "documents/new.pdf",
        "documents/.text/a.pdf.txt",
        "assets/s.json",
        "archive/phase-00-bootstrap/todos.md",
        "archive/phase-01-x/new",
        "tool_results/1.txt",
        "documents",
        "Job.YAML",
        "TODOS.md",
        "todoſ.md",
        "ARCHIVE/x",
    ] {
        for workspace in [&workspace, &bare] {
            let said = write(workspace, path).unwrap_err();
            assert!(said.contains("can't be written: "), "{path}: {said}");
        }
    }
    assert_eq!(
        write(&workspace, "documents/a.pdf").unwrap_err(),
        "'documents/a.pdf' can't be written: documents/ holds the inputs and is read-only; write results under output/"
    );
    for path in ["output", "main_plan.md/x", "output/r.json/x", "notes", "."] {
        assert!(write(&workspace, path).is_err(), "{path}");
    }
    for path in ["output", "main_plan.md/x", "Output"] {
        assert!(write(&bare, path).is_err(), "{path}");
    }
}

#[test]
fn everything_inside_but_the_lock_is_read() {
    let (_folder, workspace) = workspace();
    for known in KnownPath::FILES {
        let name = known.file().unwrap();
        if known == KnownPath::Lock {
            assert_eq!(read(&workspace, name).unwrap_err(), "'.lock' is the runner's own and can't be read");
        } else {
            assert_eq!(read(&workspace, name), Ok((name.to_owned(), known)));
        }
    }
    assert_eq!(read(&workspace, "documents"), Ok(("documents".into(), KnownPath::Under(Folder::Documents))));
    assert_eq!(read(&workspace, "."), Ok((".".into(), KnownPath::Other)));
    assert_eq!(read(&workspace, "nope").unwrap_err(), "'nope' does not exist in the workspace");
}

#[test]
fn links_don_t_hide_a_file() {
    let (folder, workspace) = workspace();
    let root = workspace.path();
    fs::write(folder.path().join("secret"), "s").unwrap();
    fs::hard_link(root.join("job.yaml"), root.join("output/j")).unwrap();
    fs::hard_link(root.join("documents/a.pdf"), root.join("output/d")).unwrap();
    fs::hard_link(root.join("archive/phase-00-bootstrap/todos.md"), root.join("notes/t")).unwrap();
    fs::hard_link(root.join("output/r.json"), root.join("output/same")).unwrap();
    symlink("../job.yaml", root.join("notes/link")).unwrap();
    symlink("../.lock", root.join("notes/lock")).unwrap();
    symlink("../output", root.join("notes/out")).unwrap();
    symlink("../../secret", root.join("notes/secret")).unwrap();
    symlink("nowhere", root.join("notes/dangling")).unwrap();
    assert_eq!(read(&workspace, "output/j"), Ok(("job.yaml".into(), KnownPath::JobFile)));
    assert_eq!(read(&workspace, "notes/link"), Ok(("job.yaml".into(), KnownPath::JobFile)));
    assert_eq!(read(&workspace, "output/d"), Ok(("output/d".into(), KnownPath::Under(Folder::Documents))));
    assert_eq!(read(&workspace, "notes/out/r.json"), Ok(("output/r.json".into(), KnownPath::Under(Folder::Output))));
    assert_eq!(write(&workspace, "output/same"), Ok(("output/same".into(), KnownPath::Under(Folder::Output))));
    assert!(read(&workspace, "notes/lock").unwrap_err().contains("can't be read"));
    assert_eq!(
        read(&workspace, "notes/secret").unwrap_err(),
        "the path 'notes/secret' is a symbolic link, or leads over one, out of the workspace: use the files in the workspace"
    );
    for path in ["output/j", "output/d", "notes/t"] {
        assert!(write(&workspace, path).unwrap_err().contains("can't be written"), "{path}");
    }
    for path in ["notes/link", "notes/out/new", "notes/secret", "notes/dangling", "notes/dangling/x"] {
        assert!(write(&workspace, path).unwrap_err().contains("leads over a symbolic link"), "{path}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_pipe_is_no_file() {
    let (_folder, workspace) = workspace();
    let pipe = workspace.path().join("output/pipe");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    assert!(write(&workspace, "output/pipe").unwrap_err().contains("neither a file nor a folder"));
    assert!(matches!(workspace.read("output/pipe"), Err(WorkspaceError::NotAFile { .. })));
}

#[test]
fn what_resolves_for_writing_can_be_written_and_changes_nothing_protected() {
    let (folder, workspace) = workspace();
    proptest!(ProptestConfig::with_cases(200), |(
        path in "(output|notes|documents|main_plan.md|a|/|\\.|\\.\\.|[A-Za-z. ]|\\PC){1,8}"
    )| {
        if let Ok((path, known)) = write(&workspace, &path) {
            prop_assert_eq!(known.read_only(), None);
            workspace.write(&path, b"new").unwrap();
        }
        for file in ["job.yaml", "documents/a.pdf", "assets/s.json", "journal.jsonl"] {
            prop_assert_eq!(workspace.read(file).unwrap(), b"x");
        }
        prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    });
}
