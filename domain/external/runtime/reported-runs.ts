import type { Actor } from '../../log/envelope.ts'
import { base32, reportedRunId } from '../../log/ids.ts'
import type { StreamPorts } from '../../stream/runtime/ports.ts'
import { NO_SPANS, spansById } from '../reported/book.ts'
import type { UnnumberedSpan } from '../reported/span.ts'
import { ExternalMailbox } from './mailbox.ts'

/** The most mailboxes in memory. A trace usually arrives within seconds, in many reports. */
const KEPT = 32

/** Runs that programs report over OTLP: one run per sender and trace. */
export class ReportedRuns {
  readonly #ports: StreamPorts
  /** The mailboxes of the runs, in the order of their last reports. */
  readonly #mailboxes = new Map<string, ExternalMailbox>()

  constructor(ports: StreamPorts) {
    this.#ports = ports
  }

  /**
   * Records the spans of a trace that are new, in the run of the sender `by`. Returns the number of spans that the run refuses, because it has too
   * many. Resolves when the spans are durable; rejects with the errors of a mailbox.
   */
  async report(traceId: string, spans: readonly UnnumberedSpan[], by: Actor): Promise<number> {
    const runId = reportedRunId(by.id, traceId)
    const mailbox = this.#mailbox(runId)
    const commandId = `${runId}.report#${base32(this.#ports.random.bytes(10))}`
    await mailbox.submit({ kind: 'report', traceId, spans }, { by, commandId }, { fact: false })
    const known = spansById(mailbox.state?.reported ?? NO_SPANS)
    return spans.filter(({ spanId }) => !known.has(spanId)).length
  }

  #mailbox(runId: string): ExternalMailbox {
    const mailbox = this.#mailboxes.get(runId) ?? new ExternalMailbox(runId, this.#ports)
    this.#mailboxes.delete(runId)
    this.#mailboxes.set(runId, mailbox)
    for (const oldest of this.#mailboxes.size > KEPT ? this.#mailboxes.keys().take(1) : [])
      this.#mailboxes.delete(oldest)
    return mailbox
  }
}
