import { isUtf8 } from 'node:buffer'
import { z } from 'zod'
import { ToolError } from '../../../domain/calls/errors.ts'
import { decodeText, headOf, RESULT_BYTES } from '../../../domain/calls/truncate.ts'
import type { ToolContext, ToolResult } from '../../../domain/ports/index.ts'
import { yielder } from '../../../domain/stream/runtime/yield-to-event-loop.ts'
import { defineTool, wellFormedText, workspaceOf } from './kit.ts'
import { mediaType } from './media-type.ts'
import { LineWindow, TextEnds } from './text-window.ts'

/** The longest shown text, in bytes. The rest of the result is for notes. */
const TEXT_BYTES = RESULT_BYTES - 512
/** The largest binary file to return as base64, in bytes. */
const BINARY_BYTES = 16_384
/**
 * The largest file to decode and redact at once, in bytes. A larger file is processed in parts, with turns of the event
 * loop between them.
 */
const WHOLE_BYTES = 512 * 1024
const PART_BYTES = 32 * 1024

export const readFileTool = defineTool({
  name: 'read_file',
  description:
    'Read a file of the workspace. Text is returned as it is; a long file is shown with its beginning and end, and ' +
    'offset and limit (in lines) read any part of it. A small binary file is returned as base64.',
  parameters: z.strictObject({
    path: wellFormedText.min(1).describe('Path relative to the workspace, e.g. "src/index.ts"'),
    offset: z.int().min(1).optional().describe('First line to read, counted from 1'),
    limit: z.int().min(1).optional().describe('How many lines to read'),
  }),
  effect: 'pure',
  paths: { path: 'read' },
  timeLimitMs: 30_000,
  async run({ path, offset, limit }, context): Promise<ToolResult> {
    const bytes = await workspaceOf(context).read(path)
    if (bytes.includes(0)) return binary(path, bytes)
    const invalid = isUtf8(bytes) ? '' : `\n[${bytes.length} bytes, some of them no UTF-8: shown as \ufffd]`
    const ends = new TextEnds(TEXT_BYTES)
    const lines = new LineWindow(offset ?? 1, (offset ?? 1) + (limit ?? Infinity) - 1, TEXT_BYTES)
    const yieldToEventLoop = yielder()
    for (const part of redactedParts(bytes, context)) {
      ends.push(part)
      lines.push(part)
      await yieldToEventLoop()
    }
    const shown = offset === undefined && limit === undefined ? whole(ends, lines) : partOf(path, lines, offset ?? 1)
    return { content: shown + invalid }
  },
})

/** The redacted text of a file, in parts. Redact before any truncation, which could split a secret. */
function* redactedParts(bytes: Uint8Array, { redact, redactStream }: ToolContext): Generator<string> {
  if (bytes.length <= WHOLE_BYTES || redactStream === undefined) {
    const text = decodeText(bytes)
    yield redact ? redact(text) : text
    return
  }
  const filter = redactStream()
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
  for (let from = 0; from < bytes.length; from += PART_BYTES)
    yield filter.push(utf8.decode(bytes.subarray(from, from + PART_BYTES), { stream: true }))
  yield filter.push(utf8.decode()) + filter.end()
}

const whole = (ends: TextEnds, { total }: LineWindow): string =>
  ends.shown((next) => `the file has ${total} lines; read on with offset ${next} and a limit`)

function partOf(path: string, { total, lines, first }: LineWindow, offset: number): string {
  if (offset > total)
    throw new ToolError('INVALID_ARGUMENTS', `offset: ${JSON.stringify(path)} has only ${total} lines`)
  if (lines.length === 0) return longLine(first, offset, total)
  const last = offset + lines.length - 1
  const more = last < total ? `; read on with offset ${last + 1}` : ''
  return `${lines.join('\n')}\n[lines ${offset}–${last} of ${total}${more}]`
}

function longLine(line: TextEnds, number: number, total: number): string {
  const shown = line.shown(() => 'search_code shows the surroundings of a match')
  return `${shown}\n[line ${number} of ${total}${number < total ? `; read on with offset ${number + 1}` : ''}]`
}

function binary(path: string, bytes: Uint8Array): ToolResult {
  const mime = mediaType(path, bytes)
  if (bytes.length <= BINARY_BYTES) {
    return { content: { base64: Buffer.from(bytes).toString('base64'), mime, bytes: bytes.length } }
  }
  const first = headOf(Buffer.from(bytes.subarray(0, 32)).toString('hex'), 64)
  return { content: { mime, bytes: bytes.length, firstBytes: first, note: 'a binary file, too large to be shown' } }
}
