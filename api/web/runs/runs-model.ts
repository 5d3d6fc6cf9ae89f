import { signal } from '@preact/signals'
import type { z } from 'zod'
import { take } from '../../http/answers.ts'
import type { RunQuery } from '../../operations/runs/query-schema.ts'
import type { Run, RunList } from '../../operations/runs/schemas.ts'
import { api, errorText } from '../client/api.ts'
import { Throttle } from '../parts/throttle.ts'
import { type Filters, peopleFirst, prependPage } from './filters.ts'

const PAGE = 100
/** The API's maximum page size. */
const MOST = 500
/** The shortest time between two updates, in ms. */
const PAUSE = 400

type RunListAnswer = z.infer<typeof RunList>
type Damaged = RunListAnswer['damaged'][string]

/** The runs that match the filters: those that wait for people first, then the newest, page by page. */
export class RunsModel {
  readonly runs = signal<readonly Run[]>([])
  readonly state = signal<'loading' | 'ready' | 'failed'>('loading')
  readonly fault = signal('')
  /** Runs whose first event cannot be read. */
  readonly damaged = signal<readonly Damaged[]>([])
  /** With a text filter: the newest text of an event of each run that contains it, by run id. */
  readonly matches = signal<RunListAnswer['matches']>({})
  /** The number of runs that wait for a person. */
  readonly waiting = signal(0)
  readonly #filters: Filters
  readonly #throttle = new Throttle(() => this.refresh(), PAUSE)
  #first: readonly Run[] = []
  #known: readonly Run[] = []
  #next: string | null = null
  #reading: Promise<boolean> | null = null
  #over = false

  constructor(filters: Filters) {
    this.#filters = filters
    void this.refresh()
  }

  /** Whether all runs that match are loaded. */
  get isWhole(): boolean {
    return this.state.value === 'ready' && this.#next === null
  }

  /** Reloads the newest runs and the waiting ones. Keeps the pages that a person has loaded by scrolling. */
  async refresh(): Promise<void> {
    try {
      const asks = this.#filters.waiting === undefined
      const [first, page] = await Promise.all([
        asks ? this.#ask({ waiting: 'people', limit: String(MOST) }) : null,
        this.#page({ limit: String(Math.min(MOST, Math.max(PAGE, this.#known.length))) }),
      ])
      this.#first = first?.runs ?? []
      this.damaged.value = Object.values(page.damaged)
      const all = prependPage(page.runs, this.#known)
      if (all.length === page.runs.length) this.#next = page.next
      this.#known = all
      this.#show()
    } catch (error) {
      this.fault.value = errorText(error)
      this.state.value = this.runs.value.length > 0 ? 'ready' : 'failed'
    }
  }

  /** Schedules a reload. Combines many changes into one reload. */
  changed(): void {
    this.#throttle.request()
  }

  /** Loads the next page. Calls during a load wait for that load. False: it failed. */
  more(): Promise<boolean> {
    this.#reading ??= this.#readMore().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  /** All runs that match the filters. Null: they could not be loaded, or the list was closed meanwhile. */
  async all(): Promise<readonly Run[] | null> {
    while (this.#next !== null && !this.#over) if (!(await this.more())) return null
    return this.isWhole && !this.#over ? this.runs.value : null
  }

  async #readMore(): Promise<boolean> {
    if (this.#next === null) return true
    try {
      const page = await this.#page({ limit: String(PAGE), after: this.#next })
      this.#known = [...this.#known, ...page.runs]
      this.#next = page.next
      this.#show()
      return true
    } catch (error) {
      this.fault.value = errorText(error)
      return false
    }
  }

  end(): void {
    this.#over = true
    this.#throttle.stop()
  }

  #show(): void {
    this.runs.value = peopleFirst(this.#first, this.#known)
    this.waiting.value = this.#first.length
    this.state.value = 'ready'
    this.fault.value = ''
  }

  /** The next page that is not empty. With a text filter, a page may be empty and still have a next one. */
  async #page(which: Record<string, string>) {
    for (let page = await this.#ask(which); ; page = await this.#ask({ ...which, after: page.next }))
      if (page.runs.length > 0 || page.next === null || this.#over) return page
  }

  async #ask(more: Record<string, string>) {
    // The filters come from the address, so they may contain any text. The server refuses unknown values.
    const query = { ...this.#filters, ...more } as z.input<typeof RunQuery>
    const page = await take(api.v1.runs.$get({ query }))
    if (this.#filters.text !== undefined) {
      // A text may have been erased since an earlier answer.
      const earlier = { ...this.matches.value }
      for (const { runId } of page.runs) delete earlier[runId]
      this.matches.value = { ...earlier, ...page.matches }
    }
    return page
  }
}
