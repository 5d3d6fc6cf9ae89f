import { z } from 'zod'
import { RESULT_BYTES } from '../../calls/truncate.ts'
import { UNTRUSTED } from '../../calls/untrusted.ts'
import { controlTool, nonBlank } from './control-tool.ts'

/** The most that one call shows of a result, in UTF-8 bytes. */
export const READ_BYTES = RESULT_BYTES - 512

const schema = z.strictObject({
  toolCallId: nonBlank.describe('The id of the call whose result it is, as the note in the cut result names it.'),
  from: z.int().nonnegative().default(0).describe('First byte to read, counted from 0. Default: 0'),
  length: z
    .int()
    .min(4)
    .max(READ_BYTES)
    .default(READ_BYTES)
    .describe(`How many bytes to read. Default, and at most: ${READ_BYTES}`),
})

export const readResult = controlTool({
  name: 'read_result',
  description: 'Reads any part of the result of an earlier call that was too long to be shown whole.',
  schema,
  kind: 'reads_results',
  needsTools: true,
  examine: (_, __, part) => ({ part }),
  decide: (_, __, ___, { text, untrusted }) => ({
    events: [],
    end: untrusted === undefined ? { content: text ?? '' } : marked(text ?? '', untrusted),
  }),
})

/** A part of an untrusted result gets the same mark as the whole. */
const marked = (text: string, untrusted: string) => ({
  content: untrusted === 'web' ? { notice: UNTRUSTED, text } : text,
  detail: { untrusted },
})
