import { idOf } from '../../domain/log/owner.ts'
import { type Change, put, set } from '../engine/changes/change.ts'
import { actorText } from '../engine/text.ts'
import type { ProjectedContextEvent } from './event.ts'

const CHANGES: ReadonlySet<string> = new Set(['variable_set', 'variable_deleted'])

/** Changes of `context_stores`, from headers alone. */
export function contextStores({ header, position }: ProjectedContextEvent): Change[] {
  if (!CHANGES.has(header.type)) return []
  const [at, by] = [header.timestamp, actorText(header.actor)]
  const changed = { updated_at: at, updated_by: by, revision: header.revision }
  const made = { started: position, created_at: at, created_by: by }
  return [put('context_stores', { store: idOf(header.stream) }, changed, made)]
}

/** Changes of `stored_variables`. A deleted variable keeps its row; no row contains a value. */
export function storedVariables({ header, erased, event }: ProjectedContextEvent): Change[] {
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
