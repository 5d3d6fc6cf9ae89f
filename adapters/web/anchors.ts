import { createHash, randomBytes } from 'node:crypto'
import { parseVkey } from '../../domain/log/proof/note.ts'
import {
  checkTimestamp,
  NONCE_SIZE,
  TIMESTAMP_QUERY,
  TIMESTAMP_REPLY,
  timestampRequest,
} from '../../domain/log/proof/timestamp.ts'
import { formatWitnessRequest, readWitnessAnswer } from '../../domain/log/proof/witness.ts'
import type { AnchorKeeper } from '../../domain/ports/proof.ts'

const LIMIT_MS = 20_000
const MAX_ANSWER_BYTES = 256 * 1024

/** Sends a request that a person configured; it may go to a private address. Redirects are refused. */
async function send(url: string, init: RequestInit): Promise<{ status: number; mediaType: string; bytes: Buffer }> {
  const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(LIMIT_MS) }).catch(
    (error: Error) => {
      throw new Error(
        `${url} does not answer (${(error.cause as Error | undefined)?.message ?? error.message}); check the URL`,
      )
    },
  )
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MAX_ANSWER_BYTES)
      throw new Error(`${url} answers with more than ${MAX_ANSWER_BYTES} bytes; check the URL`)
    chunks.push(chunk)
  }
  const mediaType = response.headers.get('content-type')?.split(';')[0]?.trim() ?? ''
  return { status: response.status, mediaType, bytes: Buffer.concat(chunks) }
}

const under = (prefix: string, path: string): string => `${prefix.replace(/\/+$/, '')}/${path}`

/** A C2SP witness: it cosigns a head if the head continues the one before. */
export const anchorWitness: AnchorKeeper = {
  async keep({ target, vkey = '' }, { note }, last, consistency) {
    const witness = parseVkey(vkey)
    let old = last
    for (let tries = 0; tries < 2; tries += 1) {
      const proof = old === 0 ? [] : await consistency(old)
      const body = formatWitnessRequest({ old, proof, checkpoint: note })
      const answer = await send(under(target, 'add-checkpoint'), { method: 'POST', body })
      const read = readWitnessAnswer({ ...answer, body: answer.bytes.toString('utf8') }, note, witness)
      if (read.kind === 'cosigned') return { checkpoint: read.checkpoint, receipt: null }
      if (read.kind === 'refused') throw new Error(`the witness ${target} refuses the head: ${read.reason}`)
      old = read.size
    }
    throw new Error(`the witness ${target} names another size each time; another process may send it heads of this log`)
  },
  async held({ target }, origin) {
    const path = `${createHash('sha256').update(origin).digest('hex')}/checkpoint`
    const { status, bytes } = await send(under(target, path), {})
    if (status === 404) return []
    if (status !== 200) throw new Error(`the witness ${target} answers ${status}; ask its operator`)
    return [bytes.toString('utf8')]
  },
}

/** A time stamp authority (RFC 3161). The receipt is its answer; `openssl ts -verify` checks it. */
export const anchorTimestamp: AnchorKeeper = {
  async keep({ target }, { note }) {
    const hash = createHash('sha256').update(note).digest()
    const nonce = randomBytes(NONCE_SIZE)
    const answer = await send(target, {
      method: 'POST',
      headers: { 'content-type': TIMESTAMP_QUERY },
      body: Buffer.from(timestampRequest(hash, nonce)),
    })
    if (answer.status !== 200 || answer.mediaType !== TIMESTAMP_REPLY)
      throw new Error(`${target} answers ${answer.status} ${answer.mediaType} instead of a time stamp; check the URL`)
    checkTimestamp(answer.bytes, hash, nonce)
    return { checkpoint: note, receipt: answer.bytes }
  },
}
