import type { UserCommand } from '../agent/commands.ts'
import { CommandRejected } from '../agent/errors.ts'
import { echo } from '../agent/issues.ts'
import { Policy } from '../agent/spec.ts'
import { type AgentState, isFinished } from '../agent/state.ts'
import { LogError } from '../log/errors.ts'
import { base32, runIdOf } from '../log/ids.ts'
import { askingOf } from './asking.ts'
import { Driver } from './driver.ts'
import { erase } from './erase.ts'
import { TimeLimitError } from './errors.ts'
import { forkOf } from './fork.ts'
import { endOf, idleEnd } from './look.ts'
import { Mailbox } from './mailbox.ts'
import type { Environment, RuntimePorts, SecretBoundary } from './ports.ts'
import { type RebuiltRequest, rebuildRequests } from './rebuild-request.ts'
import { redactRequest, refuseSecrets } from './redact.ts'
import { agentAt } from './replay.ts'
import { within } from './time-limit.ts'
import type {
  AgentAt,
  AgentRuntimeDoors,
  At,
  DriveEnd,
  DriveOptions,
  Executed,
  ForkOptions,
  Request,
  Verification,
} from './types.ts'
import { verifyAgent } from './verify.ts'

/** AgentManager: one mailbox per agent of this process, and the doors to them. */
export class Runtime implements AgentRuntimeDoors {
  private readonly ports: RuntimePorts
  private readonly mailboxes = new Map<string, { mailbox: Mailbox; users: number }>()
  private readonly driving = new Set<string>()

  constructor(ports: RuntimePorts) {
    this.ports = ports
  }

  newRunId(): string {
    return runIdOf(this.ports.clock.now(), this.ports.random.bytes(8))
  }

  async execute(agentId: string, command: UserCommand, request: Request): Promise<Executed> {
    const { expected } = request
    return this.with(agentId, async (mailbox) => {
      const secrets = await this.boundary(mailbox, command)
      const asking = askingOf(secrets, this.ports.random, request)
      const said = redactRequest(secrets, command)
      await secrets.keep()
      if (said.kind === 'erase') {
        // Forks remember what they have inherited: whoever is not at work reads anew what is left.
        for (const [id, { users }] of this.mailboxes) if (users === 0 || id === agentId) this.mailboxes.delete(id)
        const { revision } = await erase(this.ports, agentId, said, asking, expected)
        return { revision, recorded: true, claimed: true }
      }
      const options = { fact: false, ...(expected === undefined ? {} : { expected }) }
      const submitted = await mailbox.submit(said, asking, options)
      return { ...submitted, claimed: mailbox.state?.driver != null }
    })
  }

  async drive(agentId: string, options: DriveOptions): Promise<DriveEnd> {
    if (this.driving.has(agentId)) throw new CommandRejected('RUN_DRIVEN', `${agentId} is being driven by this process`)
    this.driving.add(agentId)
    try {
      return await this.with(agentId, async (mailbox) => {
        await mailbox.refresh()
        const { state } = mailbox
        if (state === null) throw unknownAgent(agentId)
        const idle = isFinished(state) ? endOf(state) : idleEnd(state, this.ports)
        if (idle !== null) return idle
        const driverId = base32(this.ports.random.bytes(10))
        await mailbox.loadMessages()
        const env = await this.enter(state, driverId)
        const stop = mailbox.listen((events) => {
          for (const event of events) options.onEvent?.(event)
        })
        try {
          return await new Driver(this.ports, mailbox, env, driverId).drive(options.signal, options.drain)
        } finally {
          stop()
          await this.leave(agentId, env)
        }
      })
    } finally {
      this.driving.delete(agentId)
    }
  }

  private async enter({ spec, runId, agentId }: AgentState, driverId: string): Promise<Environment> {
    const opening = this.ports.environment(spec, { runId, agentId, driverId })
    try {
      return await within(this.ports.clock, OPEN_LIMIT_MS, 'opening what the run works in', opening)
    } catch (error) {
      // Where it is opened all the same, nobody works in it.
      if (error instanceof TimeLimitError) opening.then((env) => this.leave(agentId, env)).catch(() => undefined)
      throw error
    }
  }

  /** What cannot be closed is told; how the drive has ended stays what it was. */
  private async leave(agentId: string, env: Environment): Promise<void> {
    await within(this.ports.clock, CLOSE_LIMIT_MS, 'closing what the run works in', env.close()).catch((error: Error) =>
      this.ports.warn?.(agentId, error.message),
    )
  }

  at(agentId: string, at: At): Promise<AgentAt> {
    return agentAt(this.ports, agentId, at)
  }

  async fork(source: string, at: At, options: ForkOptions, request: Request): Promise<{ runId: string }> {
    const asking = await this.with(source, async (mailbox) => {
      const secrets = await this.boundary(mailbox, null)
      refuseSecrets(secrets, options)
      const made = askingOf(secrets, this.ports.random, request)
      await secrets.keep()
      return made
    })
    const runId = options.runId ?? this.newRunId()
    const command = await forkOf(this.ports, source, at, options)
    await this.with(runId, (mailbox) => mailbox.submit(command, asking, { fact: false }))
    return { runId }
  }

  requests(agentId: string, turn: number): Promise<RebuiltRequest[]> {
    return rebuildRequests(this.ports, agentId, turn)
  }

  verify(agentId: string): Promise<Verification> {
    return verifyAgent(this.ports, agentId)
  }

  /** The boundary of the agent's own secrets, or of a new one's; of all that are known where it cannot be told any more. */
  private async boundary(mailbox: Mailbox, command: UserCommand | null): Promise<SecretBoundary> {
    if (command?.kind === 'start') return this.ports.secrets(command.spec)
    try {
      await mailbox.refresh()
    } catch (error) {
      if (!(error instanceof LogError) || error.code !== 'BODY_ERASED') throw error
    }
    return this.ports.secrets(mailbox.state?.spec ?? { secrets: [], policy: Policy.parse({}) })
  }

  /**
   * A mailbox outlives its use for a while, so that an agent that waits for people now and then is not read from its
   * beginning each time. What it knows is in the log; the latest few are kept.
   */
  private async with<T>(agentId: string, use: (mailbox: Mailbox) => Promise<T>): Promise<T> {
    const entry = this.mailboxes.get(agentId) ?? { mailbox: new Mailbox(agentId, this.ports), users: 0 }
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

  private forgetOldest(): void {
    for (const [agentId, { users }] of this.mailboxes) {
      if (this.mailboxes.size <= KEPT_MAILBOXES) return
      if (users === 0) this.mailboxes.delete(agentId)
    }
  }
}

const OPEN_LIMIT_MS = 2 * 60_000
const CLOSE_LIMIT_MS = 60_000

/** Idle mailboxes that are kept, each with its agent's messages. */
const KEPT_MAILBOXES = 16

export const unknownAgent = (agentId: string) =>
  new CommandRejected('RUN_UNKNOWN', `there is no agent ${echo(agentId)}`, 404)
