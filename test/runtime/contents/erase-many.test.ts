import { expect, test } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { AGENT_FOLD } from '../../../domain/agent/state/digest.ts'
import { UNKNOWN_TOOL } from '../../../domain/calls/tools/tools.ts'
import { MAX_INLINE_BODY } from '../../../domain/log/blobs.ts'
import { canonicalBytes } from '../../../domain/log/canonical.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import { chainHash, GENESIS, saltBody, seal, unsalted } from '../../../domain/log/seal.ts'
import { StreamVerifier } from '../../../domain/log/verify.ts'
import { call, calls, completes, USER } from '../../support/harness.ts'
import { given, tool } from '../../support/story.ts'

const SECRET = 'the name of a patient'
const signal = new AbortController().signal

/** A log that counts what is read and appended. */
class CountingLog extends MemoryLog {
  events = 0
  appends = 0
  override async *read(...asked: Parameters<MemoryLog['read']>) {
    for await (const page of super.read(...asked)) {
      this.events += page.length
      yield page
    }
  }
  override append(...asked: Parameters<MemoryLog['append']>) {
    this.appends++
    return super.append(...asked)
  }
}

async function driven(turns: number, more: Omit<Parameters<typeof given>[0], 'says'> = {}) {
  const look = tool('look', { effect: 'irreversible' }, () => SECRET)
  const log = new CountingLog()
  const says = (_: unknown, n: number) => (n < turns ? calls(call('look', { about: SECRET, n })) : completes(SECRET))
  const spec = { limits: { maxTurns: turns + 5, wallClockMs: null }, ...more.spec }
  const run = await given({ task: SECRET, ...more, says: [says], tools: [look], spec, ports: { log, ...more.ports } })
  expect(await run.drive()).toEqual({ end: 'done' })
  Object.assign(log, { events: 0, appends: 0 })
  return { ...run, log }
}

async function recorded(run: Pick<Awaited<ReturnType<typeof driven>>, 'log' | 'runId'>) {
  return (await Array.fromAsync(run.log.read(agentStream(run.runId)))).flat()
}

test('a whole run is erased by one command: nothing that was said is left, and all of it is proved', async () => {
  const run = await driven(4)
  const before = (await run.runtime.verify(run.runId)).digests
  expect(await run.say({ kind: 'erase', all: true, reason: 'asked for' })).toMatchObject({ recorded: true })
  const stored = (await recorded(run)).map(({ body }) => Buffer.from(body ?? []).toString('utf8'))
  expect(stored.filter((text) => text.includes(SECRET))).toEqual([])
  const proof = await run.elsewhere().verify(run.runId)
  expect(proof).toMatchObject({ ok: true, problems: [], digests: before })
  expect(proof.erased.length).toBeGreaterThan(10)
  // Asked again there is nothing left to do.
  const { appends } = run.log
  expect(await run.say({ kind: 'erase', all: true, reason: 'asked for' })).toMatchObject({ recorded: false })
  expect(run.log.appends).toBe(appends)
})

test('a range leaves what is around it', async () => {
  const run = await driven(4)
  await run.say({ kind: 'erase', revision: 0, to: 6, reason: 'asked for' })
  const { erased } = await run.runtime.verify(run.runId)
  const revisions = erased.map(({ revision }) => revision)
  expect(revisions).toEqual((await recorded(run)).flatMap((e) => (e.erased ? [e.header.revision] : [])))
  expect([revisions[0], revisions.length > 2, Math.max(...revisions) <= 6]).toEqual([0, true, true])
  await expect(run.say({ kind: 'erase', revision: 0, to: 9_999, reason: 'x' })).rejects.toMatchObject({
    code: 'EVENT_UNKNOWN',
  })
})

test('erasing a whole run reads and appends in proportion to it', async () => {
  const cost = async (turns: number) => {
    const run = await driven(turns)
    const size = (await recorded(run)).length
    run.log.events = 0
    await run.say({ kind: 'erase', all: true, reason: 'asked for' })
    return { reads: run.log.events / size, appends: run.log.appends }
  }
  const [short, long] = [await cost(10), await cost(200)]
  expect(short.appends).toBe(1)
  expect(long.appends).toBe(1)
  // Where its facts lie in the blob store, the headers are read once more for the blobs that are named.
  expect(long.reads).toBeLessThan(short.reads * 1.2 + 1)
})

