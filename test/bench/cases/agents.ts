import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { claudeCode } from '../../../adapters/agents/cli/claude-code.ts'
import { createCliBackend } from '../../../adapters/agents/process/cli-backend.ts'
import { fakeProgram, type Step } from '../../../adapters/agents/process/fake-steps.ts'
import { FileBlobs } from '../../../adapters/files/blobs/store.ts'
import { openSqliteLog } from '../../../adapters/sqlite/log/open.ts'
import { openVault } from '../../../adapters/vault/file-vault.ts'
import { SystemClock } from '../../../api/process/host/clock.ts'
import { paths } from '../../../api/process/host/paths.ts'
import { systemRandom } from '../../../api/process/host/random.ts'
import { openBoundary } from '../../../api/process/host/secret-boundary.ts'
import { Policy } from '../../../domain/calls/policy-schema.ts'
import type { AgentEventBody } from '../../../domain/external/agent-event.ts'
import { AgentGateway } from '../../../domain/external/runtime/gateway.ts'
import { StreamExternalLog } from '../../../domain/external/runtime/stream-log.ts'
import { externalStream } from '../../../domain/log/ids.ts'
import type { Json } from '../../../domain/log/json.ts'
import { unsalted } from '../../../domain/log/seal.ts'
import type { Bench, Case } from '../bench.ts'
import { type Figure, megabytes, most, ms, rate } from '../figure.ts'
import { Pairs, timed } from '../measure.ts'

// Runs of other agents. The harness is held against a floor that starts the same program, parses its lines, hides secrets in
// them, and appends the same batches to the same log.

const AT_ONCE = 20
const TURN = [
  {
    type: 'assistant',
    message: {
      content: [{ type: 'text', text: 'I look at the file that the test names, and then at its neighbours.' }],
    },
  },
  {
    type: 'assistant',
    message: { content: [{ type: 'tool_use', id: 't1', name: 'Read', input: { file_path: 'src/index.ts' } }] },
  },
  {
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: 't1', content: 'export const answer = 42\n' }] },
  },
]
const INIT = { type: 'system', subtype: 'init', session_id: 'bench-session', model: 'bench' }
const RESULT = {
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: 'done',
  session_id: 'bench-session',
  usage: {},
}

const print = (line: object, times = 1): Step => ({ do: 'print', text: JSON.stringify(line), times })
const steps = (turns: number): Step[] => [
  print(INIT),
  { do: 'print', text: TURN.map((line) => JSON.stringify(line)).join('\n'), times: turns },
  print(RESULT),
]

export const agents: Case = {
  name: 'agents',
  async run(bench: Bench): Promise<Figure[]> {
    const events = bench.quick ? 9_999 : 99_999
    const folder = join(bench.folder, 'agents')
    mkdirSync(folder, { recursive: true })
    const place = await opened(join(folder, 'data'), folder)
    try {
      return [
        await flood(bench, place, folder, events),
        await start(bench, place, folder, true),
        await start(bench, place, folder, false),
        await together(place, folder, Math.round(events / AT_ONCE / 3)),
      ]
    } finally {
      await place.close()
      rmSync(folder, { recursive: true })
    }
  },
}

type Place = Awaited<ReturnType<typeof opened>>

async function opened(data: string, workspace: string) {
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const at = paths(data)
  const clock = new SystemClock()
  const log = await openSqliteLog({ folder: at.log, mode: 'owner', clock, random: systemRandom })
  const vault = await openVault({ dataFolder: data, env: {} })
  const { secrets } = await openBoundary(vault, [KEY], { secrets: [], policy: Policy.parse({}) })
  const runs = new StreamExternalLog({
    log,
    blobs: new FileBlobs(at.blobs),
    clock,
    random: systemRandom,
    build: 'bench',
  })
  return {
    secrets,
    /** Gives the run's id. */
    async run(program: string, namespace = false): Promise<string> {
      const backends = [createCliBackend(claudeCode, { workspace, program, namespace })]
      const hiding = { value: secrets.json, texts: () => secrets.texts() }
      const gateway = new AgentGateway({ log: runs, clock, hiding, backends })
      const { agentId, completion } = await gateway.run('claude_code', { prompt: 'go' })
      if (!(await completion).success) throw new Error('the measured agent did not do its work')
      return agentId
    },
    begin: () => runs.begin({ kind: 'start', backend: 'bare', request: { prompt: 'go' }, capabilities: [] }),
    session: async (agentId: string) => (await runs.state(agentId))?.sessionId,
    /** The events of a run as they were gathered. */
    async batches(agentId: string): Promise<AgentEventBody[][]> {
      const found: AgentEventBody[][] = []
      for await (const page of log.read(externalStream(agentId), { limit: 1_000, bodies: true }))
        for (const { header, body } of page)
          if (header.type === 'agent_events') found.push(JSON.parse(Buffer.from(unsalted(body!)).toString()).events)
      return found
    },
    close: () => log.close(),
  }
}

