import { isDeepStrictEqual } from 'node:util'
import { draws } from '../faults/seed.ts'
import { askAny, type Host } from './hosts.ts'
import { Person } from './person.ts'

// Agents and people who edit one document over several processes. They continue when a process dies.

interface Run {
  readonly text: string
}
export interface View {
  readonly revision: number
  readonly frontier: string
  readonly root: string
  readonly blocks: readonly { readonly id: string; readonly hash: string; readonly text: readonly Run[] }[]
}
export interface Scene {
  readonly hosts: readonly Host[]
  readonly documentId: string
  readonly seed: number
  /** Called after each edit that was acknowledged or given up. */
  done(): void
}

/** An agent's request and its acknowledged answer. */
export interface Acknowledged {
  readonly id: string
  readonly by: string
  readonly frontier: string
}
export interface AgentTold {
  readonly applied: Acknowledged[]
  readonly conflicts: string[]
  /** Answers that violate the contract. */
  readonly wrong: string[]
}

const RETRIES = 3
const BLOCKS = 40

/**
 * An agent that makes a number of edits. It reads and sends; after a conflict it reads and sends again with the next
 * id.
 */
export async function agent(scene: Scene, n: number, edits: number): Promise<AgentTold> {
  const draw = draws(scene.seed + n)
  const told: AgentTold = { applied: [], conflicts: [], wrong: [] }
  const by = `agent${n}`
  const route = `/v1/documents/${scene.documentId}`
  const any = () => draw(scene.hosts.length)
  for (let edit = 0; edit < edits; edit++) {
    const first = `${by}-${edit}`
    for (let retry = 0; retry <= RETRIES; retry++) {
      const view = (await (await askAny(scene.hosts, any(), route)).json()) as View
      const id = retry === 0 ? first : `${first}-retry-${retry}`
      const body = JSON.stringify({ client_request_id: id, doc_frontier: view.frontier, ...operation(view, id, draw) })
      const headers = { 'content-type': 'application/json' }
      // A client that lost the answer asks another host with the same id.
      const post = (at: number) =>
        askAny(scene.hosts, at, `${route}/envelopes?by=${by}`, { method: 'POST', body, headers })
      const answer = await post(any())
      const sent = (await answer.json()) as Record<string, unknown>
      if (draw(10) === 0) {
        const again = await post(any())
        if (!isDeepStrictEqual(await again.json(), sent)) told.wrong.push(`${id} was answered in two ways`)
      }
      if (answer.status === 200) {
        told.applied.push({ id, by, frontier: String(sent.applied_frontier) })
        break
      }
      if (answer.status !== 409 || !isConflict(sent)) told.wrong.push(`${id}: ${answer.status} ${JSON.stringify(sent)}`)
      else told.conflicts.push(id)
    }
    scene.done()
  }
  return told
}

const isConflict = ({ code, phase, retryable, current_frontier, failed_preconditions }: Record<string, unknown>) =>
  code === 'AI_PRECONDITION_FAILED' &&
  phase === 'ai_gateway' &&
  retryable === true &&
  typeof current_frontier === 'string' &&
  Array.isArray(failed_preconditions)

/**
 * Replaces one of the first blocks, where all editors meet, or inserts or deletes a block. The number of blocks stays
 * about constant: each agent reads the whole document before each edit, so only the history may grow with the number of
 * edits.
 */
function operation({ blocks }: View, id: string, draw: (below: number) => number) {
  const kind = draw(10)
  const block = blocks[draw(Math.min(blocks.length, kind < 5 ? 8 : blocks.length))]
  const span = block?.id ?? ''
  const preconditions = block === undefined ? [] : [{ span_id: span, if_match_context_hash: block.hash }]
  if (block !== undefined && kind < 7)
    return {
      ops_xml: `<replace_spans><span span_id="${span}">${id} <b>wrote</b></span></replace_spans>`,
      preconditions,
    }
  if (block !== undefined && kind < 9 && blocks.length > BLOCKS)
    return { ops_xml: `<delete_blocks><span span_id="${span}"/></delete_blocks>`, preconditions }
  const ops_xml = `<insert_blocks after="${block === undefined ? 'start' : span}"><p>${id} came</p></insert_blocks>`
  return { ops_xml, preconditions }
}

