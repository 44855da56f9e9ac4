//! Services that merge updates, that clear omitted fields, that only echo, and whose get applies fields: what a probe
//! proves about each, and that no value is lost silently.

use super::*;

const GROUP: &str = super::ACME;
/// The number of the next directory.
static NUMBER: AtomicUsize = AtomicUsize::new(0);

const KEEPS: Odd = Odd {
    on_get: GetBehaviour::ReturnsStored,
    clears: false,
    merges: false,
};

/// An installation with a new directory that has created the group there, and knows no facts about the service.
async fn with_group_created(world: &World, odd: Odd) -> (OddService, Operations) {
    let service = OddService::start(odd).await;
    // A new directory each time, because a port may be reused.
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let directory = world.other_directory(&number.to_string());
    let installation = world
        .installation(Side::Testing)
        .through(service.base_url());
    let ana = installation.on(&directory).unbound();
    let all = wanted("Name", &[("7", "40")], &json!({"tier": "gold"}));
    let created = ana.create(&id(GROUP), &all).await.expect("created");
    assert_eq!(created.ending, Ending::Created);
    assert_eq!(ana.facts().await.expect("readable"), Facts::default());
    (service, ana)
}

/// The group is named as the usual one, so that edits of that find it.
async fn property(operations: &Operations) -> Edit {
    super::property(operations, "ours").await
}

/// What the service does with fields that are left out; and its gets return properties.
fn facts(absent: OmittedField) -> Vec<Fact> {
    let fields = groupdesk::domain::facts::Field::ALL;
    let facts = fields.map(|field| Fact::OmittedField(field, absent));
    let readable = Fact::PropertiesOnGet(Proven::Returned);
    facts.into_iter().chain([readable]).collect()
}

/// By default unknown values are not sent. With stated facts nothing of somebody else is erased silently.
#[tokio::test]
async fn values_of_others_survive_on_every_service_or_nothing_is_sent() {
    let world = World::new().await;
    let ways = [
        GetBehaviour::ReturnsStored,
        GetBehaviour::Echoes,
        GetBehaviour::Applies,
        GetBehaviour::Silent,
    ];
    // Only with the first of them is anything recorded.
    for on_get in long::sampled(ways, module_path!(), 4) {
        for (clears, merges) in [(false, false), (true, false), (false, true)] {
            let odd = Odd {
                on_get,
                clears,
                merges,
            };
            let (service, ana) = with_group_created(&world, odd).await;
            service.set(GROUP, "properties", json!({"tier": "gold", "theirs": true}));
            let before = service.group(GROUP);
            let edit = property(&ana).await;
            let refused = ana.update_edit(&id(GROUP), &edit, KNOWN).await;
            assert_is!(
                refused,
                Err(Failure::NotKnownEnough(_)),
                "{odd:?}: {refused:?}"
            );
            assert_eq!(service.group(GROUP), before, "{odd:?}");
            if on_get != GetBehaviour::ReturnsStored {
                continue;
            }
            let absent = if clears {
                OmittedField::Clear
            } else {
                OmittedField::Keep
            };
            ana.state_facts(facts(absent)).await.expect("told");
            let done = ana.update_edit(&id(GROUP), &edit, KNOWN).await;
            assert_eq!(done.expect("updated").ending, Ending::Updated, "{odd:?}");
            let all = json!({"tier": "gold", "theirs": true, "ours": 1});
            let now = service.group(GROUP);
            assert_eq!(now[2], all, "{odd:?}");
            assert_eq!((&now[0], &now[1]), (&before[0], &before[1]), "{odd:?}");
        }
    }
}

/// A wrong statement that the service keeps omitted fields is noticed at once.
#[tokio::test]
async fn clearing_fields_that_were_stated_to_be_kept_is_an_alarm() {
    let world = World::new().await;
    let odd = Odd {
        clears: true,
        ..KEEPS
    };
    let (service, ana) = with_group_created(&world, odd).await;
    ana.state_facts(facts(OmittedField::Keep))
        .await
        .expect("told");
    let edit = property(&ana).await;
    let done = ana.update_edit(&id(GROUP), &edit, KNOWN).await;
    let warnings = done.expect("updated").warnings;
    assert!(warnings.iter().any(Warning::is_of_facts), "{warnings:?}");
    assert_eq!(service.group(GROUP)[0], Value::from(""), "the name is gone");
    let facts = ana.facts().await.expect("readable");
    assert_eq!(facts.absent_name.value, OmittedField::Unknown);
    assert!(!facts.absent_name.is_answered(), "it is asked again");
}
