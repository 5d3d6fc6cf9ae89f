import { z } from 'zod'
import { byteLength, decodeText, headAndTail, headOf, RESULT_BYTES } from '../../domain/agent/bounded.ts'
import { ToolError } from '../../domain/agent/errors.ts'
import type { ToolResult } from '../../domain/ports.ts'
import { defineTool, wellFormedText, workspaceOf } from './kit.ts'
import { mediaType } from './media-type.ts'

/** The limit of shown text, which leaves room for notes. In bytes. */
const TEXT_BYTES = RESULT_BYTES - 512
/** The largest binary file that is returned, in base64. In bytes. */
const BINARY_BYTES = 16_384

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
    const decoded = decodeText(bytes)
    // Redaction comes before the cut, because a cut could split a secret.
    const text = context.redact ? context.redact(decoded) : decoded
    const shown = offset === undefined && limit === undefined ? whole(text) : part(path, text, offset ?? 1, limit)
    return { content: shown + invalid }
  },
})

const isUtf8 = (bytes: Uint8Array): boolean => {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

const countLines = (text: string): number => text.split('\n').length - (text.endsWith('\n') ? 1 : 0)

function whole(text: string): string {
  const next = (head: string) => (text.startsWith(`${head}\n`) ? head.split('\n').length + 1 : head.split('\n').length)
  return headAndTail(
    text,
    TEXT_BYTES,
    (head) => `the file has ${countLines(text)} lines; read on with offset ${next(head)} and a limit`,
  )
}

function part(path: string, text: string, offset: number, limit = Infinity): string {
  const lines = text.split('\n')
  const total = countLines(text)
  if (offset > Math.max(1, total)) {
    throw new ToolError('INVALID_ARGUMENTS', `offset: ${JSON.stringify(path)} has only ${total} lines`)
  }
  const wanted = lines.slice(offset - 1, Math.min(total, offset - 1 + limit))
  let size = 0
  let fits = 0
  while (fits < wanted.length) {
    size += byteLength(wanted[fits] as string) + 1
    if (size > TEXT_BYTES) break
    fits++
  }
  if (fits === 0 && wanted.length > 0) return longLine(wanted[0] as string, offset, total)
  const last = offset + fits - 1
  const more = last < total ? `; read on with offset ${last + 1}` : ''
  return `${wanted.slice(0, fits).join('\n')}\n[lines ${offset}–${last} of ${total}${more}]`
}

function longLine(line: string, number: number, total: number): string {
  const shown = headAndTail(line, TEXT_BYTES, () => 'search_code shows the surroundings of a match')
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
