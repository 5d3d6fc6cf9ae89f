import type { Json } from '../log/json.ts'
import { defineKind } from '../stream/define.ts'
import type { Emit } from '../stream/emitter.ts'
import { ContextError, variableNotFound } from './errors.ts'
import { storeBodies } from './events.ts'
import { type ContextState, evolveStore, STORE_FOLD, storeDigest } from './state.ts'
import { entry } from '../stream/table.ts'
import { MAX_VARIABLES, refOf } from './variable.ts'

/** A request to a store. `value`: already checked and redacted. */
export type ContextCommand =
  | { readonly kind: 'set'; readonly key: string; readonly value: Json }
  /** Throws `VARIABLE_NOT_FOUND` if the variable is not set. */
  | { readonly kind: 'delete'; readonly key: string }

/** The stream of a store, without the namespace. */
export const contextStream = (store: string): string => `context-${store}`

/** Stores of context variables (seed 004): the streams `context-<store>`. */
export const context = defineKind({
  kind: 'context',
  noun: 'store',
  bodies: storeBodies,
  fold: STORE_FOLD,
  evolve: evolveStore,
  decide,
  digest: storeDigest,
  // An erased variable keeps its key, type and size. Changes do not depend on each other, so each can be erased at any time.
  residues: { variable_set: (body) => ({ ...body, value: null }) },
  reject: (code, message) => new ContextError(code, message),
})

function decide(state: ContextState | null, command: ContextCommand, emit: Emit<typeof storeBodies>): void {
  const held = state === null ? undefined : entry(state.variables, command.key)
  if (command.kind === 'delete') {
    if (held === undefined) throw variableNotFound(command.key)
    return emit('variable_deleted', { key: command.key })
  }
  if (held === undefined && (state?.variables.size ?? 0) >= MAX_VARIABLES)
    throw new ContextError(
      'STORE_FULL',
      `the store holds ${MAX_VARIABLES} variables; delete some, or use another store`,
    )
  emit('variable_set', { ...refOf(command.key, command.value), value: command.value })
}
