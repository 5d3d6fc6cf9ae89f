import { expect, test } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { call, calls, completes, MemoryBlobs, USER } from '../../support/harness.ts'
import { given, tool } from '../../support/story.ts'

// Nothing is folded that is not the body that was sealed: the chain holds only what its hashes are compared with.

const ASKS = '"requiresApproval":["wipe"]'
const altered = (bytes: Uint8Array) => Buffer.from(Buffer.from(bytes).toString().replace(ASKS, '"requiresApproval":[]'))

/** A log whose file another program has changed. */
class AlteredLog extends MemoryLog {
  alters = false
  override read(...asked: Parameters<MemoryLog['read']>): AsyncIterable<readonly RecordedEvent[]> {
    const pages = super.read(...asked)
    return this.alters ? changed(pages) : pages
  }
}

async function* changed(pages: AsyncIterable<readonly RecordedEvent[]>) {
  for await (const page of pages) yield page.map((event) => ({ ...event, body: event.body && altered(event.body) }))
}

async function asking(instructions: string) {
  const [blobs, log] = [new MemoryBlobs(), new AlteredLog()]
  const wipe = tool('wipe', { effect: 'irreversible' })
  const run = await given({
    says: [calls(call('wipe')), completes()],
    tools: [wipe],
    spec: { instructions, policy: { requiresApproval: ['wipe'] } },
    ports: { blobs, log },
  })
  return { ...run, blobs, log, wipe }
}

test.each([
  ['inline', 'short'],
  ['blob', 'x'.repeat(70_000)],
])('an altered %s body gives no leave: the run is refused, by stream and revision', async (place, instructions) => {
  const run = await asking(instructions)
  expect(run.blobs.held.size).toBe(place === 'blob' ? 1 : 0)
  run.log.alters = true
  for (const [at, bytes] of run.blobs.held) run.blobs.held.set(at, altered(bytes))
  const other = run.elsewhere()
  const corrupt = { code: 'LOG_CORRUPT', message: expect.stringContaining(`agent-${run.runId}@0`) }
  await expect(other.drive(run.runId, { signal: new AbortController().signal })).rejects.toMatchObject(corrupt)
  await expect(other.execute(run.runId, { kind: 'input', text: 'go' }, { by: USER })).rejects.toMatchObject(corrupt)
  await expect(other.at(run.runId, null)).rejects.toMatchObject(corrupt)
  expect(run.wipe.ran).toEqual([])
  expect(await other.verify(run.runId)).toMatchObject({ ok: false })
})
