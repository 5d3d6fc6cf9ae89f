import { CommandRejected } from '../../calls/errors.ts'
import type { Actor, SealedEvent } from '../../log/envelope.ts'
import { base32, effectId, externalStream, runIdOf } from '../../log/ids.ts'
import type { ExternalLog, ExternalRunLog, RecordedRun, StartedBy } from '../../ports/external.ts'
import { history } from '../../stream/runtime/history.ts'
import type { StreamPorts } from '../../stream/runtime/ports.ts'
import { external } from '../aggregate.ts'
import type { ExternalCommand, ExternalContext, ExternalFact } from '../commands.ts'
import type { Confinement } from '../confinement.ts'
import type { ExternalEvent } from '../events.ts'
import type { Outcome } from '../outcome.ts'
import { type ExternalState, hasProcess, isRunOver } from '../state.ts'
import { AgentEventIndex } from './event-index.ts'
import { ExternalMailbox } from './mailbox.ts'

/** The ports of a {@link StreamExternalLog}. */
export interface ExternalLogPorts extends StreamPorts {
  /** The version of this program, for claims. */
  readonly build: string
  /** The name of this process among several drivers; absent: it is the only one. */
  readonly driver?: string
  /** Makes referenced data durable. Awaited before each append. */
  beforeAppend?(): Promise<void>
}

/** Requests of people to an active run. */
export type AskedOfRun = Extract<ExternalCommand, { kind: 'cancel' | 'decide_permission' }>
/** The required revision of the run; absent: any. */
export interface Expected {
  readonly expected?: number
}

const proceed = (confinement?: Confinement): ExternalFact => ({
  kind: 'proceed',
  ...(confinement !== undefined && { confinement }),
})

const GATEWAY: Actor = { kind: 'gateway', id: 'agents' }
const FACT = { fact: true } as const

/** The log of external runs: one stream `external-<agentId>` per run, written through the run's mailbox. */
export class StreamExternalLog implements ExternalLog {
  readonly #ports: ExternalLogPorts

  constructor(ports: ExternalLogPorts) {
    this.#ports = ports
  }

  #mailbox(agentId: string): ExternalMailbox {
    return new ExternalMailbox(agentId, this.#ports)
  }

  #driverId(): string {
    return [this.#ports.driver, base32(this.#ports.random.bytes(10))].filter(Boolean).join('-')
  }

