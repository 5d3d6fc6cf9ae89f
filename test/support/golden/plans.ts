import type { Plan } from '../plans.ts'

const BASE: Plan = {
  mode: 'batch',
  role: false,
  maxTurns: 8,
  graceTurns: 2,
  hardLimit: true,
  wallClockMs: null,
  tokens: null,
  maxRetries: 2,
  maxParallel: 3,
  requiresApproval: [],
  deniedTools: [],
  answers: [],
  ends: ['ok'],
  replies: [],
  requests: [],
}

/** Histories that together cover the variants of a run. */
export const PLANS: Readonly<Record<string, Plan>> = {
  tools: {
    ...BASE,
    requiresApproval: ['save'],
    ends: ['hang', 'other', 'ok', 'early', 'permanent'],
    answers: [
      {
        kind: 'calls',
        calls: [
          { tool: 'look', key: 0 },
          { tool: 'put', key: 1 },
          { tool: 'save', key: 2 },
          { tool: 'send', key: 0 },
        ],
      },
      { kind: 'network' },
      { kind: 'set' },
      { kind: 'ask' },
      { kind: 'complete', summary: 'done' },
    ],
    requests: [
      { at: 6, request: 'pause', elsewhere: true },
      { at: 9, request: 'standing', elsewhere: false },
    ],
  },
  role: {
    ...BASE,
    mode: 'interactive',
    role: true,
    answers: [
      { kind: 'advance', to: null, diagram: false },
      { kind: 'advance', to: null, diagram: true },
      { kind: 'unknown' },
      { kind: 'advance', to: 'third', diagram: false },
      { kind: 'text' },
      { kind: 'complete', summary: 'done' },
    ],
  },
  recovery: {
    ...BASE,
    maxTurns: 6,
    answers: [
      { kind: 'calls', calls: [{ tool: 'put', key: 0 }] },
      { kind: 'rate' },
      { kind: 'calls', calls: [{ tool: 'look', key: 0 }] },
      { kind: 'complete', summary: '  ' },
      { kind: 'complete', summary: 'done' },
    ],
  },
  notes: {
    ...BASE,
    maxTurns: 12,
    graceTurns: 0,
    answers: [
      { kind: 'cut' },
      { kind: 'flood' },
      { kind: 'paused' },
      { kind: 'empty' },
      { kind: 'complete', summary: 'done' },
    ],
    replies: ['input'],
  },
  cancelled: {
    ...BASE,
    ends: ['hang'],
    answers: [{ kind: 'calls', calls: [{ tool: 'send', key: 0 }] }],
    requests: [
      { at: 4, request: 'cancel', elsewhere: true },
      { at: 5, request: 'cancel', elsewhere: true },
    ],
  },
}
