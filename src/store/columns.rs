//! Rows of either database, read by the names of a struct's fields.

/// Declares a struct whose fields are columns of the same names.
///
/// `sqlx` has a derive for it, but a derive of that library builds all of it for the compiler as well, with both databases, TLS
/// and their C sources: a cold build took 570 s with it.
macro_rules! columns {
    ($seen:vis struct $name:ident { $($shown:vis $field:ident: $column:ty,)* }) => {
        $seen struct $name {
            $($shown $field: $column,)*
        }

        impl<'row, R: sqlx::Row> sqlx::FromRow<'row, R> for $name
        where
            for<'name> &'name str: sqlx::ColumnIndex<R>,
            $($column: sqlx::Decode<'row, R::Database> + sqlx::Type<R::Database>,)*
        {
            fn from_row(row: &'row R) -> Result<Self, sqlx::Error> {
                Ok(Self { $($field: row.try_get(stringify!($field))?,)* })
            }
        }
    };
}

pub(super) use columns;
