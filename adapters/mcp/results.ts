import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import { ToolError } from '../../domain/calls/errors.ts'
import { byteLength, headAndTail, RESULT_BYTES } from '../../domain/calls/truncate.ts'
import type { Json, JsonObject } from '../../domain/log/json.ts'
import { wellFormed } from '../../domain/log/well-formed.ts'
import type { ToolResult } from '../../domain/ports/index.ts'

/** The largest binary content to return whole, in bytes. */
const BINARY_BYTES = 16_384
const MAX_PARTS = 64
/** The longest message of a failure, in bytes. */
const MESSAGE_BYTES = 4_096

/**
 * The result of a server's answer. Text alone remains text, structured content remains JSON, and other content becomes
 * a list of parts in order. Throws ToolError EXECUTION_FAILED for `isError`, with the text as its message (CONTRACTS
 * 8).
 */
export function mcpResult(answer: CallToolResult): ToolResult {
  const blocks = answer.content ?? []
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  const text = wellFormed(texts.join('\n'))
  if (answer.isError === true) {
    const hint = () => 'the server said more'
    throw new ToolError('EXECUTION_FAILED', headAndTail(text.trim() || 'the tool failed', MESSAGE_BYTES, hint))
  }
  const detail = { untrusted: 'mcp' }
  const onlyText = texts.length === blocks.length
  if (answer.structuredContent !== undefined && onlyText)
    return { content: wellFormed(answer.structuredContent as Json), detail }
  // The runtime redacts the whole text and then truncates it. A truncation here could split a secret.
  if (onlyText)
    return { ...(byteLength(text) > RESULT_BYTES ? { content: '', whole: text } : { content: text }), detail }
  const parts = blocks.slice(0, MAX_PARTS).map(part)
  const cut = blocks.length > MAX_PARTS ? [{ note: `${blocks.length - MAX_PARTS} further parts are left out` }] : []
  return { content: wellFormed([...parts, ...cut]), detail }
}

function part(block: ContentBlock): JsonObject {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
    case 'audio':
      return { type: block.type, ...binary(block.data, block.mimeType) }
    case 'resource_link':
      return {
        type: 'resource_link',
        uri: block.uri,
        name: block.name,
        ...(block.mimeType && { mime: block.mimeType }),
      }
    case 'resource': {
      const { uri, mimeType } = block.resource
      if (!('text' in block.resource)) return { type: 'resource', uri, ...binary(block.resource.blob, mimeType) }
      return { type: 'resource', uri, ...(mimeType && { mime: mimeType }), text: block.resource.text }
    }
    default:
      return { type: 'unknown', note: 'content of a kind that is not known here' }
  }
}

function binary(base64: string, mime = 'application/octet-stream'): JsonObject {
  const bytes = Buffer.byteLength(base64, 'base64')
  if (bytes > BINARY_BYTES) return { mime, bytes, note: 'too large to be shown' }
  return { base64, mime, bytes }
}
