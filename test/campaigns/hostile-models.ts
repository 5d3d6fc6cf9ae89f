import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ATTACKS } from '../support/hostile/attacks.ts'
import { WIRES, type Wire } from '../support/hostile/wires.ts'
import { loopback } from '../support/network/loopback.ts'

// node test/campaigns/hostile-models.ts [minutes, default 30] [name of one attack]
// `serve` drives runs whose models answer with one attack after the other, on both wires. Prints the longest stall of its
// event loop, its memory, and whether it is still there; ends with 1 where it is not, or stalled for over 200 ms.

const minutes = Number(process.argv[2] ?? 30)
if (!(minutes > 0)) throw new Error('say for how many minutes: node test/campaigns/hostile-models.ts 3')
const attacks = Object.entries(ATTACKS).filter(([name]) => (process.argv[3] ?? name) === name)
const MOST_STALL_MS = 200
const TOGETHER = 2

const root = mkdtempSync(join(tmpdir(), 'keepup-soak-'))
const data = join(root, 'data')
mkdirSync(join(root, 'ws'))
const watched = join(root, 'watch.jsonl')
const counts = new Map<string, number>()
let now = ''

/** Each request meets the next attack; a run that has met some finishes. */
const endpoint = (wire: Wire) => {
  let n = 0
  return loopback(async (res, got) => {
    const messages = (got.body.messages as unknown[]).length
    const [name, attack] = attacks[n++ % attacks.length]!
    if (messages > 6) {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.end(wire.head() + wire.call(0, 'complete_task', '{"summary":"Done."}') + wire.end('tool_use'))
      return
    }
    counts.set(name, (counts.get(name) ?? 0) + 1)
    now = name
    await attack(wire, res).catch(() => undefined)
  })
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })

const anthropic = await endpoint(WIRES.anthropic!)
const openai = await endpoint(WIRES.openai!)
const port = await freePort()
const program = fileURLToPath(new URL('../../api/cli/keepup.js', import.meta.url))
const watch = fileURLToPath(new URL('../support/hostile/watch.ts', import.meta.url))
const child = spawn(process.execPath, ['--import', watch, program, '--data', data, 'serve', '--port', String(port)], {
  cwd: root,
  env: {
    PATH: process.env.PATH,
    HOME: root,
    KEEPUP_WATCH: watched,
    ANTHROPIC_API_KEY: 'sk-test-0123456789abcdef',
    ANTHROPIC_BASE_URL: anthropic.url,
    OPENAI_API_KEY: 'sk-test-0123456789abcdef',
    OPENAI_BASE_URL: `${openai.url}/v1`,
  },
  stdio: ['ignore', 'ignore', 'pipe'],
})
let said = ''
child.stderr.on('data', (text: Buffer) => {
  said = (said + text).slice(-10_000)
})
let exit: string | null = null
child.on('exit', (code, signal) => {
  exit = `${code ?? signal}`
})
while (exit === null && !said.includes('serving ')) await sleep(50)

const ask = async (path: string, body?: object) => {
  const token = readFileSync(join(data, 'token'), 'utf8').trim()
  const response = await fetch(`http://127.0.0.1:${port}/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

interface Look {
  readonly stallMs: number
  readonly stallCpuMs: number
  readonly rss: number
}
let [stall, stallCpu, rss, during, seen] = [0, 0, 0, '', 0]
function look(): void {
  if (!existsSync(watched)) return
  const lines = readFileSync(watched, 'utf8').split('\n').slice(0, -1)
  for (const line of lines.slice(seen)) {
    const one = JSON.parse(line) as Look
    rss = Math.max(rss, one.rss)
    // The time of the program's start does not count for an answer.
    if (seen > 3) stall = Math.max(stall, one.stallMs)
    if (one.stallCpuMs > stallCpu && seen > 3) [stallCpu, during] = [one.stallCpuMs, now]
    seen++
  }
}

/** The longest wait of another client for a small answer, in ms. */
let slowest = 0
const over = Date.now() + minutes * 60_000
const prober = (async () => {
  while (Date.now() < over && exit === null) {
    const before = performance.now()
    await ask('/runs?limit=1').catch(() => undefined)
    slowest = Math.max(slowest, performance.now() - before)
    look()
    await sleep(250)
  }
})()

let runs = 0
const ends = new Map<string, number>()
const worker = async (model: string) => {
  while (Date.now() < over && exit === null) {
    const limits = { maxTurns: 8 }
    const retry = { maxRetries: 0 }
    const started = await ask('/runs', { task: 'Go.', model, limits, retry, policy: { mode: 'batch' } })
    if (started.status !== 201) throw new Error(JSON.stringify(started.body))
    runs++
    for (;;) {
      const { body } = await ask(`/runs/${started.body.runId}`)
      const { run = body } = body as { run?: Record<string, unknown> }
      const error = run.error as { code: string } | null
      if (run.status === 'completed' || run.status === 'failed') {
        const end = error?.code ?? 'DONE'
        ends.set(end, (ends.get(end) ?? 0) + 1)
        // The received part is read back.
        for (const part of ['events', 'state', 'turns/1/request', 'turns/2/request'])
          await ask(`/runs/${started.body.runId}/${part}`)
        break
      }
      if (Date.now() > over + 60_000 || exit !== null) break
      await sleep(100)
    }
  }
}
const models = ['anthropic:claude-soak', 'openai:soak']
await Promise.all([prober, ...Array.from({ length: TOGETHER }, (_, i) => worker(models[i % models.length]!))]).catch(
  (error: unknown) => console.log(String(error), String((error as Error).cause ?? '')),
)

look()
const crashed = exit !== null
child.kill('SIGTERM')
while (exit === null) await sleep(50)
await Promise.all([anthropic.close(), openai.close()])
rmSync(root, { recursive: true, force: true })
const mib = (bytes: number) => `${Math.round(bytes / (1 << 20))} MiB`
console.log(`${minutes} min, ${runs} runs (${[...ends].map(([end, n]) => `${n} ${end}`).join(', ')})`)
for (const [name, n] of counts) console.log(`  ${String(n).padStart(6)} × ${name}`)
console.log(`longest stall of the event loop: ${Math.round(stallCpu)} ms of processor time, during "${during}"`)
console.log(`longest stall by the clock: ${Math.round(stall)} ms, at a load of ${loadavg()[0]!.toFixed(1)}`)
console.log(`slowest answer to another client: ${Math.round(slowest)} ms`)
console.log(`most memory: ${mib(rss)}`)
console.log(crashed ? `serve ended by itself (${exit}):\n${said}` : 'serve was there to the end')
process.exitCode = crashed || stallCpu > MOST_STALL_MS ? 1 : 0
