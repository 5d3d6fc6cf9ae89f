import { canonicalBytes } from '../../../log/canonical.ts'
import { sha256 } from '../../../log/ids.ts'
import type { ModelOutcome, ModelRequest } from '../../../ports/index.ts'
import type { RuntimePorts } from '../../../ports/runtime.ts'
import { modelOutcome } from '../../events/model-outcome.ts'

// The request cache: an identical request to the same model gets the earlier answer.

type Ports = Pick<RuntimePorts, 'cache' | 'warn'>

/** The longest cached answer, in characters. Longer answers are requested again. */
const LONGEST = 1024 * 1024

/** SHA-256 over the whole request. */
export const requestKey = (provider: string, request: ModelRequest): string =>
  sha256(canonicalBytes({ provider, request }))

/** The cached answer; null: none, or the cache cannot be read. */
export async function answerOf({ cache, warn }: Ports, agentId: string, key: string): Promise<ModelOutcome | null> {
  try {
    const text = (await cache?.get(key)) ?? null
    return text === null ? null : modelOutcome(JSON.parse(text))
  } catch (error) {
    warn?.(agentId, `the request cache could not be read: ${(error as Error).message}`)
    return null
  }
}

/** Caches a complete, redacted answer. Answers that were cut off or refused are not cached. */
export async function keepAnswer({ cache, warn }: Ports, agentId: string, key: string, outcome: ModelOutcome) {
  if (outcome.cut !== undefined || outcome.stopReason === 'refusal') return
  const text = JSON.stringify(outcome)
  if (text.length > LONGEST) return
  await cache?.put(key, text).catch((error: Error) => {
    warn?.(agentId, `the request cache could not be written: ${error.message}`)
  })
}
