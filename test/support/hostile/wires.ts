import type { ServerResponse } from 'node:http'
import { anthropicProvider } from '../../../adapters/models/anthropic/provider.ts'
import { openaiProvider } from '../../../adapters/models/openai/provider.ts'
import type { ModelProvider } from '../../../domain/ports/index.ts'
import { block, start, stop } from '../models/anthropic-wire.ts'
import * as openai from '../models/openai-wire.ts'

// One attack in both wire formats: each method returns the server-sent events of one part of an answer.

export interface Wire {
  connect(url: string): ModelProvider
  head(): string
  text(text: string): string
  /** A call with arguments in these pieces. `n`: its index among the calls. */
  call(n: number, name: string, ...json: string[]): string
  /** A further piece of the arguments of call `n`. */
  more(n: number, json: string): string
  end(reason: 'tool_use' | 'end_turn'): string
  /** The whole answer as one JSON document, with one call that has these arguments. */
  document(json: string): string
  /** The whole answer as one JSON document, with a short text followed by this text. */
  texts(short: string, text: string): string
}

const KEY = 'sk-very-secret-0123456789'
const events = (list: readonly { type: string }[]) =>
  list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
const chunks = (list: readonly object[]) => list.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
const jsonDelta = (partial_json: string) => ({ type: 'input_json_delta', partial_json })

export const WIRES: Readonly<Record<string, Wire>> = {
  anthropic: {
    connect: (url) => anthropicProvider({ apiKey: KEY, baseUrl: url }),
    head: () => events([start()]) + events(block(0, { type: 'text', text: '' }, []).slice(0, 1)),
    text: (text) => events([{ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } } as never]),
    call: (n, name, ...json) =>
      events(block(n + 1, { type: 'tool_use', id: `t${n}`, name, input: {} }, json.map(jsonDelta))),
    more: (n, json) => events([{ type: 'content_block_delta', index: n + 1, delta: jsonDelta(json) } as never]),
    end: (reason) => events(stop(reason)),
    document: (json) =>
      `{"model":"m","content":[{"type":"tool_use","id":"t","name":"f","input":${json}}],"stop_reason":"tool_use"}`,
    texts: (...texts) =>
      JSON.stringify({ model: 'm', content: texts.map((text) => ({ type: 'text', text })), stop_reason: 'end_turn' }),
  },
  openai: {
    connect: (url) => openaiProvider({ apiKey: KEY, baseUrl: `${url}/v1` }),
    head: () => '',
    text: (content) => chunks([openai.delta({ content })]),
    call: (index, name, ...json) =>
      chunks([openai.call({ index, id: `t${index}`, name }), ...json.map((args) => openai.call({ index, args }))]),
    more: (index, args) => chunks([openai.call({ index, args })]),
    end: (reason) => `${chunks([openai.finish(reason === 'tool_use' ? 'tool_calls' : 'stop')])}data: [DONE]\n\n`,
    document: (json) =>
      `{"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"t","function":{"name":"f","arguments":${json}}}]}}]}`,
    texts: (reasoning_content, content) =>
      JSON.stringify({ model: 'm', choices: [{ finish_reason: 'stop', message: { reasoning_content, content } }] }),
  },
}

/**
 * Writes a generator's output at the client's reading speed, until the client disconnects or the generator ends.
 * Returns the number of bytes.
 */
export async function pour(res: ServerResponse, source: Iterable<string | Uint8Array>): Promise<number> {
  let bytes = 0
  for (const piece of source) {
    if (res.destroyed) return bytes
    bytes += Buffer.byteLength(piece as string)
    if (res.write(piece)) continue
    await new Promise<void>((resolve) => {
      const on = () => {
        res.off('drain', on)
        res.off('close', on)
        resolve()
      }
      res.once('drain', on)
      res.once('close', on)
    })
  }
  res.end()
  return bytes
}

export function* endless(piece: string): Generator<string> {
  for (;;) yield piece
}
