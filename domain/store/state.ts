import { canonicalText } from '../log/canonical.ts'
import { sha256 } from '../log/ids.ts'
import { append, EMPTY_ROOT, type Root } from '../log/root.ts'
import type { ContextEvent } from './events.ts'
import { EMPTY, entry, type Table, withEntry } from './table.ts'
import type { VariableRef } from './variable.ts'

/** Where a variable is: its value is in the event at `revision`. `erased`: that body was emptied. */
export interface Held {
  readonly ref: VariableRef
  readonly revision: number
}

/** The state of a store. It holds no value, so that it stays small. */
export interface ContextState {
  readonly variables: Table<Held>
  /** Over the bodies of all changes in order: the digest commits to them without a look at every variable. */
  readonly changes: Root
}

/** Raise it where the digested view changes. */
export const FOLD = 1

const NONE: ContextState = { variables: EMPTY, changes: EMPTY_ROOT }

/** The state after an event. Throws where the event is impossible in this state. */
export function evolve(before: ContextState | null, event: ContextEvent): ContextState {
  const state = before ?? NONE
  if (event.type === 'residue' || event.type === 'erased') return state
  const changes = append(state.changes, event.bodyHash)
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
export const digest = ({ variables, changes }: ContextState): string =>
  sha256(`keepup-context-fold-${FOLD}\n${canonicalText({ variables: variables.size, changes })}`)
