import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { Problem } from '../../../api/http/problem.ts'
import { LiveHub } from '../../../api/live/hub.ts'
import { Drivers } from '../../../api/runs/drivers.ts'
import type { Services } from '../../../api/services.ts'
import { AgentSpec } from '../../../domain/agent/spec.ts'
import { FakeLog } from './log.ts'
import { FakeReadModel } from './read-model.ts'
import { FakeRuntime } from './runtime.ts'

export interface FakeServices extends Services {
  readonly log: FakeLog
  readonly faults: unknown[]
}

/** Services whose outside world is made of stand-ins. */
export function fakeServices(
  options: { log?: FakeLog; readOnly?: boolean; autoDrive?: boolean; onClose?: () => void } = {},
): FakeServices {
  const log = options.log ?? new FakeLog()
  const live = new LiveHub()
  const runtime = new FakeRuntime(log, live)
  const faults: unknown[] = []
  const drivers = new Drivers(runtime, live, (_, error) => faults.push(error))
  const secrets = new Map<string, string>()
  return {
    runtime,
    log,
    live,
    drivers,
    faults,
    blobs: { put: async () => {}, get: async () => new Uint8Array(), delete: async () => {} },
    read: new FakeReadModel(log),
    starts: {
      prepare: async (asked) => {
        if (asked.role === 'nobody') throw new Problem(422, 'UNKNOWN_ROLE', 'no such role')
        return SPEC
      },
    },
    files: {
      diff: async () => null,
      current: async () => 'before\n',
      restore: async (_, step) => ({ replaced: `tree-before-${step}` }),
    },
    vault: {
      get: async (name) => secrets.get(name) ?? null,
      set: async (name, value) => void secrets.set(name, value),
      names: async () => [...secrets.keys()],
      referenceKey: async () => new Uint8Array(32),
      remember: async () => undefined,
      resolve: () => null,
    },
    clock: { now: () => Date.now(), sleep: (ms, signal) => wait(ms, undefined, signal ? { signal } : {}) },
    random: { bytes: (n) => randomBytes(n) },
    fork: (source, at, { workspace }, request) =>
      runtime.fork(source, at, workspace === undefined ? {} : { workspace: { path: workspace } }, request),
    backup: async (folder) => {
      mkdirSync(folder)
      return { files: [], bytes: 0 }
    },
    sizes: async () => new Map(log.all.map((e) => [e.header.runId, 1024])),
    readOnly: options.readOnly ?? false,
    autoDrive: options.autoDrive ?? false,
    close: async () => {
      await drivers.stop()
      options.onClose?.()
    },
  }
}

const SPEC = AgentSpec.parse({
  role: null,
  policy: {},
  limits: { maxTurns: 25, wallClockMs: null },
  recovery: {},
  retry: {},
  context: {},
  budget: { tokens: null, nanoDollars: null },
  models: {
    requested: 'fake',
    safeDefault: 'fake',
    known: [
      {
        id: 'fake',
        provider: 'fake',
        contextTokens: 1000,
        maxOutputTokens: 100,
        timeoutMs: 1000,
        price: null,
        forcesCalls: true,
      },
    ],
  },
  tools: [],
  workspace: null,
  testCommand: null,
  contextVariables: {},
  secrets: [],
  build: 'fake',
})
