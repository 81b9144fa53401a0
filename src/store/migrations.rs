//! The migrations compiled into the program: the files of `migrations/`, one folder for each database.

use sqlx::{
    SqlStr,
    migrate::{Migration, MigrationType, Migrator},
};
use std::sync::LazyLock;

/// A file of a folder: its number, its name without number and ending, and its content.
type MigrationFile = (i64, &'static str, &'static str);

pub(super) static SQLITE: LazyLock<Migrator> = LazyLock::new(|| {
    migrator(&[
        (1, "schema", include_str!("../../migrations/sqlite/0001_schema.sql")),
        (2, "handed_calls", include_str!("../../migrations/sqlite/0002_handed_calls.sql")),
        (3, "cascades", include_str!("../../migrations/sqlite/0003_cascades.sql")),
        (4, "reach", include_str!("../../migrations/sqlite/0004_reach.sql")),
        (5, "assignments", include_str!("../../migrations/sqlite/0005_assignments.sql")),
    ])
});

pub(super) static POSTGRES: LazyLock<Migrator> = LazyLock::new(|| {
    migrator(&[
        (1, "schema", include_str!("../../migrations/postgres/0001_schema.sql")),
        (2, "handed_calls", include_str!("../../migrations/postgres/0002_handed_calls.sql")),
        (3, "cascades", include_str!("../../migrations/postgres/0003_cascades.sql")),
        (4, "reach", include_str!("../../migrations/postgres/0004_reach.sql")),
        (5, "assignments", include_str!("../../migrations/postgres/0005_assignments.sql")),
    ])
});

fn migrator(files: &[MigrationFile]) -> Migrator {
    let migration = |(number, name, sql): &MigrationFile| {
        Migration::new(*number, (*name).into(), MigrationType::Simple, SqlStr::from_static(sql), false)
    };
    Migrator::with_migrations(files.iter().map(migration).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_carried() {
        for (folder, ours) in [("sqlite", &SQLITE), ("postgres", &POSTGRES)] {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(folder);
            let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
            let mut files: Vec<_> = files
                .map(|path| {
                    let name = path.file_name().unwrap().to_string_lossy().into_owned();
                    (name, std::fs::read_to_string(path).unwrap())
                })
                .collect();
            files.sort();
            let carried: Vec<_> = ours
                .iter()
                .map(|it| (format!("{:04}_{}.sql", it.version, it.description), it.sql.as_str().to_owned()))
                .collect();
            assert_eq!(carried, files);
        }
    }
}
