import { appendFileSync, existsSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { type KeepUp, openKeepUp } from '../../../api/index.ts'
import { defineTool, z } from '../../../api/library/tool-kit.ts'
import { LOG_META } from '../../../domain/log/ids.ts'
import { agentOf } from '../../../domain/log/owner.ts'
import { readHistory } from './history.ts'
import { faultsOfHistory, type HistoryLine, type StoredEvent } from './history-faults.ts'
import { faultsOfTree, LEAVES, readTrees, startTree, TREE_TASK, treeScript } from './tree-job.ts'

// A process of a deployment on servers. The verb selects its role. It prints one line per event to standard output.
//
//   actor.ts DATA EFFECTS work N       drives N concurrent runs until SIGTERM; echoes each line of standard input; the
//                                      line "figures" asks for its memory and its longest event-loop delay since the last one
//   actor.ts DATA EFFECTS hold N       like work, but its calls return only after the line "go"
//   actor.ts DATA EFFECTS start N      starts N runs for any driver
//   actor.ts DATA EFFECTS grow N       starts N trees of agents for any driver
//   actor.ts DATA EFFECTS settle N     decides doubts by checking the world, until N runs have ended
//   actor.ts DATA EFFECTS check        prints the results, and whether the tables equal those of a rebuild
//
// The process exits at the end of its standard input at the latest.

/** The number of lines that each run of one agent writes, one per call. */
const EFFECTS = 3

const [, , data = '', effects = '', verb = '', count = '0'] = process.argv
const say = (line: string) => writeSync(1, `${line}\n`)
const delay = monitorEventLoopDelay()
if (verb === 'work') delay.enable()
const fileOf = (runId: string) => join(effects, `${runId}.txt`)
const released = Promise.withResolvers<void>()
if (verb !== 'hold') released.resolve()
process.stdin.once('end', () => process.exit(1))
createInterface(process.stdin).on('line', (line) => {
  if (line === 'go') released.resolve()
  if (line === 'figures') {
    const { rss, heapUsed } = process.memoryUsage()
    say(`figures ${JSON.stringify({ rss, heapUsed, delayMs: Math.round(delay.max / 1e6) })}`)
    return delay.reset()
  }
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

/** Repeats an attempt for a minute: the servers may be away for a moment. */
async function inTheEnd<T>(attempt: () => Promise<T>): Promise<T> {
  for (const until = performance.now() + 60_000; ; )
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() > until) throw error
      await wait(300)
    }
}

// A process that cannot reach its servers at its start ends, and what supervises it starts it again.
const keepup = await inTheEnd(() =>
  openKeepUp({ data, tools: [append], scripts: { job: { script: 1, turns }, tree: treeScript } }),
)

async function work(): Promise<void> {
  const told = new AbortController()
  process.once('SIGTERM', () => told.abort())
  say('working')
  await keepup.work({ signal: told.signal, onNote: (text) => say(`note ${text.replaceAll('\n', ' | ')}`) })
}

/** Starts runs. An attempt without an answer may have started its run, so a second one is for the same run. */
async function startAll(begin: (runId: string) => Promise<void>): Promise<void> {
  for (let n = 0; n < Number(count); n++) {
    const runId = keepup.services.runtime.newRunId()
    await inTheEnd(() =>
      begin(runId).catch((error: { code?: string }) => {
        if (error.code !== 'RUN_EXISTS') throw error
      }),
    )
    say(`run ${runId}`)
  }
}

const start = () =>
  startAll(async (runId) => {
    const { starts, runtime } = keepup.services
    const task = `Leave ${EFFECTS} lines`
    const spec = await starts.prepare({ task, model: 'scripted:job', drive: true })
    await runtime.execute(runId, { kind: 'start', spec, task, drive: true }, { by: { kind: 'user', id: 'test' } })
  })

const grow = () => startAll((runId) => startTree(keepup, runId))

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
  const runs = await allRuns(services)
  const trees = await readTrees(services)
  const wrong = await wrongAppends(services)
  for (const { runId, status, task } of runs) {
    const isTree = task === TREE_TASK
    const lines = linesOf(runId)
    const expected = isTree ? LEAVES : EFFECTS
    if (status !== 'completed') wrong.push(`${runId} is ${status}`)
    if (lines.length !== expected || new Set(lines).size !== expected) wrong.push(`${runId} left ${lines}`)
    const { ok, problems } = await services.runtime.verify(runId)
    if (!ok) wrong.push(`${runId}: ${JSON.stringify(problems)}`)
    if (isTree) wrong.push(...(await faultsOfTree(keepup, runId, trees)))
  }
  const { equal, differences } = await services.read.rebuild()
  const { events, ...claims } = await epochs()
  say(JSON.stringify({ runs: runs.length, events, wrong, equal, differences, epochs: claims }))
}

async function allRuns({ read }: KeepUp['services']) {
  const all = []
  for (let cursor: string | undefined; ; ) {
    const { value } = await read.runs({ limit: 1000, ...(cursor !== undefined && { after: cursor }) })
    all.push(...value.runs)
    if (value.next === null) return all
    cursor = value.next
  }
}

/** The faults of the log after the appends of all processes of the deployment. */
async function wrongAppends({ log }: KeepUp['services']): Promise<string[]> {
  const history = () => readHistory(process.env.KEEPUP_HISTORY ?? '')
  // Read before the log: what was acknowledged by now must be there.
  const ends = history().filter(({ is }) => is !== 'invoke')
  const streams = new Map<string, StoredEvent[]>()
  const invokes: HistoryLine[] = []
  for await (const page of log.readAll(null, { bodies: false })) {
    for (const { id, header } of page) {
      const { stream, revision } = header
      // The log writes its identity itself.
      if (stream === LOG_META && revision === 0) invokes.push({ is: 'invoke', id, stream, expected: -1, events: [id] })
      const events = streams.get(stream) ?? []
      streams.set(stream, events)
      events.push({ id, revision })
    }
  }
  invokes.push(...history().filter(({ is }) => is === 'invoke'))
  return faultsOfHistory([...invokes, ...ends], streams)
}

/** The number of events, the highest number of claims per run, and the runs that ended twice. */
async function epochs(): Promise<{ events: number; most: number; twice: string[] }> {
  let events = 0
  const [ends, claims] = [new Map<string, number>(), new Map<string, number>()]
  const add = (to: Map<string, number>, key: string) => to.set(key, (to.get(key) ?? 0) + 1)
  for await (const page of keepup.services.log.readAll(null, { bodies: false })) {
    events += page.length
    for (const { header } of page) {
      if (header.type === 'driver_claimed') add(claims, agentOf(header))
      if (header.type === 'completion') add(ends, agentOf(header))
      if (header.type === 'tool_call_end') add(ends, header.toolCallId ?? '')
    }
  }
  const twice = [...ends].filter(([, n]) => n > 1).map(([id]) => id)
  return { events, most: Math.max(0, ...claims.values()), twice }
}

await { work, hold: work, start, grow, settle: () => settle(keepup), check: () => check(keepup) }[verb]!()
await keepup.close()
process.stdin.destroy()
say('closed')
