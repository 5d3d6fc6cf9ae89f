import type { AgentSample } from '../../../adapters/agents/process/kit.ts'

// Recorded lines of the real programs, shortened: text, a tool and its result, the end.

const lines = (...all: object[]): string[] => all.map((line) => JSON.stringify(line))

/** Claude Code 2.1.330. */
export const CLAUDE: AgentSample = {
  lines: lines(
    {
      type: 'system',
      subtype: 'init',
      cwd: '/w',
      session_id: '50481a3e-0000-4000-8000-000000000001',
      tools: ['Bash', 'Read'],
      mcp_servers: [{ name: 'probe', status: 'connected' }],
      model: 'claude-sonnet-4-5',
      permissionMode: 'default',
      apiKeySource: 'ANTHROPIC_API_KEY',
    },
    {
      type: 'assistant',
      message: {
        id: 'msg_1',
        model: 'claude-sonnet-4-5',
        content: [{ type: 'text', text: 'I read the note.' }],
        usage: { input_tokens: 10, output_tokens: 1 },
      },
      parent_tool_use_id: null,
    },
    {
      type: 'assistant',
      message: {
        id: 'msg_1',
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'Read', input: { file_path: '/w/note.txt' } }],
        usage: { input_tokens: 10, output_tokens: 1 },
      },
      parent_tool_use_id: null,
    },
    {
      type: 'user',
      message: {
        role: 'user',
        content: [{ tool_use_id: 'toolu_1', type: 'tool_result', content: '1\tthe note' }],
      },
      tool_use_result: { type: 'text' },
    },
    { type: 'assistant', message: { id: 'msg_2', content: [{ type: 'text', text: 'All done. é€𝄞' }] } },
    {
      duration_api_ms: 101,
      session_id: '50481a3e-0000-4000-8000-000000000001',
      total_cost_usd: 0.0137,
      usage: { input_tokens: 3702, cache_read_input_tokens: 300, cache_creation_input_tokens: 20, output_tokens: 168 },
      modelUsage: {},
      permission_denials: [],
      is_error: false,
      num_turns: 3,
      subtype: 'success',
      result: 'All done. é€𝄞',
      type: 'result',
    },
  ),
  kinds: ['Status', 'TextOutput', 'ToolCall', 'ToolResult', 'TextOutput', 'Status'],
  finalText: 'All done. é€𝄞',
  sessionId: '50481a3e-0000-4000-8000-000000000001',
}

/** Codex 0.169.0. */
export const CODEX: AgentSample = {
  lines: lines(
    { type: 'thread.started', thread_id: '01a2-thread' },
    { type: 'turn.started' },
    {
      type: 'item.started',
      item: {
        id: 'item_2',
        type: 'command_execution',
        command: "/bin/bash -lc 'cat note.txt'",
        aggregated_output: '',
        exit_code: null,
        status: 'in_progress',
      },
    },
    {
      type: 'item.completed',
      item: {
        id: 'item_2',
        type: 'command_execution',
        command: "/bin/bash -lc 'cat note.txt'",
        aggregated_output: 'the note\n',
        exit_code: 0,
        status: 'completed',
      },
    },
    { type: 'item.completed', item: { id: 'item_5', type: 'agent_message', text: 'All done. é€𝄞' } },
    {
      type: 'turn.completed',
      usage: {
        input_tokens: 3702,
        cached_input_tokens: 300,
        cache_write_input_tokens: 0,
        output_tokens: 168,
        reasoning_output_tokens: 21,
      },
    },
  ),
  kinds: ['Status', 'Status', 'ToolCall', 'ToolResult', 'TextOutput', 'Status'],
  finalText: 'All done. é€𝄞',
  sessionId: '01a2-thread',
}

const stamp = '2026-01-18T00:00:00.000Z'

/** Gemini CLI 0.61.0. */
export const GEMINI: AgentSample = {
  lines: lines(
    { type: 'init', timestamp: stamp, session_id: '2658-session', model: 'gemini-2.5-flash' },
    { type: 'message', timestamp: stamp, role: 'user', content: 'Say what the note holds.' },
    { type: 'message', timestamp: stamp, role: 'assistant', content: 'I look.', delta: true },
    {
      type: 'tool_use',
      timestamp: stamp,
      tool_name: 'run_shell_command',
      tool_id: 'run_shell_command__1_0',
      parameters: { command: 'cat note.txt' },
    },
    { type: 'tool_result', timestamp: stamp, tool_id: 'run_shell_command__1_0', status: 'success', output: 'the note' },
    { type: 'message', timestamp: stamp, role: 'assistant', content: 'All done. ', delta: true },
    { type: 'message', timestamp: stamp, role: 'assistant', content: 'é€𝄞', delta: true },
    {
      type: 'result',
      timestamp: stamp,
      status: 'success',
      stats: { total_tokens: 3870, input_tokens: 3702, output_tokens: 168, cached: 300, tool_calls: 1 },
    },
  ),
  kinds: ['Status', 'TextOutput', 'ToolCall', 'ToolResult', 'TextOutput', 'TextOutput', 'Status'],
  finalText: 'All done. é€𝄞',
  sessionId: '2658-session',
}

const sessionID = 'ses_1'
const finish = (reason: string, cost: number) => ({
  type: 'step_finish',
  sessionID,
  part: {
    reason,
    tokens: { total: 1290, input: 1134, output: 56, reasoning: 0, cache: { write: 0, read: 100 } },
    cost,
  },
})

/** opencode 1.18.33. */
export const OPENCODE: AgentSample = {
  lines: lines(
    { type: 'step_start', timestamp: 1795000000000, sessionID, part: { type: 'step-start' } },
    {
      type: 'tool_use',
      timestamp: 1795000000001,
      sessionID,
      part: {
        type: 'tool',
        tool: 'bash',
        callID: 'call_1',
        state: { status: 'completed', input: { command: 'cat note.txt' }, output: 'the note\n', metadata: { exit: 0 } },
      },
    },
    finish('tool-calls', 0.004242),
    { type: 'step_start', timestamp: 1795000000002, sessionID, part: { type: 'step-start' } },
    { type: 'text', timestamp: 1795000000003, sessionID, part: { type: 'text', text: 'All done. é€𝄞' } },
    finish('stop', 0.001),
  ),
  kinds: ['Status', 'ToolCall', 'ToolResult', 'Status', 'Status', 'TextOutput', 'Status'],
  finalText: 'All done. é€𝄞',
  sessionId: 'ses_1',
}
