import { undelivered } from '../../../courier/ledger.ts'
import type { Clock } from '../../../ports/index.ts'
import type { Environment } from '../../../ports/runtime.ts'
import { driverWakeAt } from '../../decide/wake-at.ts'
import { type AgentState, isFinished } from '../../state/state.ts'
import type { AgentEnd } from '../drive-end.ts'
import type { AgentMailbox } from '../mailbox.ts'

/** One agent of a tree, in this process. */
export class Member {
  readonly mailbox: AgentMailbox
  /** False: its parent already has its end. Its open obligations are still delivered, but the agent is not driven. */
  drives: boolean
  /** Null before the first drive. */
  env: Environment | null = null
  /** The agent is being driven, or waits for a slot. */
  working = false
  delivering = false
  /** The agent failed and cannot continue in this drive. */
  faulted = false
  /** An event was recorded since the last look. */
  moved = true
  /** The agent's state while it is not driven; null: another process may be driving it. */
  rest: AgentEnd | null = null
  /** The time of the next look without a new event, in ms. */
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

  /** The target streams of open deliveries. `all`: also targets with only completed deliveries. */
  targets(all: boolean): readonly string[] {
    return all ? Object.keys(this.state.courier.owed) : undelivered(this.state).map(({ target }) => target)
  }

  get busy(): boolean {
    return this.working || this.delivering
  }

  /** No work of this agent can become due again. */
  get over(): boolean {
    return !this.busy && isFinished(this.state) && undelivered(this.state).length === 0
  }

  /** Whether to look at the agent now. Reads the clock only if the agent waits for a time. */
  isDue(clock: Pick<Clock, 'now'>): boolean {
    return this.moved || (Number.isFinite(this.wakeAt) && this.wakeAt <= clock.now())
  }

  /** Schedules the next look. */
  looksAgain(at: number): void {
    this.wakeAt = Math.min(this.wakeAt, at)
  }

  /** Marks the agent as driven by another process. */
  isElsewhere(until: number): void {
    this.rest = null
    this.wakeAt = until
  }

  /** Marks the agent as idle until a new event or its wake time. */
  rests(end: AgentEnd, clock: Pick<Clock, 'now'>): void {
    this.rest = end
    const at = end.end === 'resting' ? driverWakeAt(this.state) : null
    this.wakeAt = at !== null && at > clock.now() ? at : Number.POSITIVE_INFINITY
  }
}
