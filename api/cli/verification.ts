import { checkVault } from '../../adapters/vault/file-vault.ts'
import { AGGREGATES } from '../../domain/kinds.ts'
import { LogError } from '../../domain/log/errors.ts'
import { LOG_META } from '../../domain/log/ids.ts'
import { idOf, KINDS_OF_RUNS, kindOf } from '../../domain/log/owner.ts'
import { coverageOf } from '../../domain/proof/runtime/coverage.ts'
import { counted } from '../../projections/engine/text.ts'
import { ProjectionError } from '../../projections/index.ts'
import { Refused, take } from '../http/answers.ts'
import type { StreamHeads } from '../operations/schemas.ts'
import type { StreamList } from '../operations/streams/schemas.ts'
import { vaultKeys } from '../process/host/vault-keys.ts'
import type { Context } from './context.ts'
import { EXIT } from './exit.ts'
import { allStreams, runPages } from './follow/pages.ts'
import { acceptedLines, fetchLossReport, lossLines } from './output/loss-text.ts'
import { checkpointLine, covered, erasedLine, lossLine, originLine } from './output/proof-text.ts'

/** Error codes of a file or stream of the log that differs from its written form. */
const DAMAGE = new Set(['LOG_CORRUPT', 'LOG_FOREIGN', 'LOG_NEWER'])

/** The report on a damaged log, which is a result of verification. Null for any other failure. */
export function damage(error: unknown): string | null {
  const known = error instanceof Refused || error instanceof LogError || error instanceof ProjectionError
  return known && DAMAGE.has(error.code) ? error.message : null
}

interface Verdict {
  readonly ok: boolean
  /**
   * The last signed head contradicts the log: not at these events, or perhaps at them. A verification of everything
   * names that fault once, for the log.
   */
  readonly contradicted: 'no' | 'elsewhere' | 'here'
}

interface Found extends Verdict {
  /** The ids of the verified agents. */
  readonly agents: readonly string[]
}

/** The exit code of a verification of one run or stream. Mentions a contradicted log, which may be another's fault. */
export function concluded(ctx: Context, { ok, contradicted }: Verdict): number {
  if (contradicted !== 'no')
    ctx.note(`the log as a whole contradicts its last signed head; what was changed: ${ctx.command('verify')}`)
  return ok && contradicted !== 'here' ? EXIT.done : EXIT.verification
}

/** Verifies one run. A run with an unreadable log is broken. */
export async function verifyOneRun(ctx: Context, id: string, agent?: string): Promise<Found> {
  try {
    return await proveRun(ctx, id, agent)
  } catch (error) {
    const why = damage(error)
    if (why === null) throw error
    ctx.show({ runId: id, ok: false, damage: why }, () => [`${id}: BROKEN, ${why}`])
    return { ok: false, contradicted: 'no', agents: [id] }
  }
}

async function proveRun(ctx: Context, id: string, agent: string | undefined): Promise<Found> {
  const query = agent === undefined ? {} : { agent }
  const found = await take((await ctx.client('read')).v1.runs[':id'].verify.$get({ param: { id }, query }))
  ctx.show(found, () => [
    ...found.agents.flatMap((a) => proofLines(a.agentId, a)),
    ...found.acceptedLosses.flatMap(acceptedLines).map((line) => `  ${line}`),
    ...found.parked.map(({ stream, revision, code }) => `  ${stream} is parked in the tables at ${revision} (${code})`),
  ])
  noteRows(ctx, found.agents)
  return {
    ok: found.ok,
    contradicted: contradiction(found.agents),
    agents: found.agents.map(({ agentId }) => agentId),
  }
}

interface Proof {
  readonly ok: boolean
  readonly events: number
  readonly proof: StreamHeads
  readonly digests: number
  readonly unchecked: number
  readonly head: string
  readonly erased: readonly { readonly revision: number; readonly code: string; readonly reason: string }[]
  readonly problems: readonly { readonly revision: number; readonly code: string; readonly message: string }[]
}

export function contradiction(proofs: readonly Pick<Proof, 'proof'>[]): Verdict['contradicted'] {
  const faults = proofs.flatMap(({ proof }) => (proof?.fault ? [proof] : []))
  if (faults.length === 0) return 'no'
  return faults.every(({ elsewhere }) => elsewhere) ? 'elsewhere' : 'here'
}

/** The fault of the last signed head, as a line of a proof. */
export const headLines = ({ proof }: Pick<Proof, 'proof'>): string[] => (proof?.fault ? [`  HEAD: ${proof.fault}`] : [])

