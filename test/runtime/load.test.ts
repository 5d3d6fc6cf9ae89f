import { expect, onTestFinished, test, vi } from 'vitest'
import { AgentMailbox } from '../../domain/agent/runtime/mailbox.ts'
import { Runtime } from '../../domain/agent/runtime/runtime.ts'
import { Transcript } from '../../domain/agent/state/transcript.ts'
import { ConflictError, LogError } from '../../domain/log/errors.ts'
import { call, calls, completes, harness, MemoryBlobs, testSpec, toolSpec, USER } from '../support/harness.ts'
import { faulty } from '../support/log/faulty.ts'
import { given, LONG_DETAIL } from '../support/story.ts'

// What a mailbox knows of an agent is all of it or nothing, whatever fails while it is read.

const big = { spec: toolSpec('big'), run: async () => ({ content: 'x'.repeat(100_000) }) }

test('a fork whose history could not be read once is read again from its beginning', async () => {
  let fails = 0
  const held = new MemoryBlobs()
  const blobs = faulty(held, {
    get: async (runId, hash) => {
      if (fails-- > 0) throw new LogError('LOG_UNAVAILABLE', 'too many open files')
      return held.get(runId, hash)
    },
  })
  // More than a page, so that the source's revisions have been folded when the blob fails.
  const says = (n: number) => (n < 195 ? calls(call('big', { n })) : completes())
  const small = {
    ...big,
    run: async (args: object) => ({ content: 'x', ...('n' in args && args.n === 190 ? { detail: LONG_DETAIL } : {}) }),
  }
  const h = harness((_, n) => says(n), { blobs, tools: [small] })
  const id = await h.start(testSpec({ limits: { maxTurns: 400, wallClockMs: null } }, [small]))
  await h.drive(id)
  const { runId } = await h.runtime.fork(id, { step: 384 }, {}, { by: USER })
  let appends = 0
  const log = faulty(h.log, {
    append: (...args) => {
      if (++appends > 100) throw new Error('an endless loop of appends')
      return h.log.append(...args)
    },
  })
  const other = new Runtime({ ...h.ports, log })
  fails = 1
  const input = { kind: 'input', text: 'hello' } as const
  await expect(other.execute(runId, input, { by: USER })).rejects.toThrow('too many open files')
  expect(await other.execute(runId, input, { by: USER })).toMatchObject({ revision: 1, recorded: true })
  expect(await other.drive(runId, { signal: new AbortController().signal })).toEqual({ end: 'done' })
})

test('messages are hashed while they are read, not all of them in the first decision', async () => {
  const h = harness((_, n) => (n < 150 ? calls(call('big', { n })) : completes()), { tools: [big] })
  const id = await h.start(testSpec({ limits: { maxTurns: 400, wallClockMs: null } }, [big]))
  await h.drive(id)
  const hashed = vi.spyOn(Transcript.prototype, 'rendered', 'get')
  onTestFinished(() => hashed.mockRestore())
  const mailbox = new AgentMailbox(id, h.ports)
  await mailbox.loadMessages()
  expect(mailbox.head!.revision).toBeGreaterThan(900)
  expect(hashed.mock.calls.length).toBeGreaterThanOrEqual(3)
})

test('a fact that the log refuses, and shows nothing new for, is given up with an error', async () => {
  const run = await given({ says: [completes()] })
  let appends = 0
  const log = faulty(run.log, {
    append: async (stream) => {
      appends++
      throw new ConflictError(stream, 1, 7)
    },
  })
  const drive = run.elsewhere({ log }).drive(run.runId, { signal: new AbortController().signal })
  await expect(drive).rejects.toMatchObject({ code: 'CONTENTION' })
  expect(appends).toBeLessThan(20)
})

test.each([16, 17, 40])(
  '%i agents that wait for people in turn: a turn costs no more reading than the one before',
  async (runs) => {
    const tool = { spec: toolSpec('w', { effect: 'irreversible' }), run: async () => ({ content: 'x' }) }
    const h = harness((_, n) => calls(call('w', { n })), { tools: [tool] })
    let read = 0
    const log = faulty(h.log, {
      read: async function* (...args) {
        for await (const page of h.log.read(...args)) {
          read += page.length
          yield page
        }
      },
    })
    const runtime = new Runtime({ ...h.ports, log })
    const spec = testSpec({ limits: { maxTurns: 1_000, wallClockMs: null }, policy: { requiresApproval: ['w'] } }, [
      tool,
    ])
    const ids: string[] = []
    for (let i = 0; i < runs; i++) ids.push(await h.start(spec))
    const waiting = new Map<string, string>()
    const perTurn: number[] = []
    for (let turn = 0; turn < 12; turn++) {
      read = 0
      for (const id of ids) {
        const toolCallId = waiting.get(id)
        const approve = { kind: 'decide_approval', toolCallId: toolCallId ?? '', decision: 'approved' } as const
        if (toolCallId !== undefined) await runtime.execute(id, approve, { by: USER })
        const end = await runtime.drive(id, { signal: new AbortController().signal })
        if (end.end === 'waiting') waiting.set(id, end.toolCallIds[0]!)
      }
      perTurn.push(read)
    }
    expect(perTurn[11]).toBe(perTurn[2])
  },
)
