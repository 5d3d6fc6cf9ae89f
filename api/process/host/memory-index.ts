import type { MemoryIndex } from '../../../domain/ports/index.ts'
import type { ReadModel } from '../../operations/read-model.ts'

/** How long a search waits for the tables, ms. */
const CATCH_UP_MS = 10_000

/** The index of facts over the tables: a search shows all that the log holds when it begins. */
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
