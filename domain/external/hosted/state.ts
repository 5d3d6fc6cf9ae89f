import type { CallRules } from '../../calls/caller.ts'
import { ErrorRecoveryPolicy, type Policy } from '../../calls/policy-schema.ts'
import { matches } from '../../calls/tools/tool-patterns.ts'
import type { Effect, ToolSpec } from '../../calls/tools/tool-spec.ts'
import { OTLP } from '../reported/backend.ts'
import type { Hosting } from './events.ts'

/** The state of a run that a program hosts. */
export interface Hosted {
  /** Effects by tool pattern. */
  readonly effects: Hosting['effects']
  /** The number of model calls so far. */
  readonly asked: number
  /** The model calls without an outcome. `epoch`: of the program that made the call. */
  readonly open: readonly { readonly call: number; readonly epoch: number }[]
  /** The time of the last entry of each transcript, ms, by subpath; '': the main transcript. */
  readonly transcripts: Readonly<Record<string, number>>
}

/** The kinds of the runs that programs host. No backend of a host may have one. */
export const HOSTED = ['ai_sdk', 'claude_agent_sdk'] as const
export type HostedKind = (typeof HOSTED)[number]

/** Whether another program runs the agents of this kind, so that keepup knows no process and no driver of them. */
export const isOfProgram = (kind: string | null): boolean =>
  kind === OTLP || (HOSTED as readonly unknown[]).includes(kind)

export const hostedOf = ({ effects }: Hosting): Hosted => ({ effects, asked: 0, open: [], transcripts: {} })

/** The rules of a hosted agent's calls. The program itself repeats failed calls. */
export const hostedRules = (policy: Policy): CallRules => ({
  policy,
  tools: [],
  role: null,
  retry: { ...ErrorRecoveryPolicy.parse({}), maxRetries: 0 },
  secrets: [],
  testCommand: null,
  workspace: null,
})

/** A tool of the program as the rules of calls read it. The program checks the arguments and limits the time. */
export const hostedTool = ({ effects }: Hosted, name: string): ToolSpec => ({
  name,
  description: '',
  parameters: {},
  effect: effectOf(effects, name),
  paths: {},
  barrier: false,
  control: false,
  timeLimitMs: 1,
})

function effectOf(effects: Hosting['effects'], name: string): Effect {
  const patterns = Object.keys(effects).filter((pattern) => matches(pattern, name))
  const longest = patterns.reduce<string | null>((a, b) => (a === null || b.length > a.length ? b : a), null)
  return longest === null ? 'irreversible' : effects[longest]!
}
