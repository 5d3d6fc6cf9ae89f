import { erasedBefore, KEPT, type Kept, type Retention } from '../../../domain/access/keeping.ts'
import { aggregateOf } from '../../../domain/kinds.ts'
import type { Actor } from '../../../domain/log/envelope.ts'
import { eraseImpossible } from '../../../domain/log/erased.ts'
import { hex } from '../../../domain/log/ids.ts'
import { idOf, kindOf } from '../../../domain/log/owner.ts'
import type { ErasableBody } from '../../../domain/stream/runtime/erasure/types.ts'
import { streamOfAgent } from '../../../domain/tree/runtime/stream-of-agent.ts'
import { type Aged, type AgedKind, type AgedPlace, agedSubjects } from '../../../projections/index.ts'
import { asProblem } from '../problem.ts'
import { agentsOf } from '../runs/agents-of.ts'
import { eraseRun } from '../runs/erase-run.ts'
import { mustWrite } from '../runs/record-command.ts'
import type { Services } from '../services.ts'
import type { Sweep } from './schemas.ts'

/** The actor of an erasure by policy. */
const RETENTION: Actor = { kind: 'system', id: 'retention' }
const PAGE = 200

interface Sweeping {
  readonly dryRun: boolean
  /** The most subjects to erase. */
  readonly limit: number
  /** Ends the sweep before the next subject. */
  readonly signal?: AbortSignal
  /** Subjects in which an earlier sweep found nothing to erase. This sweep adds its own. */
  readonly empty?: Set<string>
}

type Text = Pick<ErasableBody, 'revision' | 'size'>

/** The bodies of one agent or stream that a sweep erases. */
interface Part {
  readonly stream: string
  readonly bodies: readonly Text[]
}

/**
 * Erases the texts of subjects that are older than their retention, oldest first. Leaves out what a hold covers, what
 * has not ended, and what the person who set the retention released from a hold, if duties are separate. Two sweeps at
 * a time are harmless. Rejects with ERASE_IMPOSSIBLE if the log cannot erase.
 */
export async function sweepRetention(
  s: Services,
  { dryRun, limit, signal, empty = new Set() }: Sweeping,
): Promise<Sweep> {
  if (!dryRun) mustWrite(s)
  if (!s.log.erases) throw eraseImpossible()
  const state = await s.keeping.state()
  if (KEPT.some((of) => erasedBefore(state, of, s.clock.now()) !== null)) await s.read.caughtUp()
  const erased: Sweep['erased'][number][] = []
  const spared: Sweep['spared'][number][] = []
  for (const of of KEPT) {
    const until = erasedBefore(state, of, s.clock.now())
    if (until === null) continue
    const before = new Date(until).toISOString()
    for await (const one of aged(s, of, before)) {
      const { id, since, revision } = one
      const name = `${one.stream}@${revision ?? 'end'}`
      if (empty.has(name)) continue
      try {
        const parts = await partsOf(s, of, one, state.retention[of]!)
        const bodies = parts.flatMap((part) => part.bodies)
        if (bodies.length === 0) {
          empty.add(name)
          continue
        }
        if (erased.length >= limit || signal?.aborted) return { dryRun, erased, spared, more: true }
        if (!dryRun) await eraseSubject(s, of, one, parts, state.retention[of]!)
        erased.push({ of, id, since, bodies: bodies.length, bytes: bodies.reduce((sum, { size }) => sum + size, 0) })
      } catch (error) {
        const problem = asProblem(error)
        if (problem === null) throw error
        spared.push({ of, id, since, code: problem.code, why: problem.message })
      }
    }
  }
  return { dryRun, erased, spared, more: false }
}

async function* aged(s: Services, of: Kept, before: string): AsyncGenerator<Aged> {
  yield* agedOf(s, of, before)
  if (of === 'run' || of === 'external') yield* agedOf(s, `${of} annotations`, before)
}

async function* agedOf(s: Services, of: AgedKind, before: string): AsyncGenerator<Aged> {
  const by = `${RETENTION.kind}:${RETENTION.id}`
  let after: AgedPlace | null = null
  for (let page: readonly Aged[] | null = null; page === null || page.length === PAGE; after = page.at(-1) ?? null) {
    const which = { before, after, by, limit: PAGE }
    page = (await s.read.rows((db) => agedSubjects(db, of, which))).value as readonly Aged[]
    yield* page
  }
}

const isRun = (of: Kept) => of === 'run' || of === 'external'
/** Whether the subject is the agents of a run, not the run's tags and notes or another stream. */
const isAgents = (of: Kept, stream: string) => isRun(of) && kindOf(stream) !== 'annotation'

/** The bodies to erase. Rejects if a hold, an unfinished agent or the separation of duties forbids it. */
async function partsOf(s: Services, of: Kept, { id, stream, revision }: Aged, { by }: Retention): Promise<Part[]> {
  const parts: Part[] = []
  for (const agentId of isAgents(of, stream) ? await agentsOf(s, id) : []) {
    const { bodies } = await s.runtime.erasable(agentId, upTo(revision))
    parts.push({ stream: (await streamOfAgent(s.log, agentId))!, bodies })
  }
  if (!isAgents(of, stream)) parts.push({ stream, bodies: await textsUpTo(s, stream, revision!) })
  for (const part of parts) {
    const doomed = {
      stream: part.stream,
      run: isRun(of) ? id : null,
      revisions: part.bodies.map((body) => body.revision),
    }
    const refusal = await s.keeping.refusal(doomed, by)
    if (refusal !== null) throw refusal
  }
  return parts
}

/** The bodies with text up to a revision; later ones are younger. A fact is forgotten only when it is erased. */
async function textsUpTo({ log }: Pick<Services, 'log'>, stream: string, to: number): Promise<readonly Text[]> {
  const { says } = aggregateOf(stream).erasing
  const texts: Text[] = []
  for await (const page of log.read(stream, { bodies: false, limit: to + 1 }))
    for (const { header, erased } of page)
      if (!erased && says(header.type)) texts.push({ revision: header.revision, size: header.body.size })
  return texts
}

/** All texts, or those up to a revision: spans that arrive while a run is swept are younger. */
const upTo = (revision: number | null) => ({ all: true as const, ...(revision !== null && { to: revision }) })

async function eraseSubject(
  s: Services,
  of: Kept,
  { id, stream, revision }: Aged,
  parts: readonly Part[],
  { days }: Retention,
) {
  const why = { code: 'retention' as const, reason: `older than ${days} days` }
  if (isAgents(of, stream)) {
    const what = { ...upTo(revision), ...why }
    return eraseRun(s, id, { what, keepAnnotations: true, actor: RETENTION, by: undefined, options: {} })
  }
  const asker = { by: RETENTION, commandId: `retention:${hex(s.random.bytes(16))}` }
  const only = new Set(parts.flatMap(({ bodies }) => bodies.map(({ revision }) => revision)))
  if (of === 'memory') await s.memories.forget(idOf(stream), why.reason, asker)
  await s.streams.erase(stream, { all: true, only }, why, asker)
}
