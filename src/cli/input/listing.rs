//! Selects groups and puts them in order. The filter is that of the console, except that a word must occur exactly as
//! typed in the name or id: nothing must be done to a group because its letters happen to match fuzzily. Groups are
//! filtered while they are read; only if they are not stored in this order is the sort key of each kept in memory.

use crate::{
    cli::{
        args::Order,
        output::{self, human::Listed},
        prelude::*,
        session::Session,
    },
    domain::age,
    search::{
        Builder, ExclusionRemarks, Exclusions, GroupExtras, Query, SearchRequest, SortBy, Word,
        group_matcher, run_search,
    },
};

/// How many groups are loaded by id at a time.
const CHUNK: usize = 128;

/// A filter and an age limit.
struct GroupFilter {
    words: Vec<Word>,
    request: SearchRequest,
    older_than: Option<Duration>,
}

/// What groups are selected for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListedFor {
    Reading,
    Sending,
}

/// A selection of groups in a given order.
pub(crate) struct Listing {
    /// `None` selects all groups.
    group_filter: Option<GroupFilter>,
    reverse: bool,
    limit: usize,
    /// The ids in order, if that is not the order in which groups are stored.
    ordered: Option<Vec<UserGroupId>>,
    pub(crate) with_annotations: bool,
}

impl Listing {
    /// Fails if the filter cannot be understood; `undone` tells the person what was not done. Exclusions that are mistakes
    /// are refused where something is sent, and named where it is only shown.
    pub(crate) async fn of(
        session: &Session,
        of: ListedFor,
        filter: Option<&str>,
        order: &Order,
        older_than: Option<Duration>,
        undone: &str,
    ) -> Result<Self, CliError> {
        let group_filter = match (filter, older_than) {
            (None, None) => None,
            (filter, _) => {
                let filter = filter.unwrap_or_default();
                Some(parse_filter(session, filter, older_than, undone).await?)
            }
        };
        let remarks = match &group_filter {
            Some(group_filter) => exclusions(session, &group_filter.request).await?,
            None => ExclusionRemarks::default(),
        };
        let (refused, said) = match of {
            ListedFor::Sending => (remarks.refused, remarks.told),
            ListedFor::Reading => (Vec::new(), [remarks.refused, remarks.told].concat()),
        };
        if !refused.is_empty() {
            let refused = refused.join("; ");
            return Err(CliError::Usage(format!("--filter: {refused}; {undone}")));
        }
        for said in said {
            output::say(&format!("! --filter: {said}"));
        }
        let mut listing = Self {
            group_filter,
            reverse: order.reverse,
            limit: order.limit.map_or(usize::MAX, |limit| limit as usize),
            ordered: None,
            with_annotations: false,
        };
        let sort = order.sort.as_ref().unwrap_or(&SortBy::Id);
        // If the ids cannot be read, the groups are passed on as far as they can be read, and then the error is told.
        let operations = &session.operations;
        let as_stored = async || {
            let place = operations.place().await.ok()?;
            operations
                .directory()
                .are_in_natural_order(place)
                .await
                .ok()
        };
        if *sort != SortBy::Id || !as_stored().await.unwrap_or(true) {
            listing.ordered = Some(listing.ordered_by(session, sort).await?);
        }
        Ok(listing)
    }

    /// These groups, in this order.
    pub(crate) fn of_ids(ids: Vec<UserGroupId>) -> Self {
        Self {
            ordered: Some(ids),
            ..Self::all()
        }
    }

    fn all() -> Self {
        Self {
            group_filter: None,
            reverse: false,
            limit: usize::MAX,
            ordered: None,
            with_annotations: false,
        }
    }

    /// Whether some groups may be left out.
    pub(crate) fn is_filtered(&self) -> bool {
        self.group_filter.is_some()
    }

    /// Keeps only the groups that are selected.
    pub(crate) fn keep(&self, groups: &mut Vec<KnownGroup>) {
        if let Some(group_filter) = &self.group_filter {
            let mut finds = group_matcher(&group_filter.request);
            groups.retain(|group| group_filter.matches(group) && finds(group));
        }
    }

