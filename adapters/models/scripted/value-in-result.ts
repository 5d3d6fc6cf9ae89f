import { ModelError } from '../../../domain/calls/errors.ts'
import { IN_RESULT } from './script.ts'

/** The value of a pointer such as `lastResult/a/0/b` in the JSON of a result, or of a line of the result, as text. */
export function pointed(result: string, name: string): string {
  const steps = name.slice(IN_RESULT.length).split('/')
  for (const text of [result, ...result.split('\n')]) {
    const value = steps.reduce<unknown>(
      (at, step) => (at as Record<string, unknown> | null | undefined)?.[step],
      parsed(text),
    )
    if (value !== undefined) return typeof value === 'string' ? value : JSON.stringify(value)
  }
  throw new ModelError(
    'SCRIPT_INVALID',
    `\${${name}}: the last result has no such value; it is ${result.slice(0, 500)}`,
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
