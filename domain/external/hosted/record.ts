import type { CallBodyOf } from '../../calls/events/events.ts'
import { canonicalText } from '../../log/canonical.ts'
import type { Json } from '../../log/json.ts'
import type { ExternalEvent } from '../events.ts'
import { RequestBook } from './requests.ts'

export type CallEnd = CallBodyOf<'tool_call_end'>
export type Approval = Pick<CallBodyOf<'approval_decided'>, 'decision' | 'reason'> & { readonly by: string }

/** Identifies a call of the program: providers repeat their ids, so name and arguments belong to it. */
export const callKey = (providerId: string, name: string, argumentsHash: string): string =>
  canonicalText([providerId, name, argumentsHash])

/** The record of a hosted run as its program needs it to continue: outcomes that are taken instead of calling again. */
export class HostedRecord {
  readonly requests = new RequestBook()
  /** By request, in order. */
  readonly #answers = new Map<string, Json[]>()
  readonly #keys = new Map<number, string>()
  /** By call of the program, the ids of recorded calls in order. */
  readonly #calls = new Map<string, string[]>()
  readonly #ends = new Map<string, CallEnd>()
  readonly #approvals = new Map<string, Approval>()
  /** By subpath: the uuids of recorded entries. */
  readonly #entries = new Map<string, Set<string>>()

  /** Takes an event of the stream. `erased`: its content is gone, so the call is made again. */
  add(event: ExternalEvent, erased = false): void {
    switch (event.type) {
      case 'model_requested':
        if (!erased) this.#keys.set(event.body.call, event.body.key)
        if (!erased) this.requests.add(event.body.call, event.body.request)
        return
      case 'model_outcome': {
        const { call, outcome, answer } = event.body
        const key = this.#keys.get(call)
        this.#keys.delete(call)
        if (key !== undefined && outcome === 'answered' && answer !== undefined)
          push(this.#answers, key, answer as Json)
        return
      }
      case 'tool_call_requested': {
        const {
          content: [block],
          calls: [{ toolName, argumentsHash }],
        } = event.body
        if (!erased) push(this.#calls, callKey(String(block.id), toolName, argumentsHash), event.toolCallId!)
        return
      }
      case 'approval_decided':
        this.approved(event.toolCallId!, { ...event.body, by: event.actor.id })
        return
      case 'tool_call_end':
        this.ended(event.toolCallId!, event.body)
        return
      case 'transcript_mirrored':
        if (!erased) this.noteEntries(event.body.subpath, event.body.entries as readonly object[])
        return
      case 'transcript_deleted':
        this.forgetEntries(event.body.subpath)
        return
      default:
    }
  }

  /** The recorded answer to a request, once; undefined: the program calls the model. */
  takeAnswer(key: string): Json | undefined {
    return this.#answers.get(key)?.shift()
  }

  /** The id of the recorded call, once; undefined: it is a new call. */
  takeCall(key: string): string | undefined {
    return this.#calls.get(key)?.shift()
  }

  ended(id: string, end: CallEnd): void {
    this.#ends.set(id, end)
  }

  endOf(id: string): CallEnd | undefined {
    return this.#ends.get(id)
  }

  forget(id: string): void {
    this.#ends.delete(id)
    this.#approvals.delete(id)
  }

  approved(id: string, approval: Approval): void {
    this.#approvals.set(id, approval)
  }

  approvalOf(id: string): Approval | undefined {
    return this.#approvals.get(id)
  }

  hasTranscript(subpath: string | undefined): boolean {
    return this.#entries.has(subpath ?? '')
  }

  hasEntry(subpath: string | undefined, uuid: string): boolean {
    return this.#entries.get(subpath ?? '')?.has(uuid) === true
  }

  /** Undefined: the entries of all transcripts. */
  forgetEntries(subpath: string | undefined): void {
    if (subpath === undefined) this.#entries.clear()
    else this.#entries.delete(subpath)
  }

  noteEntries(subpath: string | undefined, entries: readonly object[]): void {
    const known = this.#entries.get(subpath ?? '') ?? new Set()
    this.#entries.set(subpath ?? '', known)
    for (const entry of entries) if ('uuid' in entry && typeof entry.uuid === 'string') known.add(entry.uuid)
  }
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}
