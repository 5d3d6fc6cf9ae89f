import type { z } from 'zod'
import { readLossEvents } from '../../../domain/agent/runtime/losses.ts'
import { canonicalHeader } from '../../../domain/log/canonical.ts'
import { type LogCheckpoint, parseCheckpoint } from '../../../domain/log/proof/checkpoint.ts'
import { base64 } from '../../../domain/log/proof/encoding.ts'
import { parseVkey, splitNote } from '../../../domain/log/proof/note.ts'
import { ProofError } from '../../../domain/log/proof/proof-error.ts'
import { formatProofFile, type ProofFile, verifyProofFile } from '../../../domain/log/proof/proof-file.ts'
import { type ProofPlan, planConsistency, planInclusion } from '../../../domain/log/proof/tree-proof.ts'
import { GENESIS } from '../../../domain/log/seal.ts'
import type { SignedHead, TreeStore } from '../../../domain/ports/proof.ts'
import { PROOF_ID, proof } from '../../../domain/proof/kind.ts'
import { logContinues, TREE_DAMAGED } from '../../../domain/proof/runtime/log-continues.ts'
import { type UsedPlace, usedPlaces } from '../../../domain/proof/runtime/proof-facts.ts'
import { type HeadWishes, type HeldCheckpoint, verifyHeads } from '../../../domain/proof/runtime/verify-heads.ts'
import { notFound, Problem } from '../problem.ts'
import type { Services } from '../services.ts'
import { headFor } from './cosigned.ts'
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

/** The proof that one event is in the log, as a file that needs no keepup. It was verified. */
export async function proveEvent(
  s: Pick<Services, 'proof' | 'log' | 'blobs' | 'streams'>,
  stream: string,
  revision: number,
): Promise<z.infer<typeof EventProof>> {
  const from = Math.max(0, revision - 1)
  const found = (await Array.fromAsync(s.log.read(stream, { from, limit: revision - from + 1, bodies: false }))).flat()
  const event = found.find(({ header }) => header.revision === revision)
  if (event === undefined)
    throw notFound('event', `${stream}@${revision}`, `GET /v1/streams/${stream}/events lists them`)
  const current = await currentHead(s)
  const store = treeOf(s)
  const index = await store.indexOf(event.position)
  if (index === null || index >= current.size)
    throw new Problem(
      'NOT_SIGNED',
      `the last head covers ${current.size} events, and ${stream}@${revision} is a later one; try again in a second`,
    )
  const { note, size } = await headFor(s, current, (head) => head.size > index)
  const previous = revision === 0 ? GENESIS : found[0]!.hash
  const keys = (await s.streams.state(proof, PROOF_ID))?.origins.flatMap(({ vkeys }) => vkeys.map(parseVkey)) ?? []
  try {
    const file: ProofFile = {
      index,
      proof: await built(store, planInclusion(index, size)),
      checkpoint: note,
      extra: Buffer.concat([Buffer.from(previous, 'hex'), Buffer.from(canonicalHeader(event.header))]),
    }
    verifyProofFile(file, event.hash, keys)
    return { stream, revision, hash: event.hash, index, size, file: formatProofFile(file) }
  } catch (error) {
    if (!(error instanceof ProofError)) throw error
    const why = `the head of ${size} events does not prove ${stream}@${revision} (${error.message})`
    throw new Problem('LOG_CORRUPT', `${why}; ${await damageOf(s.log, note)}`)
  }
}

/** What was changed, if a head does not prove an event that it covers, and what to do. */
async function damageOf(log: Services['log'], note: string): Promise<string> {
  let head: LogCheckpoint
  try {
    head = parseCheckpoint(splitNote(note).text)
  } catch {
    return 'the stored head was changed: run keepup verify'
  }
  return (await logContinues(log, head)) ? TREE_DAMAGED : 'the log was changed: run keepup verify'
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
 * Verifies the signed heads, keys and anchors. `outside`: also reads the anchors and compares with their heads. Throws a
 * Problem if the checkpoint is none.
 */
export async function verifyProof(
  s: Pick<Services, 'proof' | 'log' | 'blobs'>,
  { outside, ...wishes }: HeadWishes & { outside: boolean },
) {
  if (wishes.checkpoint !== undefined) mustBeCheckpoint(wishes.checkpoint)
  const acceptedLosses = await readLossEvents(s.log)
  const held = outside ? await heldByAnchors(s) : null
  const found = await verifyHeads(
    { log: s.log, blobs: s.blobs, store: s.proof.store, acceptedLosses },
    held?.checkpoints,
    wishes,
  )
  if (held === null) return found
  const { problems, unasked } = held
  return { ...found, ok: found.ok && problems.length === 0, problems: [...found.problems, ...problems], unasked }
}

function mustBeCheckpoint(note: string): void {
  try {
    parseCheckpoint(splitNote(note).text)
  } catch (error) {
    throw new Problem('INVALID_REQUEST', `checkpoint: ${(error as Error).message}`)
  }
}

async function heldByAnchors({ proof: { keepers }, log, blobs }: Pick<Services, 'proof' | 'log' | 'blobs'>) {
  const { places, origins } = await usedPlaces({ log, blobs })
  const checkpoints: HeldCheckpoint[] = []
  const problems: { code: 'ANCHOR'; size: null; message: string }[] = []
  const unasked: (Pick<UsedPlace, 'anchor' | 'kind' | 'target'> & { why: string })[] = []
  for (const { anchor, kind, target, vkey, removed, left } of places) {
    const keeper = keepers[kind]
    if (keeper.held === undefined) {
      if (left.size > 0) unasked.push({ anchor, kind, target, why: 'it keeps no heads; its receipts can be checked' })
      continue
    }
    try {
      for (const origin of origins) {
        const held = await keeper.held({ target, vkey }, origin)
        checkpoints.push(...held.map((checkpoint) => ({ anchor, checkpoint, vkey })))
        const [size, last] = [Math.max(0, ...held.map(sizeOf)), left.get(origin) ?? 0]
        if (size >= last) continue
        const holds = size === 0 ? 'no head' : `only a head of ${size} events`
        throw new Error(
          `it holds ${holds} of ${origin}, but it was left one of ${last} events; find out who removed it`,
        )
      }
    } catch (error) {
      const { message } = error as Error
      // A person may take away a place that is not used any more.
      if (!removed) problems.push({ code: 'ANCHOR', size: null, message: `the anchor ${anchor}: ${message}` })
      else if (left.size > 0) unasked.push({ anchor, kind, target, why: `it was removed: ${message}` })
    }
  }
  return { checkpoints, problems, unasked }
}

/** The size of a checkpoint; 0 if it cannot be read, which its verification names. */
function sizeOf(note: string): number {
  try {
    return parseCheckpoint(splitNote(note).text).size
  } catch {
    return 0
  }
}
