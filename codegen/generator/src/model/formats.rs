//! The named formats of strings, each a function of the runtime.

use orch_runtime::constraint::{self, Constraint};

macro_rules! string_formats {
    ($( $name:ident = $word:literal => $function:ident, )*) => {
        /// Formats of strings that are checked, not converted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum StringFormat {
            $( #[doc = concat!("`", $word, "`.")] $name, )*
        }

        impl StringFormat {
            /// The format that schema files call so.
            pub fn of_word(word: &str) -> Option<Self> {
                match word {
                    $( $word => Some(StringFormat::$name), )*
                    _ => None,
                }
            }

            /// As written in schema files.
            pub fn word(self) -> &'static str {
                match self {
                    $( StringFormat::$name => $word, )*
                }
            }

            /// The function of [`orch_runtime::constraint`] behind it, and its name.
            pub fn constraint(self) -> (&'static str, Constraint) {
                match self {
                    $( StringFormat::$name => (stringify!($function), constraint::$function), )*
                }
            }
        }
    };
}

string_formats! {
    LabelKey = "label-key" => qualified_name,
    LabelValue = "label-value" => label_value,
    DnsLabel = "dns-label" => dns_label,
    DnsSubdomain = "dns-subdomain" => dns_subdomain,
    PathSegment = "path-segment" => path_segment,
    Cidr = "cidr" => cidr,
    Ip = "ip" => ip,
    Uri = "uri" => uri,
    ConfigKey = "config-key" => config_key,
    Dns1035Label = "dns-1035-label" => dns_1035_label,
    PortName = "port-name" => port_name,
    EnvName = "env-name" => env_name,
    AbsolutePath = "absolute-path" => absolute_path,
    RelativePath = "relative-path" => relative_path,
    FilePath = "file-path" => file_path,
    InnerPath = "inner-path" => inner_path,
    DriverName = "driver-name" => driver_name,
    ProvisionerName = "provisioner-name" => provisioner_name,
    Iqn = "iqn" => iqn,
    HeaderName = "header-name" => header_name,
    SysctlName = "sysctl-name" => sysctl_name,
    HostPorts = "host-ports" => host_ports,
    Trimmed = "trimmed" => trimmed,
    AnnotationKey = "annotation-key" => annotation_key,
}
