import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentEventBody } from '../../../domain/external/agent-event.ts'
import { CANCELLED } from '../../../domain/external/errors.ts'
import { checkAdvertised, checkRequest } from '../../../domain/external/request.ts'
import type { AgentCompletion, AgentRunRequest, Mapped } from '../../../domain/ports/external.ts'
import { processes } from '../../sandbox/process-table.ts'
import type { CliAgent } from './cli-agent.ts'
import { fakeProgram, type Step } from './fake-steps.ts'
import type { HarnessOptions } from './harness.ts'

/** A recorded run of the real program, and the expected events. */
export interface AgentSample {
  readonly lines: readonly string[]
  readonly kinds: readonly AgentEventBody['kind'][]
  readonly finalText: string
  readonly sessionId: string
}

/** One check of a backend. `check` rejects with an AssertionError if the backend fails. */
export interface KitCase {
  readonly name: string
  check(): Promise<void>
}

const PROMPT = 'Say what the note holds.'
const RAW = 'raw-line-of-the-process'

/** The checks that every backend must pass. A fake program plays the sample and hostile variations of it. */
export function backendCases(agent: CliAgent, sample: AgentSample, options: Partial<HarnessOptions> = {}): KitCase[] {
  const plays = sample.lines.map((text): Step => ({ do: 'print', text }))
  const bytes = Buffer.from(`${sample.lines.join('\n')}\n`)
  const kit = (steps: (folder: string) => readonly Step[], more: Partial<Played> = {}) =>
    played(agent, options, { steps, prompt: PROMPT, ...more })
  const mapped = ({ events, completion, told }: Result) => {
    deepEqual(
      events.map(({ kind }) => kind),
      sample.kinds,
    )
    deepEqual(completion, { status: { code: 0, signal: null }, success: true, finalText: sample.finalText })
    ok(told.some(({ sessionId }) => sessionId === sample.sessionId))
  }
  const unsuccessful = ({ completion }: Result, code: number) => {
    deepEqual([completion?.status.code, completion?.success], [code, false])
  }
  return [
    {
      name: 'advertises only what exists, and refuses other extensions',
      check: async () => {
        checkAdvertised(agent)
        const asked = { prompt: PROMPT, extensions: { 'backend.other.x': 1 } }
        await rejects(async () => checkRequest(asked, agent), { code: 'UnsupportedCapability' })
      },
    },
    {
      name: 'maps a recorded run: events, session, final text and success',
      check: async () => mapped(await kit(() => plays)),
    },
    {
      name: 'gets the prompt on stdin, a folder, and no variable that it does not name',
      check: async () => {
        const { seen } = await kit((folder) => [{ do: 'record', file: join(folder, 'seen.json') }, ...plays])
        equal(seen!.stdin.trim(), PROMPT)
        ok(!seen!.args.some((arg) => arg.includes(PROMPT)))
        equal(seen!.env.KEEPUP_KIT_SECRET, undefined)
        ok(seen!.env.KEEPUP_KIT_RUN)
      },
    },
    {
      name: 'maps lines that come in pieces, and a last one without an end',
      check: async () => {
        const base64 = bytes.subarray(0, -1).toString('base64')
        mapped(await kit(() => [{ do: 'bytes', base64, piece: 61 }]))
      },
    },
    {
      name: 'does not believe exit code 0 without the terminal line',
      check: async () => unsuccessful(await kit(() => plays.slice(0, 1)), 0),
    },
    {
      name: 'keeps the exit code of a program that dies at once',
      check: async () => unsuccessful(await kit(() => [{ do: 'exit', code: 7 }]), 7),
    },
    {
      name: 'does not wait for a program that never reads its prompt',
      check: async () => mapped(await kit(() => plays, { prompt: 'p'.repeat(1024 * 1024) })),
    },
    {
      name: 'drops a line of over 1 MiB with one Error event, and reads on',
      check: async () => {
        const { events } = await kit(() => [{ do: 'long-line', bytes: 3 * 1024 * 1024, ended: true }, ...plays])
        deepEqual(
          events.map(({ kind }) => kind),
          ['Error', ...sample.kinds],
        )
      },
    },
    {
      name: 'ends a program whose line never ends',
      check: async () => {
        const { error } = await kit(() => [{ do: 'long-line', bytes: 2 ** 40, ended: false }], { timeoutMs: 500 })
        equal((error as Error).message, 'timed out after 500 ms')
      },
    },
    {
      name: 'maps a flood in order, as slowly as its sink takes it',
      check: async () => {
        const { events } = await kit(() => [{ do: 'print', text: `"${RAW}"`, times: 3_000 }, ...plays], { slow: true })
        equal(events.length, 3_000 + sample.kinds.length)
        deepEqual(
          events.slice(3_000).map(({ kind }) => kind),
          sample.kinds,
        )
      },
    },
    {
      name: 'survives invalid UTF-8, and repeats no line that it cannot map',
      check: async () => {
        const broken = Buffer.concat([
          Buffer.from(`{"type":"${RAW}`),
          Buffer.from([0xff, 0xc3, 0x28]),
          Buffer.from('"}\n'),
        ])
        const odd = [
          RAW,
          `["${RAW}"]`,
          `{"${RAW}":`,
          `{"type":"${RAW}","message":"${RAW}","part":7,"item":[]}`,
          '[{'.repeat(300),
        ]
        const { events } = await kit(() => [
          { do: 'bytes', base64: broken.toString('base64'), piece: 1_000 },
          ...odd.map((text): Step => ({ do: 'print', text })),
          ...plays,
        ])
        deepEqual(
          events.slice(6).map(({ kind }) => kind),
          sample.kinds,
        )
        ok(events.slice(0, 6).every(({ kind }) => kind === 'Unknown' || kind === 'Error'))
        ok(!JSON.stringify(events).includes(RAW))
      },
    },
    {
      name: 'ends all descendants of a program that leaves them behind',
      check: async () => {
        const result = await kit((folder) => [
          { do: 'grandchild', pidFile: join(folder, 'pid') },
          ...plays,
          { do: 'exit', code: 0 },
        ])
        mapped(result)
        deepEqual(result.left, [])
      },
    },
    {
      name: 'cancels a program that ignores SIGTERM, with its descendants',
      check: async () => {
        const { error, told, left } = await kit(
          (folder) => [
            { do: 'ignore-signals' },
            { do: 'grandchild', pidFile: join(folder, 'pid') },
            ...plays.slice(0, 1),
            { do: 'hang' },
          ],
          { cancelAfter: 1 },
        )
        equal((error as Error).message, CANCELLED)
        ok(told.length > 0)
        deepEqual(left, [])
      },
    },
    {
      name: 'says so where the program is not there',
      check: async () => {
        const { error } = await kit(() => plays, { program: '/none/agent' })
        equal((error as { code: string }).code, 'Backend')
      },
    },
  ]
}

