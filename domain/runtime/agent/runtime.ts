import { agent } from '../../agent/decisions/aggregate.ts'
import type { UserCommand } from '../../agent/decisions/commands.ts'
import type { AgentSpec } from '../../agent/definition/spec.ts'
import { Policy } from '../../agent/definition/spec.ts'
import { CommandRejected } from '../../agent/errors.ts'
import { type AgentState, isFinished } from '../../agent/state/state.ts'
import { LogError } from '../../log/errors.ts'
import { agentStream, base32, runIdOf } from '../../log/ids.ts'
import { echo } from '../../shared/issues.ts'
import { erasable, erase } from '../erasure/erase.ts'
import { TimeLimitError } from '../errors.ts'
import { limitedPorts } from '../limited-ports.ts'
import type { Environment, RuntimePorts, SecretBoundary } from '../ports.ts'
import { type Retry, requestRetry } from '../retry.ts'
import { endingWith } from '../time-limit.ts'
import type {
  AgentAt,
  AgentServices,
  At,
  DriveEnd,
  DriveOptions,
  ErasureChoice,
  Executed,
  ForkOptions,
  Request,
  Verification,
} from '../types.ts'
import { askingOf } from './asking.ts'
import { Callback } from './callback.ts'
import { Driver } from './driver.ts'
import { forkOf } from './fork.ts'
import { type RebuiltRequest, rebuildRequests } from './history/rebuild-request.ts'
import { agentAt } from './history/replay.ts'
import { type RecordedDecision, routingDecisions } from './history/routing-decisions.ts'
import { verifyAgent } from './history/verify.ts'
import { endOf, idleEnd } from './look.ts'
import { AgentMailbox } from './mailbox.ts'
import { redactRequest, refuseSecrets } from './redact.ts'

/** AgentManager: one mailbox per agent of this process, and the operations on them. */
export class Runtime implements AgentServices {
  /** As the host gave them: replay touches nothing but the log and the blobs, and no clock. */
  private readonly given: RuntimePorts
  private readonly ports: RuntimePorts
  private readonly mailboxes = new Map<string, { mailbox: AgentMailbox; users: number }>()
  private readonly driving = new Set<string>()

  constructor(ports: RuntimePorts) {
    this.given = ports
    this.ports = limitedPorts(ports)
  }

  newRunId(): string {
    return runIdOf(this.ports.clock.now(), this.ports.random.bytes(8))
  }

  async execute(agentId: string, command: UserCommand, request: Request): Promise<Executed> {
    const { expected } = request
    await this.ports.mustBeWhole?.(agentId)
    const retry = requestRetry(this.ports)
    return this.with(agentId, async (mailbox) => {
      const { asking, said } = await this.inTime(retry, async () => {
        const secrets = await this.boundary(mailbox, command)
        const heard = {
          asking: askingOf(secrets, this.ports, request, request.asked ?? command),
          said: redactRequest(secrets, command),
        }
        await secrets.keep()
        return heard
      })
      if (said.kind === 'erase') {
        const erased = await erase(this.ports, agent, agentStream(agentId), said, asking, {
          ...(expected === undefined ? {} : { expected }),
          forget: () => this.forgetWhatWasErased(),
        })
        // An answer that was kept may hold what was erased.
        await this.ports.cache?.clear()
        return { ...erased, claimed: true }
      }
      const at = {
        ...(expected === undefined ? {} : { expected }),
        ...(request.toDrive ? { mustAllow: (state: AgentState) => this.mustBeDrivable(state) } : {}),
      }
      const submitted = await this.inTime(retry, () => mailbox.submit(said, asking, { fact: false, retry, ...at }))
      return { ...submitted, claimed: mailbox.state?.driver != null }
    })
  }

  erasable(agentId: string, which: ErasureChoice): ReturnType<AgentServices['erasable']> {
    return erasable(this.ports, agent, agentStream(agentId), which)
  }

