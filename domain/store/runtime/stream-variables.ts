import type { Actor } from '../../log/envelope.ts'
import { base32 } from '../../log/ids.ts'
import type { Json, JsonObject } from '../../log/json.ts'
import type { Caused, VariableRef } from '../../ports/variables.ts'
import type { CausedContext } from '../../stream/emitter.ts'
import { history } from '../../stream/runtime/history.ts'
import { Mailbox } from '../../stream/runtime/mailbox.ts'
import type { Stores, StreamPorts } from '../../stream/runtime/ports.ts'
import { Snapshots } from '../../stream/runtime/snapshots.ts'
import { entries, entry } from '../../stream/table.ts'
import { type ContextCommand, context, contextStream } from '../aggregate.ts'
import { ContextError, variableNotFound } from '../errors.ts'
import type { ContextEvent } from '../events.ts'
import type { ContextState } from '../state.ts'
import { STORE_NAME } from '../variable.ts'
import type { Variables } from './variables.ts'

/** The author of changes. As a function: checks the rights before each read and change, and rejects without them. */
export type Author = Actor | ((change: boolean) => Promise<Actor>)

export interface StreamVariablesOptions {
  readonly ports: StreamPorts
  /** The store's name: lower-case letters, digits, "-" and "_". */
  readonly store: string
  readonly by: Author
  /** Redacts secrets. Resolves when the references are durable. */
  hide(value: Json): Promise<Json>
}

/** Variables in the log: the stream `context-<store>`. A change is durable when its promise resolves. */
export class StreamVariables implements Variables {
  readonly store: string
  readonly #options: StreamVariablesOptions
  readonly #mailbox: Mailbox<ContextState, ContextEvent, ContextCommand, CausedContext>

  /** Throws `INVALID_VARIABLE` for an invalid name. */
  constructor(options: StreamVariablesOptions) {
    const { store, ports } = options
    if (!STORE_NAME.test(store))
      throw new ContextError(
        'INVALID_VARIABLE',
        'the name of a store has 1 to 64 small letters, digits, "-" and "_", and begins with a letter or digit',
      )
    this.store = store
    this.#options = options
    const { snapshots: _, ...rest } = ports
    this.#mailbox = new Mailbox(context, NO_SNAPSHOTS, contextStream(store), rest)
  }

  async set({ key }: VariableRef, given: Json, caused: Caused = {}): Promise<void> {
    // Redact key and value together: some keys mark their value as a secret.
    const [[shown, value] = [key, null]] = Object.entries((await this.#options.hide({ [key]: given })) as JsonObject)
    if (shown !== key)
      throw new ContextError('INVALID_VARIABLE', 'the key of a variable holds the value of a secret; use another key')
    await this.#submit({ kind: 'set', key, value }, caused)
  }

  async delete(key: string): Promise<void> {
    await this.#submit({ kind: 'delete', key })
  }

  async ref(key: string): Promise<VariableRef | undefined> {
    const state = await this.#state()
    return state === null ? undefined : entry(state.variables, key)?.ref
  }

  async refs(): Promise<readonly VariableRef[]> {
    const state = await this.#state()
    return state === null ? [] : entries(state.variables).map(({ ref }) => ref)
  }

  async get(key: string): Promise<Json | undefined> {
    const state = await this.#state()
    const held = state === null ? undefined : entry(state.variables, key)
    return held && valueAt(this.#options.ports, this.store, key, held.revision)
  }

  async #author(change: boolean): Promise<Actor> {
    const { by } = this.#options
    return typeof by === 'function' ? by(change) : by
  }

  async #state(): Promise<ContextState | null> {
    await this.#author(false)
    await this.#mailbox.refresh()
    return this.#mailbox.state
  }

  async #submit(command: ContextCommand, { runId }: Caused = {}): Promise<void> {
    const by = await this.#author(true)
    const { ports } = this.#options
    const commandId = `${this.store}.${command.kind}.${base32(ports.random.bytes(10))}`
    await this.#mailbox.submit(command, { by, commandId, ...(runId !== undefined && { runId }) }, { fact: false })
  }
}

/**
 * The value that an event has set. Rejects with `VARIABLE_NOT_FOUND` if the value was erased, or if the event did not
 * set this key.
 */
export async function valueAt(stores: Stores, store: string, key: string, revision: number): Promise<Json> {
  const at = { from: revision, to: revision }
  for await (const page of history<ContextEvent>(stores, context, contextStream(store), at))
    for (const { event, recorded } of page) {
      if (event.type !== 'variable_set' || event.body.key !== key) continue
      if (!recorded.erased) return event.body.value
      throw new ContextError('VARIABLE_NOT_FOUND', `the value of "${key}" was erased; set it again`)
    }
  throw variableNotFound(key)
}

/** The state is small and contains no values, so loading folds all events and needs no snapshots. */
const NO_SNAPSHOTS = new Snapshots<ContextState, ContextEvent>(context, {
  members: [],
  keep: (state) => state,
  step: () => 0,
  whole: async () => null,
})
