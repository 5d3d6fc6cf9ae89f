import { Client, type Pool } from 'pg'
import { patiently } from './ask.ts'

export interface Greeting {
  /** Where the server is: the pool's connection string, of which credentials are not told. */
  readonly url: string
  /** Told once, where the answer is not there soon. */
  readonly onWait?: (text: string) => void
  /** After so long that is told, ms. */
  readonly toldAfterMs?: number
  /** After so long no connection is tried any more, ms. */
  readonly withinMs?: number
}

/** Makes sure that there is a server that lets this user in. Rejects with `LOG_UNAVAILABLE`, which names its address. */
export async function greet(pool: Pool, greeting: Greeting): Promise<void> {
  const { url, onWait, toldAfterMs = 1_500, withinMs = 10_000 } = greeting
  const server = `PostgreSQL at ${addressOf(url)}`
  const most = Math.ceil(withinMs / 1000)
  const text = `${server} does not answer yet; it is waited for, ${most} s at most`
  const timer = onWait && setTimeout(() => onWait(text), toldAfterMs)
  try {
    const connected = async () => (await pool.connect()).release()
    await patiently(`connect to ${server}`, connected, withinMs)
  } finally {
    clearTimeout(timer)
  }
}

/** As the client understands it. */
function addressOf(url: string): string {
  const { host, port } = new Client({ connectionString: url })
  return `${host}:${port}`
}
