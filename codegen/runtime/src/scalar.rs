//! Values with a canonical text form of their own.
