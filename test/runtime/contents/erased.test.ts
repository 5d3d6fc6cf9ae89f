import { describe, expect, test } from 'vitest'
import { AgentMailbox } from '../../../domain/agent/runtime/mailbox.ts'
import type { Runtime } from '../../../domain/agent/runtime/runtime.ts'
import { ERASED } from '../../../domain/calls/events/residue.ts'
import { canonicalBytes } from '../../../domain/log/canonical.ts'
import { agentStream, sha256 } from '../../../domain/log/ids.ts'
import type { Snapshot, SnapshotStore } from '../../../domain/ports/index.ts'
import { SNAPSHOT_EVERY } from '../../../domain/stream/runtime/snapshots.ts'
import { call, calls, completes, seededRandom, toolSpec, USER } from '../../support/harness.ts'
import { given, longTool, type Said, tool } from '../../support/story.ts'

const signal = new AbortController().signal
const SECRET = 'the name of a patient'
const SAID = { type: 'text', text: SECRET }

/** A finished run that was told, has read and has said the same thing. */
async function finished(ports: Parameters<typeof given>[0]['ports'] = {}, then: readonly Said[] = []) {
  const look = tool('look', { effect: 'irreversible' }, () => SECRET)
  const first = [calls(call('look', { about: SECRET })), calls(call('look', { n: 2 })), completes(SECRET)]
  const says = [...first, ...then, completes()]
  const run = await given({ says, tools: [look], task: SECRET, ports })
  expect(await run.drive()).toEqual({ end: 'done' })
  return run
}

async function eraseAll(run: Awaited<ReturnType<typeof finished>>, types: readonly string[]) {
  const found = (await run.events()).filter(({ type }) => types.includes(type))
  for (const { revision } of found) await run.say({ kind: 'erase', revision, reason: 'asked for' })
  return found.length
}

const SAYING = ['agent_started', 'user_input', 'model_call_end', 'tool_call_end', 'completion', 'turn_end']

