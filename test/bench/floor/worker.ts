import { DatabaseSync } from 'node:sqlite'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { Append, FromFloor, ToFloor } from './writer.ts'

// A bare writer: the rows of our log in tables of the same columns and keys, without triggers, checks or interning.

const { path } = workerData as { path: string }
const db = new DatabaseSync(path)
db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS events(position INTEGER PRIMARY KEY, stream INTEGER NOT NULL, revision INTEGER NOT NULL,
    kind INTEGER NOT NULL, origin INTEGER NOT NULL, turn INTEGER NOT NULL, at INTEGER NOT NULL, size INTEGER NOT NULL,
    fold INTEGER, command TEXT NOT NULL, causation TEXT, call TEXT, trace TEXT, nonce TEXT, wake INTEGER, proof BLOB NOT NULL) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS events_stream ON events(stream, revision);
  CREATE TABLE IF NOT EXISTS bodies(position INTEGER PRIMARY KEY, packed INTEGER NOT NULL, bytes BLOB) STRICT`)
const event = db.prepare(`INSERT INTO events VALUES (${Array(16).fill('?')})`)
const body = db.prepare('INSERT INTO bodies VALUES (?, ?, ?)')
const [begin, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')]

function write(appends: readonly Append[]): void {
  begin.run()
  for (const { events, bodies } of appends) {
    for (const row of events) event.run(...row)
    for (const row of bodies) body.run(...row)
  }
  commit.run()
}

const port = parentPort!
const next = () => receiveMessageOnPort(port)?.message as ToFloor | undefined
port.on('message', (first: ToFloor) => {
  for (let message: ToFloor | undefined = first; message !== undefined; message = next()) {
    if (message === 'close') {
      db.close()
      port.close()
      return
    }
    if ('one' in message) {
      // Group commit of what waits.
      const group = [message.one]
      for (message = next(); message !== undefined && message !== 'close' && 'one' in message; message = next())
        group.push(message.one)
      write(group)
      port.postMessage({ done: group.length } satisfies FromFloor)
      if (message === undefined) return
      continue
    }
    const cpu = process.threadCpuUsage()
    const from = performance.now()
    for (const append of message.each) write([append])
    const ms = performance.now() - from
    const { user, system } = process.threadCpuUsage(cpu)
    port.postMessage({ ms, cpuMs: (user + system) / 1000 } satisfies FromFloor)
  }
})
