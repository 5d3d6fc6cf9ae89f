import { external } from '../../../domain/external/aggregate.ts'
import type { ExternalBodyOf, ExternalEvent } from '../../../domain/external/events.ts'
import { externalStream } from '../../../domain/log/ids.ts'
import { history } from '../../../domain/stream/runtime/history.ts'
import { notFound } from '../problem.ts'
import type { Services } from '../services.ts'
import { fileEdits } from './reported-edits.ts'
import type { ReportedEdits } from './schemas.ts'

/** The most edits in one answer. */
const MOST = 1_000
/** The most calls without a result that are remembered. */
const MOST_OPEN = 1_000

type Edit = ReportedEdits['edits'][number]

/** The file edits that an external agent has reported up to an event, the newest {@link MOST}. Rejects with 404. */
export async function listEdits(
  { log, blobs }: Pick<Services, 'log' | 'blobs'>,
  agentId: string,
  event = Number.MAX_SAFE_INTEGER,
): Promise<ReportedEdits> {
  const stream = externalStream(agentId)
  if ((await log.head(stream)) === null) throw notFound('agent', agentId, 'only agents other than keepup report edits')
  const found = new EditsOfCalls()
  for await (const page of history<ExternalEvent>({ log, blobs }, external, stream, { to: event }))
    for (const { event } of page)
      if (event.type === 'agent_events') for (const one of event.body.events) found.add(event.revision, one)
  return { agentId, ...found.newest() }
}

/** The edits of an agent's calls, in the order of the calls. */
class EditsOfCalls {
  #calls: Edit[][] = []
  readonly #open = new Map<string, { readonly input: unknown; readonly edits: Edit[] }>()
  #isCut = false

  add(revision: number, { kind, data }: ExternalBodyOf<'agent_events'>['events'][number]): void {
    if (kind !== 'ToolCall' && kind !== 'ToolResult') return
    const { id, input, success, patch } = (data ?? {}) as { readonly [name: string]: unknown }
    const call = typeof id === 'string' ? this.#open.get(id) : undefined
    if (kind === 'ToolCall') {
      const edits = editsOf(revision, input, null, null)
      if (typeof id === 'string') this.#open.set(id, { input, edits })
      if (this.#open.size > MOST_OPEN) this.#open.delete(this.#open.keys().next().value!)
      return this.#keep(edits)
    }
    this.#open.delete(String(id))
    const ended = success === true
    if (call === undefined) return this.#keep(editsOf(revision, null, data, ended))
    const now = patch === undefined ? call.edits : editsOf(revision, call.input, data, ended)
    const isListed = call.edits.length > 0
    call.edits.splice(0, call.edits.length, ...now.map((edit) => ({ ...edit, success: ended })))
    if (!isListed) this.#keep(call.edits)
  }

  newest(): Pick<ReportedEdits, 'edits' | 'more'> {
    const edits = this.#calls.flat()
    return { edits: edits.slice(-MOST), more: this.#isCut || edits.length > MOST }
  }

  #keep(edits: Edit[]): void {
    if (edits.length === 0) return
    this.#calls.push(edits)
    if (this.#calls.length <= 2 * MOST) return
    this.#isCut = true
    this.#calls = this.#calls.slice(-MOST)
  }
}

const editsOf = (revision: number, input: unknown, result: unknown, success: boolean | null): Edit[] =>
  fileEdits(input, result).map((edit) => ({ ...edit, revision, success }))
