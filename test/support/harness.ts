import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { MemoryLog } from '../../adapters/memory/log.ts'
import { controlTools } from '../../domain/agent/control/registry.ts'
import type { AgentEvent } from '../../domain/agent/events/events.ts'
import { history } from '../../domain/agent/runtime/history/history.ts'
import { Runtime } from '../../domain/agent/runtime/runtime.ts'
import type { Block } from '../../domain/calls/content.ts'
import type { ToolSpec } from '../../domain/calls/tools/tool-spec.ts'
import type { Actor } from '../../domain/log/envelope.ts'
import { LogError } from '../../domain/log/errors.ts'
import type {
  BlobIntent,
  BlobIntents,
  BlobStore,
  EventLog,
  ModelOutcome,
  ModelRequest,
  Tool,
} from '../../domain/ports/index.ts'
import type { Environment, RuntimePorts } from '../../domain/ports/runtime.ts'
import { FIRST_WARNING_MS, STOP_LIMIT_MS } from '../../domain/stream/runtime/append-retry.ts'
import { AgentSpec } from '../../domain/tree/spec.ts'
import { NO_SECRETS } from './secrets/no-secrets.ts'

export const USER: Actor = { kind: 'user', id: 'tester' }

/** A clock under the test's control. Sleeping advances the clock, so no test really waits. */
export class TestClock {
  time = Date.UTC(2026, 0, 18)
  now(): number {
    return this.time
  }
  /** Yielding takes no time. */
  async giveWay(): Promise<void> {}
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    await new Promise<void>((resolve) => setImmediate(resolve))
    signal?.throwIfAborted()
    // Other work must end a long wait or one of the retry policy. Skip all other waits.
    if (ms > 30_000 || ms === FIRST_WARNING_MS || ms === STOP_LIMIT_MS)
      return sleep(2 ** 30, undefined, { ref: false, ...(signal ? { signal } : {}) })
    this.time += ms
  }
}

/** Reproducible bytes. */
export function seededRandom(seed: string) {
  let n = 0
  return {
    bytes(length: number): Uint8Array {
      const chunks: Buffer[] = []
      for (let have = 0; have < length; have += 32) chunks.push(createHash('sha256').update(`${seed}:${n++}`).digest())
      return new Uint8Array(Buffer.concat(chunks).subarray(0, length))
    },
  }
}

export class MemoryBlobs implements BlobStore {
  readonly held = new Map<string, Uint8Array>()
  async put(runId: string, hash: string, bytes: Uint8Array): Promise<void> {
    this.held.set(`${runId}/${hash}`, bytes)
  }
  async get(runId: string, hash: string): Promise<Uint8Array> {
    const bytes = this.held.get(`${runId}/${hash}`)
    if (bytes === undefined) throw new LogError('BLOB_MISSING', `${runId}/${hash} is missing`)
    return bytes
  }
  async list(runId: string): Promise<readonly string[]> {
    return [...this.held.keys()].flatMap((key) => (key.startsWith(`${runId}/`) ? [key.slice(runId.length + 1)] : []))
  }
  async delete(runId: string, hash: string): Promise<void> {
    this.held.delete(`${runId}/${hash}`)
  }
}

export class MemoryIntents implements BlobIntents {
  readonly begun = new Map<string, BlobIntent>()
  async begin(intents: readonly BlobIntent[]): Promise<void> {
    for (const intent of intents) this.begun.set(intent.hash, intent)
  }
  async end(intents: readonly BlobIntent[]): Promise<void> {
    for (const { hash } of intents) this.begun.delete(hash)
  }
  async left(): Promise<readonly BlobIntent[]> {
    return [...this.begun.values()]
  }
}

/** A test's model: answers a request. */
export type Answer = (
  request: ModelRequest,
  nth: number,
) => Partial<ModelOutcome> | Error | Promise<Partial<ModelOutcome>>

export const call = (name: string, args: object = {}, id = `c-${name}`): Block => ({
  type: 'tool_use',
  id,
  name,
  input: args as never,
})

export const calls = (...blocks: Block[]): Partial<ModelOutcome> => ({ content: blocks, stopReason: 'tool_use' })
export const says = (text: string): Partial<ModelOutcome> => ({
  content: [{ type: 'text', text }],
  stopReason: 'end_turn',
})
export const completes = (summary = 'done'): Partial<ModelOutcome> => calls(call('complete_task', { summary }))

export const toolSpec = (name: string, more: Partial<ToolSpec> = {}): ToolSpec => ({
  name,
  description: name,
  parameters: { type: 'object' },
  effect: 'pure',
  paths: {},
  barrier: false,
  control: false,
  timeLimitMs: 1_000,
  ...more,
})

export const testModel = {
  id: 'test-model',
  provider: 'test',
  contextTokens: 200_000,
  maxOutputTokens: 4_096,
  timeoutMs: 10_000,
  price: null,
  forcesCalls: true,
}

