import { signal } from '@preact/signals'
import type { EventView } from '../../operations/events/schemas.ts'
import { errorText } from '../client/api.ts'
import { printing, setLoading } from '../parts/printing.ts'

const PAGE = 50
const MOST = 80
/** Parallel requests. The limit leaves connections for other requests. */
const AT_ONCE = 3
/** The time that events must stay visible before they are loaded, in ms. A drag passes many pages. */
const PATIENCE = 40

/** Reads brief views of events from a revision on. `next`: the revision after them; null: none follows yet. */
export type ReadEvents = (query: {
  readonly from: string
  readonly limit: string
  readonly brief: 'true'
}) => Promise<{ readonly events: readonly EventView[]; readonly next: number | null }>

/** Brief views of a stream's events, loaded page by page around the visible ones. */
export class EventCache {
  readonly #read: ReadEvents
  readonly #pages = new Map<number, Map<number, EventView>>()
  readonly #asked = new Set<number>()
  /** Wanted pages by the part of the screen that shows them. */
  readonly #wanted = new Map<string, readonly number[]>()
  readonly #failed = new Set<number>()
  #timer = 0
  /** Changes whenever events arrive. */
  readonly version = signal(0)
  /** The error of the last failed request. */
  readonly fault = signal('')

  constructor(read: ReadEvents) {
    this.#read = read
  }

  get(revision: number): EventView | undefined {
    return this.#pages.get(Math.floor(revision / PAGE))?.get(revision)
  }

  put(event: EventView): void {
    const page = Math.floor(event.revision / PAGE)
    const kept = this.#pages.get(page)
    if (kept === undefined && event.revision % PAGE !== 0) return
    this.#keep(page, new Map([...(kept ?? []), [event.revision, event]]))
  }

  /** Loads the visible events of a part of the screen. Replaces the part's previous request. */
  want(part: string, revisions: readonly number[]): void {
    const missing = revisions.filter((one) => this.get(one) === undefined).map((one) => Math.floor(one / PAGE))
    this.#wanted.set(part, [...new Set(missing)])
    if (missing.length === 0) return this.#report()
    setLoading(this, true)
    for (const page of missing) this.#failed.delete(page)
    clearTimeout(this.#timer)
    this.#timer = window.setTimeout(() => this.#load(), PATIENCE)
  }

  /** Retries failed pages that are still wanted. */
  again(): void {
    this.#failed.clear()
    this.#load()
  }

  #load(): void {
    for (const page of [...this.#wanted.values()].flat()) {
      if (this.#asked.size >= AT_ONCE) return
      if (!this.#asked.has(page) && !this.#failed.has(page)) void this.#ask(page)
    }
  }

  async #ask(page: number): Promise<void> {
    this.#asked.add(page)
    try {
      const found = new Map(this.#pages.get(page))
      for (let from: number | null = page * PAGE; from !== null && from < (page + 1) * PAGE; ) {
        const limit = String((page + 1) * PAGE - from)
        const answer: Awaited<ReturnType<ReadEvents>> = await this.#read({ from: String(from), limit, brief: 'true' })
        for (const event of answer.events) found.set(event.revision, event)
        from = answer.next
      }
      this.#keep(page, found)
      this.fault.value = ''
      for (const [part, pages] of this.#wanted) {
        const left = pages.filter((one) => one !== page)
        this.#wanted.set(part, left)
      }
    } catch (error) {
      this.#failed.add(page)
      this.fault.value = errorText(error)
    } finally {
      this.#asked.delete(page)
      this.#load()
      this.#report()
    }
  }

  #report(): void {
    const isOpen = [...this.#wanted.values()].some((pages) => pages.some((page) => !this.#failed.has(page)))
    setLoading(this, this.#asked.size > 0 || isOpen)
  }

  #keep(page: number, events: Map<number, EventView>): void {
    this.#pages.delete(page)
    this.#pages.set(page, events)
    while (this.#pages.size > MOST && !printing.peek()) this.#pages.delete(this.#pages.keys().next().value as number)
    this.version.value++
  }
}
