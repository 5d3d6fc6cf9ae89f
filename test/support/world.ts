import { MemoryLog } from '../../adapters/memory/log.ts'
import type { UserCommand } from '../../domain/agent/decide/commands.ts'
import type { AgentEvent } from '../../domain/agent/events/events.ts'
import { history } from '../../domain/agent/runtime/history/history.ts'
import { agentAt } from '../../domain/agent/runtime/history/replay.ts'
import { callsOf } from '../../domain/agent/state/state.ts'
import type { Call } from '../../domain/calls/call.ts'
import { CommandRejected, ToolError } from '../../domain/calls/errors.ts'
import type { EventLog, ModelRequest, Tool, ToolContext, Workspace } from '../../domain/ports/index.ts'
import type { CrashPoint, RuntimePorts } from '../../domain/ports/runtime.ts'
import type { DriveEnd } from '../../domain/tree/runtime/drive.ts'
import type { AgentSpec } from '../../domain/tree/spec.ts'
import { MemoryBlobs, testSpec, toolSpec, USER } from './harness.ts'
import { commandOf } from './person-requests.ts'
import { outcomeOf, type PersonRequest, type Plan, ROLE, TOOLS, type ToolEnd, type ToolName } from './plans.ts'
import { type Fate, mortalPorts, NEVER, Process } from './process.ts'
import { VirtualClock } from './time/virtual-clock.ts'

/** A log, a clock, tools with outside effects, people, and processes that start and die. */
export class World {
  readonly plan: Plan
  readonly log: EventLog
  readonly clock = new VirtualClock()
  readonly blobs = new MemoryBlobs()
  /** The number of effects of each call. */
  readonly effects = new Map<string, number>()
  /** Acknowledged requests of people: key and kind. */
  readonly acknowledged = new Map<string, UserCommand['kind']>()
  readonly points: CrashPoint[] = []
  readonly requests: ModelRequest[] = []
  readonly runId = 'run1'
  private readonly fates: readonly Fate[]
  private asked = 0
  private keys = 0
  private appends = 0
  private replies = 0
  private processes = 0
  private readonly unasked: Promise<unknown>[] = []
  private readonly held: (() => Promise<void>)[] = []
  process: Process
  /** Some runs have a workspace whose version is derived from the effects so far. */
  private readonly versioned: boolean

  constructor(plan: Plan, fates: readonly Fate[] = [], log: EventLog = new MemoryLog()) {
    this.plan = plan
    this.versioned = plan.maxParallel === 1
    this.fates = fates
    this.log = log
    this.process = this.boot()
  }

  boot(): Process {
    this.process = new Process(this, this.processes++)
    return this.process
  }

  fateAt(name: CrashPoint): Fate | undefined {
    this.points.push(name)
    const fate = this.fates.find((one) => one.at === this.points.length)
    if (name === 'after_append') this.people()
    return fate
  }

  /** Performs the unrequested actions of people at this append. */
  private people(): void {
    this.appends++
    for (const { at, request, elsewhere } of this.plan.requests) {
      if (at !== this.appends) continue
      const process = elsewhere ? new Process(this, this.processes++) : this.process
      this.unasked.push(this.perform(request, process))
    }
  }

  spec(): AgentSpec {
    const { plan } = this
    const tools = this.tools()
    return testSpec(
      {
        role: plan.role ? ROLE : null,
        policy: {
          mode: plan.mode,
          maxParallel: plan.maxParallel,
          requiresApproval: plan.requiresApproval,
          deniedTools: plan.deniedTools,
        },
        limits: { maxTurns: plan.maxTurns, wallClockMs: plan.wallClockMs },
        recovery: { graceTurns: plan.graceTurns, graceTimeoutMs: 3_000, hardLimit: plan.hardLimit },
        retry: { maxRetries: plan.maxRetries, backoffMs: 100 },
        budget: { tokens: plan.tokens, nanoDollars: null },
        workspace: this.versioned ? { path: '/w', tree: 't0' } : null,
      },
      tools,
    )
  }

  private tools(process?: Process): Tool[] {
    return Object.entries(TOOLS).map(([name, effect]) => ({
      spec: toolSpec(name, {
        effect,
        parameters: {
          type: 'object',
          properties: { key: { type: 'integer' } },
          required: ['key'],
          additionalProperties: false,
        },
      }),
      run: async (_, context) => {
        const work = () => this.attempt(name as ToolName, context)
        return process === undefined ? work() : process.living(work)
      },
      probe: async (_, { toolCallId }) => ({
        found: this.effects.has(toolCallId) ? ('happened' as const) : ('absent' as const),
      }),
    }))
  }

  private folder(process: Process): Workspace {
    const snapshot = () =>
      process.living(async () => {
        await this.clock.sleep(50)
        return `t${[...this.effects.values()].reduce((sum, times) => sum + times, 0)}`
      })
    return { path: '/w', versions: { snapshot, changes: async () => [] } } as unknown as Workspace
  }

  private happen(toolCallId: string): void {
    this.effects.set(toolCallId, (this.effects.get(toolCallId) ?? 0) + 1)
  }

  /** The end of an attempt depends only on the call and the attempt, not on the order. */
  private endOf(toolCallId: string, attempt: number): ToolEnd {
    const [, turn, index] = /\.t(\d+)\.c(\d+)$/.exec(toolCallId)!
    return this.plan.ends[(Number(turn) * 5 + Number(index) * 3 + attempt) % this.plan.ends.length]!
  }

