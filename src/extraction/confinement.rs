//! Readers and their helper programs are confined, because a document may take control of its reader: Landlock blocks
//! access to files, seccomp to the network and to other processes. They confine themselves before they see the
//! document; neither a process nor a program that it executes can regain rights that it has given up.
//!
//! A reader has the document on its standard input and needs no file. Another program may read what it is made of: programs,
//! libraries, fonts, models of languages. Neither writes a file: output is standard output, and `limits` allows a file no byte.

use serde::{Deserialize, Serialize};
use std::{
    fs::File,
    net::UdpSocket,
    path::{Path, PathBuf},
    sync::OnceLock,
    thread,
};

/// `documents.sandbox`: whether readers are confined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// As far as the system supports it.
    #[default]
    Auto,
    /// In full; otherwise nothing is read.
    Required,
    /// No.
    Off,
}

impl SandboxMode {
    /// The word in a configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Required => "required",
            Self::Off => "off",
        }
    }

    /// The mode of that name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Auto, Self::Required, Self::Off].into_iter().find(|one| one.as_str() == text)
    }
}

/// The means that confine a process, each with the reason if it isn't in force, as a clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// Landlock, with the version of its interface.
    pub files: Result<i32, String>,
    /// seccomp.
    pub network: Result<(), String>,
}

impl Confinement {
    /// The means that this system supports, tried in a thread of this process: a thread gives up only its own rights.
    pub fn in_force() -> &'static Self {
        static IN_FORCE: OnceLock<Confinement> = OnceLock::new();
        IN_FORCE.get_or_init(|| {
            let tried = thread::Builder::new().spawn(|| confine(&[]).tried()).map(thread::JoinHandle::join);
            match tried {
                Ok(Ok(confinement)) => confinement,
                Ok(Err(_)) | Err(_) => Self::none("it can't be tried"),
            }
        })
    }

    fn none(why: &str) -> Self {
        Self { files: Err(why.to_owned()), network: Err(why.to_owned()) }
    }

    /// Checks the claimed confinement against what this thread can still do.
    fn tried(self) -> Self {
        let holds = |is_open: bool| if is_open { Err("it doesn't hold".to_owned()) } else { Ok(()) };
        let files = self.files.and_then(|abi| holds(File::open("/proc/self/status").is_ok()).map(|()| abi));
        let network = self.network.and_then(|()| holds(UdpSocket::bind("127.0.0.1:0").is_ok()));
        Self { files, network }
    }

    /// The missing means with the reasons; none if all are in force.
    pub fn missing(&self) -> Option<String> {
        let files = self.files.as_ref().err().map(|why| format!("files are open to them ({why})"));
        let network = self.network.as_ref().err().map(|why| format!("the network is open to them ({why})"));
        let missing: Vec<String> = files.into_iter().chain(network).collect();
        (!missing.is_empty()).then(|| missing.join(", and "))
    }

    /// The means in force and those that aren't, for a person.
    pub fn summary(&self) -> String {
        let files = self.files.as_ref().ok().map(|abi| format!("Landlock (version {abi}) keeps them from files"));
        let network = self.network.is_ok().then(|| "seccomp keeps them from the network".to_owned());
        let all: Vec<String> = files.into_iter().chain(network).chain(self.missing()).collect();
        format!("of readers and OCR programs: {}", all.join(", and "))
    }
}

/// Gives up this thread's rights, for itself and for whatever it starts or becomes. It may still read below `readable`.
pub(super) fn confine(readable: &[PathBuf]) -> Confinement {
    Confinement { files: rights::give_up_files(readable), network: rights::give_up_network() }
}

/// The paths that any program needs, and the devices that it may rely on.
const SYSTEM: [&str; 17] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/gnu/store",
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/etc/fonts",
    "/etc/localtime",
    "/var/cache/fontconfig",
    "/dev/urandom",
    "/dev/random",
    "/dev/zero",
    // The number of processors.
    "/sys/devices/system/cpu",
];
/// Folders beside that of a program installed elsewhere.
const BESIDE: [&str; 3] = ["lib", "share", "libexec"];

