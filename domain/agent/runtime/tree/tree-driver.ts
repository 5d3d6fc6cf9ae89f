import { CommandRejected } from '../../../calls/errors.ts'
import { deliver } from '../../../courier/runtime/deliver.ts'
import type { SealedEvent } from '../../../log/envelope.ts'
import { base32 } from '../../../log/ids.ts'
import { idOf, kindOf } from '../../../log/owner.ts'
import type { DelegatedChildren, RuntimePorts } from '../../../ports/runtime.ts'
import { Alarm } from '../../../stream/runtime/alarm.ts'
import { outcomeRetry } from '../../../stream/runtime/append-retry.ts'
import { Callback } from '../../../stream/runtime/callback.ts'
import { TimeLimitError } from '../../../stream/runtime/errors.ts'
import { endingWith } from '../../../stream/runtime/time-limit.ts'
import type { DriveEnd, DriveOptions } from '../../../tree/runtime/drive.ts'
import { LOOK_MS, TreeLeases } from '../../../tree/runtime/tree-leases.ts'
import { WorkspaceOrder } from '../../../tree/runtime/workspace-order.ts'
import { isFinished } from '../../state/state.ts'
import { idleEnd } from '../drive-end.ts'
import { Driver } from '../driver.ts'
import type { Mailboxes } from '../mailboxes.ts'
import { hasParts, mustHaveParts } from '../missing-parts.ts'
import { unknownAgent } from '../unknown-agent.ts'
import { endOfRun } from './end-of-run.ts'
import { mayHelp } from './may-help.ts'
import type { Member } from './member.ts'
import { Members } from './members.ts'

/** The time that a stopped driver has to record its outcomes and a version of the files, in ms. */
const STOP_LIMIT_MS = 3 * 60_000

/**
 * Drives the root of a run and all its descendants, and delivers obligations between them, until the run has ended or
 * every agent rests. The driver stores nothing: each agent's open work is in its log, so the next drive resumes from
 * there.
 */
export class TreeDriver {
  private readonly ports: RuntimePorts
  private readonly mailboxes: Mailboxes
  private readonly runId: string
  private readonly options: DriveOptions
  private readonly members: Members
  private readonly listener: Callback<SealedEvent>
  private readonly order = new WorkspaceOrder()
  private readonly stopped: AbortSignal
  private readonly leases: TreeLeases
  private readonly others: DelegatedChildren | undefined
  private driverId: string | null = null
  /** The first error of an agent. The other agents continue. */
  private fault: { readonly error: unknown } | null = null
  private overtaken: DriveEnd | null = null
  /** Agents whose targets were all checked in this drive. */
  private readonly compared = new Set<string>()
  /** All agents were refreshed since the last event recorded here. */
  private lookedAgain = false
  private left: Promise<unknown> = Promise.resolve()
  private readonly alarm = new Alarm()

  constructor(ports: RuntimePorts, mailboxes: Mailboxes, runId: string, options: DriveOptions) {
    this.ports = ports
    this.mailboxes = mailboxes
    this.runId = runId
    this.options = options
    this.listener = new Callback(options.onEvent ?? (() => undefined))
    this.stopped = AbortSignal.any([options.signal, ...(options.drain ? [options.drain] : [])])
    this.members = new Members(ports, mailboxes, this.stopped, {
      recorded: (events) => this.recorded(events),
      failed: (error) => this.fail(error),
    })
    this.leases = new TreeLeases(ports, { runId, stopped: this.stopped })
    this.others = ports.delegated?.children(ports, {
      ...{ parents: mailboxes, leases: this.leases, order: this.order, stopped: this.stopped, signal: options.signal },
      moved: () => this.alarm.poke(),
      failed: (error) => this.fail(error),
    })
  }

  /** Drives the tree. Rejects with the first error after all work has ended. */
  async drive(): Promise<DriveEnd> {
    const onStop = () => this.alarm.poke()
    this.stopped.addEventListener('abort', onStop)
    try {
      if (!(await this.leases.takeRun()) && this.refuses && !(await mayHelp(this.ports, this.runId)))
        throw this.drivenElsewhere()
      const root = await this.members.enter(this.runId, true)
      if (root === null) throw unknownAgent(this.runId)
      if (this.leases.holdsRun) this.members.meetEnded(root)
      const end = await this.untilRest(root)
      this.listener.settle()
      return end
    } finally {
      this.stopped.removeEventListener('abort', onStop)
      for (const member of this.members.all) this.leave(member)
      await this.left
      await this.leases.release()
    }
  }

