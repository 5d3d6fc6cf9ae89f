import { canonicalBytes } from '../../../log/canonical.ts'
import { sha256 } from '../../../log/ids.ts'
import type { ModelOutcome, ModelRequest } from '../../../ports/index.ts'
import type { RuntimePorts } from '../../../ports/runtime.ts'
import { modelOutcome } from '../../events/model-outcome.ts'

// The request cache: the same request to the same model, byte for byte, has the answer of before.

type Ports = Pick<RuntimePorts, 'cache' | 'warn'>

/** A longer answer is asked for again rather than kept. In characters. */
const LONGEST = 1024 * 1024

/** The key of a request: SHA-256 over all of it. */
export const requestKey = (provider: string, request: ModelRequest): string =>
  sha256(canonicalBytes({ provider, request }))

/** The answer of before; null: there is none. A cache that cannot be read has none. */
export async function answerOf({ cache, warn }: Ports, agentId: string, key: string): Promise<ModelOutcome | null> {
  try {
    const text = (await cache?.get(key)) ?? null
    return text === null ? null : modelOutcome(JSON.parse(text))
  } catch (error) {
    warn?.(agentId, `the request cache could not be read: ${(error as Error).message}`)
    return null
  }
}

/** Keeps a whole answer, without secrets: what was cut off or refused is asked for again. */
export async function keepAnswer({ cache, warn }: Ports, agentId: string, key: string, outcome: ModelOutcome) {
  if (outcome.cut !== undefined || outcome.stopReason === 'refusal') return
  const text = JSON.stringify(outcome)
  if (text.length > LONGEST) return
  await cache?.put(key, text).catch((error: Error) => {
    warn?.(agentId, `the request cache could not be written: ${error.message}`)
  })
}
