import { join } from 'node:path'
import type { ToolCall, ToolKind } from '@agentclientprotocol/sdk'
import { unmistakable } from '../../operations/text/visible-text.ts'

const KINDS: Readonly<Record<string, ToolKind>> = {
  read_file: 'read',
  list_dir: 'read',
  write_file: 'edit',
  search_code: 'search',
  run_command: 'execute',
  web_fetch: 'fetch',
  web_search: 'fetch',
  delegate_to_agent: 'other',
}

/** The form of a call for the editor: the tool with its file or command. `folder`: the run's workspace. */
export function shownCall(
  { id, tool, input }: { id: string; tool: string; input: unknown },
  folder: string | null,
): ToolCall {
  const { path, command } = (input ?? {}) as { path?: unknown; command?: unknown }
  const about = typeof path === 'string' ? path : typeof command === 'string' ? command : ''
  return {
    toolCallId: id,
    name: tool,
    title: about === '' ? tool : `${tool} ${unmistakable(about).replaceAll('\n', '‹U+000A›')}`,
    kind: KINDS[tool] ?? 'other',
    rawInput: input,
    ...(typeof path === 'string' && folder !== null && { locations: [{ path: join(folder, path) }] }),
  }
}
