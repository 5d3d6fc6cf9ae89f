import type { z } from 'zod'
import type { Services } from '../services.ts'
import { correctMemory, forgetMemory, listMemories, memoryHistory } from './memories.ts'
import {
  CorrectMemory,
  ForgetMemory,
  type Memory,
  type MemoryChanged,
  type MemoryHistory,
  MemoryQuery,
} from './schemas.ts'

/** Filters for facts, with the names of `GET /v1/memories`. `q`: the best 500 matches. */
export type MemoriesWanted = Pick<z.input<typeof MemoryQuery>, 'scope' | 'place' | 'q'> & {
  /** Include forgotten facts, without their text. */
  readonly forgotten?: boolean
}

/** Operations on the facts that agents have saved, for people. Methods reject with errors that have a stable `code`. */
export interface KeptMemories {
  /** Facts, the latest first. With `q`, the best matches first. */
  list(wanted?: MemoriesWanted): AsyncIterable<Memory>
  /** A fact with its history. */
  show(id: string): Promise<MemoryHistory>
  /** Changes the text of a fact. The previous text stays in the log. */
  correct(id: string, text: string, by?: string): Promise<MemoryChanged>
  /** Hides the fact from agents. `erase`: also erases its text in the log permanently. */
  forget(id: string, how?: z.input<typeof ForgetMemory>): Promise<MemoryChanged>
}

type Parse = <T extends z.ZodType>(schema: T, value: unknown) => z.output<T>

/** `asker`: the default person of commands. */
export const memoriesOf = (s: Services, parsed: Parse, asker: (said?: string) => string): KeptMemories => ({
  async *list({ forgotten, ...wanted } = {}) {
    const which = { ...wanted, limit: '500', ...(forgotten === true ? { forgotten: 'true' } : {}) }
    await s.read.caughtUp()
    for (let after: string | null | undefined; after !== null; ) {
      const page = await listMemories(s, parsed(MemoryQuery, after ? { ...which, after } : which))
      yield* page.memories
      after = page.next
    }
  },
  async show(id) {
    await s.read.caughtUp()
    return memoryHistory(s, id)
  },
  correct: async (id, text, by) => correctMemory(s, id, parsed(CorrectMemory, { text, by: asker(by) }), {}),
  forget: async (id, how = {}) => forgetMemory(s, id, parsed(ForgetMemory, { ...how, by: asker(how.by) }), {}),
})
