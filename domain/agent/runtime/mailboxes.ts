import type { Correspondent } from '../../courier/runtime/correspondent.ts'
import { ExternalMailbox } from '../../external/runtime/mailbox.ts'
import { idOf, kindOf } from '../../log/owner.ts'
import type { RuntimePorts } from '../../ports/runtime.ts'
import { isFinished } from '../state/state.ts'
import { AgentMailbox } from './mailbox.ts'

/**
 * One mailbox per agent of this process. A mailbox outlives its use for a while, so that an agent that waits for people now
 * and then is not read from its beginning each time. What it knows is in the log; the latest are kept as far as memory goes.
 */
export class Mailboxes {
  private readonly ports: RuntimePorts
  private readonly entries = new Map<string, { mailbox: AgentMailbox; users: number }>()

  constructor(ports: RuntimePorts) {
    this.ports = ports
  }

  /** The mailbox of an agent, which stays until it is released. */
  hold(agentId: string): { readonly mailbox: AgentMailbox; release(): void } {
    const entry = this.entries.get(agentId) ?? { mailbox: new AgentMailbox(agentId, this.ports), users: 0 }
    // Set anew, so that the map is in the order of last use.
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

  /** The mailbox of a stream of the agents' courier: of keepup's own agent, or of another one. */
  async withStream<T>(stream: string, use: (mailbox: Correspondent) => Promise<T>): Promise<T> {
    if (kindOf(stream) === 'external') return use(new ExternalMailbox(idOf(stream), this.ports))
    return this.with(idOf(stream), use)
  }

  /** Lets whatever holds an agent here see what other processes have appended. */
  async refresh(agentId: string): Promise<void> {
    const entry = this.entries.get(agentId)
    if (entry && entry.users > 0) await entry.mailbox.refresh()
  }

  /** Forks hold what they have inherited, so the memory of all agents goes. */
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

/** A child that has ended is hardly ever asked again, so that a tree takes memory only for the agents at work. */
const isOver = ({ state }: AgentMailbox): boolean => state !== null && state.parent !== null && isFinished(state)

/** Idle mailboxes that are kept whatever their messages take, and how much all may take together. */
const KEPT_MAILBOXES = 16
const KEPT_BYTES = 64 * 1024 * 1024