describe('what is erased in the source of a fork', () => {
  test.each([[['tool_call_end']], [['user_input']], [SAYING]])(
    'shows as erased in the fork, which goes on to its end: %j',
    async (types) => {
      const run = await finished()
      const { runId: fork } = await run.runtime.fork(run.runId, { step: 2 }, {}, { by: USER })
      expect(await eraseAll(run, types)).toBeGreaterThan(0)
      const other = run.elsewhere()
      const before = run.requests.length
      expect(await other.drive(fork, { signal })).toEqual({ end: 'done' })
      const shown = JSON.stringify(run.requests[before]!.messages)
      expect(shown).toContain(ERASED)
      if (types === SAYING) expect(shown).not.toContain(SECRET)
      for (const id of [run.runId, fork]) {
        const proof = await other.verify(id)
        expect(proof.problems).toEqual([])
        expect(proof.digests).toBeGreaterThan(3)
      }
      const [there, here] = [await other.at(run.runId, { step: 1 }), await other.at(fork, { step: 1 })]
      expect(here).toEqual(there)
    },
  )

  test('leaves the fork its test command: the gate that goes by it can be passed', async () => {
    const role = {
      ...{ name: 'R', profile: 'p', goal: 'g', maxReactLoop: 9 },
      phases: [{ name: 'one', allowedTools: ['run_command', 'look'] }],
      qualityGates: [{ after: 'one', check: 'tests_pass' }],
    }
    const ran = { content: 'ok', detail: { exitCode: 0 } }
    const command = { spec: toolSpec('run_command', { effect: 'irreversible' }), run: async () => ran }
    const tests = calls(call('run_command', { command: 'npm test' }))
    const run = await given({
      says: [calls(call('look')), tests, completes(), tests, completes()],
      tools: [command, tool('look')],
      spec: { role, testCommand: ['npm', 'test'], policy: { mode: 'batch' } },
    })
    expect(await run.drive()).toEqual({ end: 'done' })
    const { runId: fork } = await run.runtime.fork(run.runId, { turn: 1 }, {}, { by: USER })
    await run.say({ kind: 'erase', all: true, reason: 'asked for' })
    expect(await run.elsewhere().drive(fork, { signal })).toEqual({ end: 'done' })
    expect((await run.runtime.at(fork, null)).state.gatesPassed).toEqual(['one/tests_pass'])
  })

  test('a fork that this process remembers is read anew', async () => {
    const run = await finished()
    const { runId: fork } = await run.runtime.fork(run.runId, { step: 2 }, {}, { by: USER })
    await run.runtime.execute(fork, { kind: 'pause' }, { by: USER })
    await run.runtime.drive(fork, { signal })
    await eraseAll(run, SAYING)
    await run.runtime.execute(fork, { kind: 'resume' }, { by: USER })
    const before = run.requests.length
    expect(await run.runtime.drive(fork, { signal })).toEqual({ end: 'done' })
    expect(JSON.stringify(run.requests.slice(before))).not.toContain(SECRET)
  })

  test('a fork at work records nothing of it any more, nor puts it into a snapshot', async () => {
    const snapshots = new Kept()
    const gate = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    const says = [
      {
        ...calls(call('set_context', { key: 'a', value: 1 })),
        content: [SAID, call('set_context', { key: 'a', value: 1 })],
      },
      completes(),
      async () => {
        asked.resolve()
        await gate.promise
        return { content: [], stopReason: 'refusal' } as const
      },
    ]
    const run = await given({ says, ports: { snapshots } })
    await run.drive()
    const { runId: fork } = await run.runtime.fork(run.runId, { step: 2 }, {}, { by: USER })
    const driven = run.runtime.drive(fork, { signal })
    await asked.promise
    await run.say({ kind: 'erase', all: true, reason: 'asked for' })
    gate.resolve()
    expect(await driven).toMatchObject({ end: 'error', code: 'MODEL_REFUSED' })
    const stored = (await Array.fromAsync(run.log.read(`agent-${fork}`))).flat()
    expect(stored.filter(({ body }) => Buffer.from(body ?? []).includes(SECRET)).map((e) => e.header.type)).toEqual([])
    const [ended] = (await run.events()).length > 0 ? stored.filter((e) => e.header.type === 'error') : []
    expect(Buffer.from(ended!.body!).toString('utf8')).toContain(ERASED)
    expect(await run.runtime.verify(fork)).toMatchObject({ ok: true, problems: [] })
    const { messages } = await run.elsewhere().at(fork, null)
    expect((await run.runtime.at(fork, null)).messages).toEqual(messages)
  })

  test('is in no snapshot of what was on its way to the log meanwhile', async () => {
    const snapshots = new Kept()
    const run = await given({ says: [], ports: { snapshots } })
    let erasing = false
    const mailbox: AgentMailbox = new AgentMailbox(run.runId, {
      ...run.ports,
      crashPoint: async (at) => {
        if (at === 'after_append' && erasing) mailbox.forget()
      },
    })
    const say = (text: string) =>
      mailbox.submit({ kind: 'input', text }, { by: USER, commandId: text }, { fact: false })
    let said = 0
    while ((await say(`${said++}`)).revision < SNAPSHOT_EVERY - 1);
    erasing = true
    expect(await say('meanwhile')).toEqual({ revision: SNAPSHOT_EVERY, recorded: true })
    expect(snapshots.held.size).toBe(0)
    erasing = false
    await say('then')
    expect(snapshots.held.get(agentStream(run.runId))?.revision).toBe(SNAPSHOT_EVERY + 1)
  })

  test('no snapshot of any agent is kept', async () => {
    const snapshots = new Kept()
    const run = await finished({ snapshots })
    const { runId: fork } = await run.runtime.fork(run.runId, { step: 2 }, {}, { by: USER })
    const { state } = await run.runtime.at(fork, null)
    await snapshots.put(agentStream(fork), 1, { revision: 0, step: state.step, state: state as never })
    await eraseAll(run, ['user_input'])
    expect(snapshots.held.size).toBe(0)
  })
})

