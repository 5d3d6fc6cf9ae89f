import { MemoryLog } from '../../../adapters/memory/log.ts'
import { attachmentIn } from '../../../domain/agent/events/attachment.ts'
import type { Header, SealedEvent } from '../../../domain/log/envelope.ts'
import { ownerOf } from '../../../domain/log/owner.ts'
import { eventId, SALT_BYTES, salted, unsalted } from '../../../domain/log/seal.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { MemoryBlobs, seededRandom } from '../harness.ts'

/**
 * One event of a recorded history at the time of its append: before any erasure, with its body even if that is in a
 * blob. Salts are hex.
 */
interface Line {
  /** Events of one append have the same number. */
  readonly append: number
  readonly header: Header
  readonly hash: string
  readonly salt: string
  readonly body: string
  /** The whole result in a blob, if the event refers to one. */
  readonly attached?: Salted
}

interface Salted {
  readonly salt: string
  readonly body: string
}

const textOf = (stored: Uint8Array): Salted => ({
  salt: Buffer.from(stored.subarray(0, SALT_BYTES)).toString('hex'),
  body: Buffer.from(unsalted(stored)).toString('utf8'),
})
const storedOf = ({ salt, body }: Salted) => salted(Buffer.from(salt, 'hex'), new TextEncoder().encode(body))

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
      const attachment = attachmentIn(header, unsalted(bytes))
      const whole = attachment && (await this.blobs.get(ownerOf(header), attachment.hash))
      const attached = whole === undefined ? {} : { attached: textOf(whole) }
      this.lines.push({ append: this.appends, header, hash, ...textOf(bytes), ...attached })
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
    for (const { header, hash, attached, ...line } of batch) {
      const bytes = storedOf(line)
      const attachment = attachmentIn(header, unsalted(bytes))
      if (attachment !== undefined) await blobs.put(ownerOf(header), attachment.hash, storedOf(attached!))
      const isBlob = header.body.place === 'blob'
      if (isBlob) await blobs.put(ownerOf(header), header.body.hash, bytes)
      events.push({ header, hash, id: eventId(hash), body: isBlob ? null : bytes })
    }
    const [{ stream, revision }] = [events[0]!.header]
    await log.append(stream, revision - 1, events)
  }
}
