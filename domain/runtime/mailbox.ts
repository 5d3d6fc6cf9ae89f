import type { Command } from '../agent/decisions/commands.ts'
import type { Identity } from '../agent/decisions/decide.ts'
import { CommandRejected } from '../agent/errors.ts'
import type { Message } from '../agent/events/content.ts'
import type { EventOf } from '../agent/events/events.ts'
import { evolve } from '../agent/state/evolve.ts'
import { Transcript } from '../agent/state/messages.ts'
import { type AgentState, REMEMBERED } from '../agent/state/state.ts'
import type { SealedEvent } from '../log/envelope.ts'
import { ConflictError } from '../log/errors.ts'
import { agentStream, keyOf } from '../log/ids.ts'
import type { Head } from '../ports.ts'
import type { Urgency } from './append.ts'
import { ContentionError } from './errors.ts'
import { checkDigest } from './history/check-digest.ts'
import { headOf, history } from './history/history.ts'
import { fromSnapshot, Snapshotter } from './history/snapshots.ts'
import { type Asking, Journal } from './journal.ts'
import type { RuntimePorts } from './ports.ts'
import { isRepeated } from './repeated.ts'

const MAX_DECISIONS = 10

/** About what a state and its spec take. */
const STATE_BYTES = 64 * 1024

/** The revision the agent is at. `recorded` false: the command had been recorded before, or there was nothing to do. */
export interface Submitted {
  readonly revision: number
  readonly recorded: boolean
}

interface Submitting extends Urgency {
  readonly expected?: number
  /** Throws where a request is not to be recorded in this state; one that was recorded before is not held against it. */
  mustAllow?(state: AgentState): void
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
  /** Keyed requests of the whole stream, by what tells their key; read where a state may have forgotten some. */
  private keys: Map<string, string> | null = null

  constructor(agentId: string, ports: RuntimePorts) {
    this.agentId = agentId
    this.ports = ports
    this.journal = new Journal(ports)
  }

  get state(): AgentState | null {
    return this.folded
  }
  /** The messages that the model sees; empty before {@link loadMessages}. The array grows in place at turn boundaries. */
  get messages(): readonly Message[] {
    return this.transcript?.messages ?? []
  }
  /** About how much memory it takes: nearly all of it is messages. */
  get bytes(): number {
    return (this.transcript?.bytes ?? 0) + (this.keys?.size ?? 0) * 192 + STATE_BYTES
  }
  get answer(): EventOf<'model_call_end'> | null {
    return this.answered
  }

  /**
   * Calls back after every append or read that moved the state: events as sealed, for an append does not tell each one's
   * place. Returns how to stop.
   */
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

  /** Folds what others have appended; false: nothing. */
  refresh(): Promise<boolean> {
    return this.enqueue(() => this.catchUp())
  }

  /**
   * Decides and records a command; resolves when it is durable. Outcomes meet conflicts
   * by folding and deciding again until they are in; requests give up after a bound with {@link ContentionError}, and
   * with 412 where the agent is not at the `expected` revision. So do facts where the log refuses them and shows nothing
   * new, or the signal has aborted; a request is then not begun at all.
   */
  submit(command: Command, asking: Asking, options: Submitting): Promise<Submitted> {
    const { fact, signal, expected, mustAllow } = options
    return this.enqueue(async () => {
      if (this.folded === null || expected !== undefined || mustAllow !== undefined) await this.catchUp()
      for (let tries = 1, still = 1; ; tries++) {
        if (!fact) {
          signal?.throwIfAborted()
          if (await this.hasRecorded(asking.commandId)) return { revision: this.tip?.revision ?? -1, recorded: false }
          this.mustBeAt(expected)
          if (this.folded !== null) mustAllow?.(this.folded)
        }
        try {
          return await this.decideOnce(command, asking, options)
        } catch (error) {
          if (!(error instanceof ConflictError)) throw error
          still = (await this.catchUp()) ? 1 : still + 1
          const bounded = !fact || signal?.aborted === true
          if (still <= MAX_DECISIONS && (!bounded || tries < MAX_DECISIONS)) continue
          throw new ContentionError(`the log refused what was decided on ${this.agentId} ${tries} times; try again`, {
            cause: error,
          })
        }
      }
    })
  }

