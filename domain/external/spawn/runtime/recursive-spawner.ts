import type { VariableRef } from '../../../ports/variables.ts'
import { Semaphore } from '../../../stream/runtime/concurrency.ts'
import { type Agent, type AgentConfig, type AgentResult, type AgentStatus, resultKey } from '../agent.ts'
import { SpawnError } from '../errors.ts'
import {
  type ChildResult,
  concatenated,
  cutTo,
  type Merged,
  type MergeName,
  merge,
  SUMMARY_CHARACTERS,
} from '../merge.ts'
import type { AgentRuntime } from './agent-runtime.ts'

/** A named merge or a custom function. */
export type MergeStrategy = MergeName | ((children: readonly ChildResult[]) => unknown)

/** The runtime and the limits of a {@link RecursiveSpawner}. */
export interface RecursiveSpawnerOptions {
  readonly runtime: AgentRuntime
  /** The maximum depth of children; an agent without a parent has depth 0. Default: 3. */
  readonly maxDepth?: number
  /** The maximum number of running agents, without agents that wait for their children. Default: 3. */
  readonly maxConcurrent?: number
  /** Summarises all answers. If it is absent or fails, the summary is the start of each answer. */
  readonly summarizer?: (text: string) => Promise<string>
}

/**
 * The result of a spawned agent. `return` gives `result`, `store` gives `ref`, `merge` gives neither. A cancelled agent
 * with `store` gives `result`.
 */
export interface Spawned {
  readonly agentId: string
  readonly status: AgentStatus
  readonly result?: AgentResult
  readonly ref?: VariableRef
}

interface Node {
  readonly agent: Agent
  readonly depth: number
  readonly parent: Node | null
  readonly children: Node[]
  result: AgentResult | null
  /** Settles when the agent has ended. */
  over: Promise<unknown>
  atWork: boolean
  /** The number of children that the agent waits for; `loan`: ends the loan of its slot. */
  waiting: number
  loan: { readonly end: () => void; readonly back: Promise<void> } | null
}

/** Runs agents with children, up to a depth and a number of concurrent agents (seed 004). */
export class RecursiveSpawner {
  readonly #options: RecursiveSpawnerOptions
  readonly #maxDepth: number
  readonly #places: Semaphore
  readonly #nodes = new Map<string, Node>()

  constructor(options: RecursiveSpawnerOptions) {
    this.#options = options
    this.#maxDepth = options.maxDepth ?? 3
    this.#places = new Semaphore(options.maxConcurrent ?? 3)
  }

