import { undelivered } from '../../agent/state/courier.ts'
import { type AgentState, isFinished } from '../../agent/state/state.ts'
import type { SealedEvent } from '../../log/envelope.ts'
import { agentStream, base32 } from '../../log/ids.ts'
import { idOf, kindOf } from '../../log/owner.ts'
import { Callback } from '../agent/callback.ts'
import { damageIn } from '../agent/damage.ts'
import { Driver } from '../agent/driver.ts'
import { idleEnd } from '../agent/look.ts'
import type { Mailboxes } from '../agent/mailboxes.ts'
import { mustHaveTools } from '../agent/tools-here.ts'
import { unknownAgent } from '../agent/unknown-agent.ts'
import { Alarm } from '../alarm.ts'
import { Semaphore } from '../concurrency.ts'
import { deliver } from '../courier/deliver.ts'
import { TimeLimitError } from '../errors.ts'
import type { RuntimePorts } from '../ports.ts'
import { outcomeRetry } from '../retry.ts'
import { endingWith } from '../time-limit.ts'
import type { DriveEnd, DriveOptions } from '../types.ts'
import { endOfRun } from './ends.ts'
import { Member } from './member.ts'
import { WorkspaceOrder } from './workspace-order.ts'

/** A driver that was told to stop brings in what it knows, with the files as they are then. */
const STOP_LIMIT_MS = 3 * 60_000

/** Agents of a run at work at once where the host does not say (CONTRACTS 4). */
const AT_ONCE = 5

/**
 * Drives the root of a run and all agents below it, and brings what they owe each other, until the run has ended or every
 * agent of it rests. It keeps nothing: what an agent has to do is in its log, so the next drive goes on from there.
 */
export class TreeDriver {
  private readonly ports: RuntimePorts
  private readonly mailboxes: Mailboxes
  private readonly runId: string
  private readonly options: DriveOptions
  private readonly members = new Map<string, Member>()
  /** Agents that were looked at, and whether to drive them where they were not. */
  private readonly known = new Set<string>()
  private readonly unentered = new Map<string, { readonly drives: boolean; readonly parent: string | null }>()
  private readonly listener: Callback<SealedEvent>
  private readonly order = new WorkspaceOrder()
  private readonly stopped: AbortSignal
  private readonly slots: Semaphore
  private driverId: string | null = null
  /** The first of those that kept an agent from going on; the others go on. */
  private fault: { readonly error: unknown } | null = null
  private overtaken: DriveEnd | null = null
  private left: Promise<unknown> = Promise.resolve()
  private readonly alarm = new Alarm()

  constructor(ports: RuntimePorts, mailboxes: Mailboxes, runId: string, options: DriveOptions) {
    this.ports = ports
    this.mailboxes = mailboxes
    this.runId = runId
    this.options = options
    this.slots = new Semaphore(ports.agentsAtOnce ?? AT_ONCE)
    this.listener = new Callback(options.onEvent ?? (() => undefined))
    this.stopped = AbortSignal.any([options.signal, ...(options.drain ? [options.drain] : [])])
  }

  /** Rejects with the first fault, once nothing is at work any more. */
  async drive(): Promise<DriveEnd> {
    const onStop = () => this.alarm.poke()
    this.stopped.addEventListener('abort', onStop)
    try {
      const root = await this.enter(this.runId, true)
      if (root === null) throw unknownAgent(this.runId)
      const end = await this.untilRest(root)
      this.listener.settle()
      return end
    } finally {
      this.stopped.removeEventListener('abort', onStop)
      for (const member of this.members.values()) this.leave(member)
      await this.left
    }
  }

  private async untilRest(root: Member): Promise<DriveEnd> {
    for (;;) {
      this.alarm.moved = false
      await this.enterAll()
      for (const member of [...this.members.values()]) this.look(member)
      if (![...this.members.values()].some(({ busy }) => busy) && this.unentered.size === 0 && !this.alarm.moved) {
        const end = this.endAtRest(root)
        if (end !== null) return end
      }
      await this.alarm.next(this.ports.clock, this.nextWake())
    }
  }

  /** Null: a time is waited for. */
  private endAtRest(root: Member): DriveEnd | null {
    if (this.fault !== null && !isFinished(root.state)) throw this.fault.error
    if (this.fault !== null) this.ports.warn?.(this.runId, (this.fault.error as Error).message)
    if (this.overtaken !== null) return this.overtaken
    const end = endOfRun(root, [...this.members.values()])
    if (end !== null) return end
    if (this.stopped.aborted) return { end: 'interrupted' }
    if (Number.isFinite(this.nextWake())) return null
    throw new Error(
      `the agents of ${this.runId} wait for each other and for nothing else; see "keepup verify ${this.runId}"`,
    )
  }

