//! The time zone of this machine, read from one file. jiff itself would look through the names of all time zones for
//! it.

use std::{env, ffi::OsStr, fs, path::Path};

use jiff::tz::TimeZone;

/// The time zone of `TZ`, otherwise that of the machine; UTC if there is none.
pub(crate) fn time_zone() -> TimeZone {
    let variable = env::var_os("TZ");
    read(variable.as_deref(), Path::new("/")).unwrap_or_else(TimeZone::system)
}

/// Returns `None` if jiff should search, because it knows more places.
fn read(variable: Option<&OsStr>, root: &Path) -> Option<TimeZone> {
    let Some(variable) = variable else {
        return file(&root.join("etc/localtime"));
    };
    let variable = variable.to_str()?;
    let name = variable.strip_prefix(':').unwrap_or(variable);
    if name.is_empty() {
        return Some(TimeZone::UTC);
    }
    // A zone file of that name takes precedence over any other reading of `TZ`, as everywhere on Unix.
    let is_inside = !name.starts_with('/') && !name.split('/').any(|part| part == "..");
    let of_name = is_inside.then(|| file(&root.join("usr/share/zoneinfo").join(name)));
    of_name.flatten().or_else(|| TimeZone::posix(variable).ok())
}

fn file(path: &Path) -> Option<TimeZone> {
    TimeZone::tzif("local", &fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    /// A compiled zone file with a single offset.
    fn compiled(offset: i32) -> Vec<u8> {
        let mut data = b"TZif\0".to_vec();
        data.extend([0; 15]);
        for count in [0, 0, 0, 0, 1, 4_u32] {
            data.extend(count.to_be_bytes());
        }
        data.extend(offset.to_be_bytes());
        data.extend(b"\0\0ABC\0");
        data
    }

    #[test]
    fn it_is_that_of_the_variable_or_of_the_machine() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        let write = |name: &str, offset: i32| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, compiled(offset)).expect("written");
        };
        write("etc/localtime", 3600);
        write("usr/share/zoneinfo/Asia/Karachi", 5 * 3600);
        write("usr/share/zoneinfo/EST5EDT", -5 * 3600);
        write("outside", 0);
        let hours = |variable: Option<&str>| {
            let zone = read(variable.map(OsStr::new), root)?;
            Some(zone.to_offset(Timestamp::UNIX_EPOCH).seconds() / 3600)
        };
        assert_eq!(hours(None), Some(1));
        assert_eq!(hours(Some("")), Some(0));
        assert_eq!(hours(Some("Asia/Karachi")), Some(5));
        assert_eq!(hours(Some(":Asia/Karachi")), Some(5));
        assert_eq!(hours(Some("EST5EDT")), Some(-5));
        assert_eq!(hours(Some("CET-1CEST,M3.5.0,M10.5.0/3")), Some(1));
        for elsewhere in ["../../../outside", "/outside", "Nowhere/Town"] {
            assert_eq!(hours(Some(elsewhere)), None, "{elsewhere}");
        }
    }
}