  private mustBeAt(expected: number | undefined): void {
    const revision = this.tip?.revision ?? -1
    if (expected !== undefined && expected !== revision) throw revisionChanged(this.agentId, revision)
  }

  /**
   * Was this request recorded before? Where the state may have forgotten it, the stream is looked through, once. Rejects
   * where its key came with another request.
   */
  private async hasRecorded(commandId: string): Promise<boolean> {
    const { folded, tip } = this
    if (folded === null || tip === null) return false
    const key = keyOf(commandId)
    if (key === null) return folded.commands.includes(commandId)
    const recorded = folded.commands.find((one) => keyOf(one) === key)
    if (recorded !== undefined || folded.commands.length < REMEMBERED) return isRepeated(recorded, commandId)
    if (this.keys === null) {
      const keys = new Map<string, string>()
      const all = { limit: tip.revision + 1, bodies: false }
      for await (const page of this.ports.log.read(agentStream(this.agentId), all)) {
        for (const { header } of page) noteKey(keys, header.commandId)
      }
      this.keys = keys
    }
    return isRepeated(this.keys.get(key), commandId)
  }

  private async decideOnce(command: Command, asking: Asking, urgency: Urgency): Promise<Submitted> {
    const { folded, tip, transcript } = this
    const recorded = await this.journal.record(folded, this.identity(), tip, command, asking, urgency, transcript)
    if (recorded !== null) {
      const { drafts, state } = recorded.decision
      for (const { event } of drafts) this.remember(event)
      this.folded = state
      this.tip = headOf(recorded.sealed.at(-1)!)
      void this.transcript?.rendered // Messages that are hashed now need not be in the next decision.
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

  /** Folds what is new in the log; false: nothing is. What has been begun and cannot be read is left as it was. */
  private async catchUp(): Promise<boolean> {
    if (this.tip === null) return this.load()
    const before = this.tip
    for await (const page of history(this.ports, this.agentId, { from: before.revision + 1 })) {
      let state = this.folded
      for (const { event, recorded } of page) {
        state = evolve(state, event)
        checkDigest(state, recorded)
      }
      const last = page.at(-1)
      if (last === undefined) continue
      this.folded = state
      this.tip = headOf(last.recorded)
      for (const { event } of page) this.remember(event)
      this.announce(page.map(({ recorded }) => recorded))
    }
    return this.tip !== before
  }

  /** Only a whole history is one: that of a fork begins with pages whose revisions are its source's. */
  private async load(): Promise<boolean> {
    const snapshot = await fromSnapshot(this.ports, this.agentId, {})
    let state = snapshot?.state ?? null
    let tip = snapshot?.head ?? null
    let answered = this.answered
    for await (const page of history(this.ports, this.agentId, tip === null ? {} : { from: tip.revision + 1 })) {
      for (const { event, recorded } of page) {
        state = evolve(state, event)
        checkDigest(state, recorded)
        tip = headOf(recorded)
        if (event.type === 'model_call_end') answered = event
      }
    }
    this.snapshotter = new Snapshotter(this.ports.snapshots, snapshot?.head.revision ?? 0)
    this.folded = state
    this.tip = tip
    this.answered = answered
    return tip !== null
  }

  private remember(event: Parameters<Transcript['push']>[0]): void {
    if (this.keys !== null) noteKey(this.keys, event.commandId)
    this.transcript?.push(event)
    if (event.type === 'model_call_end') this.answered = event
  }

  /** What is announced is in the log: a listener that fails must not make it look as if it were not. */
  private announce(events: readonly SealedEvent[]): void {
    for (const listener of this.listeners) {
      try {
        listener(events)
      } catch (error) {
        this.ports.warn?.(this.agentId, `a listener failed: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
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

function noteKey(keys: Map<string, string>, commandId: string): void {
  const key = keyOf(commandId)
  if (key !== null) keys.set(key, commandId)
}

export const revisionChanged = (agentId: string, revision: number) =>
  new CommandRejected('REVISION_CHANGED', `${agentId} is at revision ${revision}; look again`)
