import { describe, expect, test } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { openBoundary } from '../../../api/process/host/secret-boundary.ts'
import { AGGREGATES } from '../../../domain/kinds.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { ConflictError, LogError } from '../../../domain/log/errors.ts'
import { unsalted } from '../../../domain/log/seal.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import { sweepBlobs } from '../../../domain/stream/runtime/sweep-blobs.ts'
import { MemoryBlobs, MemoryIntents, testSpec, USER } from '../../support/harness.ts'
import { memoryVault } from '../../support/secrets/memory-vault.ts'
import { VirtualClock } from '../../support/time/virtual-clock.ts'
import { heldText, long, looked, looking } from '../../support/whole-results.ts'

describe('a whole result', () => {
  test('is proved with its event: an altered or missing one is told', async () => {
    const run = await looked()
    expect(await run.runtime.verify(run.runId)).toMatchObject({ ok: true, problems: [] })
    const bytes = Buffer.from(run.blobs.held.get(run.address)!)
    bytes[70_000]! ^= 1
    run.blobs.held.set(run.address, bytes)
    const problem = { revision: run.end.revision, code: 'BLOB' }
    expect((await run.runtime.verify(run.runId)).problems).toEqual([expect.objectContaining(problem)])
    run.blobs.held.delete(run.address)
    const { problems } = await run.runtime.verify(run.runId)
    expect(problems).toEqual([expect.objectContaining({ ...problem, message: expect.stringContaining('missing') })])
  })

  test('is needed by no fold', async () => {
    const run = await looked()
    run.blobs.held.clear()
    expect((await run.elsewhere().at(run.runId, null)).state.machine.status).toBe('DONE')
  })

  test('goes with its event, of which nothing is left then', async () => {
    const run = await looked()
    const erase = { kind: 'erase', reason: 'asked for', revision: run.end.revision } as const
    await run.runtime.execute(run.runId, erase, { by: USER })
    expect(run.blobs.held.size).toBe(0)
    expect(await run.intents.left()).toEqual([])
    expect(JSON.stringify(await run.events())).not.toContain(run.attachment.hash)
    expect(await run.runtime.verify(run.runId)).toMatchObject({ ok: true, problems: [] })
  })

  test.each(['after_blobs', 'after_append'] as const)(
    'of a process that died %s stays only if the log names it',
    async (at) => {
      const never = new Promise<void>(() => undefined)
      const dead = Promise.withResolvers<void>()
      let blobs: MemoryBlobs | null = null
      const crashPoint = async (name: string) => {
        if (name !== at || blobs?.held.size !== 1) return
        dead.resolve()
        await never
      }
      const run = await looking([], () => long, { crashPoint })
      blobs = run.blobs
      run.drive().catch(() => undefined)
      await dead.promise
      expect(await sweepBlobs({ log: run.log, blobs: run.blobs, intents: run.intents }, AGGREGATES)).toBe(
        at === 'after_blobs' ? 1 : 0,
      )
      expect(heldText(run.blobs)).toEqual(at === 'after_blobs' ? [] : [long])
      expect(await run.intents.left()).toEqual([])
    },
  )

  test('that the log names stays where its note was not taken back', async () => {
    const intents = Object.assign(new MemoryIntents(), { end: async () => undefined })
    const run = await looked([], () => long, { intents })
    expect((await intents.left()).map(({ hash }) => hash)).toContain(run.attachment.hash)
    expect(await sweepBlobs({ log: run.log, blobs: run.blobs, intents }, AGGREGATES)).toBe(0)
    expect(heldText(run.blobs)).toEqual([long])
  })

  test.each([
    ['is damaged', (event: RecordedEvent) => ({ ...event, body: Buffer.from('{}') })],
    ['is of a newer version', ({ header, ...rest }: RecordedEvent) => ({ ...rest, header: { ...header, version: 2 } })],
    ['is of a newer type', ({ header, ...rest }: RecordedEvent) => ({ ...rest, header: { ...header, type: 'new' } })],
  ])('stays where the event that may name it %s, and the start goes on', async (_, change) => {
    const run = await looked([], () => long, {
      intents: Object.assign(new MemoryIntents(), { end: async () => undefined }),
    })
    const lost = { stream: 'agent-other', runId: 'other', hash: 'x' }
    await run.ports.intents!.begin([lost])
    await run.blobs.put(lost.runId, lost.hash, Buffer.from('x'))
    const log = Object.create(run.log) as EventLog
    log.read = async function* (...asked) {
      for await (const page of run.log.read(...asked))
        yield page.map((event) => (event.header.type === 'tool_call_end' ? change(event) : event))
    }
    const warned: string[] = []
    const ports = { log, blobs: run.blobs, intents: run.ports.intents! }
    expect(await sweepBlobs(ports, AGGREGATES, (text) => warned.push(text))).toBe(1)
    expect(heldText(run.blobs)).toEqual([long])
    expect(warned).toEqual([expect.stringContaining(run.attachment && `agent-${run.runId}`)])
  })

  test('stays where its append is refused, since an earlier one may have named it', async () => {
    const log = new MemoryLog()
    const append = log.append.bind(log)
    let refused = 0
    log.append = async (stream, expected, batch) => {
      if (batch.some(({ header }) => header.type === 'tool_call_end') && refused++ === 0)
        throw new ConflictError(stream, expected, expected + 1)
      return append(stream, expected, batch)
    }
    const blobs = new MemoryBlobs()
    const deleted: string[] = []
    blobs.delete = async (runId, hash) => void deleted.push(`${runId}/${hash}`)
    const run = await looking([], () => long, { log, blobs })
    await run.drive()
    expect(refused).toBeGreaterThan(0)
    expect(heldText(blobs)).toEqual([long])
    expect(deleted).toEqual([])
  })

  test('of a process that died while it erased goes at the next start', async () => {
    const run = await looked()
    const blobs = Object.assign(Object.create(run.blobs), {
      delete: () => Promise.reject(new LogError('LOG_UNAVAILABLE', 'x')),
    })
    const erase = { kind: 'erase', reason: 'asked for', revision: run.end.revision } as const
    await expect(run.elsewhere({ blobs }).execute(run.runId, erase, { by: USER })).rejects.toThrow('x')
    expect(run.blobs.held.size).toBe(1)
    expect(await sweepBlobs({ log: run.log, blobs: run.blobs, intents: run.intents }, AGGREGATES)).toBe(1)
    expect(run.blobs.held.size).toBe(0)
  })

  test('may be given by the tool in pieces, beside what is shown of it', async () => {
    const pieces = [
      Buffer.from('é'.repeat(50_000)).subarray(0, 50_001),
      Buffer.from('é'.repeat(50_000)).subarray(50_001),
    ]
    const run = await looked([], () => ({ content: { shown: 'a part' }, whole: pieces }))
    expect(run.end.body.result).toEqual({ shown: 'a part' })
    expect(heldText(run.blobs)).toEqual(['é'.repeat(50_000)])
    const wrong = await looking([], () => ({ content: '', whole: 7 }))
    await wrong.drive()
    expect(await wrong.message()).toContain('result.whole')
  })

  test('holds no secret, wherever it is cut, nor a value under the name of one where it is JSON', async () => {
    const secret = 'hunter2-is-not-in-the-log'
    const boundary = (await openBoundary(memoryVault({ PASSWORD: secret }), [], testSpec())).secrets
    const environment = async () => ({
      ...{ workspace: null, sandbox: null, secrets: boundary },
      reap: async () => undefined,
      close: async () => undefined,
    })
    const around = 'x'.repeat(256 * 1024 - 10)
    const plain = await looked([], () => `${around}${secret}${around}${secret}`, { environment })
    expect(
      heldText(plain.blobs)
        .join()
        .match(/secret:ku_/g),
    ).toHaveLength(2)
    expect(heldText(plain.blobs).join()).not.toContain('hunter2')
    const json = JSON.stringify([{ around, password: 'only-here' }, around])
    const run = await looked([], () => json, { environment })
    expect(heldText(run.blobs).join()).not.toContain('only-here')
    expect(JSON.parse(heldText(run.blobs)[0]!)[0].password).toMatch(/^secret:ku_/)
  })

  test('of more than 64 MiB is kept as head and tail, and gives way to others meanwhile', async () => {
    const line = `${'a long line of output '.repeat(46)}\n`
    const whole = line.repeat(Math.ceil((66 * 1024 * 1024) / line.length))
    let turns = 0
    const clock = Object.assign(new VirtualClock(), { giveWay: async () => void turns++ })
    const run = await looked([], () => whole, { clock })
    expect(turns).toBeGreaterThan(2)
    expect(run.attachment.size).toBeGreaterThan(64 * 1024 * 1024)
    expect(run.attachment.size).toBeLessThan(64 * 1024 * 1024 + 128)
    const text = Buffer.from(unsalted(run.blobs.held.get(run.address)!))
    expect(text.subarray(32 * 1024 * 1024 - 100, 32 * 1024 * 1024 + 200).toString()).toContain(
      `of ${whole.length} bytes left out`,
    )
  })
})
