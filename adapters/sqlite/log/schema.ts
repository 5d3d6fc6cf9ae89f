// The storage format of the SQLite log. A change needs a new SCHEMA number and a migration.

/** `PRAGMA application_id`: marks a SQLite file as a keepup log ("kuLg"). */
export const APPLICATION_ID = 0x6b754c67

/** `PRAGMA user_version`: the schema's number. */
export const SCHEMA = 3

/**
 * Headers are columns. Repeating parts are interned: `kinds` (the kind of event) and `origins` (the owner). `proof`
 * contains the raw hash (32 bytes), body hash (32) and, if present, digest (32). In `command` and `call`, \x01 at the beginning stands for the agent's id; in `causation`, \x02 stands for the stream and `@`. `wake` is -1 for
 * null in the header. `bytes` are salt and body, zstd if `packed` is 1, and NULL after an erasure.
 *
 * The triggers refuse every change of written rows, also by REPLACE, which fires no delete trigger. The only permitted
 * change follows from a row in `erasures`, which empties the body. That row can only be inserted before its fact, whose
 * foreign key is checked at commit. The fact is therefore always in the same transaction.
 */
export const CREATE = `
CREATE TABLE streams(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE kinds(
  id INTEGER PRIMARY KEY, type TEXT NOT NULL, version INTEGER NOT NULL, format INTEGER NOT NULL,
  media_type TEXT NOT NULL, place TEXT NOT NULL CHECK(place IN ('inline', 'blob')),
  min_reader INTEGER
) STRICT;

CREATE TABLE origins(
  id INTEGER PRIMARY KEY, stream INTEGER NOT NULL REFERENCES streams(id),
  run_id TEXT, agent_id TEXT,
  actor_kind TEXT NOT NULL, actor_id TEXT NOT NULL, actor_claimed INTEGER NOT NULL,
  driver_id TEXT, driver_epoch INTEGER, correlation_id TEXT, cipher_alg TEXT, cipher_key TEXT,
  key_id TEXT
) STRICT;
CREATE INDEX origins_stream ON origins(stream);

CREATE TABLE events(
  position INTEGER PRIMARY KEY, stream INTEGER NOT NULL, revision INTEGER NOT NULL,
  kind INTEGER NOT NULL REFERENCES kinds(id), origin INTEGER NOT NULL REFERENCES origins(id),
  turn INTEGER NOT NULL, at INTEGER NOT NULL, size INTEGER NOT NULL, fold INTEGER,
  command TEXT NOT NULL, causation TEXT, call TEXT, trace TEXT, nonce TEXT, wake INTEGER,
  proof BLOB NOT NULL CHECK(length(proof) = CASE WHEN fold IS NULL THEN 64 ELSE 96 END)
) STRICT;
CREATE UNIQUE INDEX events_stream ON events(stream, revision);

CREATE TABLE bodies(position INTEGER PRIMARY KEY, packed INTEGER NOT NULL, bytes BLOB) STRICT;

CREATE TABLE erasures(
  position INTEGER PRIMARY KEY REFERENCES events(position),
  fact INTEGER NOT NULL REFERENCES events(position) DEFERRABLE INITIALLY DEFERRED
) STRICT;
CREATE INDEX erasures_fact ON erasures(fact);

CREATE TABLE usage(
  owner TEXT PRIMARY KEY, events INTEGER NOT NULL, bytes INTEGER NOT NULL, blobs INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE usage_upto(id INTEGER PRIMARY KEY CHECK(id = 1), position INTEGER NOT NULL) STRICT;
INSERT INTO usage_upto VALUES(1, 0);

CREATE TRIGGER events_in_order BEFORE INSERT ON events
WHEN NEW.position <= (SELECT ifnull(max(position), 0) FROM events)
  OR NEW.revision <> (SELECT ifnull(max(revision), -1) + 1 FROM events WHERE stream = NEW.stream)
  OR EXISTS (SELECT 1 FROM erasures JOIN kinds k ON k.id = NEW.kind WHERE fact = NEW.position AND k.type <> 'erased')
BEGIN SELECT RAISE(ABORT, 'the log grows at its end, and only an erased fact empties a body'); END;
CREATE TRIGGER bodies_once BEFORE INSERT ON bodies WHEN EXISTS (SELECT 1 FROM bodies WHERE position = NEW.position)
BEGIN SELECT RAISE(ABORT, 'the log refuses UPDATE'); END;
CREATE TRIGGER bodies_no_update BEFORE UPDATE ON bodies
WHEN NEW.position <> OLD.position OR NEW.bytes IS NOT NULL
  OR NOT EXISTS (SELECT 1 FROM erasures WHERE position = OLD.position)
BEGIN SELECT RAISE(ABORT, 'the log refuses UPDATE'); END;
CREATE TRIGGER erasures_first BEFORE INSERT ON erasures
WHEN NEW.fact <= (SELECT ifnull(max(position), 0) FROM events)
  OR EXISTS (SELECT 1 FROM erasures WHERE position = NEW.position)
BEGIN SELECT RAISE(ABORT, 'an erasure is of the same transaction as its fact'); END;
CREATE TRIGGER erasures_empty AFTER INSERT ON erasures
BEGIN
  INSERT INTO bodies SELECT NEW.position, 0, NULL
    WHERE NOT EXISTS (SELECT 1 FROM bodies WHERE position = NEW.position);
  UPDATE bodies SET packed = 0, bytes = NULL WHERE position = NEW.position AND bytes IS NOT NULL;
END;
${['events', 'erasures', 'streams', 'kinds', 'origins']
  .map(
    (table) => `
CREATE TRIGGER ${table}_no_update BEFORE UPDATE ON ${table} BEGIN SELECT RAISE(ABORT, 'the log refuses UPDATE'); END;`,
  )
  .join('')}
${['events', 'bodies', 'erasures', 'streams', 'kinds', 'origins']
  .map(
    (table) => `
CREATE TRIGGER ${table}_no_delete BEFORE DELETE ON ${table} BEGIN SELECT RAISE(ABORT, 'the log refuses DELETE'); END;`,
  )
  .join('')}
${['streams', 'kinds', 'origins']
  .map(
    (table) => `
CREATE TRIGGER ${table}_once BEFORE INSERT ON ${table} WHEN EXISTS (SELECT 1 FROM ${table} WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'the log refuses UPDATE'); END;`,
  )
  .join('')}
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${SCHEMA};
`
