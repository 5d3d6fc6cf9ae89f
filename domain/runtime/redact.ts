import type { UserCommand } from '../agent/commands.ts'
import { type Block, callArguments } from '../agent/content.ts'
import { CommandRejected } from '../agent/errors.ts'
import type { JsonObject } from '../log/json.ts'
import type { ModelOutcome, ToolResult } from '../ports.ts'
import type { SecretBoundary } from './ports.ts'

// Where what comes from outside becomes a command, secrets become references (CONTRACTS 3, Secrets).

type Recordable = Exclude<UserCommand, { kind: 'erase' }>

/** What a person says, without secrets. Rejects with SECRET_IN_SPEC where one stands in what must stay as it is. */
export function redactRequest(secrets: SecretBoundary, command: Recordable): Recordable {
  switch (command.kind) {
    case 'input':
      return { ...command, text: secrets.text(command.text) }
    case 'start': {
      const { spec, task } = command
      const contextVariables = secrets.json(spec.contextVariables)
      const instructions = spec.instructions === undefined ? {} : { instructions: secrets.text(spec.instructions) }
      for (const part of AS_IT_IS) {
        if (same(secrets.json({ part: spec[part] }) as never, { part: spec[part] } as never)) continue
        throw new CommandRejected(
          'SECRET_IN_SPEC',
          `${part} holds the value of a secret; give the secret by its name`,
          422,
        )
      }
      return {
        ...command,
        task: task === null ? null : secrets.text(task),
        spec: { ...spec, contextVariables, ...instructions },
      }
    }
    default:
      return secrets.json(command)
  }
}

/** Parts of a spec that mean something else when a word of them is replaced. */
const AS_IT_IS = ['role', 'policy', 'models', 'tools', 'workspace', 'testCommand', 'secrets'] as const

/** A model's answer, without secrets. A thinking block is signed: one that would have to be changed is left out. */
export function redactOutcome(secrets: SecretBoundary, outcome: ModelOutcome): ModelOutcome {
  const content = outcome.content.flatMap((block) => {
    const clean = redactBlock(secrets, block)
    const signed = SIGNED.has(block.type) && JSON.stringify(clean) !== JSON.stringify(block)
    return signed ? [] : [clean]
  })
  return { ...outcome, content }
}

const SIGNED: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking'])

function redactBlock(secrets: SecretBoundary, block: Block): Block {
  const args = block.type === 'tool_use' ? callArguments(block) : null
  if (args === null || typeof block.name !== 'string') return secrets.json(block)
  const clean = secrets.arguments(block.name, args)
  if (!('input_text' in block)) return { ...block, input: clean }
  // The raw text stays as it was written unless something in it had to go.
  return same(clean, args) ? block : { ...block, input_text: JSON.stringify(clean) }
}

const same = (a: JsonObject, b: JsonObject) => JSON.stringify(a) === JSON.stringify(b)

/** A tool's result, without secrets. */
export function redactResult(secrets: SecretBoundary, result: ToolResult): ToolResult {
  const { content, changed, created, detail } = result
  return {
    content: secrets.result(content),
    ...(changed === undefined ? {} : { changed: secrets.json(changed) }),
    ...(created === undefined ? {} : { created: secrets.json(created) }),
    ...(detail === undefined ? {} : { detail: secrets.json(detail) }),
  }
}
