import { MemoryLog } from '../../../adapters/memory/log.ts'
import type { UserCommand } from '../../../domain/agent/decide/commands.ts'
import type { AgentEvent } from '../../../domain/agent/events/events.ts'
import { history } from '../../../domain/agent/runtime/history/history.ts'
import { agentAt } from '../../../domain/agent/runtime/history/replay.ts'
import { recordAcceptedLoss } from '../../../domain/agent/runtime/losses.ts'
import { totals } from '../../../domain/agent/state/budget-account.ts'
import { callsOf } from '../../../domain/agent/state/state.ts'
import { CommandRejected } from '../../../domain/calls/errors.ts'
import { undelivered } from '../../../domain/courier/ledger.ts'
import { delegatedAgents } from '../../../domain/external/runtime/delegated-agents.ts'
import { idOf } from '../../../domain/log/owner.ts'
import type { EventLog, ModelOutcome, ModelRequest, Tool } from '../../../domain/ports/index.ts'
import type { DelegatedRuns, RuntimePorts } from '../../../domain/ports/runtime.ts'
import type { DriveEnd } from '../../../domain/tree/runtime/drive.ts'
import type { AgentSpec } from '../../../domain/tree/spec.ts'
import { MemoryBlobs, toolSpec, USER } from '../harness.ts'
import { mortalPorts, Process } from '../process.ts'
import { VirtualClock } from '../time/virtual-clock.ts'
import { type Boundary, dyingLog } from './dying-log.ts'
import { answerOf } from './planned-model.ts'
import { type Plan, worldSpec } from './plans.ts'
import { ProcessLeases } from './process-leases.ts'

/** Selects the boundaries where the process dies. `nth`: counted from 1 over all processes. */
export type Dies = (boundary: Boundary, nth: number, process: Process) => boolean

export const ROOT = 'root'

/** A tree of agents with a scripted model, in processes that die, over one log. */
export class TreeWorld {
  readonly log: EventLog
  readonly clock = new VirtualClock()
  readonly blobs: MemoryBlobs
  /** The number of effects of each call. */
  readonly effects = new Map<string, number>()
  readonly boundaries: Boundary[] = []
  /** The maximum number of concurrently working agents. */
  most = 0
  /** Called at each boundary, for example to cancel as a person. */
  onBoundary: (boundary: Boundary) => void = () => undefined
  /** The model's answers. */
  answer: (request: ModelRequest) => ModelOutcome | Promise<ModelOutcome> = (request) => answerOf(this.plan, request)
  /** The unreadable stream; blank: none. */
  damaged = { stream: '' }
  agentsAtOnce = 5
  /** The duration of a model call, in ms. */
  modelMs = 100
  /** External agents for delegations of the tree. */
  delegated: ((ports: RuntimePorts) => DelegatedRuns) | null = null
  /** The number of concurrently driving processes. */
  workers = 1
  readonly leases = new ProcessLeases()
  /** The processes that have driven each agent. */
  readonly drivers = new Map<string, Set<number>>()
  deaths = 0
  doubts = 0
  private readonly plan: Plan
  private dies: Dies
  readonly spec: AgentSpec
  private processes = 0
  private asked = 0
  private readonly working = new Map<string, Process>()
  process: Process

  constructor(
    plan: Plan,
    dies: Dies = () => false,
    spec = worldSpec(),
    log: EventLog & { readonly blobs?: MemoryBlobs } = new MemoryLog(),
  ) {
    this.plan = plan
    this.dies = dies
    this.spec = spec
    this.log = log
    this.blobs = log.blobs ?? new MemoryBlobs()
    this.process = this.boot()
  }

  boot(): Process {
    this.process = new Process(
      { ports: (process, n) => this.ports(process, n), fateAt: () => undefined },
      this.processes++,
    )
    return this.process
  }

  private claimed(stream: string, process: number): void {
    const drivers = this.drivers.get(idOf(stream)) ?? new Set()
    this.drivers.set(idOf(stream), drivers.add(process))
  }

  /** The process reaches a boundary. True: it died there. */
  private pass(process: Process, boundary: Boundary): boolean {
    if (process.dead) return true
    this.boundaries.push(boundary)
    this.onBoundary(boundary)
    if (!this.dies(boundary, this.boundaries.length, process)) return false
    this.deaths++
    process.die()
    return true
  }

  private ports(process: Process, number: number): RuntimePorts {
    const ports = this.own(process, number)
    return this.delegated === null ? ports : { ...ports, delegated: delegatedAgents(this.delegated(ports)) }
  }

  private own(process: Process, number: number): RuntimePorts {
    const { log, blobs, clock } = this
    const ports = mortalPorts(process, number, {
      ...{ log, blobs, clock, tools: this.tools(process) },
      call: (request, { signal }) =>
        this.atWork(process, `model${this.asked++}`, async () => {
          await clock.sleep(this.modelMs, signal)
          return this.answer(request)
        }),
    })
    return {
      ...ports,
      log: dyingLog(ports.log, {
        appends: (stream, types) => types.includes('driver_claimed') && this.claimed(stream, number),
        passes: (boundary) => this.pass(process, boundary),
        isDamaged: (stream) => stream === this.damaged.stream,
      }),
      agentsAtOnce: this.agentsAtOnce,
      ...(this.workers > 1 && {
        lease: (name) => process.living(() => this.leases.take(process, name)),
      }),
    }
  }

