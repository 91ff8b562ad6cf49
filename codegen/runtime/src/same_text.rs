//! Whether two texts are the same, where both are often empty.

/// The same as `==`, and quick for empty texts.
///
/// The C library compares short texts on processors with AVX-512 with loads under a mask, also where there is
/// nothing to compare. An empty text points nowhere, and a masked load from there takes 100 ns on some of
/// them (AMD Zen 4). The name of the core group is empty, and so is the namespace of a cluster-scoped object.
pub fn same_text(left: &str, right: &str) -> bool {
    left.len() == right.len() && (left.is_empty() || left == right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_equality() {
        let texts = ["", "a", "b", "ab"].map(str::to_owned);
        for left in &texts {
            for right in &texts {
                assert_eq!(same_text(left, right), left == right, "{left:?} {right:?}");
            }
        }
    }
}
