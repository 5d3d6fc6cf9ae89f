import { hex } from '../../log/ids.ts'
import type { Json } from '../../log/json.ts'
import type { StreamContext } from '../../stream/aggregate.ts'
import { erasable, erase } from '../../stream/runtime/erasure/erase.ts'
import type { ErasableBody, ErasureChoice, ErasureReason } from '../../stream/runtime/erasure/types.ts'
import { history } from '../../stream/runtime/history.ts'
import type { Submitted } from '../../stream/runtime/mailbox.ts'
import type { StreamPorts } from '../../stream/runtime/ports.ts'
import type { StreamProof } from '../../stream/runtime/stream-proof.ts'
import { verifyStream } from '../../stream/runtime/verify.ts'
import { context, contextStream } from '../aggregate.ts'
import { noStore, variableNotFound } from '../errors.ts'
import type { ContextEvent } from '../events.ts'
import { ContextStore } from './store.ts'
import { type Author, StreamVariables, valueAt } from './stream-variables.ts'

export interface ContextPorts extends StreamPorts {
  /** Replaces all secret values of this installation with references. Resolves when the references are durable. */
  hide(value: Json): Promise<Json>
}

/** The person behind a request. */
export type ContextPerson = Pick<StreamContext, 'by' | 'correlationId' | 'trace'>

/** The stores of context variables in the log (seed 004): access, erasure and verification. */
export class ContextStores {
  readonly #ports: ContextPorts

  constructor(ports: ContextPorts) {
    this.#ports = ports
  }

  /** Opens a store by name. Throws `INVALID_VARIABLE` for an invalid name. */
  open(store: string, by: Author): ContextStore {
    const { hide, ...ports } = this.#ports
    return new ContextStore(new StreamVariables({ ports, store, by, hide }))
  }

  /** The value that an event of a store has set. Rejects with `VARIABLE_NOT_FOUND`, also if the value was erased. */
  valueAt(store: string, key: string, revision: number): Promise<Json> {
    return valueAt(this.#ports, store, key, revision)
  }

  /**
   * Erases all values of a variable permanently; `key` null: of all variables. Repeating the call is safe. Rejects with
   * `STORE_UNKNOWN` or `VARIABLE_NOT_FOUND`, and with the errors of the domain's `erase`.
   */
  async erase(store: string, key: string | null, why: ErasureReason, person: ContextPerson): Promise<Submitted> {
    const which = await this.#which(store, key)
    const what = { ...which, ...why, reason: (await this.#ports.hide(why.reason)) as string }
    const asker = { ...person, commandId: `request:${hex(this.#ports.random.bytes(16))}` }
    return erase(this.#ports, context, contextStream(store), what, asker, { forget: async () => {} })
  }

  /** The bodies that {@link erase} would erase now. Rejects with the same errors. */
  async erasable(
    store: string,
    key: string | null,
  ): Promise<{ readonly revision: number; readonly bodies: readonly ErasableBody[] }> {
    return erasable(this.#ports, context, contextStream(store), await this.#which(store, key))
  }

  /** Verifies the chain, the bodies and the digests of a store. Rejects with `STORE_UNKNOWN`. */
  async verify(store: string): Promise<StreamProof> {
    await this.#mustExist(store)
    return verifyStream(this.#ports, context, contextStream(store))
  }

  async #which(store: string, key: string | null): Promise<ErasureChoice> {
    await this.#mustExist(store)
    if (key === null) return { all: true }
    const only = new Set<number>()
    for await (const page of history<ContextEvent>(this.#ports, context, contextStream(store)))
      for (const { event } of page)
        if (event.type === 'variable_set' && event.body.key === key) only.add(event.revision)
    if (only.size === 0) throw variableNotFound(key)
    return { all: true, only }
  }

  async #mustExist(store: string): Promise<void> {
    if ((await this.#ports.log.head(contextStream(store))) === null) throw noStore(store)
  }
}
