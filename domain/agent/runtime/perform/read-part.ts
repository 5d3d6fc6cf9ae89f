import { ToolError } from '../../../calls/errors.ts'
import { wholeEnd, wholeStart } from '../../../calls/kept-text.ts'
import { readerOf, readOnNote } from '../../../calls/tools/tools.ts'
import { decodeText } from '../../../calls/truncate.ts'
import { LogError } from '../../../log/errors.ts'
import type { Stores } from '../../../stream/runtime/ports.ts'
import type { Examination } from '../../control/control-tool.ts'
import type { AgentState } from '../../state/state.ts'
import { findResult, resultAt } from '../history/results.ts'

/**
 * A part of the whole result of an earlier call of this agent or its fork sources, with a note on its position. Throws
 * ToolError RESOURCE_NOT_FOUND, INVALID_ARGUMENTS for a position beyond the end, or EXECUTION_FAILED for an unreadable
 * result.
 */
export async function readPart(
  stores: Stores,
  { agentId, spec }: AgentState,
  { toolCallId, from, length }: NonNullable<Examination['part']>,
): Promise<{ text: string; untrusted?: string }> {
  const found = await findResult(stores, agentId, toolCallId)
  if (found === null) throw new ToolError('RESOURCE_NOT_FOUND', `there is no result of ${JSON.stringify(toolCallId)}`)
  if ('erased' in found) throw new ToolError('RESOURCE_NOT_FOUND', `the result of ${toolCallId} was erased`)
  const { size, parts, untrusted } = await resultAt(stores, found.end, false).catch(unreadable)
  if (from >= size && size > 0) throw new ToolError('INVALID_ARGUMENTS', `from: the result has only ${size} bytes`)
  const read: Uint8Array[] = []
  for await (const part of parts(from, from + length)) read.push(part)
  const bytes = Buffer.concat(read)
  const text = wholeEnd(wholeStart(bytes))
  const begin = from + text.byteOffset - bytes.byteOffset
  const end = begin + text.length
  const reader = readerOf(spec.tools)
  const more = end < size && reader ? `; ${readOnNote(reader.name, toolCallId, end)}` : ''
  const shown = `${decodeText(text)}\n[bytes ${begin} to ${end} of ${size}${more}]`
  return { text: shown, ...(untrusted !== undefined && { untrusted }) }
}

function unreadable(error: unknown): never {
  if (!(error instanceof LogError) || (error.code !== 'BLOB_MISSING' && error.code !== 'LOG_CORRUPT')) throw error
  throw new ToolError('EXECUTION_FAILED', 'the stored result is missing or was altered; ask for it in another way')
}
