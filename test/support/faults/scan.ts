import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { zstdDecompressSync } from 'node:zlib'

/** The encodings in which a secret could be written. */
export function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const hex = bytes.toString('hex')
  const base64 = bytes.toString('base64').replace(/=+$/, '')
  // Inside other bytes, base64 has two further alignments. Use the part that does not depend on the adjacent bytes:
  const shifted = [1, 2].map((n) => {
    const text = Buffer.concat([Buffer.alloc(n), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    return text.slice(4, -4)
  })
  const json = JSON.stringify(secret).slice(1, -1)
  const url = encodeURIComponent(secret)
  return [
    ...new Set([
      secret,
      base64,
      base64.replace(/\+/g, '-').replace(/\//g, '_'),
      ...shifted,
      hex,
      hex.toUpperCase(),
      json,
      url,
    ]),
  ]
}

/** Lists every place below a folder that contains one of the texts or bytes: in files, database rows and git objects. */
export function placesOf(texts: readonly (string | Uint8Array)[], folder: string): string[] {
  const found: string[] = []
  const search = (name: string, bytes: Uint8Array) => {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (texts.some((text) => buffer.includes(text))) found.push(name)
  }
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const name = relative(folder, path)
    const bytes = readFileSync(path)
    search(name, bytes)
    if (bytes.subarray(0, 15).toString('latin1') === 'SQLite format 3')
      for (const row of rowsOf(path)) search(`${name}: ${row.table}`, row.bytes)
    if (isPacked(bytes)) search(`${name} (unpacked)`, zstdDecompressSync(bytes))
    if (entry.name === 'HEAD') search(`${relative(folder, entry.parentPath)} (objects)`, objectsOf(entry.parentPath))
  }
  return [...new Set(found)]
}

const isPacked = (bytes: Uint8Array): boolean => Buffer.from(bytes.subarray(0, 4)).toString('hex') === '28b52ffd'

function* rowsOf(path: string): Generator<{ table: string; bytes: Uint8Array }> {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'").all()
    for (const { name } of tables) {
      const statement = db.prepare(`SELECT * FROM "${name}"`)
      statement.setReadBigInts(true)
      for (const row of statement.iterate()) {
        for (const value of Object.values(row)) {
          if (typeof value === 'string') yield { table: String(name), bytes: Buffer.from(value) }
          if (!(value instanceof Uint8Array)) continue
          yield { table: String(name), bytes: value }
          if (isPacked(value)) yield { table: String(name), bytes: zstdDecompressSync(value) }
        }
      }
    }
  } finally {
    db.close()
  }
}

/** All objects of a git repository as one byte sequence, including unreachable objects. */
function objectsOf(repository: string): Uint8Array {
  const args = ['--git-dir', repository, 'cat-file', '--batch-all-objects', '--batch']
  const { status, stdout, stderr } = spawnSync('git', args, { maxBuffer: 1 << 28 })
  if (status !== 0) throw new Error(`git cannot list the objects of ${repository}: ${stderr}`)
  return stdout
}
