import type { AgentSpec } from '../tree/spec.ts'
import type { Permission } from './permissions.ts'

/** The members of a spec that govern calls. */
export type CallRules = Pick<
  AgentSpec,
  'policy' | 'tools' | 'role' | 'retry' | 'secrets' | 'testCommand' | 'withheld' | 'workspace'
>

/**
 * The state of an agent that calls tools, as far as the rules of calls read it: a keepup agent or an external agent. An
 * absent member has no meaning for that kind of agent.
 */
export interface Caller {
  readonly agentId: string
  readonly runId: string
  readonly spec: CallRules
  /** Null: the root of a run. */
  readonly parent: object | null
  readonly driver: { readonly id: string; readonly epoch: number } | null
  /** The number of calls that have ended. */
  readonly step: number
  /** Prefix of argument hashes, hex; empty: erased. */
  readonly hashSalt: string
  /** The correlation id of the request that started the current work. */
  readonly correlation: string
  readonly cancel?: object | null
  readonly turn?: number
  readonly phase?: string
  readonly standing?: readonly string[]
  readonly permissions?: readonly Permission[]
  /** Keys of calls that failed for good while nothing changed ({@link failureKey}). */
  readonly failedCalls?: readonly string[]
  /** A version of the files is due before a call changes them again. */
  readonly unversioned?: object | null
}
