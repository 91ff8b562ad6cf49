//! Ranges of addresses and ports, as operators write them and as objects get something of them.

mod addresses;
mod ports;

pub use self::{addresses::AddressRange, ports::PortRange};

/// What an operator lets services have.
#[derive(Clone, Debug)]
pub struct Ranges {
    /// The network from which they get their addresses.
    pub addresses: AddressRange,
    /// The ports of nodes that they can get.
    pub ports: PortRange,
}