  /** Records the request, the claim and the process intent in one append. Rejects with the errors of a mailbox. */
  async begin(
    start: Extract<ExternalCommand, { kind: 'start' }>,
    asked: StartedBy = {},
    facts: readonly ExternalFact[] = [],
    confinement?: Confinement,
  ): Promise<ExternalRunLog> {
    const { clock, random, build } = this.#ports
    const { agentId = runIdOf(clock.now(), random.bytes(8)), by = GATEWAY, commandId = `${agentId}.start` } = asked
    const mailbox = this.#mailbox(agentId)
    const driverId = this.#driverId()
    await this.#ports.beforeAppend?.()
    const commands: ExternalCommand[] = [start, { kind: 'claim', driverId, build }, ...facts, proceed(confinement)]
    const { recorded } = await mailbox.submit({ kind: 'series', commands }, { by, commandId }, { fact: false })
    // A repeated request must not start a second process.
    if (!recorded) throw new CommandRejected('RUN_EXISTS', `${agentId} was started before; follow its events`)
    return new StreamRunLog(this.#ports, mailbox, { id: driverId, epoch: mailbox.state!.driver!.epoch })
  }

  /**
   * Starts a run that a program hosts, or claims it again after the program ended. A run that has ended is only read.
   * Rejects with `RUN_EXISTS` if another kind of agent has the run.
   */
  async host(
    start: Extract<ExternalCommand, { kind: 'start' }>,
    { agentId, by }: Required<Pick<StartedBy, 'agentId' | 'by'>>,
  ): Promise<ExternalRunLog> {
    const mailbox = this.#mailbox(agentId)
    await mailbox.refresh()
    const before = mailbox.state
    if (before !== null && (before.hosted === undefined || before.backend !== start.backend))
      throw new CommandRejected('RUN_EXISTS', `${agentId} is a run of ${before.backend}; name another run`)
    const driverId = this.#driverId()
    if (before === null || !isRunOver(before)) {
      await this.#ports.beforeAppend?.()
      const claim = { kind: 'claim', driverId, build: this.#ports.build } as const
      const commands: ExternalCommand[] = [...(before === null ? [start] : []), claim, { kind: 'calls_go_on' }]
      const asking = { by, commandId: `${agentId}.host#${driverId}` }
      await mailbox.submit({ kind: 'series', commands }, asking, { fact: false })
    }
    return new StreamRunLog(this.#ports, mailbox, { id: driverId, epoch: mailbox.state!.driver?.epoch ?? 0 })
  }

  /** All events of a run, in order. */
  history(agentId: string): ReturnType<typeof history<ExternalEvent>> {
    return history<ExternalEvent>(this.#ports, external, externalStream(agentId))
  }

  /**
   * Claims a delegated run and records the process intent in one append. Rejects with `RUN_EXISTS` if the run was
   * started or has ended.
   */
  async take(agentId: string, facts: readonly ExternalFact[] = [], confinement?: Confinement): Promise<ExternalRunLog> {
    const { mailbox, driverId } = await this.#untaken(agentId, (claim) => [claim, ...facts, proceed(confinement)])
    return new StreamRunLog(this.#ports, mailbox, { id: driverId, epoch: mailbox.state!.driver!.epoch })
  }

  /** Ends a delegated run that cannot be started. Rejects with the errors of {@link take}. */
  async refuse(agentId: string, error: Extract<Outcome, { outcome: 'failed' }>['error']): Promise<void> {
    const outcome = { outcome: 'failed', exit: null, error } as const
    await this.#untaken(agentId, (claim) => [claim, { kind: 'end', outcome }])
  }

  async #untaken(agentId: string, commandsOf: (claim: ExternalFact) => readonly ExternalCommand[]) {
    const mailbox = this.#mailbox(agentId)
    const driverId = this.#driverId()
    await this.#ports.beforeAppend?.()
    const commands = commandsOf({ kind: 'claim', driverId, build: this.#ports.build })
    const asking = { by: { kind: 'driver', id: driverId } as const, commandId: `${agentId}.take#${driverId}` }
    // Checked at each decision: a second claim would put the first driver's process in doubt.
    const mustAllow = ({ stage }: ExternalState) => {
      if (stage.at !== 'requested')
        throw new CommandRejected('RUN_EXISTS', `${agentId} was started before; follow its events`)
    }
    await mailbox.submit({ kind: 'series', commands }, asking, { fact: false, mustAllow })
    return { mailbox, driverId }
  }

  /**
   * Records a person's cancel or decision. Rejects with `RUN_UNKNOWN`, `RUN_FINISHED` or `REVISION_CHANGED`, and with
   * the errors of the decision.
   */
  async ask(agentId: string, command: AskedOfRun, asked: Required<Pick<StartedBy, 'by' | 'commandId'>> & Expected) {
    const mailbox = this.#mailbox(agentId)
    await this.#ports.beforeAppend?.()
    const { by, commandId, expected } = asked
    const mustAllow = (state: ExternalState) => {
      if (isRunOver(state)) throw new CommandRejected('RUN_FINISHED', `${agentId} has ended; start another run`)
    }
    const options = { fact: false, mustAllow, ...(expected !== undefined && { expected }) }
    return mailbox.submit(command, { by, commandId }, options)
  }

  /** Reads the events of a run from any process, also after its end. Null: the run does not exist. */
  async reading(agentId: string): Promise<Pick<ExternalRunLog, 'agentId' | 'read'> | null> {
    const mailbox = this.#mailbox(agentId)
    await mailbox.refresh()
    return mailbox.state === null ? null : { agentId, read: readerOf(this.#ports, agentId) }
  }

  /** A run with its state, outcome and events; null: the run does not exist. */
  async recorded(agentId: string): Promise<RecordedRun | null> {
    const state = await this.state(agentId)
    if (state === null) return null
    const ports = this.#ports
    let outcome: RecordedRun['outcome'] = null
    for await (const page of history<ExternalEvent>(ports, external, externalStream(agentId)))
      for (const { event, recorded } of page)
        if (event.type === 'external_ended' || event.type === 'outcome_learned')
          outcome = recorded.erased ? null : event.body
    return { state, outcome, events: eventsIn(readerOf(ports, agentId)) }
  }

  /** The current state of a run; null: the run does not exist. */
  async state(agentId: string): Promise<ExternalState | null> {
    const mailbox = this.#mailbox(agentId)
    await mailbox.refresh()
    return mailbox.state
  }

  /**
   * Records the end of a run without a driver. Call after its processes on this host are ended; `ended`: how many were
   * found. A process may have finished its work unobserved, so the outcome is unknown and nothing restarts. False: the
   * run had ended, waits for its parent's driver, or is reported or hosted by another program.
   */
  async settle(agentId: string, ended: number): Promise<boolean> {
    const mailbox = this.#mailbox(agentId)
    await mailbox.refresh()
    const { state } = mailbox
    if (state === null || isRunOver(state) || isUntaken(state) || !hasProcess(state)) return false
    const driverId = this.#driverId()
    const commands: ExternalCommand[] = [
      { kind: 'claim', driverId, build: this.#ports.build },
      state.stage.at === 'running' ? { kind: 'reaped', ended } : { kind: 'end', outcome: NEVER_STARTED },
    ]
    const asking = { by: { kind: 'driver', id: driverId } as const, commandId: `${agentId}.settle#${driverId}` }
    const { recorded } = await mailbox.submit({ kind: 'series', commands }, asking, FACT)
    return recorded
  }
}

/** The stream of one run, for the driver that owns it. */
class StreamRunLog implements ExternalRunLog {
  readonly agentId: string
  readonly #ports: ExternalLogPorts
  readonly #mailbox: ExternalMailbox
  readonly #driver: NonNullable<ExternalContext['driver']>
  readonly read: ExternalRunLog['read']
  readonly shared: boolean
  #appends = 0

  constructor(ports: ExternalLogPorts, mailbox: ExternalMailbox, driver: NonNullable<ExternalContext['driver']>) {
    this.#ports = ports
    this.#mailbox = mailbox
    this.#driver = driver
    this.agentId = mailbox.state!.agentId
    this.read = readerOf(ports, this.agentId)
    this.shared = ports.driver !== undefined
  }

  get state(): ExternalState {
    return this.#mailbox.state!
  }

  get lost(): boolean {
    return this.state.driver?.epoch !== this.#driver.epoch
  }

  async look(): Promise<void> {
    await this.#mailbox.refresh()
  }

  listen(listener: (events: readonly SealedEvent[]) => void): () => void {
    return this.#mailbox.listen(listener)
  }

  async append(facts: Parameters<ExternalRunLog['append']>[0]): Promise<void> {
    await this.#ports.beforeAppend?.()
    const driver = this.#driver
    const commandId = effectId(`${this.agentId}.process.${driver.epoch}`, ++this.#appends)
    const asking = { by: { kind: 'driver', id: driver.id } as const, commandId, driver }
    await this.#mailbox.submit({ kind: 'series', commands: facts }, asking, FACT)
  }
}

const NEVER_STARTED = {
  outcome: 'failed',
  exit: null,
  error: { code: 'Backend', message: 'the program that was to start the agent was gone before it had done so' },
} as const

/** A delegated run starts when a driver drives its parent's run. */
const isUntaken = ({ stage, reportsTo }: ExternalState): boolean => stage.at === 'requested' && reportsTo !== null

async function* eventsIn(read: ExternalRunLog['read']) {
  for (let from = 0; ; ) {
    const found = await read(from)
    if (found.length === 0) return
    yield* found
    from += found.length
  }
}

function readerOf(ports: ExternalLogPorts, agentId: string): ExternalRunLog['read'] {
  const index = new AgentEventIndex(ports, externalStream(agentId))
  return (from) => index.read(from)
}
