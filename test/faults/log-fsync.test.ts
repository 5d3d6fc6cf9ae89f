import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LOG_CHILD, start } from '../support/child.ts'
import { tempFolder } from '../support/folders.ts'

/** Events in the order of time: bytes written to the WAL, the WAL made durable, an append acknowledged. */
type Happening = 'wal' | 'sync' | 'ack'

/** Reads a trace with paths; a call that another thread interrupted counts where it returned. */
function happenings(trace: string): Happening[] {
  const open = new Map<string, string>()
  const found: Happening[] = []
  for (const line of trace.split('\n')) {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    if (rest.endsWith('<unfinished ...>')) {
      open.set(thread, rest)
      // A write counts from its start, a sync from its end.
      if (/^pwrite64\(\d+<[^>]*-wal>/.test(rest)) found.push('wal')
      continue
    }
    const resumed = /^<\.\.\. (\w+) resumed>/.test(rest)
    const call = resumed ? (open.get(thread) ?? '') : rest
    if (/^pwrite64\(\d+<[^>]*-wal>/.test(call) && !resumed) found.push('wal')
    else if (/^f(data)?sync\(\d+<[^>]*-wal>/.test(call) && /= 0$/.test(rest)) found.push('sync')
    else if (/^write\(1<[^>]*>, "ack /.test(call)) found.push('ack')
  }
  return found
}

async function traced(...task: string[]): Promise<Happening[]> {
  const out = join(tempFolder(), 'trace')
  const calls = 'trace=pwrite64,write,fsync,fdatasync'
  const child = start('strace', ['-f', '-y', '-s', '64', '-e', calls, '-o', out, process.execPath, LOG_CHILD, ...task])
  expect(await child.ended).toMatchObject({ end: 0 })
  return happenings(readFileSync(out, 'utf8'))
}

test('an append is acknowledged only when the WAL that holds it was synced', { tags: ['strace'] }, async () => {
  const events = await traced('write', tempFolder(), 'w', '25')
  expect(events.filter((event) => event === 'ack')).toHaveLength(25)
  let written = false
  let durable = false
  for (const event of events) {
    if (event === 'wal') [written, durable] = [true, false]
    else if (event === 'sync') durable = written
    else {
      expect({ written, durable }).toEqual({ written: true, durable: true })
      written = false
    }
  }
})

test('appends that wait share a sync', { tags: ['strace'] }, async () => {
  const events = await traced('together', tempFolder(), 'm', '20')
  const acks = events.filter((event) => event === 'ack').length
  const syncs = events.filter((event) => event === 'sync').length
  expect(acks).toBe(160)
  expect(syncs).toBeLessThan(acks / 2)
})
