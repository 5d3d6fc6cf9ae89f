import { driverWakeAt } from '../../agent/decide/wake-at.ts'
import type { AgentEnd } from '../../agent/runtime/drive-end.ts'
import type { AgentMailbox } from '../../agent/runtime/mailbox.ts'
import { undelivered } from '../../agent/state/courier.ts'
import { type AgentState, isFinished } from '../../agent/state/state.ts'
import type { Clock } from '../../ports/index.ts'
import type { Environment } from '../../ports/runtime.ts'

/** One agent of a tree that is driven here. */
export class Member {
  readonly mailbox: AgentMailbox
  /** False: its parent has its end already. What it owes is still delivered, and nothing of it is done again. */
  drives: boolean
  /** What it works in, from its first drive on. */
  env: Environment | null = null
  /** It has a drive, or waits for a slot. */
  working = false
  delivering = false
  /** It cannot go on in this drive. */
  faulted = false
  /** Something was recorded since it was looked at last. */
  moved = true
  /** How it stands while no drive of it is at work; null: another process drives it, as far as is known. */
  rest: AgentEnd | null = null
  /** When it is to be looked at again though nothing is recorded, ms. */
  wakeAt = Number.POSITIVE_INFINITY
  readonly leave: () => void

  constructor(mailbox: AgentMailbox, drives: boolean, leave: () => void) {
    this.mailbox = mailbox
    this.drives = drives
    this.leave = leave
  }

  get agentId(): string {
    return this.mailbox.agentId
  }

  get state(): AgentState {
    const { state } = this.mailbox
    if (state === null) throw new Error(`${this.agentId} has no events`)
    return state
  }

  /** Streams to which something is to be delivered; `all`: also where it was delivered. */
  targets(all: boolean): readonly string[] {
    return all ? Object.keys(this.state.courier.owed) : undelivered(this.state).map(({ target }) => target)
  }

  get busy(): boolean {
    return this.working || this.delivering
  }

  /** Nothing of it can become due any more. */
  get over(): boolean {
    return !this.busy && isFinished(this.state) && undelivered(this.state).length === 0
  }

  /** Is it to be looked at now? The clock is read only where it waits for a time. */
  isDue(clock: Pick<Clock, 'now'>): boolean {
    return this.moved || (Number.isFinite(this.wakeAt) && this.wakeAt <= clock.now())
  }

  /** It is looked at again then. */
  looksAgain(at: number): void {
    this.wakeAt = Math.min(this.wakeAt, at)
  }

  /** Another process drives it. */
  isElsewhere(until: number): void {
    this.rest = null
    this.wakeAt = until
  }

  /** It has nothing to do now, and goes on when it moves or the time comes. */
  rests(end: AgentEnd, clock: Pick<Clock, 'now'>): void {
    this.rest = end
    const at = end.end === 'resting' ? driverWakeAt(this.state) : null
    this.wakeAt = at !== null && at > clock.now() ? at : Number.POSITIVE_INFINITY
  }
}