  private async untilRest(root: Member): Promise<DriveEnd> {
    for (;;) {
      this.alarm.moved = false
      if (!this.stopped.aborted && (await this.leases.retakeRun())) this.takeOver()
      await this.members.enterAll((member) => this.leases.holdsRun && this.members.meetEnded(member))
      for (const member of this.members.all) this.look(member)
      if (!this.busy && !this.alarm.moved) {
        const end = this.leases.shared ? this.endOfShared(root) : this.endAtRest(root)
        if (end !== null) return end
      }
      await this.alarm.next(this.ports.clock, this.nextWake())
    }
  }

  private get busy(): boolean {
    return this.members.all.some(({ busy }) => busy) || this.members.pending || this.others?.busy === true
  }

  /** Other processes may have recorded events since the last refresh. Null: look again later. */
  private endOfShared(root: Member): DriveEnd | null {
    const { holdsRun, wasLost } = this.leases
    if (this.stopped.aborted) return (holdsRun ? this.endAtRest(root) : null) ?? { end: 'interrupted' }
    if (this.fault !== null) return this.endAtRest(root)
    if (!holdsRun && this.refuses) {
      if (wasLost) return { end: 'interrupted' }
      throw this.drivenElsewhere()
    }
    const driven = this.members.all.filter(({ drives }) => drives)
    const known = holdsRun && driven.every(({ rest }) => rest !== null)
    const free = driven.some(({ state }) => !isFinished(state) && !this.leases.ofRun(state))
    if (known && (this.lookedAgain || !free)) return this.endAtRest(root)
    this.lookedAgain = known
    for (const member of driven) member.looksAgain(this.ports.clock.now() + LOOK_MS)
    return null
  }

  /** Whether to refuse a run that another process drives, instead of waiting. */
  private get refuses(): boolean {
    return this.options.waits === false && !this.leases.holdsRun
  }

  private drivenElsewhere(): CommandRejected {
    return new CommandRejected('RUN_DRIVEN', `${this.runId} is being driven by another process`)
  }

  /** This process acquired the run, so it delivers the obligations of all agents. */
  private takeOver(): void {
    for (const member of this.members.all) {
      member.moved = true
      this.members.meetEnded(member)
    }
  }

  private recorded(events: readonly SealedEvent[]): void {
    this.lookedAgain = false
    this.alarm.poke()
    for (const event of events) this.listener.call(event)
  }

  /** Null: an agent waits for a time. */
  private endAtRest(root: Member): DriveEnd | null {
    if (this.fault !== null && !isFinished(root.state)) throw this.fault.error
    if (this.fault !== null) this.ports.warn?.(this.runId, (this.fault.error as Error).message)
    if (this.overtaken !== null) return this.overtaken
    const end = endOfRun(root, this.members.all)
    if (end !== null) return end
    if (this.stopped.aborted) return { end: 'interrupted' }
    if (Number.isFinite(this.nextWake())) return null
    throw new Error(
      `the agents of ${this.runId} wait for each other and for nothing else; see "keepup verify ${this.runId}"`,
    )
  }

  /** Starts the work that is due for an agent. */
  private look(member: Member): void {
    const { state, agentId } = member
    this.members.meetBorn(member)
    this.others?.meet(member)
    if (this.members.pending) this.alarm.moved = true
    const stops = this.overtaken !== null || this.stopped.aborted || member.faulted
    const owes = member.targets(this.compares(member)).length > 0
    if (owes && !stops && !member.delivering) this.begin(member, 'delivering', () => this.bring(member))
    if (!member.working && member.drives && member.isDue(this.ports.clock)) {
      member.moved = false
      member.wakeAt = Number.POSITIVE_INFINITY
      // Other processes may drive the agent, so refresh it first.
      const idle = this.leases.shared && !stops ? null : idleEnd(state, this.ports)
      if (idle !== null || stops) member.rests(idle ?? { end: 'interrupted' }, this.ports.clock)
      else this.begin(member, 'working', () => this.takeTurn(member))
    }
    if (member.over && agentId !== this.runId) {
      this.members.remove(member)
      this.leave(member)
    }
  }

  private begin(member: Member, what: 'working' | 'delivering', work: () => Promise<void>): void {
    member[what] = true
    work()
      .catch((error: unknown) => {
        member.faulted = true
        this.fail(error)
      })
      .finally(() => {
        member[what] = false
        this.alarm.poke()
      })
  }