  async drive(agentId: string, options: DriveOptions): Promise<DriveEnd> {
    if (this.driving.has(agentId)) throw new CommandRejected('RUN_DRIVEN', `${agentId} is being driven by this process`)
    this.driving.add(agentId)
    try {
      return await this.with(agentId, async (mailbox) => {
        await mailbox.refresh()
        const { state } = mailbox
        if (state === null) throw unknownAgent(agentId)
        await this.ports.mustBeWhole?.(agentId)
        const idle = isFinished(state) ? endOf(state) : idleEnd(state, this.ports)
        if (idle !== null) return idle
        this.mustHaveTools(state)
        const driverId = [this.ports.driver, base32(this.ports.random.bytes(10))].filter(Boolean).join('-')
        await mailbox.loadMessages()
        const env = await this.ports.environment(state.spec, { runId: state.runId, agentId, driverId })
        const listener = new Callback(options.onEvent ?? (() => undefined))
        const stop = mailbox.listen((events) => {
          for (const event of events) listener.call(event)
        })
        try {
          const driving = new Driver(this.ports, mailbox, env, driverId).drive(options.signal, options.drain)
          const end = await endingWith(this.ports.clock, STOP_LIMIT_MS, 'stopping the driver', options.signal, driving)
          listener.settle()
          return end
        } catch (error) {
          if (!options.signal.aborted || !(error instanceof TimeLimitError)) throw error
          this.ports.warn?.(agentId, error.message)
          return { end: 'interrupted' }
        } finally {
          stop()
          await this.leave(agentId, env)
        }
      })
    } finally {
      this.driving.delete(agentId)
    }
  }

  async forkDrivable(source: string): Promise<void> {
    await this.with(source, async (mailbox) => {
      await mailbox.refresh()
      if (mailbox.state === null) throw unknownAgent(source)
      // However its source has ended, the fork is alive and is not being cancelled.
      this.mustHaveTools({ ...mailbox.state, cancel: null })
    })
  }

  missingTools({ tools }: Pick<AgentSpec, 'tools'>): string[] {
    return tools.filter(({ name, control }) => !control && !this.ports.hasTool(name)).map(({ name }) => name)
  }

  private mustBeDrivable(state: AgentState): void {
    if (!isFinished(state)) this.mustHaveTools(state)
  }

  /** Without its tools an agent would be told that they do not exist; only its end needs none. */
  private mustHaveTools({ agentId, spec, cancel }: AgentState): void {
    if (cancel !== null) return
    const missing = this.missingTools(spec)
    if (missing.length === 0) return
    const names = missing.map(echo).join(', ')
    throw new CommandRejected(
      'TOOLS_MISSING',
      `${agentId} has tools that this program does not have: ${names}; the program that has them must drive it`,
    )
  }

  /** Lets the driver of an agent here see what other processes have appended; does nothing without a driver. */
  async refresh(agentId: string): Promise<void> {
    const entry = this.mailboxes.get(agentId)
    if (entry && entry.users > 0) await entry.mailbox.refresh()
  }

  /** What cannot be closed is told; how the drive has ended stays what it was. */
  private leave(agentId: string, env: Environment): Promise<void> {
    return env.close().catch((error: Error) => this.ports.warn?.(agentId, error.message))
  }

  /**
   * People are told within seconds that the log does not answer, also where an outcome waits for it in the same mailbox.
   * What was not begun by then is not begun any more.
   */
  private async inTime<T>(retry: Retry, work: () => Promise<T>): Promise<T> {
    try {
      return await retry.once(work)
    } catch (error) {
      if (!(error instanceof TimeLimitError)) throw error
      const why = 'the log does not answer, so it is not known whether this was recorded'
      throw new LogError('LOG_UNAVAILABLE', `${why}; ask again, with the same key where there was one`, {
        cause: error,
      })
    }
  }

