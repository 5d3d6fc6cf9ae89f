import { describe, expect, it } from 'vitest'
import { MemoryLog } from '../../adapters/memory/log.ts'
import type { Loss } from '../../api/operations/losses/loss.ts'
import { findLoss } from '../../api/process/host/losses/find-loss.ts'
import { mustBeWhole } from '../../api/process/host/losses/loss-gate.ts'
import { recordAcceptance } from '../../api/process/host/losses/record-acceptance.ts'
import { readAcceptedLosses } from '../../domain/agent/runtime/losses.ts'
import { cursorError } from '../../domain/log/errors.ts'
import { agentStream } from '../../domain/log/ids.ts'
import type { EventLog } from '../../domain/ports/index.ts'
import { replaced } from '../../domain/stream/runtime/replace-member.ts'
import { call, calls, completes, MemoryBlobs, USER } from '../support/harness.ts'
import { given, LONG_DETAIL, tool } from '../support/story.ts'

const loss = (more: Partial<Loss> = {}): Loss => ({
  ...{ id: 'one', end: 1, mark: { position: 9, hash: 'a'.repeat(64) }, tables: null, streams: [], gaps: [] },
  ...{ unlisted: true, ...more },
})

/** The events of a log, but for those of one stream behind a revision. */
async function cut(log: EventLog, stream: string, last: number): Promise<MemoryLog> {
  const left = new MemoryLog()
  for await (const names of log.streams('agent-')) {
    for (const name of names)
      for await (const page of log.read(name))
        for (const event of page) {
          if (name === stream && event.header.revision > last) continue
          await left.append(name, event.header.revision - 1, [event])
        }
  }
  return left
}

const look = () => given({ says: [calls(call('look')), calls(call('look')), completes()], tools: [tool('look')] })
const typesIn = async (log: EventLog, agentId: string) => {
  const types: string[] = []
  for await (const page of log.read(agentStream(agentId), { bodies: false }))
    types.push(...page.map(({ header }) => header.type))
  return types
}

it('a stream that the log names without an event has vanished: its run is not started again', async () => {
  const run = await look()
  await run.drive()
  const names = run.log.streams.bind(run.log)
  const log = replaced(run.log, 'streams', async function* (prefix) {
    yield* names(prefix)
    yield [agentStream('gone')]
  })
  await recordAcceptance({ ...run.ports, log, feed: { publish() {} } }, loss(), { by: USER })
  expect((await readAcceptedLosses(log))[0]?.vanished).toEqual([
    { stream: agentStream('gone'), revision: -1, hash: '' },
  ])
  await expect(mustBeWhole({ log, read: null }, 'gone')).rejects.toMatchObject({ code: 'RUN_LOST' })
})

