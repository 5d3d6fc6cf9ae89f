import { AGGREGATES } from '../../../domain/kinds.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { ERASED_FACT } from '../../../domain/log/erased.ts'
import { LogError } from '../../../domain/log/errors.ts'
import { kindOf, ownerOf } from '../../../domain/log/owner.ts'
import { isSealedBody, SALT_BYTES, unsalted } from '../../../domain/log/seal.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { blobParts } from '../../../domain/stream/runtime/attachments.ts'
import { streamOfAgent } from '../../../domain/tree/runtime/stream-of-agent.ts'
import { storedBytes } from './body.ts'
import { EXPORT, type ExportHead, type ExportLine, type ExportPart } from './export-lines.ts'

/** Whether a line of an export contains a body that does not match its sealed hash. */
export function isAltered(text: string): boolean {
  if (text.startsWith('{"attachment":')) return false
  const { header, body, erased } = JSON.parse(text) as Partial<ExportLine>
  if (header === undefined || erased === true) return false
  return body == null || !isSealedBody(header.body, Buffer.from(body, 'base64'))
}

function line(event: RecordedEvent, body: Uint8Array | null): ExportLine {
  return {
    header: event.header,
    hash: event.hash,
    id: event.id,
    position: event.position,
    body: body && Buffer.from(body).toString('base64'),
    ...(event.erased ? { erased: true } : {}),
  }
}

/** A run's sealed events, stream by stream, as NDJSON that can be verified without the log. */
export async function* exportRun(
  log: EventLog,
  blobs: BlobStore,
  runId: string,
  agentIds: readonly string[],
): AsyncGenerator<string> {
  const names: string[] = []
  for (const agentId of agentIds) {
    const stream = await streamOfAgent(log, agentId)
    if (stream !== null) names.push(stream)
  }
  yield* exportStreams(log, blobs, runId, names)
}

/** Exports any streams. `runId`: their run, or the name of a stream without a run. */
export async function* exportStreams(
  log: EventLog,
  blobs: BlobStore,
  runId: string,
  names: readonly string[],
): AsyncGenerator<string> {
  const streams: ExportHead['streams'] = []
  for (const stream of names) {
    const head = await log.head(stream)
    if (head) streams.push({ stream, revision: head.revision, hash: head.hash })
  }
  yield `${JSON.stringify({ export: EXPORT, logId: log.logId, runId, streams } satisfies ExportHead)}\n`
  for (const { stream, revision } of streams) {
    let erased = false
    // Read up to the head in the first line, because the run may append further events.
    for await (const page of log.read(stream, { limit: revision + 1 })) {
      for (const event of page) {
        erased ||= event.erased === true
        yield* linesOf(event, blobs)
      }
    }
    if (erased) await mustNameAll(log, stream, revision)
  }
}

/**
 * Rejects with `BODY_ERASED` if an erasure follows a revision. The erasure may have emptied bodies during the export,
 * and the export does not contain its event. Without this event, a verifier could not distinguish the erasure from
 * damage.
 */
async function mustNameAll(log: EventLog, stream: string, revision: number): Promise<void> {
  for await (const page of log.read(stream, { from: revision + 1, bodies: false, types: [ERASED_FACT] }))
    if (page.some(({ header }) => header.type === ERASED_FACT))
      throw new LogError('BODY_ERASED', `bodies of ${stream} were erased while it was exported; export it again`)
}

async function* linesOf(event: RecordedEvent, blobs: BlobStore): AsyncGenerator<string> {
  const stored = await storedBytes(event, blobs)
  yield `${JSON.stringify(line(event, stored))}\n`
  const aggregate = AGGREGATES.get(kindOf(event.header.stream))
  const attachment = stored === null ? undefined : aggregate?.attachment?.(event.header, unsalted(stored))
  if (attachment === undefined) return
  const { hash, size } = attachment
  for await (const bytes of blobParts(blobs, ownerOf(event.header), hash, 0, SALT_BYTES + size)) {
    const part: ExportPart = { attachment: hash, bytes: Buffer.from(bytes).toString('base64') }
    yield `${JSON.stringify(part)}\n`
  }
}
