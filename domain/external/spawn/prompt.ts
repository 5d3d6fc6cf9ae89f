import type { VariableRef } from '../../ports/variables.ts'
import type { FunctionSpec } from './functions.ts'

/** The line that identifies a sub-agent to itself. */
export const SUB_AGENT = 'You are a sub-agent. Complete your task and return the result.'

/** The subprocess's name for the MCP server of our functions. */
export const SERVER = 'keepup'

/** The parts of a prompt. `context`: the variable in the prompt, with its summary. */
export interface PromptParts {
  readonly prompt: string
  readonly context?: { readonly ref: VariableRef; readonly summary: string }
  readonly parentId?: string
  readonly functions?: readonly Pick<FunctionSpec, 'name' | 'description'>[]
}

/** Builds the whole prompt. Its words are a contract: providers and tests compare it byte for byte. */
export function buildPrompt({ prompt, context, parentId, functions = [] }: PromptParts): string {
  const parts = [prompt]
  if (context !== undefined) {
    const { key, bytes, type } = context.ref
    parts.push(`Context variable "${key}" (${bytes} bytes, type: ${type}):\n${context.summary}`)
  }
  if (parentId !== undefined) parts.push(SUB_AGENT)
  if (functions.length > 0) {
    const sorted = [...functions].sort((a, b) => (a.name < b.name ? -1 : 1))
    const lines = sorted.map(({ name, description }) => `- ${name}: ${description}`)
    parts.push([`Available functions (MCP server "${SERVER}"):`, ...lines].join('\n'))
  }
  return parts.join('\n\n')
}
