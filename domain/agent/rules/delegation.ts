import type { ToolErrorCode } from '../../calls/error-codes.ts'
import type { Json } from '../../log/json.ts'
import { isPattern } from '../control/delegate-to-agent.ts'
import type { BodyOf, Failure } from '../events/events.ts'

// The messages between parent and child.

/** The first input of a child: all that it knows of its parent's purpose. */
export function taskText({ task, constraints, expectedOutput }: BodyOf<'child_delegated'>): string {
  const rules = constraints.filter((constraint) => !isPattern(constraint)).map((rule) => `- ${rule}`)
  return [
    task,
    ...(rules.length === 0 ? [] : [['Constraints:', ...rules].join('\n')]),
    ...(expectedOutput === undefined ? [] : [`Expected output: ${expectedOutput}`]),
  ].join('\n\n')
}

type End = BodyOf<'end_reported'>

/** The result of the call that delegated: what the parent's model reads. */
export function resultOf({ message, artifacts, nextSteps, unmetGates }: End): Json {
  return {
    summary: message,
    ...(artifacts.length === 0 ? {} : { artifacts: [...artifacts] }),
    ...(nextSteps === undefined ? {} : { nextSteps }),
    ...(unmetGates.length === 0 ? {} : { unmetGates: [...unmetGates] }),
  }
}

/** Codes that mean the same of a run and of a call. */
const SHARED: ReadonlySet<string> = new Set<ToolErrorCode>(['CANCELLED', 'BUDGET_EXCEEDED', 'UNKNOWN_OUTCOME'])

/** A child that failed is a failed call. The rule is the code of the child's own end. */
export function failureOf({ code = 'EXECUTION_FAILED', message, partialOutput }: End): Failure {
  const partial = partialOutput === undefined ? '' : `. Its last words were: ${partialOutput}`
  return {
    code: SHARED.has(code) ? code : 'EXECUTION_FAILED',
    rule: code,
    message: `the agent ended with ${code}: ${message}${partial}`,
  }
}
