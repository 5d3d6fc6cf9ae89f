import type { ToolErrorCode } from '../../calls/error-codes.ts'
import type { Failure } from '../../calls/events/event-parts.ts'
import type { Json } from '../../log/json.ts'
import type { ReportedEnd } from '../../tree/events.ts'
import { isPattern } from '../control/delegate-to-agent.ts'
import type { BodyOf } from '../events/events.ts'

// Texts that parent and child exchange.

/** The first input of a child. The child gets no other information from its parent. */
export function taskText({ task, constraints, expectedOutput }: BodyOf<'child_delegated'>): string {
  const rules = constraints.filter((constraint) => !isPattern(constraint)).map((rule) => `- ${rule}`)
  return [
    task,
    ...(rules.length === 0 ? [] : [['Constraints:', ...rules].join('\n')]),
    ...(expectedOutput === undefined ? [] : [`Expected output: ${expectedOutput}`]),
  ].join('\n\n')
}

/** The result of the delegating call, as the parent's model reads it. */
export function resultOf({ message, artifacts, nextSteps, unmetGates }: ReportedEnd): Json {
  return {
    summary: message,
    ...(artifacts.length === 0 ? {} : { artifacts: [...artifacts] }),
    ...(nextSteps === undefined ? {} : { nextSteps }),
    ...(unmetGates.length === 0 ? {} : { unmetGates: [...unmetGates] }),
  }
}

/** Codes that a call shares with the run that it started. Every other code becomes EXECUTION_FAILED. */
const SHARED: ReadonlySet<string> = new Set<ToolErrorCode>(['CANCELLED', 'BUDGET_EXCEEDED', 'UNKNOWN_OUTCOME'])

/** The failure of the delegating call. `rule`: the code of the child's end. */
export function failureOf({ code = 'EXECUTION_FAILED', message, partialOutput }: ReportedEnd): Failure {
  const partial = partialOutput === undefined ? '' : `. Its last words were: ${partialOutput}`
  return {
    code: SHARED.has(code) ? code : 'EXECUTION_FAILED',
    rule: code,
    message: `the agent ended with ${code}: ${message}${partial}`,
  }
}
