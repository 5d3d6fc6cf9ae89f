import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, get, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openKeepUp } from '../../api/index.ts'
import { conditions } from './conditions.ts'
import type { Watched } from './load-watchers.ts'
import { Watcher } from './watcher.ts'

// A server under load: watchers over SSE, queries, and appends at steady rates. Fails if a watcher misses, repeats or swaps an event of
// its filter, if the 99th percentile of the queries is over its goal, or if the memory of the server keeps growing.

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    watchers: { type: 'string', default: '500' },
    queries: { type: 'string', default: '100' },
    appends: { type: 'string', default: '50' },
  },
})
const [minutes, watchers, queries, appends] = [values.minutes, values.watchers, values.queries, values.appends].map(
  Number,
) as [...[number, number, number, number]]

/** The most ms of the 99th percentile of the queries, from the time at which each was due. */
const GOAL_MS = 200
/** The most growth of the server's memory from the first third of the minutes to the last, in MiB. */
const GROWTH_MIB = 64

const FILTERS = ['', '&type=variable_set', '&brief=true', '&agent=user:load-3']
const RUNS = 30

const say = (text: string) => void process.stdout.write(`${text}\n`)

/** Some runs that the queries ask about. Returns their ids. */
async function runsIn(data: string): Promise<string[]> {
  const calls = [{ tool: 'complete_task', arguments: { summary: 'done' } }]
  const turns = [{ text: 'first', calls: [{ tool: 'set_context', arguments: { key: 'k', value: 1 } }] }, { calls }]
  const keepup = await openKeepUp({ data, scripts: { work: { script: 1, turns } } })
  const ids: string[] = []
  for (let n = 0; n < RUNS; n++) {
    const { runId } = await keepup.start({ task: `job ${n}`, model: 'scripted:work' })
    await keepup.drive(runId)
    ids.push(runId)
  }
  await keepup.close()
  return ids
}

const percentile = (sorted: readonly number[], part: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0

/** Asks at a steady rate until the signal aborts. `took` gets the ms of each answer from the time at which it was due. */
async function askSteadily(
  base: string,
  token: string,
  ids: readonly string[],
  took: number[],
  signal: AbortSignal,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const paths = ['/v1/runs?limit=20', '/v1/cost', '/v1/approvals', '/v1/context-stores', '/v1/numbers']
  const pathOf = (n: number) => (n % 2 === 0 ? `/v1/runs/${ids[n % ids.length]}` : paths[(n >> 1) % paths.length]!)
  const ask = (path: string, due: number) =>
    new Promise<void>((resolve, reject) => {
      const options = { agent, headers: { authorization: `Bearer ${token}` } }
      request(base + path, options, (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`${path}: ${answer.statusCode}`))
        answer.resume().on('end', () => {
          took.push(performance.now() - due)
          resolve()
        })
      })
        .on('error', reject)
        .end()
    })
  const pending = new Set<Promise<void>>()
  const started = performance.now()
  const failed: string[] = []
  for (let n = 0; !signal.aborted; n++) {
    const due = started + (n * 1000) / queries
    const early = due - performance.now()
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early))
    const asked = ask(pathOf(n), due)
    pending.add(asked)
    asked.catch((error: Error) => failed.push(error.message)).finally(() => pending.delete(asked))
  }
  await Promise.allSettled(pending)
  agent.destroy()
  if (failed.length > 0) throw new Error(`${failed.length} queries, for example: ${failed[0]}`)
}