  /** Null: there is no such agent. */
  private async enter(agentId: string, drives: boolean): Promise<Member | null> {
    this.known.add(agentId)
    const { mailbox, release } = this.mailboxes.hold(agentId)
    try {
      await mailbox.refresh()
      await this.ports.mustBeWhole?.(agentId)
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
      this.alarm.poke()
      for (const event of events) this.listener.call(event)
    })
    const member: Member = new Member(mailbox, drives, () => {
      stop()
      release()
    })
    this.members.set(agentId, member)
    // Agents that have ended may have died before they had told all.
    for (const stream of Object.keys(mailbox.state.courier.accepted)) this.meet(stream)
    return member
  }

  private meet(stream: string): void {
    const agentId = idOf(stream)
    if (kindOf(stream) === 'agent' && !this.known.has(agentId) && !this.unentered.has(agentId))
      this.unentered.set(agentId, { drives: false, parent: null })
  }

  private async enterAll(): Promise<void> {
    for (const [agentId, { drives, parent }] of this.unentered) {
      this.unentered.delete(agentId)
      const known = this.members.get(agentId)
      if (known !== undefined) {
        known.drives ||= drives
        known.moved = true
        continue
      }
      try {
        const member = await this.enter(agentId, drives)
        if (member === null && parent !== null) await this.lost(parent, agentId, 'its stream does not exist')
      } catch (error) {
        if (damageIn(error) === null) this.fail(error)
        else if (parent !== null) await this.lost(parent, agentId, (error as Error).message)
        else this.ports.warn?.(agentId, `what it owes to other agents is not delivered: ${(error as Error).message}`)
      }
    }
  }

  /** The call of a child that cannot be read fails. */
  private async lost(parent: string, childId: string, reason: string): Promise<void> {
    const member = this.members.get(parent)
    if (member === undefined || member.state.family.children[childId]?.unreached !== false) return
    const asking = { by: { kind: 'system', id: 'runtime' }, commandId: `lost:${childId}` } as const
    const retry = outcomeRetry(this.ports, parent, 'the loss of an agent', this.stopped)
    await retry
      .repeat(() => member.mailbox.submit({ kind: 'child_lost', childId, reason }, asking, { fact: true, retry }))
      .catch((error: unknown) => this.fail(error))
  }

  /** Begins what is to be done for an agent. */
  private look(member: Member): void {
    const { state, agentId } = member
    for (const childId of bornOf(state)) {
      if (!this.known.has(childId) || this.members.get(childId)?.drives === false)
        this.unentered.set(childId, { drives: true, parent: agentId })
    }
    if (this.unentered.size > 0) this.alarm.moved = true
    const stops = this.overtaken !== null || this.stopped.aborted || member.faulted
    const owes = undelivered(state).length > 0
    if (owes && !stops && !member.delivering) this.begin(member, 'delivering', () => this.bring(member))
    const now = this.ports.clock.now()
    if (!member.working && member.drives && (member.moved || member.wakeAt <= now)) {
      member.moved = false
      const idle = idleEnd(state, this.ports)
      if (idle !== null || stops) member.rests(idle ?? { end: 'interrupted' }, now)
      else this.begin(member, 'working', () => this.slots.run(() => this.driveOne(member)))
    }
    if (member.over && agentId !== this.runId) {
      this.members.delete(agentId)
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

  /** Delivers what an agent owes; each of the others may owe something by it. */
  private async bring(member: Member): Promise<void> {
    for (const { target } of undelivered(member.state)) {
      const retry = outcomeRetry(this.ports, member.agentId, `what ${target} is told`, this.stopped)
      await this.mailboxes.with(idOf(target), (mailbox) =>
        retry.repeat(async () => {
          await this.ports.crashPoint?.('before_delivery')
          await deliver(this.ports, member.mailbox, mailbox, retry)
        }),
      )
      const agentId = idOf(target)
      // One that has left may owe something again.
      if (!this.members.has(agentId) && !this.unentered.has(agentId))
        this.unentered.set(agentId, { drives: false, parent: null })
    }
  }

  private async driveOne(member: Member): Promise<void> {
    const { mailbox, agentId } = member
    const { signal, drain } = this.options
    if (this.stopped.aborted || this.overtaken !== null) {
      member.moved = true
      return
    }
    await mailbox.refresh()
    const idle = idleEnd(member.state, this.ports)
    if (idle !== null) return member.rests(idle, this.ports.clock.now())
    const { spec, runId } = member.state
    mustHaveTools(this.ports, member.state)
    this.driverId ??= [this.ports.driver, base32(this.ports.random.bytes(10))].filter(Boolean).join('-')
    await mailbox.loadMessages()
    const isFirst = member.env === null
    const env = member.env ?? (await this.ports.environment(spec, { runId, agentId, driverId: this.driverId }))
    member.env = env
    // Files that others of the tree have changed have not drifted.
    const alone = isFirst && agentId === this.runId && Object.keys(member.state.family.children).length === 0
    const driver = new Driver(this.ports, mailbox, env, this.driverId, { order: this.order, looksForDrift: alone })
    try {
      const driving = driver.drive(signal, drain)
      const end = await endingWith(this.ports.clock, STOP_LIMIT_MS, 'stopping the driver', signal, driving)
      member.rests(end, this.ports.clock.now())
      if (end.end === 'overtaken') this.overtaken ??= end
    } catch (error) {
      if (!signal.aborted || !(error instanceof TimeLimitError)) throw error
      this.ports.warn?.(agentId, error.message)
      member.rests({ end: 'interrupted' }, this.ports.clock.now())
    }
  }

  /** An environment that cannot be closed is reported; the end of the drive does not change. */
  private leave(member: Member): void {
    member.leave()
    const { env } = member
    member.env = null
    const closed = env?.close().catch((error: Error) => this.ports.warn?.(member.agentId, error.message))
    this.left = Promise.all([this.left, closed])
  }

  private fail(error: unknown): void {
    this.fault ??= { error }
    this.alarm.poke()
  }

  private nextWake(): number {
    return Math.min(...[...this.members.values()].map(({ wakeAt }) => wakeAt))
  }
}

/** Children whose end is not known, as far as their birth was brought to their streams. */
const bornOf = ({ family, courier }: AgentState): readonly string[] =>
  Object.entries(family.children).flatMap(([childId, { since }]) => {
    const owed = courier.owed[agentStream(childId)]
    return owed !== undefined && owed.from <= owed.last && since >= owed.from ? [] : [childId]
  })
