import { expect } from 'vitest'
import { type Ended, keepup, type Place } from './cli.ts'
import { type Fact, factsOf } from './inspect.ts'
import type { Job } from './jobs.ts'

/** More processes than any plan of kills needs. A run that is not done after these makes no progress. */
const MOST_PROCESSES = 16

interface Carried {
  /** The number of killed processes, and the doubts that a person had to resolve. */
  readonly killed: number
  readonly resolved: readonly string[]
  readonly facts: readonly Fact[]
}

/**
 * Carries a job through to its end. The nth process is killed at `kills[n]` (see KEEPUP_CRASH_AT). After each kill the
 * job is resumed, and doubts are resolved by checking the world. After every process, the log must have only grown and
 * must contain everything that was reported as recorded.
 */
export async function carryThrough(job: Job, place: Place, kills: readonly string[]): Promise<Carried> {
  const resolved: string[] = []
  let killed = 0
  let facts: Fact[] = []
  let doubts: string[] = []
  for (let n = 0; n < MOST_PROCESSES; n++) {
    const args = nextCommand(job, place, facts, doubts)
    const kill = kills[n]
    const ended = await keepup(place, args, kill === undefined ? {} : { env: { KEEPUP_CRASH_AT: kill } })
    const before = facts
    facts = await factsOf(place)
    expect(facts.slice(0, before.length).map((fact) => fact.hash)).toEqual(before.map((fact) => fact.hash))
    expectAcknowledged(ended, facts)
    if (ended.signal === 'SIGKILL') {
      killed++
      doubts = []
      // The process was killed after its last append. An ended run is not resumed.
      if (facts.some((fact) => fact.type === 'completion')) return { killed, resolved, facts }
      continue
    }
    if (args[0] === 'resolve') {
      expect(ended).toMatchObject({ code: 0 })
      resolved.push(args[1]!)
      doubts = []
      continue
    }
    if (ended.code === 0) return { killed, resolved, facts }
    // Each doubt is printed with its three answers.
    doubts = [...new Set([...ended.err.matchAll(/ resolve (\S+) /g)].map((match) => match[1]!))]
    expect({ code: ended.code, doubts: doubts.length, err: ended.err }).toMatchObject({ code: 8, doubts: 1 })
  }
  throw new Error(`not done after ${MOST_PROCESSES} processes: ${facts.map((fact) => fact.type).join(' ')}`)
}

function nextCommand(job: Job, place: Place, facts: readonly Fact[], doubts: readonly string[]): string[] {
  // The process was killed before its command line was fully recorded. Repeat the command line with its key.
  const started = facts.find((fact) => fact.type === 'agent_started')
  if (started === undefined || !facts.some((fact) => fact.type === 'standing_approval')) return job.command(place)
  const [doubt] = doubts
  if (doubt === undefined) return ['resume', started.stream.replace(/^agent-/, '')]
  const result = job.became(place, doubt)
  return ['resolve', doubt, ...(result === null ? ['run'] : ['happened', '--result', result])]
}

/** Checks that the log contains a process's last output: the calls shown as ended, and the revision. */
function expectAcknowledged({ out, err }: Ended, facts: readonly Fact[]): void {
  const shown = [...err.matchAll(/^ {2}[✓✗] (\w+) /gm)].length
  const turns = [...err.matchAll(/^turn (\d+)$/gm)].map((match) => Number(match[1]))
  expect(facts.filter((fact) => fact.type === 'tool_call_end').length).toBeGreaterThanOrEqual(shown)
  expect(facts.filter((fact) => fact.type === 'turn_start').length).toBeGreaterThanOrEqual(Math.max(0, ...turns))
  const recorded = Number(/at revision (\d+)/.exec(out)?.[1] ?? -1)
  expect(facts.filter((fact) => fact.stream !== 'log-meta').length).toBeGreaterThan(recorded)
}
