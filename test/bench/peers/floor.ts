import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { answerOf } from '../text.ts'
import { contend, nextResult } from './contender.ts'

// A bare table of SQLite: each answer and each result is one row and one commit. Whatever is durable costs this.

await contend(async ({ folder }) => {
  const db = new DatabaseSync(join(folder, 'floor.db'))
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE facts(run INTEGER NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
      PRIMARY KEY (run, number)) STRICT`)
  const insert = db.prepare('INSERT INTO facts VALUES (?, ?, ?, ?)')
  let runs = 0
  return {
    async run(turns) {
      const run = ++runs
      let number = 0
      const write = async (kind: string, body: unknown) => insert.run(run, ++number, kind, JSON.stringify(body))
      await write('start', { task: 'Read the files.' })
      for (let turn = 1; turn <= turns; turn++) {
        await write('answer', answerOf(turn, turn === turns))
        if (turn < turns) await write('result', { content: nextResult() })
      }
    },
    async results() {
      const { held } = db.prepare("SELECT count(*) AS held FROM facts WHERE kind = 'result'").get() as { held: number }
      return held
    },
    durability: async () => `synchronous ${db.prepare('PRAGMA synchronous').get()!.synchronous}`,
    close: async () => db.close(),
  }
})
