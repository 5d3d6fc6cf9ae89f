import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openLogToRead } from '../../../adapters/sqlite/log/connection.ts'
import { SqliteLog } from '../../../adapters/sqlite/log/log.ts'
import { runCli } from '../../../api/cli/program.ts'
import { openServices } from '../../../api/process/open-services.ts'
import type { OpenServices } from '../../../api/process/owner/connect.ts'
import { StreamVerifier } from '../../../domain/log/verify.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import type { Ended, Place } from '../faults/cli.ts'
import { NEW, Sealer } from '../log/sealing.ts'
import { LocalLog } from './local-log.ts'
import { type Findings, homeOf, NOTHING, type Said } from './scenario.ts'

/** The hashes of acknowledged events by position. A program prints `ack POSITION HASH`. */
function acknowledgedIn(said: Said): Map<number, string> {
  return new Map(
    said.flatMap((line) => {
      const [, position, hash] = /^ack (\d+) (\w{64})$/.exec(line) ?? []
      return position === undefined ? [] : [[Number(position), hash!] as const]
    }),
  )
}

/** The acknowledged events that a log lacks. Null: the log did not open. */
async function lostIn(log: Pick<EventLog, 'readAll'> | null, said: Said): Promise<string[]> {
  const acknowledged = acknowledgedIn(said)
  const found = new Map<number, string>()
  if (log !== null)
    for await (const page of log.readAll(null, { bodies: false }))
      for (const { position, hash } of page) found.set(position, hash)
  return [...acknowledged].flatMap(([position, hash]) =>
    found.get(position) === hash ? [] : [`the event at ${position} was acknowledged and is lost`],
  )
}

/** Opens the log of a folder as its owner, verifies all streams, and appends an event. */
export async function logFindings(folder: string, said: Said): Promise<Findings> {
  const named: string[] = []
  let lost: string[] = []
  try {
    const owner = LocalLog.open(folder, (why) => named.push(why))
    try {
      const { end } = owner
      if (end.state === 'short') named.push(`the log ends at ${end.last}, before its mark at ${end.mark.position}`)
      const log = new SqliteLog({ folder, db: openLogToRead(folder), lostId: null })
      try {
        lost = await lostIn(log, said)
        named.push(...(await problemsOf(log)))
      } finally {
        await log.close()
      }
      const sealer = new Sealer('after')
      sealer.ms = Math.max(0, owner.time - Date.parse('2026-01-01T00:00:00.000Z')) + 1
      if (end.state !== 'short') owner.append('agent-after', -1, sealer.batch('agent-after', NEW, [{}]))
    } finally {
      owner.close()
    }
  } catch (error) {
    return {
      lost: lost.length > 0 ? lost : await lostIn(null, said),
      named: [...named, `the log is refused: ${error}`],
    }
  }
  return { lost, named }
}

async function problemsOf(log: SqliteLog): Promise<string[]> {
  const problems: string[] = []
  for await (const page of log.streams(''))
    for (const stream of page) {
      const verifier = new StreamVerifier(stream)
      for await (const events of log.read(stream)) verifier.page(events)
      problems.push(...verifier.result().problems.map(({ message }) => `${stream}: ${message}`))
    }
  return problems
}

/** Runs a command line in this process. `open` opens the services. */
export async function command(
  place: Place,
  args: readonly string[],
  open: OpenServices = openServices,
): Promise<Ended> {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await runCli(['--data', place.data, '--by', 'ada', ...args], {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    stdin: process.stdin,
    env: homeOf(place),
    cwd: place.root,
    open,
    program: 'keepup',
  })
  return { code, signal: null, out: out.join(''), err: err.join('') }
}

/** Opens a data folder as its owner, looks for acknowledged events, and verifies everything. */
export async function folderFindings(place: Place, said: Said): Promise<Findings> {
  let lost: readonly string[] | null = null
  const open = (async (config, _mode, how, own) => {
    const services = await openServices(config, 'owner', how, own)
    lost = await lostIn(services.log, said)
    return services
  }) as OpenServices
  if (!existsSync(join(place.data, 'log'))) return { lost: await lostIn(null, said), named: [] }
  const { code, out, err } = await command(place, ['verify'], open)
  const named = code === 0 ? [] : [`verify ended with ${code}:\n${out}${err}`]
  return { lost: lost ?? (await lostIn(null, said)), named }
}

/** A command that must succeed in what is left. */
export async function succeeds(place: Place, args: readonly string[], includes = ''): Promise<Findings> {
  const { code, out, err } = await command(place, args)
  if (code === 0 && out.includes(includes)) return NOTHING
  return { lost: [], named: [`"${args.join(' ')}" ended with ${code}: ${out}${err}`] }
}