    /// The ids in order. Of each group only what the order needs is held in memory.
    async fn ordered_by(
        &self,
        session: &Session,
        sort: &SortBy,
    ) -> Result<Vec<UserGroupId>, CliError> {
        let mut builder = Builder::for_groups(0);
        session
            .each_listed(&Self::all(), async |groups| {
                let groups = groups.into_iter().map(|(group, _)| group);
                let mut groups: Vec<_> = groups.collect();
                self.keep(&mut groups);
                for group in groups {
                    builder.push(&only_sort_key(group, sort));
                }
                Ok(true)
            })
            .await?;
        let index = builder.finish();
        let request = SearchRequest {
            sort: sort.clone(),
            reverse: self.reverse,
            ..match_everything(session.operations.now())
        };
        let found = run_search(&index, request, None, &|| true);
        let shown = found.iter().flat_map(|found| found.shown.iter());
        let ids = shown.filter_map(|number| index.entry(*number));
        let ids = ids.filter_map(|entry| UserGroupId::parse(entry.id()).ok());
        Ok(ids.take(self.limit).collect())
    }
}

impl Session {
    /// Passes the groups of a listing in chunks to `take`, for as long as it returns that more are wanted.
    pub(crate) async fn each_listed(
        &self,
        listing: &Listing,
        mut take: impl AsyncFnMut(Vec<Listed>) -> Result<bool, CliError>,
    ) -> Result<(), CliError> {
        if let Some(ordered) = &listing.ordered {
            for ids in ordered.chunks(CHUNK) {
                let groups = self.operations.show_by_ids(ids.to_vec()).await?;
                let groups = groups.into_iter().flatten().collect();
                if !take(self.with_annotations(listing, groups).await?).await? {
                    break;
                }
            }
            return Ok(());
        }
        let (sender, mut some) = tokio::sync::mpsc::channel::<Vec<KnownGroup>>(2);
        let reading = self
            .operations
            .each_group_from(listing.reverse, move |groups| {
                sender.blocking_send(groups).is_ok()
            });
        // Moves the receiver in, so that it is dropped at the end and the reading side does not wait for it.
        let taking = async move {
            let mut left = listing.limit;
            while let Some(mut groups) = some.recv().await {
                listing.keep(&mut groups);
                groups.truncate(left);
                left -= groups.len();
                let is_wanted = take(self.with_annotations(listing, groups).await?).await?;
                if !is_wanted || left == 0 {
                    break;
                }
            }
            Ok(())
        };
        let (read, taken) = tokio::join!(reading, taking);
        read?;
        taken
    }

    /// Adds the annotations, if the listing wants them.
    pub(crate) async fn with_annotations(
        &self,
        listing: &Listing,
        groups: Vec<KnownGroup>,
    ) -> Result<Vec<Listed>, CliError> {
        if !listing.with_annotations {
            return Ok(groups.into_iter().map(|group| (group, None)).collect());
        }
        let ids = groups.iter().map(|group| group.id.clone()).collect();
        let beside = self.operations.annotations_of(ids).await?;
        Ok(groups.into_iter().zip(beside).collect())
    }

    /// The groups that match the filter now; `None` without one.
    pub(crate) async fn matching_ids(
        &self,
        of: ListedFor,
        filter: Option<&str>,
        undone: &str,
    ) -> Result<Option<BTreeSet<UserGroupId>>, CliError> {
        if filter.is_none() {
            return Ok(None);
        }
        let listing = Listing::of(self, of, filter, &Order::default(), None, undone).await?;
        let ids = self.ids_listed(&listing).await?;
        Ok(Some(ids.into_iter().collect()))
    }

    /// The ids of a listing, in order.
    pub(crate) async fn ids_listed(&self, listing: &Listing) -> Result<Vec<UserGroupId>, CliError> {
        let mut ids = Vec::new();
        self.each_listed(listing, async |groups| {
            ids.extend(groups.into_iter().map(|(group, _)| group.id));
            Ok(true)
        })
        .await?;
        Ok(ids)
    }
}

/// What the exclusions of a filter exclude among all known groups.
async fn exclusions(
    session: &Session,
    request: &SearchRequest,
) -> Result<ExclusionRemarks, CliError> {
    let mut exclusions = Exclusions::of(request);
    if !request.query.without.is_empty() {
        session
            .each_listed(&Listing::all(), async |groups| {
                Ok(groups.iter().all(|(group, _)| exclusions.see(group)))
            })
            .await?;
    }
    Ok(exclusions.remarks())
}