  /** An agent has one running model call or some running tools. */
  private async atWork<T>(process: Process, who: string, work: () => Promise<T>): Promise<T> {
    this.working.set(who, process)
    this.most = Math.max(this.most, [...this.working.values()].filter(({ dead }) => !dead).length)
    try {
      return await work()
    } finally {
      this.working.delete(who)
    }
  }

  private tools(process: Process): Tool[] {
    return ['look', 'send'].map((name) => ({
      spec: toolSpec(name, { effect: name === 'look' ? 'pure' : 'irreversible' }),
      run: (_, { toolCallId, agentId, signal }) =>
        process.living(async () => {
          if (name === 'send') this.effects.set(toolCallId, (this.effects.get(toolCallId) ?? 0) + 1)
          await this.atWork(process, agentId, () => this.clock.sleep(50, signal))
          return { content: 'ok' }
        }),
    }))
  }

  /** A person's request. If the process dies before it answers, the next process repeats the request. */
  async ask(agentId: string, command: UserCommand, key: string): Promise<void> {
    for (;;) {
      const { process } = this
      const asked = process.runtime.execute(agentId, command, { by: USER, key }).then(() => 'done' as const)
      if ((await Promise.race([asked, process.died])) === 'done') return
      if (this.process === process) this.boot()
    }
  }

  /** Drives in all processes until the run has ended or waits. A process that dies is replaced. */
  async drive(agentId = ROOT): Promise<DriveEnd> {
    const [end] = await Promise.all(
      Array.from({ length: this.workers }, (_, n) => this.driveIn(n === 0 ? this.process : this.boot(), agentId)),
    )
    return end!
  }

  private async driveIn(first: Process, agentId: string): Promise<DriveEnd> {
    for (let process = first; ; ) {
      const driving = process.runtime.drive(agentId, { signal: new AbortController().signal })
      const end = await Promise.race([driving, process.died])
      if (end !== 'died') return end
      process = this.process === process || this.workers > 1 ? this.boot() : this.process
    }
  }

  /** Drives until the process dies, without replacing it. */
  async until(nth: number): Promise<void> {
    const { process } = this
    this.dies = (_, n) => n === nth
    const work = async () => {
      await process.runtime.execute(ROOT, { kind: 'start', spec: this.spec, task: 'do it' }, { by: USER, key: 'start' })
      await process.runtime.drive(ROOT, { signal: new AbortController().signal })
    }
    await Promise.race([work(), process.died])
  }

  /** A person accepts that a stream lost its end, with no information about the lost part. */
  async acceptLoss(agentId: string): Promise<void> {
    const nothing = { revision: null, hash: null, calls: [], unlisted: true } as const
    await recordAcceptedLoss(this.ports(this.process, 99), agentId, { ...nothing, calls: [] }, { by: USER, id: 'one' })
  }

  /** Plays the whole run. Unknown outcomes are answered truthfully. */
  async live(): Promise<DriveEnd> {
    await this.ask(ROOT, { kind: 'start', spec: this.spec, task: 'do it' }, 'start')
    return this.goOn()
  }

  /** Plays the rest of a started run. */
  async goOn(): Promise<DriveEnd> {
    for (let round = 0; round < 500; round++) {
      const end = await this.drive()
      if (end.end !== 'waiting' || end.for !== 'doubt') return end
      for (const [agentId, state] of await this.states())
        for (const { id, stage } of callsOf(state)) {
          if (stage.at !== 'doubt') continue
          const decision = this.effects.has(id) ? 'happened' : 'run'
          await this.ask(agentId, { kind: 'resolve_doubt', toolCallId: id, decision }, `doubt${this.doubts++}`).catch(
            (error: unknown) => {
              if (!(error instanceof CommandRejected)) throw error
            },
          )
        }
    }
    throw new Error('the tree does not end')
  }

  /** The ids of all agents, the root first. */
  async agents(): Promise<string[]> {
    const ids: string[] = []
    for await (const page of this.log.streams('agent-')) ids.push(...page.map(idOf))
    return ids
  }

  async states() {
    return Promise.all((await this.agents()).map(async (id) => [id, (await agentAt(this, id, null)).state] as const))
  }

  async events(agentId: string): Promise<AgentEvent[]> {
    const events: AgentEvent[] = []
    for await (const page of history(this, agentId)) events.push(...page.map(({ event }) => event))
    return events
  }

  /** The result that must not depend on crashes: each agent's end, its model's messages, and its parent. */
  async told() {
    const all = await Promise.all((await this.agents()).map((id) => agentAt(this, id, null)))
    return Object.fromEntries(
      all
        .map(({ state, messages }) => {
          const { code } = state.machine as { code?: string }
          const { agentId, parent, depth } = state
          const owes = undelivered(state).length
          const open = Object.keys(state.family.children)
          return [agentId, { status: state.machine.status, code, parent, depth, owes, open, messages }] as const
        })
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    )
  }

  /** For each agent: the totals in its state, and the sums over the states of its subtree. */
  async books() {
    const states = new Map(await this.states())
    const below = (id: string): string[] => [
      id,
      ...[...states.values()].filter(({ parent }) => parent?.agentId === id).flatMap(({ agentId }) => below(agentId)),
    ]
    return [...states].map(([id, state]) => {
      const own = below(id).map((one) => states.get(one)!.spent)
      const { spent } = totals(state)
      const sum = (of: 'input' | 'output' | 'nanoDollars') => own.reduce((all, one) => all + one[of], 0)
      return {
        id,
        totals: [spent.input, spent.output, spent.nanoDollars, spent.agents],
        sums: [sum('input'), sum('output'), sum('nanoDollars'), own.length],
      }
    })
  }
}