describe('a run that was erased from', () => {
  const states = async (runtime: Pick<Runtime, 'at'>, runId: string) => {
    const { head } = await runtime.at(runId, null)
    const all = []
    for (let revision = 0; revision <= head.revision; revision++) {
      const { state } = await runtime.at(runId, { revision })
      const { lastText: _, spec: __, hashSalt: ___, machine, ...rest } = state
      all.push({ ...rest, status: machine.status })
    }
    return all
  }

  test('is replayed to every point, forked at every step, and proved whole', async () => {
    const run = await finished()
    const before = await states(run.runtime, run.runId)
    const proved = (await run.runtime.verify(run.runId)).digests
    await eraseAll(run, SAYING)
    const other = run.elsewhere()
    expect((await states(other, run.runId)).slice(0, before.length)).toEqual(before)
    const proof = await other.verify(run.runId)
    expect(proof).toMatchObject({ ok: true, problems: [], digests: proved })
    expect(proof.erased).toHaveLength((await run.events()).filter(({ type }) => type === 'erased').length)
    const { runId: fork } = await other.fork(run.runId, { step: 1 }, {}, { by: USER })
    expect(await other.drive(fork, { signal })).toEqual({ end: 'done' })
  })

  test('a request in which something is missing is not rebuilt as if it were whole', async () => {
    const run = await finished()
    await eraseAll(run, ['tool_call_end'])
    expect(await run.runtime.requests(run.runId, 1)).toHaveLength(1)
    await expect(run.runtime.requests(run.runId, 2)).rejects.toMatchObject({
      code: 'REQUEST_NOT_REBUILDABLE',
      message: expect.stringContaining('was erased'),
    })
  })

  test('a body that cannot be read is erased all the same; what follows it is proved by the chain alone', async () => {
    const look = longTool('look', { effect: 'irreversible' })
    const run = await given({ says: [calls(call('look')), completes()], tools: [look] })
    await run.drive()
    const [ended] = await run.of('tool_call_end')
    await run.ports.blobs.delete(run.runId, ended!.bodyHash)
    const fresh = run.elsewhere()
    await fresh.execute(run.runId, { kind: 'erase', revision: ended!.revision, reason: 'gone' }, { by: USER })
    expect(await run.runtime.verify(run.runId)).toMatchObject({ ok: true, erased: [{ revision: ended!.revision }] })
    await expect(run.runtime.at(run.runId, null)).rejects.toMatchObject({ code: 'BODY_ERASED' })
    // What comes before can still be told, and forked.
    const at = { revision: ended!.revision - 1 }
    const { runId: fork } = await run.elsewhere().fork(run.runId, at, {}, { by: USER })
    expect(await fresh.drive(fork, { signal })).toEqual({ end: 'done' })
  })
})

class Kept implements SnapshotStore {
  readonly held = new Map<string, Snapshot>()
  async latest(): Promise<Snapshot | null> {
    return null
  }
  async put(agentId: string, _fold: number, snapshot: Snapshot): Promise<void> {
    this.held.set(agentId, snapshot)
  }
  async clear(): Promise<void> {
    this.held.clear()
  }
}

describe('a hash of arguments', () => {
  const guessed = sha256(canonicalBytes({ about: SECRET }))
  const hashes = async (run: Awaited<ReturnType<typeof finished>>, id: string) => {
    const stored = (await Array.fromAsync(run.log.read(agentStream(id)))).flat()
    const bodies = stored.flatMap(({ body }) => (body === null ? [] : [Buffer.from(body).toString('utf8')]))
    return bodies.flatMap((body) => [...body.matchAll(/"argumentsHash":"([^"]*)"/g)].map(([, hash]) => hash))
  }

  test('is equal for equal calls of a run and of its forks, and told of by no guess alone', async () => {
    const run = await finished({}, [calls(call('look', { about: SECRET }))])
    const [first] = await run.of('tool_call_start')
    expect(first?.body.argumentsHash).not.toBe(guessed)
    const { runId: fork } = await run.runtime.fork(run.runId, { step: 2 }, {}, { by: USER })
    expect(await run.runtime.drive(fork, { signal })).toEqual({ end: 'done' })
    expect((await hashes(run, fork))[0]).toBe(first?.body.argumentsHash)
    const other = await finished({ random: seededRandom('another') })
    expect((await other.of('tool_call_start'))[0]?.body.argumentsHash).not.toBe(first?.body.argumentsHash)
  })

  test('is worth nothing when the run is erased; a fork of it has a salt of its own', async () => {
    const run = await finished()
    const { hashSalt } = (await run.runtime.at(run.runId, null)).state
    expect(hashSalt).toMatch(/^[0-9a-f]{32}$/)
    const { runId: before } = await run.runtime.fork(run.runId, { step: 2 }, {}, { by: USER })
    await run.say({ kind: 'erase', all: true, reason: 'asked for' })
    const { runId: after } = await run.runtime.fork(run.runId, { step: 2 }, {}, { by: USER })
    const salts = await Promise.all(
      [run.runId, before, after].map(async (id) => (await run.elsewhere().at(id, null)).state.hashSalt),
    )
    expect(salts[0]).toBe('')
    expect(new Set([...salts, hashSalt]).size).toBe(4)
    for (const id of [run.runId, before, after]) {
      const stored = (await Array.fromAsync(run.log.read(agentStream(id)))).flat()
      expect(stored.filter(({ body }) => Buffer.from(body ?? []).includes(hashSalt))).toEqual([])
      expect((await run.elsewhere().verify(id)).problems).toEqual([])
    }
  })
})
