import type { Indexes } from '../engine/changes/stream-kind.ts'

// The full-text index of `memories`. Each database maintains it by itself: the projector writes only rows, and rebuilt
// tables have a rebuilt index. Both databases index the same words (domain/memory/words.ts).

/** FTS5 without a copy of the text. The rowid is the position of the fact's first event, which is unique. */
const sqlite: readonly string[] = [
  `create virtual table memory_words using fts5(words, content='', contentless_delete=1, detail=none,
  tokenize="ascii tokenchars '@'", prefix='3')`,
  `create trigger memory_words_insert after insert on memories when new.words is not null begin
  insert into memory_words(rowid, words) values (new.started, new.place_word || ' ' || new.words); end`,
  `create trigger memory_words_update after update of words on memories when old.words is not new.words begin
  delete from memory_words where rowid = old.started;
  insert into memory_words(rowid, words)
    select new.started, new.place_word || ' ' || new.words where new.words is not null; end`,
  `create trigger memory_words_delete after delete on memories when old.words is not null begin
  delete from memory_words where rowid = old.started; end`,
]

/** The words are already normalised, so no parser of the database runs over them. */
const postgres: readonly string[] = [
  `alter table memories add column vector tsvector
  generated always as (array_to_tsvector(string_to_array(rtrim(place_word || ' ' || words), ' '))) stored`,
  'create index idx_memories_vector on memories using gin (vector)',
]

export const memoryIndexes: Indexes = { sqlite, postgres }
