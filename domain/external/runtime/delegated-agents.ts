import { deliver } from '../../courier/runtime/deliver.ts'
import { base32, externalStream } from '../../log/ids.ts'
import { idOf, kindOf } from '../../log/owner.ts'
import type { Clock } from '../../ports/index.ts'
import type {
  DelegatedAgents,
  DelegatedChildren,
  DelegatedRuns,
  Parent,
  RuntimePorts,
  ToolDesk,
  TreeDrive,
} from '../../ports/runtime.ts'
import { outcomeRetry } from '../../stream/runtime/append-retry.ts'
import { LOOK_MS } from '../../tree/runtime/tree-leases.ts'
import type { AgentSpec } from '../../tree/spec.ts'
import { AgentError } from '../errors.ts'
import { type ExternalState, isRunOver } from '../state.ts'
import { ExternalMailbox } from './mailbox.ts'

/** The external agents to which keepup agents delegate, over the runs of this host. */
export const delegatedAgents = (runs: DelegatedRuns): DelegatedAgents => ({
  mailbox: (agentId, ports) => new ExternalMailbox(agentId, ports),
  children: (ports, drive) => new Children(ports, runs, drive),
})

/**
 * The external agents of a tree (CONTRACTS 13). Starts each one once and delivers its end to its parent. A run that an
 * earlier drive started is never restarted. This drive waits until its end is in the log; the end is unknown if no
 * process observed it.
 */
class Children implements DelegatedChildren {
  readonly #ports: RuntimePorts
  readonly #runs: DelegatedRuns
  readonly #around: TreeDrive
  readonly #known = new Set<string>()
  readonly #attended = new Set<Promise<void>>()

  constructor(ports: RuntimePorts, runs: DelegatedRuns, around: TreeDrive) {
    this.#ports = ports
    this.#runs = runs
    this.#around = around
  }

  get busy(): boolean {
    return this.#attended.size > 0
  }

  meet(member: Parent): void {
    if (!this.#around.leases.holdsRun || this.#around.stopped.aborted) return
    const { state } = member
    // A pause starts no children. Running ones continue, and this drive waits for their end.
    if (!state.paused) for (const childId of bornOf(state)) this.#attend(childId, member)
    for (const stream of Object.keys(state.courier.accepted))
      if (kindOf(stream) === 'external') this.#attend(idOf(stream), member)
  }

  notice(childId: string): void {
    this.#runs.at(childId)?.notice?.()
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
    while (!isRunOver(mailbox.state) && !stopped.aborted) {
      if (parent.state.paused && mailbox.state.stage.at === 'requested') return void this.#known.delete(childId)
      await this.#work(mailbox, parent)
      await mailbox.refresh()
    }
    if (!isRunOver(mailbox.state)) return
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
    const { clock } = this.#ports
    const { leases, order, stopped } = this.#around
    const handle = this.#runs.at(mailbox.agentId)
    if (handle !== undefined) return this.#ended(handle)
    if (mailbox.state!.stage.at !== 'requested') return pause(clock, stopped)
    const worked = await leases.work(parent.state, () =>
      order
        .alone(stopped, async () => {
          await mailbox.refresh()
          if (mailbox.state!.stage.at === 'requested' && !parent.state.paused) await this.#start(mailbox, parent)
        })
        .catch((error: unknown) => {
          if (!stopped.aborted) throw error
        }),
    )
    if (!worked) await pause(clock, stopped)
  }

  async #start(mailbox: ExternalMailbox, parent: Parent): Promise<void> {
    const desk = await this.#deskOf(mailbox.state!, parent)
    try {
      await this.#ended(await this.#runs.take(mailbox.agentId, parent.state.spec, desk))
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
    // The rules of a delegated run are a whole spec.
    const env = await ports.environment(tools.spec as AgentSpec, { runId, agentId, driverId })
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