interface Played {
  steps(folder: string): readonly Step[]
  prompt: string
  timeoutMs?: number
  /** The sink takes each event in a separate turn of the event loop. */
  slow?: boolean
  /** Cancels the run after this many emitted items. */
  cancelAfter?: number
  program?: string
}

interface Result {
  readonly events: readonly AgentEventBody[]
  readonly told: readonly Mapped[]
  readonly completion: AgentCompletion | null
  readonly error: unknown
  /** The record of a fake agent's start. */
  readonly seen: { args: string[]; env: Record<string, string>; stdin: string } | null
  /** Processes of the run that still exist after its end. */
  readonly left: readonly number[]
}

async function played(agent: CliAgent, options: Partial<HarnessOptions>, play: Played): Promise<Result> {
  const mark = randomUUID()
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-kit-')))
  try {
    // Loaded when a check runs. The kit's module must load on a Node that is too old, so that it can report this.
    const { createCliBackend } = await import('./cli-backend.ts')
    const backend = createCliBackend(agent, {
      workspace: folder,
      graceMs: 50,
      program: play.program ?? fakeProgram(folder, play.steps(folder)),
      env: { ...process.env, KEEPUP_KIT_SECRET: 'hidden' },
      ...options,
    })
    const told: Mapped[] = []
    const abort = new AbortController()
    const emit = (one: Mapped): Promise<void> | undefined => {
      told.push(one)
      if (told.length === play.cancelAfter) abort.abort()
      return play.slow === true ? new Promise((resolve) => setImmediate(resolve)) : undefined
    }
    const request: AgentRunRequest = checkRequest(
      {
        prompt: play.prompt,
        env: { KEEPUP_KIT_RUN: mark },
        ...(play.timeoutMs !== undefined && { timeoutMs: play.timeoutMs }),
      },
      backend,
    )
    let [completion, error]: [AgentCompletion | null, unknown] = [null, null]
    try {
      completion = await backend.start(request, { agentId: 'x1', signal: abort.signal, emit })
    } catch (fault) {
      error = fault
    }
    const events = told.flatMap((one) => one.events ?? [])
    const left = processes().filter(({ environment }) => environment().includes(mark))
    const seen = jsonIn<NonNullable<Result['seen']>>(join(folder, 'seen.json'))
    return { events, told, completion, error, seen, left: left.map(({ pid }) => pid) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function jsonIn<T>(path: string): T | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T
  } catch {
    return null
  }
}
