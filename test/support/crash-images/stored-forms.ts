import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { zstdDecompressSync } from 'node:zlib'

const SQLITE = Buffer.from('SQLite format 3\0')
/** Enough to identify a value, and little enough to lie on one page of a database. */
const SAMPLE_BYTES = 48

/**
 * Bytes that the databases among these files contain only while they store a text: the text itself, and a sample of each
 * compressed value that contains it.
 */
export function storedFormsOf(text: string, files: readonly string[]): Buffer[] {
  const databases = files.filter((file) => readFileSync(file).subarray(0, SQLITE.length).equals(SQLITE))
  return [Buffer.from(text), ...databases.flatMap((file) => compressedForms(text, file))]
}

function compressedForms(text: string, file: string): Buffer[] {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const tables = db.prepare("select name from sqlite_schema where type = 'table'").all()
    const values = tables.flatMap(({ name }) => db.prepare(`select * from "${name}"`).all().flatMap(Object.values))
    return values.flatMap((value) => (value instanceof Uint8Array ? sampleOf(Buffer.from(value), text) : []))
  } finally {
    db.close()
  }
}

function sampleOf(value: Buffer, text: string): Buffer[] {
  try {
    // The end of a compressed value differs from those of other values. A long value continues on other pages.
    return zstdDecompressSync(value).includes(text) && value.length < 3000 ? [value.subarray(-SAMPLE_BYTES)] : []
  } catch {
    return []
  }
}
