import { describe, expect, test } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { agent } from '../../../domain/agent/decide/aggregate.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import { erasable } from '../../../domain/stream/runtime/erasure/erase.ts'
import { call, calls, completes, MemoryBlobs, MemoryIntents, USER } from '../../support/harness.ts'
import { given, longTool, tool } from '../../support/story.ts'

const SECRET = 'the name of a patient'
const LONG = `${SECRET} `.repeat(5_000)
const all = { kind: 'erase', all: true, reason: 'asked for' } as const
const refusal = { content: [], stopReason: 'refusal' } as const

/** The log as a build before wrote it: the error that ends a run bears turn 0. */
class OldLog extends MemoryLog {
  override async *read(...asked: Parameters<MemoryLog['read']>) {
    for await (const page of super.read(...asked))
      yield page.map((event) =>
        event.header.type === 'error' ? { ...event, header: { ...event.header, turn: 0 } } : event,
      )
  }
}

describe('a run is finished', () => {
  test.each(['failed', 'cancelled'] as const)('that %s in a turn; it can be erased from twice', async (how) => {
    const says = [calls(call('look')), how === 'failed' ? refusal : calls(call('look', { n: 2 })), completes()]
    const run = await given({ task: SECRET, says, tools: [tool('look', {}, () => SECRET)] })
    if (how === 'cancelled') await run.say({ kind: 'step' })
    await run.drive()
    if (how === 'cancelled') {
      await run.say({ kind: 'cancel', deadlineMs: 1_000 })
      await run.drive()
    }
    const [ended] = await run.of('error')
    expect([ended?.body.recoverable, (ended?.turn ?? 0) > 0]).toEqual([false, true])
    await run.say({ kind: 'erase', revision: ended!.revision, reason: 'asked for' })
    expect(await run.say(all)).toMatchObject({ recorded: true })
    expect((await run.elsewhere().verify(run.runId)).problems).toEqual([])
  })

  test('whose end bears turn 0, as it did before', async () => {
    const log = new OldLog()
    const run = await given({ says: [refusal], ports: { log: new MemoryLog() } })
    await run.drive()
    for (const event of (await Array.fromAsync(run.ports.log.read(agentStream(run.runId)))).flat())
      await log.append(agentStream(run.runId), event.header.revision - 1, [event])
    expect((await erasable({ log }, agent, agentStream(run.runId), { all: true })).bodies).not.toEqual([])
  })

  test('but not while a model attempt that failed is all that it has of an end', async () => {
    const run = await given({ says: [calls(call('look')), completes()], tools: [tool('look')] })
    await run.drive()
    const log = new MemoryLog()
    const events = (await Array.fromAsync(run.ports.log.read(agentStream(run.runId)))).flat()
    const open = events.findIndex(({ header }) => header.type === 'model_call_start')
    // The header alone counts: its body may be erased, or lost.
    const failed = { ...events[open]!, header: { ...events[open]!.header, type: 'error' } }
    const page = [...events.slice(0, open), failed]
    log.read = async function* () {
      yield page
    }
    await expect(erasable({ log }, agent, agentStream(run.runId), { all: true })).rejects.toMatchObject({
      code: 'RUN_ACTIVE',
    })
  })
})

describe('erasing a whole run', () => {
  const lost = 'ab'.repeat(32)

  async function told() {
    const blobs = new MemoryBlobs()
    const intents = new MemoryIntents()
    const look = longTool('look', { effect: 'irreversible' })
    const says = [calls(call('look')), completes(), completes()]
    const run = await given({ task: LONG, says, tools: [look], ports: { blobs, intents } })
    await run.drive()
    return { ...run, blobs, intents }
  }

  test('removes blobs that only lost events named, and none of a fork', async () => {
    const { blobs, runtime, runId, say } = await told()
    await blobs.put(runId, lost, Buffer.from(SECRET))
    const { runId: fork } = await runtime.fork(runId, { step: 1 }, {}, { by: USER })
    await blobs.put(fork, lost, Buffer.from(SECRET))
    await say(all)
    expect(await blobs.list(runId)).toEqual([])
    expect(await blobs.list(fork)).toEqual([lost])
    // Also where nothing is left to be erased.
    await blobs.put(runId, lost, Buffer.from(SECRET))
    expect(await say(all)).toMatchObject({ recorded: false })
    expect(await blobs.list(runId)).toEqual([])
  })

  test('leaves a blob that is on its way to the log; erasing a part leaves what is lost, too', async () => {
    const { blobs, intents, runId, say } = await told()
    await blobs.put(runId, lost, Buffer.from(SECRET))
    await say({ kind: 'erase', revision: 0, reason: 'asked for' })
    expect(await blobs.list(runId)).toContain(lost)
    await intents.begin([{ stream: agentStream(runId), runId, hash: lost }])
    await say(all)
    expect(await blobs.list(runId)).toEqual([lost])
  })
})
