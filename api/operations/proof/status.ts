import type { z } from 'zod'
import { LogError } from '../../../domain/log/errors.ts'
import { ProofError } from '../../../domain/log/proof/proof-error.ts'
import type { SignedHead, StoredTree } from '../../../domain/ports/proof.ts'
import { showAnchors } from '../../../projections/index.ts'
import { omitUndefined } from '../omit-undefined.ts'
import type { Services } from '../services.ts'
import { headView } from './heads.ts'
import type { ProofStatus } from './schemas.ts'

/** An event is late when no head covers it for this time, in ms. */
const LATE_MS = 60_000
/** The greatest count of unsigned events. The signer leaves no more than this when it works. */
const MOST_COUNTED = 1_000

/** The last signed head, whether it covers the log, and the last head of each anchor. Signs nothing. */
export async function proofStatus(
  s: Pick<Services, 'proof' | 'log' | 'read' | 'clock'>,
): Promise<z.infer<typeof ProofStatus>> {
  const { store } = s.proof
  const { value } = await s.read.rows(showAnchors)
  const signer = s.proof.signing()?.signer
  const keyMissing = value.vkey !== null && signer !== undefined && !(await signer.hasKey(value.vkey))
  const failures = await store?.failures()
  const anchors = value.anchors.map(({ anchor, kind, target, size, anchored_at }) => {
    const failure = failures?.get(`anchor:${anchor}`)
    return {
      ...{ anchor, kind, target, size, anchoredAt: anchored_at },
      failure: failure ? failureView(failure) : null,
    }
  })
  const tree = await treeStatus(s, MOST_COUNTED)
  const late = tree.unsignedSince !== null && s.clock.now() - Date.parse(tree.unsignedSince) > LATE_MS
  const failure = failures?.get('signer')
  const isOver = tree.head !== null && failure !== undefined && failure.at <= Date.parse(tree.head.signedAt)
  const why = tree.why ?? (isOver ? undefined : failure?.message)
  const { head, unsigned, unsignedSince } = tree
  return { head, vkey: value.vkey, unsigned, unsignedSince, late, keyMissing, anchors, ...omitUndefined({ why }) }
}

/** Whether a head covers every event that is older than a minute. Null: not known. */
export async function isSigned(s: Pick<Services, 'proof' | 'log' | 'clock'>): Promise<boolean | null> {
  if (s.proof.store === null) return null
  const { unsignedSince } = await treeStatus(s)
  return unsignedSince === null || s.clock.now() - Date.parse(unsignedSince) <= LATE_MS
}

export const failureView = ({ message, at }: { readonly message: string; readonly at: number }) => ({
  message,
  at: new Date(at).toISOString(),
})

/** `most`: unsigned events are counted up to this number. */
async function treeStatus({ proof: { store }, log }: Pick<Services, 'proof' | 'log'>, most = 1) {
  const head = store === null ? null : await store.lastHead()
  const view = head && headView(head)
  try {
    const tree = store === null ? null : await store.load()
    return { head: view, ...(await unsignedOf(log, head, tree, most)), why: undefined }
  } catch (error) {
    const isMismatch = error instanceof LogError && error.code === 'CURSOR_MISMATCH'
    if (!isMismatch && !(error instanceof ProofError)) throw error
    const changed = 'the log does not continue the signed tree; "verify" says what was changed or cut'
    const why = isMismatch ? changed : error.message
    return { head: view, unsigned: null, unsignedSince: view?.signedAt ?? new Date(0).toISOString(), why }
  }
}

/** The number of events that no head covers, and the time of the oldest one; null: there is none. */
async function unsignedOf(log: Services['log'], head: SignedHead | null, tree: StoredTree | null, most: number) {
  // The identity of the log alone needs no signature.
  const events: { readonly header: { readonly timestamp: string } }[] = []
  for await (const page of log.readAll(tree?.cursor ?? null, { limit: most + 1, bodies: false, everyKind: true }))
    events.push(...page)
  if (tree === null && events.length === 1) events.pop()
  // The tree can grow without a head while the signatures fail.
  const inTree = head === null || tree === null ? 0 : tree.edge.size - head.size
  const since = inTree > 0 ? new Date(head!.at).toISOString() : (events[0]?.header.timestamp ?? null)
  return { unsigned: Math.min(most, inTree + events.length), unsignedSince: since }
}