const proofLines = (name: string, proof: Proof): string[] => [
  `${name}: ${proof.ok ? 'holds' : 'BROKEN'}, ${counted(proof.events, 'event')} (${covered(proof.proof)}), ` +
    `${digests(proof)}, head ${proof.head}`,
  ...headLines(proof),
  ...proof.erased.map(erasedLine),
  ...proof.problems.map((one) => `  revision ${one.revision} ${one.code}: ${one.message}`),
]

/**
 * Digests of a different fold version are not checked, because the current fold cannot reproduce them. The chain
 * protects them.
 */
const digests = ({ digests, unchecked }: Pick<Proof, 'digests' | 'unchecked'>): string =>
  unchecked === 0 ? counted(digests, 'digest') : `${counted(digests, 'digest')} and ${unchecked} not checked`

/** Prints the remedy for rows that differ from the log. */
function noteRows(ctx: Context, proofs: readonly Pick<Proof, 'problems'>[]): void {
  if (!proofs.some(({ problems }) => problems.some(({ code }) => code === 'TABLE'))) return
  ctx.note(
    `the tables differ from the log: ${ctx.command('rebuild', '--accept')} makes them again; find out who changed them`,
  )
}

/** Verifies a store of variables. */
export const verifyOneStore = (ctx: Context, store: string): Promise<Verdict> =>
  shownProof(ctx, `store ${store}`, async () => {
    const client = await ctx.client('read')
    return take(client.v1['context-stores'][':store'].verify.$get({ param: { store } }))
  })

/** Verifies a stream of any kind. */
export const verifyOneStream = (ctx: Context, stream: string): Promise<Verdict> =>
  shownProof(ctx, nameOf(stream), async () => {
    const client = await ctx.client('read')
    return take(client.v1.streams[':stream'].verify.$get({ param: { stream } }))
  })

async function shownProof(ctx: Context, name: string, prove: () => Promise<Proof>): Promise<Verdict> {
  try {
    const proof = await prove()
    ctx.show(proof, () => proofLines(name, proof))
    noteRows(ctx, [proof])
    return { ok: proof.ok, contradicted: contradiction([proof]) }
  } catch (error) {
    const why = damage(error)
    if (why === null) throw error
    ctx.show({ stream: name, ok: false, damage: why }, () => [`${name}: BROKEN, ${why}`])
    return { ok: false, contradicted: 'no' }
  }
}

const nounOf = (stream: string) => AGGREGATES.get(kindOf(stream))?.noun

const nameOf = (stream: string): string => {
  const name = nounOf(stream)
  return name === undefined ? `stream ${stream}` : `${name} ${idOf(stream)}`
}

export interface VerifyOptions {
  /** Also ask the anchors which heads they keep now. */
  readonly anchors: boolean
  /** A checkpoint and a verifier key of the log that the person kept. */
  readonly checkpoint?: string
  readonly vkey?: string
}

/** Whether the log contains every known event at every position, and the tables list its streams. */
async function verifyLog(ctx: Context, options: VerifyOptions): Promise<boolean> {
  const { loss, accepted = [] } = await fetchLossReport(ctx, true)
  if (loss !== null || accepted.length > 0)
    ctx.show({ ok: loss === null, loss, accepted }, () => [
      ...(loss === null ? [] : lossLines(loss)),
      ...accepted.flatMap(acceptedLines),
    ])
  const found = await take((await ctx.client('read')).v1.verify.$get({}))
  if (!found.ok) {
    ctx.show(found, () => found.problems.map(({ code, message }) => `${code}: ${message}`))
    noteRows(ctx, [{ problems: found.problems.map((one) => ({ ...one, revision: 0 })) }])
  }
  const heads = await printHeadVerdict(ctx, options)
  return (await verifyMeta(ctx)) && heads && loss === null && found.ok
}

/** Verifies the signed heads, the keys and the anchors. */
export async function printHeadVerdict(ctx: Context, { anchors, ...kept }: VerifyOptions): Promise<boolean> {
  const query = { ...kept, ...(anchors && ({ anchors: 'true' } as const)) }
  const found = await take((await ctx.client('read')).v1.proof.verify.$get({ query }))
  const { events, signed, recorded, anchored, heads, checkpoint } = found
  const proof = heads === 0 && recorded === 0 ? null : coverageOf(events, signed, recorded, anchored)
  ctx.show({ heads: found }, () => [
    `heads: ${found.ok ? 'hold' : 'BROKEN'}, ${counted(events, 'event')} (${covered(proof)})`,
    ...found.problems.map(({ code, message }) => `  ${code}: ${message}`),
    ...found.losses.map(lossLine),
    ...found.origins.flatMap(originLine),
    ...(found.unasked ?? []).map(({ anchor, kind, why }) => `  not asked: the anchor ${anchor} (${kind}), ${why}`),
    ...(checkpoint === undefined ? [] : [checkpointLine(checkpoint)]),
  ])
  if (!anchors && recorded > anchored)
    ctx.note(`the log itself says that events are anchored: ${ctx.command('verify', '--anchors')} asks the anchors`)
  return found.ok
}

