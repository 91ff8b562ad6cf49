//! What a request is about, for the dumps of `/debug/api_priority_and_fairness`.

/// See the module. The texts are in one allocation, because each write makes them.
#[derive(Clone, Debug, Default)]
pub struct About {
    text: String,
    ends: [usize; About::FIELDS],
}

impl About {
    /// What distinguishes its flow from others of its schema; the user, the verb, the path; namespace, name,
    /// version, resource and sub-resource, where it is for a resource.
    const FIELDS: usize = 9;

    /// Of these fields, in the order of [`FIELDS`](About::FIELDS).
    pub fn new(fields: [&str; About::FIELDS]) -> Self {
        let mut about = About { text: fields.concat(), ends: [0; About::FIELDS] };
        let mut end = 0;
        for (slot, field) in about.ends.iter_mut().zip(fields) {
            end += field.len();
            *slot = end;
        }
        about
    }

    /// The fields, in their order.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        let begins = std::iter::once(0).chain(self.ends);
        begins.zip(self.ends).map(|(begin, end)| &self.text[begin..end])
    }
}

#[cfg(test)]
mod tests {
    use super::About;

    #[test]
    fn fields_come_out_as_they_went_in() {
        let fields = ["", "bob", "get", "/a/b", "", "", "v1", "pods", ""];
        assert!(About::new(fields).fields().eq(fields));
    }
}
