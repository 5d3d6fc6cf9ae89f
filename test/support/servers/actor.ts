import { appendFileSync, existsSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { type KeepUp, openKeepUp } from '../../../api/index.ts'
import { defineTool, z } from '../../../api/library/tool-kit.ts'
import { agentOf } from '../../../domain/log/owner.ts'
import { faultsOfTree, LEAVES, startTree, treeScript } from './tree-job.ts'

// A process of a deployment on servers. The verb selects its role. It prints one line per event to standard output.
//
//   actor.ts DATA EFFECTS work N       drives N concurrent runs until SIGTERM; echoes each line of standard input
//   actor.ts DATA EFFECTS hold N       like work, but its calls return only after the line "go"
//   actor.ts DATA EFFECTS start N      starts N runs for any driver
//   actor.ts DATA EFFECTS settle N     decides doubts by checking the world, until N runs have ended
//   actor.ts DATA EFFECTS check        prints the results, and whether the tables equal those of a rebuild
//
// The process exits at the end of its standard input at the latest.

/** Whether the runs are trees of agents; else each run has one agent. */
const TREES = process.env.KEEPUP_TREE_WIDTH !== undefined
/** The number of lines that each run writes, one per call. */
const EFFECTS = TREES ? LEAVES : 3

const [, , data = '', effects = '', verb = '', count = '0'] = process.argv
const say = (line: string) => writeSync(1, `${line}\n`)
const fileOf = (runId: string) => join(effects, `${runId}.txt`)
const released = Promise.withResolvers<void>()
if (verb !== 'hold') released.resolve()
process.stdin.once('end', () => process.exit(1))
createInterface(process.stdin).on('line', (line) => {
  if (line === 'go') released.resolve()
  say(line)
})
const linesOf = (runId: string): string[] =>
  existsSync(fileOf(runId)) ? readFileSync(fileOf(runId), 'utf8').split('\n').filter(Boolean) : []

/** The irreversible effect: a line with the call's id. */
const append = defineTool({
  name: 'fx:append',
  description: 'Leave a line.',
  parameters: z.strictObject({}),
  effect: 'irreversible',
  timeLimitMs: 60_000,
  async run(_, { runId, toolCallId }) {
    appendFileSync(fileOf(runId), `${toolCallId}\n`)
    say(`effect ${toolCallId}`)
    await released.promise
    await wait(30)
    return { content: 'left' }
  },
})

const call = (tool: string, args: Record<string, string> = {}) => ({ delayMs: 20, calls: [{ tool, arguments: args }] })
const turns = [
  ...Array.from({ length: EFFECTS }, () => call('fx__append')),
  call('complete_task', { summary: 'Left.' }),
]

const keepup = await openKeepUp({ data, tools: [append], scripts: { job: { script: 1, turns }, tree: treeScript } })

async function work(): Promise<void> {
  const told = new AbortController()
  process.once('SIGTERM', () => told.abort())
  say('working')
  await keepup.work({ signal: told.signal, onNote: (text) => say(`note ${text.replaceAll('\n', ' | ')}`) })
}

async function start(): Promise<void> {
  for (let n = 0; n < Number(count); n++) {
    if (TREES) say(`run ${await startTree(keepup)}`)
    else {
      const { runId } = await keepup.start({ task: `Leave ${EFFECTS} lines`, model: 'scripted:job', drive: true })
      say(`run ${runId}`)
    }
  }
}

/** Decides only after checking the world: no process executes the call any more. */
async function settle(keepup: KeepUp): Promise<void> {
  const all = new AbortController()
  const ended = new Set<string>()
  for await (const page of keepup.services.log.subscribe(null, all.signal)) {
    for (const { header } of page) {
      const { type, agentId = '', runId = agentId, toolCallId = '' } = header
      if ((type === 'completion' || type === 'error') && agentId === runId) ended.add(agentId)
      if (type === 'tool_call_unknown') await decide(keepup, runId, agentId, toolCallId)
    }
    if (ended.size >= Number(count)) all.abort()
  }
}

async function decide(keepup: KeepUp, runId: string, agentId: string, toolCallId: string): Promise<void> {
  const happened = linesOf(runId).includes(toolCallId)
  const decision = happened ? ('happened' as const) : ('run' as const)
  // A late outcome of a released worker has settled the doubt.
  const settled = await keepup
    .getDoubt({ toolCallId })
    .then(({ questionHash }) => keepup.say(agentId, { kind: 'resolve_doubt', toolCallId, questionHash, decision }))
    .catch((error) => error as Error)
  say(settled instanceof Error ? `settled ${toolCallId}: ${settled.message}` : `decided ${toolCallId} ${decision}`)
}

async function check({ services }: KeepUp): Promise<void> {
  await services.read.caughtUp()
  const { value } = await services.read.runs({ limit: 1000 })
  const wrong: string[] = []
  for (const { runId, status } of value.runs) {
    const lines = linesOf(runId)
    if (status !== 'completed') wrong.push(`${runId} is ${status}`)
    if (lines.length !== EFFECTS || new Set(lines).size !== EFFECTS) wrong.push(`${runId} left ${lines}`)
    const { ok, problems } = await services.runtime.verify(runId)
    if (!ok) wrong.push(`${runId}: ${JSON.stringify(problems)}`)
    if (TREES) wrong.push(...(await faultsOfTree(keepup, runId)))
  }
  const { equal, differences } = await services.read.rebuild()
  say(JSON.stringify({ runs: value.runs.length, wrong, equal, differences, epochs: await epochs() }))
}

/** The highest number of claims per run, and the runs that ended twice. */
async function epochs(): Promise<{ most: number; twice: string[] }> {
  const [ends, claims] = [new Map<string, number>(), new Map<string, number>()]
  const add = (to: Map<string, number>, key: string) => to.set(key, (to.get(key) ?? 0) + 1)
  for await (const page of keepup.services.log.readAll(null, { bodies: false })) {
    for (const { header } of page) {
      if (header.type === 'driver_claimed') add(claims, agentOf(header))
      if (header.type === 'completion') add(ends, agentOf(header))
      if (header.type === 'tool_call_end') add(ends, header.toolCallId ?? '')
    }
  }
  const twice = [...ends].filter(([, n]) => n > 1).map(([id]) => id)
  return { most: Math.max(0, ...claims.values()), twice }
}

await { work, hold: work, start, settle: () => settle(keepup), check: () => check(keepup) }[verb]!()
await keepup.close()
process.stdin.destroy()
say('closed')
