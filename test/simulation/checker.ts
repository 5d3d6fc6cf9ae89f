import { agent } from '../../domain/agent/decide/aggregate.ts'
import { waitsForAgents, waitsOf } from '../../domain/agent/decide/waiting.ts'
import { driverWakeAt } from '../../domain/agent/decide/wake-at.ts'
import type { AgentEvent } from '../../domain/agent/events/events.ts'
import { budgetOf, committed, ownSpent, totals } from '../../domain/agent/state/budget-account.ts'
import { type AgentState, callsOf, isFinished } from '../../domain/agent/state/state.ts'
import { undelivered } from '../../domain/courier/ledger.ts'
import type { SealedEvent } from '../../domain/log/envelope.ts'
import { keyOf } from '../../domain/log/ids.ts'
import { idOf, kindOf } from '../../domain/log/owner.ts'
import { unsalted } from '../../domain/log/seal.ts'
import { EFFECTS, type ToolName } from './plan.ts'
import { Violation } from './scheduler.ts'

interface Stream {
  /** The events that a fork has from its source. */
  readonly inherited: readonly AgentEvent[]
  readonly events: AgentEvent[]
  readonly hashes: string[]
  /** Digests of the states after each event that recorded one. */
  readonly digests: Map<number, string>
  /** Deliveries that this stream has recorded, by source and revision. */
  readonly origins: Set<string>
  state: AgentState | null
}

const INTENTS: ReadonlySet<string> = new Set<AgentEvent['type']>([
  ...(['tool_call_start', 'tool_call_intent', 'tool_call_retry'] as const),
])

const isIntent = ({ body }: AgentEvent, attempt: number): boolean => {
  const { attempt: of, intent = true } = body as { attempt: number; intent?: boolean }
  return of === attempt && intent
}

/** The beginning of a tool's effect. */
interface Beginning {
  readonly agentId: string
  readonly toolCallId: string
  readonly attempt: number
  readonly args: unknown
  /** False: the attempt has no effect. */
  readonly counts: boolean
  readonly process: string
  /** The head of the agent's stream when the process last read it. */
  readonly seen: number
}

/** Events that only the owner of an agent may record. */
const OF_THE_OWNER: ReadonlySet<string> = new Set<AgentEvent['type']>([
  ...(['turn_start', 'model_call_start', 'tool_call_start', 'tool_call_intent', 'child_delegated'] as const),
])

/**
 * Follows everything that becomes durable, with a fold of its own, and names the first rule that is broken. Knows
 * nothing of the processes except the state that they show.
 */
export class Checker {
  readonly streams = new Map<string, Stream>()
  /** How often the effect of each call began. */
  readonly effects = new Map<string, number>()
  readonly keys = new Set<string>()
  #problem: Violation | null = null
  readonly #seen = new WeakMap<object, string>()

  /** Throws what was found since the last call. */
  mustHold(): void {
    if (this.#problem !== null) throw this.#problem
  }

  #found(rule: string, what: string): void {
    this.#problem ??= new Violation(rule, what)
  }

