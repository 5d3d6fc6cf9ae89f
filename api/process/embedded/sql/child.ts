import { Worker } from 'node:worker_threads'
import { Collected, cellOf } from '../../../operations/sql/auditor.ts'
import { openSql } from '../open-sql.ts'
import type { FromChild, ToChild } from './process-auditor.ts'
import { NoQuestion, onlyReading, question } from './statement.ts'

// A process that answers SQL questions one by one. A query inside SQLite cannot be interrupted. The parent kills this
// process, or, without a parent, the watchdog thread does.

/** SQLite's memory limit in this process, in bytes. */
const HEAP = 512 * 1024 * 1024
/** The longest text or blob that an expression may create, in bytes. */
const LENGTH = 64 * 1024 * 1024

/**
 * Ends this process when a question takes twice its time, if the parent is gone. SQLite blocks this thread, so the watch
 * needs a thread of its own. Its program is text, because the path of a file differs between clone and package. Node's
 * permission model and a policy against `eval` would break it; test/api/audit/ask-sql.test.ts notices.
 */
const due = new BigInt64Array(new SharedArrayBuffer(8))
new Worker(
  `const { workerData: due } = require('node:worker_threads'), never = new Int32Array(new SharedArrayBuffer(4))
  for (;;) {
    Atomics.wait(never, 0, 0, 250)
    const at = Atomics.load(due, 0)
    if (at > 0n && BigInt(Date.now()) > at) process.kill(process.pid, 'SIGKILL')
  }`,
  { eval: true, workerData: due, env: {}, execArgv: [] },
).unref()

function answer({ data, past, text, rows }: ToChild): FromChild {
  const { db, close } = openSql(data, past)
  try {
    db.exec(`pragma hard_heap_limit = ${HEAP}`)
    db.limits.length = LENGTH
    onlyReading(db)
    const statement = question(db, text)
    const found = new Collected(rows)
    const columns = statement.columns().map(({ name }) => name)
    statement.setReturnArrays(true)
    for (const row of statement.iterate()) if (!found.add(Object.values(row).map(cellOf))) break
    return { answer: { columns, rows: found.rows, more: found.more } }
  } catch (error) {
    const { message, name, errcode } = error as Error & { errcode?: number }
    const isRefused = error instanceof NoQuestion || errcode === NOT_ALLOWED
    const kind = isRefused ? 'refused' : errcode === NO_MEMORY ? 'limit' : 'failed'
    return { fault: { kind: name === 'ProjectionError' ? 'none' : kind, message } }
  } finally {
    close()
  }
}

/** The codes of SQLITE_NOMEM and SQLITE_AUTH. */
const NO_MEMORY = 7
const NOT_ALLOWED = 23

process.on('message', (asked: ToChild) => {
  Atomics.store(due, 0, BigInt(Date.now() + 2 * asked.ms))
  const said = answer(asked)
  Atomics.store(due, 0, 0n)
  process.send!(said)
})
process.on('disconnect', () => process.exit())

process.send?.('ready')
