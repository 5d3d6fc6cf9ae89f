import { ToolError } from '../../calls/errors.ts'
import type { FactOwner, MemoryRequest } from '../../calls/memory/request.ts'
import { hex } from '../../log/ids.ts'
import type { Json } from '../../log/json.ts'
import type { MemoryIndex } from '../../ports/index.ts'
import type { StreamContext } from '../../stream/aggregate.ts'
import type { CausedContext } from '../../stream/emitter.ts'
import { erase } from '../../stream/runtime/erasure/erase.ts'
import type { ErasureReason } from '../../stream/runtime/erasure/types.ts'
import { history } from '../../stream/runtime/history.ts'
import { type Asking, Mailbox, type Submitted } from '../../stream/runtime/mailbox.ts'
import type { StreamPorts } from '../../stream/runtime/ports.ts'
import { Snapshots } from '../../stream/runtime/snapshots.ts'
import type { StreamProof } from '../../stream/runtime/stream-proof.ts'
import { verifyStream } from '../../stream/runtime/verify.ts'
import { memory } from '../aggregate.ts'
import type { MemoryCommand } from '../decide.ts'
import { MemoryError } from '../errors.ts'
import type { MemoryEvent } from '../events.ts'
import { FACTS_IN_PLACE, memoryOfCall, memoryStream } from '../fact.ts'
import type { MemoryState } from '../state.ts'
import { recalled } from './recalled.ts'

export interface MemoryPorts extends StreamPorts {
  readonly index: MemoryIndex
  /** Replaces all secret values of this installation with references. Resolves when the references are durable. */
  redact(text: string): Promise<string>
}

/** The call of an agent. `secrets.json`: redacts the secrets of its run. */
export interface MemoryCall {
  readonly runId: string
  readonly agentId: string
  readonly toolCallId: string
  readonly causationId: string
  readonly correlationId?: string
  readonly secrets: { json<T>(value: T): T }
}

/** The person behind a request. */
export type MemoryPerson = Pick<StreamContext, 'by' | 'correlationId' | 'trace'>

/**
 * Facts that agents save with `remember` and people correct and delete. Each fact is a stream; the index is a
 * projection.
 */
export class Memories {
  readonly #ports: MemoryPorts

  constructor(ports: MemoryPorts) {
    this.#ports = ports
  }

