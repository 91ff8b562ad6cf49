//! Ranges of addresses and ports, as operators write them and as objects get something of them.

mod addresses;
mod ports;

pub use self::{addresses::AddressRange, ports::PortRange};

/// What an operator lets objects have.
#[derive(Clone, Debug)]
pub struct Ranges {
    /// The network from which they get addresses.
    pub addresses: AddressRange,
    /// The ports that they can get.
    pub ports: PortRange,
}