/** Whether the tables could read the log's own stream to its end. */
async function verifyMeta(ctx: Context): Promise<boolean> {
  const { parked } = await take((await ctx.client('read')).v1.projections.$get({}))
  const damaged = parked.find(({ stream }) => stream === LOG_META)
  if (damaged === undefined) return true
  const { stream, revision, error } = damaged
  ctx.show({ ok: false, stream, revision, damage: error }, () => [
    `${stream}: BROKEN at revision ${revision}, ${error}`,
  ])
  return false
}

/** Whether the key opens every record of the vault. */
async function verifyVault(ctx: Context): Promise<boolean> {
  const fault = await checkVault(ctx.config.data, vaultKeys(ctx.config)).then(
    () => null,
    (error: Error) => error.message,
  )
  if (fault !== null) ctx.show({ vault: { ok: false, fault } }, () => [`vault: BROKEN, ${fault}`])
  return fault === null
}

/** Verifies a run that the tables list. A run that is not in the log is broken: its row was altered or added. */
async function verifyListedRun(ctx: Context, id: string): Promise<Found> {
  try {
    return await verifyOneRun(ctx, id)
  } catch (error) {
    if (!(error instanceof Refused && error.code === 'NOT_FOUND')) throw error
    const why = 'the tables list this run, but the log has no such run'
    ctx.show({ runId: id, ok: false, damage: why }, () => [`${id}: BROKEN, ${why}`])
    return { ok: false, contradicted: 'no', agents: [] }
  }
}

/** The ids of all runs, newest first, page by page, then those missing from the list of runs. */
async function* allRuns(ctx: Context, listed: readonly Listed[]): AsyncGenerator<string> {
  const client = await ctx.client('read')
  const { parked } = await take(client.v1.projections.$get({}))
  const unlisted = new Set([...listed, ...parked].filter(isOfRun).map(({ runId }) => runId))
  for await (const { runs } of runPages(client))
    for (const { runId } of runs) {
      unlisted.delete(runId)
      yield runId
    }
  yield* unlisted
}

type Listed = StreamList['streams'][number]

const isOfRun = ({ stream }: Pick<Listed, 'stream'>): boolean => KINDS_OF_RUNS.includes(kindOf(stream))

/**
 * Verifies everything stored: the log as a whole, every run, document, fact, store and other stream, the rows of the
 * tables, and the vault. The last line is the result.
 */
export async function verifyAll(ctx: Context, options: VerifyOptions): Promise<boolean> {
  const broken: string[] = []
  const counts = new Map<string, number>()
  let checked = 0
  let total = 0
  const count = (kind: string, name: string, ok: boolean, streams = 1) => {
    checked += streams
    ctx.progress?.at({ done: checked, total, unit: 'streams' })
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    if (!ok) broken.push(name)
  }
  if (!(await verifyLog(ctx, options))) broken.push('the log or its tables')
  const listed: Listed[] = []
  for await (const stream of allStreams(await ctx.client('read'))) listed.push(stream)
  total = listed.length
  const proved = new Set<string>()
  for await (const id of allRuns(ctx, listed)) {
    const { ok, agents } = await verifyListedRun(ctx, id)
    for (const agent of agents) proved.add(agent)
    count('run', `run ${id}`, ok, agents.length)
  }
  for (const one of listed) {
    const { stream } = one
    // Runs list their agents in the tables. Verify an agent without a row here.
    if (isOfRun(one) && proved.has(idOf(stream))) continue
    count(nounOf(stream) ?? 'other stream', nameOf(stream), (await verifyOneStream(ctx, stream)).ok)
  }
  if (!(await verifyVault(ctx))) broken.push('the vault')
  const ok = broken.length === 0
  ctx.show({ ok, checked: Object.fromEntries(counts), broken }, () => [
    `${ok ? 'all holds' : `BROKEN: ${broken.join(', ')}`}; checked the log, ${[...counts].map(([kind, n]) => `${counted(n, kind)}, `).join('')}the tables and the vault`,
  ])
  return ok
}
