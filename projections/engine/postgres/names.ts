/** Where one deployment's tables are, in one database. */
export interface Names {
  /** Views of the live tables, for people who ask in SQL. */
  readonly views: string
  /** The same in SQL, where it may be a word with a meaning; no other name can be one. */
  readonly published: string
  /** The pointer to the live tables, and what tables there are. */
  readonly control: string
  /** A generation's tables. */
  tables(n: number): string
  /** The views of a generation that is not live. */
  asideViews(n: number): string
  /** SQL of the lock that changes of the control schema are made under. */
  readonly lock: string
  /** SQL of the lock that a generation's writers share. */
  writers(n: number): string
}

/** `schema`: lower-case letters, digits and `_`, at most 40. */
export function namesOf(schema: string): Names {
  if (!/^[a-z][a-z0-9_]{0,39}$/.test(schema) || schema.startsWith('pg_')) {
    throw new RangeError(`"${schema}" cannot be a schema here; use up to 40 of a-z, 0-9 and _, a letter first`)
  }
  return {
    views: schema,
    published: `"${schema}"`,
    control: `${schema}_control`,
    tables: (n) => `${schema}_${n}`,
    asideViews: (n) => `${schema}_${n}_views`,
    lock: `hashtextextended('keepup ${schema}', 0)`,
    writers: (n) => `hashtextextended('keepup ${schema} ${n}', 0)`,
  }
}
