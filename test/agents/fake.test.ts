import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { claudeCode } from '../../adapters/agents/cli/claude-code.ts'
import { createCliBackend } from '../../adapters/agents/process/cli-backend.ts'
import { fakeProgram, type Step } from '../../adapters/agents/process/fake-steps.ts'
import { processes } from '../../adapters/sandbox/process-table.ts'
import { AgentGateway } from '../../domain/external/runtime/gateway.ts'
import type { ExternalAgentEvent } from '../../domain/ports/external.ts'
import { realClock } from '../support/external/in-process.ts'
import { MemoryExternalLog } from '../support/external/memory-log.ts'
import { CLAUDE } from '../support/external/samples.ts'
import { tempFolder } from '../support/folders.ts'

// A hostile agent as a process of its own. Whatever it does: the completion settles once, never before the process and the
// events have ended, events keep their order, memory stays small, and no process is left.

const MB = 1024 * 1024
const PLAYS = CLAUDE.lines.map((text): Step => ({ do: 'print', text }))
const BYTES = Buffer.from(`${CLAUDE.lines.join('\n')}\n`)
const KINDS = CLAUDE.kinds

interface Told {
  readonly kinds: readonly ExternalAgentEvent['kind'][]
  readonly end: { code: number | null; signal: string | null; success: boolean } | string
  /** Bytes by which this process grew at most. */
  readonly grown: number
}

interface Play {
  readonly timeoutMs?: number
  /** The log takes nothing for so long. */
  readonly sleepMs?: number
}

async function played(
  steps: (folder: string) => readonly Step[],
  { timeoutMs, sleepMs = 0 }: Play = {},
): Promise<Told> {
  const [folder, mark] = [tempFolder(), randomUUID()]
  const log = new MemoryExternalLog()
  log.onBegin = (run) => {
    const slept = realClock.sleep(sleepMs)
    run.before = () => slept
  }
  const program = fakeProgram(folder, steps(folder))
  const backend = createCliBackend(claudeCode, { workspace: folder, program, graceMs: 50 })
  const gateway = new AgentGateway({ log, clock: realClock, backends: [backend] })
  const floor = process.memoryUsage.rss()
  let grown = 0
  const sampling = setInterval(() => {
    grown = Math.max(grown, process.memoryUsage.rss() - floor)
  }, 5)
  const run = await gateway.run('claude_code', {
    prompt: 'go',
    env: { KEEPUP_FAKE_RUN: mark },
    ...(timeoutMs !== undefined && { timeoutMs }),
  })
  const order: string[] = []
  const settled = run.completion.then(
    ({ status, success }) => ({ ...status, success }),
    (error: Error) => error.message,
  )
  void settled.then(() => order.push('completion'))
  const kinds: ExternalAgentEvent['kind'][] = []
  for await (const { kind } of run.events) kinds.push(kind)
  order.push('events')
  const end = await settled
  clearInterval(sampling)
  expect(order).toEqual(['events', 'completion'])
  expect(processes().filter(({ environment }) => environment().includes(mark))).toEqual([])
  return { kinds, end, grown }
}

const DONE = { code: 0, signal: null, success: true }
const bytes = (end: number): Step => ({ do: 'bytes', base64: BYTES.subarray(0, end).toString('base64'), piece: 97 })

test('text and tools', async () => {
  expect(await played(() => PLAYS)).toMatchObject({ kinds: KINDS, end: DONE })
})

test('silence ends at the time limit', async () => {
  const { kinds, end } = await played(() => [{ do: 'hang' }], { timeoutMs: 300 })
  expect([kinds, end]).toEqual([[], 'timed out after 300 ms'])
})

test('half lines, and a last line without an end', async () => {
  expect(await played(() => [bytes(BYTES.length - 1)])).toMatchObject({ kinds: KINDS, end: DONE })
})

test('a late exit: output is closed long before the process ends', async () => {
  const began = performance.now()
  const told = await played(() => [...PLAYS, { do: 'close-output' }, { do: 'wait', ms: 500 }])
  expect(told).toMatchObject({ kinds: KINDS, end: DONE })
  expect(performance.now() - began).toBeGreaterThan(500)
})

test('one that ignores SIGTERM, with a grandchild that holds stdout', async () => {
  const { end } = await played(
    (folder) => [
      { do: 'ignore-signals' },
      { do: 'grandchild', pidFile: `${folder}/pid` },
      ...PLAYS.slice(0, 2),
      { do: 'hang' },
    ],
    { timeoutMs: 1_000 },
  )
  expect(end).toBe('timed out after 1000 ms')
})

test.each([0, 1, 61, 300, 500, 900, BYTES.length - 2])('one that dies at byte %i', async (at) => {
  const { kinds, end } = await played(() => [bytes(at), { do: 'die', signal: 'SIGKILL' }])
  expect(end).toMatchObject({ success: false })
  // What was told is a beginning of the whole, then at most the half line, then what is said of the end.
  const told = kinds.slice(0, -1).filter((kind) => kind !== 'Unknown')
  expect(KINDS.slice(0, told.length)).toEqual(told)
  expect(kinds.at(-1)).toBe('Error')
})

test('a line of 100 MB is dropped, and costs no memory', async () => {
  const line: Step = { do: 'long-line', bytes: 100 * MB, ended: true }
  // Memory that the collector has not given back yet only adds: the least growth of three runs is the figure.
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < 3 && least >= 64 * MB; run++) {
    const { kinds, end, grown } = await played(() => [line, ...PLAYS])
    expect([kinds, end]).toEqual([['Error', ...KINDS], DONE])
    least = Math.min(least, grown)
  }
  expect(least).toBeLessThan(64 * MB)
})

test('a flood waits while its consumer sleeps, and costs no memory', async () => {
  const text = JSON.stringify({ type: 'assistant', message: { content: [{ type: 'text', text: 'x'.repeat(60_000) }] } })
  const { end, grown } = await played(() => [{ do: 'print', text, times: 1_000_000 }], {
    timeoutMs: 1_500,
    sleepMs: 1_400,
  })
  expect(end).toBe('timed out after 1500 ms')
  expect(grown).toBeLessThan(64 * MB)
})
