import { damageIn } from '../../agent/runtime/damage.ts'
import type { Mailboxes } from '../../agent/runtime/mailboxes.ts'
import type { AgentState } from '../../agent/state/state.ts'
import type { SealedEvent } from '../../log/envelope.ts'
import { agentStream } from '../../log/ids.ts'
import { idOf, kindOf } from '../../log/owner.ts'
import type { RuntimePorts } from '../../ports/runtime.ts'
import { outcomeRetry } from '../../stream/runtime/retry.ts'
import { Member } from './member.ts'

interface Hears {
  /** Something was recorded in the stream of a member. */
  recorded(events: readonly SealedEvent[]): void
  /** What kept a member from being entered. */
  failed(error: unknown): void
}

/** The agents of a tree that are looked after here. An agent that is not known yet is entered when another one names it. */
export class Members {
  readonly #ports: RuntimePorts
  readonly #mailboxes: Mailboxes
  readonly #stopped: AbortSignal
  readonly #hears: Hears
  readonly #entered = new Map<string, Member>()
  /** Agents that were looked at, and whether to drive them where they were not. */
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

  /** Are there agents that were named and not entered yet? */
  get pending(): boolean {
    return this.#unentered.size > 0
  }

  remove({ agentId }: Member): void {
    this.#entered.delete(agentId)
  }

  /** Null: there is no such agent. */
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

  /** Children of a member that have ended may have died before they had told all. */
  meetEnded({ state }: Member): void {
    for (const stream of Object.keys(state.courier.accepted))
      if (kindOf(stream) === 'agent' && !this.#known.has(idOf(stream))) this.meet(idOf(stream))
  }

  /** Children of a member that are to be driven. */
  meetBorn({ state, agentId: parent }: Member): void {
    for (const childId of bornOf(state))
      if (!this.#known.has(childId) || this.#entered.get(childId)?.drives === false)
        this.#unentered.set(childId, { drives: true, parent })
  }

  /** One that is not looked after may owe something. */
  meet(agentId: string): void {
    if (!this.#entered.has(agentId) && !this.#unentered.has(agentId))
      this.#unentered.set(agentId, { drives: false, parent: null })
  }

  /** Enters all that were named. `met` is called with each new one. */
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

  /** The call of a child that cannot be read fails. */
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

/** Children whose end is not known, as far as their birth was brought to their streams. */
const bornOf = ({ family, courier }: AgentState): readonly string[] =>
  Object.entries(family.children).flatMap(([childId, { since, external }]) => {
    if (external) return []
    const owed = courier.owed[agentStream(childId)]
    return owed !== undefined && owed.from <= owed.last && since >= owed.from ? [] : [childId]
  })
