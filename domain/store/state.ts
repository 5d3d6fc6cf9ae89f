import { canonicalText } from '../log/canonical.ts'
import { sha256 } from '../log/ids.ts'
import { appendRoot, EMPTY_ROOT, type Root } from '../log/root.ts'
import type { VariableRef } from '../ports/variables.ts'
import type { VariableEvent } from './events.ts'
import { EMPTY, entry, type Table, withEntry } from '../stream/table.ts'

/** The location of a variable: its value is in the event at `revision`. */
interface Held {
  readonly ref: VariableRef
  readonly revision: number
}

/** The state of a store. It contains no values, so it stays small. */
export interface ContextState {
  readonly variables: Table<Held>
  /** A root hash over the bodies of all changes in order. The digest covers it instead of every variable. */
  readonly changes: Root
}

/** Increase this when the digested view changes. */
export const STORE_FOLD = 1

const NONE: ContextState = { variables: EMPTY, changes: EMPTY_ROOT }

/** The state after an event. Throws if the event cannot follow. */
export function evolveStore(before: ContextState | null, event: VariableEvent): ContextState {
  const state = before ?? NONE
  const changes = appendRoot(state.changes, event.bodyHash)
  const { key } = event.body
  if (event.type === 'variable_deleted') {
    if (entry(state.variables, key) === undefined) throw new Error(`variable_deleted of a variable that is not set`)
    return { variables: withEntry(state.variables, key, undefined), changes }
  }
  const { type, bytes } = event.body
  const held = { ref: { key, type, bytes }, revision: event.revision }
  return { variables: withEntry(state.variables, key, held), changes }
}

/** Hex SHA-256 over the number of variables and the root of all changes. */
export const storeDigest = ({ variables, changes }: ContextState): string =>
  sha256(`keepup-context-fold-${STORE_FOLD}\n${canonicalText({ variables: variables.size, changes })}`)
