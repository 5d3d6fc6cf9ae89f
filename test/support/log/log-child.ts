import { execFileSync } from 'node:child_process'
import { writeSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import type { Spawn } from '../../../adapters/sqlite/log/writer-thread.ts'
import { LogError } from '../../../domain/log/errors.ts'
import { StreamVerifier } from '../../../domain/log/verify.ts'
import { bytesOf, collect, NEW, Sealer, type Tip, tipOf } from './sealing.ts'

// A process that owns a log, for tests that observe the log from outside. It writes to stdout synchronously, so a line
// appears before any later effect.

const [, , task, folder = '', name = 'child', count = '0'] = process.argv
const say = (line: string) => writeSync(1, `${line}\n`)
const gate = new Int32Array(new SharedArrayBuffer(4))
const gated: Spawn = (at, place) =>
  new Worker(new URL('./gated-writer.ts', import.meta.url), {
    workerData: { folder: at, place, gate: gate.buffer },
    execArgv: [],
  })
// A gated writer would also delay the log's first event.
if (task === 'together') await (await openSqliteLog({ folder, mode: 'owner' })).close()
const log = await openSqliteLog({ folder, mode: 'owner', ...(task === 'together' && { spawn: gated }) })
const sealer = new Sealer(name)
sealer.ms = log.floor() - Date.parse('2026-01-01T00:00:00.000Z') + 1

/** Appends to a separate stream, one event after the other, and prints each acknowledged one. */
async function write(stream: string, times: number): Promise<void> {
  let tip = NEW
  for (let n = 0; n < times; n++) {
    const batch = sealer.batch(stream, tip, [{ body: { n, text: 'x'.repeat(200) } }, { body: { n } }])
    await log.append(stream, tip.revision, batch)
    tip = tipOf(batch)
    say(`ack ${stream} ${tip.revision} ${tip.hash}`)
  }
}

/** Sends all appends to several streams before the first one is processed, and prints each acknowledged one. */
async function together(streams: number, times: number): Promise<void> {
  const sent: Promise<unknown>[] = []
  for (let of = 0; of < streams; of++) {
    const stream = `agent-${name}-${of}`
    let tip = NEW
    for (let n = 0; n < times; n++) {
      const batch = sealer.batch(stream, tip, [{ body: { n } }])
      sent.push(log.append(stream, tip.revision, batch).then(({ position }) => say(`ack ${stream} ${position}`)))
      tip = tipOf(batch)
    }
  }
  Atomics.store(gate, 0, 1)
  Atomics.notify(gate, 0)
  await Promise.all(sent)
}

/**
 * Appends until the disk is full. Then prints the results of further appends of one group, and the readable events.
 * Then frees space on the mounted `disk` and resends the failed appends.
 */
async function fill(disk: string): Promise<void> {
  let tip = NEW
  const noise = (bytes: number) => Buffer.from(bytesOf(`${tip.revision}`, bytes)).toString('base64')
  const next = (stream: string, after: Tip) =>
    sealer.batch(stream, after, [{ body: noise(9000) }, { body: noise(6000) }])
  for (;;) {
    const batch = next('agent-fill', tip)
    try {
      await log.append('agent-fill', tip.revision, batch)
      tip = tipOf(batch)
    } catch (error) {
      if (!(error instanceof LogError)) throw error
      const more = [1, 2, 3].map((n) => log.append(`agent-more${n}`, -1, next(`agent-more${n}`, NEW)))
      more.push(log.append('agent-fill', 0, sealer.batch('agent-fill', { ...tip, revision: 0 }, [{}])))
      const group = (await Promise.allSettled(more)).map((r) => (r.status === 'rejected' ? r.reason.code : 'written'))
      const events = await collect(log.read('agent-fill'))
      const head = await log.head('agent-fill')
      const { code, message } = error
      say(JSON.stringify({ code, message, acked: tip.revision, head, read: events.length, group }))
      execFileSync('mount', ['-o', 'remount,size=64m', disk])
      await log.append('agent-fill', tip.revision, batch)
      const last = next('agent-fill', tipOf(batch))
      await log.append('agent-fill', last[0]!.header.revision - 1, last)
      return
    }
  }
}

/** Verifies the stream that {@link fill} wrote. */
async function check(): Promise<void> {
  const verifier = new StreamVerifier('agent-fill')
  for await (const page of log.read('agent-fill')) verifier.page(page)
  const { events, problems } = verifier.result()
  say(JSON.stringify({ stream: 'agent-fill', events, problems }))
}

if (task === 'write') await write(`agent-${name}`, Number(count))
else if (task === 'many')
  await Promise.all(Array.from({ length: 8 }, (_, n) => write(`agent-${name}-${n}`, Number(count))))
else if (task === 'together') await together(8, Number(count))
else if (task === 'fill') await fill(name)
else if (task === 'check') await check()
else if (task === 'hold') {
  say('ready')
  await new Promise((resolve) => process.stdin.once('end', resolve).resume())
} else throw new Error(`there is no task ${task}`)
await log.close()
