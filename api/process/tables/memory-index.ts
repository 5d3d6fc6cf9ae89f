import type { MemoryIndex } from '../../../domain/ports/index.ts'
import { countMemories, searchMemories } from '../../../projections/index.ts'
import { memoryOf } from '../../operations/memory/memories.ts'
import type { ReadModel } from '../../operations/read-model.ts'

/** The longest time for which a search waits for the tables, in ms. */
const CATCH_UP_MS = 10_000

/** The search index of facts in the tables. A search finds everything in the log at its start. */
export const memoryIndexOf = (read: () => Pick<ReadModel, 'caughtUp' | 'rows'>): MemoryIndex => ({
  async search(places, query, limit) {
    await read().caughtUp(CATCH_UP_MS)
    const { value } = await read().rows((db) => searchMemories(db, places, query, limit + 1))
    const facts = value.slice(0, limit).map((row) => ({ ...memoryOf(row), text: row.text }))
    return { facts, more: value.length > limit }
  },
  count: async (place) => (await read().rows((db) => countMemories(db, place))).value,
})
