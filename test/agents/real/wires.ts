import type { ServerResponse } from 'node:http'
import { callBlock, start, stop, streamEvents, textBlock } from '../../support/models/anthropic-wire.ts'
import { call, delta, finish, streamChunks, usage } from '../../support/models/openai-wire.ts'
import { beginStream, sendJson } from '../../support/network/loopback.ts'
import type { Asked, Wire } from './stand-in.ts'

// The answers of four APIs of models, as far as the command lines read them. Each counts 100 tokens in and 7 out.

export const anthropic: Wire = {
  text(res, { path, body }, text) {
    if (path.includes('count_tokens')) sendJson(res, 200, { input_tokens: 100 })
    else if (body.stream === true) streamEvents(res, [start(TOKENS), ...textBlock(0, text), ...stop('end_turn')])
    else sendJson(res, 200, { ...start(TOKENS).message!, content: [{ type: 'text', text }], stop_reason: 'end_turn' })
  },
  tool: (res, _, file) => anthropic.call(res, NO_REQUEST, 'Read', { file_path: file }),
  call: (res, _, name, args) =>
    streamEvents(res, [start(TOKENS), ...callBlock(0, 'toolu_1', name, JSON.stringify(args)), ...stop('tool_use')]),
}
const NO_REQUEST: Asked = { path: '', raw: '', body: {} }
const TOKENS = { input_tokens: 100, output_tokens: 7 }

export const responses: Wire = {
  text: (res, _, text) =>
    respond(res, { type: 'message', role: 'assistant', id: 'msg_1', content: [{ type: 'output_text', text }] }),
  tool(res, asked, file) {
    const { name, args } = shellOf(asked, `cat ${file}`)
    responses.call(res, asked, name, args)
  },
  call(res, { body }, name, args) {
    // Tools of servers are told in a space of names of their own.
    const spaces = body.tools as { type: string; name?: string; tools?: { name: string }[] }[]
    const space = spaces.find(({ tools }) => tools?.some((tool) => tool.name === name))
    const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name, arguments: JSON.stringify(args) }
    respond(res, { ...item, ...(space !== undefined && { namespace: space.name }) })
  },
}

/** The shell goes by several names, by what the program thinks of the model. */
function shellOf({ body }: Asked, command: string) {
  const names = (body.tools as { name?: string }[]).map(({ name }) => name)
  if (names.includes('exec_command')) return { name: 'exec_command', args: { cmd: command } }
  if (names.includes('shell_command')) return { name: 'shell_command', args: { command } }
  if (names.includes('shell')) return { name: 'shell', args: { command: ['bash', '-lc', command] } }
  throw new Error(`no shell among the tools: ${names.join(', ')}`)
}

function respond(res: ServerResponse, item: Record<string, unknown>): void {
  beginStream(res)
  const counts = {
    ...{ input_tokens: 100, input_tokens_details: { cached_tokens: 0 } },
    ...{ output_tokens: 7, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 107 },
  }
  for (const event of [
    { type: 'response.created', response: { id: 'resp_1' } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: 'resp_1', usage: counts } },
  ])
    res.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  res.end()
}

export const gemini: Wire = {
  text: (res, { path }, text) => generate(res, path, { text }),
  tool: (res, { path }, file) =>
    generate(res, path, { functionCall: { name: 'read_file', args: { file_path: file } } }),
  call: (res, { path }, name, args) => generate(res, path, { functionCall: { name, args } }),
}

function generate(res: ServerResponse, path: string, part: Record<string, unknown>): void {
  const answer = {
    candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 7, totalTokenCount: 107 },
  }
  if (!path.includes('stream')) return sendJson(res, 200, answer)
  beginStream(res)
  res.end(`data: ${JSON.stringify(answer)}\n\n`)
}

export const chat: Wire = {
  text: (res, _, text) => streamChunks(res, [delta({ role: 'assistant', content: text }), finish('stop'), COUNTS]),
  tool: (res, asked, file) => chat.call(res, asked, 'read', { filePath: file }),
  call: (res, _, name, args) =>
    streamChunks(res, [
      call({ index: 0, id: 'call_1', name, args: JSON.stringify(args) }),
      finish('tool_calls'),
      COUNTS,
    ]),
}
const COUNTS = usage({ prompt_tokens: 100, completion_tokens: 7, total_tokens: 107 })
