//! Names of images: `[domain/]path[:tag][@digest]`.

/// The domain of images that name none.
const DEFAULT_DOMAIN: &str = "docker.io";
/// What is before the path of an image of that domain that has one component only.
const DEFAULT_PREFIX: &str = "library/";
const MAX_PATH_BYTES: usize = 255;
const MAX_TAG_BYTES: usize = 128;

/// The tag of an image, `latest` if it names neither a tag nor a digest. None if only a digest identifies the
/// image, and for what is no name of an image.
pub fn tag(image: &str) -> Option<&str> {
    if image.len() == 64 && image.bytes().all(is_hex) {
        return None;
    }
    let (domain, rest) = split_domain(image);
    let (rest, digest) = match rest.split_once('@') {
        None => (rest, None),
        Some((rest, digest)) => (rest, Some(digest)),
    };
    let (path, tag) = match rest.split_once(':') {
        None => (rest, None),
        Some((path, tag)) => (path, Some(tag)),
    };
    let is_default = domain.is_none_or(|domain| domain == DEFAULT_DOMAIN);
    let prefix = if is_default && !path.contains('/') { DEFAULT_PREFIX.len() } else { 0 };
    // What cannot be a domain may be the first part of the path.
    let path_bytes = match domain {
        Some(domain) if is_domain(domain) => prefix + path.len(),
        Some(domain) if is_component(domain) => domain.len() + 1 + path.len(),
        Some(_) => return None,
        None => prefix + path.len(),
    };
    let is_valid = path_bytes <= MAX_PATH_BYTES
        && path.split('/').all(is_component)
        && tag.is_none_or(is_tag)
        && digest.is_none_or(is_digest);
    match (tag, digest) {
        _ if !is_valid => None,
        (None, None) => Some("latest"),
        (tag, _) => tag,
    }
}

/// The domain and the rest. What comes before the first slash is a domain if it cannot be a part of a path.
fn split_domain(image: &str) -> (Option<&str>, &str) {
    match image.split_once('/') {
        Some(("index.docker.io", rest)) => (Some(DEFAULT_DOMAIN), rest),
        Some((domain, rest))
            if domain == "localhost"
                || domain.contains(['.', ':'])
                || domain.chars().any(char::is_uppercase) =>
        {
            (Some(domain), rest)
        }
        _ => (None, image),
    }
}

/// `name.example:5000` or `[::1]:5000`, with or without a port.
fn is_domain(text: &str) -> bool {
    let (is_host, port) = if let Some((address, port)) =
        text.strip_prefix('[').and_then(|text| text.split_once(']'))
    {
        let is_address = !address.is_empty() && address.bytes().all(|b| b.is_ascii_hexdigit() || b == b':');
        (is_address, port)
    } else {
        let end = text.find(':').unwrap_or(text.len());
        let (name, port) = text.split_at(end);
        let is_part = |part: &str| {
            let is_end = |c: char| c.is_ascii_alphanumeric();
            part.starts_with(is_end) && part.ends_with(is_end) && part.chars().all(|c| is_end(c) || c == '-')
        };
        (name.split('.').all(is_part), port)
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    is_host && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
}

/// Small letters and digits, with single dots, one or two underscores, or any number of hyphens between them.
fn is_component(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_separator = |it: &str| matches!(it, "." | "_" | "__") || it.bytes().all(|b| b == b'-');
    text.starts_with(is_part) && text.ends_with(is_part) && text.split(is_part).all(is_separator)
}

fn is_tag(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.starts_with(is_word)
        && text.len() <= MAX_TAG_BYTES
        && text.chars().all(|c| is_word(c) || matches!(c, '.' | '-'))
}

fn is_digest(text: &str) -> bool {
    let Some((algorithm, digest)) = text.split_once(':') else { return false };
    let digits = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return false,
    };
    digest.len() == digits && digest.bytes().all(is_hex)
}

/// A hexadecimal digit, with small letters.
fn is_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}
