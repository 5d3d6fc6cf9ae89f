import { z } from 'zod'
import type { ModelOutcome } from '../../ports.ts'
import { ModelError } from '../errors.ts'
import { firstIssue } from '../issues.ts'
import { Block, isTame, MAX_DEPTH } from './content.ts'
import { bodies } from './events.ts'

// A provider is foreign code, and what it answers is foreign data.

/** No call takes so many tokens: what says so is a mistake, and must not become an amount that nobody can count. */
const tokens = z.int().nonnegative().max(1_000_000_000_000)

const Outcome = z.object({
  content: z.array(Block),
  stopReason: bodies.model_call_end.shape.stopReason,
  usage: z.strictObject({ input: tokens, output: tokens, cacheRead: tokens, cacheWrite: tokens }),
  servedBy: z.string(),
  requestId: z.string().optional(),
})

/** What a provider answered, of the port's shape. Throws ModelError INVALID_RESPONSE, which says what is wrong with it. */
export function modelOutcome(given: unknown): ModelOutcome {
  const parsed = Outcome.safeParse(given)
  if (!parsed.success)
    throw new ModelError('INVALID_RESPONSE', `the model's answer: ${firstIssue(parsed.error, 'outcome')}`)
  if (!parsed.data.content.every((block) => isTame(block)))
    throw new ModelError('INVALID_RESPONSE', `the model's answer is no JSON, or nested deeper than ${MAX_DEPTH} levels`)
  return parsed.data as ModelOutcome
}
