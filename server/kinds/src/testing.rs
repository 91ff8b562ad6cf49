//! A server's core for tests.
