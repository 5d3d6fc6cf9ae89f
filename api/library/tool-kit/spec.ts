import { z } from 'zod'
import { ToolSpec } from '../../../domain/calls/tools/tool-spec.ts'
import { issuesOf } from '../../../domain/log/issues.ts'
import type { Tool } from '../../../domain/ports/index.ts'

/**
 * The faults of a program's tool before its first run, one sentence each. Empty: none. The name must be `server:tool`,
 * the parameters a JSON Schema of an object. The tool must have a probe exactly if it is reconcilable.
 */
export function specFaults(tool: Tool): string[] {
  const parsed = ToolSpec.safeParse(tool.spec)
  if (!parsed.success) {
    return issuesOf(parsed.error, ['spec']).map(({ path, message }) => `${path}: ${message}`)
  }
  const { name, description, parameters, effect, paths, control } = parsed.data
  const faults: string[] = []
  if (!name.includes(':')) faults.push(`spec.name: "${name}" needs a server before it, such as "my:${name}"`)
  if (description.trim() === '')
    faults.push('spec.description: it is all that the model knows of the tool; say what it does')
  if (control) faults.push('spec.control: only the built-in control tools are; expected false')
  const properties = objectProperties(parameters)
  if (properties === null) faults.push('spec.parameters: expected a JSON Schema with "type": "object"')
  for (const path of Object.keys(paths)) {
    if (properties && !Object.hasOwn(properties, path)) faults.push(`spec.paths: "${path}" is not among the parameters`)
  }
  try {
    z.fromJSONSchema(parameters as z.core.JSONSchema.JSONSchema)
  } catch (error) {
    faults.push(`spec.parameters: no usable JSON Schema: ${(error as Error).message}`)
  }
  if (effect === 'reconcilable' && tool.probe === undefined) {
    faults.push('probe: missing; a reconcilable tool must be able to say whether a call happened')
  }
  if (effect !== 'reconcilable' && tool.probe !== undefined) {
    faults.push(`probe: never asked of a tool that is ${effect}; drop it, or call the tool reconcilable`)
  }
  return faults
}

function objectProperties(parameters: ToolSpec['parameters']): Record<string, unknown> | null {
  if (parameters.type !== 'object') return null
  const { properties } = parameters
  return typeof properties === 'object' && properties !== null ? (properties as Record<string, unknown>) : {}
}
