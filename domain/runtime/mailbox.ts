import type { Command } from '../agent/commands.ts'
import type { Message } from '../agent/content.ts'
import type { Identity } from '../agent/decide.ts'
import { CommandRejected } from '../agent/errors.ts'
import type { EventOf } from '../agent/events.ts'
import { evolve } from '../agent/evolve.ts'
import { Transcript } from '../agent/messages.ts'
import type { AgentState } from '../agent/state.ts'
import type { SealedEvent } from '../log/envelope.ts'
import { ConflictError } from '../log/errors.ts'
import type { Head } from '../ports.ts'
import { checkDigest } from './check-digest.ts'
import { ContentionError } from './errors.ts'
import { headOf, history } from './history.ts'
import { type Asking, Journal } from './journal.ts'
import type { RuntimePorts } from './ports.ts'
import { fromSnapshot, Snapshotter } from './snapshots.ts'

const MAX_DECISIONS = 10

/** The revision the agent is at. `recorded` false: the command had been recorded before, or there was nothing to do. */
export interface Submitted {
  readonly revision: number
  readonly recorded: boolean
}

/**
 * One mailbox per agent: commands are decided one after the other on the state as it is in the log. What is learnt from
 * the log is folded here once; the transcript grows beside the state.
 */
export class Mailbox {
  readonly agentId: string
  private readonly ports: RuntimePorts
  private readonly journal: Journal
  private readonly listeners = new Set<(events: readonly SealedEvent[]) => void>()
  private queue: Promise<unknown> = Promise.resolve()
  private folded: AgentState | null = null
  private tip: Head | null = null
  /** The last answer of the model, whose blocks hold the open calls' arguments. */
  private answered: EventOf<'model_call_end'> | null = null
  private transcript: Transcript | null = null
  private snapshotter: Snapshotter | null = null
  /** Something that it remembers was erased. */
  private stale = false

  constructor(agentId: string, ports: RuntimePorts) {
    this.agentId = agentId
    this.ports = ports
    this.journal = new Journal(ports)
  }

  get state(): AgentState | null {
    return this.folded
  }
  get head(): Head | null {
    return this.tip
  }
  /** The messages that the model sees; empty before {@link loadMessages}. The array grows in place at turn boundaries. */
  get messages(): readonly Message[] {
    return this.transcript?.messages ?? []
  }
  get answer(): EventOf<'model_call_end'> | null {
    return this.answered
  }

  /** Calls back after every append or read that moved the state: events as sealed, for an append does not tell each one's place. Returns how to stop. */
  listen(listener: (events: readonly SealedEvent[]) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  /** Reads the whole history once for its messages, which only a driver needs. */
  loadMessages(): Promise<void> {
    return this.enqueue(async () => {
      await this.catchUp()
      if (this.transcript !== null || this.tip === null) return
      const transcript = new Transcript()
      for await (const page of history(this.ports, this.agentId, { to: this.tip.revision })) {
        for (const { event } of page) {
          transcript.push(event)
          if (event.type === 'model_call_end') this.answered = event
        }
      }
      this.transcript = transcript
    })
  }

  /**
   * Something was erased, here or in what a fork has inherited: before it decides or tells anything more it reads anew what
   * is left. What it remembers until then is put into no snapshot.
   */
  forget(): void {
    this.stale = true
  }

  private async readAnew(): Promise<void> {
    const { tip, transcript } = this
    const answers = new Transcript()
    let [state, answered, head]: [AgentState | null, typeof this.answered, Head | null] = [null, null, null]
    this.stale = false
    try {
      for await (const page of history(this.ports, this.agentId, { to: tip?.revision ?? -1 })) {
        for (const { event, recorded } of page) {
          state = evolve(state, event)
          if (transcript !== null) answers.push(event)
          if (event.type === 'model_call_end') answered = event
          head = headOf(recorded)
        }
      }
    } catch (error) {
      this.stale = true
      throw error
    }
    this.folded = state
    this.tip = head
    this.answered = answered
    this.transcript = transcript && answers
  }

  /** Folds what others have appended. */
  refresh(): Promise<void> {
    return this.enqueue(() => this.catchUp())
  }

  /**
   * Decides and records a command; resolves when it is durable. Facts meet conflicts
   * by folding and deciding again until they are in; requests give up after a bound with {@link ContentionError}, and
   * with 412 where the agent is not at the `expected` revision.
   */
  submit(command: Command, asking: Asking, options: { fact: boolean; expected?: number }): Promise<Submitted> {
    return this.enqueue(async () => {
      if (this.folded === null || options.expected !== undefined) await this.catchUp()
      for (let tries = 1; ; tries++) {
        this.mustBeAt(options.expected, asking.commandId)
        try {
          return await this.decideOnce(command, asking, options.fact)
        } catch (error) {
          if (!(error instanceof ConflictError)) throw error
          if (!options.fact && tries >= MAX_DECISIONS) {
            throw new ContentionError(`${this.agentId} was changed by others ${tries} times in a row; try again`, {
              cause: error,
            })
          }
          await this.catchUp()
        }
      }
    })
  }

  private mustBeAt(expected: number | undefined, commandId: string): void {
    const revision = this.tip?.revision ?? -1
    if (expected === undefined || expected === revision || this.folded?.commands.includes(commandId)) return
    throw revisionChanged(this.agentId, revision)
  }

  private async decideOnce(command: Command, asking: Asking, fact: boolean): Promise<Submitted> {
    const recorded = await this.journal.record(this.folded, this.identity(), this.tip, command, asking, fact)
    if (recorded !== null) {
      const { drafts, state } = recorded.decision
      for (const { event } of drafts) this.remember(event)
      this.folded = state
      this.tip = headOf(recorded.sealed.at(-1)!)
      if (state !== null && !this.stale) this.snapshotter?.consider(state)
      this.announce(recorded.sealed.map((event, i) => ({ ...event, body: drafts[i]!.body.bytes })))
    }
    return { revision: this.tip?.revision ?? -1, recorded: recorded !== null }
  }

  private identity(): Identity {
    return {
      agentId: this.agentId,
      runId: this.folded?.runId ?? this.agentId,
      revision: this.tip?.revision ?? -1,
    }
  }

  private async catchUp(): Promise<void> {
    if (this.tip === null) {
      const snapshot = await fromSnapshot(this.ports, this.agentId, {})
      if (snapshot !== null) {
        this.folded = snapshot.state
        this.tip = snapshot.head
      }
      this.snapshotter = new Snapshotter(this.ports.snapshots, this.tip?.revision ?? 0)
    }
    const from = this.tip === null ? 0 : this.tip.revision + 1
    for await (const page of history(this.ports, this.agentId, { from })) {
      for (const { event, recorded } of page) {
        this.folded = evolve(this.folded, event)
        checkDigest(this.folded, recorded)
        this.remember(event)
        this.tip = headOf(recorded)
      }
      if (page.length > 0) this.announce(page.map(({ recorded }) => recorded))
    }
  }

  private remember(event: Parameters<Transcript['push']>[0]): void {
    this.transcript?.push(event)
    if (event.type === 'model_call_end') this.answered = event
  }

  private announce(events: readonly SealedEvent[]): void {
    for (const listener of this.listeners) listener(events)
  }

  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    const current = async () => {
      if (this.stale) await this.readAnew()
      return work()
    }
    const done = this.queue.then(current, current)
    this.queue = done.catch(() => undefined)
    return done
  }
}

export const revisionChanged = (agentId: string, revision: number) =>
  new CommandRejected('REVISION_CHANGED', `${agentId} is at revision ${revision}; look again`, 412)
