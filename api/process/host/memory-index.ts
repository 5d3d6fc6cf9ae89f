import type { MemoryIndex } from '../../../domain/ports/index.ts'
import type { ReadModel } from '../../operations/read-model.ts'

/** The longest time for which a search waits for the tables, in ms. */
const CATCH_UP_MS = 10_000

/** The search index of facts in the tables. A search finds everything in the log at its start. */
export const memoryIndexOf = (
  read: () => Pick<ReadModel, 'caughtUp' | 'foundMemories' | 'countedMemories'>,
): MemoryIndex => ({
  async search(places, query, limit) {
    await read().caughtUp(CATCH_UP_MS)
    const { value } = await read().foundMemories(places, query, limit + 1)
    const facts = value.slice(0, limit).flatMap(({ text, ...fact }) => (text === null ? [] : [{ ...fact, text }]))
    return { facts, more: value.length > limit }
  },
  count: (place) => read().countedMemories(place),
})