/**
 * A spec with every default. `tools` are added to the control tools. The tools for reading on are included only with
 * `readsOn` and `readsHistory`, because histories recorded before these tools existed must stay equal to the byte.
 */
export function testSpec(
  {
    readsOn = false,
    readsHistory = false,
    asksPermission = false,
    listsTasks = false,
    ...more
  }: Record<string, unknown> = {},
  tools: readonly Tool[] = [],
): AgentSpec {
  const role = (more.role ?? null) as AgentSpec['role']
  const given = { readsOn, readsHistory, asksPermission, listsTasks }
  const control = controlTools(role).filter(({ name }) => LATER[name] === undefined || given[LATER[name]] === true)
  return AgentSpec.parse({
    role,
    policy: {},
    limits: { maxTurns: 25, wallClockMs: null },
    recovery: {},
    retry: { backoffMs: 10 },
    context: {},
    budget: { tokens: null, nanoDollars: null },
    models: { requested: 'test-model', safeDefault: 'test-model', known: [testModel] },
    tools: [...control, ...tools.map((tool) => tool.spec)],
    workspace: null,
    testCommand: null,
    contextVariables: {},
    secrets: [],
    build: 'test',
    ...more,
  })
}

const LATER: Readonly<Record<string, 'readsOn' | 'readsHistory' | 'asksPermission' | 'listsTasks'>> = {
  read_result: 'readsOn',
  read_history: 'readsHistory',
  request_permission: 'asksPermission',
  update_tasks: 'listsTasks',
}

export interface Harness {
  readonly log: EventLog
  readonly tools: ReadonlyMap<string, Tool>
  readonly ports: RuntimePorts
  readonly runtime: Runtime
  readonly clock: TestClock
  readonly requests: ModelRequest[]
  start(spec: AgentSpec, task?: string | null): Promise<string>
  drive(runId: string): ReturnType<Runtime['drive']>
  events(runId: string): Promise<AgentEvent[]>
  types(runId: string): Promise<string[]>
}

/** Opens an environment in a test. The harness adds its tools if the environment has none. */
type OpenEnvironment = (
  ...about: Parameters<RuntimePorts['environment']>
) => Promise<Omit<Environment, 'tool'> & Partial<Pick<Environment, 'tool'>>>

/** Ports that a test overrides. */
export type TestPorts = Partial<Omit<RuntimePorts, 'environment'>> & { readonly environment?: OpenEnvironment }

export const withTools =
  (open: OpenEnvironment, tools: ReadonlyMap<string, Tool>): RuntimePorts['environment'] =>
  async (...about) => ({ tool: (name) => tools.get(name), ...(await open(...about)) })

export function harness(
  answer: Answer,
  options: {
    tools?: readonly Tool[]
    log?: EventLog
    blobs?: BlobStore
    seed?: string
    ports?: TestPorts
  } = {},
): Harness {
  const clock = new TestClock()
  const log = options.log ?? new MemoryLog()
  const requests: ModelRequest[] = []
  const tools = new Map((options.tools ?? []).map((tool) => [tool.spec.name, tool]))
  const { environment, ...own } = options.ports ?? {}
  const ports: RuntimePorts = {
    log,
    blobs: options.blobs ?? new MemoryBlobs(),
    clock,
    random: seededRandom(options.seed ?? 'harness'),
    feed: { publish: () => undefined },
    build: 'test',
    // Longer than any wait that the clock skips, so no answering call times out.
    requestLimitMs: 60_000,
    provider: () => ({
      id: 'test',
      async call(request, { signal }) {
        requests.push({ ...request, messages: [...request.messages] })
        signal.throwIfAborted()
        const outcome = await answer(request, requests.length)
        if (outcome instanceof Error) throw outcome
        const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 }
        return { content: [], stopReason: 'end_turn', usage, servedBy: 'test-model', ...outcome }
      },
    }),
    hasTool: (name) => tools.has(name),
    secrets: async () => NO_SECRETS,
    ...own,
    environment: withTools(
      environment ??
        (async () => ({
          workspace: null,
          sandbox: null,
          secrets: NO_SECRETS,
          reap: async () => undefined,
          close: async () => undefined,
        })),
      tools,
    ),
  }
  const runtime = new Runtime(ports)
  return {
    log,
    tools,
    ports,
    runtime,
    clock,
    requests,
    async start(spec, task = 'do it') {
      const runId = runtime.newRunId()
      await runtime.execute(runId, { kind: 'start', spec, task }, { by: USER })
      return runId
    },
    drive: (runId) => runtime.drive(runId, { signal: new AbortController().signal }),
    async events(runId) {
      const all: AgentEvent[] = []
      for await (const page of history(ports, runId)) all.push(...page.map(({ event }) => event))
      return all
    },
    async types(runId) {
      return (await this.events(runId)).map((event) => event.type)
    },
  }
}
