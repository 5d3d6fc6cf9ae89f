/** The names of one deployment's schemas and locks in a database. */
export interface Names {
  /** The schema with the views of the live tables, for people who use SQL. */
  readonly views: string
  /** The same name quoted, because it may be an SQL keyword; the other names cannot. */
  readonly published: string
  /** The schema with the pointer to the live tables and the list of generations. */
  readonly control: string
  /** The schema of a generation's tables. */
  tables(n: number): string
  /** The schema with the views of a generation that is not live. */
  asideViews(n: number): string
  /** SQL of the lock for changes of the control schema. */
  readonly lock: string
  /** SQL of the lock that the writers of a generation share. */
  writers(n: number): string
}

/** `schema`: lower-case letters, digits and `_`, at most 40 characters. Throws RangeError for any other name. */
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
