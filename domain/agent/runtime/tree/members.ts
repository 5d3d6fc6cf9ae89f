import type { SealedEvent } from '../../../log/envelope.ts'
import { agentStream } from '../../../log/ids.ts'
import { idOf, kindOf } from '../../../log/owner.ts'
import type { RuntimePorts } from '../../../ports/runtime.ts'
import { outcomeRetry } from '../../../stream/runtime/append-retry.ts'
import { damageIn } from '../../../stream/runtime/damage.ts'
import type { AgentState } from '../../state/state.ts'
import type { Mailboxes } from '../mailboxes.ts'
import { Member } from './member.ts'

interface Hears {
  /** Called after events were recorded in the stream of a member. */
  recorded(events: readonly SealedEvent[]): void
  /** Called with the error when a member could not be loaded. */
  failed(error: unknown): void
}

/** The agents of a tree in this process. An unknown agent is loaded after another agent refers to it. */
export class Members {
  readonly #ports: RuntimePorts
  readonly #mailboxes: Mailboxes
  readonly #stopped: AbortSignal
  readonly #hears: Hears
  readonly #entered = new Map<string, Member>()
  /** Agents that were loaded or tried. */
  readonly #known = new Set<string>()
  readonly #unentered = new Map<string, { readonly drives: boolean; readonly parent: string | null }>()

  constructor(ports: RuntimePorts, mailboxes: Mailboxes, stopped: AbortSignal, hears: Hears) {
    this.#ports = ports
    this.#mailboxes = mailboxes
    this.#stopped = stopped
    this.#hears = hears
  }

  get all(): readonly Member[] {
    return [...this.#entered.values()]
  }

  /** Whether known agents are not yet loaded. */
  get pending(): boolean {
    return this.#unentered.size > 0
  }

  remove({ agentId }: Member): void {
    this.#entered.delete(agentId)
  }

  /** Loads an agent. Null: the agent does not exist. */
  async enter(agentId: string, drives: boolean): Promise<Member | null> {
    this.#known.add(agentId)
    const { mailbox, release } = this.#mailboxes.hold(agentId)
    try {
      await mailbox.refresh()
      await this.#ports.mustBeWhole?.(agentId)
    } catch (error) {
      release()
      throw error
    }
    if (mailbox.state === null) {
      release()
      return null
    }
    const stop = mailbox.listen((events) => {
      member.moved = true
      this.#hears.recorded(events)
    })
    const member: Member = new Member(mailbox, drives, () => {
      stop()
      release()
    })
    this.#entered.set(agentId, member)
    return member
  }

  /**
   * Meets the children of a member that have reported their end. A child may have crashed before it delivered
   * everything.
   */
  meetEnded({ state }: Member): void {
    for (const stream of Object.keys(state.courier.accepted))
      if (kindOf(stream) === 'agent' && !this.#known.has(idOf(stream))) this.meet(idOf(stream))
  }

  /** Meets the children of a member that must be driven. */
  meetBorn({ state, agentId: parent }: Member): void {
    for (const childId of bornOf(state))
      if (!this.#known.has(childId) || this.#entered.get(childId)?.drives === false)
        this.#unentered.set(childId, { drives: true, parent })
  }

  /** An unloaded agent may have open obligations. */
  meet(agentId: string): void {
    if (!this.#entered.has(agentId) && !this.#unentered.has(agentId))
      this.#unentered.set(agentId, { drives: false, parent: null })
  }

  /** Loads all known agents. Calls `met` for each new member. */
  async enterAll(met: (member: Member) => void): Promise<void> {
    for (const [agentId, { drives, parent }] of this.#unentered) {
      this.#unentered.delete(agentId)
      const known = this.#entered.get(agentId)
      if (known !== undefined) {
        known.drives ||= drives
        known.moved = true
        continue
      }
      try {
        const member = await this.enter(agentId, drives)
        if (member !== null) met(member)
        else if (parent !== null) await this.#lost(parent, agentId, 'its stream does not exist')
      } catch (error) {
        if (damageIn(error) === null) this.#hears.failed(error)
        else if (parent !== null) await this.#lost(parent, agentId, (error as Error).message)
        else this.#ports.warn?.(agentId, `what it owes to other agents is not delivered: ${(error as Error).message}`)
      }
    }
  }

  /** Fails the call of a child whose stream is unreadable or missing. */
  async #lost(parent: string, childId: string, reason: string): Promise<void> {
    const member = this.#entered.get(parent)
    if (member === undefined || member.state.family.children[childId]?.unreached !== false) return
    const asking = { by: { kind: 'system', id: 'runtime' }, commandId: `lost:${childId}` } as const
    const retry = outcomeRetry(this.#ports, parent, 'the loss of an agent', this.#stopped)
    await retry
      .repeat(() => member.mailbox.submit({ kind: 'child_lost', childId, reason }, asking, { fact: true, retry }))
      .catch((error: unknown) => this.#hears.failed(error))
  }
}

/** Children without a known end whose birth was delivered. */
const bornOf = ({ family, courier }: AgentState): readonly string[] =>
  Object.entries(family.children).flatMap(([childId, { since, external }]) => {
    if (external) return []
    const owed = courier.owed[agentStream(childId)]
    return owed !== undefined && owed.from <= owed.last && since >= owed.from ? [] : [childId]
  })
