import type { Row } from '../../../projections/engine/schema/tables.ts'
import type { ContextStoreRow } from '../../../projections/index.ts'
import type { DocumentSummary } from '../../operations/document/schemas.ts'
import type { Memory } from '../../operations/memory/schemas.ts'
import type { StoredVariable, StoreSummary } from '../../operations/store/schemas.ts'

// Converts rows of streams without a run to the form of the API.

export function documentRow(row: Row<'documents'>): DocumentSummary {
  return {
    documentId: row.id,
    title: row.title,
    source: row.source as DocumentSummary['source'],
    revision: row.revision,
    frontier: row.frontier,
    createdAt: row.created_at,
    createdBy: row.created_by,
    updatedAt: row.updated_at,
    updatedBy: row.updated_by,
    incompleteFrom: row.incomplete_from,
  }
}

export function memoryRow(row: Row<'memories'>): Memory {
  return {
    id: row.id,
    scope: row.scope as Memory['scope'],
    place: row.place,
    text: row.text,
    runId: row.run_id,
    toolCallId: row.tool_call_id,
    createdAt: row.created_at,
    createdBy: row.created_by,
    updatedAt: row.updated_at,
    updatedBy: row.updated_by,
    revision: row.revision,
    forgottenAt: row.forgotten_at,
    incompleteFrom: row.incomplete_from,
  }
}

export function contextStoreRow(row: ContextStoreRow): StoreSummary {
  return {
    store: row.store,
    variables: row.variables,
    bytes: row.bytes,
    revision: row.revision,
    createdAt: row.created_at,
    createdBy: row.created_by,
    updatedAt: row.updated_at,
    updatedBy: row.updated_by,
    incompleteFrom: row.incomplete_from,
  }
}

export function storedVariableRow(row: Row<'stored_variables'>): StoredVariable {
  return {
    key: row.key,
    type: row.type as StoredVariable['type'],
    bytes: row.bytes,
    revision: row.revision,
    at: row.at,
    setBy: row.set_by,
    runId: row.run_id,
    deletedAt: row.deleted_at,
    deletedBy: row.deleted_by,
    erased: row.erased === 1,
  }
}