/// A request that matches everything.
fn match_everything(at: Timestamp) -> SearchRequest {
    SearchRequest {
        query: Query::default(),
        sort: SortBy::Id,
        reverse: false,
        best_first: false,
        open: Arc::default(),
        extras: GroupExtras::default(),
        at,
    }
}

async fn parse_filter(
    session: &Session,
    filter: &str,
    older_than: Option<Duration>,
    undone: &str,
) -> Result<GroupFilter, CliError> {
    let operations = &session.operations;
    let views = operations.filters_of_views().await?;
    let mut query = Query::parse_with(filter, operations.profile().max_token_age, &views);
    if !query.wrong.is_empty() {
        let wrong = query.wrong.join("; ");
        return Err(CliError::Usage(format!("--filter: {wrong}; {undone}")));
    }
    for doubtful in &query.doubtful {
        output::say(&format!("! --filter: {doubtful}"));
    }
    let words = std::mem::take(&mut query.words);
    let open = operations.open_rotations().await?.into_iter();
    let mut extras = GroupExtras::default();
    if query.uses_extras() {
        if query.is_flagged() {
            return Err(CliError::Usage(format!(
                "--filter: flag: works only in the console; {undone}"
            )));
        }
        let drafts = operations.drafts().await?.into_iter();
        let drafts = drafts.map(|kept| kept.draft.user_group_id);
        extras.drafts = Arc::new(drafts.collect());
        extras.annotations = Arc::new(operations.annotations().await?);
    }
    let open = open.map(|row| (row.user_group_id, row.rotation.state));
    // What is chosen because it is old is sent: no clock of a person's machine decides that.
    let at = match older_than {
        Some(_) => operations.common_now().await?,
        None => operations.now(),
    };
    Ok(GroupFilter {
        words,
        request: SearchRequest {
            query,
            open: Arc::new(open.collect()),
            extras,
            ..match_everything(at)
        },
        older_than,
    })
}

impl GroupFilter {
    fn matches(&self, group: &KnownGroup) -> bool {
        let limit = self.older_than;
        contains_words(group, &self.words)
            && limit.is_none_or(|limit| is_older(group, limit, self.request.at))
    }
}

/// The part of a group that determines its position.
fn only_sort_key(group: KnownGroup, sort: &SortBy) -> KnownGroup {
    let mut bare = KnownGroup::new(group.id);
    match sort {
        SortBy::Id => {}
        SortBy::Name => bare.name = group.name,
        SortBy::Tag => bare.environment_tag = group.environment_tag,
        SortBy::Mapping => bare.mapping = group.mapping,
        SortBy::Properties => bare.properties = group.properties,
        SortBy::Token => bare.fingerprint = group.fingerprint,
        SortBy::Rotated => bare.last_rotated = group.last_rotated,
        SortBy::Seen => bare.last_seen = group.last_seen,
        SortBy::Property(key) => {
            bare.properties = group.properties.map(|mut known| {
                known.value.retain(|name, _| **name == **key);
                known
            });
        }
    }
    bare
}

fn contains_words(group: &KnownGroup, words: &[Word]) -> bool {
    let mut words = words.iter();
    words.all(|word| word.is_in(group.id.as_str()) || word.is_in(group.title()))
}

/// Whether the token is older than `limit`. A token of unknown age counts as old.
fn is_older(group: &KnownGroup, limit: Duration, now: Timestamp) -> bool {
    age::age(group, now).is_none_or(|age| age > limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_chosen_by_its_own_id_in_any_script() {
        for id in ["ΣΑΣ.eu", "İzmir", "Ⱥb", "zoé", "Zoe\u{301}", "한국"] {
            let group = KnownGroup::new(UserGroupId::parse(id).expect("an ID"));
            let words = |typed: &str| Query::parse(typed, None).words;
            assert!(contains_words(&group, &words(id)), "{id}");
            assert!(contains_words(&group, &words(&format!("\"{id}\""))), "{id}");
            assert!(!contains_words(&group, &words("s.x")), "{id}");
        }
        let group = KnownGroup::new(UserGroupId::parse("acme-eu").expect("an ID"));
        let scattered = Query::parse("aceu", None).words;
        assert!(!contains_words(&group, &scattered), "only as it stands");
    }
}