/**
 * A person with a replica that follows the document's stream of updates. It reconnects to another host when the stream
 * breaks.
 */
export class Peer {
  readonly person: Person
  readonly wrong: string[] = []
  readonly #scene: Scene
  readonly #n: number
  readonly #draw: (below: number) => number
  readonly #over = new AbortController()
  readonly #following: Promise<void>
  #looks = new Set<() => void>()
  seen: number

  private constructor(scene: Scene, n: number, snapshot: Uint8Array, revision: number) {
    this.#scene = scene
    this.#n = n
    this.#draw = draws(scene.seed * 7 + n)
    this.person = new Person(`${1000 + n}`, snapshot)
    this.seen = revision
    this.#following = this.#follow()
  }

  static async open(scene: Scene, n: number): Promise<Peer> {
    const route = `/v1/documents/${scene.documentId}`
    const { revision } = (await (await askAny(scene.hosts, n, route)).json()) as View
    const snapshot = await (await askAny(scene.hosts, n, `${route}?format=loro`)).arrayBuffer()
    return new Peer(scene, n, new Uint8Array(snapshot), revision)
  }

  /** Makes a number of edits and sends each until it is acknowledged. */
  async edits(count: number): Promise<void> {
    const route = `/v1/documents/${this.#scene.documentId}/updates?by=person${this.#n}`
    for (let edit = 0; edit < count; edit++) {
      const body = this.person.change(() => this.#write(edit)) as Uint8Array<ArrayBuffer>
      const headers = { 'content-type': 'application/octet-stream' }
      const answer = await askAny(this.#scene.hosts, this.#draw(9), route, { method: 'POST', body, headers })
      if (answer.status !== 200) this.wrong.push(`person${this.#n}-${edit}: ${answer.status} ${await answer.text()}`)
      this.#scene.done()
    }
  }

  /** Resolves when the peer has seen the stream up to a revision. */
  async upTo(revision: number): Promise<void> {
    while (this.seen < revision) await new Promise<void>((resolve) => this.#looks.add(resolve))
  }

  async close(): Promise<void> {
    this.#over.abort()
    await this.#following
  }

  #write(edit: number): void {
    const { length } = this.person.blocks
    const block = length === 0 ? null : this.person.text(this.#draw(Math.min(length, 8)))
    if (block === null) this.person.doc.getMap('notes').set(`${this.#n}`, edit)
    else block.insert(this.#draw(block.length + 1), `p${this.#n}.${edit} `)
  }

  async #follow(): Promise<void> {
    const { hosts, documentId } = this.#scene
    const { signal } = this.#over
    for (let n = this.#n; !signal.aborted; n++) {
      try {
        const headers = { 'last-event-id': String(this.seen) }
        const answer = await hosts[n % hosts.length]!.ask(`/v1/documents/${documentId}/updates`, { headers, signal })
        let text = ''
        for await (const part of answer.body!.pipeThrough(new TextDecoderStream())) {
          text += part
          const events = text.split('\n\n')
          text = events.pop()!
          for (const event of events) this.#take(event)
        }
      } catch {
        // The process has died, or the test is over.
      }
      await new Promise(setImmediate)
    }
  }

  #take(event: string): void {
    const data = /^data: (.*)$/m.exec(event)?.[1]
    if (data === undefined) return
    const { revision, update } = JSON.parse(data) as { revision: number; update: string }
    this.person.doc.import(Buffer.from(update, 'base64'))
    this.seen = revision
    for (const look of this.#looks) look()
    this.#looks = new Set()
  }
}
