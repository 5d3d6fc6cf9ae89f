import type { Message } from '../../calls/content.ts'
import { callArguments } from '../../calls/requested-calls.ts'
import { headAndTail } from '../../calls/truncate.ts'

// Messages as text, for an agent that reads its hidden history and for a model that summarizes it. The assemblers
// (request.ts) cover the wording: a change of the text to summarize needs a new version.

/** A message as text. A tool result is truncated to head and tail of about `resultBytes`. */
export function messageText(message: Message, resultBytes = Number.POSITIVE_INFINITY): string {
  switch (message.role) {
    case 'user':
      return `[user]\n${message.content}`
    case 'system':
      return `[system]\n${message.content}`
    case 'tool': {
      const { toolName, toolCallId, isError, content } = message
      const shown = headAndTail(content, resultBytes, () => 'the log has the whole')
      return `[result of ${toolName}, call ${toolCallId}${isError ? ', failed' : ''}]\n${shown}`
    }
    case 'assistant':
      return `[assistant]\n${message.content.flatMap(blockText).join('\n')}`
  }
}

type Block = Extract<Message, { role: 'assistant' }>['content'][number]

/** Only text and tool calls are shown; other blocks, such as thinking, are left out. */
function blockText(block: Block): string[] {
  if (block.type === 'text') return [String(block.text)]
  if (block.type !== 'tool_use') return []
  const args = callArguments(block)
  return [`calls ${String(block.name)} with ${args === null ? String(block.input_text ?? '') : JSON.stringify(args)}`]
}
