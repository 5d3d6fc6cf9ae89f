import { RESERVED_CODES } from './error-codes.ts'
import { ModelError, ToolError } from './errors.ts'
import type { ModelFailure } from './model-call.ts'
import type { ToolFailure } from './tools/tool-call.ts'

// Tools and models throw foreign errors. Only message, well-formed code, boolean flags and retry delay are read.

/** Converts a tool's error. An error that is not a ToolError, or has a reserved code, becomes EXECUTION_FAILED. */
export function thrownByTool(error: unknown): ToolFailure {
  const { name, code, transient, beforeEffect } = membersOf(error)
  const named = name === 'ToolError' && isCode(code) && !RESERVED_CODES.has(code)
  const flags = { transient: transient === true, beforeEffect: beforeEffect === true }
  const failure = new ToolError('EXECUTION_FAILED', messageOf(error), name === 'ToolError' ? flags : {})
  return named ? Object.assign(failure, { code }) : failure
}

/** Converts a model's thrown error. An error that is not a ModelError becomes INVALID_RESPONSE, which is permanent. */
export function thrownByModel(error: unknown): ModelFailure {
  const { name, code, transient, retryAfterMs } = membersOf(error)
  const known = name === 'ModelError'
  const waits = known && typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? { retryAfterMs } : {}
  const failure = new ModelError('INVALID_RESPONSE', messageOf(error), {
    transient: known && transient === true,
    ...waits,
  })
  return known && isCode(code) ? Object.assign(failure, { code }) : failure
}

const isCode = (code: unknown): code is string => typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(code)

/** Each member is read once. A member that throws on access counts as undefined. */
function membersOf(error: unknown): Record<(typeof MEMBERS)[number], unknown> {
  const of = attempt(() => error instanceof Error) ? (error as Record<string, unknown>) : {}
  return Object.fromEntries(MEMBERS.map((name) => [name, attempt(() => of[name])])) as ReturnType<typeof membersOf>
}

const MEMBERS = ['name', 'code', 'transient', 'beforeEffect', 'retryAfterMs'] as const

export const messageOf = (error: unknown): string =>
  attempt(() => String(error instanceof Error ? error.message : error)) ?? 'it failed and cannot say how'

function attempt<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}
