//! The formats that schema files name.

use super::reading::{Word, idl_words};

idl_words! {
    /// `format`.
    pub enum Format {
        /// Integers of 32 bits.
        Int32 = "int32",
        /// Integers of 64 bits.
        Int64 = "int64",
        /// Floating point numbers of 64 bits.
        Double = "double",
        /// Base64.
        Byte = "byte",
        /// RFC 3339, whole seconds.
        DateTime = "date-time",
        /// RFC 3339, microseconds.
        MicroTime = "micro-time",
        /// `500m`, `2Gi`.
        Quantity = "quantity",
        /// A number, or a string such as a percentage.
        IntOrString = "int-or-string",
        /// `1h30m`.
        Duration = "duration",
        /// `prefix/name` of a label.
        LabelKey = "label-key",
        /// Value of a label.
        LabelValue = "label-value",
        /// RFC 1123 label.
        DnsLabel = "dns-label",
        /// RFC 1123 subdomain.
        DnsSubdomain = "dns-subdomain",
        /// What can stand between two slashes of a URL.
        PathSegment = "path-segment",
        /// `10.0.0.0/8`.
        Cidr = "cidr",
        /// IPv4 or IPv6 address.
        Ip = "ip",
        /// Absolute URI.
        Uri = "uri",
        /// Key of configuration data, which becomes a file's name.
        ConfigKey = "config-key",
        /// RFC 1035 label: begins with a letter.
        Dns1035Label = "dns-1035-label",
        /// Name of a port: at most 15 letters, digits and hyphens, with a letter.
        PortName = "port-name",
        /// Name of an environment variable.
        EnvName = "env-name",
        /// Path that begins with a slash.
        AbsolutePath = "absolute-path",
        /// Path that does not begin with a slash, and has no part `..`.
        RelativePath = "relative-path",
        /// Relative path whose first name does not begin with two dots.
        FilePath = "file-path",
        /// Path without a part `..`.
        InnerPath = "inner-path",
        /// DNS subdomain in letters of either case.
        DriverName = "driver-name",
        /// Qualified name in letters of either case.
        ProvisionerName = "provisioner-name",
        /// iSCSI name: iqn, eui or naa.
        Iqn = "iqn",
        /// Name of an HTTP header.
        HeaderName = "header-name",
        /// Name of a kernel parameter.
        SysctlName = "sysctl-name",
        /// `host:port` pairs between commas; an IPv6 address is in brackets.
        HostPorts = "host-ports",
        /// Text without white space at its ends.
        Trimmed = "trimmed",
        /// Key of an annotation: as that of a label, in letters of either case.
        AnnotationKey = "annotation-key",
    }
}

impl Format {
    /// As written.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, format)| *format == self).map_or("", |(word, _)| word)
    }
}
