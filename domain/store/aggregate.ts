import { canonicalBytes } from '../log/canonical.ts'
import type { Json } from '../log/json.ts'
import { saltBody } from '../log/seal.ts'
import type { Aggregate, Decision, Place, StreamContext } from '../stream/aggregate.ts'
import { UNDRIVEN } from '../stream/undriven.ts'
import { reading } from './codec.ts'
import { ContextError, notFound } from './errors.ts'
import type { BodyOf, ContextEvent, ContextEventType } from './events.ts'
import { type ContextState, digest, evolve, FOLD } from './state.ts'
import { entry } from './table.ts'
import { MAX_VARIABLES, refOf } from './variable.ts'

/** A request to a store. `value`: already checked and redacted. */
export type ContextCommand =
  | { readonly kind: 'set'; readonly key: string; readonly value: Json }
  /** Throws `VARIABLE_NOT_FOUND` if the variable is not set. */
  | { readonly kind: 'delete'; readonly key: string }

/** `runId`: the run that caused the change; absent: no run did. */
export interface ContextRequest extends StreamContext {
  readonly runId?: string
}

/** The stream of a store, without the namespace. */
export const contextStream = (store: string): string => `context-${store}`

/** Stores of context variables (seed 004): the streams `context-<store>`. */
export const context: Aggregate<ContextState, ContextEvent, ContextCommand, ContextRequest> = {
  kind: 'context',
  fold: FOLD,
  ...reading,
  evolve,
  decide,
  digest,
  ...UNDRIVEN,
  reject: (code, message) => new ContextError(code, message),
  erasing: { says: (type) => type === 'variable_set', residue: residueOf, ending },
}

function decide(
  state: ContextState | null,
  { revision }: Place,
  command: ContextCommand,
  { salt, now, by, commandId, correlationId, runId }: ContextRequest,
): Decision<ContextState, ContextEvent> {
  const held = state === null ? undefined : entry(state.variables, command.key)
  if (command.kind === 'delete' && held === undefined) throw notFound(command.key)
  if (command.kind === 'set' && held === undefined && (state?.variables.size ?? 0) >= MAX_VARIABLES)
    throw new ContextError(
      'STORE_FULL',
      `the store holds ${MAX_VARIABLES} variables; delete some, or use another store`,
    )
  const [type, given]: [ContextEventType, unknown] =
    command.kind === 'delete'
      ? ['variable_deleted', { key: command.key }]
      : ['variable_set', { ...refOf(command.key, command.value), value: command.value }]
  const body = saltBody(canonicalBytes(given), salt())
  const event = {
    ...{ type, body: given, revision: revision + 1, at: now, commandId, actor: by, bodyHash: body.header.hash },
    ...(correlationId === undefined ? {} : { correlationId }),
    ...(runId === undefined ? {} : { runId }),
  } as ContextEvent
  const after = evolve(state, event)
  return { drafts: [{ event, body, after, checkpoint: false }], state: after }
}

/** An erased variable keeps its key, type and size. */
export function residueOf(type: string, body: unknown): unknown {
  return type === 'variable_set' ? { ...(body as BodyOf<'variable_set'>), value: null } : body
}

/** Changes do not depend on each other, so each can be erased at any time. */
function ending() {
  return { see() {}, ended: true }
}
