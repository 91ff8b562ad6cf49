//! The collector: its decisions over random graphs, and its work in a server without HTTP.

mod large;
mod model;
mod server;
