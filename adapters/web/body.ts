import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { ToolError } from '../../domain/calls/errors.ts'

const DECODERS: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

export const ENCODINGS = 'gzip, deflate, br, zstd'

/**
 * The decoded body of a response, at most `maxBytes` before and after decompression. Rejects with ToolError
 * EXECUTION_FAILED as soon as a body exceeds the limit, and with the stream's error if the response breaks off.
 */
export async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = () =>
    new ToolError('EXECUTION_FAILED', `the page is larger than the limit of ${maxBytes} bytes; read a smaller one`)
  if (Number(response.headers['content-length']) > maxBytes) throw tooLarge()
  let received = 0
  response.on('data', (chunk: Buffer) => {
    received += chunk.length
    // The limit also applies to the compressed form, which can grow without content, for example by endless empty
    // blocks.
    if (received > maxBytes) response.destroy(tooLarge())
  })
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of decoded(response)) {
    size += (piece as Buffer).length
    if (size > maxBytes) throw tooLarge()
    pieces.push(piece as Buffer)
  }
  return Buffer.concat(pieces)
}

function decoded(response: IncomingMessage): Readable {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (encoding === 'identity' || encoding === '') return response
  const decoder = DECODERS[encoding]?.()
  if (decoder === undefined)
    throw new ToolError('EXECUTION_FAILED', 'the server sent the page in an encoding that cannot be read')
  // The decoder reports the error.
  pipeline(response, decoder, () => {})
  return decoder
}
