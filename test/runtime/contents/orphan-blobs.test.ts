import { describe, expect, test } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { AGGREGATES } from '../../../domain/kinds.ts'
import { ConflictError, LogError } from '../../../domain/log/errors.ts'
import { sweepBlobs } from '../../../domain/stream/runtime/sweep-blobs.ts'
import { completes, MemoryBlobs, MemoryIntents, USER } from '../../support/harness.ts'
import { given } from '../../support/story.ts'

const LONG = 'what a patient said '.repeat(5_000)

/** A run to which something long is being said when its process is killed. */
async function killed(at: 'after_blobs' | 'after_append') {
  const blobs = new MemoryBlobs()
  const intents = new MemoryIntents()
  const never = new Promise<void>(() => undefined)
  let passed = () => {}
  const dead = new Promise<void>((resolve) => {
    passed = resolve
  })
  let armed = false
  const crashPoint = async (name: string) => {
    if (!armed || name !== at) return
    passed()
    await never
  }
  const run = await given({ says: [completes()], ports: { blobs, intents, crashPoint } })
  armed = true
  run.runtime.execute(run.runId, { kind: 'input', text: LONG }, { by: USER }).catch(() => undefined)
  await dead
  expect(blobs.held.size).toBe(1)
  return { ...run, blobs, intents, next: { log: run.log, blobs, intents } }
}

test('what a killed process has stored for an event that never came to be is removed at the next start', async () => {
  const { next, blobs } = await killed('after_blobs')
  expect(await sweepBlobs(next, AGGREGATES)).toBe(1)
  expect(blobs.held.size).toBe(0)
  expect(await next.intents.left()).toEqual([])
  expect(await sweepBlobs(next, AGGREGATES)).toBe(0)
})

test('what the log names stays', async () => {
  const { next, blobs, runId, elsewhere, intents } = await killed('after_append')
  expect(await sweepBlobs(next, AGGREGATES)).toBe(0)
  expect(blobs.held.size).toBe(1)
  expect(await elsewhere().verify(runId)).toMatchObject({ ok: true, problems: [] })
  expect(await intents.left()).toEqual([])
})

test('nothing is left to look for after an append, and a start reads only the streams of what is left', async () => {
  const intents = new MemoryIntents()
  const run = await given({ says: [completes()], ports: { intents } })
  await run.runtime.execute(run.runId, { kind: 'input', text: LONG }, { by: USER })
  expect(await intents.left()).toEqual([])
  const log = { read: () => expect.fail('nothing is to be read') } as never
  expect(await sweepBlobs({ log, blobs: run.ports.blobs, intents }, AGGREGATES)).toBe(0)
})

test('a note that cannot be taken back fails nothing that is recorded, nor hides why an append was refused', async () => {
  const intents = new MemoryIntents()
  intents.end = async () => Promise.reject(new Error('the disk is gone'))
  const log = new MemoryLog()
  const append = log.append.bind(log)
  let refused = 0
  log.append = async (stream, ...rest) => {
    if (refused++ === 1) throw new ConflictError(stream, 1, 2)
    return append(stream, ...rest)
  }
  const run = await given({ says: [completes()], ports: { log, intents } })
  const said = await run.runtime.execute(run.runId, { kind: 'input', text: LONG }, { by: USER })
  expect(said.recorded).toBe(true)
  expect(await run.of('user_input')).toHaveLength(2)
  await sweepBlobs(
    { log, blobs: run.ports.blobs, intents: Object.assign(intents, { end: async () => undefined }) },
    AGGREGATES,
  )
  expect(await run.runtime.verify(run.runId)).toMatchObject({ ok: true, problems: [] })
})

describe('an erasure', () => {
  /** A finished run that was told something long, in a log whose appends a test takes over. */
  async function told() {
    const [blobs, intents, log] = [new MemoryBlobs(), new MemoryIntents(), new MemoryLog()]
    const run = await given({ says: [completes()], task: LONG, ports: { blobs, intents, log } })
    await run.drive()
    expect(blobs.held.size).toBe(1)
    const erase = () => run.say({ kind: 'erase', all: true, reason: 'asked for' })
    return { ...run, blobs, intents, log, append: log.append.bind(log), erase, next: { log, blobs, intents } }
  }

  test.each([true, false])('in which the process dies has its blobs removed at the next start: %s', async (landed) => {
    const { log, append, erase, next, blobs, intents, elsewhere, runId } = await told()
    const dead = new Promise<void>((passed) => {
      log.append = async (...batch) => {
        if (landed) await append(...batch)
        passed()
        return new Promise(() => undefined)
      }
    })
    erase().catch(() => undefined)
    await dead
    log.append = append
    expect(await sweepBlobs(next, AGGREGATES)).toBe(landed ? 1 : 0)
    expect(blobs.held.size).toBe(landed ? 0 : 1)
    expect(await intents.left()).toEqual([])
    expect(await elsewhere().verify(runId)).toMatchObject({ ok: true, problems: [] })
  })

  test('whose answer is lost is sent again as it was', async () => {
    const { log, append, erase, blobs, intents, of } = await told()
    let lost = 0
    log.append = async (...batch) => {
      const done = await append(...batch)
      if (lost++ === 0) throw new LogError('LOG_UNAVAILABLE', 'who knows')
      return done
    }
    expect(await erase()).toMatchObject({ recorded: true })
    expect(await of('erased')).toHaveLength(1)
    expect(blobs.held.size).toBe(0)
    expect(await intents.left()).toEqual([])
  })

  test('with an unknown outcome is remembered nowhere, and its blobs go at the next start', async () => {
    const { log, append, erase, next, blobs, runtime, runId } = await told()
    log.append = async (...batch) => {
      await append(...batch)
      throw new LogError('LOG_UNAVAILABLE', 'who knows')
    }
    await runtime.at(runId, null)
    await expect(erase()).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
    log.append = append
    expect(await sweepBlobs(next, AGGREGATES)).toBe(1)
    expect(blobs.held.size).toBe(0)
    expect(JSON.stringify(await runtime.at(runId, null))).not.toContain('patient')
  })

  test('with an unknown end clears the snapshots after it, too', async () => {
    const cleared: string[] = []
    const log = new MemoryLog()
    const snapshots = {
      latest: async () => null,
      put: async () => undefined,
      clear: async () => void cleared.push('snapshots'),
    }
    const run = await given({ says: [completes()], ports: { log, snapshots } })
    await run.drive()
    const append = log.append.bind(log)
    log.append = async (...batch) => {
      cleared.push('append')
      await append(...batch)
      throw new LogError('LOG_UNAVAILABLE', 'who knows')
    }
    await expect(run.say({ kind: 'erase', all: true, reason: 'asked for' })).rejects.toMatchObject({
      code: 'LOG_UNAVAILABLE',
    })
    expect([cleared[0], cleared[1], cleared.at(-1)]).toEqual(['snapshots', 'append', 'snapshots'])
  })
})
