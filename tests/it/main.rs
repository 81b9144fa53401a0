mod cli_audit;
mod dependencies;
mod plans;
mod store;
