import type { Delivery, SettleDelivery } from '../../courier/delivery.ts'
import type { Courier } from '../../courier/ledger.ts'
import type { Correspondent } from '../../courier/runtime/correspondent.ts'
import { deliver } from '../../courier/runtime/deliver.ts'
import { base32, externalStream } from '../../log/ids.ts'
import { idOf, kindOf } from '../../log/owner.ts'
import type { Clock } from '../../ports/index.ts'
import type { DelegatedRuns, RuntimePorts, ToolDesk } from '../../ports/runtime.ts'
import type { StreamContext } from '../../stream/aggregate.ts'
import type { Asking, Submitted, Submitting } from '../../stream/runtime/mailbox.ts'
import { outcomeRetry } from '../../stream/runtime/retry.ts'
import type { Family, LoseChild } from '../../tree/family.ts'
import { LOOK_MS, type TreeLeases } from '../../tree/runtime/tree-leases.ts'
import type { WorkspaceOrder } from '../../tree/runtime/workspace-order.ts'
import type { AgentSpec } from '../../tree/spec.ts'
import { AgentError } from '../errors.ts'
import { type ExternalState, isFinished } from '../state.ts'
import { ExternalMailbox } from './mailbox.ts'

/** The delegating agent, with its current state. */
export interface Parent {
  readonly state: {
    readonly agentId: string
    readonly paused: boolean
    readonly spec: AgentSpec
    readonly family: Family
    readonly courier: Courier
  }
}

/** The mailbox of a delegating agent. */
interface ParentMailbox extends Correspondent {
  submit(
    command: Delivery | SettleDelivery | LoseChild,
    asking: Asking<StreamContext>,
    options: Pick<Submitting<never>, 'fact' | 'retry'>,
  ): Promise<Submitted>
}

interface Around {
  readonly parents: { with<T>(agentId: string, use: (mailbox: ParentMailbox) => Promise<T>): Promise<T> }
  readonly leases: TreeLeases
  readonly order: WorkspaceOrder
  /** Aborts when no new work may start. */
  readonly stopped: AbortSignal
  /** Aborts when running work must end. */
  readonly signal: AbortSignal
  /** Called when an external agent's work has ended. */
  moved(): void
  failed(error: unknown): void
}

/**
 * The external agents of a tree (CONTRACTS 13). Starts each one once and delivers its end to its parent. A run that an
 * earlier drive started is never restarted. This drive waits until its end is in the log; the end is unknown if no
 * process observed it.
 */
export class DelegatedAgents {
  readonly #ports: RuntimePorts
  readonly #around: Around
  readonly #known = new Set<string>()
  readonly #attended = new Set<Promise<void>>()

  constructor(ports: RuntimePorts, around: Around) {
    this.#ports = ports
    this.#around = around
  }

  get busy(): boolean {
    return this.#attended.size > 0
  }