describe('a stream that cannot be folded', () => {
  it('does not keep the loss from being accepted: it is recorded by name, and its run is not driven', async () => {
    const run = await look()
    await run.drive()
    const forked = await run.runtime.fork(run.runId, { step: 2 }, {}, { by: USER })
    const other = await run.start((await run.state()).spec)
    const log = await cut(run.log, agentStream(run.runId), 7)
    const ports = { ...run.ports, log, feed: { publish() {} } }
    const { runs, unreadable } = await recordAcceptance(ports, loss(), { by: USER })
    expect(runs.toSorted()).toEqual([run.runId, other].toSorted())
    const fork = { stream: agentStream(forked.runId), code: 'FOLD_DIFFERS' }
    expect(unreadable).toEqual([expect.objectContaining(fork)])
    expect((await readAcceptedLosses(log))[0]).toMatchObject({ id: 'one', unreadable: [fork] })
    await expect(mustBeWhole({ log, read: null }, forked.runId)).rejects.toMatchObject({ code: 'LOSS_NOT_RECORDED' })
    await mustBeWhole({ log, read: null }, other)
  })

  it('is accepted for itself once it can be read again, and only then driven', async () => {
    const blobs = new MemoryBlobs()
    const big = tool('big', { effect: 'irreversible' })
    big.run = async () => ({ content: 'ok', detail: LONG_DETAIL })
    const run = await given({ says: [calls(call('big')), new Error('stop')], tools: [big], ports: { blobs } })
    const stop = new AbortController()
    big.run = async () => {
      stop.abort()
      return { content: 'ok', detail: LONG_DETAIL }
    }
    await run.drive(stop.signal).catch(() => undefined)
    const held = new Map(blobs.held)
    expect(held.size).toBeGreaterThan(0)
    blobs.held.clear()
    const ports = { ...run.ports, blobs, feed: { publish() {} } }
    const { log } = run
    expect((await recordAcceptance(ports, loss(), { by: USER })).unreadable).toMatchObject([{ code: 'BLOB_MISSING' }])
    for (const [key, bytes] of held) blobs.held.set(key, bytes)
    await expect(mustBeWhole({ log, read: null }, run.runId)).rejects.toMatchObject({ code: 'LOSS_NOT_RECORDED' })
    const found = await findLoss({ log, mark: null, read: null }, true)
    expect(found?.streams).toMatchObject([{ runId: run.runId, unreadable: 'BLOB_MISSING', unlisted: true }])
    expect((await recordAcceptance(ports, found!, { by: USER })).runs).toContain(run.runId)
    await mustBeWhole({ log, read: null }, run.runId)
    expect(await findLoss({ log, mark: null, read: null }, true)).toBeNull()
    expect((await run.state()).loss).toMatchObject({ unlisted: true })
  })
})

describe('a run that has ended', () => {
  it.each([
    ['done', [completes()], {}],
    ['failed', [new Error('no such model')], {}],
    ['out of turns', [calls(call('look'))], { limits: { maxTurns: 1, wallClockMs: null } }],
  ])('records no loss of calls that are not known (%s)', async (_, says, spec) => {
    const run = await given({ says, spec, tools: [tool('look')] })
    expect(['done', 'error']).toContain((await run.drive()).end)
    const before = await typesIn(run.log, run.runId)
    const ports = { ...run.ports, feed: { publish() {} } }
    expect(await recordAcceptance(ports, loss(), { by: USER })).toMatchObject({ runs: [], unreadable: [] })
    expect(await typesIn(run.log, run.runId)).toEqual(before)
  })

  it('records none where it was cancelled, though events follow its end', async () => {
    const run = await look()
    await run.say({ kind: 'cancel', deadlineMs: 1 })
    await run.drive()
    const ports = { ...run.ports, feed: { publish() {} } }
    expect((await recordAcceptance(ports, loss(), { by: USER })).runs).toEqual([])
  })
})

describe('the list of lost calls', () => {
  /** Tables that have seen position 20 of a log that ends before. */
  async function found(marked?: number | null) {
    const run = await look()
    await run.drive()
    const log = replaced(run.log, 'readAll', () => {
      throw cursorError('CURSOR_MISMATCH', 'another log')
    })
    const position = { logId: log.logId, position: 20, hash: 'f'.repeat(64) }
    const heads = [{ stream: agentStream(run.runId), revision: 99, hash: 'e'.repeat(64) }]
    const answers: unknown[] = [null, heads]
    const read = async () => ({ position, data: answers.length > 0 ? answers.shift() : { calls: [], nanoDollars: 0 } })
    return findLoss({ log, mark: null, read: read as never, ...(marked === undefined ? {} : { marked: () => marked }) })
  }

  it.each([
    ['there is no mark, as on servers', undefined, true],
    ['the mark is missing or cannot be read', null, true],
    ['the mark is older than the tables', 19, true],
    ['the mark is newer than the tables', 21, true],
    ['the tables had seen all that the mark names', 20, false],
  ])('is complete only where a mark proves it: %s', async (_, marked, unlisted) => {
    expect(await found(marked)).toMatchObject({ unlisted, streams: [{ unlisted }] })
  })

  it('is of no account where nothing is lost', async () => {
    const run = await look()
    expect(await findLoss({ log: run.log, mark: null, read: null }, true)).toBeNull()
  })
})
