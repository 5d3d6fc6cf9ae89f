import { describe, expect, it, onTestFinished } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { exportStreams } from '../../../api/operations/events/export.ts'
import { verifyExport } from '../../../api/operations/events/verify-export.ts'
import { EventViews } from '../../../api/operations/events/view.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { MemoryBlobs } from '../../support/harness.ts'
import { collect, type Draft, erasedBody, NEW, Sealer, tipOf } from '../../support/log/sealing.ts'

// An erasure may come between the reading of an event and that of its body, or in the middle of a stream that is read.

const STREAM = 'agent-a'
const SMALL = { text: 'a secret' }
const LARGE = { text: 'a secret '.repeat(40_000) }

async function recorded(draft: Draft) {
  const log = new MemoryLog()
  onTestFinished(() => log.close())
  const sealer = new Sealer()
  const said = sealer.batch(STREAM, NEW, [draft, {}])
  await log.append(STREAM, -1, said)
  const [event] = (await collect(log.read(STREAM))) as [RecordedEvent]
  const erase = () => {
    const fact = { type: 'erased', body: erasedBody(said[0]!) }
    return log.append(STREAM, 1, sealer.batch(STREAM, tipOf(said), [fact]))
  }
  return { log, event, erase }
}

describe('an event whose blob is gone', () => {
  it.each([SMALL, LARGE])('is shown as erased where that came after its reading', async (body) => {
    const { log, event, erase } = await recorded({ body, blob: true })
    const views = new EventViews(log, new MemoryBlobs())
    await erase()
    expect(await views.view(event)).toMatchObject({ id: event.id, erased: true, payload: null })
    const json = (await Array.fromAsync(views.json(event))).join('')
    expect(JSON.parse(json)).toMatchObject({ id: event.id, erased: true, payload: null })
    expect((await views.view(event)).altered).toBeUndefined()
  })

  it('is refused where nothing says that it was erased', async () => {
    const { log, event } = await recorded({ body: LARGE, blob: true })
    const views = new EventViews(log, new MemoryBlobs())
    const missing = { code: 'BLOB_MISSING' }
    await expect(views.view(event)).rejects.toMatchObject(missing)
    await expect(Array.fromAsync(views.json(event))).rejects.toMatchObject(missing)
  })
})

describe('an export', () => {
  const exported = (log: MemoryLog) => exportStreams(log, new MemoryBlobs(), STREAM, [STREAM])

  it('breaks off where bodies are erased under it: without the fact it would look altered', async () => {
    const { log, erase } = await recorded({ body: SMALL })
    const lines = exported(log)
    expect((await lines.next()).done).toBe(false)
    await erase()
    await expect(Array.fromAsync(lines)).rejects.toMatchObject({ code: 'BODY_ERASED' })
    expect(await verifyExport(exported(log))).toMatchObject({ ok: true, erased: 1 })
  })
})
