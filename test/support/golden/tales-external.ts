import { Policy } from '../../../domain/calls/policy-schema.ts'
import type { ExternalFact } from '../../../domain/external/commands.ts'
import { ReportedRuns } from '../../../domain/external/runtime/reported-runs.ts'
import { StreamExternalLog } from '../../../domain/external/runtime/stream-log.ts'
import { nextAskId, usedInSession } from '../../../domain/external/state.ts'
import type { Clock } from '../../../domain/ports/index.ts'
import { chat, otlpSpan, stored, TRACE, tool } from '../external/otlp-spans.ts'
import { seededRandom } from '../harness.ts'
import { RecordingLog } from './recording.ts'
import { ANN } from './tale.ts'

// External runs: one that finishes, with files, permissions, usage and every kind of event; one that is cancelled; one
// whose program is killed and whose outcome is learned later.

const START = Date.UTC(2026, 0, 18)
const capabilities = ['agent_api.run', 'agent_api.events']
const batch = (first: number, ...texts: string[]): ExternalFact => ({
  kind: 'batch',
  first,
  events: texts.map((text) => ({ kind: 'TextOutput', text })),
})
const USAGE = { scope: 'run', inputTokens: 100, cachedInputTokens: 10, outputTokens: 7, model: 'm' } as const

export async function external(): Promise<RecordingLog> {
  const log = new RecordingLog()
  let now = START
  const clock: Clock = { now: () => now++, sleep: () => new Promise(() => undefined) }
  const ports = { log, blobs: log.blobs, clock, random: seededRandom('external'), build: 'test' }
  const runs = new StreamExternalLog(ports)
  await works(runs)
  await isCancelled(runs)
  await isKilled(runs)
  return log
}

async function works(runs: StreamExternalLog): Promise<void> {
  const request = {
    ...{ prompt: 'mend it', workingDir: '/work', timeoutMs: 60_000, envNames: ['LANG'] },
    extensions: { 'agent_api.config.model.v1': 'm' },
    budget: { tokens: 1_000, nanoDollars: null },
  }
  const asked = { by: ANN, agentId: 'works', commandId: 'k1' }
  const before: ExternalFact = { kind: 'versioned', when: 'before', tree: 'a'.repeat(64) }
  const run = await runs.begin({ kind: 'start', backend: 'claude_code', request, capabilities }, asked, [before])
  await run.append([{ kind: 'session', sessionId: 's1' }, batch(0, 'I look.')])
  await run.append([
    {
      kind: 'batch',
      first: 1,
      events: [
        { kind: 'ToolCall', data: { id: 't1', name: 'Read', input: { path: 'a' } } },
        { kind: 'ToolResult', data: { id: 't1', success: true, output: 'x' } },
        { kind: 'Status', channel: 'thinking', text: 'so' },
        { kind: 'Error', message: 'told again' },
        { kind: 'Unknown', message: 'a line of an unknown type' },
      ],
    },
  ])
  for (const [decision, n] of [
    ['approved', 1],
    ['rejected', 2],
  ] as const) {
    const toolCallId = nextAskId(run.state)
    await run.append([{ kind: 'permission', toolCallId, toolName: 'edit', input: { path: 'a' }, reason: 'to mend it' }])
    const by = { kind: 'approver', id: 'ann', claimed: true } as const
    await runs.ask('works', { kind: 'decide_permission', toolCallId, decision }, { by, commandId: `d${n}` })
    await run.look()
  }
  await run.append([{ kind: 'usage', usage: { ...USAGE, cost: { nanoDollars: 5_000, scope: 'run' } } }])
  const exit = { code: 0, signal: null }
  await run.append([
    batch(6, 'Mended.'),
    { kind: 'versioned', when: 'after', unversioned: { code: 'SNAPSHOT_FAILED', message: 'the disk is full' } },
    { kind: 'end', outcome: { outcome: 'exited', exit, success: true, finalText: 'Mended.' } },
  ])
}

async function isCancelled(runs: StreamExternalLog): Promise<void> {
  const start = { kind: 'start', backend: 'codex', request: { prompt: 'go' }, capabilities } as const
  const run = await runs.begin(start, { by: ANN, agentId: 'cancelled', commandId: 'k2' })
  await run.append([batch(0, 'I begin.')])
  await runs.ask('cancelled', { kind: 'cancel', reason: 'enough' }, { by: ANN, commandId: 'c1' })
  await run.look()
  await run.append([{ kind: 'end', outcome: { outcome: 'cancelled', exit: { code: null, signal: 'SIGTERM' } } }])
}

async function isKilled(runs: StreamExternalLog): Promise<void> {
  const start = { kind: 'start', backend: 'gemini', request: { prompt: 'go' }, capabilities } as const
  const run = await runs.begin(start, { by: ANN, agentId: 'killed', commandId: 'k3' })
  await run.append([batch(0, 'I begin.')])
  await runs.settle('killed', 1)
  const exit = { code: 1, signal: null }
  await run.append([{ kind: 'end', outcome: { outcome: 'exited', exit, success: false, finalText: null } }])
}

/**
 * A run that a program reports over OTLP: late and repeated, with a span that is open at first, two instrumentations of
 * one model call, a failed tool, and an earlier root after the end.
 */
