import { statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openSqliteLog } from '../../../../adapters/sqlite/log/open.ts'
import type { RunSize } from '../../../../adapters/sqlite/log/usage.ts'
import { canonicalHeader } from '../../../../domain/log/canonical.ts'
import { GENESIS, saltBody, seal } from '../../../../domain/log/seal.ts'
import { tempFolder } from '../../../support/folders.ts'
import { anyHeader } from '../../../support/log/headers.ts'
import { bytesOf, collect, erasedBody, NEW, Sealer, tipOf } from '../../../support/log/sealing.ts'
import { owner, raw } from '../../../support/log/sqlite-log.ts'
import { property } from '../../../support/property.ts'
import { bodyBytes, typicalRun } from '../../../support/typical-run.ts'

const stream = 'agent-a1'

test('any header and body of the format is rebuilt exactly, also by the next process', async () => {
  const event = fc.record({ header: anyHeader, body: fc.uint8Array({ maxLength: 3000 }), text: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 5, maxLength: 20 }), async (drafts) => {
      const inOrder = [...drafts].sort((a, b) => (a.header.timestamp < b.header.timestamp ? -1 : 1))
      const sealed = inOrder.map(({ header, body, text }, index) => {
        const salted = saltBody(text ? Buffer.from('words '.repeat(400)) : body, bytesOf(`${index}`, 16))
        const own = { ...header.body, hash: salted.header.hash, size: salted.header.size }
        const stored = header.body.place === 'inline' ? salted.bytes : null
        const place = { stream: `${index}${header.stream}`, revision: 0 }
        return seal(
          GENESIS,
          { ...header, ...place, commandId: `${header.agentId}${header.commandId}`, body: own },
          stored,
        )
      })
      const folder = tempFolder()
      const clock = { now: () => Date.parse('0001-01-01T00:00:00.000Z') }
      const log = await openSqliteLog({ folder, mode: 'owner', clock })
      await Promise.all(sealed.map((one) => log.append(one.header.stream, -1, [one])))
      await log.close()
      const again = await openSqliteLog({ folder, mode: 'reader' })
      const events = (await collect(again.readAll(null))).slice(1)
      await again.close()
      expect(events.map(({ header }) => canonicalHeader(header))).toEqual(
        sealed.map(({ header }) => canonicalHeader(header)),
      )
      expect(events.map(({ hash }) => hash)).toEqual(sealed.map(({ hash }) => hash))
      events.forEach(({ body }, index) => {
        expect(body && Buffer.compare(body, sealed[index]!.body!)).toBe(sealed[index]!.body && 0)
      })
    }),
    property(12),
  )
})

describe('bytes', () => {
  test('of a typical run are at most 1.5 times its bodies, and grow with the run', async () => {
    const sizeOf = async (turns: number) => {
      const log = await owner()
      const batches = [...typicalRun('0abcdefghjkmnpqrstvwxyz', turns)]
      await Promise.all(
        batches.map((batch) => log.append(batch[0]!.header.stream, batch[0]!.header.revision - 1, batch)),
      )
      await log.close()
      return statSync(join(log.folder, 'log.db')).size / bodyBytes(batches)
    }
    const [short, long] = [await sizeOf(100), await sizeOf(400)]
    expect(long).toBeLessThanOrEqual(1.5)
    expect(short).toBeLessThanOrEqual(1.5)
    expect(long).toBeLessThanOrEqual(short * 1.05)
  })

  test('of the WAL stay bounded, however much is written', async () => {
    const log = await owner()
    const sealer = new Sealer()
    let tip = NEW
    let most = 0
    for (let n = 0; n < 150; n++) {
      const batch = sealer.batch(stream, tip, [{ body: Buffer.from(bytesOf(`${n}`, 45_000)).toString('base64') }])
      await log.append(stream, tip.revision, batch)
      tip = tipOf(batch)
      most = Math.max(most, statSync(join(log.folder, 'log.db-wal')).size)
    }
    expect(statSync(join(log.folder, 'log.db')).size).toBeGreaterThan(4 * 1024 * 1024)
    expect(most).toBeLessThan(8 * 1024 * 1024)
  })

  test('per run come from exact counters, also after an erasure and a restart', async () => {
    const log = await owner()
    const sealer = new Sealer('sizes')
    for (const run of ['r1', 'r2'])
      for (const batch of typicalRun(run, 50, sealer))
        await log.append(`agent-${run}`, batch[0]!.header.revision - 1, batch)
    const counted = await log.sizes()
    expect(await log.sizes([counted[0]!.runId])).toEqual([counted[0]])
    expect(counted.map(({ runId, events }) => [runId, events])).toEqual([
      ['log-meta', 1],
      ['r1', 350],
      ['r2', 350],
    ])
    const bodies = raw(log.folder).prepare(
      `SELECT sum(length(b.bytes)) AS bytes FROM events e JOIN origins o ON o.id = e.origin
       JOIN bodies b USING (position) GROUP BY o.run_id ORDER BY ifnull(o.run_id, 'log-meta')`,
    )
    const headersOf = (sizes: readonly RunSize[]) => {
      const stored = bodies.all()
      return sizes.map(({ bytes }, index) => bytes - Number(stored[index]?.bytes))
    }
    const headers = headersOf(counted)
    counted.forEach(({ events }, index) => {
      expect(headers[index]! / events).toBeGreaterThan(100)
      expect(headers[index]! / events).toBeLessThan(220)
    })
    const head = await log.head('agent-r1')
    const [first] = await collect(log.read('agent-r1', { limit: 1 }))
    const fact = sealer.batch('agent-r1', head!, [
      { type: 'erased', body: erasedBody(first!), header: { runId: 'r1' } },
    ])
    await log.append('agent-r1', head!.revision, fact)
    const after = await log.sizes()
    const ofFact = headersOf(after)[1]! - headers[1]!
    expect(ofFact).toBeGreaterThan(100)
    expect(ofFact).toBeLessThan(220)
    expect(after[2]).toEqual(counted[2])
    await log.close()
    expect(await (await owner(log.folder)).sizes()).toEqual(after)
  })
})
