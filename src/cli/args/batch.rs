//! The options of bulk runs, and the parsers for their ages and rates.

use std::time::Duration;

use clap::Args;

use crate::{
    directory::BatchOptions,
    domain::age::{self, InvalidAge},
    operations::batch::RunLimits,
};

/// How fast a run goes, and when it gives up.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Several groups")]
pub(crate) struct Pace {
    /// Maximum number of parallel requests [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrency: Option<u16>,
    /// Maximum rate per second or minute, such as 5/s or 30/m
    #[arg(long, value_name = "N/s", value_parser = rate)]
    rate: Option<f64>,
    /// Stop after this many consecutive failures; 0 never stops [default: 3]
    #[arg(long, alias = "stop-after", value_name = "N")]
    max_failures: Option<u16>,
}

impl Pace {
    pub(crate) fn is_given(self) -> bool {
        self.concurrency.is_some() || self.rate.is_some() || self.max_failures.is_some()
    }

    /// These, and what is not given as that batch was told.
    pub(crate) fn options(self, before: BatchOptions) -> BatchOptions {
        BatchOptions {
            concurrency: self.concurrency.or(before.concurrency),
            rate: self.rate.or(before.rate),
            stop_after: self.max_failures.or(before.stop_after),
            ..before
        }
    }

    pub(crate) fn limits(self) -> RunLimits {
        RunLimits::of(self.options(BatchOptions::default()))
    }
}

/// How fast the groups of a file are read or sent.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Speed {
    /// Maximum number of parallel requests
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrency: u16,
    /// Maximum rate per second or minute, such as 5/s or 30/m
    #[arg(long, value_name = "N/s", value_parser = rate)]
    rate: Option<f64>,
}

impl Speed {
    pub(crate) fn pace(self) -> RunLimits {
        RunLimits {
            concurrency: self.concurrency.into(),
            rate: self.rate,
            ..RunLimits::default()
        }
    }
}

/// Rotating many groups.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Several groups")]
pub(crate) struct BatchArgs {
    /// Select tokens older than this (90d, 12h) or of unknown age, oldest first
    #[arg(long, value_name = "AGE", value_parser = age, conflicts_with_all = ["ids", "from"])]
    pub(crate) older_than: Option<Duration>,
    /// Include groups rotated within 24 h; of one group, within the last minute
    #[arg(long)]
    pub(crate) include_recent: bool,
    #[command(flatten)]
    pub(crate) pace: Pace,
}

impl BatchArgs {
    pub(crate) fn is_given(&self) -> bool {
        self.older_than.is_some() || self.pace.is_given()
    }
}

/// An age, as filters and settings have it.
fn age(text: &str) -> Result<Duration, InvalidAge> {
    age::parse(text)
}

/// Per second: `5/s`, `0.5/s`, `30/m`.
fn rate(text: &str) -> Result<f64, &'static str> {
    let wrong = "expected a number above zero with a unit: 5/s or 30/m";
    let (number, seconds) = match text.split_once('/') {
        Some((number, "s")) => (number, 1.0),
        Some((number, "m")) => (number, 60.0),
        Some(_) => return Err(wrong),
        None => (text, 1.0),
    };
    let number: f64 = number.parse().map_err(|_| wrong)?;
    let rate = number / seconds;
    // At a lower rate nobody would live to see the end.
    if rate.is_finite() && rate >= 0.001 {
        Ok(rate)
    } else {
        Err(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_rates_are_read_with_their_units() {
        assert_eq!(age("90d"), Ok(Duration::from_hours(90 * 24)));
        assert_eq!(age("2w"), Ok(Duration::from_hours(14 * 24)));
        for wrong in ["", "d", "90", "-1d", "1.5d", "90é", "90D", "3m", "0d"] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
        assert_eq!(rate("5/s"), Ok(5.0));
        assert_eq!(rate("30/m"), Ok(0.5));
        for wrong in ["", "0/s", "-1/s", "5/h", "NaN/s", "inf"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
    }
}
