import { createHash } from 'node:crypto'
import { canonicalBytes } from '../../../domain/log/canonical.ts'
import type { BodyHeader, Header, RecordedEvent, SealedEvent } from '../../../domain/log/envelope.ts'
import type { Json } from '../../../domain/log/json.ts'
import { GENESIS, type SaltedBody, saltBody, seal } from '../../../domain/log/seal.ts'

/** The time of the first event of a {@link Sealer}. Each further event is a millisecond later. */
const EPOCH = Date.parse('2026-01-01T00:00:00.000Z')

/** A clock before all sealed events, for logs with a clock. */
export const BEFORE = { now: () => EPOCH - 1 }

/** Bytes derived from a seed: the same on every machine. */
export function bytesOf(seed: string, length: number): Uint8Array {
  const out = new Uint8Array(length)
  for (let at = 0, block = 0; at < length; block++)
    for (const byte of createHash('sha256').update(`${seed}/${block}`).digest()) if (at < length) out[at++] = byte
  return out
}

/** Members of an event that a test sets; the sealer adds the rest. `ms`: after {@link EPOCH}. */
export interface Draft {
  readonly type?: string
  readonly body?: Json
  readonly ms?: number
  readonly blob?: boolean
  readonly cipher?: NonNullable<BodyHeader['cipher']>
  /** Undefined members are omitted. */
  readonly header?: { readonly [K in Exclude<keyof Header, 'body'>]?: Header[K] | undefined }
}

/** The end of a stream's chain, for the next event. */
export interface Tip {
  readonly revision: number
  readonly hash: string
}

export const NEW: Tip = { revision: -1, hash: GENESIS }

/**
 * Seals batches with salts derived from its name. Two sealers with different names never make equal ids; two with the
 * same name always do. Time advances by a millisecond with every event of the sealer, over all streams.
 */
export class Sealer {
  readonly name: string
  #sealed = 0
  ms = 0

  constructor(name = 'sealer') {
    this.name = name
  }

  /** Salts and hashes a body. */
  body(value: Json): SaltedBody {
    return saltBody(canonicalBytes(value), bytesOf(`${this.name}#${this.#sealed++}`, 16))
  }

  /** Seals events after `tip` of a stream such as `agent-a1`. */
  batch(stream: string, tip: Tip, drafts: readonly Draft[]): SealedEvent[] {
    const sealed: SealedEvent[] = []
    let { hash } = tip
    for (const [index, draft] of drafts.entries()) {
      const salted = this.body(draft.body ?? { n: this.#sealed })
      this.ms = Math.max(this.ms + 1, draft.ms ?? 0)
      const agentId = stream.slice(stream.indexOf('-') + 1)
      const given = {
        format: 1,
        stream,
        type: draft.type ?? 'noted',
        version: 1,
        runId: agentId,
        agentId,
        turn: 0,
        revision: tip.revision + 1 + index,
        timestamp: new Date(EPOCH + (draft.ms ?? this.ms)).toISOString(),
        commandId: `${this.name}-${this.#sealed}`,
        actor: { kind: 'system', id: 'test' },
        ...draft.header,
        body: {
          ...salted.header,
          place: draft.blob ? 'blob' : 'inline',
          ...(draft.cipher && { cipher: draft.cipher }),
        },
      }
      const header = Object.fromEntries(Object.entries(given).filter(([, member]) => member !== undefined)) as Header
      const event = seal(hash, header, draft.blob ? null : salted.bytes)
      sealed.push(event)
      hash = event.hash
    }
    return sealed
  }
}

/** The body of an `erased` fact for these events. */
export const erasedBody = (...events: readonly SealedEvent[]) => ({
  bodies: events.map(({ header }) => ({ revision: header.revision, bodyHash: header.body.hash })),
  code: 'other' as const,
  reason: 'asked for',
})

/** The tip after some sealed events. */
export function tipOf(events: readonly SealedEvent[]): Tip {
  const last = events.at(-1)
  return last ? { revision: last.header.revision, hash: last.hash } : NEW
}

/** All events of some pages. */
export async function collect(pages: AsyncIterable<readonly RecordedEvent[]>): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = []
  for await (const page of pages) events.push(...page)
  return events
}