/// The paths that `program` needs, searched for in the folders of `path`; `more` comes from variables of its own.
pub(super) fn readable_by(program: &str, path: &[PathBuf], more: Vec<PathBuf>) -> Vec<PathBuf> {
    let found = path.iter().map(|folder| folder.join(program)).find_map(|file| file.canonicalize().ok());
    let prefix = found.as_deref().and_then(Path::parent).and_then(Path::parent);
    // A program in a folder right below `/` belongs to the system.
    let prefix = prefix.filter(|prefix| prefix.parent().is_some());
    let beside = prefix.iter().flat_map(|prefix| BESIDE.map(|name| prefix.join(name)));
    let system = SYSTEM.iter().map(PathBuf::from);
    system.chain(path.iter().cloned()).chain(beside).chain(found.clone()).chain(more).collect()
}

#[cfg(target_os = "linux")]
mod rights {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, LandlockStatus, RestrictionStatus, Ruleset, RulesetAttr, RulesetCreatedAttr,
        RulesetError, RulesetStatus, Scope, path_beneath_rules,
    };
    use std::path::PathBuf;

    /// The newest version of Landlock's interface that was tested; an older kernel enforces the part that it supports.
    const NEWEST: ABI = ABI::V7;

    pub(super) fn give_up_files(readable: &[PathBuf]) -> Result<i32, String> {
        let status = restrict(readable).map_err(|error| format!("Landlock can't be used: {error}"))?;
        match (status.landlock, status.ruleset) {
            (LandlockStatus::NotImplemented, _) => Err("this kernel has no Landlock".to_owned()),
            (LandlockStatus::NotEnabled, _) => Err("Landlock was not enabled when this kernel started".to_owned()),
            (LandlockStatus::Available { .. }, RulesetStatus::NotEnforced) => {
                Err("Landlock did not take the rules".to_owned())
            }
            (
                LandlockStatus::Available { effective_abi, .. },
                RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced,
            ) => Ok(effective_abi as i32),
        }
    }

    fn restrict(readable: &[PathBuf]) -> Result<RestrictionStatus, RulesetError> {
        let device = AccessFs::from_file(NEWEST) & !AccessFs::Execute;
        Ruleset::default()
            .handle_access(AccessFs::from_all(NEWEST))?
            .handle_access(AccessNet::from_all(NEWEST))?
            .scope(Scope::from_all(NEWEST))?
            .create()?
            .add_rules(path_beneath_rules(readable, AccessFs::from_read(NEWEST)))?
            .add_rules(path_beneath_rules(["/dev/null"], device))?
            .restrict_self()
    }

    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    pub(super) fn give_up_network() -> Result<(), String> {
        use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
        let wrong = |error: &dyn std::error::Error| format!("seccomp can't be used: {error}");
        let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| wrong(&error))?;
        let refused = SeccompAction::Errno(libc::EACCES.unsigned_abs());
        let rules = refused_calls().map(|call| (call, Vec::new())).collect();
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, architecture);
        let program = filter.and_then(BpfProgram::try_from).map_err(|error| wrong(&error))?;
        seccompiler::apply_filter(&program).map_err(|error| wrong(&error))
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub(super) fn give_up_network() -> Result<(), String> {
        Err("the numbers of this processor's system calls are not known here".to_owned())
    }

    /// The calls that are refused.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn refused_calls() -> impl Iterator<Item = i64> {
        /// Sockets of any kind, and calls that do their work without them.
        const NETWORK: [i64; 12] = [
            libc::SYS_socket,
            libc::SYS_socketpair,
            libc::SYS_connect,
            libc::SYS_bind,
            libc::SYS_listen,
            libc::SYS_accept,
            libc::SYS_accept4,
            libc::SYS_sendto,
            libc::SYS_sendmsg,
            libc::SYS_sendmmsg,
            libc::SYS_io_uring_setup,
            libc::SYS_io_uring_enter,
        ];
        /// Other processes, their memory and keys, other views of the system.
        const OTHERS: [i64; 13] = [
            libc::SYS_ptrace,
            libc::SYS_process_vm_readv,
            libc::SYS_process_vm_writev,
            libc::SYS_pidfd_getfd,
            libc::SYS_kcmp,
            libc::SYS_keyctl,
            libc::SYS_add_key,
            libc::SYS_request_key,
            libc::SYS_bpf,
            libc::SYS_perf_event_open,
            libc::SYS_userfaultfd,
            libc::SYS_unshare,
            libc::SYS_setns,
        ];
        /// File attributes that Landlock doesn't protect: owner, mode, times, attributes, and in old kernels the
        /// length. The last three are fchmodat2, setxattrat and removexattrat.
        const FILES: [i64; 15] = [
            libc::SYS_truncate,
            libc::SYS_fchmod,
            libc::SYS_fchmodat,
            libc::SYS_fchown,
            libc::SYS_fchownat,
            libc::SYS_utimensat,
            libc::SYS_setxattr,
            libc::SYS_lsetxattr,
            libc::SYS_fsetxattr,
            libc::SYS_removexattr,
            libc::SYS_lremovexattr,
            libc::SYS_fremovexattr,
            452,
            463,
            466,
        ];
        #[cfg(target_arch = "x86_64")]
        const OLD: [i64; 6] = [
            libc::SYS_chmod,
            libc::SYS_chown,
            libc::SYS_lchown,
            libc::SYS_utime,
            libc::SYS_utimes,
            libc::SYS_futimesat,
        ];
        #[cfg(not(target_arch = "x86_64"))]
        const OLD: [i64; 0] = [];
        /// With this bit a 64-bit kernel hears the same calls from programs with 32-bit addresses (x32).
        const SHORT_ADDRESSES: i64 = 0x4000_0000;
        let calls = NETWORK.into_iter().chain(OTHERS).chain(FILES).chain(OLD);
        calls.flat_map(|call| [call, call | SHORT_ADDRESSES])
    }
}

