use super::*;
use tempfile::TempDir;

fn workspace() -> (TempDir, Workspace) {
    let folder = TempDir::new().unwrap();
    let workspace = Workspace::create_temporary(folder.path()).unwrap().install("job").unwrap();
    (folder, workspace)
}

fn paths(workspace: &Workspace, folder: &str) -> Vec<String> {
    workspace.list(folder).unwrap().into_iter().map(|entry| entry.path).collect()
}

#[test]
fn a_file_is_written_read_listed_and_removed() {
    let (_folder, workspace) = workspace();
    let hash = workspace.write("output/deep/er/a.txt", b"abc").unwrap();
    workspace.write("output/b.txt", b"b").unwrap();
    workspace.write("b.txt", b"old").unwrap();
    workspace.write("b.txt", b"new").unwrap();
    assert_eq!(hash, FileHash::of(b"abc"));
    assert_eq!(workspace.hash("output/deep/er/a.txt").unwrap(), hash);
    assert_eq!(workspace.read_text("b.txt").unwrap(), "new");
    assert_eq!(paths(&workspace, "."), ["b.txt", "output/b.txt", "output/deep/er/a.txt"]);
    assert_eq!(paths(&workspace, "output"), ["output/b.txt", "output/deep/er/a.txt"]);
    assert_eq!(paths(&workspace, "nowhere"), Vec::<String>::new());
    workspace.remove("b.txt").unwrap();
    assert!(!workspace.exists("b.txt").unwrap());
    assert_eq!(workspace.metadata("output/b.txt").unwrap().bytes, 1);
}

#[test]
fn what_goes_wrong_is_said_in_a_sentence() {
    let (_folder, workspace) = workspace();
    workspace.write("a/b.bin", &[0xff, 0xfe]).unwrap();
    let said = |result: Result<String, WorkspaceError>| result.unwrap_err().to_string();
    assert_eq!(said(workspace.read_text("nope")), "'nope' does not exist in the workspace");
    assert_eq!(said(workspace.read_text("a")), "'a' is a folder, not a file: name a file in it");
    assert_eq!(said(workspace.read_text("a/b.bin")), "'a/b.bin' is not UTF-8 text");
    assert_eq!(
        said(workspace.read_text("a/b.bin/c")),
        "'a/b.bin/c' can't be opened: something before the last '/' is a file, not a folder"
    );
    assert_eq!(
        said(workspace.read_text_at_most("a/b.bin", 1)),
        "'a/b.bin' has 2 bytes, more than the 1 that can be read at once: search it, or read a smaller file"
    );
    assert!(matches!(workspace.write("a", b""), Err(WorkspaceError::IsFolder { .. })));
    assert!(matches!(workspace.write("a/b.bin/c", b""), Err(WorkspaceError::NotAFolder { .. })));
    assert_eq!(paths(&workspace, "."), ["a/b.bin"]);
}

#[test]
fn nothing_leads_out_and_links_are_not_followed() {
    let (folder, workspace) = workspace();
    std::fs::write(folder.path().join("secret"), "s").unwrap();
    std::os::unix::fs::symlink("../secret", workspace.path().join("out")).unwrap();
    std::os::unix::fs::symlink("..", workspace.path().join("up")).unwrap();
    for path in ["out", "up/secret", "../secret"] {
        assert!(matches!(workspace.read(path), Err(WorkspaceError::LeadsOut { .. })), "{path}");
    }
    assert!(workspace.write("up/new", b"x").is_err());
    assert!(!folder.path().join("new").exists());
    assert_eq!(paths(&workspace, "."), Vec::<String>::new());
}

#[test]
fn a_workspace_gets_its_name_once() {
    let (folder, workspace) = workspace();
    let second = Workspace::create_temporary(folder.path()).unwrap();
    second.write("a", b"a").unwrap();
    let path = second.path().to_owned();
    assert!(matches!(second.install("job"), Err(WorkspaceError::Exists { .. })));
    Workspace::open(&path).unwrap().discard().unwrap();
    assert!(!path.exists());
    assert!(workspace.discard().is_err());
    assert!(folder.path().join("job").exists());
}

#[test]
fn what_a_crash_left_is_swept() {
    let (_folder, workspace) = workspace();
    workspace.write("output/a", b"a").unwrap();
    workspace.write(&format!("output/{TEMPORARY}1"), b"half").unwrap();
    workspace.write(&format!("archive/{TEMPORARY}2/todos.md"), b"half").unwrap();
    assert_eq!(paths(&workspace, "."), ["output/a"]);
    assert_eq!(workspace.sweep().unwrap(), 2);
    assert_eq!(workspace.sweep().unwrap(), 0);
    assert_eq!(workspace.root().unwrap().read_dir("archive").unwrap().count(), 0);
}
