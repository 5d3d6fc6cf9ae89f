import { join } from 'node:path'
import { appendToStream, createEventStoreSchema, sqliteConnection } from '@event-driven-io/emmett-sqlite'
import { answerOf } from '../../text.ts'
import { contend, nextResult } from '../contender.ts'

// emmett's event store over one connection. Its store object opens the file anew for each append, which costs more.

await contend(async ({ folder }) => {
  const connection = sqliteConnection({ fileName: join(folder, 'emmett.db') })
  await createEventStoreSchema(connection)
  // Transactions that overlap on its connection become one, and the first of them would be acknowledged before its commit.
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work)
    last = next
    return next
  }
  let runs = 0
  return {
    async run(turns) {
      const stream = `run-${++runs}`
      let version = 0n
      const append = async (type: string, data: Record<string, unknown>) => {
        const expectedStreamVersion = version
        const done = await inTurn(() =>
          appendToStream(connection, stream, 'run', [{ type, data }], { expectedStreamVersion }),
        )
        if (!done.success) throw new Error(`${type} of ${stream} was not appended`)
        version = done.nextStreamPosition
      }
      await append('Started', { task: 'Read the files.' })
      for (let turn = 1; turn <= turns; turn++) {
        await append('ModelAnswered', answerOf(turn, turn === turns))
        if (turn < turns) await append('ToolReturned', { content: nextResult() })
      }
    },
    async results() {
      const row = await connection.querySingle<{ held: number }>(
        "SELECT count(*) AS held FROM emt_messages WHERE message_type = 'ToolReturned'",
      )
      return row!.held
    },
    async durability() {
      const row = await connection.querySingle<{ synchronous: number }>('PRAGMA synchronous')
      return `synchronous ${row!.synchronous}`
    },
    close: async () => connection.close(),
  }
})
