import { signal } from '@preact/signals'
import type { z } from 'zod'
import type { AgentBriefAtPoint } from '../../app/schemas/checkpoints.ts'
import { api, take, told } from '../client/api.ts'

export type Brief = z.infer<typeof AgentBriefAtPoint>

const MOST = 300

/** Folded states by revision: the server folds, this page keeps what it was told. One question at a time; the last one wins. */
export class StateCache {
  readonly #agentId: string
  readonly #known = new Map<number, Brief>()
  #asking = false
  #wanted: number | null = null
  readonly fault = signal('')
  /** The state that was asked for last and is there. */
  readonly current = signal<Brief | null>(null)

  constructor(agentId: string) {
    this.#agentId = agentId
  }

  /** Shows the state after an event as soon as it is there. */
  show(revision: number): void {
    const known = this.#known.get(revision)
    if (known !== undefined) {
      this.#wanted = null
      this.current.value = known
      return
    }
    this.#wanted = revision
    if (!this.#asking) void this.#ask()
  }

  async #ask(): Promise<void> {
    this.#asking = true
    while (this.#wanted !== null) {
      const revision: number = this.#wanted
      this.#wanted = null
      try {
        const query = { event: String(revision) }
        const found: Brief = await take(
          api.v1.agents[':id'].brief.$get({ param: { id: this.#agentId }, query: query as never }),
        )
        this.#known.set(revision, found)
        if (this.#known.size > MOST) this.#known.delete(this.#known.keys().next().value as number)
        this.fault.value = ''
        // The position that was asked for meanwhile comes next; this one is nearer to it than the one on the page.
        this.current.value = found
      } catch (error) {
        this.fault.value = told(error)
      }
    }
    this.#asking = false
  }
}
