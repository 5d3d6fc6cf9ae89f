import { MemoryLeases } from '../../adapters/memory/leases.ts'
import { Drivers } from '../../api/process/drives/drivers.ts'
import { sweep } from '../../api/process/drives/sweeper.ts'
import { WakeSignal } from '../../api/process/drives/wake-signal.ts'
import { LiveHub } from '../../api/process/live/hub.ts'
import { LeasedRuntime } from '../../api/process/servers/leased-runtime.ts'
import type { UserCommand } from '../../domain/agent/decide/commands.ts'
import { waitsOf } from '../../domain/agent/decide/waiting.ts'
import { Runtime } from '../../domain/agent/runtime/runtime.ts'
import { type AgentState, callsOf, isFinished } from '../../domain/agent/state/state.ts'
import { CommandRejected, ToolError } from '../../domain/calls/errors.ts'
import { keyedCommand, keyOf } from '../../domain/log/ids.ts'
import type { Leases, ModelProvider, Tool } from '../../domain/ports/index.ts'
import type { RuntimePorts } from '../../domain/ports/runtime.ts'
import { MemoryBlobs, seededRandom, USER } from '../support/harness.ts'
import { commandOf } from '../support/person-requests.ts'
import type { PersonRequest } from '../support/plans.ts'
import { NO_SECRETS } from '../support/secrets/no-secrets.ts'
import { Checker } from './checker.ts'
import type { Choices } from './choices.ts'
import { SimulatedDocuments } from './documents.ts'
import { SimulatedErasures } from './erasures.ts'
import { SimulatedLog } from './log.ts'
import { answerOf, EFFECTS, type Plan, planOf, specOf, TOOL_SPECS, type ToolName } from './plan.ts'
import type { Request, Served } from './requests.ts'
import { type Fault, Host, Outage, Scheduler, Violation } from './scheduler.ts'
import { SimulatedTables } from './tables.ts'

const LEASE_MS = 10_000
const RUN = 'run1'
const WORLD = new Host('world')

/** The most steps, and the longest time in ms, until a run has ended after the last fault. */
const REST_STEPS = 20_000
const REST_MS = 24 * 3_600_000
/** The most steps without an append while something is open. */
const REST_IDLE = 6_000

/** In 1,024 steps of a world with texts: edits of a document; variables that are set or erased. */
const EDITS = 50
const ERASURES = 20

/** Steps after which something has happened that the process does not know yet. */
const BOUNDARY = / begins |durable|writes the tables/

/** A request, repeated with its key until it is answered. */
interface Asked extends Request {
  readonly key: string
  /** The process that has it; null: none. */
  by: Host | null
}

/** A process: it drives the runs that are due, and takes people's requests. */
interface Worker extends Served {
  readonly host: Host
}

/** One simulated world: a log, tables, leases, processes that compete for one tree of agents, and people. */
export class SimulatedWorld {
  readonly plan: Plan
  readonly scheduler: Scheduler
  readonly checker = new Checker()
  crashes = 0
  readonly #log: SimulatedLog
  readonly #blobs = new MemoryBlobs()
  readonly #leases: MemoryLeases
  readonly #documents: SimulatedDocuments
  readonly #erasures: SimulatedErasures
  #tables!: SimulatedTables
  #workers: Worker[] = []
  #boots = 0
  readonly #open = new Set<Asked>()
  #requests = 0
  #forks = 0
  #modelIntents = 0
  /** The step of the last append. */
  #wrote = 0
  #modelCalls = 0
  readonly #attempts = new Map<string, number>()
  #rounds = 0