  /**
   * Starts and awaits a member's delegated children. Also checks ended children, whose end may not be confirmed as
   * delivered.
   */
  meet(member: Parent): void {
    if (!this.#around.leases.holdsRun || this.#around.stopped.aborted) return
    const { state } = member
    // A pause starts no children. Running ones continue, and this drive waits for their end.
    if (!state.paused) for (const childId of bornOf(state)) this.#attend(childId, member)
    for (const stream of Object.keys(state.courier.accepted))
      if (kindOf(stream) === 'external') this.#attend(idOf(stream), member)
  }

  /** Call after an event was recorded for an external agent. */
  notice(childId: string): void {
    this.#ports.delegated?.at(childId)?.notice?.()
  }

  #attend(childId: string, parent: Parent): void {
    if (this.#known.has(childId)) return
    this.#known.add(childId)
    const attended: Promise<void> = this.#seeThrough(childId, parent)
      .catch((error: unknown) => this.#around.failed(error))
      .finally(() => {
        this.#attended.delete(attended)
        this.#around.moved()
      })
    this.#attended.add(attended)
  }

  async #seeThrough(childId: string, parent: Parent): Promise<void> {
    const { stopped, parents } = this.#around
    const mailbox = new ExternalMailbox(childId, this.#ports)
    await mailbox.refresh()
    if (mailbox.state === null) return this.#lost(childId, parent)
    while (!isFinished(mailbox.state) && !stopped.aborted) {
      if (parent.state.paused && mailbox.state.stage.at === 'requested') return void this.#known.delete(childId)
      await this.#work(mailbox, parent)
      await mailbox.refresh()
    }
    if (!isFinished(mailbox.state)) return
    const retry = outcomeRetry(this.#ports, parent.state.agentId, `the end of ${childId}`, stopped)
    await parents.with(parent.state.agentId, (target) =>
      retry.repeat(async () => {
        await this.#ports.crashPoint?.('before_delivery')
        await deliver(this.#ports, mailbox, target, retry)
      }),
    )
  }

  /** Starts the child if it was not started, and waits for its end. */
  async #work(mailbox: ExternalMailbox, parent: Parent): Promise<void> {
    const { delegated, clock } = this.#ports
    const { leases, order, stopped } = this.#around
    if (delegated === undefined)
      throw new Error(
        `${mailbox.agentId} is another agent, and this process runs none; drive the run where it was started`,
      )
    const handle = delegated.at(mailbox.agentId)
    if (handle !== undefined) return this.#ended(handle)
    if (mailbox.state!.stage.at !== 'requested') return pause(clock, stopped)
    const worked = await leases.work(parent.state, () =>
      order
        .alone(stopped, async () => {
          await mailbox.refresh()
          if (mailbox.state!.stage.at === 'requested' && !parent.state.paused)
            await this.#start(delegated, mailbox, parent)
        })
        .catch((error: unknown) => {
          if (!stopped.aborted) throw error
        }),
    )
    if (!worked) await pause(clock, stopped)
  }

  async #start(delegated: DelegatedRuns, mailbox: ExternalMailbox, parent: Parent): Promise<void> {
    const desk = await this.#deskOf(mailbox.state!, parent)
    try {
      await this.#ended(await delegated.take(mailbox.agentId, parent.state.spec, desk))
    } catch (error) {
      // The log contains the reason of an AgentError. RUN_EXISTS: another process started the run.
      if (!(error instanceof AgentError) && (error as { code?: unknown }).code !== 'RUN_EXISTS') throw error
    } finally {
      await desk?.env.close(true).catch((error: Error) => this.#ports.warn?.(mailbox.agentId, error.message))
    }
  }

  /** The desk for the agent's calls of keepup's tools; undefined: the agent may call none. */
  async #deskOf({ tools, runId, agentId }: ExternalState, parent: Parent): Promise<ToolDesk | undefined> {
    if (tools === undefined) return undefined
    const ports = this.#ports
    const driverId = [ports.driver, base32(ports.random.bytes(10))].filter(Boolean).join('-')
    const env = await ports.environment(tools.spec, { runId, agentId, driverId })
    return { ports, env, paused: () => parent.state.paused }
  }

  /** Waits for the end of a run and cancels the run if the drive must end. The outcome is in the log. */
  async #ended(handle: NonNullable<ReturnType<DelegatedRuns['at']>>): Promise<void> {
    const { signal } = this.#around
    const cancel = () => handle.cancel('the drive of its run was stopped')
    if (signal.aborted) cancel()
    signal.addEventListener('abort', cancel, { once: true })
    await handle.completion.catch(() => undefined)
    signal.removeEventListener('abort', cancel)
  }

  /** Fails the call of a child whose stream does not exist. */
  async #lost(childId: string, parent: Parent): Promise<void> {
    if (parent.state.family.children[childId]?.unreached !== false) return
    const asking = { by: { kind: 'system', id: 'runtime' }, commandId: `lost:${childId}` } as const
    const retry = outcomeRetry(this.#ports, parent.state.agentId, 'the loss of an agent', this.#around.stopped)
    const lost = { kind: 'child_lost', childId, reason: 'its stream does not exist' } as const
    await this.#around.parents.with(parent.state.agentId, (mailbox) =>
      retry.repeat(() => mailbox.submit(lost, asking, { fact: true, retry })),
    )
  }
}

const pause = (clock: Pick<Clock, 'sleep'>, signal: AbortSignal) => clock.sleep(LOOK_MS, signal).catch(() => undefined)

/** External children without a known end whose birth was delivered. */
const bornOf = ({ family, courier }: Parent['state']): readonly string[] =>
  Object.entries(family.children).flatMap(([childId, { since, external }]) => {
    const owed = courier.owed[externalStream(childId)]
    return external === undefined || owed === undefined || since >= owed.from ? [] : [childId]
  })
