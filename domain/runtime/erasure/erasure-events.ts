import { decode } from '../../agent/events/codec.ts'
import { type BodyOf, bodies, versions } from '../../agent/events/events.ts'
import { residueOf } from '../../agent/events/residue.ts'
import { asBlob, blobsOf } from '../../log/blobs.ts'
import { canonicalBytes } from '../../log/canonical.ts'
import { FORMAT, type Header, type RecordedEvent, type SealedEvent } from '../../log/envelope.ts'
import { LogError } from '../../log/errors.ts'
import { ownerOf } from '../../log/owner.ts'
import { saltBody, seal } from '../../log/seal.ts'
import { append } from '../append.ts'
import { BlobWrites } from '../blob-writes.ts'
import { bodyOf } from '../history/bodies.ts'
import type { Asking } from '../journal.ts'
import type { RuntimePorts } from '../ports.ts'

/** A body to empty. */
export interface Target {
  readonly revision: number
  readonly bodyHash: string
  readonly blob: boolean
  readonly erased: boolean
}

/** The most bodies that one fact names, so that it stays far below what would go to the blob store. */
const NAMED = 256

type Kept = BodyOf<'residue'>['bodies'][number]
type Fact = { readonly [T in 'residue' | 'erased']: { readonly type: T; readonly body: BodyOf<T> } }[
  | 'residue'
  | 'erased']

/** Appends the facts that empty the targets (in order, of the stream of `last`). Returns the last one. */
export async function sealErasure(
  ports: RuntimePorts,
  last: SealedEvent,
  targets: readonly Target[],
  reason: string,
  asking: Asking,
): Promise<SealedEvent> {
  const { stream, revision } = last.header
  const runId = ownerOf(last.header)
  const facts = factsOf(targets, await residues(ports, stream, targets), reason)
  const salted = facts.map(({ type, body }) =>
    saltBody(canonicalBytes(bodies[type].parse(body)), ports.random.bytes(16)),
  )
  const large = new Set(blobsOf(salted.map(({ header }) => header.size)))
  const writes = new BlobWrites(ports, { stream, runId })
  await writes.put([...large].map((index) => salted[index]!))
  const at = Math.max(ports.clock.now(), Date.parse(last.header.timestamp), ports.log.floor())
  let previous = last.hash
  const sealed = facts.map(({ type }, index) => {
    const { header, bytes } = large.has(index) ? asBlob(salted[index]!) : salted[index]!
    const place = { type, revision: revision + 1 + index, body: header }
    const event = seal(previous, headerOf(last.header, place, at, asking), large.has(index) ? null : bytes)
    previous = event.hash
    return event
  })
  await append(ports, stream, revision, sealed, { fact: false }).catch(async (error: unknown) => {
    await writes.refused(error)
    throw error
  })
  await writes.named([...large].map((index) => salted[index]!.header.hash))
  return sealed.at(-1)!
}

function factsOf(targets: readonly Target[], kept: ReadonlyMap<number, Kept>, reason: string): Fact[] {
  const facts: Fact[] = []
  for (let at = 0; at < targets.length; at += NAMED) {
    const part = targets.slice(at, at + NAMED)
    const left = part.flatMap(({ revision }) => kept.get(revision) ?? [])
    if (left.length > 0) facts.push({ type: 'residue', body: { bodies: left } })
    const named = part.map(({ revision, bodyHash }) => ({ revision, bodyHash }))
    facts.push({ type: 'erased', body: { bodies: named, reason } })
  }
  return facts
}

function headerOf(
  { stream, runId, agentId, wakeAt }: Header,
  { type, revision, body }: { type: Fact['type']; revision: number; body: Header['body'] },
  at: number,
  { by, commandId, correlationId, trace }: Asking,
): Header {
  return {
    ...{ format: FORMAT, stream, type, version: versions[type], turn: 0, revision },
    ...(runId === undefined ? {} : { runId }),
    ...(agentId === undefined ? {} : { agentId }),
    timestamp: new Date(at).toISOString(),
    commandId,
    actor: by,
    ...(correlationId === undefined ? {} : { correlationId }),
    ...(trace === undefined ? {} : { trace }),
    ...(wakeAt === undefined ? {} : { wakeAt }),
    body,
  }
}

/**
 * What the fold needs of the targets' bodies, read in one go; none of those that cannot be read, which is no reason to
 * keep them.
 */
async function residues(ports: RuntimePorts, stream: string, targets: readonly Target[]) {
  const wanted = new Set(targets.map(({ revision }) => revision))
  const from = targets[0]!.revision
  const found = new Map<number, Kept>()
  for await (const page of ports.log.read(stream, { from, limit: targets.at(-1)!.revision - from + 1 })) {
    for (const recorded of page) {
      const kept = wanted.has(recorded.header.revision) ? await keptOf(ports, recorded) : null
      if (kept !== null) found.set(kept.revision, kept)
    }
  }
  return found
}

async function keptOf(ports: RuntimePorts, recorded: RecordedEvent): Promise<Kept | null> {
  try {
    const { type, body, revision } = decode(recorded.header, await bodyOf(ports, recorded))
    return { revision, version: versions[type], body: residueOf(type, body as never) as never }
  } catch (error) {
    if (error instanceof LogError && UNREADABLE.has(error.code)) return null
    throw error
  }
}

const UNREADABLE: ReadonlySet<LogError['code']> = new Set([
  'BLOB_MISSING',
  'LOG_CORRUPT',
  'UNKNOWN_EVENT',
  'BODY_ERASED',
])
