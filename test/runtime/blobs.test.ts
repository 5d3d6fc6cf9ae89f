import { expect, test } from 'vitest'
import { MemoryLog } from '../../adapters/log-memory/log.ts'
import { ConflictError, LogError } from '../../domain/log/errors.ts'
import { completes, MemoryBlobs, USER } from '../support/harness.ts'
import { given } from '../support/story.ts'

const LONG = 'x'.repeat(100_000)

/** A log that answers the next append with an error. */
class FailingLog extends MemoryLog {
  next: LogError | null = null
  override async append(...given: Parameters<MemoryLog['append']>): ReturnType<MemoryLog['append']> {
    const error = this.next
    this.next = null
    if (error !== null) throw error
    return super.append(...given)
  }
}

async function saying(error: LogError) {
  const log = new FailingLog()
  const blobs = new MemoryBlobs()
  const run = await given({ says: [completes()], ports: { log, blobs } })
  log.next = error
  const said = run.runtime.execute(run.runId, { kind: 'input', text: LONG }, { by: USER })
  return { ...run, blobs, said }
}

test('the blob of a decision that met a conflict is removed; the next one has its own', async () => {
  const run = await saying(new ConflictError('agent-x', 1, 2))
  await run.said
  const [, input] = await run.of('user_input')
  expect([...run.blobs.held.keys()]).toEqual([`${run.runId}/${input!.bodyHash}`])
})

test('where the log has no room nothing is left of it', async () => {
  const run = await saying(new LogError('LOG_FULL', 'no room'))
  await expect(run.said).rejects.toMatchObject({ code: 'LOG_FULL' })
  expect(run.blobs.held.size).toBe(0)
})

test('where it is not known whether it was written the blob stays, and is what the resent event names', async () => {
  const run = await saying(new LogError('LOG_UNAVAILABLE', 'who knows'))
  await run.said
  expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  expect(run.blobs.held.size).toBe(1)
})
