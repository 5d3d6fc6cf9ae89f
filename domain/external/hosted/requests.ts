import { canonicalText } from '../../log/canonical.ts'
import { sha256 } from '../../log/ids.ts'
import type { Json, JsonObject } from '../../log/json.ts'
import type { HostedRequest } from './events.ts'

/** A whole request to a model. */
export interface WholeRequest {
  readonly settings: JsonObject
  readonly tools: readonly Json[]
  readonly messages: readonly Json[]
}

interface Earlier {
  readonly call: number
  readonly messages: readonly string[]
  readonly tools: string
}

/** The number of earlier requests that a request may continue: parallel conversations of one run. */
const KEPT = 8

/**
 * The requests of a run. A request that continues an earlier one is recorded with its new messages only, so that the log
 * grows with the conversation and not with its square.
 */
export class RequestBook {
  #earlier: readonly Earlier[] = []

  /** The recorded form of a request. Call {@link add} when it is recorded. */
  shortened({ settings, tools, messages }: WholeRequest): HostedRequest {
    const hashes = messages.map(hashOf)
    let best: { readonly one: Earlier; readonly shared: number } | null = null
    for (const one of this.#earlier) {
      const shared = sharedStart(one.messages, hashes)
      if (shared > (best?.shared ?? 0)) best = { one, shared }
    }
    if (best === null) return { settings, tools: [...tools], messages: [...messages] }
    const { one, shared } = best
    return {
      after: { call: one.call, messages: shared },
      settings,
      ...(hashOf(tools as Json) !== one.tools && { tools: [...tools] }),
      messages: messages.slice(shared),
    }
  }

  /** Takes a recorded request. False: the request that it continues is not known, or erased. */
  add(call: number, { after, tools, messages }: HostedRequest): boolean {
    const base = after === undefined ? null : this.#earlier.find((one) => one.call === after.call)
    if (base === undefined) return false
    const all = [...(base?.messages.slice(0, after?.messages) ?? []), ...messages.map((one) => hashOf(one as Json))]
    const told = tools === undefined ? (base?.tools ?? hashOf([])) : hashOf(tools as Json)
    this.#earlier = [{ call, messages: all, tools: told }, ...this.#earlier].slice(0, KEPT)
    return true
  }
}

const hashOf = (value: Json): string => sha256(canonicalText(value))

function sharedStart(a: readonly string[], b: readonly string[]): number {
  let length = 0
  while (length < a.length && length < b.length && a[length] === b[length]) length++
  return length
}
