import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { PostgresServer } from '../postgres/postgres-server.ts'

const STAND_IN = fileURLToPath(new URL('../eventstore/main.ts', import.meta.url))

/** The two servers of a deployment: EventStoreDB (a stand-in, or the server at EVENTSTORE_URL) and PostgreSQL. */
export interface Pair {
  readonly postgres: PostgresServer
  readonly url: string
  /** Settings of a process with these servers, with a new namespace each time. */
  fresh(): Record<string, string>
  /** Cuts the connections of the stand-in; has no effect on a real server. */
  cut(): Promise<void>
  /** Sends a command to the stand-in program. Rejects for a real server. */
  tell(line: string): Promise<void>
  stop(): Promise<void>
}

/** A stand-in in a separate process, which ends with its standard input. */
async function standIn() {
  const child: ChildProcess = spawn(process.execPath, [STAND_IN], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]()
  const { value: url } = await lines.next()
  let queue: Promise<unknown> = Promise.resolve()
  const tell = (line: string): Promise<void> => {
    const done = queue.then(async () => {
      child.stdin!.write(`${line}\n`)
      const { value } = await lines.next()
      if (value !== `done ${line}`) throw new Error(`the stand-in said: ${value}`)
    })
    queue = done.catch(() => undefined)
    return done
  }
  const stop = async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.stdin!.end()
    await ended
  }
  return { url: String(url), tell, stop }
}

export async function openPair(): Promise<Pair> {
  const real = process.env.EVENTSTORE_URL
  const stood = real ? null : await standIn()
  const postgres = new PostgresServer()
  const url = real ?? stood!.url
  const tell = (line: string) => stood?.tell(line) ?? Promise.reject(new Error('a real server takes no such orders'))
  return {
    postgres,
    url,
    fresh: () => ({
      KEEPUP_EVENTSTORE: url,
      KEEPUP_POSTGRES: postgres.url,
      KEEPUP_NAMESPACE: `t${randomBytes(5).toString('hex')}`,
      KEEPUP_LEASE_MS: '2000',
    }),
    cut: async () => stood?.tell('drop 0'),
    tell,
    async stop() {
      postgres.remove()
      await stood?.stop()
    },
  }
}
