import { signal } from '@preact/signals'
import { Refused, take } from '../../../http/answers.ts'
import { api, errorText } from '../../client/api.ts'

/** The result of the proof of a run or a document. */
export interface Proved {
  readonly kind: 'run' | 'document'
  readonly id: string
  readonly ok: boolean
  readonly events: number
  readonly streams: number
  /** Recomputed states that are equal to the recorded digests. */
  readonly digests: number
  readonly erased: number
  readonly losses: number
  readonly problems: readonly string[]
}

const PAGE = '200'

/** Proves runs one after the other until stopped. */
export class Prover {
  readonly state = signal<'idle' | 'works' | 'done' | 'stopped'>('idle')
  readonly done = signal<readonly Proved[]>([])
  /** Null: not known yet. */
  readonly total = signal<number | null>(null)
  readonly now = signal('')
  readonly fault = signal('')
  #over = false

  stop(): void {
    this.#over = true
  }

  /** Proves a run. '' proves all runs and documents. */
  async prove(runId: string): Promise<void> {
    if (this.state.value === 'works') return
    this.#over = false
    this.done.value = []
    this.total.value = null
    this.fault.value = ''
    this.state.value = 'works'
    try {
      const wanted = runId === '' ? await this.#all() : [{ kind: 'run' as const, id: runId }]
      this.total.value = wanted.length
      for (const { kind, id } of wanted) {
        if (this.#over) break
        this.now.value = id
        const asked = kind === 'run' ? runProof(id) : documentProof(id)
        const proved = await (runId === '' ? asked.catch(notRead(kind, id)) : asked)
        this.done.value = [...this.done.value, proved]
      }
    } catch (error) {
      this.fault.value = errorText(error)
    }
    this.now.value = ''
    this.state.value = this.#over || this.fault.value !== '' ? 'stopped' : 'done'
  }

  async #all(): Promise<{ kind: 'run' | 'document'; id: string }[]> {
    const found: { kind: 'run' | 'document'; id: string }[] = []
    for (let after: string | null | undefined; after !== null && !this.#over; ) {
      const query = { limit: PAGE, ...(after === undefined ? {} : { after }) }
      const page: { runs: readonly { runId: string }[]; next: string | null } = await take(api.v1.runs.$get({ query }))
      found.push(...page.runs.map(({ runId }) => ({ kind: 'run' as const, id: runId })))
      after = page.next
    }
    for (let after: string | null | undefined; after !== null && !this.#over; ) {
      const query = { limit: PAGE, ...(after === undefined ? {} : { after }) }
      const page: { documents: readonly { documentId: string }[]; next: string | null } = await take(
        api.v1.documents.$get({ query }),
      )
      found.push(...page.documents.map(({ documentId }) => ({ kind: 'document' as const, id: documentId })))
      after = page.next
    }
    return found
  }
}

/** In a proof of everything, an unreadable run or document counts as not proved, and the proof continues. */
const notRead = (kind: Proved['kind'], id: string) => (error: unknown) => {
  if (!(error instanceof Refused) || error.status === 401) throw error
  const nothing = { events: 0, streams: 0, digests: 0, erased: 0, losses: 0 }
  return { kind, id, ok: false, ...nothing, problems: [`${id}: ${errorText(error)}`] }
}

async function runProof(id: string): Promise<Proved> {
  const { ok, agents, acceptedLosses, parked } = await take(
    api.v1.runs[':id'].verify.$get({ param: { id }, query: {} }),
  )
  const sum = (of: (agent: (typeof agents)[number]) => number) => agents.reduce((all, agent) => all + of(agent), 0)
  return {
    ...{ kind: 'run', id, ok, streams: agents.length, losses: acceptedLosses.length },
    events: sum((agent) => agent.events),
    digests: sum((agent) => agent.digests),
    erased: sum((agent) => agent.erased.length),
    problems: [
      ...agents.flatMap(({ agentId, problems }) =>
        problems.map(({ revision, code, message }) => `${agentId}@${revision} ${code}: ${message}`),
      ),
      ...parked.map(({ stream, revision, error }) => `${stream}@${revision} parked: ${error}`),
    ],
  }
}

async function documentProof(id: string): Promise<Proved> {
  const found = await take(api.v1.documents[':id'].verify.$get({ param: { id } }))
  return {
    ...{ kind: 'document', id, ok: found.ok, streams: 1, losses: 0, events: found.events, digests: found.digests },
    erased: found.erased.length,
    problems: found.problems.map(({ revision, code, message }) => `${revision} ${code}: ${message}`),
  }
}