async function flood(bench: Bench, place: Place, folder: string, events: number): Promise<Figure> {
  const program = fakeProgram(folder, steps(events / 3))
  const pairs = new Pairs()
  for (let round = 0; round <= (bench.quick ? 1 : 3); round++) {
    let agentId = ''
    const ours = await timed(async () => {
      agentId = await place.run(program)
    })
    const batches = await place.batches(agentId)
    const floor = await timed(() => bare(program, place, batches))
    if (round > 0) pairs.add(ours, floor)
  }
  const cpu = pairs.of('cpuMs')
  return {
    name: `CPU of ${events.toLocaleString('en-US')} events of another agent`,
    ours: ms(cpu.ours),
    floor: ms(cpu.floor),
    value: cpu.ratio,
    goal: most(1.3, ' ×'),
  }
}

/** The same program and batches in the same log, without bounds, mapping, limits and back-pressure. */
async function bare(program: string, { secrets, begin }: Place, batches: readonly AgentEventBody[][]): Promise<void> {
  const run = await begin()
  const child = spawn(program, [], { stdio: ['ignore', 'pipe', 'ignore'], detached: true })
  const queue = [...batches]
  let [read, written, first]: [number, Promise<void>, number] = [0, Promise.resolve(), 0]
  const write = async () => {
    const events = queue.shift()!
    await written
    written = run.append([{ kind: 'batch', first, events }])
    first += events.length
    read = 0
  }
  for await (const line of createInterface(child.stdout)) {
    secrets.json(JSON.parse(line) as Json)
    if (++read >= (queue[0]?.length ?? Number.POSITIVE_INFINITY)) await write()
  }
  while (queue.length > 0) await write()
  await written
  if (child.exitCode === null) await once(child, 'exit')
}

/**
 * How long it takes until the program runs: it tells the time at which it began as its session. The fastest of each counts:
 * what disturbs the machine only adds. With a process namespace, as agents are started where it is available, and without:
 * then the kernel waits before it moves a process into a control group.
 */
async function start(bench: Bench, place: Place, folder: string, namespace: boolean): Promise<Figure> {
  const program = join(folder, 'clock')
  const init = JSON.stringify({ ...INIT, session_id: '%s' })
  const script = `#!/bin/sh\nprintf '${init}\\n' "$(date +%s%N)"\necho '${JSON.stringify({ ...RESULT, session_id: undefined })}'\n`
  writeFileSync(program, script, { mode: 0o755 })
  const [ours, floor]: [number[], number[]] = [[], []]
  for (let round = 0; round <= bench.rounds * 4; round++) {
    const [from, session] = [wall(), await place.session(await place.run(program, namespace))]
    const bareFrom = wall()
    // The log promises the start before it happens.
    await place.begin()
    const bareSession = await heard(program)
    if (round === 0) continue
    ours.push(Number(session) / 1e6 - from)
    floor.push(Number(bareSession) / 1e6 - bareFrom)
  }
  const [best, least] = [Math.min(...ours), Math.min(...floor)]
  return {
    name: `until the program of another agent runs${namespace ? '' : ', without a namespace'}`,
    ours: ms(best),
    floor: ms(least),
    value: best - least,
    goal: most(10, ' ms more'),
  }
}

const wall = () => performance.timeOrigin + performance.now()

async function together(place: Place, folder: string, turns: number): Promise<Figure> {
  const program = fakeProgram(folder, steps(turns))
  const all = (run: () => Promise<unknown>) => timed(() => Promise.all(Array.from({ length: AT_ONCE }, run)))
  const [ours, floor] = [await all(() => place.run(program)), await all(() => heard(program))]
  const events = AT_ONCE * turns * 3 * 1000
  return {
    name: `${AT_ONCE} other agents at once`,
    ours: rate(events / ours.ms, 'events'),
    floor: rate(events / floor.ms, 'events'),
    value: ours.ms / floor.ms,
    goal: null,
    note: `${megabytes(process.memoryUsage.rss())} resident`,
  }
}

/** A bare start, whose lines are parsed and forgotten. Gives the session that it told first. */
async function heard(program: string): Promise<string> {
  const child = spawn(program, [], { stdio: ['ignore', 'pipe', 'ignore'], detached: true })
  let session = ''
  for await (const line of createInterface(child.stdout)) session ||= JSON.parse(line).session_id
  if (child.exitCode === null) await once(child, 'exit')
  return session
}

const KEY = 'sk-bench-0123456789abcdef0123456789abcdef'
