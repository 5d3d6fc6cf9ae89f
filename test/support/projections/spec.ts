import { AgentSpec } from '../../../domain/tree/spec.ts'

/** A plausible, complete spec: two phases, one model with a price. */
export const spec = (changes: Partial<AgentSpec> = {}): AgentSpec =>
  AgentSpec.parse({
    role: {
      name: 'Coder',
      profile: 'engineer',
      goal: 'code',
      phases: [
        { name: 'plan', allowedTools: ['read_file'] },
        { name: 'implement', allowedTools: ['write_file'] },
      ],
      qualityGates: [{ after: 'implement', check: 'tests_exist' }],
      maxReactLoop: 15,
    },
    policy: {},
    limits: { maxTurns: 17, wallClockMs: null },
    recovery: {},
    retry: {},
    context: {},
    budget: { tokens: null, nanoDollars: null },
    models: {
      requested: 'model-a',
      safeDefault: 'model-a',
      known: [
        {
          id: 'model-a',
          provider: 'scripted',
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
    contextVariables: { lang: 'ts', depth: { a: 1 } },
    secrets: [],
    build: 'test',
    ...changes,
  })

/** A placeholder for any hash. */
export const HASH = 'a'.repeat(64)

/** A person's decision on a call. */
export const DECIDED = { method: 'person', policyHash: HASH } as const
