import { writeSync } from 'node:fs'
import { openSqliteLog } from '../../adapters/log-sqlite/open.ts'
import { LogError } from '../../domain/log/errors.ts'
import { StreamVerifier } from '../../domain/log/verify.ts'
import { collect, NEW, Sealer, tipOf } from './sealing.ts'

// A process that owns a log, for tests that look at it from outside. What it says on stdout is written synchronously, so
// that a line is out before anything that comes after it.

const [, , task, folder = '', name = 'child', count = '0'] = process.argv
const say = (line: string) => writeSync(1, `${line}\n`)
const log = await openSqliteLog({ folder, mode: 'owner' })
const sealer = new Sealer(name)
sealer.ms = log.floor() - Date.parse('2026-01-01T00:00:00.000Z') + 1

/** Appends to a stream of its own, one after the other, and tells each acknowledged one. */
async function write(stream: string, times: number): Promise<void> {
  let tip = NEW
  for (let n = 0; n < times; n++) {
    const batch = sealer.batch(stream, tip, [{ body: { n, text: 'x'.repeat(200) } }, { body: { n } }])
    await log.append(stream, tip.revision, batch)
    tip = tipOf(batch)
    say(`ack ${stream} ${tip.revision} ${tip.hash}`)
  }
}

/** Appends until the disk is full, then says what is still there. */
async function fill(): Promise<void> {
  let tip = NEW
  for (;;) {
    const text = Buffer.from(sealer.body({}).header.salt.repeat(700)).toString('base64')
    const batch = sealer.batch('agent-fill', tip, [{ body: { n: tip.revision, text } }, { body: text.slice(1) }])
    try {
      await log.append('agent-fill', tip.revision, batch)
      tip = tipOf(batch)
    } catch (error) {
      if (!(error instanceof LogError)) throw error
      const events = await collect(log.read('agent-fill'))
      const head = await log.head('agent-fill')
      say(JSON.stringify({ code: error.code, message: error.message, acked: tip.revision, head, read: events.length }))
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
else if (task === 'fill') await fill()
else if (task === 'check') await check()
else if (task === 'hold') {
  say('ready')
  await new Promise((resolve) => process.stdin.once('end', resolve).resume())
} else throw new Error(`there is no task ${task}`)
await log.close()
