import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Notice } from '../../../api/operations/webhooks/notice.ts'

export const SECRET = 'a-secret-of-the-receiver-5f1e'

export interface Received {
  readonly id: string
  readonly notice: Notice
  readonly at: number
}

/** Verifies a message as the page of Standard Webhooks says, with WebCrypto. Throws for a bad one. */
async function verified(headers: IncomingMessage['headers'], body: string): Promise<string> {
  const [id, timestamp, list] = ['id', 'timestamp', 'signature'].map((name) => String(headers[`webhook-${name}`]))
  if (!/^\d{10}$/.test(timestamp!) || Math.abs(Date.now() / 1_000 - Number(timestamp)) > 300) throw new Error('time')
  const encoder = new TextEncoder()
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(SECRET), hmac, false, ['verify'])
  for (const part of list!.split(' ')) {
    const [version, text = ''] = part.split(',')
    const signature = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    const signed = encoder.encode(`${id}.${timestamp}.${body}`)
    if (version === 'v1' && (await crypto.subtle.verify('HMAC', key, signature, signed))) return id!
  }
  throw new Error('signature')
}

type Respond = (received: Received, response: ServerResponse) => void

/** A receiver that verifies each message. `respond`: the answer to a sound message; absent: 204. */
export async function receiver(respond: Respond = (_, response) => void response.writeHead(204).end()) {
  const got: Received[] = []
  const faults: string[] = []
  const answer = { with: respond }
  const server = createServer(async (request, response) => {
    try {
      const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>)
      const body = Buffer.concat(chunks).toString('utf8')
      const received = { id: await verified(request.headers, body), notice: JSON.parse(body) as Notice, at: Date.now() }
      got.push(received)
      answer.with(received, response)
    } catch (error) {
      if (!request.complete) return
      faults.push((error as Error).message)
      response.writeHead(400).end()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/very-secret-path`,
    got,
    faults,
    answer,
  }
}

/** The ids of a run's notices in the order of their first arrival. */
export const orderOf = (got: readonly Received[], run: string): string[] => [
  ...new Set(got.filter(({ notice }) => notice.run === run).map(({ id }) => id)),
]
