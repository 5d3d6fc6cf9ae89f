import { DatabaseSync } from 'node:sqlite'
import { openLogToRead } from './connection.ts'
import { CREATE } from './schema.ts'

/**
 * Names of the log's triggers that are changed, missing or foreign. A program that can write the file can change them.
 * Throws LogError if the log cannot be opened.
 */
export function alteredGuards(folder: string): string[] {
  const model = new DatabaseSync(':memory:')
  model.exec(CREATE)
  const [made, there] = [guardsOf(model), guardsOf(openLogToRead(folder))]
  return [...new Set([...made.keys(), ...there.keys()])].filter((name) => made.get(name) !== there.get(name)).sort()
}

function guardsOf(db: DatabaseSync): Map<string, string> {
  try {
    const rows = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all()
    return new Map(rows.map(({ name, sql }) => [String(name), String(sql)]))
  } finally {
    db.close()
  }
}
