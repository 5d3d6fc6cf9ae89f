import { z } from 'zod'
import {
  keptArguments,
  keptName,
  MAX_ANSWER_BYTES,
  MAX_ARGUMENT_VALUES,
  MAX_BLOCKS,
  MAX_CALLS,
} from '../../calls/answer-bounds.ts'
import { Block } from '../../calls/content.ts'
import { ModelError } from '../../calls/errors.ts'
import type { ModelOutcome } from '../../calls/model-call.ts'
import { CUTS, type Cut } from '../../calls/model-call.ts'
import { isTame, MAX_JSON_DEPTH } from '../../calls/requested-calls.ts'
import { byteLength, headOf } from '../../calls/truncate.ts'
import { firstIssue } from '../../log/issues.ts'
import { jsonSize } from '../../log/json-size.ts'
import { agentBodies } from './events.ts'

// A provider's answer is validated like any external data.

/** Rejects larger counts as a provider's mistake; they would overflow the amounts on the bill. */
const tokens = z.int().nonnegative().max(1_000_000_000_000)

const Outcome = z.object({
  content: z.array(Block),
  stopReason: agentBodies.model_call_end.shape.stopReason,
  usage: z.strictObject({ input: tokens, output: tokens, cacheRead: tokens, cacheWrite: tokens }),
  servedBy: z.string().transform(keptName),
  requestId: z.string().transform(keptName).optional(),
  cut: z.enum(CUTS).optional(),
})

/**
 * Validates a provider's answer. A longer answer is cut off at the bound and marked with `cut`. Throws ModelError
 * INVALID_RESPONSE, which names the fault.
 */
export function modelOutcome(given: unknown): ModelOutcome {
  const parsed = Outcome.safeParse(given)
  if (!parsed.success)
    throw new ModelError('INVALID_RESPONSE', `the model's answer: ${firstIssue(parsed.error, 'outcome')}`)
  const outcome = parsed.data as ModelOutcome
  const { content, cut = outcome.cut } = cutContent(outcome.content)
  if (cut === undefined) return { ...outcome, content }
  return { ...outcome, content, cut, stopReason: outcome.stopReason === 'refusal' ? 'refusal' : 'max_tokens' }
}

function cutContent(given: readonly Block[]): { content: Block[]; cut?: Cut } {
  const content: Block[] = []
  let room = MAX_ANSWER_BYTES
  let calls = 0
  let values = 0
  for (const whole of given) {
    const block = boundedBlock(whole, (text) => {
      values += jsonSize(text).values
      return values > MAX_ARGUMENT_VALUES
    })
    if (block.type === 'tool_use' && ++calls > MAX_CALLS) return { content, cut: 'calls' }
    if (content.length === MAX_BLOCKS) return { content, cut: 'blocks' }
    room -= byteLength(JSON.stringify(block))
    if (room < 0) {
      const text = block.type === 'text' ? headOf(String(block.text), MAX_ANSWER_BYTES / 2) : ''
      return { content: text === '' ? content : [...content, { type: 'text', text }], cut: 'bytes' }
    }
    content.push(block)
  }
  return { content }
}

/** `tooMany`: whether these arguments, with the previous ones, exceed {@link MAX_ARGUMENT_VALUES}. */
function boundedBlock(block: Block, tooMany: (text: string) => boolean): Block {
  if (block.type !== 'tool_use') return tame(block)
  const { input, input_text: raw, ...rest } = tame(block.input === undefined ? block : { ...block, input: null })
  const named = { ...rest, ...shortened('id', block.id), ...shortened('name', block.name) }
  if (raw !== undefined) return { ...named, input_text: typeof raw === 'string' ? keptArguments(raw) : raw } as Block
  if (block.input === undefined) return named as Block
  // Arguments that cannot be written as JSON fail their call; the model gets the error and the run continues.
  if (!isTame(block.input)) return { ...named, input_text: 'no JSON, or nested too deeply' } as Block
  const text = JSON.stringify(block.input)
  const kept = keptArguments(text)
  const asText = kept !== text || tooMany(text)
  return { ...named, ...(asText ? { input_text: kept } : { input: block.input }) } as Block
}

const shortened = (key: 'id' | 'name', value: unknown) => (typeof value === 'string' ? { [key]: keptName(value) } : {})

function tame(block: Block): Block {
  if (isTame(block)) return block
  throw new ModelError(
    'INVALID_RESPONSE',
    `the model's answer is no JSON, or nested deeper than ${MAX_JSON_DEPTH} levels`,
  )
}
