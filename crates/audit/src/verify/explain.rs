//! Why clients differ, from what their profiles say.

use copart_partitioners::{Hash, KeyedRule, PartitionCount, Profile, Reduction};

use super::report::{Finding, Fix, Reason};
use crate::clients::{Client, same_for_key};
use crate::settings::{by_hand, setting};

/// Why two profiles place keys that have bytes differently.
pub(crate) fn keyed_reason(a: &Profile, b: &Profile) -> Reason {
    use KeyedRule::Hashed;
    let (
        Hashed { view, hash, .. },
        Hashed {
            view: other_view,
            hash: other_hash,
            ..
        },
    ) = (a.keyed, b.keyed)
    else {
        return Reason::KeyIgnored;
    };
    let hashes = [hash, other_hash];
    let either = |hash| hashes.contains(&hash);
    if hash == other_hash {
        if view == other_view {
            Reason::SignHandling
        } else {
            Reason::MultiByteView
        }
    } else if either(Hash::Murmur2) && either(Hash::Murmur2SignedTail) {
        Reason::SignedTail
    } else if either(Hash::Murmur2) && either(Hash::Murmur2Float) {
        Reason::FloatArithmetic
    } else {
        Reason::OtherHash
    }
}

/// The difference in a sentence; the clients named behave like `client`.
pub(super) fn keyed_message(
    reason: Reason,
    names: &str,
    client: &Client,
    reference: &Client,
) -> String {
    let (own, other) = (client.profile().keyed, reference.profile().keyed);
    let reference = reference.name();
    match reason {
        Reason::KeyIgnored => format!("{names}: {own}; {reference}: {other}"),
        Reason::SignHandling => format!(
            "{names}: the same hash as {reference}, but its sign bit is treated differently ({own}, against {other})"
        ),
        Reason::MultiByteView => format!(
            "{names}: not the same bytes are hashed as in {reference} ({own}, against {other}), so keys with multi-byte characters differ"
        ),
        Reason::SignedTail => format!(
            "{names}: C's signed char in murmur2 ({own}, against {other} in {reference}), so keys with a byte of 0x80 or more among the last len % 4 differ"
        ),
        Reason::FloatArithmetic => format!(
            "{names}: another arithmetic than {reference}; JavaScript's doubles lose bits of murmur2 ({own}, against {other})"
        ),
        _ => format!("{names}: another hash than {reference} ({own}, against {other})"),
    }
}

/// A finding on empty or null keys, if the client differs from the reference there.
///
/// `explained` says that a difference in the hash was reported as one of keys that have bytes.
pub(super) fn keyless_finding(
    client: &Client,
    reference: &Client,
    reason: Reason,
    affects_verdict: bool,
    explained: bool,
) -> Option<Finding> {
    let key = if reason == Reason::EmptyKeyRule {
        Some(&[][..])
    } else {
        None
    };
    let (own, other) = (client.profile(), reference.profile());
    if same_for_key(own, other, key) {
        return None;
    }
    let (kind, own_rule, other_rule) = match reason {
        Reason::EmptyKeyRule => ("empty", own.empty, other.empty),
        _ => ("null", own.null, other.null),
    };
    let (name, reference_name) = (client.name(), reference.name());
    let (reason, message) = if own_rule == other_rule {
        // Hashed on both sides: the difference is that of all keys.
        if explained {
            return None;
        }
        let reason = keyed_reason(own, other);
        let message = keyed_message(reason, name, client, reference);
        (
            reason,
            format!("{message}; {kind} keys are hashed like any other"),
        )
    } else {
        (
            reason,
            format!(
                "{name}: another rule for {kind} keys than {reference_name} ({own_rule}, against {other_rule})"
            ),
        )
    };
    Some(Finding {
        reason,
        clients: vec![name.to_owned()],
        reference: reference_name.to_owned(),
        affects_verdict,
        message,
        fixes: fixes(std::slice::from_ref(&client), reference),
    })
}

const BY_RECORD: &str = "the one it has comes closest; name the partition in each record that still differs, or send none of them";

/// One fix for each client library among `clients`.
pub(super) fn fixes(clients: &[&Client], reference: &Client) -> Vec<Fix> {
    let mut fixes: Vec<Fix> = Vec::new();
    for client in clients {
        let Some(library) = client.entry().map(|entry| entry.client()) else {
            continue;
        };
        if fixes.iter().any(|fix| fix.client == library) {
            continue;
        }
        let closest = setting(library, reference.profile());
        // The client may have that setting already: then only the records can change.
        let has_it = closest
            .as_ref()
            .is_some_and(|setting| client.entry().is_some_and(|entry| entry.id == setting.id));
        let (setting, by_hand) = match closest {
            Some(_) if has_it => (None, Some(BY_RECORD.to_owned())),
            Some(setting) => (Some(setting), None),
            None => (None, Some(by_hand(reference.profile()))),
        };
        fixes.push(Fix {
            client: library.to_owned(),
            as_client: reference.name().to_owned(),
            setting,
            by_hand,
        });
    }
    fixes
}

/// Whether the two reductions place every hash alike at this count, though they are not the same.
pub(super) fn agree_only_at_powers_of_two(a: &Profile, b: &Profile, n: PartitionCount) -> bool {
    let (
        KeyedRule::Hashed { reduction, .. },
        KeyedRule::Hashed {
            reduction: other, ..
        },
    ) = (a.keyed, b.keyed)
    else {
        return false;
    };
    let pair = [reduction, other];
    n.is_power_of_two()
        && pair.contains(&Reduction::MaskSign)
        && pair.contains(&Reduction::Unsigned)
}
