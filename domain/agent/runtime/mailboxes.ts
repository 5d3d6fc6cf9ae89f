import type { Correspondent } from '../../courier/runtime/correspondent.ts'
import { idOf, kindOf } from '../../log/owner.ts'
import type { RuntimePorts } from '../../ports/runtime.ts'
import { isFinished } from '../state/state.ts'
import { AgentMailbox } from './mailbox.ts'

/**
 * One mailbox per agent of this process. Mailboxes are cached after use, so that an agent that repeatedly waits for
 * people is not read from its beginning each time. The cache keeps the most recently used ones, limited by memory; the
 * log contains all their data.
 */
export class Mailboxes {
  private readonly ports: RuntimePorts
  private readonly entries = new Map<string, { mailbox: AgentMailbox; users: number }>()

  constructor(ports: RuntimePorts) {
    this.ports = ports
  }

  /** The mailbox of an agent, which stays in memory until it is released. */
  hold(agentId: string): { readonly mailbox: AgentMailbox; release(): void } {
    const entry = this.entries.get(agentId) ?? { mailbox: new AgentMailbox(agentId, this.ports), users: 0 }
    // Re-inserts the entry, so that the map is in the order of last use.
    this.entries.delete(agentId)
    this.entries.set(agentId, entry)
    entry.users++
    let held = true
    const release = () => {
      if (!held) return
      held = false
      entry.users--
      if (entry.users === 0 && isOver(entry.mailbox)) this.entries.delete(agentId)
      else this.forgetOldest()
    }
    return { mailbox: entry.mailbox, release }
  }

  async with<T>(agentId: string, use: (mailbox: AgentMailbox) => Promise<T>): Promise<T> {
    const { mailbox, release } = this.hold(agentId)
    try {
      return await use(mailbox)
    } finally {
      release()
    }
  }

  /** The mailbox of a stream that the courier delivers to: of a keepup agent or an external agent. */
  async withStream<T>(stream: string, use: (mailbox: Correspondent) => Promise<T>): Promise<T> {
    const agentId = idOf(stream)
    if (kindOf(stream) !== 'external') return this.with(agentId, use)
    const { delegated } = this.ports
    if (delegated === undefined)
      throw new Error(`${agentId} is another agent, and this process runs none; drive the run where it was started`)
    return use(delegated.mailbox(agentId, this.ports))
  }

  /** Reads events that other processes appended, if the mailbox is in use here. */
  async refresh(agentId: string): Promise<void> {
    const entry = this.entries.get(agentId)
    if (entry && entry.users > 0) await entry.mailbox.refresh()
  }

  /** Drops the memory of all agents, because forks contain inherited bodies. */
  forgetErased(): void {
    for (const [agentId, { mailbox, users }] of this.entries) {
      if (users === 0) this.entries.delete(agentId)
      else mailbox.forget()
    }
  }

  private forgetOldest(): void {
    let bytes = 0
    for (const { mailbox } of this.entries.values()) bytes += mailbox.bytes
    for (const [agentId, { mailbox, users }] of this.entries) {
      if (this.entries.size <= KEPT_MAILBOXES || bytes <= KEPT_BYTES) return
      if (users > 0) continue
      bytes -= mailbox.bytes
      this.entries.delete(agentId)
    }
  }
}

/** Ended children are rarely read again, so a tree needs memory only for running agents. */
const isOver = ({ state }: AgentMailbox): boolean => state !== null && state.parent !== null && isFinished(state)

/** The number of idle mailboxes kept regardless of size, and the most bytes of messages of all mailboxes. */
const KEPT_MAILBOXES = 16
const KEPT_BYTES = 64 * 1024 * 1024
