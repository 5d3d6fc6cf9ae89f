import { LogError } from '../../log/errors.ts'
import type { OpenDocument } from '../../ports/index.ts'
import { checkDigest } from '../../stream/runtime/check-digest.ts'
import { history } from '../../stream/runtime/history.ts'
import { DocumentError } from '../errors.ts'
import { document } from '../stream/aggregate.ts'
import { isUpdate, updateBytes } from '../stream/events.ts'
import type { DocumentState } from '../stream/state.ts'
import type { KeptReplica, ReplicaCache } from './replica-cache.ts'
import type { DocumentPorts } from './types.ts'

export interface OpenedAt {
  readonly replica: OpenDocument
  readonly state: DocumentState
  readonly revision: number
}

/**
 * Opens a replica of a document at a revision of its stream, from the latest usable snapshot and the later updates.
 * Ignores a snapshot that does not fit the log. Null: the document does not exist. Rejects with `DOCUMENT_CORRUPT` or
 * `FOLD_DIFFERS` if the log is inconsistent.
 */
export async function openAt(
  ports: DocumentPorts,
  cache: ReplicaCache,
  stream: string,
  revision: number,
): Promise<OpenedAt | null> {
  const kept = await cache.latest(stream, revision)
  if (kept !== null) {
    const opened = await openFrom(ports, stream, revision, kept).catch((error: unknown) => {
      if (!misfits(error)) throw error
      cache.leftAside(stream, error)
      return null
    })
    if (opened !== null) return opened
  }
  return openFrom(ports, stream, revision, null)
}

const misfits = (error: unknown): boolean =>
  error instanceof DocumentError || (error instanceof LogError && error.code === 'FOLD_DIFFERS')

async function openFrom(
  ports: DocumentPorts,
  stream: string,
  to: number,
  kept: KeptReplica | null,
): Promise<OpenedAt | null> {
  let state = kept?.state ?? null
  let revision = -1
  const updates: Uint8Array[] = []
  // Read the event at the snapshot's revision again to check its digest.
  for await (const page of history(ports, document, stream, { from: kept?.revision ?? 0, to })) {
    for (const { event, recorded } of page) {
      const isKept = event.revision === kept?.revision
      if (!isKept) state = document.evolve(state, event)
      if (!isKept && isUpdate(event)) updates.push(updateBytes(event))
      checkDigest(document, state!, recorded)
      revision = event.revision
    }
  }
  if (state === null || revision < 0) return null
  const { gatewayPeer, frontier } = state
  const replica = await ports.documents.open({ gatewayPeer, updates, ...(kept && { snapshot: kept.bytes }) })
  if (replica.frontier === frontier) return { replica, state, revision }
  const found = replica.frontier
  replica.close()
  throw new DocumentError(
    'DOCUMENT_CORRUPT',
    `the updates of ${stream} lead to the frontier "${found}", the log says "${frontier}"; verify the document`,
  )
}
