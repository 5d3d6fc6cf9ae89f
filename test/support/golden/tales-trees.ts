import { controlTools } from '../../../domain/agent/control/registry.ts'
import type { Block } from '../../../domain/calls/content.ts'
import { agentStream, childAgentId } from '../../../domain/log/ids.ts'
import type { EventLog, ModelOutcome, ModelRequest } from '../../../domain/ports/index.ts'
import type { RoleDefinition } from '../../../domain/tree/spec.ts'
import { testModel } from '../harness.ts'
import { Agents } from '../tree/agents.ts'
import type { Boundary } from '../tree/dying-log.ts'
import { says, use } from '../tree/planned-model.ts'
import { modelOf, type Plan, treeSpec, worldSpec } from '../tree/plans.ts'
import { Recorded } from '../tree/recorded.ts'
import { ROOT, TreeWorld } from '../tree/world.ts'
import { RecordingLog } from './recording.ts'

// Trees of agents: births and ends, budgets, people's requests, losses, and late facts.

const CHILD = childAgentId(`${ROOT}.t1.c0`)
const leaf: Plan = { rounds: [{ children: [], looks: 1 }], ends: 'completes' }

const recorded = (agentId: string, type: string) => (boundary: Boundary) =>
  boundary.name === 'after_append' && boundary.stream === agentStream(agentId) && boundary.types.includes(type)

const PHASED: RoleDefinition = {
  ...{ name: 'Writer', profile: 'writes', goal: 'write it' },
  phases: ['draft', 'final'].map((name) => ({ name, allowedTools: ['look'] })),
  qualityGates: [],
  maxReactLoop: 8,
}

type Script = Readonly<Record<string, readonly (readonly Block[] | string)[]>>

/**
 * A world with scripted agents. The first word of an agent's task selects its turns; afterwards the agent completes.
 */
function scripted(script: Script, more: Record<string, unknown> = {}, used: Readonly<Record<string, number>> = {}) {
  const log = new RecordingLog()
  const spec = worldSpec({ tools: [...worldSpec().tools, ...controlTools(PHASED).filter(isNew)], ...more })
  const roles = { ...spec.delegation!.roles, reviewer: PHASED }
  const world = new TreeWorld(leaf, undefined, { ...spec, delegation: { ...spec.delegation!, roles } }, log)
  world.answer = ({ messages, tools }: ModelRequest): ModelOutcome => {
    const name = JSON.stringify(messages[0]?.content).match(/\w+(?= it\b)/)?.[0] ?? ''
    const said = script[name]?.[messages.filter(({ role }) => role === 'assistant').length]
    const ends = [use('complete_task', { summary: `${name}: done`, ...ENDS[name] }, 'c')]
    const usage = { input: used[name] ?? 300, output: 40, cacheRead: 0, cacheWrite: 0 }
    if (typeof said === 'string' && tools.length > 1)
      return { ...says([{ type: 'text', text: said }], 'end_turn'), usage }
    return { ...says(tools.length === 1 || said === undefined ? ends : (said as readonly Block[]), 'tool_use'), usage }
  }
  return { world, log }
}
const isNew = ({ name }: { name: string }) => !worldSpec().tools.some((tool) => tool.name === name)
const ENDS: Readonly<Record<string, object>> = { draft: { nextSteps: 'read it', artifacts: ['draft.md'] } }

const delegate = (role: string, task: string, more: object = {}) =>
  use('delegate_to_agent', { role, task, ...more }, `p-${task}`)
const look = (n: number) => [use('look', { n }, `l${n}`)]
const written = ['plan', 'report', 'diagram'].map((type) => ({ type, title: `A ${type}`, content: `the ${type}` }))

/** Children that complete, fail, register an artifact, delegate, and cannot start. */
export async function trees(): Promise<RecordingLog> {
  const { world, log } = scripted({
    do: [
      [
        delegate('reviewer', 'draft it', { constraints: ['look', 'be kind'], expectedOutput: 'a draft' }),
        delegate('coder', 'talk it'),
        delegate('coder', 'share it'),
      ],
    ],
    draft: [[use('advance_phase', { summary: 'drafted', artifacts: written }, 'a')]],
    talk: ['I would rather not.'],
    share: [[delegate('coder', 'look it')], look(1)],
    look: [look(0)],
  })
  await world.live()
  return log
}

/** Children whose parents increase their budget, for a turn and for a child, and one without an increase. */
export async function budgets(): Promise<RecordingLog> {
  const looks = [look(0), look(1), look(2), look(3)]
  const script = {
    do: [[delegate('coder', 'share it')], look(0)],
    share: [[delegate('coder', 'look it')]],
    look: looks,
  }
  const budget = { tokens: 90_000, nanoDollars: 9_000_000_000 }
  const price = { asOf: '2026-01-01', input: 1_000_000, output: 2_000_000, cacheRead: 0, cacheWrite: 0 }
  const models = { requested: 'test-model', safeDefault: 'test-model', known: [{ ...testModel, price }] }
  const { world, log } = scripted(script, { budget, models }, { look: 9_000 })
  await world.live()
  return log
}