  at(agentId: string, at: At): Promise<AgentAt> {
    return agentAt(this.given, agentId, at)
  }

  async fork(source: string, at: At, options: ForkOptions, request: Request): Promise<{ runId: string }> {
    const asking = await this.with(source, async (mailbox) => {
      const secrets = await this.inTime(requestRetry(this.ports), () => this.boundary(mailbox, null))
      refuseSecrets(secrets, options)
      const made = askingOf(secrets, this.ports, request, request.asked ?? { source, at, options })
      await secrets.keep()
      return made
    })
    const runId = options.runId ?? this.newRunId()
    const command = await forkOf(this.ports, source, at, options)
    const retry = requestRetry(this.ports)
    await this.with(runId, (mailbox) =>
      this.inTime(retry, () => mailbox.submit(command, asking, { fact: false, retry })),
    )
    return { runId }
  }

  routing(agentId: string, turn: number): Promise<RecordedDecision[]> {
    return routingDecisions(this.given, agentId, turn)
  }

  requests(agentId: string, turn: number): Promise<RebuiltRequest[]> {
    return rebuildRequests(this.given, agentId, turn)
  }

  verify(agentId: string): Promise<Verification> {
    return verifyAgent(this.given, agentId)
  }

  /** The boundary of the agent's own secrets, or of a new one's; of all that are known where it cannot be told any more. */
  private async boundary(mailbox: AgentMailbox, command: UserCommand | null): Promise<SecretBoundary> {
    if (command?.kind === 'start') return this.ports.secrets(command.spec)
    // Erasures and forks read for themselves what they need of it: what cannot be read must not stand in their way.
    const alone = command === null || command.kind === 'erase'
    await mailbox.refresh().catch((error: unknown) => {
      if (!alone) throw error
    })
    return this.ports.secrets(mailbox.state?.spec ?? { secrets: [], policy: Policy.parse({}) })
  }

  /**
   * A mailbox outlives its use for a while, so that an agent that waits for people now and then is not read from its
   * beginning each time. What it knows is in the log; the latest are kept as far as memory goes.
   */
  private async with<T>(agentId: string, use: (mailbox: AgentMailbox) => Promise<T>): Promise<T> {
    const entry = this.mailboxes.get(agentId) ?? { mailbox: new AgentMailbox(agentId, this.ports), users: 0 }
    // Set anew, so that the map is in the order of last use.
    this.mailboxes.delete(agentId)
    this.mailboxes.set(agentId, entry)
    entry.users++
    try {
      return await use(entry.mailbox)
    } finally {
      entry.users--
      this.forgetOldest()
    }
  }

  /** Forks hold what they have inherited, so the memory and the snapshots of all agents go. */
  private async forgetWhatWasErased(): Promise<void> {
    for (const [agentId, { mailbox, users }] of this.mailboxes) {
      if (users === 0) this.mailboxes.delete(agentId)
      else mailbox.forget()
    }
    await this.ports.snapshots?.clear()
  }

  private forgetOldest(): void {
    let bytes = 0
    for (const { mailbox } of this.mailboxes.values()) bytes += mailbox.bytes
    for (const [agentId, { mailbox, users }] of this.mailboxes) {
      if (this.mailboxes.size <= KEPT_MAILBOXES || bytes <= KEPT_BYTES) return
      if (users > 0) continue
      bytes -= mailbox.bytes
      this.mailboxes.delete(agentId)
    }
  }
}

/** A driver that was told to stop brings in what it knows, with the files as they are then. */
const STOP_LIMIT_MS = 3 * 60_000

/** Idle mailboxes that are kept whatever their messages take, and how much all may take together. */
const KEPT_MAILBOXES = 16
const KEPT_BYTES = 64 * 1024 * 1024

export const unknownAgent = (agentId: string) =>
  new CommandRejected('RUN_UNKNOWN', `there is no agent ${echo(agentId)}`)
