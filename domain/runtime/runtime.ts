import type { UserCommand } from '../agent/commands.ts'
import { CommandRejected } from '../agent/errors.ts'
import { echo } from '../agent/issues.ts'
import { Policy } from '../agent/spec.ts'
import { LogError } from '../log/errors.ts'
import { base32, runIdOf } from '../log/ids.ts'
import { askingOf } from './asking.ts'
import { Driver } from './driver.ts'
import { erase } from './erase.ts'
import { fork } from './fork.ts'
import { Mailbox } from './mailbox.ts'
import type { RuntimePorts, SecretBoundary } from './ports.ts'
import { type RebuiltRequest, rebuildRequests } from './rebuild-request.ts'
import { redactRequest, refuseSecrets } from './redact.ts'
import { agentAt } from './replay.ts'
import type { AgentAt, AgentRuntimeDoors, At, DriveEnd, DriveOptions, Request, Verification } from './types.ts'
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

  async execute(agentId: string, command: UserCommand, request: Request): Promise<{ revision: number }> {
    const { expected } = request
    return this.with(agentId, async (mailbox) => {
      const secrets = await this.boundary(mailbox, command)
      const asking = askingOf(secrets, this.ports.random, request)
      const said = redactRequest(secrets, command)
      await secrets.keep()
      if (said.kind === 'erase') {
        this.mailboxes.delete(agentId)
        return erase(this.ports, agentId, said, asking, expected)
      }
      const options = { fact: false, ...(expected === undefined ? {} : { expected }) }
      return { revision: await mailbox.submit(said, asking, options) }
    })
  }

  async drive(agentId: string, options: DriveOptions): Promise<DriveEnd> {
    if (this.driving.has(agentId)) throw new CommandRejected('RUN_DRIVEN', `${agentId} is being driven by this process`)
    this.driving.add(agentId)
    try {
      return await this.with(agentId, async (mailbox) => {
        await mailbox.loadMessages()
        const { state } = mailbox
        if (state === null) throw unknownAgent(agentId)
        if (state.machine.status === 'DONE') return { end: 'done' }
        if (state.machine.status === 'ERROR')
          return { end: 'error', code: state.machine.code, error: state.machine.error }
        const driverId = base32(this.ports.random.bytes(10))
        const env = await this.ports.environment(state.spec, { runId: state.runId, agentId, driverId })
        const stop = mailbox.listen((events) => {
          for (const event of events) options.onEvent?.(event)
        })
        try {
          return await new Driver(this.ports, mailbox, env, driverId).drive(options.signal, options.drain)
        } finally {
          stop()
          await env.close()
        }
      })
    } finally {
      this.driving.delete(agentId)
    }
  }

  at(agentId: string, at: At): Promise<AgentAt> {
    return agentAt(this.ports, agentId, at)
  }

  async fork(
    source: string,
    at: At,
    options: { workspace?: { path: string; tree: string | null }; model?: string; maxTurns?: number },
    request: Request,
  ): Promise<{ runId: string }> {
    return this.with(source, async (mailbox) => {
      const secrets = await this.boundary(mailbox, null)
      const asking = askingOf(secrets, this.ports.random, request)
      refuseSecrets(secrets, options)
      await secrets.keep()
      return fork(this.ports, this.newRunId(), source, at, options, asking)
    })
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

/** Idle mailboxes that are kept, each with its agent's messages. */
const KEPT_MAILBOXES = 16

export const unknownAgent = (agentId: string) =>
  new CommandRejected('RUN_UNKNOWN', `there is no agent ${echo(agentId)}`, 404)