  private async attempt(name: ToolName, { toolCallId, attempt, signal }: ToolContext) {
    const end = this.endOf(toolCallId, attempt)
    if (end === 'permanent') throw new ToolError('EXECUTION_FAILED', `${name} cannot`)
    if (end === 'same') throw new ToolError('EXECUTION_FAILED', 'reset by peer', { transient: true })
    if (end === 'other') throw new ToolError('EXECUTION_FAILED', `reset ${'abcdefgh'[attempt]}`, { transient: true })
    if (end === 'early')
      throw new ToolError('RATE_LIMITED', `refused ${'abcdefgh'[attempt]}`, { transient: true, beforeEffect: true })
    if (end === 'hang') return NEVER
    if (end === 'slow') await this.clock.sleep(400, signal)
    if (TOOLS[name] !== 'pure') this.happen(toolCallId)
    if (end === 'late') throw new ToolError('EXECUTION_FAILED', 'lost the answer', { transient: true })
    return { content: { name, attempt } }
  }

  ports(process: Process, number: number): RuntimePorts {
    const { log, blobs, clock } = this
    return mortalPorts(process, number, {
      ...{ log, blobs, clock, tools: this.tools(process) },
      ...(this.versioned && { workspace: this.folder(process) }),
      call: async (request, { signal }) => {
        this.requests.push({ ...request, messages: [...request.messages] })
        const nth = this.asked++
        // Every answer takes some time: otherwise a grace period without a hard limit would never pass.
        await clock.sleep(200, signal)
        const planned = this.plan.answers[nth % this.plan.answers.length]!
        if (planned.kind === 'hang') await clock.sleep(2 ** 30, signal)
        const usage = { input: 300, output: 50, cacheRead: 0, cacheWrite: 0 }
        return { content: [], stopReason: 'end_turn', usage, servedBy: 'test-model', ...outcomeOf(planned, nth) }
      },
    })
  }

  /** A request with its key. If the process dies before it answers, the next process repeats the request. */
  private async ask(command: UserCommand, key: string, by = this.process): Promise<void> {
    for (let process = by; ; process = this.process.dead ? this.boot() : this.process) {
      const answer = process.runtime.execute(this.runId, command, { by: USER, key }).then(() => 'done' as const)
      const first = await Promise.race([answer, process.died, process.held])
      if (first === 'held') process.letGo()
      if ((await Promise.race([answer, process.died])) === 'done') break
    }
    this.acknowledged.set(key, command.kind)
  }

  /** An action of a person. A refused action changes nothing. */
  private async perform(request: PersonRequest, process = this.process): Promise<void> {
    // The golden histories contain a hash of this text.
    const key = `deed${this.keys++}`
    const open = await this.open()
    const command = commandOf(request, open, (call) => this.effects.has(call.id))
    if (command === null) return
    try {
      await this.ask(command, key, process)
    } catch (error) {
      if (!(error instanceof CommandRejected)) throw error
    }
  }

  private async open(): Promise<readonly Call[]> {
    return callsOf((await agentAt(this, this.runId, null)).state)
  }

  start(): Promise<void> {
    return this.ask({ kind: 'start', spec: this.spec(), task: 'do it' }, 'start')
  }

  /** Drives until the run has ended or waits for a person. A process that dies is replaced. */
  async drive(): Promise<DriveEnd> {
    for (;;) {
      const { process } = this
      const driving = process.runtime.drive(this.runId, { signal: new AbortController().signal })
      const end = await Promise.race([driving, process.died, process.held])
      if (end === 'held') {
        // Another process takes the agent over. The blocked one is released after the people's actions.
        this.held.push(async () => {
          process.letGo()
          await Promise.race([driving, process.died])
        })
        this.boot()
      } else if (end === 'died') this.boot()
      else if (end.end !== 'overtaken') return end
    }
  }

  /** Drives the whole run and answers as people would, until it has ended. */
  async live(): Promise<DriveEnd> {
    await this.start()
    for (let round = 0; ; round++) {
      const end = await this.drive()
      await Promise.all(this.unasked)
      if (end.end === 'waiting') await this.reply(end.for)
      for (const letGo of this.held.splice(0)) await letGo()
      if (end.end !== 'waiting') return end
      if (round > 80) throw new Error(`the run does not end: it waits for ${end.for}`)
    }
  }

  private async reply(waits: 'input' | 'approval' | 'doubt' | 'pause'): Promise<void> {
    const planned = this.plan.replies[this.replies++]
    if (planned !== undefined) await this.perform(planned)
    const needed = { input: 'input', approval: 'approve', doubt: 'happened', pause: 'resume' } as const
    const doubtful = (await this.open()).find((call) => call.stage.at === 'doubt')
    // Give up a call that hangs repeatedly.
    const again = this.replies % 3 === 0 ? 'abandon' : 'run'
    const truth = doubtful !== undefined && !this.effects.has(doubtful.id) ? again : needed[waits]
    await this.perform(waits === 'doubt' ? truth : needed[waits])
  }

  async events(): Promise<AgentEvent[]> {
    const events: AgentEvent[] = []
    for await (const page of history(this, this.runId)) events.push(...page.map(({ event }) => event))
    return events
  }
}
