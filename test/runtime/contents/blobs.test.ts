import { expect, test } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { ConflictError, LogError } from '../../../domain/log/errors.ts'
import { completes, MemoryBlobs, USER } from '../../support/harness.ts'
import { given } from '../../support/story.ts'

const LONG = 'x'.repeat(100_000)

/** A log that answers its next appends with an error. */
class FailingLog extends MemoryLog {
  error: LogError | null = null
  times = 0
  override async append(...given: Parameters<MemoryLog['append']>): ReturnType<MemoryLog['append']> {
    if (this.error !== null && this.times-- > 0) throw this.error
    return super.append(...given)
  }
}

async function saying(error: LogError, times = 1) {
  const log = new FailingLog()
  const blobs = new MemoryBlobs()
  const run = await given({ says: [completes()], ports: { log, blobs } })
  Object.assign(log, { error, times })
  const said = run.runtime.execute(run.runId, { kind: 'input', text: LONG }, { by: USER })
  return { ...run, blobs, said }
}

test('the blob of a decision that met a conflict is removed; the next one has its own', async () => {
  const run = await saying(new ConflictError('agent-x', 1, 2))
  await run.said
  const [, input] = await run.of('user_input')
  expect([...run.blobs.held.keys()]).toEqual([`${run.runId}/${input!.bodyHash}`])
})

test.each(['LOG_FULL', 'APPEND_TOO_LARGE'] as const)(
  'where the log refuses with %s nothing is left of it',
  async (code) => {
    const run = await saying(new LogError(code, 'not written'))
    await expect(run.said).rejects.toMatchObject({ code })
    expect(run.blobs.held.size).toBe(0)
  },
)

test('where the log can empty nothing an erasure is refused, and so is what it would empty', async () => {
  const log = Object.assign(new FailingLog(), { erases: false })
  const run = await given({ says: [completes()], ports: { log } })
  await run.drive()
  const before = await run.types()
  const refused = { code: 'ERASE_IMPOSSIBLE' }
  await expect(run.say({ kind: 'erase', all: true, reason: 'asked for' })).rejects.toMatchObject(refused)
  await expect(run.runtime.erasable(run.runId, { all: true })).rejects.toMatchObject(refused)
  expect(await run.types()).toEqual(before)
})

test('where it is not known whether it was written the blob stays, and is what the resent event names', async () => {
  const run = await saying(new LogError('LOG_UNAVAILABLE', 'who knows'))
  await run.said
  expect((await run.runtime.verify(run.runId)).problems).toEqual([])
  expect(run.blobs.held.size).toBe(1)
  const never = await saying(new LogError('LOG_UNAVAILABLE', 'who knows'), 1_000)
  await expect(never.said).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
  expect(never.blobs.held.size).toBe(1)
})
