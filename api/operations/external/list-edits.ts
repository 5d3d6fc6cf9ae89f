import { setImmediate } from 'node:timers/promises'
import { external } from '../../../domain/external/aggregate.ts'
import type { ExternalBodyOf, ExternalEvent } from '../../../domain/external/events.ts'
import { externalStream } from '../../../domain/log/ids.ts'
import { history } from '../../../domain/stream/runtime/history.ts'
import { notFound } from '../problem.ts'
import type { Services } from '../services.ts'
import { type FileEdit, fileEdits, patching } from './reported-edits.ts'
import type { ReportedEdits } from './schemas.ts'

/** The most edits in one answer. */
const MOST = 500
/** The most calls without a result that are remembered. */
const MOST_OPEN = 1_000
/** The longest time for all comparisons of an answer, in ms. */
const ALL_COMPARING_MS = 2_000

type Edit = FileEdit & Omit<ReportedEdits['edits'][number], 'patch' | 'tooLong'>

/** The file edits that an external agent has reported up to an event, the newest {@link MOST}. Rejects with 404. */
export async function listEdits(
  { log, blobs }: Pick<Services, 'log' | 'blobs'>,
  agentId: string,
  event = Number.MAX_SAFE_INTEGER,
): Promise<ReportedEdits> {
  const stream = externalStream(agentId)
  if ((await log.head(stream)) === null) throw notFound('agent', agentId, 'only agents other than keepup report edits')
  const found = new EditsOfCalls()
  const range = { to: event, types: ['agent_events'] }
  for await (const page of history<ExternalEvent>({ log, blobs }, external, stream, range))
    for (const { event } of page)
      if (event.type === 'agent_events') for (const one of event.body.events) found.add(event.revision, one)
  const { edits, more } = found.newest()
  return { agentId, edits: await withPatches(edits), more }
}

/** Compares the texts of the newest edits first. Other requests are answered between two comparisons. */
async function withPatches(edits: readonly Edit[]): Promise<ReportedEdits['edits']> {
  const answered: ReportedEdits['edits'] = []
  const patchOf = patching(ALL_COMPARING_MS)
  for (const edit of edits.toReversed()) {
    const { revision, path, success } = edit
    answered.push({ revision, path, ...patchOf(edit), success })
    if (typeof edit.patch === 'function') await setImmediate()
  }
  return answered.reverse()
}

/** The edits of an agent's calls, in the order of the calls. */
class EditsOfCalls {
  #calls: Edit[][] = []
  #count = 0
  readonly #open = new Map<string, { readonly input: unknown; readonly edits: Edit[] }>()
  #isCut = false

  add(revision: number, { kind, data }: ExternalBodyOf<'agent_events'>['events'][number]): void {
    if (kind !== 'ToolCall' && kind !== 'ToolResult') return
    const { id: told, input, success, patch } = (data ?? {}) as { readonly [name: string]: unknown }
    const id = typeof told === 'string' ? told : null
    if (kind === 'ToolCall') {
      const edits = editsOf(revision, input, null, null)
      if (id !== null) this.#open.set(id, { input, edits })
      if (this.#open.size > MOST_OPEN) this.#open.delete(this.#open.keys().next().value!)
      return this.#keep(edits)
    }
    const call = id === null ? undefined : this.#open.get(id)
    if (id !== null) this.#open.delete(id)
    const ended = success === true
    if (call === undefined) return this.#keep(editsOf(revision, null, data, ended))
    const now = patch === undefined ? call.edits : editsOf(revision, call.input, data, ended)
    const isListed = call.edits.length > 0
    call.edits.splice(0, call.edits.length, ...now.map((edit) => ({ ...edit, success: ended })))
    if (!isListed) this.#keep(call.edits)
  }

  newest(): { readonly edits: readonly Edit[]; readonly more: boolean } {
    const edits = this.#calls.flat()
    return { edits: edits.slice(-MOST), more: this.#isCut || edits.length > MOST }
  }

  #keep(edits: Edit[]): void {
    if (edits.length === 0) return
    this.#calls.push(edits)
    this.#count += edits.length
    if (this.#count <= 2 * MOST) return
    // A result may have changed the number of a call's edits.
    const counts = this.#calls.map((call) => call.length)
    let first = counts.length - 1
    for (let count = counts[first]!; count < MOST && first > 0; first--) count += counts[first - 1]!
    this.#isCut ||= first > 0
    this.#calls = this.#calls.slice(first)
    this.#count = counts.slice(first).reduce((sum, count) => sum + count, 0)
  }
}

const editsOf = (revision: number, input: unknown, result: unknown, success: boolean | null): Edit[] =>
  fileEdits(input, result).map((edit) => ({ ...edit, revision, success }))
