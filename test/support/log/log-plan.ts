import fc from 'fast-check'
import type { RecordedEvent, SealedEvent } from '../../../domain/log/envelope.ts'
import { ConflictError, LogError } from '../../../domain/log/errors.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import { asSealed } from '../../contracts/event-log-factory.ts'
import { collect, erasedBody, NEW, Sealer, type Tip, tipOf } from './sealing.ts'

// A generated plan of requests to a log, for driving two logs with the same requests.

export const NAMES = ['agent-a', 'agent-b', 'document-c']
const stream = fc.constantFrom(...NAMES)
const small = fc.nat({ max: 30 })
/** One request to the logs. */
export const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant('append' as const),
      stream,
      count: fc.integer({ min: 1, max: 4 }),
      big: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('behind' as const), stream, at: small }) },
  fc.record({ op: fc.constant('ahead' as const), stream, by: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ op: fc.constant('unchained' as const), stream }),
  fc.record({ op: fc.constant('late' as const), stream }),
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant('resend' as const),
      which: small,
      part: fc.constantFrom('all', 'prefix', 'more', 'turned'),
    }),
  },
  fc.record({ op: fc.constant('pipeline' as const), stream, broken: fc.boolean() }),
  fc.record({ op: fc.constant('erase' as const), stream, at: small }),
  fc.record({ op: fc.constant('read' as const), stream, from: small, limit: small, bodies: fc.boolean() }),
  fc.record({ op: fc.constant('readAll' as const), after: small, limit: small, bodies: fc.boolean() }),
  fc.record({ op: fc.constant('head' as const), stream }),
  fc.record({ op: fc.constant('streams' as const), prefix: fc.constantFrom('', 'agent-', 'document-', 'x') }),
)
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** An append. */
export interface Call {
  readonly stream: string
  readonly expected: number
  readonly batch: readonly SealedEvent[]
}

/** The plan's model of the log, so both logs get the same requests. */
export class Model {
  readonly sealer = new Sealer()
  readonly streams = new Map<string, SealedEvent[]>()
  readonly sent: Call[] = []

  tip(name: string, revision = Number.POSITIVE_INFINITY): Tip {
    return tipOf((this.streams.get(name) ?? []).slice(0, revision + 1))
  }

  call(name: string, tip: Tip, count = 1, body?: string): Call {
    const drafts = Array.from({ length: count }, () => (body === undefined ? {} : { body }))
    return { stream: name, expected: tip.revision, batch: this.sealer.batch(name, tip, drafts) }
  }

  wrote({ stream: name, batch }: Call): void {
    this.streams.set(name, [...(this.streams.get(name) ?? []), ...batch])
  }

  callsOf(s: Step): Call[] {
    switch (s.op) {
      case 'append':
        return [this.call(s.stream, this.tip(s.stream), s.count, s.big ? 'words '.repeat(900) : undefined)]
      case 'behind':
        return [this.call(s.stream, this.tip(s.stream, s.at - 1))]
      case 'ahead': {
        const { revision, hash } = this.tip(s.stream)
        return [this.call(s.stream, { revision: revision + s.by, hash })]
      }
      case 'unchained':
        return [this.call(s.stream, { ...this.tip(s.stream), hash: 'e'.repeat(64) })]
      case 'resend': {
        const call = this.sent[s.which % Math.max(1, this.sent.length)]
        if (!call) return []
        const more = this.sealer.batch(call.stream, tipOf(call.batch), [{}])
        if (s.part === 'prefix') return [{ ...call, batch: call.batch.slice(0, 1) }]
        if (s.part === 'more') return [{ ...call, batch: [...call.batch, ...more] }]
        return [s.part === 'turned' ? { ...call, batch: [...call.batch].reverse() } : call]
      }
      case 'pipeline': {
        const first = this.call(s.stream, this.tip(s.stream))
        const on = s.broken ? { revision: first.expected + 2, hash: NEW.hash } : tipOf(first.batch)
        const second = this.call(s.stream, on)
        return [first, second, this.call(s.stream, tipOf(second.batch))]
      }
      case 'erase': {
        const target = this.streams.get(s.stream)?.[s.at]
        if (!target) return []
        const others = (this.streams.get(s.stream) ?? []).slice(s.at, s.at + 2)
        const tip = this.tip(s.stream)
        const batch = this.sealer.batch(s.stream, tip, [{ type: 'erased', body: erasedBody(target, ...others) }])
        return [{ stream: s.stream, expected: tip.revision, batch }]
      }
      default:
        return []
    }
  }
}

/** An outcome without prose. */
export async function told(work: Promise<unknown>): Promise<unknown> {
  try {
    return { is: await work }
  } catch (error) {
    if (!(error instanceof LogError)) throw error
    return { code: error.code, actual: error instanceof ConflictError ? error.actual : undefined }
  }
}

export const shown = (event: RecordedEvent) => ({ ...asSealed(event), position: event.position, erased: event.erased })

export async function ask(log: EventLog, s: Step, model: Model): Promise<unknown> {
  switch (s.op) {
    case 'read':
      return (await collect(log.read(s.stream, s))).map(shown)
    case 'head':
      return log.head(s.stream)
    case 'streams':
      return (await Array.fromAsync(log.streams(s.prefix))).flat()
    case 'readAll': {
      const all = await collect(log.readAll(null, { bodies: false }))
      const from = all[s.after % (all.length + 1)]
      return (await collect(log.readAll(from ? log.cursor(from) : null, s))).map(shown)
    }
    default:
      return model.streams.size
  }
}