  /** Events have become durable. */
  written(batch: readonly SealedEvent[]): void {
    // One append may have several events of one request.
    const own = new Set<string>()
    for (const event of batch) {
      const key = keyOf(event.header.commandId)
      if (key !== null && !own.has(key) && this.keys.has(key))
        this.#found(
          'a request is recorded once',
          `${event.header.type} at ${event.header.stream}@${event.header.revision}`,
        )
      if (key !== null) {
        own.add(key)
        this.keys.add(key)
      }
      if (kindOf(event.header.stream) === 'agent') this.#mustFold(event)
    }
  }

  #mustFold(event: SealedEvent): void {
    const { stream, revision, type } = event.header
    try {
      this.#agentEvent(event)
    } catch (error) {
      this.#found('a durable event can be folded', `${stream}@${revision} (${type}): ${(error as Error).message}`)
    }
  }

  #agentEvent({ header, body, hash }: SealedEvent): void {
    const { stream, revision } = header
    const event = agent.decode(header, unsalted(body!))
    const inherited = event.type === 'forked' ? this.#prefix(event.body) : []
    const known: Stream = this.streams.get(stream) ?? {
      inherited,
      events: [],
      hashes: [],
      digests: new Map(),
      origins: new Set(),
      state: folded(inherited),
    }
    this.streams.set(stream, known)
    const before = known.state
    known.state = agent.evolve(before, event)
    known.events.push(event)
    known.hashes.push(hash)
    const at = `${stream}@${revision} (${event.type})`
    if (header.digest !== undefined) {
      known.digests.set(revision, header.digest.value)
      if (agent.digest(known.state) !== header.digest.value)
        this.#found('the fold of the log equals the state that was decided', at)
    }
    const owner = before?.driver
    if (header.driver !== undefined && owner && OF_THE_OWNER.has(event.type) && header.driver.epoch !== owner.epoch)
      this.#found('only the owner begins work', `${at} of epoch ${header.driver.epoch}, not ${owner.epoch}`)
    const { origin } = event.body as { origin?: { stream: string; revision: number } }
    if (origin !== undefined) {
      const place = `${origin.stream}@${origin.revision}`
      if (known.origins.has(place)) this.#found('a delivery is recorded once', `${place} again in ${at}`)
      known.origins.add(place)
    }
    const open = known.events.findLast(({ type }) => type === 'model_call_start')
    if (
      event.type === 'model_call_end' &&
      open?.type === 'model_call_start' &&
      event.body.attempt !== open.body.attempt
    )
      this.#found(
        'an answer belongs to the attempt that is open',
        `${at}: ${event.body.attempt} of ${open.body.attempt}`,
      )
    if (event.type === 'completion' && known.events.filter(({ type }) => type === 'completion').length > 1)
      this.#found('an agent completes once', at)
    this.#checkBudget(known.state, at)
  }

  /** All events of a stream up to a revision, with those that it inherits. */
  #prefix({ stream, revision }: { stream: string; revision: number }): readonly AgentEvent[] {
    const { inherited, events } = this.streams.get(stream)!
    return [...inherited, ...events.slice(0, revision + 1)]
  }

  #checkBudget(state: AgentState, at: string): void {
    const [budget, own, others] = [budgetOf(state), ownSpent(state), committed(state)]
    for (const kind of ['tokens', 'agents'] as const) {
      const limit = budget[kind]
      if (limit !== null && own[kind] + others[kind] > limit)
        this.#found(
          'no agent spends or gives more than it has',
          `${kind} at ${at}: ${own[kind] + others[kind]} of ${limit}`,
        )
    }
    const root = this.streams.get(`agent-${state.runId}`)?.state
    if (!root) return
    const members = [...this.streams.values()].flatMap((one) => (one.state?.runId === state.runId ? [one.state] : []))
    const tokens = members.reduce((sum, one) => sum + ownSpent(one).tokens, 0)
    const { spec } = root
    if (spec.budget.tokens !== null && tokens > spec.budget.tokens)
      this.#found('a tree spends at most the budget of its root', `${tokens} of ${spec.budget.tokens} tokens at ${at}`)
    if (members.length > (spec.delegation?.agents ?? 1))
      this.#found('a tree has at most the agents of its budget', `${members.length} at ${at}`)
  }

  /** A tool begins its effect. */
  begins({ agentId, toolCallId, attempt, args, counts, process, seen }: Beginning): void {
    const known = this.streams.get(`agent-${agentId}`)
    const own = known?.events.filter((event) => event.toolCallId === toolCallId) ?? []
    const intent = own.find((event) => INTENTS.has(event.type) && isIntent(event, attempt))
    if (intent === undefined)
      return this.#found('the intent of an effect is durable before it begins', `${toolCallId}#${attempt}`)
    const owner = known!.events.slice(0, seen + 1).findLast(({ type }) => type === 'driver_claimed')
    const isOwner = owner?.type === 'driver_claimed' && owner.body.driverId.startsWith(`${process}-`)
    if (seen < intent.revision || !isOwner)
      return this.#found(
        'a driver looks at the log before each effect, and owns the agent there',
        `${toolCallId} in ${process}, which saw ${seen}; its intent is at ${intent.revision}`,
      )
    const start = own.find(({ type }) => type === 'tool_call_start')
    const toolName = start?.type === 'tool_call_start' ? start.body.toolName : ''
    const standing = known!.events.some(
      (event) => event.type === 'standing_approval' && event.body.tools.includes(toolName),
    )
    const needs = !standing && known!.state!.spec.policy.requiresApproval.includes(toolName)
    const last = own.findLast(({ type }) => type === 'approval_decided' || type === 'approval_voided')
    const allowed = last?.type === 'approval_decided' && last.body.decision === 'approved'
    if (needs && !allowed) this.#found('a call that needs an approval begins after it', toolCallId)
    if (start?.type === 'tool_call_start') {
      const { argumentsRef } = start.body
      const answer = known!.events[argumentsRef.revision]
      const block = answer?.type === 'model_call_end' ? answer.body.content[argumentsRef.block] : undefined
      if (JSON.stringify(block?.input) !== JSON.stringify(args))
        this.#found('a tool gets the recorded arguments', `${toolCallId} got ${JSON.stringify(args)}`)
      if (last?.type === 'approval_decided' && last.body.argumentsHash !== start.body.argumentsHash)
        this.#found('an approval holds for its arguments alone', toolCallId)
    }
    if (!counts) return
    const times = (this.effects.get(toolCallId) ?? 0) + 1
    this.effects.set(toolCallId, times)
    const again = own.filter(
      ({ type, body }) => type === 'tool_call_resolved' && (body as { decision: string }).decision === 'run',
    )
    const tool = start?.type === 'tool_call_start' ? start.body.toolName : ''
    if (EFFECTS[tool as ToolName] === 'irreversible' && times > 1 + again.length)
      this.#found('an irreversible effect begins once', `${toolCallId} began ${times} times`)
  }

  /** A model is asked. */
  asks(intents: number, asked: number): void {
    if (asked > intents) this.#found('the intent of a model call is durable before it begins', `${asked} of ${intents}`)
  }

  /** A person's request was answered as recorded. */
  acknowledged(key: string, what: string): void {
    if (!this.keys.has(key)) this.#found('an acknowledged request is in the log', what)
  }

  /** A process has reported an event as recorded. */
  reported({ header, hash }: SealedEvent): void {
    if (kindOf(header.stream) === 'agent' && this.streams.get(header.stream)?.hashes[header.revision] !== hash)
      this.#found('an acknowledged event is in the log', `${header.stream}@${header.revision} (${header.type})`)
  }

  /** The state of an agent in the memory of a process. */
  live(process: string, stream: string, tip: { revision: number; hash: string }, state: AgentState): void {
    if (this.#seen.get(state) === tip.hash) return
    this.#seen.set(state, tip.hash)
    const known = this.streams.get(stream)
    const at = `${stream}@${tip.revision} in ${process}`
    if (known?.hashes[tip.revision] !== tip.hash) return this.#found('an acknowledged event is in the log', at)
    const digest = known.digests.get(tip.revision)
    if (digest !== undefined && agent.digest(state) !== digest)
      this.#found('the state in memory equals the fold of the log', at)
  }

  get states(): readonly AgentState[] {
    return [...this.streams.values()].flatMap(({ state }) => (state === null ? [] : [state]))
  }

  /** Whether every agent has finished and owes nothing. */
  get allDone(): boolean {
    return this.states.every((state) => isFinished(state) && undelivered(state).length === 0)
  }

  /** The agents with open work, for a message. */
  open(): string {
    return this.states
      .filter((state) => !isFinished(state) || undelivered(state).length > 0)
      .map((state) => {
        const waits = waitsOf(state).map((wait) => wait.for)
        const stages = callsOf(state).map(({ id, stage }) => `${id} ${stage.at}`)
        const owes = undelivered(state).map(({ target }) => target)
        return `${state.agentId} ${state.machine.status} waits for [${waits}] owes [${owes}] calls [${stages}] wakes at ${driverWakeAt(state)} agents ${waitsForAgents(state)}`
      })
      .join('; ')
  }

  /** A cancelled agent passes its cancel on to each child that had not ended. */
  #checkCancel(stream: string, events: readonly AgentEvent[], { machine }: AgentState): void {
    if (machine.status !== 'ERROR' || machine.code !== 'CANCELLED') return
    const asked = events.findIndex(({ type }) => type === 'cancel_requested')
    const known = new Set<string>()
    events.forEach((event, n) => {
      if (event.type === 'cancel_forwarded' || (event.type === 'child_ended' && n < asked))
        known.add(event.body.childId)
    })
    // A birth that bounced has no child.
    for (const event of events)
      if (
        event.type === 'child_delegated' &&
        !known.has(event.body.childId) &&
        this.streams.has(`agent-${event.body.childId}`)
      )
        this.#found('a cancel reaches every open child', `${event.body.childId} of ${stream}`)
  }

  /** At the end: outcomes and effects agree, and every stream folds to the same state from its beginning. */
  atEnd(): void {
    for (const [stream, { inherited, events, state }] of this.streams) {
      const again = folded([...inherited, ...events])
      if (agent.digest(again!) !== agent.digest(state!)) this.#found('a reload gives the same state', stream)
      this.#checkCancel(stream, events, state!)
      for (const event of events) {
        if (event.type !== 'tool_call_end' || !event.body.success) continue
        const id = event.toolCallId!
        const start = events.find((one) => one.type === 'tool_call_start' && one.toolCallId === id)
        if (start?.type !== 'tool_call_start' || EFFECTS[start.body.toolName as ToolName] !== 'irreversible') continue
        if ((this.effects.get(id) ?? 0) === 0)
          this.#found('a recorded success has happened', `${id} of ${idOf(stream)}`)
      }
    }
    this.#checkBooks()
    this.mustHold()
  }

  /** The totals of each agent are the sums over its subtree. */
  #checkBooks(): void {
    const states = this.states
    const below = (id: string): readonly AgentState[] =>
      states.flatMap((state) =>
        state.agentId === id ? [state] : state.parent?.agentId === id ? below(state.agentId) : [],
      )
    for (const state of states) {
      const { spent } = totals(state)
      const own = below(state.agentId)
      const output = own.reduce((sum, one) => sum + one.spent.output, 0)
      if (spent.output !== output || spent.agents !== own.length)
        this.#found(
          'the bill of an agent contains its whole tree',
          `${state.agentId}: ${spent.output} tokens of ${spent.agents} agents, not ${output} of ${own.length}`,
        )
    }
  }
}

const folded = (events: readonly AgentEvent[]): AgentState | null =>
  events.reduce<AgentState | null>((state, event) => agent.evolve(state, event), null)
