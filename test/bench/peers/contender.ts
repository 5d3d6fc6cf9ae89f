import { readFileSync } from 'node:fs'
import { resultOf } from '../text.ts'

// What a contender's process does. Imports nothing but the texts, so that a peer's memory is the peer's.

/** One run alone, or many short ones at once. */
export type Work =
  | { readonly kind: 'lone'; readonly turns: number }
  | { readonly kind: 'many'; readonly turns: number; readonly runs: number; readonly atOnce: number }

/** What a contender's process gets as its only argument. */
export interface Given {
  /** Empty; for its files. */
  readonly folder: string
  readonly work: Work
  /** Of a database of its own, where PostgreSQL is at hand. */
  readonly postgres?: { readonly url: string; readonly pid: number }
}

/** What it prints. */
export interface Cost {
  readonly turns: number
  readonly ms: number
  /** User and system time of all threads of the process. */
  readonly cpuMs: number
  /** The most that the process had resident until the work was done. */
  readonly peakBytes: number
  /** Absent: what the files hold once the process has ended. */
  readonly storedBytes?: number
  /** How durable a commit is, as the store itself says. */
  readonly durability: string
  /** CPU time of the server during the work. */
  readonly serverCpuMs?: number
}

export interface Contender {
  /**
   * A run of its own in so many turns: in each the model answers and calls the tool, in the last one the model ends the
   * run. Each answer and each result is durable before the run goes on.
   */
  run(turns: number): Promise<void>
  /** Resolves when what follows the runs has caught up. */
  settled?(): Promise<void>
  /** How many results of tools the store holds. */
  results(): Promise<number>
  durability(): Promise<string>
  /** Until now. */
  serverCpuMs?(): number
  /** Where the files in the folder are not all. */
  storedBytes?(): Promise<number>
  close(): Promise<void>
}

let results = 0
/** What the tool gives next. */
export const nextResult = (): string => resultOf(++results)

/** The turn that a conversation is at: an answer and a result are a turn each. */
export const turnAfter = (messages: number): number => Math.floor(messages / 2) + 1

/** Measures a contender in this process, and prints what it cost. */
export async function contend(open: (given: Given) => Promise<Contender>): Promise<void> {
  const given = JSON.parse(process.argv[2]!) as Given
  const { work } = given
  const contender = await open(given)
  const server = contender.serverCpuMs?.()
  const cpu = process.cpuUsage()
  const from = performance.now()
  if (work.kind === 'lone') await contender.run(work.turns)
  else {
    let left = work.runs
    const loop = async () => {
      while (left-- > 0) await contender.run(work.turns)
    }
    await Promise.all(Array.from({ length: work.atOnce }, loop))
  }
  await contender.settled?.()
  const ms = performance.now() - from
  const { user, system } = process.cpuUsage(cpu)
  const peakBytes = peak()
  const serverCpuMs = server === undefined ? undefined : contender.serverCpuMs!() - server

  const runs = work.kind === 'lone' ? 1 : work.runs
  const [held, expected] = [await contender.results(), runs * (work.turns - 1)]
  if (held !== expected) throw new Error(`the store holds ${held} results of tools, not ${expected}`)
  const durability = await contender.durability()
  const storedBytes = await contender.storedBytes?.()
  await contender.close()
  const cost: Cost = {
    turns: runs * work.turns,
    ms,
    cpuMs: (user + system) / 1000,
    peakBytes,
    durability,
    ...(storedBytes !== undefined && { storedBytes }),
    ...(serverCpuMs !== undefined && { serverCpuMs }),
  }
  process.stdout.write(JSON.stringify(cost))
}

/** `getrusage` would count the memory of the parent that this process was forked from, so Linux is asked for its own. */
function peak(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024
  const status = readFileSync('/proc/self/status', 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) * 1024
}