  /**
   * Runs an agent, below its parent if it has one. Rejects with `DEPTH_LIMIT`, with `UNKNOWN_AGENT` for a parent that
   * this spawner has not run, and with the errors of `AgentRuntime.create` and `run`.
   */
  async spawn(config: AgentConfig): Promise<Spawned> {
    const node = this.#add(config)
    const run = () => this.#places.run(() => this.#run(node))
    node.over = node.parent === null ? run() : this.#below(node.parent, run)
    const result = (await node.over) as AgentResult
    const { id: agentId, status } = node.agent
    const { onComplete = 'return' } = config
    if (onComplete === 'merge' || status === 'cancelled')
      return { agentId, status, ...(onComplete !== 'merge' && { result }) }
    if (onComplete === 'return') return { agentId, status, result: this.#whole(node) }
    return { agentId, status, ref: await this.#options.runtime.store.ref(resultKey(agentId)) }
  }

  /**
   * Runs children with `onComplete: merge`, and merges the results of all the parent's children with `onComplete:
   * merge`. A child that the provider did not begin is missing from the merge like a failed one; nothing is stored for
   * it, so it can be resumed or ended. Rejects with the errors of {@link spawn} for other children that cannot run.
   */
  async spawnAll(
    parentId: string,
    configs: readonly Omit<AgentConfig, 'parentId' | 'onComplete'>[],
    strategy: MergeStrategy = 'concatenate',
  ): Promise<Merged> {
    const all = configs.map((config) => this.spawn({ ...config, parentId, onComplete: 'merge' }))
    const failed = (await Promise.allSettled(all)).find(
      (one, i) => one.status === 'rejected' && !isNotBegun(one.reason, configs[i]!.id),
    )
    if (failed?.status === 'rejected') throw failed.reason
    return this.merge(parentId, strategy)
  }

  /** Waits for a parent's children with `onComplete: merge`, and merges their results in spawn order. */
  async merge(parentId: string, strategy: MergeStrategy = 'concatenate'): Promise<Merged> {
    const nodes = this.#node(parentId).children.filter(({ agent }) => agent.config.onComplete === 'merge')
    await Promise.allSettled(nodes.map(({ over }) => over))
    const children = nodes.map(childResult)
    if (typeof strategy === 'function')
      return { result: await strategy(children), missing: merge('structured', children).missing }
    const merged = merge(strategy, children)
    return strategy === 'summarize' ? { ...merged, result: await this.#summary(children, merged.result) } : merged
  }

  /** The results of an agent's ended children, each with the results of its own children. */
  children(parentId: string): readonly AgentResult[] {
    return this.#whole(this.#node(parentId)).children
  }

  /** The depth of an agent. 0: it has no parent. */
  depth(id: string): number {
    return this.#node(id).depth
  }

  /** Cancels an agent and all its descendants. */
  async cancel(id: string): Promise<void> {
    const below = (node: Node): Node[] => [node, ...node.children.flatMap(below)]
    await Promise.all(below(this.#node(id)).map(({ agent }) => this.#options.runtime.cancel(agent.id)))
  }

  #add(config: AgentConfig): Node {
    const parent = config.parentId === undefined ? null : this.#node(config.parentId)
    const depth = parent === null ? 0 : parent.depth + 1
    if (depth > this.#maxDepth)
      throw new SpawnError(
        'DEPTH_LIMIT',
        `"${config.id}" would have depth ${depth}, and ${this.#maxDepth} is the deepest; let its parent do the work`,
      )
    const agent = this.#options.runtime.create(config)
    const node: Node = {
      ...{ agent, depth, parent, children: [], result: null },
      ...{ over: Promise.resolve(), atWork: false, waiting: 0, loan: null },
    }
    this.#nodes.set(agent.id, node)
    parent?.children.push(node)
    return node
  }

  async #run(node: Node): Promise<AgentResult> {
    node.atWork = true
    try {
      node.result = await this.#options.runtime.run(node.agent)
      return node.result
    } finally {
      node.atWork = false
    }
  }

  /**
   * A running parent lends its slot while it waits for children. Otherwise waiting parents could block their children.
   */
  async #below<T>(parent: Node, work: () => Promise<T>): Promise<T> {
    if (!parent.atWork) return work()
    if (parent.waiting++ === 0) {
      const idle = Promise.withResolvers<void>()
      // Lend the slot again only after the previous loan returned it.
      const free = parent.loan?.back ?? Promise.resolve()
      parent.loan = { end: idle.resolve, back: free.then(() => this.#places.lend(() => idle.promise)) }
    }
    const loan = parent.loan!
    try {
      return await work()
    } finally {
      if (--parent.waiting === 0) loan.end()
      if (parent.waiting === 0) await loan.back
    }
  }

  async #summary(children: readonly ChildResult[], beginnings: unknown): Promise<unknown> {
    const { summarizer } = this.#options
    const text = concatenated(children)
    if (summarizer === undefined || text.length <= SUMMARY_CHARACTERS) return beginnings
    return summarizer(text).then(
      (summary) => cutTo(String(summary), SUMMARY_CHARACTERS),
      () => beginnings,
    )
  }

  #whole(node: Node): AgentResult {
    const children = node.children.filter(({ result }) => result !== null).map((child) => this.#whole(child))
    const { agent } = node
    const own = { agentId: agent.id, result: agent.result, tokenUsage: agent.tokenUsage, iterations: agent.iterations }
    return { ...own, ...node.result, children }
  }

  #node(id: string): Node {
    const node = this.#nodes.get(id)
    if (node !== undefined) return node
    throw new SpawnError('UNKNOWN_AGENT', `this spawner has run no agent "${id}"; spawn it first`)
  }
}

const isNotBegun = (error: unknown, id: string): boolean => error instanceof SpawnError && error.notBegun === id

const childResult = ({ agent: { id: agentId, status, result } }: Node): ChildResult => ({
  agentId,
  status: status === 'completed' || status === 'cancelled' ? status : 'failed',
  result: status === 'cancelled' ? '' : result,
})