/** The positions of the events of a filter, as a plain read gives them. */
async function expected(base: string, token: string, after: string, filter: string): Promise<Watcher> {
  const seen = new Watcher()
  const options = { headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' } }
  await new Promise<void>((resolve, reject) => {
    get(`${base}/v1/events?follow=false&after=${encodeURIComponent(after)}${filter}`, options, (answer) => {
      answer
        .setEncoding('utf8')
        .on('data', (text: string) => seen.add(text))
        .on('end', resolve)
    }).on('error', reject)
  })
  return seen
}

const folder = mkdtempSync(join(tmpdir(), 'keepup-load-'))
const data = join(folder, 'data')
const ids = await runsIn(data)
const server = fork(fileURLToPath(new URL('./load-server.ts', import.meta.url)), [data], { execArgv: process.execArgv })
const answerOf = <T>(child: ChildProcess) =>
  new Promise<T>((resolve) => child.once('message', (message) => resolve(message as T)))
const told = async <T>(asked: object | string): Promise<T> => {
  const next = answerOf<T>(server)
  server.send(asked)
  return next
}
const { url } = await answerOf<{ url: string }>(server)
const token = readFileSync(join(data, 'token'), 'utf8').trim()
const faults: string[] = []

const headers = { authorization: `Bearer ${token}` }
const { position } = (await (await fetch(`${url}/v1/runs?limit=1`, { headers })).json()) as { position: string }
const watching = fork(fileURLToPath(new URL('./load-watchers.ts', import.meta.url)), { execArgv: process.execArgv })
const watched = async <T>(asked: object): Promise<T> => {
  const next = answerOf<T>(watching)
  watching.send(asked)
  return next
}
await watched({ url, token, after: position, filters: FILTERS, count: watchers })
say(`${watchers} watchers, ${queries} queries/s, ${appends} appends/s, ${minutes} minutes`)
say(
  'minute  p50 ms  p99 ms   max ms  longest append ms  loop p99 ms  loop max ms  rss MiB  heap MiB  CPU of the server',
)

const over = new AbortController()
const took: number[] = []
const every: number[] = []
const asking = askSteadily(url, token, ids, took, over.signal)
asking.catch(() => undefined)
const rss: number[] = []
let cpuBefore = 0
for (let minute = 1; minute <= minutes; minute++) {
  const { longestMs } = await told<{ longestMs: number }>({ append: { rate: appends, seconds: 60 } })
  const used = await told<Record<'rss' | 'heap' | 'cpuMs' | 'loopP99' | 'loopMax', number>>('used')
  const sorted = took.splice(0).sort((a, b) => a - b)
  every.push(...sorted)
  rss.push(used.rss / 2 ** 20)
  const cells = [
    String(minute).padStart(6),
    ...[percentile(sorted, 0.5), percentile(sorted, 0.99), sorted.at(-1) ?? 0].map((ms) => ms.toFixed(1).padStart(7)),
    longestMs.toFixed(0).padStart(18),
    ...[used.loopP99, used.loopMax].map((ms) => ms.toFixed(0).padStart(12)),
    ...[used.rss, used.heap].map((bytes) => (bytes / 2 ** 20).toFixed(0).padStart(8)),
    `${((used.cpuMs - cpuBefore) / 600).toFixed(0)} % of a core`,
  ]
  cpuBefore = used.cpuMs
  say(cells.join(' '))
}
over.abort()
await asking.catch((error: Error) => faults.push(`queries failed: ${error.message}`))

// The watchers may be behind: they have what a plain read gives when their counts are equal.
const wanted = new Map<string, Watcher>()
for (const filter of FILTERS) wanted.set(filter, await expected(url, token, position, filter))
let seen = await watched<Watched[]>({})
const isBehind = ({ filter, count }: Watched) => count < wanted.get(filter)!.count
for (let waited = 0; seen.some(isBehind) && waited < 60; waited++) {
  await new Promise((resolve) => setTimeout(resolve, 1000))
  seen = await watched<Watched[]>({})
}
for (const [filter, { count }] of wanted) if (count === 0) faults.push(`no event matches "${filter}"`)
const wrong = seen.filter(({ filter, text }) => text !== wanted.get(filter)!.text)
if (wrong.length > 0)
  faults.push(
    `${wrong.length} of ${watchers} watchers saw other events than the log has, for example "${wrong[0]!.text}"`,
  )
watching.kill()
await told('close')
rmSync(folder, { recursive: true, force: true })

const p99 = percentile(
  every.sort((a, b) => a - b),
  0.99,
)
if (p99 > GOAL_MS) faults.push(`the 99th percentile of the queries is ${p99.toFixed(0)} ms; the goal is ${GOAL_MS}`)
const third = Math.max(1, Math.floor(rss.length / 3))
const mean = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0) / all.length
const growth = mean(rss.slice(-third)) - mean(rss.slice(0, third))
if (rss.length >= 3 && growth > GROWTH_MIB)
  faults.push(`the memory grew by ${growth.toFixed(0)} MiB; the goal is ${GROWTH_MIB}`)
say(`${every.length} queries, p99 ${p99.toFixed(1)} ms; memory grew by ${growth.toFixed(0)} MiB`)
for (const [filter, { text }] of wanted) say(`watchers of "${filter}": ${text}`)
say(conditions())
for (const fault of faults) say(`FAULT ${fault}`)
process.exitCode = faults.length === 0 ? 0 : 1
