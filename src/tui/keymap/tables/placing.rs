//! The choice of a profile, and the dialog about its place.

use super::{A, Binding, MOVE};

tables! {
    PROFILES {
        Enter ["enter"] "take it" "take the marked line";
        Connect ["a"] "add one" "add a profile";
        Back ["esc"] "close" "close";
    } + MOVE

    PLACE_CHOICE {
        Enter ["enter"] "take it" "take the marked line; a new environment asks once more";
        Back ["esc"] "not now" "close; nothing is sent, the list can be read";
    } + MOVE

    PLACE_NEW {
        Confirm ["y"] "NEW environment" "it is another environment; Enter does nothing here";
        Back ["esc"] "back" "back to the choice";
    }

    PLACE_PROOF {
        Enter ["enter"] "READ it" "read this group, to prove the API key";
        NextField ["tab"] "take the proposed" "put the proposed group into the field";
        Back ["esc"] "not now" "close; nothing is sent, the list can be read";
    }

    PLACE_REASON {
        Enter ["enter"] "ACKNOWLEDGE" "acknowledge the alarms, with this reason";
        Back ["esc"] "not now" "close; nothing is sent, the list can be read";
    }

    PLACE_WAIT {
        Back ["esc" "enter"] "close" "close; what is under way goes on";
    }
}
