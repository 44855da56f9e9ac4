PRAGMA application_id = 1734636395;
PRAGMA user_version = 8;
BEGIN TRANSACTION;
CREATE TABLE alarms (
    number          INTEGER PRIMARY KEY AUTOINCREMENT,
    place           INTEGER NOT NULL REFERENCES places (number) ON DELETE CASCADE,
    user_group_id   TEXT,
    what            TEXT    NOT NULL,
    raised_at       INTEGER NOT NULL,
    raised_by       TEXT    NOT NULL,
    acknowledged_at INTEGER,
    acknowledged_by TEXT,
    reason          TEXT
) STRICT;
CREATE TABLE batch_items (
    batch_id      INTEGER NOT NULL REFERENCES batches (id),
    position      INTEGER NOT NULL,
    user_group_id TEXT    NOT NULL,
    rotation_id   INTEGER REFERENCES rotations (id),
    outcome       TEXT,
    note          TEXT,
    PRIMARY KEY (batch_id, position),
    UNIQUE (batch_id, user_group_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "batch_items" VALUES(1,0,'acme',3,NULL,NULL);
INSERT INTO "batch_items" VALUES(1,1,'umbrella',4,NULL,NULL);
INSERT INTO "batch_items" VALUES(1,2,'hooli',NULL,NULL,NULL);
CREATE TABLE batches (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    profile    TEXT    NOT NULL,
    by         TEXT    NOT NULL,
    reason     TEXT,
    started_at INTEGER NOT NULL,
    -- Null while something is left to do.
    ended_at   INTEGER
, place INTEGER REFERENCES places (number)) STRICT;
INSERT INTO "batches" VALUES(1,'live','ana','batch',1795685964988130,NULL,1);
CREATE TABLE bindings (
    profile     TEXT    NOT NULL,
    url         TEXT    NOT NULL,
    place       INTEGER NOT NULL REFERENCES places (number) ON DELETE CASCADE,
    environment TEXT,
    at          INTEGER NOT NULL,
    PRIMARY KEY (profile, url)
) STRICT, WITHOUT ROWID;
INSERT INTO "bindings" VALUES('live','http://127.0.0.1:SERVICE/api/user',1,'Customer',1795685964019380);
INSERT INTO "bindings" VALUES('testing','http://127.0.0.1:SERVICE/api/user',2,NULL,1795685964312141);
CREATE TABLE console_views (
    profile    TEXT    NOT NULL PRIMARY KEY,
    filter     TEXT    NOT NULL,
    sort       TEXT    NOT NULL,
    reverse    INTEGER NOT NULL,
    best_first INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE drafts (
    place         INTEGER NOT NULL REFERENCES places (number),
    user_group_id TEXT    NOT NULL CHECK (length(user_group_id) BETWEEN 1 AND 255),
    -- The place it came from where two places became one, else 0.
    merged        INTEGER NOT NULL DEFAULT 0,
    creating      INTEGER NOT NULL CHECK (creating IN (0, 1)),
    name          TEXT    NOT NULL,
    mapping       TEXT    NOT NULL CHECK (json_valid(mapping)),
    properties    TEXT    NOT NULL,
    mapping_text  TEXT,
    group_text    TEXT,
    base          TEXT    NOT NULL CHECK (json_valid(base)),
    base_at       INTEGER NOT NULL,
    changed_at    INTEGER NOT NULL,
    by            TEXT    NOT NULL,
    PRIMARY KEY (place, user_group_id, merged)
) STRICT;
CREATE TABLE facts (
    place  INTEGER NOT NULL REFERENCES places (number) ON DELETE CASCADE,
    fact   TEXT    NOT NULL,
    value  TEXT    NOT NULL,
    source TEXT    NOT NULL,
    at     INTEGER NOT NULL,
    by     TEXT    NOT NULL,
    PRIMARY KEY (place, fact)
) STRICT, WITHOUT ROWID;
INSERT INTO "facts" VALUES(1,'absent_mapping','keep','told',1795685964391906,'ana');
INSERT INTO "facts" VALUES(1,'absent_name','keep','told',1795685964391905,'ana');
INSERT INTO "facts" VALUES(1,'absent_properties','keep','told',1795685964391907,'ana');
INSERT INTO "facts" VALUES(1,'sole_writer','yes','told',1795685964391907,'ana');
CREATE TABLE fingerprints (
    fingerprint   BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    place         INTEGER NOT NULL REFERENCES places (number),
    user_group_id TEXT    NOT NULL,
    first_seen    INTEGER NOT NULL,
    last_seen     INTEGER NOT NULL,
    PRIMARY KEY (fingerprint, place, user_group_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "fingerprints" VALUES(X'0A1B79BE48B09DD6F80181DE195E08A31055308AA9799148EEFA635E2B8F7B3B',1,'hooli',1795685964282102,1795685964282102);
INSERT INTO "fingerprints" VALUES(X'3CD690E95DE35E87288280FF62687A3301992920611FEF5173D1547D06E42B37',2,'acme',1795685964357945,1795685964952798);
INSERT INTO "fingerprints" VALUES(X'4C2D4629C3484F29A752873B0E2D479687176CB538AFE35B118212E17347C620',1,'umbrella',1795685964214364,1795685965123377);
INSERT INTO "fingerprints" VALUES(X'571E94B34A45989D2964CF04444C3624A4623382C46A89A7B9356C84A5F69C41',1,'initech',1795685964166892,1795685964904762);
INSERT INTO "fingerprints" VALUES(X'61E4673BA4898CFBED7DC188B779D221F18140E81D141A6045A86C3932D7F42B',1,'acme',1795685964585081,1795685965009281);
INSERT INTO "fingerprints" VALUES(X'640894F4257B563B385E84B9AA2B9659E19CD07CEE9D7AA6FCA0E14955DD7D94',1,'acme',1795685965024752,1795685965069938);
INSERT INTO "fingerprints" VALUES(X'B6FB735D8671660C8C9DBF4D0674A863EF5F2B42CA3ED32A77D9D46ADF11AD79',1,'acme',1795685964063075,1795685964569609);
INSERT INTO "fingerprints" VALUES(X'FF26D2022642885E25E8C2C15D8CE46F08EDEE1788B911DD186C9DB1470FB524',1,'globex',1795685964110251,1795685964698526);
CREATE TABLE history (
    number               INTEGER PRIMARY KEY AUTOINCREMENT,
    at                   INTEGER NOT NULL,
    by                   TEXT    NOT NULL,
    profile              TEXT    NOT NULL,
    user_group_id        TEXT    NOT NULL,
    operation            TEXT    NOT NULL,
    ending               TEXT    NOT NULL,
    previous_fingerprint BLOB CHECK (length(previous_fingerprint) = 32),
    fingerprint          BLOB CHECK (length(fingerprint) = 32),
    reason               TEXT,
    changes              TEXT CHECK (json_valid(changes)),
    note                 TEXT
, place INTEGER REFERENCES places (number), key INTEGER) STRICT;
INSERT INTO "history" VALUES(1,1795685964063285,'ana','live','acme','create','created',NULL,X'B6FB735D8671660C8C9DBF4D0674A863EF5F2B42CA3ED32A77D9D46ADF11AD79',NULL,'{"name":[null,"Acme"],"mapping":{"40":[null,"213"]},"properties":{"plan":[null,"\"basic\""]}}',NULL,1,1);
INSERT INTO "history" VALUES(2,1795685964110357,'ana','live','globex','create','created',NULL,X'FF26D2022642885E25E8C2C15D8CE46F08EDEE1788B911DD186C9DB1470FB524',NULL,'{"name":[null,"Globex"],"mapping":{"40":[null,"213"]},"properties":{"plan":[null,"\"basic\""]}}',NULL,1,1);
INSERT INTO "history" VALUES(3,1795685964167207,'ana','live','initech','create','created',NULL,X'571E94B34A45989D2964CF04444C3624A4623382C46A89A7B9356C84A5F69C41',NULL,'{"name":[null,"Initech"],"mapping":{"40":[null,"213"]},"properties":{"plan":[null,"\"basic\""]}}',NULL,1,1);
INSERT INTO "history" VALUES(4,1795685964214478,'ana','live','umbrella','create','created',NULL,X'4C2D4629C3484F29A752873B0E2D479687176CB538AFE35B118212E17347C620',NULL,'{"name":[null,"Umbrella"],"mapping":{"40":[null,"213"]},"properties":{"plan":[null,"\"basic\""]}}',NULL,1,1);
INSERT INTO "history" VALUES(5,1795685964282385,'ana','live','hooli','create','created',NULL,X'0A1B79BE48B09DD6F80181DE195E08A31055308AA9799148EEFA635E2B8F7B3B',NULL,'{"name":[null,"Hooli"],"mapping":{"40":[null,"213"]},"properties":{"plan":[null,"\"basic\""]}}',NULL,1,1);
INSERT INTO "history" VALUES(6,1795685964358216,'ana','testing','acme','create','created',NULL,X'3CD690E95DE35E87288280FF62687A3301992920611FEF5173D1547D06E42B37',NULL,'{"name":[null,"Acme test"]}',NULL,2,2);
INSERT INTO "history" VALUES(7,1795685964486670,'ana','live','acme','update','updated',X'B6FB735D8671660C8C9DBF4D0674A863EF5F2B42CA3ED32A77D9D46ADF11AD79',X'B6FB735D8671660C8C9DBF4D0674A863EF5F2B42CA3ED32A77D9D46ADF11AD79',NULL,'{"mapping":{"9":[null,"1"]}}',NULL,1,1);
INSERT INTO "history" VALUES(8,1795685964585068,'ana','live','acme','rotate','rotated',X'B6FB735D8671660C8C9DBF4D0674A863EF5F2B42CA3ED32A77D9D46ADF11AD79',X'61E4673BA4898CFBED7DC188B779D221F18140E81D141A6045A86C3932D7F42B','yearly',NULL,NULL,1,1);
INSERT INTO "history" VALUES(9,1795685964642012,'ana','live','acme','rotate','confirmed',X'B6FB735D8671660C8C9DBF4D0674A863EF5F2B42CA3ED32A77D9D46ADF11AD79',X'61E4673BA4898CFBED7DC188B779D221F18140E81D141A6045A86C3932D7F42B','yearly',NULL,'read back: the service holds the new token',1,NULL);
INSERT INTO "history" VALUES(10,1795685964750045,'ana','live','globex','rotate','unknown',X'FF26D2022642885E25E8C2C15D8CE46F08EDEE1788B911DD186C9DB1470FB524',NULL,'leaked',NULL,'the connection broke before the answer was whole; the rotation was sent and may have taken effect; read the group, do not rotate again',1,1);
INSERT INTO "history" VALUES(11,1795685964915866,'ana','live','initech','update','unknown',NULL,NULL,NULL,NULL,'UNKNOWN whether the update took effect: it was sent, but the connection broke before the answer was whole. Read the group; sending the same update again is safe',1,1);
INSERT INTO "history" VALUES(12,1795685965024740,'ana','live','acme','rotate','rotated',X'61E4673BA4898CFBED7DC188B779D221F18140E81D141A6045A86C3932D7F42B',X'640894F4257B563B385E84B9AA2B9659E19CD07CEE9D7AA6FCA0E14955DD7D94','batch',NULL,NULL,1,1);
INSERT INTO "history" VALUES(13,1795685965069929,'ana','live','acme','rotate','confirmed',X'61E4673BA4898CFBED7DC188B779D221F18140E81D141A6045A86C3932D7F42B',X'640894F4257B563B385E84B9AA2B9659E19CD07CEE9D7AA6FCA0E14955DD7D94','batch',NULL,'read back: the service holds the new token',1,NULL);
CREATE TABLE import_rows (
    import_id INTEGER NOT NULL REFERENCES imports (id),
    number    INTEGER NOT NULL CHECK (number > 0),
    outcome   TEXT    NOT NULL,
    PRIMARY KEY (import_id, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE imports (
    id         INTEGER PRIMARY KEY,
    profile    TEXT    NOT NULL,
    digest     BLOB    NOT NULL CHECK (length(digest) = 32),
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    by         TEXT    NOT NULL
, place INTEGER REFERENCES places (number)) STRICT;
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('fingerprint_key',X'D0789FD1337C3357FDBDC09EE5180E57F42A1D7FA80F5E53FB5E39A1C53AA728');
CREATE TABLE mutations (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    place         INTEGER NOT NULL REFERENCES places (number),
    user_group_id TEXT    NOT NULL CHECK (length(user_group_id) BETWEEN 1 AND 255),
    -- create, update, rotate, or a get of an id that was not known: it can create.
    operation     TEXT    NOT NULL,
    state         TEXT    NOT NULL,
    rotation_id   INTEGER UNIQUE REFERENCES rotations (id),
    by            TEXT    NOT NULL,
    profile       TEXT    NOT NULL,
    key           INTEGER,
    reason        TEXT,
    started_at    INTEGER NOT NULL,
    sent_at       INTEGER,
    -- As in `rotations`: when the intent, then the sending, became durable.
    boot_clock    TEXT,
    ended_at      INTEGER,
    ending        TEXT,
    note          TEXT,
    -- What was to be changed, as the history writes it.
    changes       TEXT CHECK (json_valid(changes)),
    -- Grows with every outcome of the group that is written down: a reading that left before it says nothing any more.
    recorded      INTEGER,
    -- The place it came from where two places became one, else 0: two that held one group both stand.
    merged        INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO "mutations" VALUES(1,1,'acme','create','ended',NULL,'ana','live',1,NULL,1795685964034066,1795685964037396,'00000000-0000-4000-8000-000000000000:48313836327',1795685964063056,'created',NULL,'{"name":[null,"Acme"],"mapping":{"40":[null,"213"]},"properties":{"plan":[null,"\"basic\""]}}',1,0);
INSERT INTO "mutations" VALUES(2,1,'globex','create','ended',NULL,'ana','live',1,NULL,1795685964093129,1795685964101564,'00000000-0000-4000-8000-000000000000:48313900483',1795685964110241,'created',NULL,'{"name":[null,"Globex"],"mapping":{"40":[null,"213"]},"properties":{"plan":[null,"\"basic\""]}}',1,0);
INSERT INTO "mutations" VALUES(3,1,'initech','create','ended',NULL,'ana','live',1,NULL,1795685964136378,1795685964145656,'00000000-0000-4000-8000-000000000000:48313944585',1795685964166878,'created',NULL,'{"name":[null,"Initech"],"mapping":{"40":[null,"213"]},"properties":{"plan":[null,"\"basic\""]}}',1,0);
INSERT INTO "mutations" VALUES(4,1,'umbrella','create','ended',NULL,'ana','live',1,NULL,1795685964196858,1795685964205454,'00000000-0000-4000-8000-000000000000:48314004375',1795685964214354,'created',NULL,'{"name":[null,"Umbrella"],"mapping":{"40":[null,"213"]},"properties":{"plan":[null,"\"basic\""]}}',1,0);
INSERT INTO "mutations" VALUES(5,1,'hooli','create','ended',NULL,'ana','live',1,NULL,1795685964252523,1795685964273534,'00000000-0000-4000-8000-000000000000:48314072497',1795685964282090,'created',NULL,'{"name":[null,"Hooli"],"mapping":{"40":[null,"213"]},"properties":{"plan":[null,"\"basic\""]}}',1,0);
INSERT INTO "mutations" VALUES(6,2,'acme','create','ended',NULL,'ana','testing',2,NULL,1795685964339800,1795685964349508,'00000000-0000-4000-8000-000000000000:48314148442',1795685964357933,'created',NULL,'{"name":[null,"Acme test"]}',1,0);
INSERT INTO "mutations" VALUES(7,1,'acme','update','ended',NULL,'ana','live',1,NULL,1795685964426273,1795685964479758,'00000000-0000-4000-8000-000000000000:48314278716',1795685964486492,'updated',NULL,'{"mapping":{"9":[null,"1"]}}',2,0);
INSERT INTO "mutations" VALUES(8,1,'acme','rotate','ended',1,'ana','live',1,'yearly',1795685964569609,1795685964577401,'00000000-0000-4000-8000-000000000000:48314376511',1795685964585081,'confirmed',NULL,NULL,NULL,0);
INSERT INTO "mutations" VALUES(9,1,'globex','rotate','unknown',2,'ana','live',1,'leaked',1795685964698526,1795685964725669,'00000000-0000-4000-8000-000000000000:48314527855',NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "mutations" VALUES(10,1,'initech','update','unknown',NULL,'ana','live',1,NULL,1795685964882020,1795685964906419,'00000000-0000-4000-8000-000000000000:48314705391',NULL,NULL,'UNKNOWN whether the update took effect: it was sent, but the connection broke before the answer was whole. Read the group; sending the same update again is safe','{"name":["Initech","Initech 2"]}',2,0);
INSERT INTO "mutations" VALUES(11,1,'acme','rotate','ended',3,'ana','live',1,'batch',1795685965009281,1795685965013416,'00000000-0000-4000-8000-000000000000:48314812506',1795685965024752,'confirmed',NULL,NULL,NULL,0);
INSERT INTO "mutations" VALUES(12,1,'umbrella','rotate','sent',4,'ana','live',1,'batch',1795685965123377,1795685965124213,'00000000-0000-4000-8000-000000000000:48314923166',NULL,NULL,NULL,NULL,NULL,0);
CREATE TABLE place_events (
    number  INTEGER PRIMARY KEY AUTOINCREMENT,
    place   INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    by      TEXT    NOT NULL,
    profile TEXT    NOT NULL,
    event   TEXT    NOT NULL,
    note    TEXT
) STRICT;
INSERT INTO "place_events" VALUES(1,1,1795685964019380,'ana','live','made',NULL);
INSERT INTO "place_events" VALUES(2,1,1795685964019380,'ana','live','bound','http://127.0.0.1:SERVICE/api/user, API key trusted');
INSERT INTO "place_events" VALUES(3,2,1795685964312141,'ana','testing','made',NULL);
INSERT INTO "place_events" VALUES(4,2,1795685964312141,'ana','testing','bound','http://127.0.0.1:SERVICE/api/user, API key trusted');
CREATE TABLE place_keys (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    place       INTEGER NOT NULL REFERENCES places (number) ON DELETE CASCADE,
    fingerprint BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    state       TEXT    NOT NULL,
    added_at    INTEGER NOT NULL,
    added_by    TEXT    NOT NULL,
    UNIQUE (fingerprint, place)
) STRICT;
INSERT INTO "place_keys" VALUES(1,1,X'6323E75DAF4D7D76A55C63A8212D35BD1F6181F71422FB9F742E2F5D534AD003','trusted',1795685964019380,'ana');
INSERT INTO "place_keys" VALUES(2,2,X'649ADFBA8B8259C8E4700EF419BF3ED517D7EEC199A977EA4F5276F87662F206','trusted',1795685964312141,'ana');
CREATE TABLE place_urls (
    place INTEGER NOT NULL REFERENCES places (number) ON DELETE CASCADE,
    url   TEXT    NOT NULL,
    PRIMARY KEY (url, place)
) STRICT, WITHOUT ROWID;
INSERT INTO "place_urls" VALUES(1,'http://127.0.0.1:SERVICE/api/user');
INSERT INTO "place_urls" VALUES(2,'http://127.0.0.1:SERVICE/api/user');
CREATE TABLE places (
    number  INTEGER PRIMARY KEY AUTOINCREMENT,
    name    TEXT    NOT NULL UNIQUE,
    -- The environment tag that the profile names, else the first that an answer brought.
    tag     TEXT,
    made_at INTEGER NOT NULL,
    made_by TEXT    NOT NULL
) STRICT;
INSERT INTO "places" VALUES(1,'live','Customer',1795685964019380,'ana');
INSERT INTO "places" VALUES(2,'testing',NULL,1795685964312141,'ana');
CREATE TABLE rotation_events (
    rotation_id    INTEGER NOT NULL REFERENCES rotations (id),
    seq            INTEGER NOT NULL,
    at             INTEGER NOT NULL,
    event          TEXT    NOT NULL,
    fingerprint    BLOB CHECK (length(fingerprint) = 32),
    since_sent     INTEGER,
    horizon_passed INTEGER NOT NULL CHECK (horizon_passed IN (0, 1)),
    state          TEXT    NOT NULL,
    note           TEXT,
    PRIMARY KEY (rotation_id, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO "rotation_events" VALUES(1,1,1795685964569609,'intended',X'B6FB735D8671660C8C9DBF4D0674A863EF5F2B42CA3ED32A77D9D46ADF11AD79',NULL,0,'intended',NULL);
INSERT INTO "rotation_events" VALUES(1,2,1795685964577401,'sending',NULL,NULL,0,'sent',NULL);
INSERT INTO "rotation_events" VALUES(1,3,1795685964585081,'answered_new_token',X'61E4673BA4898CFBED7DC188B779D221F18140E81D141A6045A86C3932D7F42B',NULL,0,'rotated',NULL);
INSERT INTO "rotation_events" VALUES(1,4,1795685964642019,'read',X'61E4673BA4898CFBED7DC188B779D221F18140E81D141A6045A86C3932D7F42B',11,0,'confirmed','read back: the service holds the new token');
INSERT INTO "rotation_events" VALUES(2,1,1795685964698526,'intended',X'FF26D2022642885E25E8C2C15D8CE46F08EDEE1788B911DD186C9DB1470FB524',NULL,0,'intended',NULL);
INSERT INTO "rotation_events" VALUES(2,2,1795685964725669,'sending',NULL,NULL,0,'sent',NULL);
INSERT INTO "rotation_events" VALUES(2,3,1795685964750056,'answered_unclear',NULL,NULL,0,'unknown','the connection broke before the answer was whole; the rotation was sent and may have taken effect; read the group, do not rotate again');
INSERT INTO "rotation_events" VALUES(3,1,1795685965009281,'intended',X'61E4673BA4898CFBED7DC188B779D221F18140E81D141A6045A86C3932D7F42B',NULL,0,'intended',NULL);
INSERT INTO "rotation_events" VALUES(3,2,1795685965013416,'sending',NULL,NULL,0,'sent',NULL);
INSERT INTO "rotation_events" VALUES(3,3,1795685965024752,'answered_new_token',X'640894F4257B563B385E84B9AA2B9659E19CD07CEE9D7AA6FCA0E14955DD7D94',NULL,0,'rotated',NULL);
INSERT INTO "rotation_events" VALUES(3,4,1795685965069938,'read',X'640894F4257B563B385E84B9AA2B9659E19CD07CEE9D7AA6FCA0E14955DD7D94',4,0,'confirmed','read back: the service holds the new token');
INSERT INTO "rotation_events" VALUES(4,1,1795685965123377,'intended',X'4C2D4629C3484F29A752873B0E2D479687176CB538AFE35B118212E17347C620',NULL,0,'intended',NULL);
INSERT INTO "rotation_events" VALUES(4,2,1795685965124213,'sending',NULL,NULL,0,'sent',NULL);
CREATE TABLE rotations (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    profile        TEXT    NOT NULL,
    user_group_id  TEXT    NOT NULL,
    state          TEXT    NOT NULL,
    previous       BLOB    NOT NULL CHECK (length(previous) = 32),
    fingerprint    BLOB CHECK (length(fingerprint) = 32),
    refused        INTEGER NOT NULL CHECK (refused IN (0, 1)),
    read_unchanged INTEGER NOT NULL CHECK (read_unchanged IN (0, 1)),
    by             TEXT    NOT NULL,
    reason         TEXT,
    started_at     INTEGER NOT NULL,
    sent_at        INTEGER,
    note           TEXT
, handoff TEXT NOT NULL DEFAULT 'none', handoff_exit INTEGER, handoff_note TEXT, boot_clock TEXT, place INTEGER REFERENCES places (number), key INTEGER, hands_off INTEGER NOT NULL DEFAULT 0 CHECK (hands_off IN (0, 1)), merged INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "rotations" VALUES(1,'live','acme','confirmed',X'B6FB735D8671660C8C9DBF4D0674A863EF5F2B42CA3ED32A77D9D46ADF11AD79',X'61E4673BA4898CFBED7DC188B779D221F18140E81D141A6045A86C3932D7F42B',0,0,'ana','yearly',1795685964569609,1795685964577401,'read back: the service holds the new token','none',NULL,NULL,'00000000-0000-4000-8000-000000000000:48314376414',1,1,0,0);
INSERT INTO "rotations" VALUES(2,'live','globex','unknown',X'FF26D2022642885E25E8C2C15D8CE46F08EDEE1788B911DD186C9DB1470FB524',NULL,0,0,'ana','leaked',1795685964698526,1795685964725669,'the connection broke before the answer was whole; the rotation was sent and may have taken effect; read the group, do not rotate again','none',NULL,NULL,'00000000-0000-4000-8000-000000000000:48314527720',1,1,0,0);
INSERT INTO "rotations" VALUES(3,'live','acme','confirmed',X'61E4673BA4898CFBED7DC188B779D221F18140E81D141A6045A86C3932D7F42B',X'640894F4257B563B385E84B9AA2B9659E19CD07CEE9D7AA6FCA0E14955DD7D94',0,0,'ana','batch',1795685965009281,1795685965013416,'read back: the service holds the new token','none',NULL,NULL,'00000000-0000-4000-8000-000000000000:48314812409',1,1,0,0);
INSERT INTO "rotations" VALUES(4,'live','umbrella','sent',X'4C2D4629C3484F29A752873B0E2D479687176CB538AFE35B118212E17347C620',NULL,0,0,'ana','batch',1795685965123377,1795685965124213,NULL,'none',NULL,NULL,'00000000-0000-4000-8000-000000000000:48314923114',1,1,0,0);
CREATE TABLE user_groups (
    place           INTEGER NOT NULL REFERENCES places (number),
    user_group_id   TEXT    NOT NULL CHECK (length(user_group_id) BETWEEN 1 AND 255),
    name            TEXT,
    team_id         INTEGER,
    mapping         TEXT CHECK (json_valid(mapping)),
    properties      TEXT CHECK (json_valid(properties)),
    environment_tag TEXT,
    fingerprint     BLOB CHECK (length(fingerprint) = 32),
    origin          TEXT    NOT NULL CHECK (json_valid(origin)),
    last_rotated_at INTEGER,
    last_rotated_by TEXT,
    last_seen       INTEGER,
    -- Number of the API key that the last answer was got with.
    key             INTEGER,
    -- When its creation was seen: its first token is from then.
    created_at      INTEGER,
    PRIMARY KEY (place, user_group_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "user_groups" VALUES(1,'acme','Acme',1,'{"40":"213","9":"1"}','{"plan":"basic"}','Customer',X'640894F4257B563B385E84B9AA2B9659E19CD07CEE9D7AA6FCA0E14955DD7D94','{"name":["returned",1795685965069883,"ana"],"team_id":["returned",1795685965069883,"ana"],"mapping":["sent",1795685964486502,"ana"],"properties":["returned",1795685964063075,"ana"],"environment_tag":["returned",1795685965024745,"ana"],"fingerprint":["returned",1795685965069883,"ana"]}',1795685965024745,'ana',1795685965069883,1,1795685964063075);
INSERT INTO "user_groups" VALUES(1,'globex','Globex',2,'{"40":"213"}','{"plan":"basic"}',NULL,X'FF26D2022642885E25E8C2C15D8CE46F08EDEE1788B911DD186C9DB1470FB524','{"name":["returned",1795685964679734,"ana"],"team_id":["returned",1795685964679734,"ana"],"mapping":["sent",1795685964110251,"ana"],"properties":["returned",1795685964110251,"ana"],"fingerprint":["returned",1795685964679734,"ana"]}',NULL,NULL,1795685964679734,1,1795685964110251);
INSERT INTO "user_groups" VALUES(1,'hooli','Hooli',5,'{"40":"213"}','{"plan":"basic"}',NULL,X'0A1B79BE48B09DD6F80181DE195E08A31055308AA9799148EEFA635E2B8F7B3B','{"name":["returned",1795685964282102,"ana"],"team_id":["returned",1795685964282102,"ana"],"mapping":["sent",1795685964282102,"ana"],"properties":["returned",1795685964282102,"ana"],"fingerprint":["returned",1795685964282102,"ana"]}',NULL,NULL,1795685964282102,1,1795685964282102);
INSERT INTO "user_groups" VALUES(1,'initech','Initech',3,'{"40":"213"}','{"plan":"basic"}',NULL,X'571E94B34A45989D2964CF04444C3624A4623382C46A89A7B9356C84A5F69C41','{"name":["returned",1795685964904762,"ana"],"team_id":["returned",1795685964904762,"ana"],"mapping":["sent",1795685964166892,"ana"],"properties":["returned",1795685964166892,"ana"],"fingerprint":["returned",1795685964904762,"ana"]}',NULL,NULL,1795685964904762,1,1795685964166892);
INSERT INTO "user_groups" VALUES(1,'umbrella','Umbrella',4,'{"40":"213"}','{"plan":"basic"}',NULL,X'4C2D4629C3484F29A752873B0E2D479687176CB538AFE35B118212E17347C620','{"name":["returned",1795685965121918,"ana"],"team_id":["returned",1795685965121918,"ana"],"mapping":["sent",1795685964214364,"ana"],"properties":["returned",1795685964214364,"ana"],"fingerprint":["returned",1795685965121918,"ana"]}',NULL,NULL,1795685965121918,1,1795685964214364);
INSERT INTO "user_groups" VALUES(2,'acme','Acme test',6,NULL,NULL,NULL,X'3CD690E95DE35E87288280FF62687A3301992920611FEF5173D1547D06E42B37','{"name":["returned",1795685964952798,"ana"],"team_id":["returned",1795685964952798,"ana"],"fingerprint":["returned",1795685964952798,"ana"]}',NULL,NULL,1795685964952798,2,1795685964357945);
CREATE TRIGGER history_no_delete BEFORE DELETE ON history
BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
CREATE TRIGGER history_no_replace BEFORE INSERT ON history
WHEN EXISTS (SELECT 1 FROM history WHERE number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
CREATE TRIGGER rotation_events_no_update BEFORE UPDATE ON rotation_events
BEGIN SELECT RAISE(ABORT, 'rotation_events is append-only'); END;
CREATE TRIGGER rotation_events_no_delete BEFORE DELETE ON rotation_events
BEGIN SELECT RAISE(ABORT, 'rotation_events is append-only'); END;
CREATE TRIGGER rotation_events_no_replace BEFORE INSERT ON rotation_events
WHEN EXISTS (SELECT 1 FROM rotation_events WHERE rotation_id = NEW.rotation_id AND seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'rotation_events is append-only'); END;
CREATE INDEX bindings_of_place ON bindings (place);
CREATE INDEX place_events_of_place ON place_events (place);
CREATE INDEX alarms_open ON alarms (place) WHERE acknowledged_at IS NULL;
CREATE TRIGGER history_no_update
BEFORE UPDATE OF number, at, by, profile, user_group_id, operation, ending, previous_fingerprint, fingerprint, reason,
 changes, note, key ON history
BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;
CREATE TRIGGER history_needs_place BEFORE INSERT ON history WHEN NEW.place IS NULL
BEGIN SELECT RAISE(ABORT, 'a line of the history needs its place'); END;
CREATE INDEX history_of_place ON history (place);
CREATE INDEX history_of_group ON history (user_group_id, place);
CREATE TRIGGER rotations_need_place BEFORE INSERT ON rotations WHEN NEW.place IS NULL
BEGIN SELECT RAISE(ABORT, 'a rotation needs its place'); END;
CREATE UNIQUE INDEX rotations_one_per_token ON rotations (place, user_group_id, previous, merged)
    WHERE state NOT IN ('not_applied', 'abandoned');
CREATE INDEX rotations_open ON rotations (place)
    WHERE state IN ('intended', 'sent', 'rotated', 'unknown');
CREATE INDEX rotations_to_hand_off ON rotations (place) WHERE handoff = 'pending';
CREATE TRIGGER batches_need_place BEFORE INSERT ON batches WHEN NEW.place IS NULL
BEGIN SELECT RAISE(ABORT, 'a batch needs its place'); END;
CREATE INDEX batches_of_place ON batches (place);
CREATE TRIGGER imports_need_place BEFORE INSERT ON imports WHEN NEW.place IS NULL
BEGIN SELECT RAISE(ABORT, 'an import needs its place'); END;
CREATE INDEX imports_open ON imports (place, digest) WHERE ended_at IS NULL;
CREATE TRIGGER place_events_no_update BEFORE UPDATE ON place_events
BEGIN SELECT RAISE(ABORT, 'place_events is append-only'); END;
CREATE TRIGGER place_events_no_delete BEFORE DELETE ON place_events
BEGIN SELECT RAISE(ABORT, 'place_events is append-only'); END;
CREATE UNIQUE INDEX mutations_one_per_group ON mutations (place, user_group_id, merged)
    WHERE state IN ('intended', 'sent', 'unknown');
CREATE INDEX mutations_open ON mutations (place, user_group_id)
    WHERE state IN ('intended', 'sent', 'unknown', 'open');
CREATE INDEX mutations_recorded ON mutations (place, user_group_id, recorded);
CREATE TRIGGER mutations_no_delete BEFORE DELETE ON mutations
BEGIN SELECT RAISE(ABORT, 'mutations are never deleted'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('places',2);
INSERT INTO "sqlite_sequence" VALUES('mutations',12);
INSERT INTO "sqlite_sequence" VALUES('place_events',4);
INSERT INTO "sqlite_sequence" VALUES('place_keys',2);
INSERT INTO "sqlite_sequence" VALUES('history',13);
INSERT INTO "sqlite_sequence" VALUES('rotations',4);
INSERT INTO "sqlite_sequence" VALUES('batches',1);
COMMIT;
