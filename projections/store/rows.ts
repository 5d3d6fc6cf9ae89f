import { idOf } from '../../domain/log/owner.ts'
import type { ContextEvent } from '../../domain/store/events.ts'
import { type Change, changesIn } from '../engine/changes/change.ts'
import type { Projected } from '../engine/changes/projection.ts'
import { actorText } from '../engine/text.ts'
import type { contextTables } from './tables.ts'

const { put, set } = changesIn<typeof contextTables>()

const CHANGES: ReadonlySet<string> = new Set(['variable_set', 'variable_deleted'])

/** Changes of `context_stores`, from headers alone. */
export function contextStores({ header, position }: Projected<ContextEvent>): Change[] {
  if (!CHANGES.has(header.type)) return []
  const [at, by] = [header.timestamp, actorText(header.actor)]
  const changed = { updated_at: at, updated_by: by, revision: header.revision }
  const made = { started: position, created_at: at, created_by: by }
  return [put('context_stores', { store: idOf(header.stream) }, changed, made)]
}

/** Changes of `stored_variables`. A deleted variable keeps its row; no row contains a value. */
export function storedVariables({ header, erased, event }: Projected<ContextEvent>): Change[] {
  const { stream, revision, timestamp: at, actor, runId } = header
  const store = idOf(stream)
  if (event?.type === 'variable_deleted') {
    const { key } = event.body
    return [set('stored_variables', { store, key }, { deleted_at: at, deleted_by: actorText(actor) })]
  }
  if (event?.type !== 'variable_set') return []
  const { key, type, bytes } = event.body
  const from = { revision, at, set_by: actorText(actor), run_id: runId ?? null }
  const state = { deleted_at: null, deleted_by: null, erased: erased ? 1 : 0 }
  return [put('stored_variables', { store, key }, { type, bytes, ...from, ...state })]
}