#[cfg(not(target_os = "linux"))]
mod rights {
    use std::path::PathBuf;

    pub(super) fn give_up_files(_: &[PathBuf]) -> Result<i32, String> {
        Err("this system has no Landlock".to_owned())
    }

    pub(super) fn give_up_network() -> Result<(), String> {
        Err("this system has no seccomp".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_with_its_reason() {
        let all = Confinement { files: Ok(7), network: Ok(()) };
        assert_eq!(
            (all.summary().as_str(), all.missing()),
            (
                "of readers and OCR programs: Landlock (version 7) keeps them from files, and seccomp keeps them from the network",
                None
            )
        );
        let half = Confinement { files: Err("this kernel has no Landlock".to_owned()), network: Ok(()) };
        assert_eq!(
            (half.summary().as_str(), half.missing().as_deref()),
            (
                "of readers and OCR programs: seccomp keeps them from the network, and files are open to them (this kernel has \
                 no Landlock)",
                Some("files are open to them (this kernel has no Landlock)")
            )
        );
    }

    #[test]
    fn a_program_may_read_what_it_is_made_of_and_what_lies_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("opt/bin")).unwrap();
        std::fs::create_dir(root.join("links")).unwrap();
        std::fs::write(root.join("opt/bin/reader"), "").unwrap();
        std::os::unix::fs::symlink(root.join("opt/bin/reader"), root.join("links/reader")).unwrap();
        let more = vec![root.join("models")];
        let readable = readable_by("reader", &[root.join("none"), root.join("links")], more);
        let expected = ["none", "links", "opt/lib", "opt/share", "opt/libexec", "opt/bin/reader", "models"]
            .map(|one| root.join(one));
        assert_eq!(readable[SYSTEM.len()..], expected);
    }
}
