import { CommandRejected } from '../../calls/errors.ts'
import { Policy } from '../../calls/policy-schema.ts'
import type { ToolSpec } from '../../calls/tools/tool-spec.ts'
import { LogError } from '../../log/errors.ts'
import { agentStream, runIdOf } from '../../log/ids.ts'
import { runOf } from '../../log/owner.ts'
import type { RuntimePorts, SecretBoundary } from '../../ports/runtime.ts'
import type { At } from '../../stream/point.ts'
import { type Retry, requestRetry } from '../../stream/runtime/append-retry.ts'
import { erasable, erase } from '../../stream/runtime/erasure/erase.ts'
import { TimeLimitError } from '../../stream/runtime/errors.ts'
import type { DriveEnd, DriveOptions } from '../../tree/runtime/drive.ts'
import type { AgentSpec } from '../../tree/spec.ts'
import type { PersonCommand } from '../decide/commands.ts'
import { type AgentState, isFinished } from '../state/state.ts'
import { forkOf } from './fork.ts'
import { briefAt } from './history/brief.ts'
import { KeptPoints } from './history/kept-points.ts'
import { type PermittedCall, permittedCalls } from './history/permitted-calls.ts'
import {
  type RebuiltRequest,
  type RecordedRequest,
  rebuildRequests,
  recordedRequests,
} from './history/rebuild-request.ts'
import { agentAt, agentStateAt } from './history/replay.ts'
import { reusedRecord } from './history/reused.ts'
import { type RecordedDecision, routingDecisions } from './history/routing-decisions.ts'
import { verifyAgent } from './history/verify.ts'
import { limitedPorts } from './limited-ports.ts'
import type { AgentMailbox } from './mailbox.ts'
import { Mailboxes } from './mailboxes.ts'
import { type MissingParts, missingParts, mustHaveParts } from './missing-parts.ts'
import { redactRequest, refuseSecrets } from './redact.ts'
import { requesterOf } from './request-origin.ts'
import { streamToErase } from './stream-to-erase.ts'
import { TreeDriver } from './tree/tree-driver.ts'
import type {
  AgentAt,
  AgentBrief,
  AgentServices,
  ErasureChoice,
  Executed,
  ForkOptions,
  Request,
  ReusedRecord,
  Verification,
} from './types.ts'
import { unknownAgent } from './unknown-agent.ts'
import { voidApprovals } from './void-approvals.ts'

/** AgentManager: one mailbox per agent of this process, and the operations on them. */
export class Runtime implements AgentServices {
  /** The ports without timeouts, for replay, which must not use a clock. */
  private readonly given: RuntimePorts
  private readonly ports: RuntimePorts
  private readonly mailboxes: Mailboxes
  private readonly points: KeptPoints
  private readonly driving = new Set<string>()

  constructor(ports: RuntimePorts) {
    this.given = ports
    this.ports = limitedPorts(ports)
    this.mailboxes = new Mailboxes(this.ports)
    this.points = new KeptPoints(ports.log)
  }

  newRunId(): string {
    return runIdOf(this.ports.clock.now(), this.ports.random.bytes(8))
  }

