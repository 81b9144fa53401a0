
mod plans;
