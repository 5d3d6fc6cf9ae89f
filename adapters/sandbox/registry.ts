import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { signalTo } from '../processes/group.ts'
import { killCgroup, removeCgroup } from './cgroup.ts'
import { bootId, processes, startOf } from './process-table.ts'
import { removeScratch } from './scratch.ts'

/**
 * The variable with a command's id. Every process of the command inherits it, so processes that left the group can be
 * found.
 */
export const MARKER = 'KEEPUP_COMMAND'

interface Entry {
  readonly id: string
  readonly boot: string
  readonly driver: { readonly id: string; readonly pid: number; readonly start: string | null }
  /** Null: the process has not started, or its driver died during the start. The marker still finds it. */
  readonly leader: { readonly pid: number; readonly start: string | null } | null
  /** The folder of the command's control group. Null: none. */
  readonly cgroup: string | null
  /** The command's own temporary folder. Absent: none. */
  readonly scratch?: string
}

export interface ProcessRegistry {
  /**
   * Records a command before it starts. `started` adds its process, `ended` removes the record. `scratch`: a temporary
   * folder to remove if the driver dies.
   */
  begin(id: string, cgroup: string | null, scratch?: string): { started(pid: number): void; ended(): void }
}

const folderOf = (dataFolder: string) => join(dataFolder, 'processes')

/** Records running commands in one file each, so that the next driver can end the commands of a dead one. */
export function processRegistry(dataFolder: string, driverId: string): ProcessRegistry {
  const folder = folderOf(dataFolder)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const driver = { id: driverId, pid: process.pid, start: startOf(process.pid) }
  return {
    begin: (id, cgroup, scratch) => {
      const file = join(folder, `${id}.json`)
      const save = (leader: Entry['leader']) => {
        const entry: Entry = { id, boot: bootId(), driver, leader, cgroup, ...(scratch !== undefined && { scratch }) }
        writeFileSync(`${file}.tmp`, JSON.stringify(entry), { mode: 0o600 })
        renameSync(`${file}.tmp`, file)
      }
      save(null)
      return {
        started: (pid) => save({ pid, start: startOf(pid) }),
        ended: () => rmSync(file, { force: true }),
      }
    },
  }
}

/**
 * Ends the commands of dead drivers on this host and returns the number of processes. Identifies a process by its
 * control group, its marker, or its pid and start time, so it never signals a later process with the same pid.
 */
export function reap(dataFolder: string): number {
  let ended = 0
  for (const entry of entriesOf(folderOf(dataFolder))) {
    const sameBoot = entry.boot === bootId()
    if (sameBoot && entry.driver.start !== null && startOf(entry.driver.pid) === entry.driver.start) continue
    if (sameBoot) ended += endAll(entry)
    if (entry.scratch !== undefined) removeScratch(entry.scratch)
    rmSync(join(folderOf(dataFolder), `${entry.id}.json`), { force: true })
  }
  return ended
}

function entriesOf(folder: string): Entry[] {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    return []
  }
  return names.flatMap((name) => {
    if (!name.endsWith('.json')) return []
    try {
      return [JSON.parse(readFileSync(join(folder, name), 'utf8')) as Entry]
    } catch {
      // The command has ended since the names were read.
      return []
    }
  })
}

/** A further round finds processes that forked during the previous one. */
const MAX_ROUNDS = 20

function endAll(entry: Entry): number {
  const { leader, cgroup } = entry
  let ended = cgroup ? killCgroup(cgroup, entry.id) : 0
  if (cgroup) void removeCgroup(cgroup)
  if (leader?.start && startOf(leader.pid) === leader.start) {
    signalTo(-leader.pid, 'SIGKILL')
    ended++
  }
  return ended + endMarked(entry.id, leader?.pid)
}

/** Kills every process with a command's marker. Returns their number without `counted`. */
export function endMarked(id: string, counted?: number): number {
  const seen = new Set<number>()
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const marked = processes().filter(({ environment }) => environment().includes(`${MARKER}=${id}\0`))
    if (marked.length === 0) break
    for (const { pid } of marked) {
      signalTo(pid, 'SIGKILL')
      if (pid !== counted) seen.add(pid)
    }
  }
  return seen.size
}