  /** Performs a call. Repeating a call, for example after a crash, changes nothing. Rejects with ToolError. */
  async perform(request: MemoryRequest, call: MemoryCall): Promise<Json> {
    if (request.kind === 'recall') return call.secrets.json(await this.#recall(request))
    if (request.kind === 'remember') return this.#remember(request, call)
    await this.#mustReach(request.id, request.places)
    await this.#record(request.id, { kind: 'forget', reason: null }, askingOf(call))
    return { forgotten: request.id }
  }

  /** Corrects a fact. Returns the revision of its stream. Rejects with MemoryError. */
  async correct(id: string, text: string, person: MemoryPerson): Promise<Submitted> {
    return this.#record(id, { kind: 'correct', text: await this.#ports.redact(text) }, this.#personal(person))
  }

  /** Forgets a fact: searches no longer find it, but the log keeps its text. Rejects with MemoryError. */
  async forget(id: string, reason: string | null, person: MemoryPerson): Promise<Submitted> {
    const said = reason === null ? null : await this.#ports.redact(reason)
    return this.#record(id, { kind: 'forget', reason: said }, this.#personal(person))
  }

  /**
   * Erases the text of a forgotten fact permanently. Rejects with MEMORY_UNKNOWN, with RUN_ACTIVE if the fact is not
   * forgotten, and with ERASE_IMPOSSIBLE.
   */
  async erase(id: string, why: ErasureReason, person: MemoryPerson): Promise<Submitted> {
    await this.#mustExist(id)
    const what = { all: true as const, ...why, reason: await this.#ports.redact(why.reason) }
    return erase(this.#ports, memory, memoryStream(id), what, this.#personal(person), { forget: async () => {} })
  }

  /** The events of a fact, in order. Rejects with MEMORY_UNKNOWN. */
  async history(id: string): Promise<readonly MemoryEvent[]> {
    const events: MemoryEvent[] = []
    for await (const page of history<MemoryEvent>(this.#ports, memory, memoryStream(id)))
      events.push(...page.map(({ event }) => event))
    if (events.length === 0) throw unknown(id)
    return events
  }

  /** Verifies the chain, the bodies and the digests of a fact. Rejects with MEMORY_UNKNOWN. */
  async verify(id: string): Promise<StreamProof> {
    await this.#mustExist(id)
    return verifyStream(this.#ports, memory, memoryStream(id))
  }

  async #remember({ scope, place, text }: Extract<MemoryRequest, { kind: 'remember' }>, call: MemoryCall) {
    const id = memoryOfCall(scope, call.toolCallId)
    if (!(await this.#exists(id))) {
      await this.#mustHaveRoom({ scope, place })
      await this.#record(id, { kind: 'remember', scope, place, text }, askingOf(call)).catch((error: unknown) => {
        // Another driver may have performed this call at the same time.
        if (!(error instanceof MemoryError && error.code === 'MEMORY_EXISTS')) throw error
      })
    }
    return { id, scope }
  }

  async #recall({ places, query, limit }: Extract<MemoryRequest, { kind: 'recall' }>): Promise<Json> {
    try {
      return recalled(await this.#ports.index.search(places, query, limit))
    } catch (cause) {
      const why = `the memory cannot be searched now: ${(cause as Error).message}`
      throw new ToolError('EXECUTION_FAILED', why, { transient: true, cause })
    }
  }

  async #mustHaveRoom(place: FactOwner): Promise<void> {
    const count = await this.#ports.index.count(place).catch(() => 0)
    if (count < FACTS_IN_PLACE) return
    const what = `the ${place.scope} memory holds ${count} facts, which is the most; forget some first`
    throw new ToolError('CONFLICT', what)
  }

  async #mustReach(id: string, places: readonly FactOwner[]): Promise<void> {
    const first = (await this.#exists(id)) ? (await this.history(id))[0] : undefined
    const body = first?.type === 'fact_remembered' ? first.body : null
    if (places.some(({ scope, place }) => scope === body?.scope && place === body.place)) return
    throw new ToolError('RESOURCE_NOT_FOUND', `id: there is no fact "${id}" that you reach; recall shows the ids`)
  }

  async #exists(id: string): Promise<boolean> {
    return (await this.#ports.log.head(memoryStream(id))) !== null
  }

  async #mustExist(id: string): Promise<void> {
    if (!(await this.#exists(id))) throw unknown(id)
  }

  async #record(id: string, command: MemoryCommand, asking: Asking<CausedContext>): Promise<Submitted> {
    const mailbox = new Mailbox(memory, SNAPSHOTS, memoryStream(id), this.#ports)
    return mailbox.submit(command, asking, { fact: false })
  }

  #personal(person: MemoryPerson): Asking<CausedContext> {
    return { ...person, commandId: `request:${hex(this.#ports.random.bytes(16))}` }
  }
}

const unknown = (id: string) =>
  new MemoryError('MEMORY_UNKNOWN', `there is no fact "${id}"; list the memories to find it`)

/** The author is the model. The command id derives from the call id. */
const askingOf = ({ agentId, toolCallId, secrets: _, ...call }: MemoryCall): Asking<CausedContext> => ({
  ...call,
  toolCallId,
  by: { kind: 'model', id: agentId },
  commandId: `call:${toolCallId}`,
})

const SNAPSHOTS = new Snapshots<MemoryState, MemoryEvent>(memory, {
  members: ['scope', 'place', 'corrections', 'forgotten'],
  keep: (state) => state,
  step: () => 0,
  whole: async (_, __, kept) => kept as MemoryState,
})
