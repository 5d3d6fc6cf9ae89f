import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { EXIT } from '../../api/cli/exit.ts'
import { type KeepUp, openKeepUp } from '../../api/index.ts'
import { childAgentId, toolCallId } from '../../domain/log/ids.ts'
import type { JsonObject } from '../../domain/log/json.ts'
import { newPlace, keepup as program } from '../support/faults/cli.ts'
import { draws, FAULT_SEED } from '../support/faults/seed.ts'
import { expectDelivered } from '../support/tree/traffic.ts'

// The agents of one run talk to each other while the process that drives them is killed, again and again.
// `MESSAGES_CAMPAIGN=whole` makes it more than 1,000 messages between 20 agents; without it a small sample runs.

const WHOLE = process.env.MESSAGES_CAMPAIGN === 'whole'
/** Children of the root; in each turn one sends so many messages. */
const [CHILDREN, TURNS, PER_TURN, KILLS] = WHOLE ? [19, 6, 10, 40] : [4, 3, 4, 4]
/** A process dies after so many points at which it can be killed, at most. */
const POINTS = WHOLE ? 500 : 60

const call = (tool: string, args: JsonObject) => ({ tool, arguments: args })
const DONE = { calls: [call('complete_task', { summary: 'said all' })] }
/** Waits for a person, so that every agent is there before the first message and after the last one. */
const gate = (tool: string) => ({
  calls: [call('request_permission', { tool, scope: 'call', until: '1d', reason: 'all' })],
})

const GIVEN_UP = /drivers in a row were lost/

/** What each child says: messages to others, to its parent, to an agent that does not exist, and to a topic that all hear. */
function script(runId: string, draw: (below: number) => number): object {
  const agents = Array.from({ length: CHILDREN }, (_, n) => childAgentId(toolCallId(runId, 1, n)))
  const names = agents.map((_, n) => `child-${n}.`)
  const says = (n: number) => {
    const others = [...agents.filter((_, other) => other !== n), 'parent']
    const message = (turn: number, nth: number) => {
      if (turn === 0 && nth === 0) return call('subscribe', { topic: 'news' })
      if (turn === 1 && nth === 0) return call('publish', { topic: 'news', payload: `news of ${n}` })
      if (turn === 2 && nth === 0) return call('send_message', { to: 'no-such-agent', payload: n })
      return call('send_message', { to: others[draw(others.length)]!, payload: `${n}.${turn}.${nth}` })
    }
    const turn = (t: number) => ({ calls: Array.from({ length: PER_TURN }, (_, nth) => message(t, nth)) })
    return [
      gate('create_document'),
      ...Array.from({ length: TURNS }, (_, t) => turn(t)),
      gate('edit_document'),
      ...Array.from({ length: 20 }, () => DONE),
    ]
  }
  const delegations = names.map((task) => call('delegate_to_agent', { role: 'researcher', task }))
  return {
    script: 1,
    model: 'talkers',
    turns: [{ calls: delegations }, ...Array.from({ length: 20 }, () => DONE)],
    parts: names.map((task, n) => ({ name: task, when: { firstInputContains: task }, turns: says(n) })),
  }
}

/** A person opens all gates that agents wait at, once all of them do. */
async function openGates(open: () => Promise<KeepUp>, runId: string): Promise<number> {
  const keepup = await open()
  const gates = await Array.fromAsync(keepup.approvals({ run: runId }))
  for (const { agentId, toolCallId } of gates) {
    const { questionHash } = await keepup.getApproval({ toolCallId })
    await keepup.say(agentId, { kind: 'decide_approval', toolCallId, questionHash, decision: 'approved' })
  }
  await keepup.close()
  return gates.length
}

async function streamsOf({ services: { log }, getRunTree }: KeepUp, runId: string) {
  const agents = (await getRunTree({ id: runId })).agents.map(({ agentId }) => agentId)
  const streams = new Map<string, { type: string; revision: number; body: unknown }[]>()
  for (const agentId of agents) {
    const events = []
    for await (const page of log.read(`agent-${agentId}`))
      for (const { header, body } of page) {
        const text = body === null ? null : new TextDecoder().decode(body)
        events.push({ type: header.type, revision: header.revision, body: text === null ? {} : JSON.parse(text) })
      }
    streams.set(agentId, events)
  }
  return streams
}

