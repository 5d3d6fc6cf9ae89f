import { controlToolNamed } from '../../../domain/agent/control/registry.ts'
import type { AgentCommand } from '../../../domain/agent/decide/commands.ts'
import { decideAgent } from '../../../domain/agent/decide/decide.ts'
import { owed } from '../../../domain/agent/decide/owed.ts'
import type { AgentEvent } from '../../../domain/agent/events/events.ts'
import { deliveryOf, tellsOf } from '../../../domain/agent/rules/obligations.ts'
import { targetsOf } from '../../../domain/agent/state/courier.ts'
import { type AgentState, activityOf, callsOf, isFinished } from '../../../domain/agent/state/state.ts'
import { Transcript } from '../../../domain/agent/state/transcript.ts'
import { DeliveryRefused } from '../../../domain/calls/errors.ts'
import { asBounce, bounceOf } from '../../../domain/courier/delivery-commands.ts'
import { rankOf, undelivered } from '../../../domain/courier/ledger.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import { idOf } from '../../../domain/log/owner.ts'
import type { ModelOutcome } from '../../../domain/ports/index.ts'

/** One stream of the simulated log, with its folded state. */
export interface Stream {
  readonly events: AgentEvent[]
  readonly transcript: Transcript
  state: AgentState
}

/** The answers of an agent's model. */
export type Model = (agent: Stream) => ModelOutcome

type Driver = { readonly id: string; readonly epoch: number }
type Late = { readonly agentId: string; readonly command: AgentCommand; readonly driver: Driver }

const HASH = '5'.repeat(64)

/** Records the events of a decision like a log, and returns their hashes. */
export interface Book {
  /** The time before the first event, in ms. */
  readonly startsAt: number
  record(agentId: string, decided: Decided): void
  hashOf(agentId: string, revision: number): string
}
type Decided = ReturnType<typeof decideAgent>['drafts']

/**
 * Several agents without effects: drivers, couriers and clocks are moves of a test. Only the log is stored, so a driver
 * or a courier may be lost at any point.
 */
export class Agents {
  readonly streams = new Map<string, Stream>()
  /** Answers of model calls whose driver was lost. They may still arrive. */
  readonly late: Late[] = []
  now = Date.UTC(2026, 0, 18)
  private drivers = 0
  private readonly model: Model
  private readonly see: (agents: Agents, event: AgentEvent, after: AgentState) => void

  private readonly book: Book | undefined

  constructor(
    model: Model,
    see: (agents: Agents, event: AgentEvent, after: AgentState) => void = () => undefined,
    book?: Book,
  ) {
    this.model = model
    this.see = see
    this.book = book
    this.now = book?.startsAt ?? this.now
  }

  /** Decides a command on a stream and records its events. */
  submit(agentId: string, command: AgentCommand, driver?: Driver): readonly AgentEvent[] {
    this.now += 1
    const stream = this.streams.get(agentId)
    const birth = command.kind === 'deliver_birth' ? command.birth.runId : agentId
    const identity = {
      agentId,
      runId: stream?.state.runId ?? birth,
      revision: stream?.state.revision ?? -1,
    }
    const courier = command.kind.startsWith('deliver')
    const by = driver
      ? ({ kind: 'driver', id: driver.id } as const)
      : ({ kind: courier ? 'courier' : 'user', id: courier ? 'courier' : 'u' } as const)
    const { drafts, state } = decideAgent(stream?.state ?? null, identity, command, {
      ...{ now: this.now, salt: () => new Uint8Array(16), jitter: () => 0, by },
      commandId: `c${this.now}`,
      transcript: () => (stream?.transcript ?? new Transcript()).branch(),
      ...(driver === undefined ? {} : { driver }),
    })
    if (drafts.length === 0) return []
    const kept = stream ?? { events: [], transcript: new Transcript(), state: state! }
    this.streams.set(agentId, kept)
    this.book?.record(agentId, drafts)
    for (const { event, after } of drafts) {
      kept.events.push(event)
      kept.transcript.push(event)
      kept.state = after
      this.see(this, event, after)
    }
    return drafts.map(({ event }) => event)
  }

  /** A new driver claims the agent. Running work of the previous driver is lost, or its outcome arrives late. */
  claim(agentId: string): void {
    const { state } = this.of(agentId)
    const activity = activityOf(state.machine)
    if (activity?.status === 'THINKING' && activity.model.at === 'calling' && state.driver !== null)
      this.late.push({ agentId, command: this.answer(agentId), driver: state.driver })
    const id = `d${this.drivers++}`
    this.submit(agentId, { kind: 'claim', driverId: id, build: 'test' }, { id, epoch: 0 })
  }

  /** The driver takes every step and performs one effect. Returns whether anything happened. */
  drive(agentId: string, nth = 0): boolean {
    if (this.of(agentId).state.driver === null) this.claim(agentId)
    const driver = this.of(agentId).state.driver!
    if (this.submit(agentId, { kind: 'proceed' }, driver).length > 0) return true
    const effects = owed(this.of(agentId).state).filter(({ kind }) => kind === 'model' || kind === 'tool')
    const effect = effects[nth % Math.max(1, effects.length)]
    if (effect === undefined) return false
    const outcome =
      effect.kind === 'model'
        ? this.answer(agentId)
        : this.result(agentId, (effect as { toolCallId: string }).toolCallId)
    return this.submit(agentId, outcome, driver).length > 0
  }

