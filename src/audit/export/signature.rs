//! Signatures with SSH keys, made by `ssh-keygen`, as git does it: so agents, passphrases and hardware keys work, and
//! anyone with OpenSSH can check the signatures.

use super::RecordError;
use crate::subprocess;
use std::{fs, io::Write, path::Path, process::Stdio};

/// The purpose of the signature: a signature made for another purpose is not valid here.
const NAMESPACE: &str = "overnight";
/// The environment variables that it needs: for the agent, and for asking for a passphrase or a touch.
const VARIABLES: [&str; 15] = [
    "PATH",
    "HOME",
    "LANG",
    "TERM",
    "TMPDIR",
    "SSH_AUTH_SOCK",
    "SSH_ASKPASS",
    "SSH_ASKPASS_REQUIRE",
    "SSH_SK_PROVIDER",
    "SSH_SK_HELPER",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];
const BEGINNING: &str = "-----BEGIN SSH SIGNATURE-----";

/// The public part of `key`, which is a private key, or a public one whose private part an agent holds.
pub fn public_key(key: &Path) -> Result<String, RecordError> {
    let shown = key.display();
    let text = fs::read(key).map_err(|error| RecordError::Sign(format!("the key {shown} can't be read ({error})")))?;
    let public = |text: &[u8]| {
        let text = String::from_utf8_lossy(text).into_owned();
        ["ssh-", "ecdsa-", "sk-"].iter().any(|kind| text.starts_with(kind)).then_some(text)
    };
    if let Some(text) = public(&text) {
        return Ok(text);
    }
    let mut beside = key.as_os_str().to_owned();
    beside.push(".pub");
    if let Some(text) = fs::read(beside).ok().and_then(|text| public(&text)) {
        return Ok(text);
    }
    let said = keygen(key, &["-y"], b"")?;
    public(&said)
        .ok_or_else(|| RecordError::Sign(format!("{shown} is no SSH key: ssh-keygen finds no public part of it")))
}

/// Signs `text`; the signature is a text.
pub fn sign(key: &Path, text: &[u8]) -> Result<Vec<u8>, RecordError> {
    let signature = keygen(key, &["-Y", "sign", "-n", NAMESPACE], text)?;
    if signature.starts_with(BEGINNING.as_bytes()) {
        Ok(signature)
    } else {
        Err(RecordError::Sign(format!("ssh-keygen gave no signature for the key {}", key.display())))
    }
}

/// Runs `ssh-keygen` with `-f KEY`. It may ask for a passphrase on the terminal, or for a touch of the key.
fn keygen(key: &Path, words: &[&str], input: &[u8]) -> Result<Vec<u8>, RecordError> {
    let failed = |what: String| RecordError::Sign(format!("ssh-keygen can't sign with {}: {what}", key.display()));
    let mut child = subprocess::command("ssh-keygen", &VARIABLES)
        .args(words)
        .arg("-f")
        .arg(key)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => failed("it is not installed (it is part of OpenSSH's client)".to_owned()),
            _ => failed(error.to_string()),
        })?;
    if let Some(mut stdin) = child.stdin.take() {
        // If the program doesn't read its input, it gives the reason on stderr.
        let _ = stdin.write_all(input);
    }
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(failed(said.split_whitespace().collect::<Vec<_>>().join(" ")))
}