test(`agents talk under kills: each message arrives once and in order, or bounces (FAULT_SEED=${FAULT_SEED})`, async () => {
  const place = newPlace()
  onTestFinished(() => place.remove())
  // The vault's key, for this process as for those that it starts.
  vi.stubEnv('XDG_CONFIG_HOME', join(place.root, '.config'))
  mkdirSync(place.data, { mode: 0o700 })
  writeFileSync(join(place.data, 'keepup.json'), JSON.stringify({ agentsAtOnce: 20 }))
  const file = join(place.root, 'talkers.json')
  const draw = draws(FAULT_SEED)
  const open = () => openKeepUp({ data: place.data, by: 'ada' })
  writeFileSync(file, JSON.stringify(script('none', draw)))

  const starting = await open()
  const { runId } = await starting.start({
    ...{ task: 'talk', model: `scripted:${file}`, delegation: {}, policy: { mode: 'batch', maxParallel: 32 } },
  })
  await starting.close()
  writeFileSync(file, JSON.stringify(script(runId, draw)))

  let kills = 0
  const gates: number[] = []
  for (let n = 0; n < KILLS; n++) {
    const KEEPUP_CRASH_AT = `*:${1 + draw(POINTS)}`
    const { signal, code, err } = await program(place, ['resume', runId], { env: { KEEPUP_CRASH_AT } })
    if (signal === 'SIGKILL') kills += 1
    else if (code === EXIT.waiting) gates.push(await openGates(open, runId))
    else expect(code, err).toBe(EXIT.done)
  }
  for (let code: number | null = null; code !== EXIT.done; ) {
    const last = await program(place, ['resume', runId])
    code = last.code
    if (code === EXIT.waiting) gates.push(await openGates(open, runId))
    else expect(code, last.err).toBe(EXIT.done)
  }
  expect(kills).toBeGreaterThan(KILLS / 2)

  const ended = await open()
  onTestFinished(() => ended.close())
  const streams = await streamsOf(ended, runId)
  expect(streams.size).toBe(CHILDREN + 1)
  const { sent, bounced } = expectDelivered(streams)
  // All others were at work from the first message to the last one, except where too many processes in a row had died in one
  // call: it is given up, and its agent may pass its gate and finish before the others.
  const givenUp = [...streams.values()].filter((events) =>
    events.some(({ body }) => GIVEN_UP.test(JSON.stringify(body))),
  )
  expect(gates[0]! + givenUp.length).toBeGreaterThanOrEqual(CHILDREN)
  expect(gates[1]! + givenUp.length, JSON.stringify(gates)).toBeGreaterThanOrEqual(CHILDREN)
  if (givenUp.length === 0) {
    expect(gates).toEqual([CHILDREN, CHILDREN])
    expect(bounced).toEqual({ 'there is no such agent': CHILDREN })
    // The publications come on top: they go to all that hear them by then.
    expect(sent).toBeGreaterThanOrEqual(CHILDREN * (TURNS * PER_TURN - 2))
  }
  if (WHOLE) expect(sent).toBeGreaterThan(1_000)
  for (const agentId of streams.keys()) {
    const { state } = await ended.services.runtime.at(agentId, null)
    const { spec: _, ...kept } = state
    expect(Object.keys({ ...state.courier.owed, ...state.courier.accepted }).length).toBeLessThanOrEqual(CHILDREN + 2)
    expect(JSON.stringify(kept).length, agentId).toBeLessThan(16 * 1024)
  }
  expect((await ended.verifyRun({ id: runId })).ok).toBe(true)
  console.log(
    `${sent} messages between ${streams.size} agents, ${JSON.stringify(bounced)} bounced, ${kills} kills, ${givenUp.length} agents with a call given up`,
  )
})