  async execute(agentId: string, command: PersonCommand, request: Request): Promise<Executed> {
    const { expected } = request
    await this.ports.mustBeWhole?.(agentId)
    const retry = requestRetry(this.ports)
    return this.mailboxes.with(agentId, async (mailbox) => {
      const { asking, said } = await this.inTime(retry, async () => {
        const secrets = await this.boundary(mailbox, command)
        const heard = {
          asking: requesterOf(secrets, this.ports, request, request.asked ?? command),
          said: redactRequest(secrets, command),
        }
        await secrets.keep()
        return heard
      })
      if (said.kind === 'erase') {
        const { aggregate, stream } = await streamToErase(this.ports.log, agentId)
        const erased = await erase(this.ports, aggregate, stream, said, asking, {
          ...(expected === undefined ? {} : { expected }),
          forget: () => this.forgetWhatWasErased(),
        })
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

  toolsOffered(agentId: string, tools: readonly ToolSpec[], folder: string | null): Promise<boolean> {
    return this.mailboxes.with(agentId, (mailbox) => voidApprovals(this.ports, mailbox, tools, folder))
  }

  async erasable(agentId: string, which: ErasureChoice): ReturnType<AgentServices['erasable']> {
    const { aggregate, stream } = await streamToErase(this.ports.log, agentId)
    return erasable(this.ports, aggregate, stream, which)
  }

  async drive(agentId: string, options: DriveOptions): Promise<DriveEnd> {
    const runId = await this.runOf(agentId)
    if (this.driving.has(runId)) throw new CommandRejected('RUN_DRIVEN', `${runId} is being driven by this process`)
    this.driving.add(runId)
    try {
      return await new TreeDriver(this.ports, this.mailboxes, runId, options).drive()
    } finally {
      this.driving.delete(runId)
    }
  }

  protected async runOf(agentId: string): Promise<string> {
    for await (const [first] of this.ports.log.read(agentStream(agentId), { limit: 1, bodies: false }))
      if (first !== undefined) return runOf(first.header)
    throw unknownAgent(agentId)
  }

  async forkDrivable(source: string, model?: string): Promise<void> {
    await this.mailboxes.with(source, async (mailbox) => {
      await mailbox.refresh()
      if (mailbox.state === null) throw unknownAgent(source)
      // A fork does not take over the cancellation of its source.
      const { spec } = mailbox.state
      const { routing, ...named } = spec.models
      const models = model === undefined ? spec.models : { ...named, requested: model }
      mustHaveParts(this.ports, { ...mailbox.state, spec: { ...spec, models }, cancel: null })
    })
  }

  missingParts(spec: Pick<AgentSpec, 'tools' | 'models'>): MissingParts {
    return missingParts(this.ports, spec)
  }

  private mustBeDrivable(state: AgentState): void {
    if (!isFinished(state)) mustHaveParts(this.ports, state)
  }

  /** Lets local drivers of the agent see events that other processes appended. Does nothing without a driver. */
  refresh(agentId: string): Promise<void> {
    return this.mailboxes.refresh(agentId)
  }

  /**
   * If the log does not answer, rejects with LOG_UNAVAILABLE within seconds. This holds even if the work has to wait
   * behind an outcome in the same mailbox. After the timeout, work that has not begun is dropped.
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
    return agentAt(this.given, agentId, at, this.points)
  }

  stateAt(agentId: string, at: At): Promise<Pick<AgentAt, 'state' | 'head'>> {
    return agentStateAt(this.given, agentId, at)
  }

  brief(agentId: string, at: At): Promise<AgentBrief> {
    return briefAt(this.given, agentId, at)
  }

  async fork(source: string, at: At, options: ForkOptions, request: Request): Promise<{ runId: string }> {
    const asking = await this.mailboxes.with(source, async (mailbox) => {
      const secrets = await this.inTime(requestRetry(this.ports), () => this.boundary(mailbox, null))
      refuseSecrets(secrets, options)
      const made = requesterOf(secrets, this.ports, request, request.asked ?? { source, at, options })
      await secrets.keep()
      return made
    })
    const runId = options.runId ?? this.newRunId()
    const command = await forkOf(this.ports, source, at, options)
    const retry = requestRetry(this.ports)
    await this.mailboxes.with(runId, (mailbox) =>
      this.inTime(retry, () => mailbox.submit(command, asking, { fact: false, retry })),
    )
    return { runId }
  }

  routing(agentId: string, turn: number): Promise<RecordedDecision[]> {
    return routingDecisions(this.given, agentId, turn)
  }

  permitted(agentId: string, turn: number): Promise<PermittedCall[]> {
    return permittedCalls(this.given, agentId, turn)
  }

  requests(agentId: string, turn: number): Promise<RebuiltRequest[]> {
    return rebuildRequests(this.given, agentId, turn)
  }

  allRequests(agentId: string): AsyncGenerator<RecordedRequest> {
    return recordedRequests(this.given, agentId)
  }

  reused(agentId: string): Promise<ReusedRecord | null> {
    return reusedRecord(this.given, agentId)
  }

  verify(agentId: string): Promise<Verification> {
    return verifyAgent(this.given, agentId)
  }

  /** The boundary for the secrets of an agent. If its spec cannot be read, the boundary covers all known secrets. */
  private async boundary(mailbox: AgentMailbox, command: PersonCommand | null): Promise<SecretBoundary> {
    if (command?.kind === 'start') return this.ports.secrets(command.spec)
    // Erasures and forks read the stream themselves, so an unreadable stream must not block them here.
    const alone = command === null || command.kind === 'erase'
    await mailbox.refresh().catch((error: unknown) => {
      if (!alone) throw error
    })
    return this.ports.secrets(mailbox.state?.spec ?? { secrets: [], policy: Policy.parse({}) })
  }

  /** Drops the memory and the snapshots of all agents: forks of the agent may hold the erased bodies too. */
  private async forgetWhatWasErased(): Promise<void> {
    this.mailboxes.forgetErased()
    this.points.forgetAll()
    await this.ports.snapshots?.clear()
  }
}
