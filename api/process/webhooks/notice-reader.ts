import { agent } from '../../../domain/agent/decide/aggregate.ts'
import type { AgentEvent } from '../../../domain/agent/events/events.ts'
import {
  NOTICED as AGENT_NOTICED,
  agentNotice,
  LONGEST_TASK,
  NOTHING_YET,
  type RunSummary,
  SUMMARIZED,
  summarize,
} from '../../../domain/agent/notices.ts'
import { external } from '../../../domain/external/aggregate.ts'
import { NOTICED as EXTERNAL_NOTICED, externalNotice } from '../../../domain/external/notices.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { LogError } from '../../../domain/log/errors.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import { agentOf, kindOf, runOf } from '../../../domain/log/owner.ts'
import type { BlobStore, EventLog } from '../../../domain/ports/index.ts'
import { type EventNotice, shortLine } from '../../../domain/stream/notice.ts'
import { soundBytes } from '../../operations/events/body.ts'
import type { Notice } from '../../operations/webhooks/notice.ts'

/** The most runs whose summary is remembered. The summary of any other run is read from its stream again. */
const REMEMBERED = 2_000
/** The most sources of forks, one after the other, that are read for a summary. */
const FORKS = 20

const SPENDING: ReadonlySet<string> = new Set<AgentEvent['type']>([
  ...(['model_call_end', 'model_attempt_lost', 'child_ended', 'child_usage'] as const),
])
const SUMMARIZED_TYPES: ReadonlySet<string> = new Set(SUMMARIZED)

export interface NoticeParts {
  readonly log: Pick<EventLog, 'read'>
  readonly blobs: BlobStore
  /** The address of the page. */
  readonly page: string
  /** Replaces secrets that became known after the event was recorded. */
  hide(text: string): Promise<string>
}

/** Derives notices from the events of the log, in log order. An event that cannot be read has no notice. */
export class NoticeReader {
  readonly #parts: NoticeParts
  readonly #summaries = new Map<string, RunSummary>()

  constructor(parts: NoticeParts) {
    this.#parts = parts
  }

  async of(event: RecordedEvent): Promise<Notice | null> {
    const { header } = event
    const kind = kindOf(header.stream)
    const [run, agentId] = [runOf(header), agentOf(header)]
    const notice =
      kind === 'agent' && AGENT_NOTICED.has(header.type)
        ? await this.#ofAgent(event)
        : kind === 'external' && EXTERNAL_NOTICED.has(header.type)
          ? await this.#ofExternal(event)
          : null
    if (notice === null) return null
    const task =
      kind === 'external' && run === agentId ? await this.#promptOf(header.stream) : await this.#taskOf(event)
    const [title, text] = await Promise.all([this.#parts.hide(notice.title), this.#parts.hide(task ?? '')])
    const query = agentId === run ? '' : `?agent=${encodeURIComponent(agentId)}`
    const link = `${this.#parts.page}/runs/${encodeURIComponent(run)}${query}`
    return { id: event.id, type: notice.type, at: header.timestamp, run, agent: agentId, title, text, link }
  }

  async #ofAgent(event: RecordedEvent): Promise<EventNotice | null> {
    const { stream, runId, agentId, type } = event.header
    if (runId !== agentId) {
      const decoded = await this.#decoded(event)
      return decoded && agentNotice(decoded, null)
    }
    const before = await this.#summaryBefore(stream, event)
    // The bodies of models' answers are large. Only a budget needs them.
    if (SPENDING.has(type) && before.budget.tokens === null && before.budget.nanoDollars === null) return null
    const decoded = await this.#decoded(event)
    if (decoded === null) return null
    const after = await this.#after(before, decoded)
    this.#remember(stream, after)
    return agentNotice(decoded, { before, after })
  }

  async #ofExternal(event: RecordedEvent): Promise<EventNotice | null> {
    const bytes = await this.#bytes(event)
    return bytes && readable(() => externalNotice(external.decode(event.header, bytes)))
  }

  async #taskOf(event: RecordedEvent): Promise<string | null> {
    return (await this.#summaryBefore(agentStream(runOf(event.header)), event)).task
  }

  /** The first line of the prompt of another agent's run. */
  async #promptOf(stream: string): Promise<string | null> {
    for await (const [first] of this.#parts.log.read(stream, { limit: 1 })) {
      const bytes = first && (await this.#bytes(first))
      const started = bytes && readable(() => external.decode(first.header, bytes))
      if (started?.type === 'external_started') return shortLine(started.body.request.prompt, LONGEST_TASK)
    }
    return null
  }

  async #summaryBefore(stream: string, { position }: RecordedEvent): Promise<RunSummary> {
    const known = this.#summaries.get(stream)
    if (known !== undefined) return known
    const summary = await this.#read(stream, (one) => one.position < position)
    this.#remember(stream, summary)
    return summary
  }

  async #decoded(event: RecordedEvent): Promise<AgentEvent | null> {
    const bytes = await this.#bytes(event)
    return bytes && readable(() => agent.decode(event.header, bytes))
  }

  async #bytes(event: RecordedEvent): Promise<Uint8Array | null> {
    return soundBytes(event, this.#parts.blobs).catch((error: unknown) => {
      if (error instanceof LogError && error.code === 'BLOB_MISSING') return null
      throw error
    })
  }

  /** The summary after an event. A fork begins with the summary of its source. */
  async #after(before: RunSummary, event: AgentEvent, forks = 0): Promise<RunSummary> {
    if (event.type !== 'forked' || forks === FORKS) return summarize(before, event)
    const { stream, revision } = event.body
    return summarize(await this.#read(stream, (one) => one.header.revision <= revision, forks + 1), event)
  }

  /** The summary of the first events of a stream, as far as `isBefore` holds. */
  async #read(stream: string, isBefore: (event: RecordedEvent) => boolean, forks = 0): Promise<RunSummary> {
    let summary = NOTHING_YET
    for await (const page of this.#parts.log.read(stream, { types: SUMMARIZED }))
      for (const event of page) {
        if (!isBefore(event)) return summary
        const decoded = SUMMARIZED_TYPES.has(event.header.type) ? await this.#decoded(event) : null
        if (decoded !== null) summary = await this.#after(summary, decoded, forks)
      }
    return summary
  }

  /** Forgets the run that was longest without an event. */
  #remember(stream: string, summary: RunSummary): void {
    this.#summaries.delete(stream)
    this.#summaries.set(stream, summary)
    if (this.#summaries.size > REMEMBERED) this.#summaries.delete(this.#summaries.keys().next().value!)
  }
}

/** Null: this program cannot read the event. */
function readable<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof LogError) return null
    throw error
  }
}
