import { describe, expect, test } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { ERASED } from '../../../domain/calls/events/residue.ts'
import type { ReadOptions } from '../../../domain/ports/index.ts'
import { call, calls, completes, MemoryBlobs } from '../../support/harness.ts'
import { given, longTool } from '../../support/story.ts'

// A run is erased while it is read: between two pages, or between an event and its blob.

/** Does something once, when it is set, before the log or the blobs give what they are asked for next. */
class Interrupted {
  before: (() => Promise<unknown>) | null = null
  async interrupt(): Promise<void> {
    const { before } = this
    this.before = null
    await before?.()
  }
}

async function finished() {
  const interrupted = new Interrupted()
  const log = new (class extends MemoryLog {
    inPages = false
    override read(stream: string, options?: ReadOptions) {
      const pages = super.read(stream, options)
      if (!this.inPages) return pages
      return (async function* () {
        await interrupted.interrupt()
        yield* pages
      })()
    }
  })()
  const blobs = new (class extends MemoryBlobs {
    override async get(...asked: Parameters<MemoryBlobs['get']>) {
      await interrupted.interrupt()
      return super.get(...asked)
    }
  })()
  const says = [calls(call('look')), completes('a secret')]
  const run = await given({ says, tools: [longTool('look')], task: 'a secret'.repeat(10_000), ports: { log, blobs } })
  expect(await run.drive()).toEqual({ end: 'done' })
  const erase = () => run.say({ kind: 'erase', all: true, reason: 'asked for' })
  return { ...run, log, interrupted, erase }
}

describe('a run that is erased while it is read', () => {
  test('is proved with what says so: an erasure between two pages looks like no damage', async () => {
    const run = await finished()
    run.log.inPages = true
    run.interrupted.before = run.erase
    const proof = await run.elsewhere().verify(run.runId)
    expect(run.interrupted.before).toBeNull()
    expect(proof).toMatchObject({ ok: true, problems: [] })
    expect(proof.erased.length).toBeGreaterThan(2)
    expect(proof.unchecked).toBe(0)
  })

  test('is proved although a blob goes after its event was read', async () => {
    const run = await finished()
    run.interrupted.before = run.erase
    const proof = await run.elsewhere().verify(run.runId)
    expect(run.interrupted.before).toBeNull()
    expect(proof).toMatchObject({ ok: true, problems: [] })
  })

  test('is folded on by what is left of it', async () => {
    const run = await finished()
    const { state } = await run.runtime.stateAt(run.runId, null)
    run.interrupted.before = run.erase
    const read = await run.elsewhere().at(run.runId, null)
    expect(run.interrupted.before).toBeNull()
    expect(read.state.machine).toMatchObject({ status: state.machine.status })
    expect(JSON.stringify(read.messages)).toContain(ERASED)
  })
})