test('bodies of more than one fact and more than one append, each proved', async () => {
  const run = await driven(600)
  await run.say({ kind: 'erase', all: true, reason: 'asked for' })
  const facts = (await recorded(run)).filter(({ header }) => header.type === 'erased')
  expect(facts.length).toBeGreaterThan(4)
  expect(run.log.appends).toBeGreaterThan(1)
  expect(facts.every(({ header }) => header.body.place === 'inline' && header.body.size < MAX_INLINE_BODY)).toBe(true)
  const proof = await run.runtime.verify(run.runId)
  expect([proof.ok, proof.problems]).toEqual([true, []])
})

test('however large what the fold needs of a body is, that it was erased is proved without the blob store', async () => {
  const tools = Array.from({ length: 50 }, (_, n) => tool(`t${n}`, { description: 'd'.repeat(2_000) }))
  const run = await given({ says: [completes()], tools, spec: { instructions: SECRET } })
  await run.drive()
  await run.say({ kind: 'erase', revision: 0, reason: 'asked for' })
  const events = (await Array.fromAsync(run.log.read(agentStream(run.runId)))).flat()
  expect(events.at(-2)?.header).toMatchObject({ type: 'residue', body: { place: 'blob' } })
  const verifier = new StreamVerifier(agentStream(run.runId))
  verifier.page(events)
  expect(verifier.result()).toMatchObject({ ok: true, erased: [{ revision: 0, reason: 'asked for' }] })
  expect(await run.elsewhere().verify(run.runId)).toMatchObject({ ok: true, problems: [] })
  // Lost, it is a problem of its own; what was erased is proved all the same.
  const { hash } = events.at(-2)!.header.body
  await run.ports.blobs.delete(run.runId, hash)
  const proof = await run.elsewhere().verify(run.runId)
  expect(proof).toMatchObject({ ok: false, erased: [{ revision: 0, reason: 'asked for' }] })
  expect(proof.problems.map(({ revision, code }) => [revision, code])).toEqual([
    [events.at(-2)!.header.revision, 'BLOB'],
  ])
  await expect(run.elsewhere().at(run.runId, null)).rejects.toMatchObject({ code: 'BODY_ERASED' })
})

test('the name of a tool that there is none of stands in the answer alone, and goes with it', async () => {
  const name = `${SECRET} ${'!'.repeat(50_000)}`
  const run = await given({ says: [calls(call(name)), completes()] })
  expect(await run.drive()).toEqual({ end: 'done' })
  const [answer] = await run.of('model_call_end')
  for (const event of await run.events()) {
    const { length } = JSON.stringify(event.body)
    if (event !== answer && event.revision !== answer!.revision && event.type !== 'agent_started')
      expect([event.type, length < 3_000]).toEqual([event.type, true])
  }
  const [start, end] = [(await run.of('tool_call_start'))[0], (await run.of('tool_call_end'))[0]]
  expect(start?.body.toolName ?? UNKNOWN_TOOL).toBe(UNKNOWN_TOOL)
  expect(end?.body).toMatchObject({ toolName: UNKNOWN_TOOL, error: { code: 'RESOURCE_NOT_FOUND' } })
  expect(end?.body.error?.message).toContain(SECRET)
  expect(end!.body.error!.message.length).toBeLessThan(1_000)
  await run.say({ kind: 'erase', all: true, reason: 'asked for' })
  const left = (await Array.fromAsync(run.log.read(agentStream(run.runId)))).flat()
  expect(left.some(({ body }) => Buffer.from(body ?? []).includes(SECRET))).toBe(false)
  expect(await run.runtime.verify(run.runId)).toMatchObject({ ok: true, problems: [] })
})

