import { signal } from '@preact/signals'
import type { Run } from '../../app/schemas/runs.ts'
import { api, take, told } from '../client/api.ts'
import { type Filters, peopleFirst } from './filters.ts'

const PAGE = 100
/** Changes are looked up at most so often, ms. */
const PAUSE = 400

/** The runs that filters let through: those that wait for people first, the rest by age, page by page. */
export class RunsModel {
  readonly runs = signal<readonly Run[]>([])
  readonly state = signal<'loading' | 'ready' | 'failed'>('loading')
  readonly fault = signal('')
  /** How many of the runs wait for a person. */
  readonly waiting = signal(0)
  readonly #filters: Filters
  #first: readonly Run[] = []
  #pages: Run[][] = []
  #next: string | null = null
  #busy = false
  #timer = 0

  constructor(filters: Filters) {
    this.#filters = filters
    void this.refresh()
  }

  get isWhole(): boolean {
    return this.#next === null
  }

  /** Looks up the newest runs and those that wait; pages that a person has scrolled to stay. */
  async refresh(): Promise<void> {
    try {
      const asks = this.#filters.waiting === undefined
      const [first, page] = await Promise.all([
        asks ? this.#ask({ waiting: 'people', limit: '500' }) : null,
        this.#ask({ limit: String(PAGE) }),
      ])
      this.#first = first?.runs ?? []
      const before = this.#pages[0]?.at(-1)?.runId
      const isSame = this.#pages.length > 1 && before === page.runs.at(-1)?.runId
      this.#pages = isSame ? [page.runs, ...this.#pages.slice(1)] : [page.runs]
      if (!isSame) this.#next = page.next
      this.#show()
    } catch (error) {
      this.fault.value = told(error)
      this.state.value = this.runs.value.length > 0 ? 'ready' : 'failed'
    }
  }

  /** Looks up again soon; many changes at once are one look. */
  changed(): void {
    if (this.#timer !== 0) return
    this.#timer = window.setTimeout(() => {
      this.#timer = 0
      void this.refresh()
    }, PAUSE)
  }

  /** The next page, where there is one. */
  async more(): Promise<void> {
    if (this.#busy || this.#next === null) return
    this.#busy = true
    try {
      const page = await this.#ask({ limit: String(PAGE), after: this.#next })
      this.#pages = [...this.#pages, page.runs]
      this.#next = page.next
      this.#show()
    } catch (error) {
      this.fault.value = told(error)
    } finally {
      this.#busy = false
    }
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#timer = -1
  }

  #show(): void {
    this.runs.value = peopleFirst(this.#first, this.#pages.flat())
    this.waiting.value = this.#first.length
    this.state.value = 'ready'
    this.fault.value = ''
  }

  #ask(more: Record<string, string>) {
    return take(api.v1.runs.$get({ query: { ...this.#filters, ...more } as never }))
  }
}
