import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { runCli } from '../../../api/cli/program.ts'
import { openServices } from '../../../api/process/open-services.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { bodyOf } from '../../../domain/stream/runtime/bodies.ts'
import { type Ended, environment, type Place } from './cli.ts'

/** An event in the log. */
export interface Fact {
  readonly stream: string
  readonly type: string
  readonly hash: string
  readonly toolCallId: string | undefined
  readonly epoch: number | undefined
  readonly body: Record<string, unknown>
}

/** The whole log of a place in order, read while its owner may use it. Empty: no log exists yet. */
export async function factsOf(place: Place): Promise<Fact[]> {
  const folder = join(place.data, 'log')
  if (!existsSync(join(folder, 'log.db'))) return []
  const blobs = new FileBlobs(join(place.data, 'blobs'))
  const log = await openSqliteLog({ folder, mode: 'reader' }).catch((error: { code?: string }) => {
    // The process was killed between creating and initialising the file.
    if (error.code === 'LOG_FOREIGN') return null
    throw error
  })
  if (log === null) return []
  try {
    const facts: Fact[] = []
    for await (const page of log.readAll(null)) {
      for (const event of page) facts.push(await factOf({ log, blobs }, event))
    }
    return facts
  } finally {
    await log.close()
  }
}

async function factOf(stores: Parameters<typeof bodyOf>[0], event: RecordedEvent): Promise<Fact> {
  const { stream, type, toolCallId, driver } = event.header
  const body = JSON.parse(new TextDecoder().decode(await bodyOf(stores, event)))
  return { stream, type, hash: event.hash, toolCallId, epoch: driver?.epoch, body }
}

/** Runs a command line in this process, for reads that do not depend on a process's start and end. */
export async function look(place: Place, ...args: string[]): Promise<Ended> {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await runCli(['--data', place.data, ...args], {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    stdin: process.stdin,
    env: environment(place),
    cwd: place.root,
    open: openServices,
    program: 'keepup',
  })
  return { code, signal: null, out: out.join(''), err: err.join('') }
}

/** Every file of a folder by its path, without `.git`. */
export function filesIn(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).sort()
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, 'latin1')]))
}
