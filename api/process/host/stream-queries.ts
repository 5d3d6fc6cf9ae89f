import { documentStream } from '../../../domain/document/stream/aggregate.ts'
import { memoryStream } from '../../../domain/memory/fact.ts'
import {
  countMemories,
  listContextStores,
  listDocuments,
  listMemories,
  listStoredVariables,
  searchMemories,
  showContextStore,
  showMemory,
  showStoredVariable,
} from '../../../projections/index.ts'
import type { ReadModel } from '../../operations/read-model.ts'
import { contextStoreRow, documentRow, memoryRow, storedVariableRow } from './stream-rows.ts'
import type { Ask, Tables } from './table-answers.ts'

interface Asking {
  readonly ask: Ask
  placeOf(after: string | undefined): Promise<number | undefined>
  cursorIn(stream: string, revision: number): Promise<string | null>
}

type Questions = Pick<
  ReadModel,
  | 'documents'
  | 'memories'
  | 'foundMemories'
  | 'memory'
  | 'countedMemories'
  | 'contextStores'
  | 'contextStore'
  | 'storedVariable'
>

/** Queries about streams without a run: documents, facts, and stores of variables. */
export const ownerlessQuestions = ({ ask, placeOf, cursorIn }: Asking, tables: Pick<Tables, 'read'>): Questions => ({
  async documents({ after, limit }) {
    const place = await placeOf(after)
    return ask(
      (db) => listDocuments(db, { limit: limit + 1, ...(place === undefined ? {} : { after: place }) }),
      async (found) => {
        const page = found.slice(0, limit)
        const last = found.length > limit ? page.at(-1) : undefined
        return { documents: page.map(documentRow), next: last ? await cursorIn(documentStream(last.id), 0) : null }
      },
    )
  },
  async memories({ after, limit, ...which }) {
    const place = await placeOf(after)
    return ask(
      (db) => listMemories(db, { ...which, limit: limit + 1, after: place }),
      async (found) => {
        const page = found.slice(0, limit)
        const last = found.length > limit ? page.at(-1) : undefined
        return { memories: page.map(memoryRow), next: last ? await cursorIn(memoryStream(last.id), 0) : null }
      },
    )
  },
  foundMemories: (places, query, limit) =>
    ask(
      (db) => searchMemories(db, places, query, limit),
      (found) => found.map(memoryRow),
    ),
  memory: (id) =>
    ask(
      (db) => showMemory(db, id),
      (row) => (row === undefined ? null : memoryRow(row)),
    ),
  contextStores: (which) =>
    ask(
      (db) => listContextStores(db, which),
      (found) => found.map(contextStoreRow),
    ),
  contextStore: (store, which) =>
    ask(
      async (db) => {
        const found = await showContextStore(db, store)
        return found && { found, variables: await listStoredVariables(db, { store, ...which }) }
      },
      (shown) =>
        shown === undefined
          ? null
          : { store: contextStoreRow(shown.found), variables: shown.variables.map(storedVariableRow) },
    ),
  storedVariable: (store, key) =>
    ask(
      (db) => showStoredVariable(db, store, key),
      (row) => (row === undefined ? null : storedVariableRow(row)),
    ),
  countedMemories: async (place) => (await tables.read((db) => countMemories(db, place))).data,
})