  constructor(choices: Choices) {
    this.scheduler = new Scheduler(choices)
    this.plan = planOf(choices)
    const { rates, dialect } = this.plan
    const { scheduler, checker } = this
    this.#leases = new MemoryLeases({ now: () => scheduler.time })
    this.#log = new SimulatedLog(scheduler, dialect, rates, (batch) => {
      this.#wrote = scheduler.count
      this.#modelIntents += batch.filter(({ header }) => header.type === 'model_call_start').length
      checker.written(batch)
      this.#documents.written(batch)
    })
    this.#documents = new SimulatedDocuments(this.#log.durable.logId)
    this.#erasures = new SimulatedErasures(scheduler, this.#log, this.#blobs)
    scheduler.disturbances.push(
      {
        // Most faults are found right after an effect or an append, so processes die there more often.
        get rate() {
          return BOUNDARY.test(scheduler.story.at(-1) ?? '') ? rates.crash * 5 : rates.crash
        },
        cause: (which) => this.#crash(which),
      },
      { rate: rates.freeze, cause: (which, roll) => this.#freeze(which, roll) },
      { rate: rates.jump, cause: (which, roll) => this.#jump(which, roll) },
      { rate: rates.haste, cause: () => (scheduler.passTime() ? 'the time passes while others work' : null) },
      { rate: rates.person, cause: (which) => this.#person(which) },
      { rate: rates.fork, cause: (which) => this.#fork(which) },
      { rate: this.plan.texts ? EDITS : 0, cause: (which, roll) => this.#request(this.#documents.edit(which, roll)) },
      { rate: this.plan.texts ? ERASURES : 0, cause: (which) => this.#request(this.#erasures.next(which)) },
    )
    scheduler.check = () => this.#check()
  }

  /** Plays the history. Throws a {@link Violation} at the first broken rule. */
  async play(): Promise<void> {
    const { scheduler, plan } = this
    this.#tables = await SimulatedTables.open(scheduler, (by) => this.#log.seenBy(by), this.#blobs, plan.rates.tables)
    try {
      for (let n = 0; n < plan.workers; n++) this.#boot()
      this.#ask(RUN, { kind: 'start', spec: specOf(plan), task: 'do it', drive: true })
      while (scheduler.count < plan.steps && !(await this.#over())) if (!(await scheduler.tick())) break
      await this.#rest()
    } finally {
      this.#tables.close()
    }
  }

  /** Without faults and with people who answer, everything ends. Then compares what is left with the log. */
  async #rest(): Promise<void> {
    const { scheduler, checker } = this
    scheduler.wild = false
    for (const { host } of this.#workers) host.frozen = false
    this.#tables.host.frozen = false
    scheduler.tell('world calm: no fault from here on')
    const [steps, until] = [scheduler.count + REST_STEPS, scheduler.time + REST_MS]
    while (!(await this.#over())) {
      const idle = scheduler.count - Math.max(this.#wrote, steps - REST_STEPS) > REST_IDLE
      if (idle || scheduler.count > steps || scheduler.time > until)
        throw new Violation(
          'nothing that is owed is forgotten',
          checker.open() || 'requests or tables are not answered',
        )
      if (!scheduler.ready && this.#reply()) continue
      if (!(await scheduler.tick())) throw new Violation('nothing that is owed is forgotten', checker.open())
    }
    checker.atEnd()
    await this.#tables.mustEqual(this.#log.durable)
    for (const { state } of checker.streams.values()) {
      const runtime = new Runtime({ ...this.#ports(WORLD), log: this.#log.durable })
      const { problems } = await runtime.verify(state!.agentId)
      if (problems.length > 0) throw new Violation('every stream verifies', JSON.stringify(problems[0]))
    }
    const ports = { ...this.#ports(WORLD), log: this.#log.durable }
    await this.#erasures.atEnd(this.#tables, SimulatedErasures.stores(ports))
    const all = [...this.#workers.map(({ host, documents }) => [host.name, documents] as const)]
    const ends = this.#documents.atEnd([['a new process', SimulatedDocuments.gateway(ports)], ...all])
    let settled = false
    void ends
      .catch(() => undefined)
      .then(() => {
        settled = true
      })
    for (let n = 0; !settled; n++) {
      if (n > REST_IDLE) throw new Violation('nothing that is owed is forgotten', 'a document is not shown')
      await scheduler.tick()
    }
    await ends
  }

  /** Everything is done, acknowledged and in the tables. */
  async #over(): Promise<boolean> {
    const { checker } = this
    if (checker.states.length === 0 || !checker.allDone || this.#open.size > 0) return false
    return this.#tables.position === (await this.#log.durable.headCursor()).position
  }

  #check(): void {
    const { checker } = this
    checker.mustHold()
    this.#tables.mustAgree()
    for (const { host, runtime } of this.#workers) {
      if (!host.alive) continue
      const { mailboxes } = runtime as unknown as {
        mailboxes: { entries: Map<string, { mailbox: { stream: string; head: never; state: AgentState | null } }> }
      }
      for (const { mailbox } of mailboxes.entries.values())
        if (mailbox.head !== null && mailbox.state !== null)
          checker.live(host.name, mailbox.stream, mailbox.head, mailbox.state)
    }
    checker.mustHold()
  }

  #boot(): void {
    const { scheduler, plan } = this
    const host = new Host(`worker${++this.#boots}`)
    const ports = this.#ports(host)
    const shared = plan.dialect === 'servers'
    const closed = new AbortController().signal
    const runtime = shared
      ? new LeasedRuntime(ports, {
          leases: this.#leasesOf(host),
          clock: ports.clock,
          ttlMs: LEASE_MS,
          holder: host.name,
          closed,
        })
      : new Runtime(ports)
    const [documents, contexts] = [SimulatedDocuments.gateway(ports), SimulatedErasures.stores(ports)]
    const worker = { host, runtime, documents, contexts }
    this.#workers.push(worker)
    const reports = new Proxy(runtime, {
      get: (_, key) =>
        key === 'drive'
          ? (agentId: string, options: Parameters<Runtime['drive']>[1]) =>
              runtime.drive(agentId, {
                ...options,
                onEvent: (event) => {
                  this.checker.reported(event)
                  options.onEvent?.(event)
                },
              })
          : Reflect.get(runtime, key),
    })
    const drivers = new Drivers(reports, new LiveHub(), (agentId, error) =>
      scheduler.add({
        by: host,
        what: `reports a fault of ${agentId}: ${(error as Error).message.slice(0, 90)}`,
        run: () => {
          if (!isOfTheWorld(error)) throw error
          return ''
        },
      }),
    )
    const { clock } = ports
    const wakeSignal = new WakeSignal()
    const tables = this.#tables
    const caughtUp = async () => {
      const { position } = await ports.log.headCursor()
      for (let waits = 0; tables.position < position; waits++) {
        if (waits > 600) throw new Outage('the tables are late')
        await clock.sleep(50)
      }
    }
    const read = {
      caughtUp,
      due: (at: number | null, { asked = false } = {}) =>
        scheduler.call(host, 'asks what is due', () => tables.due(at!, asked), {
          shows: (due) => due.map(({ agentId, reason }) => `${agentId} ${reason}`).join(', ') || 'nothing',
        }),
      nextDue: (at: number, { asked = false } = {}) => tables.nextDue(at, asked),
    }
    const how = shared
      ? {
          asked: true,
          farMs: 5_000,
          elsewhereMs: LEASE_MS / 2,
          wakeSignal,
          jitter: () => 0.75 + ports.random.bytes(1)[0]! / 512,
        }
      : { asked: false, farMs: 60_000, elsewhereMs: 60_000, wakeSignal, jitter: () => 1 }
    void sweep(
      { drivers, clock, read } as never,
      closed,
      () => undefined,
      () => undefined,
      how,
    )
  }

  #leasesOf(host: Host): Leases {
    const { scheduler, plan } = this
    const fault = (roll: number): Fault | null =>
      roll > 0 && roll <= plan.rates.leases ? { done: roll % 2 === 0, error: new Outage('PostgreSQL is gone') } : null
    return {
      acquire: (name, driver, ttl) =>
        scheduler.call(host, `asks for the lease of ${name}`, () => this.#leases.acquire(name, driver, ttl), {
          ...{ fault, survives: true },
          shows: (taken) => (taken ? 'has it' : 'another has it'),
        }),
      release: (name, driver) =>
        scheduler.call(host, `gives back the lease of ${name}`, () => this.#leases.release(name, driver), {
          ...{ fault, survives: true },
        }),
    }
  }

  #ports(host: Host): RuntimePorts {
    const { scheduler } = this
    const tools = new Map(this.#tools(host).map((tool) => [tool.spec.name, tool]))
    const provider: ModelProvider = { id: 'test', call: (request, { signal }) => this.#model(host, request, signal) }
    return {
      log: this.#log.seenBy(host),
      blobs: this.#blobs,
      clock: scheduler.clock(host),
      random: seededRandom(host.name),
      feed: { publish: () => undefined },
      build: 'test',
      driver: host.name,
      agentsAtOnce: 3,
      provider: () => provider,
      hasTool: (name) => tools.has(name),
      secrets: async () => NO_SECRETS,
      environment: async () => ({
        workspace: null,
        sandbox: null,
        secrets: NO_SECRETS,
        tool: (name) => tools.get(name),
        reap: async () => undefined,
        close: async () => undefined,
      }),
    }
  }

  #model(host: Host, request: Parameters<ModelProvider['call']>[0], signal: AbortSignal) {
    const { scheduler, plan, checker } = this
    return new Promise<Awaited<ReturnType<ModelProvider['call']>>>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      scheduler
        .call(host, 'asks the model', () => {
          checker.asks(this.#modelIntents, ++this.#modelCalls)
          return answerOf(plan, request, this.#attempts, !scheduler.wild && this.#rounds > 8)
        })
        .then((answer) => {
          if (answer !== 'hang') resolve(answer)
        }, reject)
    })
  }

  #tools(host: Host): Tool[] {
    const { scheduler, checker, plan } = this
    return TOOL_SPECS.map((spec) => {
      const effect = EFFECTS[spec.name as ToolName]
      return {
        spec,
        run: (args, { toolCallId, agentId, attempt, signal }) =>
          new Promise((resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason), { once: true })
            // The call may wait for long, but what its process knew does not change any more.
            const seen = this.#log.seenHead(host, `agent-${agentId}`)
            const perform = (roll: number) => {
              const fails = roll > 0 && roll <= plan.rates.tool
              const early = fails && roll % 4 === 0
              const about = { agentId, toolCallId, attempt, args, counts: effect !== 'pure' && !early }
              checker.begins({ ...about, process: host.name, seen })
              if (early)
                throw new ToolError('RATE_LIMITED', `refused ${attempt}`, { transient: true, beforeEffect: true })
              if (fails && roll % 4 === 1)
                throw new ToolError('EXECUTION_FAILED', `lost ${attempt}`, { transient: true })
              if (fails && roll % 4 === 2) return null
              return { content: { name: spec.name, attempt } }
            }
            scheduler
              .call(host, `begins ${spec.name} ${toolCallId}#${attempt}`, perform)
              // A tool that hangs has done its work and does not answer.
              .then((result) => (result === null ? undefined : resolve(result)), reject)
          }),
        probe: (_, { toolCallId }) =>
          scheduler.call(host, `probes ${toolCallId}`, () => ({
            found: this.checker.effects.has(toolCallId) ? ('happened' as const) : ('absent' as const),
          })),
      }
    })
  }

  /** The processes that can be disturbed. */
  get #living(): readonly Host[] {
    return [...this.#workers.map(({ host }) => host), this.#tables.host].filter(({ alive }) => alive)
  }

  #crash(which: number): string | null {
    const last = this.scheduler.story.at(-1) ?? ''
    const acting = BOUNDARY.test(last) ? this.#living.find(({ name }) => last.startsWith(`${name} `)) : undefined
    const host = acting ?? this.#living[which % Math.max(1, this.#living.length)]
    if (host === undefined) return null
    this.crashes++
    this.scheduler.kill(host)
    this.#log.died(host)
    if (host === this.#tables.host) this.#tables.restart('it died')
    else {
      this.#workers = this.#workers.filter((worker) => worker.host !== host)
      this.scheduler.add({
        by: WORLD,
        what: 'starts another worker',
        run: () => {
          this.#boot()
          return ''
        },
      })
      for (const asked of this.#open) if (asked.by === host) this.#repeat(asked)
    }
    return `${host.name} dies`
  }

  #freeze(which: number, roll: number): string | null {
    const host = this.#living[which % Math.max(1, this.#living.length)]
    if (host === undefined || host.frozen) return null
    host.frozen = true
    const ms = 50 * (1 + roll) ** 1.4
    this.scheduler.timer(WORLD, Math.round(ms), `lets ${host.name} go on`, () => {
      host.frozen = false
    })
    return `${host.name} freezes`
  }

  #jump(which: number, roll: number): string | null {
    const host = this.#living[which % Math.max(1, this.#living.length)]
    if (host === undefined) return null
    const ms = (roll % 2 === 0 ? 1 : -1) * 200 * (1 + (roll % 512))
    host.ahead += ms
    return `the clock of ${host.name} jumps by ${ms} ms`
  }

  #person(which: number): string | null {
    const requests: PersonRequest[] = [
      ...(['approve', 'reject', 'input', 'pause', 'resume', 'step', 'standing', 'approve', 'input'] as const),
      ...(['happened', 'run', 'abandon', 'resume', 'approve', 'pause', 'resume', 'step', 'resume'] as const),
    ]
    const request = which % 9 === 0 ? 'cancel' : requests[which % requests.length]!
    const states = this.checker.states.filter((state) => !isFinished(state))
    const state = states[(which >> 4) % Math.max(1, states.length)]
    if (state === undefined) return null
    const about = /approve|reject|happened|run|abandon/.test(request) ? state : states[0]!
    const command = this.#commandOf(request, about)
    if (command === null) return null
    this.#ask(about.agentId, command)
    return `a person wants: ${request} ${about.agentId}`
  }

  #commandOf(request: PersonRequest, state: AgentState): UserCommand | null {
    return commandOf(request, callsOf(state), ({ id }) => this.checker.effects.has(id))
  }

  /** People answer what the run waits for. False: it waits for nobody. */
  #reply(): boolean {
    if (this.#open.size > 0) return false
    for (const state of this.checker.states) {
      const [wait] = waitsOf(state)
      if (wait === undefined || wait.for === 'model') continue
      const needed = { input: 'input', approval: 'approve', doubt: 'happened', pause: 'resume' } as const
      const doubtful = callsOf(state).find((call) => call.stage.at === 'doubt')
      const absent = doubtful !== undefined && !this.checker.effects.has(doubtful.id)
      const request: PersonRequest = wait.for === 'doubt' && absent ? 'run' : needed[wait.for]
      this.#rounds++
      const command =
        this.#rounds > 60 ? ({ kind: 'cancel', deadlineMs: 2_000 } as const) : this.#commandOf(request, state)
      if (command === null) continue
      this.#ask(state.agentId, command)
      return true
    }
    return false
  }

  #ask(agentId: string, command: UserCommand): void {
    this.#request({
      what: `${command.kind} ${agentId}`,
      send: ({ runtime }, key) => runtime.execute(agentId, command, { by: USER, key }),
      done: (_, key) => this.#recorded(key, command),
    })
  }

  /** A person starts a run with the history of the first one up to an event. */
  #fork(which: number): string | null {
    const source = this.checker.states.find(({ agentId }) => agentId === RUN)
    if (source === undefined || this.#forks > 1) return null
    const at = { revision: which % (source.revision + 1) }
    const options = { runId: `fork${++this.#forks}`, drive: true } as const
    return this.#request({
      what: `fork ${RUN}@${at.revision} as ${options.runId}`,
      send: ({ runtime }, key) => runtime.fork(RUN, at, options, { by: USER, key }),
      done: (_, key) => this.#recorded(key, { source: RUN, at, options }),
    })
  }

  /** The log must have the request with this key and content. */
  #recorded(key: string, content: unknown): void {
    this.checker.acknowledged(keyOf(keyedCommand(this.#log.durable.logId, key, content))!, key)
  }

  /** Returns the request for the story. */
  #request(request: Request | null): string | null {
    if (request === null) return null
    const asked: Asked = { ...request, key: `request${this.#requests++}`, by: null }
    this.#open.add(asked)
    this.#repeat(asked)
    return `a person wants: ${request.what}`
  }

  #repeat(asked: Asked): void {
    asked.by = null
    const { what, key } = asked
    this.scheduler.add({
      by: WORLD,
      what: `a person asks: ${what} (${key})`,
      run: (roll) => {
        const workers = this.#workers.filter(({ host }) => host.alive)
        const worker = workers[roll % Math.max(1, workers.length)]
        if (worker === undefined) {
          this.scheduler.timer(WORLD, 1_000, 'is patient', () => this.#repeat(asked))
          return 'nobody is there'
        }
        asked.by = worker.host
        asked.send(worker, key).then(
          (answer) => this.#answered(asked, worker.host, null, answer),
          (error: unknown) => this.#answered(asked, worker.host, error as Error),
        )
        return `through ${worker.host.name}`
      },
    })
  }

  #answered(asked: Asked, host: Host, error: Error | null, answer?: unknown): void {
    const { key } = asked
    this.scheduler.add({
      by: host,
      what: `answers ${key}${error === null ? '' : ` with ${(error as { code?: string }).code ?? error.message}`}`,
      run: () => {
        if (error === null) {
          this.#open.delete(asked)
          asked.done(answer, key)
        } else if (error instanceof CommandRejected) this.#open.delete(asked)
        else if (isOfTheWorld(error)) this.scheduler.timer(WORLD, 1_000, 'is patient', () => this.#repeat(asked))
        else throw error
        return ''
      },
    })
  }
}

/** Errors that a fault explains. Any other error is a fault of the program. */
function isOfTheWorld(error: unknown): boolean {
  const { code, name } = error as { code?: string; name?: string }
  return (
    /^(LOG_UNAVAILABLE|LOG_FULL|CONFLICT|RUN_DRIVEN)$/.test(code ?? '') ||
    /^(TimeLimitError|ContentionError|Outage)$/.test(name ?? '')
  )
}
