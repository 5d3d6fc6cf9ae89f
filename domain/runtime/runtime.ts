import type { Erasing, UserCommand } from '../agent/commands.ts'
import { CommandRejected } from '../agent/errors.ts'
import type { RecordedEvent } from '../log/envelope.ts'
import { agentStream, base32, runIdOf } from '../log/ids.ts'
import { Driver } from './driver.ts'
import { fork } from './fork.ts'
import { Mailbox } from './mailbox.ts'
import type { RuntimePorts } from './ports.ts'
import { redactRequest } from './redact.ts'
import { agentAt } from './replay.ts'
import type { AgentAt, AgentRuntimeDoors, At, DriveEnd, Request, Verification } from './types.ts'
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
    const erasing = command.kind === 'erase' ? await this.erasing(agentId, command.revision) : null
    return this.with(agentId, async (mailbox) => {
      const { key, ...asking } = request
      const commandId = key ?? base32(this.ports.random.bytes(16))
      const said = await this.withoutSecrets(mailbox, command)
      const revision = await mailbox.submit(
        erasing === null ? said : ({ ...said, bodyHash: erasing.bodyHash } as Erasing),
        { ...asking, commandId },
        { fact: false, ...(erasing === null ? {} : { erase: [erasing.erasure] }) },
      )
      if (erasing?.blob) await this.ports.blobs.delete(erasing.blob.runId, erasing.blob.hash)
      return { revision }
    })
  }

  async drive(
    agentId: string,
    options: { signal: AbortSignal; onEvent?: (event: RecordedEvent) => void },
  ): Promise<DriveEnd> {
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
          return await new Driver(this.ports, mailbox, env, driverId).drive(options.signal)
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
    return fork(this.ports, this.newRunId(), source, at, options, request)
  }

  verify(agentId: string): Promise<Verification> {
    return verifyAgent(this.ports, agentId)
  }

  private async withoutSecrets(mailbox: Mailbox, command: UserCommand): Promise<UserCommand> {
    if (command.kind !== 'start') await mailbox.refresh()
    const spec = command.kind === 'start' ? command.spec : mailbox.state?.spec
    if (spec === undefined) return command
    const secrets = await this.ports.secrets(spec)
    const clean = redactRequest(secrets, command)
    await secrets.keep()
    return clean
  }

  /** A mailbox lives while somebody uses it; what it knows is in the log. */
  private async with<T>(agentId: string, use: (mailbox: Mailbox) => Promise<T>): Promise<T> {
    const entry = this.mailboxes.get(agentId) ?? { mailbox: new Mailbox(agentId, this.ports), users: 0 }
    this.mailboxes.set(agentId, entry)
    entry.users++
    try {
      return await use(entry.mailbox)
    } finally {
      entry.users--
      if (entry.users === 0) this.mailboxes.delete(agentId)
    }
  }

  private async erasing(agentId: string, revision: number) {
    const stream = agentStream(agentId)
    for await (const page of this.ports.log.read(stream, { from: revision, limit: 1, bodies: false })) {
      const { header, erased } = page[0]!
      if (erased) throw new CommandRejected('BODY_ERASED', `the body of ${agentId}@${revision} was erased before`)
      const blob = header.body.place === 'blob' ? { runId: header.runId, hash: header.body.hash } : null
      return { bodyHash: header.body.hash, erasure: { stream, revision }, blob }
    }
    throw new CommandRejected('EVENT_UNKNOWN', `${agentId} has no event at revision ${revision}`, 404)
  }
}

export const unknownAgent = (agentId: string) => new CommandRejected('RUN_UNKNOWN', `there is no agent ${agentId}`, 404)
