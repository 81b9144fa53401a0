mod dependencies;
mod plans;
mod store;