  private answer(agentId: string): AgentCommand {
    const stream = this.of(agentId)
    const activity = activityOf(stream.state.machine)
    const model = activity?.status === 'THINKING' ? activity.model : null
    const attempt = model !== null && 'attempt' in model ? model.attempt : 1
    const outcome = this.model(stream)
    return { kind: 'model_answered', turn: stream.state.turn, attempt, outcome, durationMs: 1, paths: [] }
  }

  private result(agentId: string, toolCallId: string): AgentCommand {
    const { state, events } = this.of(agentId)
    const call = callsOf(state).find(({ id }) => id === toolCallId)!
    const about = { toolCallId, toolName: call.toolName, attempt: call.attempt, durationMs: 1 }
    const result = { content: 'ok' }
    const control = controlToolNamed(call.toolName)
    if (control === undefined) return { kind: 'tool_succeeded', ...about, result }
    const answer = events[call.argumentsRef.revision]!
    const block = answer.type === 'model_call_end' ? answer.body.content[call.argumentsRef.block] : undefined
    const input = control.schema.parse(block?.input as JsonObject)
    return {
      kind: 'tool_succeeded',
      ...about,
      result,
      control: { input, findings: { gates: [], artifacts: [], text: null } },
    }
  }

  of(agentId: string): Stream {
    const stream = this.streams.get(agentId)
    if (stream === undefined) throw new Error(`there is no ${agentId}`)
    return stream
  }

  /** Pairs of streams with open deliveries. */
  pairs(): { readonly source: string; readonly target: string }[] {
    return [...this.streams].flatMap(([source, { state }]) =>
      undelivered(state).map(({ target }) => ({ source, target })),
    )
  }

  /** Pairs of streams with open or completed deliveries. */
  everOwed(): readonly { readonly source: string; readonly target: string }[] {
    return [...this.streams].flatMap(([source, { state }]) =>
      Object.keys(state.courier.owed).map((target) => ({ source, target })),
    )
  }

  /**
   * Delivers the next obligation. `again`: a settled one; `skips`: the one after the next; `forgets`: the courier dies
   * before it informs the source.
   */
  deliver(source: string, target: string, how: 'next' | 'again' | 'skips' | 'forgets'): void {
    const { state, events } = this.of(source)
    const owes = state.courier.owed[target]!
    const all = events.filter((event) => targetsOf(state, event).includes(target))
    const next = all.findIndex(({ revision }) => revision >= owes.from)
    const place = how === 'again' ? (next < 0 ? all.length : next) - 1 : how === 'skips' ? next + 1 : next
    if (how !== 'again' && next < 0) return
    const event = all[place]
    if (event === undefined) return
    const after = how === 'skips' ? all[place - 1]!.revision : owes.accepted
    const to = { stream: `agent-${source}`, target, after, hash: this.book?.hashOf(source, event.revision) ?? HASH }
    const command = deliveryOf(state, event, to)!
    const done = { target, upTo: event.revision }
    try {
      const written = this.accept(target, command)
      if (how === 'again' && written.length > 0)
        throw new Error(`${event.type} was accepted twice, or after it had bounced`)
      if (how === 'again' || how === 'forgets') return
      this.submit(source, { kind: 'delivered', ...done, accepted: rankOf(command.origin), bounced: [] })
    } catch (error) {
      if (!(error instanceof DeliveryRefused)) throw error
      if (error.code === 'OUT_OF_ORDER' && how !== 'skips') throw error
      if (error.code === 'OUT_OF_ORDER' || how !== 'next') return
      const accepted = owes.accepted < 0 ? null : owes.accepted
      const bounced = [bounceOf(event.revision, tellsOf(event), asBounce(error, command))]
      this.submit(source, { kind: 'delivered', ...done, accepted, bounced })
    }
  }

  /** Records a delivery in its target's stream. */
  protected accept(target: string, command: AgentCommand): readonly unknown[] {
    return this.submit(idOf(target), command)
  }

  /** Only a wait for the end of a cancel or for an answer is left: advances the clock to the earliest of them. */
  protected passesDeadline(): boolean {
    const open = [...this.streams.values()].flatMap(({ state }) => {
      if (isFinished(state)) return []
      const replies = callsOf(state).flatMap(({ stage }) => (stage.at === 'reply' ? [stage.until] : []))
      return state.cancel === null ? replies : [state.cancel.deadlineAt, ...replies]
    })
    this.now = Math.max(this.now, ...(open.length === 0 ? [] : [Math.min(...open)]))
    return open.length > 0
  }

  /** Performs all due work in turn, until none is left. */
  settle(): void {
    for (let round = 0; round < 5_000; round++) {
      let moved = false
      for (const { source, target } of this.pairs()) {
        this.deliver(source, target, 'next')
        moved = true
      }
      for (const agentId of [...this.streams.keys()]) moved = this.drive(agentId) || moved
      if (!moved && !this.passesDeadline()) return
    }
    throw new Error('the tree does not come to rest')
  }
}
