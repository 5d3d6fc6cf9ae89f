import type { z } from 'zod'
import { readLossEvents } from '../../../domain/agent/runtime/losses.ts'
import { canonicalHeader } from '../../../domain/log/canonical.ts'
import { base64 } from '../../../domain/log/proof/encoding.ts'
import { formatProofFile } from '../../../domain/log/proof/proof-file.ts'
import { type ProofPlan, planConsistency, planInclusion } from '../../../domain/log/proof/tree-proof.ts'
import { GENESIS } from '../../../domain/log/seal.ts'
import type { SignedHead, TreeStore } from '../../../domain/ports/proof.ts'
import { PROOF_ID, proof } from '../../../domain/proof/kind.ts'
import { verifyHeads } from '../../../domain/proof/runtime/verify-heads.ts'
import { notFound, Problem } from '../problem.ts'
import type { Services } from '../services.ts'
import type { EventProof, ProofHead } from './schemas.ts'

export function treeOf({ proof: { store } }: Pick<Services, 'proof'>): TreeStore {
  if (store !== null) return store
  throw new Problem('NOT_SIGNED', 'the events of this log are not signed here; ask the process that writes the log')
}

/** The last signed head. A process with the key first signs all current events. */
export async function currentHead(s: Pick<Services, 'proof'>): Promise<SignedHead> {
  const head = (await s.proof.signing()?.signer.latest()) ?? (await treeOf(s).lastHead())
  if (head !== null) return head
  throw new Problem('NOT_SIGNED', 'no head of this log was signed yet; ask the process that writes the log')
}

export const headView = ({ origin, size, note, at }: SignedHead): z.infer<typeof ProofHead> => ({
  origin,
  size,
  checkpoint: note,
  signedAt: new Date(at).toISOString(),
})

/** The proof that one event is in the log, as a file that needs no keepup. */
export async function proveEvent(
  s: Pick<Services, 'proof' | 'log'>,
  stream: string,
  revision: number,
): Promise<z.infer<typeof EventProof>> {
  const from = Math.max(0, revision - 1)
  const found = (await Array.fromAsync(s.log.read(stream, { from, limit: revision - from + 1, bodies: false }))).flat()
  const event = found.find(({ header }) => header.revision === revision)
  if (event === undefined)
    throw notFound('event', `${stream}@${revision}`, `GET /v1/streams/${stream}/events lists them`)
  const { note, size } = await currentHead(s)
  const store = treeOf(s)
  const index = await store.indexOf(event.position)
  if (index === null || index >= size)
    throw new Problem(
      'NOT_SIGNED',
      `the last head covers ${size} events, and ${stream}@${revision} is a later one; try again in a second`,
    )
  const previous = revision === 0 ? GENESIS : found[0]!.hash
  const file = formatProofFile({
    index,
    proof: await built(store, planInclusion(index, size)),
    checkpoint: note,
    extra: Buffer.concat([Buffer.from(previous, 'hex'), Buffer.from(canonicalHeader(event.header))]),
  })
  return { stream, revision, hash: event.hash, index, size, file }
}

export async function proveConsistency(s: Pick<Services, 'proof'>, from: number, to: number): Promise<string[]> {
  const { size } = await currentHead(s)
  if (from > to || to > size)
    throw new Problem('INVALID_REQUEST', `a proof leads from a smaller size to a larger one of at most ${size}`)
  return (await built(treeOf(s), planConsistency(from, to))).map(base64)
}

const built = async (store: TreeStore, plan: ProofPlan): Promise<Uint8Array[]> =>
  plan.build(await Promise.all(plan.tiles.map((tile) => store.tile(tile))))

/**
 * Verifies the signed heads, keys and anchors. `outside`: also reads the anchors and compares with their heads.
 * `perStream`: also says how far the heads cover each stream.
 */
export async function verifyProof(
  s: Pick<Services, 'proof' | 'log' | 'blobs' | 'streams'>,
  { outside, perStream = false }: { outside: boolean; perStream?: boolean },
) {
  const acceptedLosses = await readLossEvents(s.log)
  const held = outside ? await heldByAnchors(s) : { checkpoints: [], problems: [] }
  const found = await verifyHeads(
    { log: s.log, blobs: s.blobs, store: s.proof.store, acceptedLosses },
    held.checkpoints,
    perStream,
  )
  return { ...found, ok: found.ok && held.problems.length === 0, problems: [...found.problems, ...held.problems] }
}

async function heldByAnchors({ proof: { keepers }, streams }: Pick<Services, 'proof' | 'streams'>) {
  const state = await streams.state(proof, PROOF_ID)
  const checkpoints: { anchor: string; checkpoint: string }[] = []
  const problems: { code: 'ANCHOR'; size: null; message: string }[] = []
  for (const [anchor, { kind, target, vkey }] of Object.entries(state?.anchors ?? {})) {
    for (const { origin } of state?.origins ?? []) {
      try {
        const held = await keepers[kind].held?.({ target, vkey }, origin)
        if (held === undefined) continue
        checkpoints.push(...held.map((checkpoint) => ({ anchor, checkpoint })))
        const left = state?.anchored[anchor]
        if (left?.origin === origin && held.length === 0)
          throw new Error(
            `it holds no head of ${origin}, but it was left one of ${left.size} events; find out who removed it`,
          )
      } catch (error) {
        problems.push({ code: 'ANCHOR', size: null, message: `the anchor ${anchor}: ${(error as Error).message}` })
        break
      }
    }
  }
  return { checkpoints, problems }
}