export async function reported(): Promise<RecordingLog> {
  const log = new RecordingLog()
  let now = START
  const clock: Clock = { now: () => now++, sleep: () => new Promise(() => undefined) }
  const runs = new ReportedRuns({ log, blobs: log.blobs, clock, random: seededRandom('reported') })
  const call = { ...chat('m', 10, 5), 'gen_ai.usage.cache_read.input_tokens': 4, 'gen_ai.conversation.id': 'c1' }
  const failed = { attributes: tool('search'), status: { code: 2, message: 'no luck' } }
  const exception = { name: 'exception', atNano: 1n, attributes: { 'exception.type': 'E' } }
  const send = (...spans: ReturnType<typeof otlpSpan>[]) =>
    runs.report(
      TRACE,
      spans.map((span) => stored(span)),
      ANN,
    )
  await send(otlpSpan(4, 3, { attributes: call }), otlpSpan(3, 2, { endNano: 0n, dropped: 2 }))
  await send(otlpSpan(4, 3, { attributes: call }), otlpSpan(5, 2, { ...failed, events: [exception] }))
  await send(otlpSpan(3, 2, { attributes: { 'openinference.span.kind': 'LLM', 'llm.cost.total': 0.5 } }))
  await send(otlpSpan(2, 9, { flags: 0x300, status: { code: 2, message: 'it failed' } }))
  await send(otlpSpan(1, null, { attributes: { 'output.value': 'Done.' }, service: '' }))
  return log
}

/** A run that a program hosts: an answered model call and an open one, a transcript with a gap, and a deleted one. */
export async function hosted(): Promise<RecordingLog> {
  const log = new RecordingLog()
  let now = START
  const clock: Clock = { now: () => now++, sleep: () => new Promise(() => undefined) }
  const ports = { log, blobs: log.blobs, clock, random: seededRandom('hosted'), build: 'test' }
  const runs = new StreamExternalLog(ports)
  const hosting = {
    policy: Policy.parse({ mode: 'batch', requiresApproval: ['pay'] }),
    effects: { look: 'pure' },
  } as const
  const start = {
    kind: 'start',
    backend: 'ai_sdk',
    request: { prompt: 'order 42' },
    capabilities: [],
    hosting,
  } as const
  const run = await runs.begin(start, { by: ANN, agentId: 'hosted', commandId: 'k1' })
  const asked = (call: number): ExternalFact => ({
    ...{ kind: 'model_asked', call, key: `${call}`.repeat(64), provider: 'p', model: 'm' },
    request: { settings: {}, messages: [{ role: 'user', content: `order ${call}` }] },
  })
  await run.append([asked(0)])
  await run.append([
    { kind: 'model_ended', call: 0, outcome: 'answered', durationMs: 5, answer: { text: 'Hello.' }, text: 'Hello.' },
  ])
  await run.append([asked(1)])
  await run.append([{ kind: 'mirrored', entries: [{ type: 'user', uuid: '1' }] }])
  await run.append([{ kind: 'mirror_gap', after: '1', error: 'the store was away' }])
  await run.append([{ kind: 'mirrored', subpath: 'sub', entries: [{ type: 'user', uuid: '3' }] }])
  await run.append([{ kind: 'transcript_deleted', subpath: 'sub' }])
  const exit = { code: 0, signal: null }
  await run.append([{ kind: 'end', outcome: { outcome: 'exited', exit, success: true, finalText: 'Done.' } }])
  return log
}

/** A run with streamed and whole texts and two models, and a run that continues its session. */
export async function continued(): Promise<RecordingLog> {
  const log = new RecordingLog()
  let now = START
  const clock: Clock = { now: () => now++, sleep: () => new Promise(() => undefined) }
  const ports = { log, blobs: log.blobs, clock, random: seededRandom('continued'), build: 'test' }
  const runs = new StreamExternalLog(ports)
  const end: ExternalFact = {
    kind: 'end',
    outcome: { outcome: 'exited', exit: { code: 0, signal: null }, success: true, finalText: 'Done.' },
  }
  const first = await runs.begin(
    { kind: 'start', backend: 'claude_code', request: { prompt: 'mend it' }, capabilities },
    { by: ANN, agentId: 'first', commandId: 'k1' },
  )
  const text = (said: string, continues: boolean) => ({ kind: 'TextOutput', text: said, continues }) as const
  const { scope: _, ...tokens } = USAGE
  const { model, ...counts } = tokens
  await first.append([
    { kind: 'session', sessionId: 's1' },
    { kind: 'batch', first: 0, events: [text('I look.', false), text('I m', false), text('end.', true)] },
    {
      kind: 'usage',
      usage: {
        ...{ scope: 'run', ...counts, cost: { nanoDollars: 6_000, scope: 'session' }, model },
        models: {
          scope: 'session',
          each: [
            { ...counts, model, nanoDollars: 5_000 },
            { ...counts, model: 'small', cachedInputTokens: null, nanoDollars: null },
          ],
        },
      },
    },
    end,
  ])
  const second = await runs.begin(
    {
      ...{ kind: 'start', backend: 'claude_code', capabilities },
      request: {
        prompt: 'go on',
        extensions: { 'agent_api.session.resume.v1': { selector: 'id', id: 's1' } },
      },
      continues: { agentId: 'first', used: usedInSession(first.state) },
    },
    { by: ANN, agentId: 'second', commandId: 'k2' },
  )
  const cost = { nanoDollars: 9_000, scope: 'session' } as const
  await second.append([
    { kind: 'session', sessionId: 's1' },
    { kind: 'usage', usage: { scope: 'run', ...counts, cost } },
    end,
  ])
  return log
}
