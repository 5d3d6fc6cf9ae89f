import { ToolError } from '../../../calls/errors.ts'
import { wholeEnd, wholeStart } from '../../../calls/kept-text.ts'
import { decodeText } from '../../../calls/truncate.ts'
import type { Examination } from '../../control/control-tool.ts'
import { messageText } from '../../rules/history-text.ts'
import type { Transcript } from '../../state/transcript.ts'

/** The messages of the model, hidden or not, with the turn of each. */
export type TurnMessages = Pick<Transcript, 'messages' | 'turns'>

/**
 * A part of the text of some turns, with a note on its position. Throws ToolError RESOURCE_NOT_FOUND if the turns have
 * no messages, or INVALID_ARGUMENTS for a position beyond the end.
 */
export function readTurns(
  { messages, turns }: TurnMessages,
  { fromTurn, toTurn, from, length }: NonNullable<Examination['turns']>,
): string {
  const parts: string[] = []
  let named = 0
  for (const [ordinal, message] of messages.entries()) {
    const turn = turns[ordinal]!
    if (turn < fromTurn || turn > toTurn) continue
    if (turn !== named) parts.push(`== turn ${turn} ==`)
    named = turn
    parts.push(messageText(message))
  }
  if (parts.length === 0)
    throw new ToolError('RESOURCE_NOT_FOUND', `there are no messages of turns ${fromTurn} to ${toTurn}`)
  const all = Buffer.from(parts.join('\n\n'))
  if (from >= all.length)
    throw new ToolError('INVALID_ARGUMENTS', `from: the text of these turns has only ${all.length} bytes`)
  const bytes = all.subarray(from, from + length)
  const text = wholeEnd(wholeStart(bytes))
  const begin = from + text.byteOffset - bytes.byteOffset
  const end = begin + text.length
  const more =
    end < all.length
      ? `; to read on, call read_history with fromTurn ${fromTurn}, toTurn ${toTurn} and from ${end}`
      : ''
  return `${decodeText(text)}\n[turns ${fromTurn} to ${toTurn}, bytes ${begin} to ${end} of ${all.length}${more}]`
}
