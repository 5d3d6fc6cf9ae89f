import { asJson } from '../../../log/json.ts'
import type { Episode, ResultMemory } from '../../../ports/spawn.ts'
import type { IContextStore } from '../../../ports/variables.ts'
import { Mutex } from '../../../stream/runtime/concurrency.ts'

const PREFIX = 'episode-'
const DIGITS = 8

/** Episodes in a store, under `episode-<number>`. With `keepup.contextStore(name)` they persist across processes. */
export class EpisodicMemory implements ResultMemory {
  readonly #store: IContextStore
  readonly #appending = new Mutex()

  constructor(store: IContextStore) {
    this.#store = store
  }

  append(episode: Episode): Promise<void> {
    return this.#appending.run(async () => {
      const last = (await this.#store.list(PREFIX)).at(-1)
      const next = last === undefined ? 1 : Number(last.key.slice(PREFIX.length)) + 1
      await this.#store.set(`${PREFIX}${String(next).padStart(DIGITS, '0')}`, asJson({ ...episode }))
    })
  }

  /** The last episodes, newest first. With `about`: only episodes that contain every word of it. */
  async recent(most: number, about = ''): Promise<readonly Episode[]> {
    const words = about.toLowerCase().split(/\s+/).filter(Boolean)
    const found: Episode[] = []
    for (const { key } of (await this.#store.list(PREFIX)).toReversed()) {
      if (found.length >= most) break
      const episode = (await this.#store.get(key)) as unknown as Episode
      const text = `${episode.agentId} ${episode.task} ${episode.outcome}`.toLowerCase()
      if (words.every((word) => text.includes(word))) found.push(episode)
    }
    return found
  }
}
