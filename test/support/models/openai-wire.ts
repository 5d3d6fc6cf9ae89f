import type { ServerResponse } from 'node:http'
import { beginStream } from '../network/loopback.ts'

type Chunk = Record<string, unknown>

export function writeChunks(res: ServerResponse, chunks: readonly Chunk[]): void {
  for (const chunk of chunks) res.write(`data: ${JSON.stringify(chunk)}\n\n`)
}

/** Answers with a complete stream. */
export function streamChunks(res: ServerResponse, chunks: readonly Chunk[]): void {
  beginStream(res, { 'x-request-id': 'req_2' })
  writeChunks(res, chunks)
  res.end('data: [DONE]\n\n')
}

export const delta = (delta: Record<string, unknown>): Chunk => chunk({ delta, finish_reason: null })
export const finish = (reason: string): Chunk => chunk({ delta: {}, finish_reason: reason })
export const usage = (counts: Record<string, unknown>): Chunk => ({ ...head, choices: [], usage: counts })

/** A part of a tool call. Omitted members are absent on the wire. */
export const call = (piece: { index?: number; id?: string; name?: string; args?: unknown }): Chunk =>
  delta({
    tool_calls: [
      {
        ...(piece.index === undefined ? {} : { index: piece.index }),
        ...(piece.id === undefined ? {} : { id: piece.id, type: 'function' }),
        function: {
          ...(piece.name === undefined ? {} : { name: piece.name }),
          ...(piece.args === undefined ? {} : { arguments: piece.args }),
        },
      },
    ],
  })

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'gpt-served' }
const chunk = (choice: Record<string, unknown>): Chunk => ({ ...head, choices: [{ index: 0, ...choice }], usage: null })
