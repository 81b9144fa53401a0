pub mod documents;
