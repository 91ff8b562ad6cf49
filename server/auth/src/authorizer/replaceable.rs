//! An authorizer that can be replaced while requests are judged.

use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::{
    answer::Answer,
    authorizer::{Attributes, Authorizer, Decision, rules::Rules},
    user::UserInfo,
};

/// Judges by whatever was put in last.
pub struct Replaceable<A> {
    current: ArcSwap<A>,
}

impl<A: Authorizer + 'static> Replaceable<A> {
    /// Judges by this one first.
    pub fn new(first: A) -> Self {
        Replaceable { current: ArcSwap::from_pointee(first) }
    }

    /// From here on this one judges. Requests that are being judged end with the one before.
    pub fn replace(&self, next: A) {
        self.current.store(Arc::new(next));
    }
}

impl<A: Authorizer + 'static> Authorizer for Replaceable<A> {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Answer<'a, Decision> {
        let current = self.current.load();
        if let Answer::Ready(decision) = current.authorize(attributes) {
            return Answer::Ready(decision);
        }
        // The future keeps what it was made by. It begins anew: the one before has done nothing yet.
        let current = Arc::clone(&current);
        Answer::Later(Box::pin(async move { current.authorize(attributes).resolve().await }))
    }

    fn rules<'a>(&'a self, user: &'a UserInfo, namespace: &'a str) -> Answer<'a, Rules> {
        let current = self.current.load_full();
        Answer::Later(Box::pin(async move { current.rules(user, namespace).resolve().await }))
    }
}

#[cfg(test)]
mod tests {
    use super::Replaceable;
    use crate::{
        answer::Answer,
        authorizer::{Attributes, Authorizer, Decision, Target},
        user::UserInfo,
    };

    /// Decides by a fixed reason, at once or later.
    struct Fixed(&'static str, bool);

    impl Authorizer for Fixed {
        fn authorize<'a>(&'a self, _attributes: &'a Attributes<'a>) -> Answer<'a, Decision> {
            let decision = Decision::NoOpinion { reason: self.0.into() };
            if self.1 { Answer::Later(Box::pin(async { decision })) } else { Answer::Ready(decision) }
        }
    }

    #[tokio::test]
    async fn the_last_one_decides() {
        let user = UserInfo::anonymous();
        let attributes = Attributes { user: &user, verb: "get", target: Target::Path("/") };
        let all = Replaceable::new(Fixed("first", false));
        assert_eq!(all.authorize(&attributes).resolve().await.reason(), "first");
        for (reason, is_later) in [("second", true), ("third", false)] {
            let begun = all.authorize(&attributes);
            let before = begun.resolve().await.reason().to_owned();
            all.replace(Fixed(reason, is_later));
            assert_ne!(before, reason);
            assert_eq!(all.authorize(&attributes).resolve().await.reason(), reason);
        }
    }
}