test('what people wrote into a spec goes with its body: warning, role, folder; its test command stays', async () => {
  const role = { name: 'R', profile: SECRET, goal: SECRET, phases: [], qualityGates: [], maxReactLoop: 5 }
  const spec = {
    role: { ...role, phases: [{ name: 'v', allowedTools: [] }] },
    recovery: { warningTemplate: SECRET },
    testCommand: ['npm', 'test'],
    workspace: { path: `/home/${SECRET}`, tree: null },
  }
  const run = await given({ says: [completes()], spec })
  await run.drive()
  const { runId: fork } = await run.runtime.fork(
    run.runId,
    { step: 1 },
    { workspace: { path: `/home/${SECRET}/b`, tree: null } },
    { by: USER },
  )
  await run.runtime.execute(fork, { kind: 'input', text: 'go on' }, { by: USER })
  expect(await run.runtime.drive(fork, { signal })).toEqual({ end: 'done' })
  for (const id of [run.runId, fork]) {
    await run.runtime.execute(id, { kind: 'erase', all: true, reason: 'asked for' }, { by: USER })
    const left = (await Array.fromAsync(run.log.read(agentStream(id)))).flat()
    expect(left.filter(({ body }) => Buffer.from(body ?? []).includes(SECRET))).toEqual([])
    expect(await run.elsewhere().verify(id)).toMatchObject({ ok: true, problems: [] })
  }
  const left = await run.elsewhere().at(fork, null)
  expect(JSON.stringify(left)).not.toContain(SECRET)
  expect(left.state.spec.testCommand).toEqual(['npm', 'test'])
})

test('a fork whose point was told by a newer fold proves nothing of its source, and says so', async () => {
  const run = await driven(3)
  const { runId: fork } = await run.runtime.fork(run.runId, { step: 2 }, {}, { by: USER })
  const [first] = (await Array.fromAsync(run.log.read(agentStream(fork)))).flat()
  const told = JSON.parse(Buffer.from(unsalted(first!.body!)).toString('utf8'))
  expect(told.digest).toEqual({ fold: AGENT_FOLD, value: expect.stringMatching(/^[0-9a-f]{64}$/) })
  const retold = async (digest: object) => {
    const { bytes, header } = saltBody(canonicalBytes({ ...told, digest }), new Uint8Array(16))
    const log = new MemoryLog()
    for (const id of [run.runId])
      await log.append(agentStream(id), -1, (await Array.fromAsync(run.log.read(agentStream(id)))).flat())
    const { digest: _, ...rest } = first!.header
    const event = seal(GENESIS, { ...rest, body: header }, bytes)
    expect(event.hash).toBe(chainHash(GENESIS, event.header))
    await log.append(agentStream(fork), -1, [event])
    return (await run.elsewhere({ log }).verify(fork)).problems
  }
  const newer = { revision: 0, code: 'DIGEST', message: expect.stringContaining('newer fold') }
  expect(await retold({ fold: 99, value: '0'.repeat(64) })).toMatchObject([newer])
  expect(await retold({ fold: 1, value: '0'.repeat(64) })).toMatchObject([{ revision: 0, code: 'DIGEST' }])
})

test('what an erasure would empty is what it empties, and being told records nothing', async () => {
  const run = await driven(4)
  for (const which of [{ revision: 2 }, { revision: 3, to: 9 }, { all: true }] as const) {
    const shown = await run.runtime.erasable(run.runId, which)
    expect(run.log.appends).toBe(0)
    expect(shown.revision).toBe((await recorded(run)).at(-1)!.header.revision)
    const there = new Set((await recorded(run)).filter(({ erased }) => !erased).map(({ header }) => header.revision))
    await run.say({ kind: 'erase', ...which, reason: 'asked for' })
    const gone = (await recorded(run)).filter(({ header, erased }) => erased && there.has(header.revision))
    const told = gone.map(({ header: { revision, type, turn, body } }) => ({ revision, type, turn, size: body.size }))
    expect(shown.bodies).toEqual(told)
    expect(told.length).toBeGreaterThan(0)
    expect((await run.runtime.erasable(run.runId, which)).bodies).toEqual([])
    run.log.appends = 0
  }
})
