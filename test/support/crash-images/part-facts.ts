import { sha256 } from '../../../domain/log/ids.ts'
import { bytesOf } from '../log/sealing.ts'

/** The run of the parts. */
export const RUN = '06h2p7gdx7ecrkrbz3t45y0'

/** The n-th state or text: its digest tells whether it is intact. */
export function stateOf(n: number): { readonly text: string; readonly sum: string } {
  const text = Buffer.from(bytesOf(`state ${n}`, 500 + 700 * (n % 4))).toString('base64')
  return { text, sum: sha256(text) }
}

/** The content of the n-th blob. */
export const blobOf = (n: number): Uint8Array => bytesOf(`blob ${n}`, 300 + 900 * (n % 5))
