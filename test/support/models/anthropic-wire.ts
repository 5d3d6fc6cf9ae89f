import type { ServerResponse } from 'node:http'
import { beginStream } from '../network/loopback.ts'

type Event = Record<string, unknown> & { type: string }

/** Writes stream events in the format of Anthropic's API. */
export function writeEvents(res: ServerResponse, events: readonly Event[]): void {
  for (const event of events) res.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}

/** Answers with a complete stream. */
export function streamEvents(res: ServerResponse, events: readonly Event[]): void {
  beginStream(res, { 'request-id': 'req_1' })
  writeEvents(res, events)
  res.end()
}

export const start = (usage: Record<string, unknown> = { input_tokens: 10, output_tokens: 1 }): Event => ({
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-served', content: [], usage },
})

export const stop = (reason: string, usage: Record<string, unknown> = { output_tokens: 7 }): Event[] => [
  { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage },
  { type: 'message_stop' },
]

/** A content block: its start, its deltas, its end. */
export const block = (index: number, content: Record<string, unknown>, deltas: Record<string, unknown>[]): Event[] => [
  { type: 'content_block_start', index, content_block: content },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]

export const textBlock = (index: number, ...pieces: string[]): Event[] =>
  block(
    index,
    { type: 'text', text: '' },
    pieces.map((text) => ({ type: 'text_delta', text })),
  )

export const callBlock = (index: number, id: string, name: string, ...json: string[]): Event[] =>
  block(
    index,
    { type: 'tool_use', id, name, input: {} },
    json.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  )
