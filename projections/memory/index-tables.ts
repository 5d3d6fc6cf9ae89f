// The full-text index of `memories`, which each database keeps by itself: the projector writes rows only, and tables that
// are made anew have their index made anew. Both hold the same words (domain/memory/words.ts).

/** FTS5 without a copy of the text; the row is found by the position of its first event, which is unique. */
export const sqliteIndex: readonly string[] = [
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

/** The words are in order already: no parser of the database takes them apart again. */
export const postgresIndex: readonly string[] = [
  `alter table memories add column vector tsvector
  generated always as (array_to_tsvector(string_to_array(rtrim(place_word || ' ' || words), ' '))) stored`,
  'create index idx_memories_vector on memories using gin (vector)',
]