  /** Delivers an agent's obligations. A target may have new obligations afterwards. */
  private async bring(member: Member): Promise<void> {
    for (const target of member.targets(this.compares(member))) {
      const retry = outcomeRetry(this.ports, member.agentId, `what ${target} is told`, this.stopped)
      await this.mailboxes.withStream(target, (mailbox) =>
        retry.repeat(async () => {
          await this.ports.crashPoint?.('before_delivery')
          await deliver(this.ports, member.mailbox, mailbox, retry)
        }),
      )
      // The target may have left the tree and have new obligations.
      if (kindOf(target) === 'external') this.others?.notice(idOf(target))
      else this.members.meet(idOf(target))
    }
    this.compared.add(member.agentId)
  }

  /** An accepted loss in the tree may have removed accepted deliveries, so check all targets of an agent once. */
  private compares({ agentId }: Member): boolean {
    return !this.compared.has(agentId) && this.members.all.some(({ state }) => state.courier.losses !== undefined)
  }

  /** Drives an agent when it has a slot. An agent of another process is looked at again later. */
  private async takeTurn(member: Member): Promise<void> {
    const { clock } = this.ports
    const { shared, holdsRun } = this.leases
    if (shared && (await this.isIdle(member))) return
    // A process without the run's lease skips agents whose tools or providers it lacks.
    const fits = holdsRun || hasParts(this.ports, member.state.spec)
    const driven = fits && (await this.leases.work(member.state, (lost) => this.driveOne(member, lost)))
    if (!driven) member.isElsewhere(clock.now() + LOOK_MS)
  }

  /** Refreshes the agent. True: nothing is due. */
  private async isIdle(member: Member): Promise<boolean> {
    await member.mailbox.refresh()
    const idle = idleEnd(member.state, this.ports)
    if (idle !== null) member.rests(idle, this.ports.clock)
    return idle !== null
  }

  /**
   * Whether the run was cancelled before this agent began. The cancel of the root has not reached the agent yet, so the
   * agent makes no first call. The driver looks again soon.
   */
  private async awaitsCancel(member: Member): Promise<boolean> {
    const { state, agentId } = member
    const root = this.members.all.find((one) => one.agentId === this.runId)
    if (agentId === this.runId || state.turn > 0 || state.cancel !== null || root === undefined) return false
    await root.mailbox.refresh()
    if (root.state.cancel === null) return false
    member.isElsewhere(this.ports.clock.now() + LOOK_MS)
    return true
  }

  private async driveOne(member: Member, lost: AbortSignal): Promise<void> {
    const { mailbox, agentId } = member
    const { signal } = this.options
    const drain = AbortSignal.any([...(this.options.drain ? [this.options.drain] : []), lost])
    if (this.stopped.aborted || this.overtaken !== null) {
      member.moved = true
      return
    }
    if ((await this.isIdle(member)) || (await this.awaitsCancel(member))) return
    const { spec, runId } = member.state
    mustHaveParts(this.ports, member.state)
    this.driverId ??= [this.ports.driver, base32(this.ports.random.bytes(10))].filter(Boolean).join('-')
    await mailbox.loadMessages()
    const isFirst = member.env === null
    const env = member.env ?? (await this.ports.environment(spec, { runId, agentId, driverId: this.driverId }))
    member.env = env
    // Skip the drift check if other agents of the tree may have changed the files.
    const alone = isFirst && agentId === this.runId && Object.keys(member.state.family.children).length === 0
    const driver = new Driver(this.ports, mailbox, env, this.driverId, { order: this.order, looksForDrift: alone })
    try {
      const driving = driver.drive(signal, drain)
      const end = await endingWith(this.ports.clock, STOP_LIMIT_MS, 'stopping the driver', signal, driving)
      const { clock } = this.ports
      if (this.leases.shared && (end.end === 'overtaken' || lost.aborted)) member.isElsewhere(clock.now() + LOOK_MS)
      else member.rests(end, clock)
      if (end.end === 'overtaken' && !this.leases.shared) this.overtaken ??= end
    } catch (error) {
      if (!signal.aborted || !(error instanceof TimeLimitError)) throw error
      this.ports.warn?.(agentId, error.message)
      member.rests({ end: 'interrupted' }, this.ports.clock)
    }
  }

  /** An environment that cannot be closed is reported; the end of the drive does not change. */
  private leave(member: Member): void {
    const ends = isFinished(member.state)
    member.leave()
    const { env } = member
    member.env = null
    const closed = env?.close(ends).catch((error: Error) => this.ports.warn?.(member.agentId, error.message))
    this.left = Promise.all([this.left, closed])
  }

  private fail(error: unknown): void {
    this.fault ??= { error }
    this.alarm.poke()
  }

  private nextWake(): number {
    const forRun = this.stopped.aborted ? Number.POSITIVE_INFINITY : this.leases.wakeAt
    return Math.min(forRun, ...this.members.all.map(({ wakeAt }) => wakeAt))
  }
}