/** A person pauses, resumes and cancels a tree, with and without a reason. */
export const stops = async (): Promise<RecordingLog> => stopped('enough')
export const plainstops = async (): Promise<RecordingLog> => stopped()

async function stopped(reason?: string): Promise<RecordingLog> {
  const { world, log } = scripted({
    do: [[delegate('coder', 'share it')]],
    share: [look(0), [delegate('coder', 'look it')]],
  })
  const why = reason === undefined ? {} : { reason }
  let asked: Promise<unknown> = Promise.resolve()
  const once = new Set<string>()
  const when = (at: (boundary: Boundary) => boolean, act: () => Promise<unknown>, boundary: Boundary, key: string) => {
    if (once.has(key) || !at(boundary)) return
    once.add(key)
    asked = act()
  }
  world.onBoundary = (boundary) => {
    when(recorded(CHILD, 'turn_start'), () => world.ask(ROOT, { kind: 'pause', ...why }, 'pause'), boundary, 'pause')
    const cancel = () => world.ask(ROOT, { kind: 'cancel', deadlineMs: 10_000, ...why }, 'cancel')
    when(recorded(CHILD, 'child_delegated'), cancel, boundary, 'cancel')
  }
  await world.live()
  await asked
  await world.ask(ROOT, { kind: 'resume' }, 'resume')
  await world.goOn()
  return log
}

/** A parent gives up a child whose stream is unreadable. */
export async function unread(): Promise<RecordingLog> {
  const log = new RecordingLog()
  const damaged = { stream: '' }
  const dies = (boundary: Boundary) => {
    if (damaged.stream !== '' || !recorded(CHILD, 'driver_claimed')(boundary)) return false
    damaged.stream = agentStream(CHILD)
    return true
  }
  const world = new TreeWorld({ rounds: [{ children: [leaf], looks: 0 }], ends: 'completes' }, dies, worldSpec(), log)
  world.damaged = damaged
  await world.live()
  return log
}

/** A copy of a log without the appends of one stream after a revision. */
async function cut(log: EventLog, stream: string, kept: number): Promise<RecordingLog> {
  const left = new RecordingLog()
  let batch: Parameters<EventLog['append']>[2] = []
  for await (const page of log.readAll(null))
    for (const event of page) {
      if (event.header.stream === 'log-meta') continue
      batch = [...batch, event]
      if (event.header.wakeAt === undefined) continue
      const [{ header }] = [batch[0]!]
      if (header.stream !== stream || event.header.revision <= kept)
        await left.append(header.stream, header.revision - 1, batch)
      batch = []
    }
  return left
}

/**
 * A root that lost the births of its children. It refuses their repeated deliveries, and they refuse its deliveries.
 */
export async function lostbirths(): Promise<RecordingLog> {
  const three: Plan = {
    rounds: [
      { children: [leaf, leaf], looks: 0 },
      { children: [], looks: 1 },
    ],
    ends: 'completes',
  }
  const before = new TreeWorld(three, undefined, undefined, new RecordingLog())
  await before.until(60)
  const events = await before.events(ROOT)
  const log = await cut(
    before.log,
    agentStream(ROOT),
    events.find(({ type }) => type === 'child_delegated')!.revision - 1,
  )
  const world = new TreeWorld(three, undefined, undefined, log)
  world.clock.time = before.clock.now()
  await world.acceptLoss(ROOT)
  await world.goOn()
  return log
}

/** An answer arrives after the end of its agent and of all ancestors. */
export async function lateusage(): Promise<RecordingLog> {
  const chain: Plan = { rounds: [{ children: [{ rounds: [], ends: 'completes' }], looks: 0 }], ends: 'completes' }
  const book = new Recorded()
  const agents = new Agents(modelOf({ rounds: [{ children: [chain], looks: 0 }], ends: 'completes' }), undefined, book)
  agents.submit(ROOT, { kind: 'start', spec: treeSpec(), task: 'do it' })
  const deepest = () => [...agents.streams].find(([, { state }]) => state.depth === 2)?.[0]
  const calls = () => agents.of(deepest()!).events.some(({ type }) => type === 'model_call_start')
  while (deepest() === undefined || !calls()) {
    for (const { source, target } of agents.pairs()) agents.deliver(source, target, 'next')
    for (const id of [...agents.streams.keys()]) if (deepest() === undefined || !calls()) agents.drive(id)
  }
  agents.claim(deepest()!)
  agents.settle()
  const late = agents.late[0]!
  agents.submit(late.agentId, late.command, late.driver)
  agents.settle()
  const log = new RecordingLog()
  await book.into(log)
  return log
}
