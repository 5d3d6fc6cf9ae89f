import { MemoryLog } from '../../../adapters/memory/log.ts'
import { attachmentIn } from '../../../domain/agent/events/attachment.ts'
import type { Header, SealedEvent } from '../../../domain/log/envelope.ts'
import { ownerOf } from '../../../domain/log/owner.ts'
import { eventId } from '../../../domain/log/seal.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { MemoryBlobs, seededRandom } from '../harness.ts'

/**
 * One event of a recorded history at the time of its append: before any erasure, with its body even if that is in a
 * blob.
 */
interface Line {
  /** Events of one append have the same number. */
  readonly append: number
  readonly header: Header
  readonly hash: string
  readonly body: string
  /** The whole result in a blob, if the event refers to one. */
  readonly attached?: string
}

/** A log that records its appends in order. */
export class RecordingLog extends MemoryLog {
  readonly blobs = new MemoryBlobs()
  private readonly lines: Line[] = []
  private readonly heads = new Map<string, number>()
  private appends = 0

  /** Fixed, because keys of requests depend on the log's id. */
  constructor() {
    super({ clock: { now: () => Date.UTC(2026, 0, 18) }, random: seededRandom('log') })
  }

  override async append(stream: string, expected: number, batch: readonly SealedEvent[]) {
    const appended = await super.append(stream, expected, batch)
    const last = batch.at(-1)!.header.revision
    // Resent after an unknown outcome.
    if (last <= (this.heads.get(stream) ?? -1)) return appended
    this.heads.set(stream, last)
    for (const { header, body, hash } of batch) {
      const bytes = body ?? (await this.blobs.get(ownerOf(header), header.body.hash))
      const attachment = attachmentIn(header, bytes)
      const whole = attachment && (await this.blobs.get(ownerOf(header), attachment.hash))
      const attached = whole === undefined ? {} : { attached: Buffer.from(whole).toString('utf8') }
      this.lines.push({ append: this.appends, header, hash, body: Buffer.from(bytes).toString('utf8'), ...attached })
    }
    this.appends++
    return appended
  }

  get stores() {
    return { log: this, blobs: this.blobs }
  }

  /** The recorded events, one per line. */
  get text(): string {
    return this.lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  }
}

/** Appends a recorded history to an empty log with the same batches, blobs first. */
export async function appendAgain(text: string, log: EventLog, blobs: BlobStore): Promise<void> {
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
  for (const batch of Map.groupBy(lines, ({ append }) => append).values()) {
    const events: SealedEvent[] = []
    for (const { header, hash, body, attached } of batch) {
      const bytes = new TextEncoder().encode(body)
      const attachment = attachmentIn(header, bytes)
      if (attachment !== undefined) await blobs.put(ownerOf(header), attachment.hash, Buffer.from(attached ?? ''))
      const isBlob = header.body.place === 'blob'
      if (isBlob) await blobs.put(ownerOf(header), header.body.hash, bytes)
      events.push({ header, hash, id: eventId(hash), body: isBlob ? null : bytes })
    }
    const [{ stream, revision }] = [events[0]!.header]
    await log.append(stream, revision - 1, events)
  }
}
