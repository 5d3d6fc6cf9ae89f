import { signal } from '@preact/signals'
import type { z } from 'zod'
import { annotationStream } from '../../../domain/annotation/limits.ts'
import { take } from '../../http/answers.ts'
import type { EventView } from '../../operations/events/schemas.ts'
import type { RunDetail, RunTree } from '../../operations/runs/schemas.ts'
import { api, errorText } from '../client/api.ts'
import type { News } from '../client/feed-hub.ts'
import { short } from '../parts/format.ts'
import { Throttle } from '../parts/throttle.ts'
import { AgentModel } from './agent-model.ts'
import { type States, statesOf, type Trees, treesOf } from './states-at-position.ts'

export type Detail = z.infer<typeof RunDetail>
export type TreeNode = RunTree['agents'][number]

/** A name for people: the role or the kind of the agent. */
export const agentName = ({ role, backend, depth, agentId }: TreeNode): string =>
  role ?? backend ?? (depth === 0 ? 'root agent' : short(agentId))

const PAUSE = 250

/** A run on the page: its current state and its agents. An agent is loaded when the page first shows it. */
export class RunModel {
  readonly runId: string
  readonly detail = signal<Detail | null>(null)
  readonly tree = signal<RunTree | null>(null)
  readonly fault = signal('')
  readonly #agents = new Map<string, AgentModel>()
  readonly #states = new Map<string, States>()
  readonly #trees = new Map<string, Trees>()
  readonly #throttle = new Throttle(() => this.refresh(), PAUSE)

  constructor(runId: string) {
    this.runId = runId
    void this.refresh()
  }

  agent(agentId: string): AgentModel {
    const known = this.#agents.get(agentId) ?? new AgentModel(agentId)
    this.#agents.set(agentId, known)
    return known
  }

  states(agentId: string): States {
    const known = this.#states.get(agentId) ?? statesOf(agentId)
    this.#states.set(agentId, known)
    return known
  }

  /** The state of all agents at the events of one agent. */
  trees(agentId: string): Trees {
    const known = this.#trees.get(agentId) ?? treesOf(this.runId, agentId)
    this.#trees.set(agentId, known)
    return known
  }

  /** False: an external agent, whose events keepup records without a state. Null: not known yet. */
  governs(agentId: string): boolean | null {
    const node = this.tree.value?.agents.find((one) => one.agentId === agentId)
    if (node !== undefined) return !node.ungoverned
    return this.detail.value === null ? null : !this.detail.value.run.ungoverned
  }

  /** True if a URL names an agent of another run. False also while the tree is not loaded. */
  isStranger(agentId: string): boolean {
    const tree = this.tree.value
    if (tree === null || agentId === this.runId) return false
    return ![...tree.agents, ...tree.recorded].some((one) => one.agentId === agentId)
  }

  async refresh(): Promise<void> {
    try {
      const param = { id: this.runId }
      this.detail.value = await take(api.v1.runs[':id'].$get({ param }))
      this.tree.value = await take(api.v1.runs[':id'].tree.$get({ param }))
      this.fault.value = ''
    } catch (error) {
      this.fault.value = errorText(error)
    }
  }

  hear(event: EventView): void {
    if (event.stream === annotationStream(this.runId)) this.#throttle.request()
    if (event.runId !== this.runId) return
    for (const agent of this.#agents.values()) agent.hear(event)
    this.#throttle.request()
  }

  hearNews(news: News): void {
    if (news.runId !== this.runId) return
    for (const agent of this.#agents.values()) agent.hearNews(news)
    if (news.kind === 'drive') this.#throttle.request()
  }

  /** Reads everything missed during a lost connection. */
  catchUp(): void {
    for (const agent of this.#agents.values()) agent.catchUp()
    for (const told of [...this.#states.values(), ...this.#trees.values()]) told.again()
    this.#throttle.request()
  }

  end(): void {
    this.#throttle.stop()
  }
}
